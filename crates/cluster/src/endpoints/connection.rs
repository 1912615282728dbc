//! The way of a watch's frames to the connection: through the faults and the ledger.

use std::collections::VecDeque;
use std::sync::Arc;

use axum::http::request::Parts;
use futures::FutureExt;
use tokio::sync::watch::Receiver;
use tokio::time::{Instant, sleep_until};

use crate::cacher::watcher::{Step, Watcher};
use crate::client::internal::Internal;
use crate::faults::Faults;
use crate::faults::about::About;
use crate::faults::frames::{FrameFaults, Outgoing};
use crate::faults::rules::Rules;
use crate::ledger::Ledger;
use crate::ledger::account::Account;
use crate::request::websocket;
use crate::resources::registry::Registry;

/// A watch request whose connection is not open yet.
#[derive(Debug)]
pub struct PendingWatch {
    rules: Arc<Rules>,
    about: About,
    ledger: Option<Arc<Ledger>>,
    transport: &'static str,
    path: String,
}

impl PendingWatch {
    /// A watch request that is not answered yet. `faults` are those that apply to it.
    pub fn of(registry: &Registry, ledger: &Arc<Ledger>, parts: &Parts, faults: &Faults) -> Self {
        let is_internal = parts.extensions.get::<Internal>().is_some();
        Self {
            rules: Arc::clone(faults.rules()),
            about: About::of(registry, parts),
            ledger: (!is_internal).then(|| Arc::clone(ledger)),
            transport: if websocket::is_upgrade(&parts.headers) { "websocket" } else { "http" },
            path: parts.uri.path_and_query().map(ToString::to_string).unwrap_or_default(),
        }
    }

    /// The request.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// Whether one of the cluster's own components asks.
    pub fn is_internal(&self) -> bool {
        self.ledger.is_none()
    }

    /// Puts the faults and the ledger between a watch and its connection.
    pub async fn open(self, watcher: Watcher) -> WatchConnection {
        let account = match self.ledger {
            Some(ledger) => Some(ledger.open(&self.about, self.transport, &self.path).await),
            None => None,
        };
        WatchConnection {
            changes: self.rules.changes(),
            frame_faults: FrameFaults::new(Arc::clone(&self.rules), self.about),
            rules: self.rules,
            watcher,
            account,
            queue: VecDeque::new(),
            due: None,
            sent: 0,
            asked: false,
            ending: None,
            ended: false,
            finished: false,
        }
    }
}

/// A watch as its connection reads it.
#[derive(Debug)]
pub struct WatchConnection {
    watcher: Watcher,
    frame_faults: FrameFaults,
    /// `None` for the cluster's own watches.
    account: Option<Account>,
    queue: VecDeque<Outgoing>,
    /// When the first frame of the queue may be sent, if it is delayed.
    due: Option<Instant>,
    /// The number of frames sent.
    sent: u64,
    /// Whether the faults that end a watch were checked since the last frame, or the last change of the faults.
    asked: bool,
    /// Set when a fault ends the watch: `true` with a close, `false` without.
    ending: Option<bool>,
    /// Whether the watcher has ended; the queue is sent first.
    ended: bool,
    /// Whether the end is recorded in the ledger.
    finished: bool,
    rules: Arc<Rules>,
    changes: Receiver<()>,
}

impl WatchConnection {
    /// Resolves once the connection is to be dropped, even while it is busy sending.
    pub fn cut(&self) -> impl Future<Output = ()> + Send + use<> {
        self.watcher.cut()
    }

    /// Waits for the next step. Its frames are in the ledger when it returns. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Step {
        loop {
            if self.changes.has_changed().unwrap_or(false) {
                self.changes.mark_unchanged();
                self.asked = false;
            }
            if self.frame_faults.stalled().is_some() {
                tokio::select! {
                    changed = self.changes.changed() => {
                        self.asked &= changed.is_err();
                        continue;
                    }
                    () = self.watcher.cut() => return self.finish(Step::Cut, "cut"),
                }
            }
            if self.ending.is_none() && !std::mem::replace(&mut self.asked, true) {
                self.ending = self.frame_faults.ends(self.sent);
            }
            match self.ending {
                Some(true) => return self.finish(Step::End, "fault-close"),
                Some(false) => {
                    // hyper flushes when no more data is ready. If the connection were dropped before that, the frames
                    // would be lost.
                    tokio::task::yield_now().await;
                    return self.finish(Step::Cut, "fault-drop");
                }
                None => {}
            }
            if let Some(first) = self.queue.front() {
                let due = *self.due.get_or_insert_with(|| Instant::now() + first.delay);
                if !first.delay.is_zero() && due > Instant::now() {
                    tokio::select! {
                        () = sleep_until(due) => {}
                        () = self.watcher.cut() => return self.finish(Step::Cut, "cut"),
                    }
                }
                return self.send().await;
            }
            if self.ended {
                return self.finish(Step::End, "end");
            }
            tokio::select! {
                step = self.watcher.next() => match step {
                    Step::Frames(frames) => frames.into_iter().for_each(|one| self.frame_faults.offer(one, &mut self.queue)),
                    Step::End => {
                        self.frame_faults.flush(&mut self.queue);
                        self.ended = true;
                    }
                    Step::Cut => return self.finish(Step::Cut, "cut"),
                },
                changed = self.changes.changed() => self.asked &= changed.is_err(),
            }
        }
    }

    /// Sends the first frame of the queue, and those that may be sent with it.
    async fn send(&mut self) -> Step {
        let permit = match &self.account {
            Some(account) => Some(account.permit().await),
            None => None,
        };
        // Nothing below waits: every frame that leaves the queue is sent.
        let alone = self.frame_faults.may_end();
        let mut gone = Vec::with_capacity(self.queue.len());
        while let Some(next) = self.queue.pop_front_if(|next| gone.is_empty() || (next.delay.is_zero() && !alone)) {
            gone.push(next);
        }
        self.due = None;
        self.sent += gone.len() as u64;
        self.asked = false;
        if let (Some(account), Some(permit)) = (&self.account, permit) {
            account.sent(permit, &gone);
        }
        Step::Frames(gone.into_iter().map(|one| one.frame).collect())
    }

    fn finish(&mut self, step: Step, reason: &'static str) -> Step {
        if reason == "cut" {
            self.rules.count("cut");
        }
        if let Some(account) = &self.account {
            account.close(reason);
        }
        self.finished = true;
        step
    }
}

impl Drop for WatchConnection {
    /// A `WatchConnection` that is dropped early has lost its client, or was cut while it was sending.
    fn drop(&mut self) {
        if !self.finished && self.watcher.cut().now_or_never().is_some() {
            self.finish(Step::Cut, "cut");
        }
    }
}
