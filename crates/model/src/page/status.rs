//! What the page says about the whole: the state of the connection, what is wrong, what went through the queues and how
//! fast.

use rustc_hash::FxHashMap;

use kubechurn_client::api::request::Scope;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::queue::Queue;
use kubechurn_client::cache::reflector::Health;
use kubechurn_client::cache::shared_informer::SharedInformer;

use crate::kind_id::KindId;
use crate::page::command::List;
use crate::page::context::Context;
use crate::page::verification::Verification;
use crate::rewind::banner::unknown;
use crate::table::schema::TableSchema;
use crate::timeline::mark::{MarkType, grouped};
use crate::view::{
    self, Connection, ListingModel, NoticeItem, Pipeline, Subject, Trouble, WatchItem, bytes, bytes_of, left_out,
    proof, proof_age, troubles, united, whole_seconds,
};
use crate::watches::listing::Progress;
use crate::watches::notices::Notices;
use crate::watches::rates::{RateMeter, Rates, Sample};
use crate::watches::watched::Watched;

/// How often counts, ages and rates are renewed, in milliseconds. All of them change in the same frame, because each
/// such frame lays out the page's header and footer.
const SLOW: f64 = 500.0;

/// The rates of each watch.
#[derive(Debug, Default)]
pub(super) struct WatchRates(FxHashMap<InformerId, RateMeter>);

impl WatchRates {
    fn measure(&mut self, cx: &Context<'_>) {
        let informers = &cx.watching.informers;
        self.0.retain(|id, _| informers.get(*id).is_some());
        for (id, informer) in informers.iter() {
            let ledger = informer.ledger();
            let (frames, bytes) = (ledger.frames, ledger.bytes);
            self.0.entry(id).or_default().take(Sample { at: cx.now, frames, bytes, ..Sample::default() });
        }
    }

    /// The rates of one watch.
    pub(super) fn of(&self, resource: &ApiResource, scope: &Scope, cx: &Context<'_>) -> Option<Rates> {
        let informers = &cx.watching.informers;
        let is_it = |id| informers.of(id).is_some_and(|(other, own)| other == *resource && own == scope);
        let (id, _) = informers.iter().find(|(id, _)| is_it(*id))?;
        self.0.get(&id).map(RateMeter::rates)
    }
}

/// What the page says about the whole, and how fast changes arrive and are applied.
#[derive(Debug, Default)]
pub(super) struct Status {
    meter: RateMeter,
    pub(super) rates: WatchRates,
    /// When all this was shown last.
    shown_at: f64,
    /// The state of the connection at that time.
    state: &'static str,
    /// Whether something was received since then, and all this is to be shown again as soon as [`SLOW`] allows it.
    is_late: bool,
}

impl Status {
    /// Shows everything with the next frame.
    pub(super) fn hurry(&mut self) {
        self.shown_at = 0.0;
    }

    /// Notes that something was received: what a frame leaves out, because it was shown a moment ago, is shown by one
    /// more frame.
    pub(super) fn is_late_if(&mut self, is_news: bool) {
        self.is_late |= is_news;
    }

    /// Counts a frame that changed the rows.
    pub(super) fn count_frame(&mut self) {
        self.meter.pages += 1;
    }

    /// When it must be shown again, in milliseconds, if it is late.
    pub(super) fn due_at(&self) -> Option<f64> {
        self.is_late.then_some(self.shown_at + SLOW)
    }

    /// Whether it is to be shown now: at most twice a second, and at once when the connection's state changes.
    pub(super) fn take_due(&mut self, cx: &Context<'_>) -> bool {
        let state = cx.health().map_or("", Health::word);
        let is_due = cx.now - self.shown_at >= SLOW || state != self.state;
        if is_due {
            self.shown_at = cx.now;
            self.state = state;
            self.is_late = false;
        }
        is_due
    }

    /// Shows the connection, and what went through the queues. `budget` is how many bytes the program may take.
    pub(super) fn present(&mut self, progress: Option<Progress>, budget: usize, cx: &mut Context<'_>) {
        present_connection(progress, cx);
        self.rates.measure(cx);
        self.present_pipeline(budget, cx);
    }

