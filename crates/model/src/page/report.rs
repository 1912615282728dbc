//! What the page reports about itself to other programs as plain JSON, through `window.kubechurn`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use sha2::{Digest, Sha256};

use kubechurn_client::api::object::{Object, ObjectKey, ResourceVersion};
use kubechurn_client::api::sort::sort_by;
use kubechurn_client::api::time::Timestamp;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::factory::SharedInformerFactory;
use kubechurn_client::cache::ledger::Ledger;
use kubechurn_client::cache::reflector::Health;
use kubechurn_client::cache::shared_informer::SharedInformer;

use crate::feed::net::export::NetFormat;
use crate::history::History;
use crate::history::coverage::Moment;
use crate::navigation::Navigation;
use crate::navigation::range::moment_written;
use crate::page::Page;
use crate::page::environment::Environment;
use crate::page::net;
use crate::page::time_words::TimeWords;
use crate::recording::{Saver, Selected};
use crate::rewind::{Rewound, Stores};
use crate::table::schema::TableSchema;
use crate::verification::Verifier;
use crate::verification::found::{self, VerifiedReport};
use crate::watches::Watches;
use crate::watches::account;
use crate::watches::counters::Counters;
use crate::watches::notices;
use crate::watches::watched::Watched;
use kubechurn_columns::kinds::Kind;
use kubechurn_recording::Header;

/// What a page reports about itself to other programs, now.
#[derive(Clone, Copy, Debug)]
pub struct Reports<'a> {
    pub(super) page: &'a Page,
}

impl Reports<'_> {
    /// The state of each watched kind, those in view first. Kinds that wait for their columns come last, because they
    /// have nothing to report yet.
    pub fn status(&self, env: &dyn Environment) -> String {
        let (watching, verifier) = (&self.page.shared.watching, &self.page.verification.verifier);
        let now = env.now();
        let times = (watching.moment, now);
        let mut all = Vec::new();
        for at in 0..watching.watches.len() {
            if let Some(mut status) = status(&watching.watches, at, &watching.informers, verifier, times) {
                status.state = self.page.shared.navigation.state(status.state);
                all.push(json(&status));
            }
        }
        let Navigation { route, catalog, definitions, .. } = &self.page.shared.navigation;
        for kind in route.watched(catalog).into_iter().filter(|kind| definitions.awaits(kind)) {
            all.push(json(&waiting(kind)));
        }
        format!("[{}]", all.join(","))
    }

    /// The notices, oldest first.
    pub fn notices(&self) -> String {
        json(&notices::report(&self.page.shared.notices.list))
    }

    /// The entries of the audit log since the last call; `None` if the address asks for no log.
    pub fn audit(&self, env: &dyn Environment) -> Option<String> {
        self.page.shared.audit.take(env.now())
    }

    /// The rows of a watched kind, by the page's name for it, now or at the moment that is shown; `None` for a kind that is not
    /// watched.
    pub fn rows_of(&self, resource: &str, env: &dyn Environment) -> Option<String> {
        let watched = self.watched(resource)?;
        let behind = self.page.shared.watching.moment.map_or(0.0, |moment| env.now() - moment.at);
        let now = env.server_clock(watched.kind().resource.cluster).time(env.wall() - behind);
        let objects = self.objects_of(watched);
        Some(json(&rows(watched.kind(), objects.iter().map(|object| &**object), now)))
    }

    /// A digest of the objects that the page holds of a watched kind, or held at the moment that is shown.
    pub fn digest_of(&self, resource: &str) -> Option<String> {
        let objects = self.objects_of(self.watched(resource)?);
        Some(digest(objects.iter().map(|object| &**object)))
    }

    /// The objects of a watched kind, now or at the moment that is shown.
    fn objects_of(&self, watched: &Watched) -> Vec<Arc<Object>> {
        let watching = &self.page.shared.watching;
        let Some(moment) = watching.moment else { return watched.objects(&watching.informers).cloned().collect() };
        let stores = Stores { watches: &watching.watches, informers: &watching.informers };
        let schema = Arc::new(TableSchema::of(&[watched.kind()]));
        let namespaces = &self.page.shared.navigation.route.namespaces;
        let mut rewound = Rewound::at(moment, schema, namespaces, (&watching.history, &stores));
        rewound.work(&watching.history, || true);
        let rows = rewound.table().rows();
        rows.live_among(0, rows.places()).map(|row| row.object.clone()).collect()
    }

    /// What is different between the two moments that are compared, as a list of what an export has on its lines; `None` where
    /// none are, or that is not known yet.
    pub fn differences(&self, env: &dyn Environment) -> Option<String> {
        let words = TimeWords { env, zone: self.page.shared.zone };
        let lines =
            net::written(self.page.feed.net()?, NetFormat::JsonLines, &self.page.shared.navigation.route, words);
        Some(format!("[{}]", lines.trim_end().replace('\n', ",")))
    }

    /// The marks of a watched kind.
    pub fn marks_of(&self, resource: &str) -> Option<String> {
        Some(json(&marks(self.watched(resource)?, &self.page.shared.watching.history)))
    }

    /// How many changes that were received are not in the feed yet.
    pub fn unread(&self) -> usize {
        self.page.feed.unread()
    }

    /// The lines of what is recorded, as far as it is selected, block by block.
    pub fn recording(&self, header: Header, selected: Selected) -> Vec<Vec<u8>> {
        let (history, notices) = (&self.page.shared.watching.history, &self.page.shared.notices.list);
        let reasons = |resource, at| notices.reason(&resource, at);
        let mut saver = Saver::new(header, selected, history, &reasons);
        let (mut blocks, mut is_more) = (Vec::new(), true);
        while is_more {
            is_more = saver.go_on(history, 64, &reasons);
            if saver.is_full() || !is_more {
                blocks.push(saver.take_block());
            }
        }
        blocks
    }

    /// How much was received, and what the recorder keeps of it.
    pub fn recorder(&self) -> String {
        json(&self.page.shared.watching.history.report())
    }

    fn watched(&self, resource: &str) -> Option<&Watched> {
        self.page.shared.watching.watches.iter().find(|watched| watched.kind().name == resource)
    }
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| String::from("null"))
}

