//! Has the lines of a recording go the way of a server's frames: through the same informers, queues, stores, marks and recorder.

use kubechurn_client::api::definition::{self, may_define};
use kubechurn_client::api::discovery::Discovered;
use kubechurn_client::api::object::{ObjectKey, ResourceVersion};
use kubechurn_client::api::release::Release;
use kubechurn_client::api::request::Scope;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::cache::backoff::Moment;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::reflector::{Input, Notice};
use kubechurn_client::cache::shared_informer::ReceivedDelta;
use kubechurn_client::json::{unescaped, value_at};
use kubechurn_columns::kinds::KINDS;
use kubechurn_recording::{Header, Line, Step, Text, Version, Watch};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::feed::wrong::Received;
use crate::history::coverage;
use crate::navigation::Recorded;
use crate::navigation::catalog::Catalog;
use crate::navigation::recorded::{named, refusal};
use crate::page::context::{Context, Shared};
use crate::page::effect::Effect;
use crate::page::environment::{Environment, fragment};
use crate::page::feed::Feed;
use crate::page::watching::{Receivers, Watching};
use crate::view::Source;
use crate::watches::notices::{NoticeKind, PageNotice, subject};

/// A list that has begun and is not complete.
#[derive(Debug, Default)]
struct List {
    /// Whether an item has come.
    has_items: bool,
    /// What it named, and what was found to be gone.
    named: FxHashSet<ObjectKey>,
    /// Of the first list in a later file: what is not as it was at the end of the file before. The reflector has got nothing of it.
    others: Option<Vec<(ObjectKey, String)>>,
}

/// A watch of the recording.
#[derive(Debug)]
struct Open {
    resource: ApiResource,
    scope: Scope,
    list: Option<List>,
    /// Since when nothing was recorded of it, in milliseconds, until its list in a later file is complete.
    since: Option<f64>,
    /// Its informer, as it was found last.
    informer: Option<InformerId>,
}

/// The watches of a recording, as far as its lines have come.
#[derive(Debug, Default)]
pub(super) struct Replay {
    watches: FxHashMap<u32, Open>,
    /// Those that have ended, also with their file, where the recording is several files, one after the other.
    before: Vec<Open>,
    /// The time of the last line, in milliseconds.
    last: f64,
    /// Every resource of which there was a watch.
    resources: Vec<ApiResource>,
    /// The texts of the CustomResourceDefinitions that came.
    definitions: Vec<String>,
    /// The frame that is being made.
    frame: String,
    /// Whether there are notices that nobody has got.
    has_notices: bool,
}

/// Opens the recording that a fragment names, unless that one is shown. Returns whether it is opened: the page stays where it is.
/// Of a link within a recording the fragment gets its address.
pub(super) fn opens(fragment: &str, cx: &mut Context<'_>) -> bool {
    let shown = cx.navigation.recorded.as_ref().map(|recorded| &*recorded.url).unwrap_or_default();
    let Some(url) = named(fragment).filter(|_| cx.view.header.embed.is_none()) else {
        if !shown.is_empty() {
            cx.effects.push(Effect::Replace(fragment.to_owned()));
        }
        return false;
    };
    if url == shown {
        return false;
    }
    let own = cx.env.address("").unwrap_or_default();
    match refusal(cx.env.address(&url).as_ref(), &own) {
        Some(why) => cx.show_message(&format!("{url} was not opened: {why}.")),
        None => cx.effects.push(Effect::OpenRecording(url)),
    }
    true
}

impl Replay {
    /// The page shows a recording: there is no server to look for.
    pub(super) fn begin(header: &Header, cx: &mut Context<'_>) -> Replay {
        let title = if header.title.is_empty() { "recording" } else { &header.title };
        cx.navigation.found = true;
        // The kinds are those of its watches, with the columns that its server prints.
        cx.navigation.catalog = Catalog::of(&[], &Catalog::printed_by(Release::named(&header.release)));
        let url = named(&fragment(&cx.env.url())).unwrap_or_default();
        cx.navigation.recorded =
            Some(Recorded { title: title.to_owned(), url, end: f64::INFINITY, ..Recorded::default() });
        let (cluster, address) = (title.to_owned(), header.server.clone());
        cx.view.header.source.put(Source { cluster, address, unreadable: false });
        cx.view.header.splash.put(None);
        Replay::default()
    }

