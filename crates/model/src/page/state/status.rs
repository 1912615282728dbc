//! What the page says about the whole: the state of the connection, what is wrong, what went through the queues and how
//! fast.

use rustc_hash::FxHashMap;

use kubechurn_client::api::request::Scope;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::ledger::Ledger;
use kubechurn_client::cache::reflector::Health;
use kubechurn_client::cache::shared_informer::SharedInformer;

use crate::kind_id::KindId;
use crate::page::command::List;
use crate::page::environment::Environment;
use crate::page::listing::Progress;
use crate::page::rates::{RateMeter, Rates as Measured, Sample};
use crate::page::route::joined;
use crate::page::state::changes::seconds;
use crate::page::state::{AFTER_NEWS, Page};
use crate::page::view::{
    Connection, EmptyTable, ListingModel, Pipeline, Subject, Trouble, WatchItem, bytes, bytes_of, empty, left_out,
    proof_age, trouble, until_next_proof_age, whole_seconds,
};
use crate::page::watched::worst;
use crate::table::schema::TableSchema;
use crate::timeline::mark::{MarkType, grouped};

/// How often counts, ages and rates are renewed, in milliseconds. All of them change in the same frame, because each
/// such frame lays out the page's header and footer.
const SLOW: f64 = 500.0;

/// How fast changes arrive and are applied.
#[derive(Debug, Default)]
pub(super) struct Rates {
    pub(super) meter: RateMeter,
    /// The rates of each informer.
    shares: FxHashMap<InformerId, RateMeter>,
    /// When all this was shown last; `state` is the state of the connection at that time.
    pub(super) slow: f64,
    state: &'static str,
    /// Whether something was received since then, and all this is to be shown again as soon as [`SLOW`] allows it.
    pub(super) is_late: bool,
}

impl Page {
    /// Shows where the user is.
    pub(super) fn present_route(&mut self) {
        self.out.view.header.route.put(self.place.route.clone());
    }

    /// Shows what does not wait for a drain.
    pub(super) fn present_shell(&mut self, env: &dyn Environment) {
        self.present_route();
        let in_view = TableSchema::of(&self.kinds()).at_home(self.place.home);
        let is_known = !in_view.kinds().is_empty();
        let title = match is_known {
            _ if self.place.route.is_everything() => String::from("all that matters"),
            true => in_view.title(),
            false => self.unknown_title(),
        };
        let subject = Subject { title, namespaced: !is_known || in_view.is_namespaced() };
        self.out.view.header.subject.put(subject);
        self.present_columns();
        self.present_sidebar(env.now());
    }

    /// What the table is called while the server has none of the kinds that the user asked for.
    fn unknown_title(&self) -> String {
        let resource = &self.place.route.resource;
        self.place.catalog.gone(resource).map_or_else(|| resource.clone(), |kind| kind.title.to_owned())
    }

    /// The worst health of the kinds in view. A kind that waits for its columns counts as connecting.
    pub(super) fn health(&self, now: f64) -> Option<Health> {
        let waits = self.place.definitions.awaits_in_view();
        let known = self.watching.watches.health(&self.watching.informers, now)?;
        worst([known].into_iter().chain(waits.then_some(Health::Connecting)))
    }

    /// When something must be shown, or must go, that does not wait for the next tick; in milliseconds.
    pub(super) fn presents_again(&self, now: f64) -> Option<f64> {
        let slow = self.rates.is_late.then_some(self.rates.slow + SLOW);
        let age = self.watching.watches.age(&self.watching.informers, now);
        let age = age.filter(|_| self.health(now) == Some(Health::Live)).map(|age| now + until_next_proof_age(age));
        [slow, age, self.rows.pointer.rests_at(), self.changes.rests_at(), self.dialogs.told_until()]
            .into_iter()
            .flatten()
            .reduce(f64::min)
    }

    /// Whether something on a visible page changes each second at this time.
    pub(super) fn changes_each_second(&self, now: f64) -> bool {
        let watches = &self.watching.watches;
        now - self.watching.news < AFTER_NEWS
            || self.rows.has_young
            || !matches!(self.health(now), None | Some(Health::Live | Health::Forbidden | Health::Stopped))
            || self.place.selected.is_some()
            || !self.dialogs.lists.is_empty()
            || self.checks.verifier.is_under_way()
            || watches.timeline().is_some_and(|timeline| timeline.last_scene().moves())
    }

    /// Shows everything that changes with time: at most twice a second, and at once when the connection's state changes.
    pub(super) fn present_slowly(&mut self, now: f64, env: &dyn Environment) {
        let state = self.health(now).map_or("", Health::word);
        if now - self.rates.slow >= SLOW || state != self.rates.state {
            (self.rates.slow, self.rates.state, self.rates.is_late) = (now, state, false);
            self.present_connection(now);
            self.measure_watches(now);
            self.present_sidebar(now);
            self.present_pipeline(now, env);
            self.present_retention();
            self.present_lists(now, env);
            self.present_dialogs(now);
        }
    }

