//! The inside of an informer: a stream that is played step by step, while the address names one. Otherwise nothing of it is kept.

use std::sync::Arc;

use kubechurn_columns::kinds::Kind;

use crate::inside::command::{InsideCommand, SPEEDS, until};
use crate::inside::recorded::{Asked, Source, recorded};
use crate::inside::{Break, Change, Place, Stream, Walk, lesson};
use crate::navigation::route::Route;
use crate::page::context::Context;
use crate::page::effect::Effect;
use crate::page::embed;
use crate::timeline::mark::grouped;
use crate::view::inside::{InsideModel, inside_model};

/// How long the address waits for the steps that may follow at once, in milliseconds: browsers allow few changes of it.
const ADDRESS: f64 = 300.0;

/// The fastest speed at which each step is spoken, in steps a second.
const SPOKEN: f64 = 1.0;

/// How often it is looked whether something has come, where all was played, in milliseconds.
const WAITS: f64 = 500.0;

/// With so few events a stream is made anew whenever one more has come.
const FEW: usize = 500;

/// The inside of an informer.
#[derive(Debug)]
pub(super) struct Inside {
    /// What is played, while something is.
    open: Option<Open>,
    /// A place in [`SPEEDS`].
    speed: usize,
    /// Where the user came from.
    from: Option<Route>,
}

/// What is played.
#[derive(Debug)]
struct Open {
    kind: &'static Kind,
    /// `None` until something of the kind is known.
    walk: Option<Walk>,
    /// The time of the next step, while it is played, in milliseconds.
    next: Option<f64>,
    /// When it pauses, by its word.
    pause: String,
    /// When the address is to be written, in milliseconds.
    writes: Option<f64>,
    /// What is played of what was recorded, and how far that has come; `None` for a lesson.
    source: Option<Source>,
    /// Which entry of the server's log is the first one that has come since, until it is played.
    fresh: usize,
    /// How many versions of the kind came after those that are played, and up to which number they were counted.
    newer: (u64, u64),
    /// The break that the user had last.
    broken: Option<usize>,
    /// Whether what is played is made anew of what has come since: until the user does something.
    follows: bool,
}

impl Default for Inside {
    fn default() -> Inside {
        Inside { open: None, speed: 2, from: None }
    }
}

impl Inside {
    /// Follows the address: opens what it names, goes to its step, or forgets everything.
    pub(super) fn follow(&mut self, cx: &mut Context<'_>) {
        let kind = cx.navigation.kinds().first().copied();
        let (Some(query), Some(kind)) = (&cx.navigation.route.inside, kind) else {
            let waits = cx.navigation.route.inside.is_some() || cx.view.header.embed.is_some();
            self.open = None;
            let model = waits.then(|| waiting(cx));
            cx.view.header.inside.put(model.map(Arc::new));
            return;
        };
        let place = Place::parse(query);
        match &mut self.open {
            Some(Open { kind: own, walk: Some(walk), .. }) if *own == kind && is_of(walk, &place) => {
                let Place { received, grown, .. } = walk.place().clone();
                let place = Place { received, grown, ..place };
                if *walk.place() != place {
                    walk.go(place);
                }
            }
            _ => {
                let follows = place == Place::default() && cx.navigation.recorded.is_none();
                self.open = Some(Open {
                    kind,
                    walk: None,
                    next: None,
                    pause: String::new(),
                    writes: None,
                    source: None,
                    fresh: usize::MAX,
                    newer: (0, 0),
                    broken: None,
                    follows,
                });
            }
        }
        self.work(cx);
        self.present(cx);
    }