    /// Takes a line of the recording. Returns whether there are other kinds now.
    pub(super) fn take(
        &mut self,
        line: &Line<'_>,
        shared: &mut Shared,
        feed: &mut Feed,
        env: &dyn Environment,
    ) -> bool {
        feed.notice_absences(env.now(), None, &mut shared.watching.watches.absences);
        let last = std::mem::replace(&mut self.last, env.now());
        match line {
            Line::Watch(watch) => return self.watch(watch, shared, feed, env),
            Line::Step(number, Step::Ended) => {
                if let Some(open) = self.watches.remove(number) {
                    if let Some(recorded) = &mut shared.navigation.recorded {
                        recorded.watches.retain(|(resource, scope)| *resource != open.resource || *scope != open.scope);
                    }
                    self.before.push(Open { since: Some(env.now()), ..open });
                    return true;
                }
            }
            Line::Step(number, step) => self.step(*number, step, shared, feed, env),
            Line::Version(version) => self.version(version, shared, feed, env),
            Line::Definition(text) if self.definitions.iter().any(|known| known == text) => {}
            Line::Definition(text) => self.definitions.push((*text).to_owned()),
            // Only the first block of a file says what wrote it. The numbers of a later file are its own.
            Line::Header(header) if !header.program.is_empty() => {
                let ended = self.watches.drain().map(|(_, open)| Open { since: open.since.or(Some(last)), ..open });
                self.before.extend(ended);
            }
            Line::Note(text) => _ = shared.watching.history.notes.add(env.now(), text),
            Line::Request(request) => shared.watching.history.who.record(request),
            Line::Header(_) => {}
        }
        false
    }

    /// The text of a resource's definition, if the recording has it.
    fn definition(&self, resource: &ApiResource) -> Option<&str> {
        let has = |text: &str, path: &[&str], word: &str| {
            value_at(text, path).and_then(unescaped).is_some_and(|found| found == word)
        };
        let is_its = |text: &&String| {
            has(text, &["spec", "group"], resource.group) && has(text, &["spec", "names", "plural"], resource.plural)
        };
        self.definitions.iter().rev().find(is_its).map(String::as_str)
    }

    /// Drains the queues, where enough was received, or where notices are to be delivered after that. Returns whether it does.
    pub(super) fn drains(&mut self, watching: &mut Watching, env: &dyn Environment) -> bool {
        let is_due = std::mem::take(&mut self.has_notices) || watching.must_drain_recording();
        if is_due {
            watching.take_news();
            watching.drain(true, env);
        }
        is_due
    }

    /// A watch begins, and with it its first list; or it goes on in a later file, whose first list says how everything is now.
    fn watch(&mut self, watch: &Watch, shared: &mut Shared, feed: &mut Feed, env: &dyn Environment) -> bool {
        let Watch { number, resource, scope, is_repeated } = watch;
        if self.watches.contains_key(number) {
            return false;
        }
        let is_it = |open: &Open| open.resource == *resource && open.scope == *scope;
        let before = self.before.iter().position(is_it).map(|at| self.before.swap_remove(at));
        if let Some(open) = before
            && let Some(id) = informer_of(&open, shared)
        {
            if let Some(list) = open.list.filter(|list| list.others.is_none()) {
                // It has broken off with its file. What it named was there.
                let informer = shared.watching.informers.get(id);
                let is_first = informer.is_some_and(|informer| !informer.reflector().has_listed());
                self.has_notices |= end_list(id, (*resource, list, is_first), shared, feed, env);
            }
            let list = Some(List { others: Some(Vec::new()), ..List::default() });
            let (scope, since) = (scope.clone(), open.since.filter(|_| !is_repeated));
            let is_new = watched(resource, &scope, shared);
            self.watches.insert(*number, Open { resource: *resource, scope, list, since, informer: Some(id) });
            if let Some(informer) = shared.watching.informers.get_mut(id) {
                // The list is compared with the store.
                informer.drain(usize::MAX, env.now());
            }
            return is_new;
        }
        if !self.resources.contains(resource) {
            self.resources.push(*resource);
            let discovered: Vec<Discovered> = self.resources.iter().copied().map(Discovered::watched).collect();
            shared.navigation.catalog = Catalog::of(&discovered, &shared.navigation.catalog);
            if may_define(resource.group) && KINDS.iter().all(|known| known.resource != *resource) {
                let text = self.definition(resource);
                let columns = text.and_then(|text| definition::read(text, resource.version).ok());
                shared.navigation.catalog.define(resource, columns.as_deref());
                if let Some(brief) = text.and_then(definition::in_brief) {
                    shared.watching.history.definitions.insert(*resource, brief);
                }
            }
        }
        watched(resource, scope, shared);
        shared.context(env).watch();
        let (list, scope) = (Some(List::default()), scope.clone());
        let open = Open { resource: *resource, scope, list, since: None, informer: None };
        self.watches.insert(*number, open);
        if let Some(id) = self.informer(*number, shared) {
            hand(id, Input::Start, shared, feed, env);
            begin_list(id, *resource, shared, feed, env);
        }
        true
    }