    /// Fills the footer's lists.
    pub(super) fn present_lists(&mut self, now: f64, env: &dyn Environment) {
        let items = if self.has_list(List::Watches) { self.watch_items(now) } else { Vec::new() };
        self.out.view.footer.watches.put(items);
        self.present_notices(now);
        self.present_verified(env);
    }

    fn present_connection(&mut self, now: f64) {
        let watches = &self.watching.watches;
        let (Some(view), Some(health)) = (watches.view(), self.health(now)) else { return };
        let (shown, total) = view.counts();
        let waiting = view.waiting();
        let informers = &self.watching.informers;
        let progress = self.requests.counts.progress(watches.members(), informers);
        let detail = match (health, progress, watches.age(informers, now)) {
            (Health::Listing, Some(progress), _) => progress.words(),
            (Health::Stale, Some(progress), Some(age)) if progress.listed > 0 => {
                format!("{}, relist {}", whole_seconds(age), progress.words())
            }
            (Health::Live, _, Some(age)) => proof_age(age),
            (Health::Stale | Health::Forbidden | Health::Stopped, _, Some(age)) => whole_seconds(age),
            _ => String::new(),
        };
        let troubles = watches.members().iter().enumerate().filter_map(|(at, watched)| {
            let title = view.schema().subject(KindId(at as u8));
            trouble(watched, &title, watches.provisional(at) > 0, informers, now)
        });
        let mut troubles: Vec<Trouble> = troubles.collect();
        // Before discovery, the page does not know what is missing.
        if self.place.catalog.is_settled() {
            troubles.extend(self.place.route.left_out(&self.place.catalog).into_iter().map(left_out));
        }
        let minute = watches.timeline().map(|timeline| {
            let counts = timeline.counts_since(now - 60_000.0);
            [MarkType::Added, MarkType::Updated, MarkType::Deleted].map(|mark_type| counts.of(mark_type))
        });
        let provisional = match view.sums().provisional.rows {
            0 => String::new(),
            1 => String::from("1 provisional row"),
            rows => format!("{} provisional rows", grouped(rows as u64)),
        };
        let listing = self.listing(progress, now);
        let table = &mut self.out.view.table;
        table.count.put(format!("{shown} / {total}"));
        table.provisional.put(provisional);
        table.waiting.put(waiting);
        table.listing.put(listing);
        table.trouble.put(troubles);
        if let Some(minute) = minute {
            table.minute.put(minute);
        }
        self.out.view.header.connection.put(Connection { state: health.word(), detail });
    }

    /// How far the first list of the table in view has come, if the server has told the number of objects.
    fn listing(&self, progress: Option<Progress>, now: f64) -> Option<ListingModel> {
        let health = self.watching.watches.health(&self.watching.informers, now);
        let progress = progress.filter(|_| health == Some(Health::Listing))?;
        let (title, words) = (self.columns.layout.schema().title(), progress.words());
        Some(ListingModel { title, listed: progress.listed, about: progress.about?, words })
    }

    /// Sets the document's title, which names what is in view, for users with several tabs.
    pub(super) fn present_title(&mut self) {
        let schema = self.columns.layout.schema();
        let subject = match &self.place.selected {
            Some((kind, key)) if schema.is_several() => format!("{} {key}", kind.resource.kind),
            Some((_, key)) => key.to_string(),
            None if self.place.route.changes => String::from("What changed"),
            None if self.watching.watches.view().is_some() => {
                let (watches, informers) = (&self.watching.watches, &self.watching.informers);
                let members = watches.members().iter();
                // Before every first list is complete, the number is not known.
                match members.flat_map(|member| member.informers(informers)).all(SharedInformer::has_synced) {
                    true => format!("{} {}", schema.title(), grouped(watches.items(informers) as u64)),
                    false => schema.title(),
                }
            }
            None if self.kinds().is_empty() => self.place.route.resource.clone(),
            None => TableSchema::of(&self.kinds()).title(),
        };
        self.out.view.header.title.put(format!("{subject} · kubechurn"));
    }

