//! The moment that the page shows: how it moves, and what is said of it.

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::resource::ApiResource;

use crate::history::coverage::Moment;
use crate::page::context::Context;
use crate::page::effect::Effect;
use crate::page::span::POINT;
use crate::rewind::banner::{RewindCommand, RewindModel, SPEEDS, last_such, time_of_day};
use crate::rewind::{Rewound, Stores, is_chosen};
use crate::timeline::mark::grouped;
use crate::timeline::scene::duration;

/// How long before a change playing goes on, where quiet stretches are left out, in milliseconds at the speed of 1.
const BEFORE_CHANGE: f64 = 300.0;
/// How long nothing may happen while playing, in milliseconds at the speed of 1: beyond that it is a quiet stretch.
const QUIET: f64 = 1_000.0;

/// The longest time that counts for a frame of what is played, in milliseconds.
const LONGEST_FRAME: f64 = 250.0;

/// What came of following the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Followed {
    /// Nothing is shown otherwise.
    Same,
    /// The rows are the same ones, at another moment.
    Moved,
    /// There are other rows.
    OtherRows,
}

/// The moment, and how it moves.
#[derive(Debug)]
pub(super) struct Rewind {
    /// When the last frame moved the moment, while it is played.
    played: Option<f64>,
    speed: usize,
    skips_quiet: bool,
    /// Whether the pointer drags it.
    is_dragged: bool,
}

impl Default for Rewind {
    fn default() -> Rewind {
        Rewind { played: None, speed: 2, skips_quiet: true, is_dragged: false }
    }
}

impl Rewind {
    /// Carries out a command. Returns the moment to go to: `None` within for now. `pointed` is the time of the mark under the
    /// pointer, or of the change that the inspector shows.
    pub(super) fn handle(
        &mut self,
        command: RewindCommand,
        pointed: Option<f64>,
        cx: &mut Context<'_>,
    ) -> Option<Option<f64>> {
        let goes_on = matches!(
            command,
            RewindCommand::Speed(_) | RewindCommand::SkipQuiet | RewindCommand::Play | RewindCommand::LetGo
        );
        if !goes_on {
            self.played = None;
        }
        match command {
            RewindCommand::To(at) => return Some(Some(at)),
            RewindCommand::ToPointed => match pointed {
                Some(at) => return Some(Some(at)),
                None => cx.show_message(POINT),
            },
            RewindCommand::Back(by) => return Some(Some(cx.shown_at() - by)),
            RewindCommand::Typed(text) => match time_of_day(&text) {
                Some(time) => {
                    let zone = cx.words().offset(cx.newest());
                    return Some(Some(last_such(time, cx.newest() + zone) - zone));
                }
                None => cx.show_message("Write a time of day: 14:02, 14:02:11 or 14:02:11.408."),
            },
            // The address follows when it is let go.
            RewindCommand::Drag(at) => {
                self.is_dragged = true;
                move_to(at, cx);
            }
            RewindCommand::LetGo => return std::mem::take(&mut self.is_dragged).then(|| Some(cx.shown_at())),
            RewindCommand::Step(by) => {
                let (before, after) = changes_around(moment(cx), cx);
                match if by < 0 { before } else { after } {
                    Some(at) => return Some(Some(at)),
                    None => {
                        let of = match &cx.navigation.selected {
                            Some((kind, key)) => format!(" of {} {key}", kind.resource.kind),
                            None => String::new(),
                        };
                        let when = if by < 0 { "before this moment" } else { "after it" };
                        cx.show_message(&format!("No change{of} {when} is kept."));
                    }
                }
            }
            RewindCommand::Play => match self.played.take() {
                Some(_) => return cx.watching.moment.map(|moment| Some(moment.at)),
                None => {
                    self.played = cx.watching.moment.map(|_| cx.now);
                    cx.hurry();
                }
            },
            RewindCommand::Speed(speed) => self.speed = speed.min(SPEEDS.len() - 1),
            RewindCommand::SkipQuiet => self.skips_quiet = !self.skips_quiet,
            // A recording has no now: the cluster has.
            RewindCommand::Live if cx.navigation.recorded.is_some() => cx.effects.push(Effect::CloseRecording),
            RewindCommand::Live => return Some(None),
        }
        self.present(cx);
        None
    }

    /// Whether it is played.
    pub(super) fn plays(&self) -> bool {
        self.played.is_some()
    }

    /// Moves on while it is played. Returns whether it has come to the end of what was received.
    pub(super) fn play(&mut self, cx: &mut Context<'_>) -> bool {
        let (Some(last), Some(moment)) = (self.played, cx.watching.moment) else { return false };
        let speed = SPEEDS[self.speed];
        // A page that was hidden, and showed no frames, leaves nothing out.
        let mut at = moment.at + (cx.now - last).min(LONGEST_FRAME) * speed;
        self.played = Some(cx.now);
        if self.skips_quiet {
            // A change at the moment itself counts as the one before.
            let mut just_after = moment;
            just_after.at += 1.0;
            let (before, next) = changes_around(just_after, cx);
            let is_quiet = before.is_none_or(|before| at - before > QUIET * speed);
            match next {
                Some(next) if is_quiet && next - at > QUIET * speed => at = next - BEFORE_CHANGE * speed,
                None if is_quiet => at = cx.newest(),
                _ => {}
            }
        }
        if at >= cx.newest() {
            self.played = None;
            return true;
        }
        move_to(at, cx);
        cx.hurry();
        false
    }

