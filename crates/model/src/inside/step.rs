//! A step of the machinery, and the words for it.

use std::sync::Arc;

use kubechurn_client::api::object::{Object, ObjectKey, ResourceVersion};
use kubechurn_client::cache::client_go::Call;
use kubechurn_client::cache::delta::{DeltaObject, DeltaType};

use crate::inside::breaks::BreakKind;
use crate::inside::handlers::Handled;
use crate::inside::part::Part;
use crate::inside::queues::Taken;
use crate::inside::work::Worked;

/// How an object of a list compares with what was known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compared {
    /// It was not known.
    New,
    /// It was known in another version.
    Changed,
    /// It was known in this version.
    Same,
    /// It was known, and the list does not have it: it gets a tombstone.
    Missing,
}

/// A row of the comparison of a list with the store of the chosen queue.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The key.
    pub key: ObjectKey,
    /// The version that was known.
    pub known: Option<ResourceVersion>,
    /// The version in the list.
    pub listed: Option<ResourceVersion>,
}

impl Row {
    /// How the two compare.
    pub fn compared(&self) -> Compared {
        match (&self.known, &self.listed) {
            (None, _) => Compared::New,
            (_, None) => Compared::Missing,
            (Some(known), Some(listed)) if known == listed => Compared::Same,
            _ => Compared::Changed,
        }
    }
}

/// What happened in one step.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// The Reflector starts.
    Started,
    /// A list came.
    Listed {
        /// How many objects it has.
        items: usize,
        /// Its version.
        version: ResourceVersion,
    },
    /// The list is handed to the queue.
    Replaced {
        /// How it compares with what was known.
        rows: Vec<Row>,
        /// The version of the bookmark that ended it, where a watch brought it.
        bookmark: Option<ResourceVersion>,
    },
    /// A watch opened.
    Watches {
        /// The version after which it begins.
        from: ResourceVersion,
        /// Whether it brings the list first.
        streams: bool,
    },
    /// A watch brought an object of the list.
    Streamed(Arc<Object>),
    /// An event came.
    Event {
        /// `Added`, `Updated` or `Deleted`.
        delta_type: DeltaType,
        /// The object.
        object: Arc<Object>,
        /// What is broken about it.
        broken: Option<BreakKind>,
    },
    /// A bookmark came.
    Bookmark(ResourceVersion),
    /// An event of this object was lost on the way; `None` is something else, such as a bookmark.
    Lost(Option<ObjectKey>),
    /// The watch ended, for this reason.
    Ended(String),
    /// From now on nothing comes.
    Silent,
    /// A wait or a time limit was over.
    TimeOver,
    /// A resync queued what is known.
    Resynced {
        /// How many objects are queued again.
        again: usize,
        /// Which are left out, because something of them waits.
        left_out: Vec<ObjectKey>,
    },
    /// Something was taken from the queue.
    Popped(Taken),
    /// A handler did something.
    Handler(usize, Handled),
    /// The work queue or a worker did something.
    Worked(Worked),
}

/// A step.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// When, in milliseconds.
    pub at: f64,
    /// What.
    pub what: What,
}

impl Step {
    /// In which part it happened.
    pub fn part(&self) -> Part {
        match &self.what {
            What::Listed { .. } | What::Streamed(_) | What::Lost(_) | What::Silent => Part::Server,
            What::Event { .. } | What::Bookmark(_) | What::Replaced { .. } | What::Resynced { .. } => Part::Queue,
            What::Started | What::Watches { .. } | What::Ended(_) | What::TimeOver => Part::Reflector,
            What::Popped(_) => Part::Pop,
            What::Handler(..) => Part::Handlers,
            What::Worked(_) => Part::WorkQueue,
        }
    }

    /// Whether the watch ended because its version was too old: the server does not remember what came after that.
    pub fn is_gone(&self) -> bool {
        matches!(&self.what, What::Ended(reason) if reason.starts_with("410"))
    }