    /// Carries out a command.
    pub(super) fn handle(&mut self, command: InsideCommand, cx: &mut Context<'_>) {
        if matches!(command, InsideCommand::Toggle | InsideCommand::Kind(_) | InsideCommand::Lesson(_)) {
            // The address of the place that is left must not take the place of the next one.
            self.open.iter_mut().for_each(|open| open.writes = None);
        }
        match command {
            InsideCommand::Toggle => return self.toggle(cx),
            InsideCommand::Kind(name) => {
                let route = cx.navigation.route.inside_of(&name);
                return cx.push(&route);
            }
            InsideCommand::Lesson(id) => {
                let query = Place { lesson: id.to_owned(), caption: Some(0), ..Place::default() }.written();
                if cx.navigation.route.inside.is_none() {
                    self.from = Some(cx.navigation.route.clone());
                }
                let name = cx.navigation.kinds().first().map_or("pods", |kind| kind.name);
                let route = Route { inside: Some(query), ..cx.navigation.route.inside_of(name) };
                return cx.push(&route);
            }
            InsideCommand::Speed(speed) => self.speed = speed.min(SPEEDS.len() - 1),
            _ => {}
        }
        let pace = 1_000.0 / SPEEDS[self.speed];
        let Some(open) = &mut self.open else { return };
        let Some(walk) = &mut open.walk else { return };
        if !matches!(command, InsideCommand::Play | InsideCommand::Speed(_) | InsideCommand::Pause(_)) {
            (open.next, open.follows) = (None, false);
        }
        match command {
            InsideCommand::Step(by) => walk.seek(walk.place().step.saturating_add_signed(by)),
            InsideCommand::To(step) => walk.seek(step),
            InsideCommand::End => walk.seek(usize::MAX),
            InsideCommand::Caption(by) if walk.place().lesson.is_empty() => {
                walk.seek(walk.place().step.saturating_add_signed(by));
            }
            InsideCommand::Caption(by) => walk.read_next(by),
            InsideCommand::Play => {
                open.follows = false;
                open.next = match open.next {
                    Some(_) => None,
                    None => Some(cx.now + pace),
                };
            }
            InsideCommand::Speed(_) => open.next = open.next.map(|_| cx.now + pace),
            InsideCommand::Pause(word) => open.pause = word,
            InsideCommand::Next => match until(&open.pause) {
                None => cx.show_message("Choose first when it pauses."),
                Some(until) if !walk.until(&until) => cx.show_message("It does not happen again."),
                Some(_) => {}
            },
            InsideCommand::Set(words) => Change::parse(&words).into_iter().for_each(|change| walk.change(change)),
            InsideCommand::Break(kind) => {
                let entry = walk.machine().connection().cursor();
                if entry >= walk.server().len() {
                    cx.show_message("Nothing more comes that could break.");
                } else {
                    walk.change(Change::Break(Break { entry, kind }));
                    open.broken = crate::inside::BreakKind::ALL.iter().position(|own| *own == kind);
                }
            }
            InsideCommand::New => {
                walk.hear(open.fresh.max(walk.machine().connection().cursor()));
                open.fresh = usize::MAX;
            }
            InsideCommand::Renew => {
                cx.navigation.route.inside = Some(Place::default().written());
                (open.walk, open.source, open.newer, open.fresh) = (None, None, (0, 0), usize::MAX);
            }
            InsideCommand::Toggle | InsideCommand::Kind(_) | InsideCommand::Lesson(_) => {}
        }
        self.work(cx);
        self.write(cx);
        self.present(cx);
        cx.hurry();
    }

    fn toggle(&mut self, cx: &mut Context<'_>) {
        let route = &cx.navigation.route;
        if route.inside.is_some() {
            let from = self.from.take().filter(|from| from.inside.is_none());
            let route = from.unwrap_or_else(|| Route { inside: None, ..route.clone() });
            return cx.push(&route);
        }
        let selected = cx.navigation.selected.as_ref().map(|(kind, _)| *kind);
        let usual = cx.navigation.kinds().into_iter().find(|kind| kind.name == "pods");
        let kind = selected.or(usual.filter(|_| route.changes)).or(cx.navigation.kinds().first().copied());
        let name = kind.map_or_else(|| route.resource.clone(), |kind| kind.name.to_owned());
        self.from = Some(route.clone());
        let route = route.inside_of(&name);
        cx.push(&route);
    }

    /// Has the address follow the place, a little later.
    fn write(&mut self, cx: &mut Context<'_>) {
        let Some(Open { walk: Some(walk), next, writes, .. }) = &mut self.open else { return };
        cx.navigation.route.inside = Some(walk.place().written());
        // While it is played, only where it stops counts.
        *writes = next.is_none().then(|| writes.unwrap_or(cx.now + ADDRESS));
    }