/// One watched kind, as `status()` reports it.
#[derive(Debug, Serialize)]
pub struct Status<'a> {
    resource: &'a str,
    namespaces: Vec<&'a str>,
    /// The moment that the page shows, as the address has it; `null` for now. Everything here is of now all the same.
    moment: Option<String>,
    pub(super) state: &'static str,
    message: Option<&'a str>,
    #[serde(rename = "resourceVersion")]
    resource_version: &'a str,
    synced: bool,
    items: usize,
    /// How many rows are of objects that a first list has brought while it is not complete. `items` has none of them.
    provisional: usize,
    age_ms: Option<f64>,
    /// How often handlers are notified again of what is known, in milliseconds; of several namespaces the shortest period.
    resync_ms: Option<f64>,
    balanced: bool,
    changes: &'a Counters,
    /// What the page's own checks found.
    verified: VerifiedReport,
    ledger: LedgerCounters,
    /// What became of everything that was meant for the handlers.
    account: account::Report,
}

/// A kind that is not watched yet because its columns are still being asked for, as `status()` reports it.
#[derive(Debug, Serialize)]
pub struct Waiting {
    resource: &'static str,
    namespaces: [&'static str; 0],
    state: &'static str,
    synced: bool,
    items: usize,
    ledger: BTreeMap<&'static str, u64>,
}

/// What `status()` says of a kind that waits for its columns.
pub fn waiting(kind: &'static Kind) -> Waiting {
    let state = Health::Connecting.word();
    Waiting { resource: kind.name, namespaces: [], state, synced: false, items: 0, ledger: BTreeMap::new() }
}

/// The ledger's counters by name, and what waits behind them.
#[derive(Debug)]
struct LedgerCounters {
    ledger: Ledger,
    queued_keys: usize,
    queued: u64,
    marks_evicted: u64,
}

impl Serialize for LedgerCounters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let more = [
            ("deltas", self.ledger.deltas()),
            ("queued", self.queued),
            ("queued_keys", self.queued_keys as u64),
            ("marks_evicted", self.marks_evicted),
        ];
        serializer.collect_map(self.ledger.counters().chain(more))
    }
}