    fn present_pipeline(&mut self, budget: usize, cx: &mut Context<'_>) {
        let watching = &*cx.watching;
        let ledger = watching.ledger();
        let informers = watching.informers.iter().map(|(_, informer)| informer);
        let (keys, deltas) = informers
            .map(SharedInformer::queue)
            .fold((0, 0), |(keys, deltas), queue| (keys + queue.len(), deltas + queue.queued()));
        let sample = Sample {
            at: cx.now,
            frames: ledger.frames,
            bytes: ledger.bytes,
            deltas: ledger.applied + ledger.coalesced,
            applied: ledger.applied,
            pages: self.meter.pages,
        };
        let rates = self.meter.take(sample);
        // Each watch has its own resource version. Where there are several watches, none of their versions is the
        // table's.
        let members = watching.watches.members().iter();
        let mut in_view = members.flat_map(|watched| watched.informers(&watching.informers));
        let alone = in_view.next().filter(|_| in_view.next().is_none());
        let version = alone.map(|informer| informer.reflector().resource_version().to_string());
        let watches = watching.informers.len();
        let pipeline = Pipeline {
            listed: grouped(ledger.replaced),
            frames: grouped(rates.frames.round() as u64),
            keys: grouped(keys as u64),
            deltas: grouped(deltas),
            ratio: format!("{:.1}", rates.folded),
            page: format!("{:.0}", rates.pages),
            version: version.unwrap_or_default(),
            watches: format!("{watches} {}", if watches == 1 { "watch" } else { "watches" }),
            rate: if cx.navigation.recorded.is_some() { String::from("recorded") } else { bytes(rates.bytes) },
            memory: memory_words(budget, cx),
            balanced: watching.is_balanced(),
            ledger: watching.sums(),
        };
        cx.view.footer.pipeline.put(pipeline);
    }

    fn watch_items(&self, cx: &Context<'_>) -> Vec<WatchItem> {
        let informers = &cx.watching.informers;
        let items = informers.iter().filter_map(|(id, informer)| {
            let (resource, scope) = informers.of(id)?;
            let rates = self.rates.0.get(&id).map(RateMeter::rates).unwrap_or_default();
            let kind = cx.navigation.catalog.of_resource(&resource);
            Some(WatchItem {
                title: kind.map_or(resource.kind, |kind| kind.title),
                scope: place(scope),
                state: cx.navigation.state(informer.health(cx.now).word()),
                frames: format!("{:.0}", rates.frames),
                rate: bytes(rates.bytes),
                bytes: bytes_of(informer.ledger().bytes as f64),
                objects: grouped(informer.store().len() as u64),
            })
        });
        items.collect()
    }

    /// Fills the footer's lists.
    pub(super) fn present_lists(&self, verification: &Verification, cx: &mut Context<'_>) {
        self.present_watches(cx);
        present_notices(cx);
        verification.present(cx);
    }

    /// Shows the open watches, while their list is open.
    fn present_watches(&self, cx: &mut Context<'_>) {
        let items = if cx.open_lists.contains(&List::Watches) { self.watch_items(cx) } else { Vec::new() };
        cx.view.footer.watches.put(items);
    }
}

