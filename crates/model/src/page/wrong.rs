//! What is wrong now: has the states looked at as they are received, and shows the section above the feed.

use kubechurn_changes::findings::{Card, Finding};
use kubechurn_changes::line::Line;
use kubechurn_changes::noise::Marks;
use kubechurn_client::api::cell::CellRef;
use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::reflector::Health;
use kubechurn_columns::kinds::Kind;

use crate::feed::wrong::row::{WrongModel, WrongRow, of_card, of_entry};
use crate::feed::wrong::then::{Looked, Sources, WrongThen};
use crate::feed::wrong::{Entry, Received, Subject, WrongNow};
use crate::page::context::Context;
use crate::page::links::{cluster_of, kind_of, of_change, of_object, place_of};
use crate::page::who;
use crate::rewind::Stores;
use crate::timeline::mark::grouped;
use crate::view::ago;
use crate::watches::watched::Watched;

/// How many entries are open at first.
const OPEN: usize = 4;
/// The most entries that are shown at all.
const MOST: usize = 50;
/// How often the section is made anew at most, in milliseconds.
const PACE: f64 = 100.0;
/// How long a frame may read what was wrong at another moment, in milliseconds.
const THEN_SHARE: f64 = 6.0;
/// How long a moment that is dragged must rest before it is looked what was wrong then, in milliseconds.
const REST: f64 = 250.0;
/// How often that is looked at while the moment moves on, in milliseconds.
const THEN_PACE: f64 = 1_000.0;
/// Times of a server are in whole seconds; in milliseconds.
const SECOND: f64 = 1_000.0;
/// When a loop or a fight has had no change for so long, it is said how long ago the last one was; in milliseconds.
const QUIET: f64 = 10_000.0;

/// What is wrong now, and how it is shown.
#[derive(Debug, Default)]
pub(super) struct Wrong {
    now: WrongNow,
    /// What was wrong at the moment that is shown, or at the last one that is known.
    then: Option<WrongThen>,
    /// The same, while it is read.
    reading: Option<WrongThen>,
    looked: Looked,
    /// The last moment, and when it was shown first, in milliseconds.
    seen: Option<(f64, f64)>,
    /// When reading began last, in milliseconds.
    began: f64,
    /// Whether all entries are shown.
    is_open: bool,
    /// What was watched when it was looked at last: the resource, and the namespaces.
    watched: Vec<(ApiResource, Vec<String>)>,
    /// How many things are wrong, loops and fights included, and whether one of them fails.
    count: (usize, bool),
    /// When it was looked at last, in milliseconds.
    looked_at: f64,
    /// Whether the user asked for another length since then.
    is_turned: bool,
}

impl Wrong {
    pub(super) fn received(&mut self, received: Received<'_>) {
        self.now.received(received);
    }

    /// Looks at a change with the text that it led to.
    pub(super) fn changed(&mut self, line: &mut Line, cx: &Context<'_>) {
        if self.now.wants(line) {
            let text = cx.watching.history.change(line.seq).and_then(|change| change.new.map(|text| text.into_owned()));
            self.now.changed(line, text.as_deref());
        }
        line.is_failing |= self.now.concerns(&line.uid);
    }

    /// Opens the entries that are beyond the first ones, or closes them.
    pub(super) fn turn(&mut self) {
        self.is_open = !self.is_open;
        self.is_turned = true;
    }

    /// What is wrong now, and what was until a moment ago.
    pub(super) fn entries_now(&self) -> &[Entry] {
        self.now.entries()
    }

    /// The entry that is about an object or to which it belongs, of the moment that is shown, as far as that is known: where there are
    /// several, the one that is nearest to a time.
    pub(super) fn entry_of(&self, kind: &Kind, key: &ObjectKey, at: f64, cx: &Context<'_>) -> Option<&Entry> {
        let wrong = match (cx.watching.moment, &self.then) {
            (None, _) => &self.now,
            (Some(_), then) => then.as_ref()?.wrong(),
        };
        // What owns Pods is known by its name before it is received.
        let named = wrong.nearest(at, &|entry| entry.subject.is(&kind.resource, key));
        named.or_else(|| wrong.entry_of(&uid_of(kind, key, cx), at))
    }