    /// What happened, in one sentence.
    pub fn words(&self) -> String {
        match &self.what {
            What::Started => "The informer starts, and asks for a list.".into(),
            What::Listed { items, version } => format!("The list has {} at version {version}.", objects(*items)),
            What::Replaced { rows, bookmark } => {
                let begin = match bookmark {
                    Some(version) => format!("A bookmark ends the list, at version {version}. It"),
                    None => String::from("The list"),
                };
                let count = |compared| rows.iter().filter(|row| row.compared() == compared).count();
                let [new, changed, same, missing] =
                    [Compared::New, Compared::Changed, Compared::Same, Compared::Missing].map(count);
                format!(
                    "{begin} is compared with what is known: {new} new, {changed} changed, {same} the same, {missing} missing."
                )
            }
            What::Watches { streams: true, .. } => {
                "A watch begins with the list: each object that exists comes as an event of its own.".into()
            }
            What::Watches { from, .. } => format!("A watch begins after version {from}."),
            What::Streamed(object) => format!(
                "{} is in the list at version {}. It waits until the list is complete.",
                object.key, object.resource_version
            ),
            What::Event { delta_type, object, broken } => {
                let Object { key, resource_version, .. } = &**object;
                let verb = match delta_type {
                    DeltaType::Deleted => "is deleted",
                    DeltaType::Added => "is added",
                    _ => "has changed",
                };
                let how = match broken {
                    Some(BreakKind::Delay(_)) => ", and the event comes late",
                    Some(BreakKind::Duplicate) => ", and the event comes twice",
                    Some(BreakKind::Reorder) => ", and the event comes in the wrong order",
                    Some(BreakKind::Burst(_)) => ", and the events after it come at the same moment",
                    _ => "",
                };
                format!("{key} {verb} at version {resource_version}{how}.")
            }
            What::Bookmark(version) => format!("A bookmark: everything up to version {version} has been sent."),
            What::Lost(Some(key)) => format!("An event of {key} is lost, and nobody notices it."),
            What::Lost(None) => "A bookmark, or an end, is lost, and nobody notices it.".into(),
            What::Ended(reason) => format!("The watch ended: {reason}."),
            What::Silent => "The connection stays open, and nothing comes any more.".into(),
            What::TimeOver => "A time limit of the Reflector is over.".into(),
            What::Resynced { again, left_out } => {
                let left_out = left_out.len();
                format!(
                    "A resync queues {} again, and leaves out {left_out} of which something waits.",
                    objects(*again)
                )
            }
            What::Popped(Taken { key, deltas, calls }) => {
                let of = key.as_ref().map(|key| format!(" of {key}")).unwrap_or_default();
                let (deltas, calls) = (plural(*deltas, "delta"), plural(calls.len(), "call"));
                format!("A pop takes {deltas}{of}; what follows is {calls}.")
            }
            What::Handler(_, Handled::Joined(count)) => {
                format!("A handler comes late, and gets {} first, which are in the store.", objects(*count))
            }
            What::Handler(_, Handled::Called(call)) => format!("A handler is called: {}.", written(call)),
            What::Handler(_, Handled::Skipped(call)) => {
                format!("{} is passed over by a handler that asked for no resync.", written(call))
            }
            What::Worked(Worked::Due(count)) => format!("The time of {} has come.", plural(*count, "key")),
            What::Worked(Worked::Took(work)) => format!("A worker takes {}, and reads the store.", work.key),
            What::Worked(Worked::Done { work, failed: false }) => format!("The work on {} is done.", work.key),
            What::Worked(Worked::Done { work, failed: true }) => {
                format!("The work on {} failed; it is tried again after a while.", work.key)
            }
        }
    }

