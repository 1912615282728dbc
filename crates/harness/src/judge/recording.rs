//! The recording that a page has written into a file, read without any of the project's own code, by what
//! `docs/guide/file.md` says of it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Read;

use flate2::read::MultiGzDecoder;
use serde_json::Value;

use crate::judge::{Case, Verdict, some};
use crate::truth::Item;

/// One version of one object.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// `LISTED`, `ADDED`, `MODIFIED` or `DELETED`.
    pub kind: String,
    /// `namespace/name`.
    pub key: String,
    /// The object's uid.
    pub uid: String,
    /// Its version; 0 for a deletion that only a list showed.
    pub version: u64,
}

/// The versions of a recording in the order in which they came, by resource, such as `deployments.apps`.
#[derive(Debug, Default)]
pub struct Recording(pub BTreeMap<String, Vec<Recorded>>);

impl Recording {
    /// Reads a file.
    ///
    /// # Panics
    ///
    /// If the file is no recording.
    pub fn read(file: &[u8]) -> Self {
        let mut text = String::new();
        MultiGzDecoder::new(file).read_to_string(&mut text).expect("a recording is text in gzip");
        let (mut recording, mut block) = (Self::default(), Block::default());
        for line in text.lines() {
            let line: Value = serde_json::from_str(line).expect("a line of a recording is JSON");
            match block.version(&line) {
                _ if !line["churn"].is_null() => block = Block::default(),
                Some((resource, version)) => recording.0.entry(resource).or_default().push(version),
                None => {}
            }
        }
        recording
    }

    fn of(&self, resource: &str) -> &[Recorded] {
        self.0.get(resource).map(Vec::as_slice).unwrap_or_default()
    }

    /// The objects of a resource at the end.
    pub fn state(&self, resource: &str) -> BTreeMap<String, Item> {
        let mut state = BTreeMap::new();
        for Recorded { kind, key, uid, version } in self.of(resource) {
            if kind == "DELETED" {
                state.remove(key);
            } else {
                state.insert(key.clone(), Item { uid: uid.clone(), resource_version: version.to_string() });
            }
        }
        state
    }
}

/// What later lines of a block refer to.
#[derive(Default)]
struct Block {
    resources: HashMap<u64, String>,
    /// Key, uid and newest text of each object.
    objects: Vec<(String, String, String)>,
}

impl Block {
    fn version(&mut self, line: &Value) -> Option<(String, Recorded)> {
        let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
        let watch = line["watch"].as_u64()?;
        if matches!(line["step"].as_str(), Some("began" | "goes on")) {
            let name = [text("plural"), text("group")].join(".");
            self.resources.insert(watch, name.trim_end_matches('.').to_owned());
        }
        let (kind, number) = (line["type"].as_str()?.to_owned(), line["object"].as_u64()? as usize);
        if number == self.objects.len() {
            let key = [text("namespace"), text("name")].join("/");
            self.objects.push((key.trim_start_matches('/').to_owned(), text("uid"), String::new()));
        }
        let base = line["like"].as_u64().map_or(number, |like| like as usize);
        let made = match (line["text"].as_str(), line["edits"].as_array()) {
            (Some(whole), _) => Some(whole.to_owned()),
            (None, Some(edits)) => Some(edited(&self.objects[base].2, edits)),
            (None, None) => None,
        };
        let object: Value = made.as_deref().map(|text| serde_json::from_str(text).expect("JSON")).unwrap_or_default();
        let version = object["metadata"]["resourceVersion"].as_str().and_then(|version| version.parse().ok());
        let known = &mut self.objects[number];
        known.2 = made.unwrap_or_else(|| std::mem::take(&mut known.2));
        let (key, uid) = (known.0.clone(), known.1.clone());
        Some((self.resources.get(&watch)?.clone(), Recorded { kind, key, uid, version: version.unwrap_or_default() }))
    }
}

fn edited(base: &str, edits: &[Value]) -> String {
    let (mut text, mut at) = (String::new(), 0);
    for edit in edits {
        match (edit.as_str(), edit.as_i64()) {
            (Some(new), _) => text.push_str(new),
            (None, Some(out)) if out < 0 => at += out.unsigned_abs() as usize,
            (None, Some(kept)) => {
                text.push_str(&base[at..at + kept as usize]);
                at += kept as usize;
            }
            (None, None) => at = edit[0].as_u64().expect("a place") as usize,
        }
    }
    text + &base[at..]
}

/// Each version that is recorded was written by the cluster, and those of an object rise. Each write is recorded, or was over
/// before the first list, or lies in one of these marked gaps: after one version, up to another one.
pub fn recorded(case: &Case<'_>, (first, gaps): (u64, &[(u64, u64)]), verdict: &mut Verdict) {
    let written: BTreeSet<(&str, u64)> =
        case.ledger.of(case.resource, u64::MAX).map(|write| (&*write.uid, write.revision)).collect();
    let (mut newest, mut there) = (HashMap::<&str, u64>::new(), BTreeSet::new());
    let (mut made_up, mut back) = (Vec::new(), Vec::new());
    for recorded in case.recording.of(case.resource).iter().filter(|recorded| recorded.version > 0) {
        let last = newest.insert(&recorded.uid, recorded.version).unwrap_or_default();
        if recorded.version <= last {
            back.push((recorded, last));
        }
        if !written.contains(&(&*recorded.uid, recorded.version)) {
            made_up.push(recorded);
        }
        there.insert((&*recorded.uid, recorded.version));
    }
    let writes = case.ledger.of(case.resource, case.truth.revision).filter(|write| write.kind != "ENDED");
    let missing: Vec<_> = writes
        .filter(|write| !there.contains(&(&*write.uid, write.revision)) && write.revision > first)
        .filter(|write| !gaps.iter().any(|(from, to)| write.revision > *from && write.revision <= *to))
        .collect();
    verdict.recorded += there.len();
    for (what, lines) in [("that were never written", some(&made_up)), ("that do not rise", some(&back))] {
        if lines != "[]" {
            verdict.complain(case.resource, format!("the recording has versions {what}: {lines}"));
        }
    }
    if !missing.is_empty() {
        verdict.residual += missing.len() as u64;
        verdict.complain(case.resource, format!("{} writes are not recorded: {}", missing.len(), some(&missing)));
    }
}