    /// How many things are wrong, and whether one of them fails.
    pub(super) fn count(&self) -> (usize, bool) {
        self.count
    }

    /// When the entries are to be looked at again, in milliseconds, though nothing is received.
    pub(super) fn due_at(&self) -> Option<f64> {
        let is_moving = self.then.as_ref().or(self.reading.as_ref()).map(|then| then.moment().at);
        let rests =
            self.seen.filter(|(at, _)| is_moving.is_some_and(|then| then != *at)).map(|(_, since)| since + REST);
        rests.or_else(|| (!self.now.is_quiet()).then(|| self.now.due_at().max(self.looked_at + PACE)))
    }

    /// Whether it is time to look again.
    pub(super) fn is_due(&self, now: f64) -> bool {
        self.is_turned || (now - self.looked_at).abs() >= PACE
    }

    /// Has the entries be shown again at once.
    pub(super) fn hurry(&mut self) {
        self.is_turned = true;
    }

    /// Looks what is wrong. Returns the numbers of the changes with which it began.
    pub(super) fn look(&mut self, cx: &Context<'_>) -> Vec<u64> {
        (self.looked_at, self.is_turned) = (cx.now, false);
        // What stays watched in another view stays wrong there, too.
        let members = &*cx.watching.watches;
        let scopes = |watched: &Watched| watched.scopes().iter().map(|scope| scope.namespace.to_string()).collect();
        let watched: Vec<(ApiResource, Vec<String>)> =
            members.iter().map(|member| (member.kind().resource, scopes(member))).collect();
        if watched != self.watched {
            self.now.keep(&|resource, namespace| {
                let of = watched.iter().filter(|(other, _)| other == resource);
                of.flat_map(|(_, scopes)| scopes).any(|scope| scope.is_empty() || scope == namespace)
            });
            self.watched = watched;
        }
        self.now.look(cx.now, &mut |node| pods_on(node, cx));
        self.now.entries().iter().filter_map(|entry| entry.began.as_ref()).map(|began| began.seq).collect()
    }

    /// Reads what was wrong at the moment that is shown, within a share of this frame's time, while the feed is in view. Returns
    /// whether something is left.
    pub(super) fn read_then(&mut self, marks: &Marks, cx: &Context<'_>) -> bool {
        let Some(moment) = cx.watching.moment.filter(|_| cx.navigation.route.changes) else {
            if self.seen.take().is_some() {
                (self.then, self.reading, self.looked, self.is_turned) = (None, None, Looked::default(), true);
            }
            return false;
        };
        // A moment that one comes to at once is looked at at once, and one that is dragged when it rests.
        let rests = match self.seen {
            Some((at, since)) if at == moment.at => cx.now - since >= REST,
            last => {
                (self.seen, self.is_turned) = (Some((moment.at, cx.now)), true);
                last.is_none_or(|(_, since)| cx.now - since >= REST)
            }
        };
        let history = &cx.watching.history;
        let stores = Stores { watches: &cx.watching.watches, informers: &cx.watching.informers };
        let wall = |cluster, at: f64| cx.env.server_clock(cluster).time(cx.env.wall() - (cx.now - at));
        let sources = Sources { history, present: &stores, marks, wall: &wall };
        let is_its = |then: &Option<WrongThen>| then.as_ref().is_some_and(|then| then.moment() == moment);
        let is_due = rests || (self.reading.is_none() && cx.now - self.began >= THEN_PACE);
        if is_due && !is_its(&self.then) && !is_its(&self.reading) {
            let kinds: Vec<_> = history.resources().filter_map(|resource| kind_of(resource, cx)).collect();
            self.reading = Some(WrongThen::at(moment, &kinds, sources));
            self.began = cx.now;
        }
        let end = cx.env.work_clock() + THEN_SHARE;
        let Some(reading) = &mut self.reading else { return false };
        let is_left = reading.work(&mut self.looked, sources, || cx.env.work_clock() < end);
        if !is_left {
            (self.then, self.is_turned) = (self.reading.take(), true);
        }
        // What is known has still to be shown.
        true
    }