    /// The informer of a watch. There may be a hundred of them, and each line asks.
    fn informer(&mut self, number: u32, shared: &Shared) -> Option<InformerId> {
        let open = self.watches.get_mut(&number)?;
        let is_its = |id: &InformerId| shared.watching.informers.of(*id) == Some((open.resource, &open.scope));
        open.informer = open.informer.filter(is_its).or_else(|| informer_of(open, shared));
        open.informer
    }

    fn step(&mut self, number: u32, step: &Step, shared: &mut Shared, feed: &mut Feed, env: &dyn Environment) {
        let Some(id) = self.informer(number, shared) else { return };
        let Some(Open { resource, scope, list, since, .. }) = self.watches.get_mut(&number) else { return };
        let at = env.now();
        let mut covered = |step| {
            let received = shared.watching.history.received();
            shared.watching.history.coverage.recorded(id, step, (at, received));
        };
        let notice = match step {
            Step::Listed | Step::Relisted => {
                if let Some(mut list) = list.take() {
                    if let Some(others) = list.others.take() {
                        let since = since.take();
                        self.has_notices |= end_later_list(id, (*resource, list, others), shared, feed, env);
                        if let Some(since) = since {
                            self.step(number, &Step::Gap(since, "nothing was recorded".to_owned()), shared, feed, env);
                        }
                        return;
                    }
                    let (resource, is_first) = (*resource, *step == Step::Listed);
                    self.has_notices |= end_list(id, (resource, list, is_first), shared, feed, env);
                }
                return;
            }
            Step::Lists(reason) => {
                *list = Some(List::default());
                // What the list does not name is looked for in the store.
                if let Some(informer) = shared.watching.informers.get_mut(id) {
                    informer.drain(usize::MAX, at);
                }
                hand(id, Input::Relist(reason), shared, feed, env);
                return begin_list(id, *resource, shared, feed, env);
            }
            Step::Lost(since, reason) => {
                covered(coverage::Step::Lost(*since));
                Notice::Stale { at, reason: reason.clone() }
            }
            Step::Gap(from, reason) => {
                covered(coverage::Step::Gap(*from));
                shared.watching.watches.absences.gap(id, subject(resource), *from, at);
                Notice::Gap { from: *from, to: at, reason: reason.clone() }
            }
            Step::Refused(reason) => Notice::Refused { at, reason: reason.clone(), retried: true },
            Step::Ended => return,
        };
        let namespace = scope.namespace.clone();
        let notice = PageNotice { resource: subject(resource), namespace, kind: NoticeKind::Watch(id, notice) };
        shared.notices.announcer.publish(notice);
        self.has_notices = true;
    }

    fn version(&mut self, version: &Version<'_>, shared: &mut Shared, feed: &mut Feed, env: &dyn Environment) {
        let Some(id) = self.informer(version.watch, shared) else { return };
        let Some(Open { list, .. }) = self.watches.get_mut(&version.watch) else { return };
        if let Some(list) = list {
            list.named.insert(version.key.clone());
            if let Some(others) = &mut list.others {
                let held = shared.watching.informers.get(id).and_then(|informer| informer.store().get(version.key));
                let is_same = |text| {
                    let of = value_at(text, &["metadata", "resourceVersion"]).and_then(unescaped);
                    let of = of.map(|of| ResourceVersion::new(&of));
                    held.is_some_and(|held| held.uid == *version.uid && of.as_ref() == Some(&held.resource_version))
                };
                if let Text::Whole(text) = version.text
                    && !is_same(text)
                {
                    others.push((version.key.clone(), text.to_owned()));
                }
                return;
            }
            if let Text::Whole(text) = version.text {
                self.frame.clear();
                self.frame.push_str(if std::mem::replace(&mut list.has_items, true) { "," } else { "" });
                self.frame.push_str(text);
                self.has_notices |= hand(id, Input::Piece(self.frame.as_bytes()), shared, feed, env);
            }
            return;
        }
        let Text::Whole(text) = version.text else { return };
        let name = match version.delta_type {
            DeltaType::Added => "ADDED",
            DeltaType::Deleted => "DELETED",
            DeltaType::Updated | DeltaType::Replaced | DeltaType::Sync => "MODIFIED",
        };
        self.frame.clear();
        for part in [r#"{"type":""#, name, r#"","object":"#, text, "}"] {
            self.frame.push_str(part);
        }
        self.has_notices |= hand(id, Input::Frame(&self.frame), shared, feed, env);
    }
}