    /// Makes the stream as soon as there is one, and plays on.
    pub(super) fn work(&mut self, cx: &mut Context<'_>) {
        let pace = 1_000.0 / SPEEDS[self.speed];
        let Some(open) = &mut self.open else { return };
        let Some(walk) = &mut open.walk else {
            if let Some(query) = &cx.navigation.route.inside {
                let place = Place::parse(query);
                if let Some((mut stream, mut source)) = stream(&place, open.kind, cx) {
                    let received = source.as_ref().map(|source| source.received);
                    let grown = grown(&place, &mut stream, source.as_mut(), cx);
                    open.newer = (0, source.as_ref().map_or(0, |source| source.received.1));
                    (open.source, open.fresh) = (source, usize::MAX);
                    open.walk = Some(Walk::new(stream, Place { received, grown, ..place }));
                    self.present(cx);
                }
            }
            return;
        };
        if open.next.is_some_and(|next| next <= cx.now) {
            let is_step = walk.forward();
            let pauses = until(&open.pause).is_some_and(|until| walk.steps().last().is_some_and(|step| until.is(step)));
            // Where more may come, it waits for that.
            let waits = !is_step && open.source.as_ref().is_some_and(|source| !source.is_over) && is_live(cx);
            open.next = match is_step {
                true if !pauses => Some(cx.now + pace),
                false if waits => Some(cx.now + pace.max(WAITS)),
                _ => None,
            };
            if !waits {
                self.write(cx);
                self.present(cx);
            }
        }
        let Some(open) = &mut self.open else { return };
        if open.writes.is_some_and(|at| at <= cx.now) {
            open.writes = None;
            cx.effects.push(Effect::Replace(cx.navigation.route.fragment()));
        }
    }

    /// Counts what has come since, now and then.
    pub(super) fn count(&mut self, cx: &mut Context<'_>) {
        let Some(open) = &mut self.open else { return };
        let Open { kind, walk: Some(walk), source: Some(source), newer: (count, to), fresh, follows, .. } = open else {
            return;
        };
        let history = &cx.watching.history;
        let received = history.received();
        if *to >= received {
            return;
        }
        let before = std::mem::replace(to, received);
        // To make it anew costs as much as there is, and so is done whenever there is twice as much.
        let more = source.played + source.left_out + *count;
        let is_anew = *follows && (source.events < FEW || more >= source.events as u64);
        if is_anew && is_live(cx) {
            (open.walk, open.source) = (None, None);
            return self.work(cx);
        }
        if !source.is_over && is_live(cx) {
            let (from, len) = (walk.comes_from(), walk.server().len());
            if let Some(place) = walk.place().with_grown(from, received) {
                let frames = source.take(history, received, from as f64, len);
                if !source.is_over && frames.is_empty() {
                    return self.present(cx);
                }
                if !source.is_over {
                    *fresh = if *fresh == usize::MAX { len } else { *fresh };
                    walk.grow(from, &frames, place);
                    if cx.navigation.route.inside.is_some() {
                        cx.navigation.route.inside = Some(walk.place().written());
                    }
                    return self.present(cx);
                }
            }
            source.is_over = true;
        }
        *count += history.received_of(kind.resource, (before, received)).count() as u64;
        self.present(cx);
    }

    /// When something happens by itself, in milliseconds.
    pub(super) fn due_at(&self) -> Option<f64> {
        let open = self.open.as_ref()?;
        [open.next, open.writes].into_iter().flatten().reduce(f64::min)
    }

    /// Shows the present step.
    fn present(&self, cx: &mut Context<'_>) {
        let Some(open) = &self.open else { return };
        let watched = cx.watching.watches.iter().map(|watched| watched.kind());
        let kinds = watched.map(|kind| (kind.name, kind.title, kind == open.kind)).collect();
        let Some(walk) = &open.walk else {
            let model = InsideModel { title: open.kind.title.to_owned(), kinds, ..waiting(cx) };
            return cx.view.header.inside.put(Some(Arc::new(model)));
        };
        let model = inside_model(walk);
        let embed = *cx.view.header.embed;
        // What has come since and was not heard is new.
        let heard = walk.machine().connection().cursor().max(open.fresh);
        let fresh = walk.server().len().saturating_sub(heard) as u64;
        let newer = open.newer.0 + open.source.as_ref().map_or(0, |source| source.left_out);
        let notes = match &open.source {
            Some(Source { played, left_out, .. }) if played + left_out > 0 => format!(
                "{} {} come since, and {} of others, which {} left out.",
                model.notes,
                if *played == 1 { String::from("1 event has") } else { format!("{} events have", grouped(*played)) },
                grouped(*left_out),
                if *left_out == 1 { "is" } else { "are" },
            ),
            _ => model.notes,
        };
        let plays = open.next.is_some();
        let model = InsideModel {
            kinds,
            notes,
            grows: fresh > 0,
            newer: match (fresh, newer) {
                _ if cx.watching.moment.is_some() => String::new(),
                (1, _) => String::from("1 new frame"),
                (1.., _) => format!("{} new frames", grouped(fresh)),
                (0, 1..) => format!("{} newer", grouped(newer)),
                (0, 0) => String::new(),
            },
            checklist: checklist(cx),
            about: embed.and_then(|embed| embed.part).or(model.about),
            whole: embed::whole(cx),
            plays,
            speed: self.speed,
            pause: open.pause.clone(),
            broken: open.broken.or(model.broken),
            spoken: if plays && SPEEDS[self.speed] > SPOKEN { String::new() } else { model.spoken },
            ..model
        };
        cx.view.header.inside.put(Some(Arc::new(model)));
    }
}