    /// Has rows and feed show the moment that the address names. `is_other` is whether the address names another moment than
    /// before, rather than the same one at another place.
    pub(super) fn follow(&mut self, is_other: bool, cx: &mut Context<'_>) -> Followed {
        let was_rewound = cx.watching.moment.is_some();
        let followed = self.follow_address(is_other, cx);
        let moment = cx.watching.moment;
        if moment.is_some() != was_rewound {
            cx.effects.push(Effect::Rewound(!was_rewound));
        }
        if let Some(moment) = moment.filter(|_| followed != Followed::Same) {
            let words = format!("Rewound to {}.", cx.words().time_of_day(moment.at));
            cx.view.dialogs.spoken.put(words);
        }
        followed
    }

    fn follow_address(&mut self, is_other: bool, cx: &mut Context<'_>) -> Followed {
        let was = cx.watching.moment;
        let end = cx.navigation.recorded.as_ref().map(|recorded| recorded.end).filter(|end| end.is_finite());
        let Some(at) = cx.navigation.route.at.or(end) else {
            self.played = None;
            cx.watching.moment = None;
            let had_rows = cx.watching.rewound.take().is_some();
            return if had_rows || was.is_some() { Followed::OtherRows } else { Followed::Same };
        };
        // What lies ahead is now.
        let at = at.min(cx.newest());
        if is_other {
            self.played = None;
        }
        let at = was.filter(|_| !is_other).map_or(at, |was| was.at);
        let schema = cx.navigation.new_schema();
        let is_of = |rewound: &Rewound| rewound.is_of(&schema, &cx.navigation.route.namespaces);
        let is_same = cx.watching.rewound.as_ref().is_some_and(is_of);
        if is_same && !is_other {
            return Followed::Same;
        }
        if is_same {
            move_to(at, cx);
            return Followed::Moved;
        }
        let moment = cx.watching.history.moment(at);
        let watching = &mut *cx.watching;
        watching.moment = Some(moment);
        let stores = Stores { watches: &watching.watches, informers: &watching.informers };
        let schema = watching.watches.view().map(|view| view.schema().clone());
        let namespaces = &cx.navigation.route.namespaces;
        watching.rewound = schema.map(|schema| Rewound::at(moment, schema, namespaces, (&watching.history, &stores)));
        Followed::OtherRows
    }

    /// Shows what is said of the moment.
    pub(super) fn present(&self, cx: &mut Context<'_>) {
        let model = cx.watching.moment.map(|moment| self.model(moment, cx));
        cx.view.header.rewind.put(model);
    }

    fn model(&self, moment: Moment, cx: &Context<'_>) -> RewindModel {
        let (before, after) = changes_around(moment, cx);
        let since = cx.watching.history.changes_since(moment, &is_in_view(cx));
        let later = match since {
            0 => String::new(),
            1 => String::from("1 change since"),
            since => format!("{} changes since", grouped(since as u64)),
        };
        let step = |at: Option<f64>, sign: &str| {
            at.map_or_else(String::new, |at| format!("{sign}{}", duration((at - moment.at).abs())))
        };
        RewindModel {
            time: cx.words().time_of_day(moment.at),
            whole: cx.words().full(moment.at),
            ago: match (((cx.newest() - moment.at) / 1_000.0).floor() * 1_000.0, &cx.navigation.recorded) {
                (at, None) => format!("{} ago", duration(at)),
                (0.0, Some(_)) => String::from("the end"),
                (at, Some(_)) => format!("{} before the end", duration(at)),
            },
            recording: cx.navigation.recorded.as_ref().map(|recorded| recorded.title.clone()),
            since: if later.is_empty() { String::from("no change since") } else { later.clone() },
            later,
            steps: [step(before, "−"), step(after, "+")],
            plays: self.plays(),
            speed: self.speed,
            skips_quiet: self.skips_quiet,
        }
    }
}

/// Shows the rows at another time. Those that have not changed in between stay as they are.
fn move_to(at: f64, cx: &mut Context<'_>) {
    let moment = cx.watching.history.moment(at.min(cx.newest()));
    if cx.watching.moment == Some(moment) {
        return;
    }
    let watching = &mut *cx.watching;
    watching.moment = Some(moment);
    if let Some(rewound) = &mut watching.rewound {
        let stores = Stores { watches: &watching.watches, informers: &watching.informers };
        rewound.step(moment, &watching.history, &stores);
    }
    *cx.repaints = true;
}

/// The moment that is shown, or that of now.
fn moment(cx: &Context<'_>) -> Moment {
    cx.watching.moment.unwrap_or_else(|| cx.watching.history.moment(cx.newest()))
}

/// When the change before a moment came, and when the next one: of the selected object, or else of what is in view.
fn changes_around(moment: Moment, cx: &Context<'_>) -> (Option<f64>, Option<f64>) {
    let history = &cx.watching.history;
    match &cx.navigation.selected {
        Some((kind, key)) => {
            history.changes_around(moment, &|resource, other| *resource == kind.resource && other == key)
        }
        None => history.changes_around(moment, &is_in_view(cx)),
    }
}

/// Whether an object is of a kind in view.
fn is_in_view<'a>(cx: &'a Context<'_>) -> impl Fn(&ApiResource, &ObjectKey) -> bool + use<'a> {
    let kinds = cx.navigation.schema.kinds();
    let namespaces = &cx.navigation.route.namespaces;
    move |resource, key| kinds.iter().any(|kind| kind.resource == *resource && is_chosen(namespaces, kind, key))
}