/// What `status()` says of the watched kind at this place; `None` where there is no such place.
pub fn status<'a>(
    watches: &'a Watches,
    at: usize,
    informers: &'a SharedInformerFactory,
    verifier: &Verifier,
    (moment, now): (Option<Moment>, f64),
) -> Option<Status<'a>> {
    let (watched, account) = (watches.get(at)?, watches.account_of(at, informers)?);
    let (queued_keys, queued) = watched.queued(informers);
    let mut own = watched.informers(informers);
    let synced = own.clone().all(SharedInformer::has_synced);
    let version = own.next().map_or("", |informer| informer.reflector().resource_version().as_str());
    let status = Status {
        resource: watched.kind().name,
        namespaces: watched.scopes().iter().map(|scope| &*scope.namespace).filter(|name| !name.is_empty()).collect(),
        moment: moment.map(|moment| moment_written(moment.at)),
        state: watched.health(informers, now).word(),
        message: watched.complaint(informers).map(|complaint| complaint.words),
        resource_version: version,
        synced,
        items: watched.items(informers),
        provisional: watches.provisional(at),
        age_ms: watched.age(informers, now),
        resync_ms: watched.resync_period(informers),
        balanced: watched.informers(informers).all(SharedInformer::is_balanced) && account.is_balanced(),
        changes: watched.counters(),
        verified: found::report(verifier, watched),
        account: account::Report::from(&account),
        ledger: LedgerCounters {
            ledger: watched.ledger(informers),
            queued_keys,
            queued,
            marks_evicted: watched.marks().evicted().total(),
        },
    };
    Some(status)
}

/// How many watches are named with their versions.
const NAMED: usize = 6;

/// The versions of watches in words: for each watch the kind's title, the namespace if it has one, and the version.
/// Watches without a version are left out.
pub fn versions<'a>(watches: impl Iterator<Item = (&'a str, &'a str, &'a str)>) -> String {
    let mut text = String::new();
    let mut more = 0;
    for (at, (title, namespace, version)) in watches.filter(|(_, _, version)| !version.is_empty()).enumerate() {
        if at >= NAMED {
            more += 1;
            continue;
        }
        let separator = if at == 0 { "" } else { ", " };
        let place = if namespace.is_empty() { "" } else { " in " };
        let _ = write!(text, "{separator}{title}{place}{namespace} at version {version}");
    }
    if more > 0 {
        let _ = write!(text, ", and {more} more");
    }
    text
}

/// One object, as `rows(resource)` reports it.
#[derive(Debug, Serialize)]
pub struct Row<'a> {
    key: String,
    uid: &'a Uid,
    #[serde(rename = "resourceVersion")]
    resource_version: &'a str,
    cells: Cells<'a>,
}

#[derive(Debug)]
struct Cells<'a> {
    kind: &'static Kind,
    object: &'a Object,
    now: Timestamp,
}

impl Serialize for Cells<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if self.kind.resource.namespaced {
            map.serialize_entry("NAMESPACE", &*self.object.key.namespace)?;
        }
        if self.kind.leads_with_name() {
            map.serialize_entry("NAME", &*self.object.key.name)?;
        }
        let mut text = String::new();
        for (column, cell) in self.kind.columns.iter().zip(&self.object.cells) {
            text.clear();
            cell.write(self.now, &mut text);
            map.serialize_entry(column.title, &text)?;
        }
        map.end()
    }
}

/// What `rows(resource)` says: every object of a kind, by key.
pub fn rows<'a>(kind: &'static Kind, objects: impl Iterator<Item = &'a Object>, now: Timestamp) -> Vec<Row<'a>> {
    let mut objects: Vec<&Object> = objects.collect();
    sort_by(&mut objects, |a, b| a.key.cmp(&b.key));
    let row = |object| Cells { kind, object, now };
    let rows = objects.into_iter().map(|object: &Object| Row {
        key: object.key.to_string(),
        uid: &object.uid,
        resource_version: object.resource_version.as_str(),
        cells: row(object),
    });
    rows.collect()
}