/// Whether a place is one of what is played.
fn is_of(walk: &Walk, place: &Place) -> bool {
    let own = walk.place();
    own.lesson == place.lesson
        && (place.received.is_none() || own.received == place.received)
        && own.has_grown_as(place)
}

/// Whether what is shown goes on.
fn is_live(cx: &Context<'_>) -> bool {
    cx.navigation.recorded.is_none() && cx.watching.moment.is_none()
}

/// Where the book has the checklist; empty where the document names no book.
fn checklist(cx: &Context<'_>) -> String {
    cx.env.named("book").map(|book| format!("{book}checklist.html#the-client")).unwrap_or_default()
}

/// What a place plays, with what it is made of where that was recorded; `None` as long as nothing is known.
fn stream(place: &Place, kind: &'static Kind, cx: &Context<'_>) -> Option<(Stream, Option<Source>)> {
    if !place.lesson.is_empty() {
        let lesson = lesson(&place.lesson)?;
        let opened = lesson.open();
        let settings = (**opened.machine().settings()).clone();
        let notes = vec![format!("{}: a lesson, whose stream is made up.", lesson.title)];
        let stream = Stream {
            title: "Pods".into(),
            notes,
            server: opened.server().clone(),
            settings,
            begins: opened.machine().now(),
        };
        return Some((stream, None));
    }
    let is_recording = cx.navigation.recorded.is_some();
    if cx.navigation.recorded.as_ref().is_some_and(|recorded| recorded.end.is_infinite()) {
        return None;
    }
    let history = &cx.watching.history;
    let asked = Asked {
        resource: kind.resource,
        title: kind.title,
        namespaces: &cx.navigation.route.namespaces,
        object: cx.navigation.selected.as_ref().filter(|(own, _)| *own == kind).map(|(_, key)| key),
        moment: cx.watching.moment.unwrap_or_else(|| history.moment(cx.newest())),
        received: place.received,
        is_recording,
    };
    recorded(history, asked).map(|(stream, source)| (stream, Some(source)))
}

/// Adds to a stream what a place says of how it had grown. Returns how much of that is known here.
fn grown(place: &Place, stream: &mut Stream, source: Option<&mut Source>, cx: &Context<'_>) -> Vec<(u64, u64)> {
    let (Some(source), mut grown) = (source, place.grown.clone()) else { return Vec::new() };
    let history = &cx.watching.history;
    let known = history.moment(cx.newest()).received;
    grown.retain(|&(from, to)| {
        let is_known = source.received.1 < to && to <= known;
        if is_known {
            let frames = source.take(history, to, from as f64, stream.server.len());
            stream.server.grow(from, &frames);
        }
        is_known
    });
    grown
}

/// That nothing is played, and why.
fn waiting(cx: &Context<'_>) -> InsideModel {
    let is_lesson = cx.navigation.route.inside.as_ref().is_some_and(|query| !Place::parse(query).lesson.is_empty());
    let waits = match cx.watching.history.is_off() {
        _ if cx.view.header.embed.is_some() && !is_lesson => "The address of this page names no lesson.",
        _ if is_lesson => "This page has no lesson of this name.",
        true => "The recorder is off. What it keeps is what is played here.",
        false => "The first list is not complete yet. What comes of it is played here.",
    };
    InsideModel { waits: waits.to_owned(), whole: embed::whole(cx), ..InsideModel::default() }
}