/// Where a kind is watched, in words; empty for everywhere.
pub(super) fn place(scope: &Scope) -> String {
    let words = [&*scope.namespace, &*scope.label_selector, &*scope.field_selector];
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// Shows where the user is.
pub(super) fn present_place(cx: &mut Context<'_>) {
    cx.view.header.route.put(cx.navigation.route.clone());
    let in_view = TableSchema::of(&cx.navigation.kinds()).at_home(cx.navigation.home);
    let is_known = !in_view.kinds().is_empty();
    let title = match is_known {
        _ if cx.navigation.route.is_everything() => String::from("all that matters"),
        true if cx.navigation.route.is_all_of_namespace(&cx.navigation.catalog) => {
            format!("everything, {} kinds", in_view.kinds().len())
        }
        true => in_view.title(),
        false => unknown_title(cx),
    };
    let subject = Subject { title, namespaced: !is_known || in_view.is_namespaced() };
    cx.view.header.subject.put(subject);
}

/// What the table is called while the server has none of the kinds that the user asked for.
fn unknown_title(cx: &Context<'_>) -> String {
    let resource = &cx.navigation.route.resource;
    cx.navigation.catalog.gone(resource).map_or_else(|| resource.clone(), |kind| kind.title.to_owned())
}

/// Shows the notices. Their words are written only while the list is open.
fn present_notices(cx: &mut Context<'_>) {
    let most = if cx.open_lists.contains(&List::Notices) { usize::MAX } else { 0 };
    let Notices { list, overload, .. } = &*cx.notices;
    let items = list.newest().take(most).map(|cause| NoticeItem {
        word: cause.notice.word(),
        subject: cause.subject(),
        age: view::seconds((cx.now - cause.notice.at()).max(0.0)),
        words: cause.notice.sentence(),
    });
    let behind = overload.behind(cx.now).map(view::seconds).unwrap_or_default();
    let notices = view::Notices { total: list.total(), behind, items: items.collect() };
    cx.view.footer.notices.put(notices);
}

fn present_connection(progress: Option<Progress>, cx: &mut Context<'_>) {
    let watches = &cx.watching.watches;
    let (Some(view), Some(health)) = (cx.watching.view(), cx.health()) else { return };
    let (shown, total) = view.counts();
    let waiting = view.waiting();
    let informers = &cx.watching.informers;
    let detail = match (health, progress, watches.age(informers, cx.now)) {
        (Health::Listing, Some(progress), _) => progress.words(),
        (Health::Stale, Some(progress), Some(age)) if progress.listed > 0 => {
            format!("{}, relist {}", whole_seconds(age), progress.words())
        }
        (Health::Live, _, Some(age)) if cx.watching.moment.is_some() => proof_age(age),
        (Health::Live, _, Some(age)) => proof(age, watches.members().len()),
        (Health::Stale | Health::Unauthorized | Health::Forbidden | Health::Stopped, _, Some(age)) => {
            whole_seconds(age)
        }
        _ => String::new(),
    };
    let is_over_http = watches.members().iter().flat_map(|watched| watched.informers(informers));
    let is_over_http = { is_over_http }.any(|informer| informer.reflector().is_over_http());
    let detail = match (is_over_http, detail.is_empty()) {
        (true, true) => String::from("over HTTP"),
        (true, false) => format!("{detail}, over HTTP"),
        (false, _) => detail,
    };
    let members = watches.members().iter().enumerate();
    let needed = members.filter(|(_, watched)| !watched.is_done_without(informers, cx.now));
    let troubles = needed.flat_map(|(at, watched)| {
        let title = view.schema().subject(KindId(at as u8));
        troubles(watched, &title, watches.provisional(at) > 0, informers, cx.now)
    });
    let mut troubles: Vec<Trouble> = united(troubles.collect());
    // Before discovery, the page does not know what is missing.
    if cx.navigation.catalog.is_settled() {
        troubles.extend(cx.navigation.route.left_out(&cx.navigation.catalog).into_iter().map(left_out));
    }
    if let Some(rewound) = &cx.watching.rewound {
        let now = watches.members().iter().map(Watched::scopes);
        let unknown = unknown(rewound, &cx.watching.history.coverage, now).into_iter().map(|what| Trouble {
            state: REWOUND,
            what,
            ..Trouble::default()
        });
        troubles.splice(0..0, unknown);
    }
    let minute = watches.timeline().map(|timeline| {
        let counts = timeline.counts_since(cx.shown_at() - 60_000.0);
        let later = cx.watching.moment.map(|moment| timeline.counts_since(moment.at)).unwrap_or_default();
        let of = |mark_type| counts.of(mark_type).saturating_sub(later.of(mark_type));
        [MarkType::Added, MarkType::Updated, MarkType::Deleted].map(of)
    });
    let provisional = match view.sums().provisional.rows {
        0 => String::new(),
        1 => String::from("1 provisional row"),
        rows => format!("{} provisional rows", grouped(rows as u64)),
    };
    let listing = listing(progress, cx);
    let table = &mut cx.view.table;
    table.count.put(format!("{shown} / {total}"));
    table.provisional.put(provisional);
    table.waiting.put(waiting);
    table.listing.put(listing);
    table.trouble.put(troubles);
    if let Some(minute) = minute {
        table.minute.put(minute);
    }
    let connection = match cx.watching.moment {
        _ if cx.navigation.recorded.is_some() => {
            Connection { state: cx.navigation.state(health.word()), detail: String::new() }
        }
        Some(_) if detail.is_empty() => Connection { state: REWOUND, detail: format!("now {}", health.word()) },
        Some(_) => Connection { state: REWOUND, detail: format!("now {}, {detail}", health.word()) },
        None => Connection { state: health.word(), detail },
    };
    cx.view.header.connection.put(connection);
}

/// The state of a page that shows another moment than now.
const REWOUND: &str = "rewound";

/// How far the first list of the table in view has come, if the server has reported the number of objects.
fn listing(progress: Option<Progress>, cx: &Context<'_>) -> Option<ListingModel> {
    let health = cx.watching.watches.health(&cx.watching.informers, cx.now);
    let progress = progress.filter(|_| health == Some(Health::Listing))?;
    let (title, words) = (cx.navigation.schema.title(), progress.words());
    Some(ListingModel { title, listed: progress.listed, about: progress.about?, words })
}

/// Sets the document's title, which names what is in view, for users with several tabs.
pub(super) fn present_title(cx: &mut Context<'_>) {
    let schema = &cx.navigation.schema;
    let subject = match &cx.navigation.selected {
        _ if cx.navigation.route.inside.is_some() => {
            format!("Inside {}", TableSchema::of(&cx.navigation.kinds()).title())
        }
        Some((kind, key)) if schema.is_several() => format!("{} {key}", kind.resource.kind),
        Some((_, key)) => key.to_string(),
        None if cx.navigation.route.changes => String::from("What changed"),
        None if cx.watching.rewound.is_some() => {
            let total = cx.watching.view().map_or(0, |view| view.counts().1);
            format!("{} {}", schema.title(), grouped(total as u64))
        }
        None if cx.watching.watches.view().is_some() => {
            let (watches, informers) = (&cx.watching.watches, &cx.watching.informers);
            let members = watches.members().iter();
            // Before every first list is complete, the number is not known.
            match members.flat_map(|member| member.informers(informers)).all(SharedInformer::has_synced) {
                true => format!("{} {}", schema.title(), grouped(watches.items(informers) as u64)),
                false => schema.title(),
            }
        }
        None if cx.navigation.kinds().is_empty() => cx.navigation.route.resource.clone(),
        None => TableSchema::of(&cx.navigation.kinds()).title(),
    };
    // The moment comes first, because a tab shows little more than the beginning.
    let moment = cx.watching.moment.map(|moment| format!("⏪ {} ", cx.words().to_second(moment.at)));
    cx.view.header.title.put(format!("{}{subject} · kubechurn", moment.unwrap_or_default()));
}

/// How much memory is taken and for what. The most important field comes first, because where the footer has no room
/// for all fields, it leaves out the last ones.
fn memory_words(limit: usize, cx: &Context<'_>) -> Vec<String> {
    let taken = cx.env.memory();
    let (versions, budget) = cx.watching.history.bytes();
    let marks = cx.watching.watches.timeline_bytes();
    let [marks, versions, budget] = [marks, versions, budget].map(|bytes| bytes as f64 / 1e6);
    let [taken, most] = [taken, limit].map(|bytes| bytes as f64 / 1e6);
    let mut fields = vec![
        format!("memory {taken:.0} of {most:.0} MB"),
        if cx.watching.history.is_off() {
            String::from("recorder off")
        } else {
            format!("recorder {versions:.1} of {budget:.0} MB")
        },
        format!("marks {marks:.1} MB"),
    ];
    let whole_since = cx.watching.history.whole_since();
    if let Some(at) = whole_since.filter(|_| !cx.watching.history.is_off()) {
        fields.push(format!("recorded since {}", cx.words().date_and_second(at)));
    }
    fields
}