/// What `digest(resource)` says: SHA-256, in hexadecimal digits, of a line `key uid resourceVersion` for each
/// object, sorted by key as written there.
pub fn digest<'a>(objects: impl Iterator<Item = &'a Object>) -> String {
    let mut lines: Vec<(String, &Object)> = objects.map(|object| (object.key.to_string(), object)).collect();
    sort_by(&mut lines, |(a, _), (b, _)| a.cmp(b));
    let mut hash = Sha256::new();
    for (key, object) in lines {
        hash.update(format!("{key} {} {}\n", object.uid, object.resource_version));
    }
    hash.finalize().iter().fold(String::new(), |mut hex, byte| {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// A mark, as `marks(resource)` reports it.
#[derive(Debug, Serialize)]
pub struct Mark<'a> {
    sequence: u64,
    /// Milliseconds since 1970 by the browser's clock.
    time: f64,
    #[serde(rename = "type")]
    mark_type: &'static str,
    key: String,
    uid: &'a Uid,
    #[serde(rename = "resourceVersion")]
    resource_version: String,
    folded: u32,
    /// Whether the recorder still has the version; `null` for what is of no object.
    kept: Option<bool>,
    note: Cow<'a, str>,
}

/// What `marks(resource)` says: every mark that is held, the oldest first.
pub fn marks<'a>(watched: &'a Watched, history: &History) -> Vec<Mark<'a>> {
    let resource = watched.kind().resource;
    let mut versions = FxHashMap::default();
    let mut is_kept = |key: &'a ObjectKey, uid: &Uid, version: &ResourceVersion| {
        let kept = versions.entry(key).or_insert_with(|| {
            let of = history.of(&resource, key).into_iter();
            of.map(|entry| (entry.uid, entry.resource_version)).collect::<FxHashSet<_>>()
        });
        kept.contains(&(uid.clone(), version.clone()))
    };
    let marks = watched.marks().iter().map(|mark| Mark {
        sequence: mark.sequence,
        time: mark.at,
        mark_type: mark.mark_type.name(),
        key: mark.key.map(ToString::to_string).unwrap_or_default(),
        uid: mark.uid,
        resource_version: mark.resource_version.as_str().to_owned(),
        folded: mark.folded,
        kept: mark.key.map(|key| is_kept(key, mark.uid, &mark.resource_version)),
        note: mark.resync.map_or(Cow::Borrowed(mark.note), |resync| Cow::Owned(resync.note())),
    });
    marks.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_in_words_are_of_the_first_few_watches() {
        let said = |count: usize| {
            versions([("Pods", "", "12"), ("Nodes", "", ""), ("Jobs", "shop", "7")].into_iter().cycle().take(count))
        };
        for (count, expected) in [
            (0, ""),
            (1, "Pods at version 12"),
            (2, "Pods at version 12"),
            (3, "Pods at version 12, Jobs in shop at version 7"),
        ] {
            assert_eq!(said(count), expected);
        }
        assert!(said(12).ends_with(", Jobs in shop at version 7, and 2 more"), "{}", said(12));
    }

    #[test]
    fn the_digest_sorts_by_the_key_as_it_is_written() {
        let object = |namespace: &str, name: &str| Object {
            key: ObjectKey::new(namespace, name),
            uid: "u".into(),
            resource_version: ResourceVersion::new("7"),
            owners: None,
            cells: kubechurn_client::api::cells::Cells::default(),
            flaw: None,
            extra: None,
        };
        // `a-b/x` comes before `a/x` as text, for `-` is less than `/`.
        let objects = [object("a", "x"), object("a-b", "x")];
        let expected = Sha256::digest("a-b/x u 7\na/x u 7\n");
        let expected: String = expected.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(digest(objects.iter()), expected);
    }
}