    fn present_pipeline(&mut self, now: f64, env: &dyn Environment) {
        let watching = &self.watching;
        let informers = watching.informers.iter().map(|(_, informer)| informer);
        let ledger = informers.clone().fold(Ledger::default(), |sum, informer| sum.plus(informer.ledger()));
        let (keys, deltas) = informers
            .map(SharedInformer::queue)
            .fold((0, 0), |(keys, deltas), queue| (keys + queue.len(), deltas + queue.queued()));
        let sample = Sample {
            at: now,
            frames: ledger.frames,
            bytes: ledger.bytes,
            deltas: ledger.applied + ledger.coalesced,
            applied: ledger.applied,
            pages: self.rates.meter.pages,
        };
        let rates = self.rates.meter.take(sample);
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
            rate: bytes(rates.bytes),
            memory: self.memory_words(env),
            balanced: self.is_balanced(),
            ledger: self.sums(),
        };
        self.out.view.footer.pipeline.put(pipeline);
    }

    /// How much memory is taken and for what. The most important field comes first, because where the footer has no room
    /// for all fields, it leaves out the last ones.
    fn memory_words(&self, env: &dyn Environment) -> Vec<String> {
        let taken = env.memory();
        let (versions, budget) = self.watching.history.bytes();
        let marks = self.watching.watches.timeline_bytes();
        let [marks, versions, budget] = [marks, versions, budget].map(|bytes| bytes as f64 / 1e6);
        let [taken, most] = [taken, self.checks.memory.budget()].map(|bytes| bytes as f64 / 1e6);
        let mut fields = vec![
            format!("memory {taken:.0}/{most:.0} MB"),
            if self.watching.history.is_off() {
                String::from("recorder off")
            } else {
                format!("recorder {versions:.1}/{budget:.0}")
            },
            format!("marks {marks:.1}"),
        ];
        let whole_since = self.watching.history.whole_since();
        if let Some(at) = whole_since.filter(|_| !self.watching.history.is_off()) {
            fields.push(format!("recorded since {}", seconds(&env.time_of_day(at))));
        }
        fields
    }

    /// Measures the rates of each watch.
    fn measure_watches(&mut self, now: f64) {
        let informers = &self.watching.informers;
        self.rates.shares.retain(|id, _| informers.get(*id).is_some());
        for (id, informer) in informers.iter() {
            let ledger = informer.ledger();
            let (frames, bytes) = (ledger.frames, ledger.bytes);
            self.rates.shares.entry(id).or_default().take(Sample { at: now, frames, bytes, ..Sample::default() });
        }
    }

    fn watch_items(&self, now: f64) -> Vec<WatchItem> {
        let informers = &self.watching.informers;
        let items = informers.iter().filter_map(|(id, informer)| {
            let (resource, scope) = informers.of(id)?;
            let rates = self.rates.shares.get(&id).map(RateMeter::rates).unwrap_or_default();
            let kind = self.place.catalog.of_resource(&resource);
            let words = [&*scope.namespace, &*scope.label_selector, &*scope.field_selector];
            Some(WatchItem {
                title: kind.map_or(resource.kind, |kind| kind.title),
                scope: words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" · "),
                state: informer.health(now).word(),
                frames: format!("{:.0}", rates.frames),
                rate: bytes(rates.bytes),
                bytes: bytes_of(informer.ledger().bytes as f64),
                objects: grouped(informer.store().len() as u64),
            })
        });
        items.collect()
    }

    /// The rates of one watch.
    pub(super) fn share(&self, resource: &ApiResource, scope: &Scope) -> Option<Measured> {
        let informers = &self.watching.informers;
        let is_it = |id| informers.of(id).is_some_and(|(other, own)| other == *resource && own == scope);
        let (id, _) = informers.iter().find(|(id, _)| is_it(*id))?;
        self.rates.shares.get(&id).map(RateMeter::rates)
    }

    /// Why there is no row, as soon as that is known.
    pub(super) fn empty(&self, now: f64) -> Option<String> {
        let watches = &self.watching.watches;
        let view = watches.view()?;
        if !view.is_empty() {
            return None;
        }
        let table = EmptyTable {
            schema: self.columns.layout.schema(),
            route: &self.place.route,
            known: watches.items(&self.watching.informers),
            works: view.progress().is_some(),
        };
        empty(table, self.health(now)?)
    }

    /// Why there is no table for the kinds in view: the state, and the words.
    pub(super) fn absence(&self) -> (&'static str, String) {
        let (route, catalog) = (&self.place.route, &self.place.catalog);
        let name = &route.resource;
        let kinds = self.kinds();
        if route.is_several() && kinds.is_empty() {
            if !catalog.is_settled() {
                let names = route.names().map(|name| format!("“{name}”")).collect::<Vec<_>>();
                return ("connecting", format!("Looking for {} …", names.join(", ")));
            }
            return ("stopped", format!("None of these can be shown. {}.", joined(&route.left_out(catalog))));
        }
        match kinds.first() {
            Some(kind) if self.place.definitions.awaits(kind) => {
                ("connecting", format!("Asking which columns {} has …", kind.title))
            }
            _ if !catalog.is_settled() => ("connecting", format!("Looking for “{name}” …")),
            _ if catalog.gone(name).is_some() => {
                ("stopped", format!("This server has “{name}” no longer. When it comes back, it is shown again."))
            }
            _ if catalog.is_fixed() => ("stopped", format!("There is no “{name}”: {}.", catalog.lacks())),
            _ => ("stopped", format!("This server has no kind “{name}” that can be watched.")),
        }
    }
}
