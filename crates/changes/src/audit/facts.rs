//! What a version shows of the request that wrote it.

use smallvec::SmallVec;
use smol_str::SmolStr;

use kubechurn_client::api::time::Timestamp;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::json::{self, Members};

use crate::writer;

/// The reason with which an eviction marks a Pod before it deletes it.
const EVICTED: &str = "\"EvictionByEvictionAPI\"";

/// A version as it was received, for [`Requests::version`](super::Requests::version).
#[derive(Clone, Copy, Debug)]
pub struct Version<'a> {
    /// The caller's number for it.
    pub id: u64,
    /// What happened to the object.
    pub delta_type: DeltaType,
    /// The object's uid.
    pub uid: &'a Uid,
    /// The text of the version before of the same object, if it is known.
    pub old: Option<&'a str>,
    /// The text.
    pub new: Option<&'a str>,
    /// When it was received, in milliseconds since 1970, by the server's clock as far as that is known.
    pub at: f64,
}

/// What happened to the object, as far as requests cause it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Added,
    Changed,
    /// Its deletion was asked for, and it stays for now.
    Marked,
    /// An eviction is about to delete it.
    Evicted,
    /// It is gone, and nothing was seen that asked for it before.
    Deleted,
    /// It is gone, as was asked for before.
    Gone,
    /// A list showed it: one request or several may have led to it.
    Listed,
}

/// A manager that wrote, and when it did by its entry, in seconds since 1970.
#[derive(Debug)]
pub(super) struct Wrote {
    pub manager: SmolStr,
    pub subresource: SmolStr,
    pub second: Option<i64>,
}

/// What is known of a version.
#[derive(Debug)]
pub(super) struct Facts {
    pub id: u64,
    pub uid: Uid,
    pub what: What,
    /// Its resourceVersion, and that of the one before; empty where it is not known.
    pub version: SmolStr,
    pub before: SmolStr,
    /// Whether the version before is known.
    pub is_compared: bool,
    pub at: f64,
    pub wrote: SmallVec<[Wrote; 1]>,
    /// When its deletion was asked for, in seconds since 1970, where that can be known.
    pub marked: Option<i64>,
    /// When the object was created, in seconds since 1970.
    pub created: Option<i64>,
    /// Whether the server made its name.
    pub is_generated: bool,
}

fn metadata(text: Option<&str>) -> Members<'_> {
    text.and_then(|text| json::value_at(text, &["metadata"])).and_then(json::members).unwrap_or_default()
}

fn word(metadata: &Members<'_>, name: &str) -> SmolStr {
    json::named(metadata, name).and_then(json::unescaped).map(SmolStr::new).unwrap_or_default()
}

fn second(metadata: &Members<'_>, name: &str) -> Option<i64> {
    Timestamp::parse_set(&word(metadata, name)).map(|Timestamp(second)| second)
}

impl Facts {
    pub(super) fn of(version: Version<'_>) -> Facts {
        let Version { id, delta_type, uid, old, new, at } = version;
        let (before, after) = (metadata(old), metadata(new));
        let (was_marked, is_marked) = (second(&before, "deletionTimestamp"), second(&after, "deletionTimestamp"));
        let is_evicted = |text: Option<&str>| text.is_some_and(|text| text.contains(EVICTED));
        let what = match delta_type {
            DeltaType::Added => What::Added,
            DeltaType::Deleted if was_marked.is_some() || is_marked.is_some() => What::Gone,
            DeltaType::Deleted => What::Deleted,
            DeltaType::Updated if old.is_some() && was_marked.is_none() && is_marked.is_some() => What::Marked,
            DeltaType::Updated if old.is_some() && is_evicted(new) && !is_evicted(old) => What::Evicted,
            DeltaType::Updated => What::Changed,
            DeltaType::Replaced | DeltaType::Sync => What::Listed,
        };
        let writers = if what == What::Listed { Default::default() } else { writer::of_change(delta_type, old, new) };
        let wrote = writers.into_iter().map(|writer| Wrote {
            second: new.and_then(|text| writer::written_at(text, &writer)).map(|Timestamp(second)| second),
            manager: writer.manager,
            subresource: writer.subresource,
        });
        // The server adds the grace period to the time of the request. What has none is to go at once.
        let grace = json::named(&after, "deletionGracePeriodSeconds").and_then(json::integer).unwrap_or(0).max(0);
        Facts {
            id,
            uid: uid.clone(),
            what,
            version: word(&after, "resourceVersion"),
            before: word(&before, "resourceVersion"),
            is_compared: old.is_some(),
            at,
            wrote: wrote.collect(),
            marked: is_marked.filter(|_| what == What::Marked).map(|at| at.saturating_sub(grace)),
            created: second(&after, "creationTimestamp").or(second(&before, "creationTimestamp")),
            is_generated: !word(&after, "generateName").is_empty(),
        }
    }
}