fn informer_of(open: &Open, shared: &Shared) -> Option<InformerId> {
    let informers = &shared.watching.informers;
    informers.iter().map(|(id, _)| id).find(|id| informers.of(*id) == Some((open.resource, &open.scope)))
}

/// The recording has a watch. Returns whether it had it not before.
fn watched(resource: &ApiResource, scope: &Scope, shared: &mut Shared) -> bool {
    let Some(Recorded { watches, .. }) = &mut shared.navigation.recorded else { return false };
    let is_new = !watches.iter().any(|(known, of)| known == resource && of == scope);
    if is_new {
        watches.push((*resource, scope.clone()));
    }
    is_new
}

/// Ends the first list of a later file: where something is not as the file before had it, everything was listed again. Returns
/// whether there are notices.
fn end_later_list(
    id: InformerId,
    (resource, list, others): (ApiResource, List, Vec<(ObjectKey, String)>),
    shared: &mut Shared,
    feed: &mut Feed,
    env: &dyn Environment,
) -> bool {
    let held = shared.watching.informers.get(id).map(|informer| informer.store().list()).unwrap_or_default();
    let gone = held.iter().map(|object| &object.key).filter(|key| !list.named.contains(key)).cloned();
    let named: FxHashSet<ObjectKey> = gone.chain(others.iter().map(|(key, _)| key.clone())).collect();
    if named.is_empty() {
        return false;
    }
    hand(id, Input::Relist("what is missing between two files"), shared, feed, env);
    begin_list(id, resource, shared, feed, env);
    let mut list = List { named, ..List::default() };
    for (_, text) in &others {
        let separator = if std::mem::replace(&mut list.has_items, true) { "," } else { "" };
        hand(id, Input::Piece(format!("{separator}{text}").as_bytes()), shared, feed, env);
    }
    end_list(id, (resource, list, false), shared, feed, env)
}

fn begin_list(id: InformerId, resource: ApiResource, shared: &mut Shared, feed: &mut Feed, env: &dyn Environment) {
    let (kind, version) = (resource.kind, resource.api_version());
    let text =
        format!(r#"{{"kind":"{kind}List","apiVersion":"{version}","metadata":{{"resourceVersion":"1"}},"items":["#);
    hand(id, Input::Piece(text.as_bytes()), shared, feed, env);
}

/// Ends a list. Returns whether there are notices. Of a later list than the first, a recording has only what was new: all else is as it was.
fn end_list(
    id: InformerId,
    (resource, mut list, is_first): (ApiResource, List, bool),
    shared: &mut Shared,
    feed: &mut Feed,
    env: &dyn Environment,
) -> bool {
    let informer = shared.watching.informers.get(id).filter(|_| !is_first);
    let known = informer.map(|informer| informer.store().list()).unwrap_or_default();
    for object in known.iter().filter(|object| !list.named.contains(&object.key)) {
        let history = &shared.watching.history;
        let text = history.newest_text(resource, object).map(|text| text.into_owned());
        let Some(text) = text else { continue };
        let separator = if std::mem::replace(&mut list.has_items, true) { "," } else { "" };
        hand(id, Input::Piece(format!("{separator}{text}").as_bytes()), shared, feed, env);
    }
    hand(id, Input::Piece(b"]}"), shared, feed, env);
    let has_notices = hand(id, Input::PageEnd, shared, feed, env);
    hand(id, Input::Opened, shared, feed, env);
    has_notices
}

/// Hands an input to a reflector, as if the server had sent it now. Returns whether there are notices.
fn hand(id: InformerId, input: Input<'_>, shared: &mut Shared, feed: &mut Feed, env: &dyn Environment) -> bool {
    let Shared { watching, notices, audit, .. } = shared;
    let receivers = Receivers {
        audit,
        announcer: &mut notices.announcer,
        records: true,
        recorded: &mut |recorded, resource, delta: ReceivedDelta<'_>| {
            let ReceivedDelta { now, delta_type, object, text, .. } = delta;
            let wall = env.server_time(resource.cluster);
            feed.received(recorded, Received { resource, now, wall, delta_type, object, text });
        },
    };
    let moment = Moment { now: env.now(), random: 0.0 };
    watching.handle(id, input, moment, receivers).is_some_and(|reflected| reflected.has_notices)
}
