//! Faults that strike the frames of a watch on their way out.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use crate::cacher::frame::Frame;
use crate::faults::about::About;
use crate::faults::rule::{Effect, FrameFault, Rule};
use crate::faults::rules::Rules;

/// A frame that is to be sent.
#[derive(Debug)]
pub struct Outgoing {
    /// The frame, as it goes out.
    pub frame: Frame,
    /// The word for what was done to it; empty if nothing was.
    pub fault: &'static str,
    /// How long it is held back once it is its turn.
    pub delay: Duration,
}

impl Outgoing {
    fn plain(frame: Frame) -> Self {
        Self { frame, fault: "", delay: Duration::ZERO }
    }
}

/// What stands between a watch and its connection.
#[derive(Debug)]
pub struct Tamper {
    rules: Arc<Rules>,
    about: About,
    /// Frames that have come so far.
    offered: u64,
    /// A frame that waits for the next one to overtake it.
    held: Option<Frame>,
    /// The fault that keeps everything back.
    stalled: Option<u64>,
}

impl Tamper {
    /// Stands in the way of one watch.
    pub fn new(rules: Arc<Rules>, about: About) -> Self {
        Self { rules, about, offered: 0, held: None, stalled: None }
    }

    /// Takes a frame in; what comes of it goes to the end of `out`.
    pub fn offer(&mut self, frame: Frame, out: &mut VecDeque<Outgoing>) {
        let all = self.rules.all();
        let struck = if all.is_empty() { None } else { self.struck(&all, &frame) };
        self.offered += 1;
        let overtaken = self.held.take();
        match struck {
            None => out.push_back(Outgoing::plain(frame)),
            Some(FrameFault::Reorder) => self.held = Some(frame),
            Some(FrameFault::NoEndBookmark | FrameFault::Lose) => {}
            Some(fault) => strike(fault, frame, out),
        }
        if let Some(frame) = overtaken {
            out.push_back(Outgoing { fault: FrameFault::Reorder.word(), ..Outgoing::plain(frame) });
        }
    }

    /// Gives up what it still holds: there is no next frame.
    pub fn flush(&mut self, out: &mut VecDeque<Outgoing>) {
        out.extend(self.held.take().map(Outgoing::plain));
    }

    /// The fault that keeps everything back, while it lasts.
    pub fn stalled(&mut self) -> Option<u64> {
        self.stalled = self.stalled.filter(|id| self.rules.all().iter().any(|rule| rule.id == *id));
        self.stalled
    }

    /// Whether the watch is to end now that so many frames are sent: `true` with a close, `false` without.
    pub fn ends(&self, sent: u64) -> Option<bool> {
        let all = self.rules.all();
        all.iter().filter(|rule| rule.spec.scope.holds(&self.about, None)).find_map(|rule| match rule.spec.effect {
            Effect::End { close } if rule.spec.after <= sent && rule.strikes(Some(sent)) => Some(close),
            _ => None,
        })
    }

    /// Whether some fault may end the watch, so that frames go one by one.
    pub fn may_end(&self) -> bool {
        let ends = |rule: &Arc<Rule>| matches!(rule.spec.effect, Effect::End { .. });
        self.rules.all().iter().any(|rule| ends(rule) && rule.spec.scope.holds(&self.about, None))
    }

    fn struck(&mut self, all: &[Arc<Rule>], frame: &Frame) -> Option<FrameFault> {
        let (mut struck, is_stalled) = (None, self.stalled().is_some());
        let mut stall = None;
        for rule in all.iter().filter(|rule| rule.spec.scope.holds(&self.about, Some(frame))) {
            match rule.spec.effect {
                Effect::Stall if !is_stalled && stall.is_none() && rule.strikes(Some(self.offered)) => {
                    stall = Some(rule.id);
                }
                Effect::Frame(FrameFault::NoEndBookmark) if !frame.ends_initial_events => {}
                // The first that strikes has the frame for itself.
                Effect::Frame(fault) if struck.is_none() && rule.strikes(Some(self.offered)) => struck = Some(fault),
                _ => {}
            }
        }
        self.stalled = self.stalled.or(stall);
        struck
    }
}

/// What a huge frame has more than it needs, in bytes.
const HUGE: usize = 65_000_000;

fn strike(fault: FrameFault, frame: Frame, out: &mut VecDeque<Outgoing>) {
    let mut copy = Outgoing { fault: fault.word(), ..Outgoing::plain(frame.clone()) };
    match fault {
        FrameFault::Delay(delay) => copy.delay = delay,
        FrameFault::Duplicate => out.push_back(Outgoing::plain(frame)),
        FrameFault::Truncate => {
            let half = (0..=frame.text.len() / 2).rev().find(|at| frame.text.is_char_boundary(*at)).unwrap_or(0);
            copy.frame.text = format!("{}\n", &frame.text[..half]).into();
        }
        FrameFault::NotJson => copy.frame.text = "upstream connect error or disconnect/reset before headers\n".into(),
        FrameFault::WrongType => {
            let (key, uid) = frame.about.as_ref().map_or(("", ""), |(key, uid)| (&**key, &**uid));
            let (namespace, name) = key.split_once('/').unwrap_or(("", key));
            let metadata = json!({"name": name, "namespace": namespace, "uid": uid,
                "resourceVersion": frame.revision.to_string()});
            let object = json!({"kind": "Unexpected", "apiVersion": "faults.example/v1", "metadata": metadata});
            copy.frame.text = format!("{}\n", json!({"type": frame.event_type, "object": object})).into();
        }
        FrameFault::UnknownType => {
            let start = format!("{{\"type\":\"{}\"", frame.event_type);
            let rest = frame.text.strip_prefix(&start).unwrap_or_default();
            copy.frame.text = format!("{{\"type\":\"RENAMED\"{rest}").into();
        }
        // White space is no part of what it says: it is the same frame, but for its length.
        FrameFault::Huge => copy.frame.text = format!("{}{}\n", frame.text, " ".repeat(HUGE)).into(),
        FrameFault::Reorder | FrameFault::NoEndBookmark | FrameFault::Lose => {}
    }
    out.push_back(copy);
}