    /// The section: what is wrong, then loops and fights, then what is over. What was over at another moment is not shown. `unread`
    /// is the number of the oldest change that was not looked at.
    pub(super) fn model(&mut self, cards: Vec<(Card, usize)>, unread: Option<u64>, cx: &Context<'_>) -> WrongModel {
        let is_over = |entry: &&Entry| entry.ended_at.is_some();
        let moment = cx.watching.moment;
        let (wrong, at) = match (moment, &self.then) {
            (None, _) => (Some(&self.now), cx.now),
            (Some(_), Some(then)) => (Some(then.wrong()), then.moment().at),
            (Some(moment), None) => (None, moment.at),
        };
        let says = |card: &Card| wrong.is_some_and(|wrong| says(wrong, card));
        let cards: Vec<(Card, usize)> = cards.into_iter().filter(|(card, _)| !says(card)).collect();
        let entries = || wrong.into_iter().flat_map(WrongNow::entries);
        let count = entries().filter(|entry| !is_over(entry)).count() + cards.len();
        let over = || entries().filter(is_over).filter(|_| moment.is_none());
        let length = count + over().count();
        let most = if self.is_open { MOST } else { OPEN };
        // Where it is not known when that change came, nothing is taken for read.
        let unread_since = unread.map(|change| cx.watching.history.at(change).unwrap_or(f64::NEG_INFINITY));
        let is_read =
            |entry: &Entry| moment.is_some() || unread_since.is_none_or(|unread| unread > entry.since + SECOND);
        let row = |entry| entry_row(entry, at, is_read(entry), cx);
        let failing = entries().filter(|entry| !is_over(entry)).map(row);
        let fights = cards.iter().map(|(card, same)| self.card_row(card, *same, cx));
        let rows: Vec<WrongRow> = failing.chain(fights).chain(over().map(row)).take(most).collect();
        let unknown = self.then.as_ref().map_or(0, WrongThen::unknown);
        let note = match moment {
            None => String::from("from states; stays here until it is over"),
            Some(_) if self.then.is_none() => String::from("what else was wrong is being read"),
            Some(_) if unknown > 0 => {
                format!("not known of {} objects, whose states of then are not kept", grouped(unknown as u64))
            }
            Some(_) => String::from("from the states of then"),
        };
        let title = match moment {
            None if cx.health() == Some(Health::Stale) => String::from("Wrong when last heard"),
            None => String::from("Wrong now"),
            Some(_) => String::from("Wrong at ") + &cx.words().time_of_day(at),
        };
        if moment.is_none() {
            self.count = (count, rows.iter().any(|row| row.fails));
        }
        WrongModel {
            rows,
            count,
            more: length.saturating_sub(OPEN),
            is_open: self.is_open,
            title,
            is_shown: length > 0 || (moment.is_some() && unknown > 0),
            note,
        }
    }

    fn card_row(&self, card: &Card, same: usize, cx: &Context<'_>) -> WrongRow {
        // What shows it may be changes of its Pods: the card leads to what it is about.
        let of = |seq: &u64| cx.watching.history.of_number(*seq);
        let own =
            card.seqs.iter().rev().filter_map(of).find(|of| of.key == card.key && *of.resource.kind == *card.kind);
        let resource = own.map(|own| own.resource).or_else(|| self.now.resource_of(&card.uid));
        let mut row = of_card(card, same);
        let passed = cx.shown_at() - card.last_at;
        if passed >= QUIET && !row.fails {
            row.words.push((format!("last {} ago", ago(passed)), "old"));
        }
        WrongRow {
            why_href: why_href(resource, &card.key, card.since, cx),
            href: resource.map(|resource| of_object(resource, &card.key, cx)).unwrap_or_default(),
            kind: row.kind.clone() + &in_cluster(resource, cx),
            since: ago((cx.shown_at() - card.since).max(0.0)),
            at: card.since,
            time: cx.words().date_and_time(card.since),
            ..row
        }
    }
}