    /// The same in the names of client-go; empty where client-go has no name for it.
    pub fn client_go(&self) -> String {
        match &self.what {
            What::Started => "Reflector.Run".into(),
            What::Listed { .. } => "ListerWatcher.List".into(),
            What::Replaced { rows, .. } => {
                let listed = rows.iter().filter(|row| row.listed.is_some()).count();
                format!("Queue.Replace({listed} items)")
            }
            What::Watches { streams: true, .. } => "Reflector.watchList, sendInitialEvents".into(),
            What::Watches { from, .. } => format!("ListerWatcher.Watch({from})"),
            What::Streamed(object) => format!("temporaryStore.Add({})", object.key),
            What::Event { delta_type, object, .. } => {
                let verb = match delta_type {
                    DeltaType::Added => "Add",
                    DeltaType::Deleted => "Delete",
                    _ => "Update",
                };
                format!("Queue.{verb}({})", object.key)
            }
            What::Bookmark(version) => format!("Queue.Bookmark({version})"),
            What::Resynced { .. } => "Queue.Resync()".into(),
            What::Popped(_) => "Queue.Pop, processDeltas".into(),
            What::Handler(_, Handled::Called(call) | Handled::Skipped(call)) => written(call),
            What::Handler(_, Handled::Joined(_)) => "AddEventHandler".into(),
            What::Worked(Worked::Due(_)) => "TypedDelayingInterface.AddAfter".into(),
            What::Worked(Worked::Took(_)) => "TypedInterface.Get".into(),
            What::Worked(Worked::Done { failed: false, .. }) => "Forget, Done".into(),
            What::Worked(Worked::Done { failed: true, .. }) => "AddRateLimited, Done".into(),
            What::Lost(_) | What::Ended(_) | What::Silent | What::TimeOver => String::new(),
        }
    }

    /// The rules of `docs/checklist.md` that it follows: their numbers and their words.
    pub fn rules(&self) -> &'static [(u32, &'static str)] {
        match &self.what {
            What::Listed { .. } => &[(34, "The first list is at `0`, a relist at the last version")],
            What::Streamed(_) => &[(47, "Not synced before the annotation is `true`")],
            What::Replaced { bookmark: Some(_), .. } => &[
                (49, "A synced stream is reused; the next watch is plain"),
                (56, "What is only in the queue gets one tombstone"),
                (57, "What is only known gets one"),
            ],
            What::Replaced { bookmark: None, .. } => {
                &[(56, "What is only in the queue gets one tombstone"), (57, "What is only known gets one")]
            }
            What::Watches { .. } => &[(42, "The watch's timeout is within bounds")],
            What::Event { .. } => &[(40, "Events are applied; a wrong type is skipped; the last version kept")],
            What::Ended(_) => {
                &[(38, "A refused connection backs off exponentially"), (43, "Errors between cycles converge")]
            }
            What::Resynced { .. } => &[(45, "Resync fires"), (59, "Resync never overtakes what waits")],
            What::Popped(_) => &[
                (53, "The order of one key's changes"),
                (54, "No line jumping"),
                (58, "Replaced and Sync are told apart"),
            ],
            What::Handler(_, Handled::Joined(_)) => &[(69, "A late handler misses nothing")],
            What::Handler(_, Handled::Skipped(_)) => &[(68, "Resync periods for each listener")],
            What::Worked(Worked::Due(_)) => &[(77, "Backoff grows, Forget resets it")],
            What::Worked(_) => &[(76, "What is added while it is processed runs again")],
            What::Started | What::Bookmark(_) | What::Lost(_) | What::Silent | What::TimeOver | What::Handler(..) => {
                &[]
            }
        }
    }
}

/// A call as client-go writes it.
pub fn written(call: &Call) -> String {
    match call {
        Call::OnAdd { new, is_in_initial_list } => {
            format!("OnAdd({}@{}, {is_in_initial_list})", new.key, new.resource_version)
        }
        Call::OnUpdate { old, new } => {
            format!("OnUpdate({}@{}, {})", new.key, old.resource_version, new.resource_version)
        }
        Call::OnDelete { object: DeltaObject::Known(last) } => {
            format!("OnDelete({}@{})", last.key, last.resource_version)
        }
        Call::OnDelete { object: DeltaObject::FinalStateUnknown(last) } => {
            format!("OnDelete(DeletedFinalStateUnknown{{{}@{}}})", last.key, last.resource_version)
        }
    }
}

fn objects(count: usize) -> String {
    plural(count, "object")
}

/// A number of things: `1 key`, `2 keys`.
pub(crate) fn plural(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}
