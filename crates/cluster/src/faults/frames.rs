//! Faults that affect the frames of a watch before they are sent.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use crate::cacher::frame::Frame;
use crate::faults::about::About;
use crate::faults::rule::{Effect, FrameFault, Rule};
use crate::faults::rules::Rules;

/// A frame to send.
#[derive(Debug)]
pub struct Outgoing {
    /// The frame, with the changes by faults.
    pub frame: Frame,
    /// The name of the fault that changed it; empty if none did.
    pub fault: &'static str,
    /// How long the frame is delayed once it is its turn.
    pub delay: Duration,
}

impl Outgoing {
    fn plain(frame: Frame) -> Self {
        Self { frame, fault: "", delay: Duration::ZERO }
    }
}

/// The faults between a watch and its connection.
#[derive(Debug)]
pub struct FrameFaults {
    rules: Arc<Rules>,
    about: About,
    /// The number of frames that were offered.
    offered: u64,
    /// A frame that is held back until after the next one.
    held: Option<Frame>,
    /// The id of the fault that stalls the watch.
    stalled: Option<u64>,
}

impl FrameFaults {
    /// The faults for one watch.
    pub fn new(rules: Arc<Rules>, about: About) -> Self {
        Self { rules, about, offered: 0, held: None, stalled: None }
    }

    /// Takes a frame; the frames that result from it are appended to `out`.
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

    /// Releases the frame that is held back, because there is no next one.
    pub fn flush(&mut self, out: &mut VecDeque<Outgoing>) {
        out.extend(self.held.take().map(Outgoing::plain));
    }

    /// The id of the fault that stalls the watch, while it is on.
    pub fn stalled(&mut self) -> Option<u64> {
        self.stalled = self.stalled.filter(|id| self.rules.all().iter().any(|rule| rule.id == *id));
        self.stalled
    }

    /// Whether a fault ends the watch after this many frames: `true` with a close, `false` without.
    pub fn ends(&self, sent: u64) -> Option<bool> {
        let all = self.rules.all();
        all.iter().filter(|rule| rule.spec.scope.holds(&self.about, None)).find_map(|rule| match rule.spec.effect {
            Effect::End { close } if rule.spec.after <= sent && rule.strikes(Some(sent)) => Some(close),
            _ => None,
        })
    }

    /// Whether a fault may end the watch, so that frames must be sent one at a time.
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
                // The first fault that strikes is the only one for this frame.
                Effect::Frame(fault) if struck.is_none() && rule.strikes(Some(self.offered)) => struck = Some(fault),
                _ => {}
            }
        }
        self.stalled = self.stalled.or(stall);
        struck
    }
}

/// How many bytes are added to a huge frame.
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
        // White space does not change the meaning of the frame, only its length.
        FrameFault::Huge => copy.frame.text = format!("{}{}\n", frame.text, " ".repeat(HUGE)).into(),
        FrameFault::Reorder | FrameFault::NoEndBookmark | FrameFault::Lose => {}
    }
    out.push_back(copy);
}