/// Whether an entry says already what a card would: its object fails, and that its state goes to and fro follows.
fn says(wrong: &WrongNow, card: &Card) -> bool {
    let follows = match &card.finding {
        Finding::Flapping { path, .. } | Finding::Fight { path, .. } => path.starts_with("status."),
        Finding::Stuck { .. } => true,
        Finding::Rewriting { .. } => true,
        Finding::Recreated => false,
    };
    follows && wrong.concerns(&card.uid)
}

/// How many Pods the store has on a node; `None` where Pods are not watched.
fn pods_on(node: &Subject, cx: &Context<'_>) -> Option<usize> {
    let of_cluster = |watched: &&Watched| {
        let resource = watched.kind().resource;
        let cluster = node.resource.map_or("", |node| node.cluster);
        resource.group.is_empty() && resource.kind == "Pod" && resource.cluster == cluster
    };
    let watched = cx.watching.watches.iter().find(of_cluster)?;
    let cell = watched.kind().columns.iter().position(|column| column.title == "NODE")?;
    let is_on = |name: Option<CellRef<'_>>| matches!(name, Some(CellRef::Text(name)) if *name == *node.key.name);
    Some(watched.objects(&cx.watching.informers).filter(|pod| is_on(pod.cells.get(cell))).count())
}

/// An entry, as it is shown at a time.
fn entry_row(entry: &Entry, now: f64, is_read: bool, cx: &Context<'_>) -> WrongRow {
    let since = match entry.ended_at {
        Some(at) => match now - at {
            passed if passed < 1_000.0 => String::from("over, just now"),
            passed => format!("over, {} ago", ago(passed)),
        },
        None => ago((now - entry.since).max(0.0)),
    };
    let resource = resource_of(entry, cx);
    // Where the kind of what owns them is not known, one of them leads to what is wrong with all.
    let first = entry.objects.first().unwrap_or(&entry.subject);
    let (of, key) = resource.map_or((first.resource, &first.key), |of| (Some(of), &entry.subject.key));
    let row = of_entry(entry, is_read);
    WrongRow {
        why_href: why_href(of, key, entry.since, cx),
        href: resource.map(|resource| of_object(resource, &entry.subject.key, cx)).unwrap_or_default(),
        kind: row.kind.clone() + &in_cluster(resource, cx),
        began_href: of_change(entry.began.as_ref().map(|began| began.seq), cx),
        writer: entry.began.as_ref().and_then(|began| who::name(began.seq, cx)).unwrap_or(row.writer),
        since,
        at: entry.since,
        time: cx.words().date_and_time(entry.since),
        ..row
    }
}

/// The resource of what an entry is about. That of an owner which was not received is known by its name.
pub(super) fn resource_of(entry: &Entry, cx: &Context<'_>) -> Option<ApiResource> {
    let Subject { resource, group, kind, .. } = &entry.subject;
    resource.or_else(|| {
        let cluster = entry.objects.first()?.resource?.cluster;
        cx.navigation.catalog.of_owner(group, kind, cluster).map(|kind| kind.resource)
    })
}

/// The uid of the last object that had this name; empty where none was received.
pub(super) fn uid_of(kind: &Kind, key: &ObjectKey, cx: &Context<'_>) -> Uid {
    cx.watching.history.of(&kind.resource, key).last().map(|entry| entry.uid.clone()).unwrap_or_default()
}

/// Where it is looked at why something is wrong.
fn why_href(resource: Option<ApiResource>, key: &ObjectKey, since: f64, cx: &Context<'_>) -> String {
    let kind = resource.and_then(|resource| kind_of(resource, cx));
    kind.map(|kind| place_of(kind, key, since, cx).fragment()).unwrap_or_default()
}

/// The words after a kind where several clusters are in view.
fn in_cluster(resource: Option<ApiResource>, cx: &Context<'_>) -> String {
    match resource.map_or("", |resource| cluster_of(&resource, cx)) {
        cluster if !cluster.is_empty() && cx.navigation.schema.has_clusters() => format!(" in {cluster}"),
        _ => String::new(),
    }
}
