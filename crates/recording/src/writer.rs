//! Makes the lines of a file, block by block.

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::sort;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use rustc_hash::FxHashMap;

use crate::FORMAT;
use crate::edit::{self, Scratch, write_string};
use crate::line::{Header, Line, Request, Step, Text, Version, Watch};

/// How many bytes of lines make a block full. In a longer block more versions have one of the same object before them, and a shorter
/// one is sooner read alone.
pub const FULL: usize = 8 << 20;

/// An object that a block has named.
#[derive(Debug)]
struct Known {
    uid: Uid,
    /// The newest text of it in the block.
    text: Option<String>,
}

/// Writes the lines of a recording.
///
/// The caller takes what was written when it likes, compresses it, and ends a block when [`Writer::is_full`]. Lines must come in
/// the order in which things were received.
#[derive(Debug)]
pub struct Writer {
    header: Header,
    out: Vec<u8>,
    scratch: Scratch,
    block: u32,
    /// How many bytes of the block were taken.
    taken: usize,
    /// When what the last line says happened, in microseconds; `None` before the first line of a block.
    last: Option<i64>,
    /// The watches that go on.
    watches: Vec<Watch>,
    objects: Vec<Known>,
    /// The number of each object in the block.
    numbers: FxHashMap<(u32, ObjectKey, Uid), usize>,
    /// For each watch and beginning of a name the object that had it first. Objects of one owner have it in common.
    alike: FxHashMap<(u32, String), usize>,
    /// Of a block with a state: at which byte of the file the block begins before which all was so.
    state: Option<u64>,
    /// The resource of each watch.
    kinds: FxHashMap<u32, String>,
    /// What the block covers.
    covered: Covered,
}

/// What a block covers.
#[derive(Debug, Default)]
struct Covered {
    /// The time of its first line and the latest one of a line, in milliseconds since 1970.
    from: f64,
    to: f64,
    /// The watches of which it has something.
    watches: Vec<u32>,
}

/// A time in microseconds. What came within a millisecond has come at its end, and so a time is never made earlier.
fn microseconds(at: f64) -> i64 {
    (at * 1_000.0).ceil() as i64
}

impl Writer {
    /// A recording of which nothing is written yet.
    pub fn new(header: Header) -> Writer {
        Writer {
            header,
            out: Vec::new(),
            scratch: Scratch::default(),
            block: 0,
            taken: 0,
            last: None,
            watches: Vec::new(),
            objects: Vec::new(),
            numbers: FxHashMap::default(),
            alike: FxHashMap::default(),
            state: None,
            kinds: FxHashMap::default(),
            covered: Covered::default(),
        }
    }

    /// A block that has how everything was before the block that begins at this byte. Its lines are [`Line::Watch`]es, versions of type
    /// [`DeltaType::Replaced`] and steps, as those with which a file begins. A reader that does not ask for it passes over it.
    pub fn of_state(before: u64) -> Writer {
        Writer { state: Some(before), ..Writer::new(Header::default()) }
    }

    /// Writes what happened at a time, in milliseconds since 1970. A [`Line::Header`] is nothing: the writer has its own.
    pub fn push(&mut self, at: f64, line: &Line<'_>) {
        let now = microseconds(at);
        if self.last.is_none() {
            self.begin_block(now);
        }
        self.cover(now, line);
        match line {
            Line::Header(_) => {}
            Line::Watch(watch) => {
                self.write_watch(watch, now);
                self.watches.push(Watch { is_repeated: true, ..watch.clone() });
            }
            Line::Step(watch, step) => {
                self.write_step(*watch, step, now);
                if *step == Step::Ended {
                    self.watches.retain(|other| other.number != *watch);
                }
            }
            Line::Version(version) => self.write_version(version, now),
            Line::Definition(text) => self.write_text("definition", text, now),
            Line::Note(text) => self.write_text("note", text, now),
            Line::Request(request) => self.write_request(request, now),
        }
    }

    fn cover(&mut self, now: i64, line: &Line<'_>) {
        self.covered.to = self.covered.to.max(now as f64 / 1_000.0);
        let watch = match line {
            Line::Watch(Watch { number, resource, .. }) => {
                let ApiResource { group, plural, .. } = resource;
                let name = if group.is_empty() { (*plural).to_owned() } else { format!("{plural}.{group}") };
                self.kinds.insert(*number, name);
                *number
            }
            Line::Step(watch, _) => *watch,
            Line::Version(version) => version.watch,
            _ => return,
        };
        if !self.covered.watches.contains(&watch) {
            self.covered.watches.push(watch);
        }
    }

    /// The time that the block covers, up to now, and the resources of which it has something.
    pub fn covered(&self) -> (f64, f64, Vec<String>) {
        let Covered { from, to, watches } = &self.covered;
        let mut kinds: Vec<String> = watches.iter().filter_map(|watch| self.kinds.get(watch).cloned()).collect();
        sort::sort(&mut kinds);
        kinds.dedup();
        (*from, *to, kinds)
    }

    /// How many bytes were written and not taken.
    pub fn waiting(&self) -> usize {
        self.out.len()
    }

    /// Whether the block is to end.
    pub fn is_full(&self) -> bool {
        self.taken + self.out.len() >= FULL
    }

    /// Takes the lines that were written since the last call.
    pub fn take(&mut self) -> Vec<u8> {
        self.taken += self.out.len();
        std::mem::take(&mut self.out)
    }

    /// Ends the block, whose lines were taken. What comes next is of another one.
    pub fn end_block(&mut self) {
        self.block += 1;
        (self.taken, self.last) = (0, None);
        self.objects.clear();
        self.numbers.clear();
        self.alike.clear();
    }

    fn begin_block(&mut self, now: i64) {
        let from = now as f64 / 1_000.0;
        self.covered = Covered { from, to: from, watches: Vec::new() };
        if let Some(state) = self.state {
            let first = format!("{{\"churn\":{FORMAT},\"from\":{from},\"state\":{state}}}\n");
            self.out.extend_from_slice(first.as_bytes());
            self.last = Some(now);
            return;
        }
        self.out.extend_from_slice(format!(r#"{{"churn":{FORMAT},"block":{},"from":{from}"#, self.block).as_bytes());
        if self.block == 0 {
            let Header { title, program, server, release, ahead, redaction } = &self.header;
            for (name, text) in [("title", title), ("program", program), ("server", server), ("release", release)] {
                member(name, text, &mut self.out);
            }
            self.out.extend_from_slice(format!(r#","ahead":{ahead},"redaction":["#).as_bytes());
            for (at, rule) in redaction.iter().enumerate() {
                if at > 0 {
                    self.out.push(b',');
                }
                write_string(rule, &mut self.out);
            }
            self.out.push(b']');
        }
        self.out.extend_from_slice(b"}\n");
        self.last = Some(now);
        let watches = std::mem::take(&mut self.watches);
        watches.iter().for_each(|watch| self.write_watch(watch, now));
        self.watches = watches;
    }

    /// The member that says what happened to a watch. Whoever passes over a state must not take its lines for such.
    fn role(&self) -> &'static str {
        if self.state.is_some() { "state" } else { "step" }
    }

    /// Writes what a line of a watch begins with, and how much later it happened than the line before.
    fn begin_line(&mut self, first: &str, watch: u32, now: i64) {
        self.out.extend_from_slice(format!(r#"{{{first}"watch":{watch}"#).as_bytes());
        self.write_later(now);
    }

    fn write_later(&mut self, now: i64) {
        let later = now - self.last.replace(now).unwrap_or(now);
        if later != 0 {
            self.out.extend_from_slice(format!(r#","ms":{}"#, later as f64 / 1_000.0).as_bytes());
        }
    }

    fn write_watch(&mut self, watch: &Watch, now: i64) {
        let Watch { number, resource, scope, is_repeated } = watch;
        let role = self.role();
        let what = if *is_repeated { "goes on" } else { "began" };
        self.begin_line(&format!(r#""{role}":"{what}","#), *number, now);
        let own = [("group", resource.group), ("version", resource.version), ("plural", resource.plural)];
        let [labels, fields] = scope.selectors();
        let more = [("kind", resource.kind), ("cluster", resource.cluster), ("namespace", &*scope.namespace)];
        for (name, text) in own.into_iter().chain(more).chain([("labels", labels), ("fields", fields)]) {
            if !text.is_empty() {
                member(name, text, &mut self.out);
            }
        }
        let namespaced = if resource.namespaced { "true" } else { "false" };
        self.out.extend_from_slice(format!(",\"namespaced\":{namespaced}}}\n").as_bytes());
    }

    fn write_step(&mut self, watch: u32, step: &Step, now: i64) {
        let (name, since, reason) = match step {
            Step::Listed => ("listed", None, None),
            Step::Lists(reason) => ("lists", None, Some(reason)),
            Step::Relisted => ("relisted", None, None),
            Step::Lost(since, reason) => ("lost", Some(since), Some(reason)),
            Step::Gap(since, reason) => ("gap", Some(since), Some(reason)),
            Step::Refused(reason) => ("refused", None, Some(reason)),
            Step::Ended => ("ended", None, None),
        };
        let role = self.role();
        self.begin_line(&format!(r#""{role}":"{name}","#), watch, now);
        if let Some(since) = since {
            self.out.extend_from_slice(format!(r#","since":{since}"#).as_bytes());
        }
        if let Some(reason) = reason {
            member("reason", reason, &mut self.out);
        }
        self.out.extend_from_slice(b"}\n");
    }

    fn write_text(&mut self, name: &str, text: &str, now: i64) {
        self.out.extend_from_slice(format!(r#"{{"{name}":"#).as_bytes());
        write_string(text, &mut self.out);
        self.write_later(now);
        self.out.extend_from_slice(b"}\n");
    }

    fn write_request(&mut self, request: &Request<'_>, now: i64) {
        let Request { watch, uid, version, is_deletion, user, impersonated, agent, address, verb, at, id } = request;
        self.out.extend_from_slice(br#"{"request":"#);
        write_string(verb, &mut self.out);
        self.out.extend_from_slice(format!(r#","watch":{watch},"at":{at}"#).as_bytes());
        self.write_later(now);
        if *is_deletion {
            self.out.extend_from_slice(br#","deleted":true"#);
        }
        member("uid", &uid.to_string(), &mut self.out);
        let words = [("version", version), ("user", user), ("as", impersonated), ("agent", agent)];
        for (name, text) in words.into_iter().chain([("address", address), ("audit", id)]) {
            if !text.is_empty() {
                member(name, text, &mut self.out);
            }
        }
        self.out.extend_from_slice(b"}\n");
    }

    fn write_version(&mut self, version: &Version<'_>, now: i64) {
        let name = match version.delta_type {
            DeltaType::Added => "ADDED",
            DeltaType::Updated => "MODIFIED",
            DeltaType::Deleted => "DELETED",
            DeltaType::Replaced | DeltaType::Sync => "LISTED",
        };
        let role = if self.state.is_some() { "state" } else { "type" };
        self.begin_line(&format!(r#""{role}":"{name}","#), version.watch, now);
        let identity = (version.watch, version.key.clone(), version.uid.clone());
        let known = self.numbers.get(&identity).copied();
        let number = known.unwrap_or(self.objects.len());
        self.out.extend_from_slice(format!(r#","object":{number}"#).as_bytes());
        if known.is_none() {
            for (name, text) in [("namespace", &*version.key.namespace), ("name", &*version.key.name)] {
                if !text.is_empty() {
                    member(name, text, &mut self.out);
                }
            }
            member("uid", &version.uid.to_string(), &mut self.out);
            self.objects.push(Known { uid: version.uid.clone(), text: None });
            self.numbers.insert(identity, number);
        }
        match version.text {
            Text::Whole(text) => self.write_whole(version, number, text),
            Text::None => {}
            Text::NotKept => self.out.extend_from_slice(br#","kept":false"#),
        }
        self.out.extend_from_slice(b"}\n");
    }

    /// Writes a text as edits of the one before it of the object, or else of one of an object like it.
    fn write_whole(&mut self, version: &Version<'_>, number: usize, text: &str) {
        let mut base = number;
        // In a state each object stands once, and so only those that others are like are looked at again.
        let mut is_kept = self.state.is_none();
        if self.objects[number].text.is_none() {
            let name = &*version.key.name;
            let owner = name.rfind('-').map_or("", |at| &name[..at]);
            // Of one owner, or else any of the watch.
            let owners = (version.watch, format!("{}/{owner}", version.key.namespace));
            let all = (version.watch, String::new());
            base = *self.alike.get(&owners).or_else(|| self.alike.get(&all)).unwrap_or(&number);
            let first = [*self.alike.entry(owners).or_insert(number), *self.alike.entry(all).or_insert(number)];
            is_kept |= first.contains(&number);
        }
        let before = self.out.len();
        if let Some(from) = &self.objects[base].text {
            if base != number {
                self.out.extend_from_slice(format!(r#","like":{base}"#).as_bytes());
            }
            self.out.extend_from_slice(br#","edits":"#);
            edit::write(from, text, &mut self.scratch, &mut self.out);
            if self.out.len() - before > text.len() {
                self.out.truncate(before);
            }
        }
        if self.out.len() == before {
            member("text", text, &mut self.out);
        }
        let known = &mut self.objects[number];
        debug_assert_eq!(known.uid, *version.uid);
        if is_kept || known.text.is_some() {
            let held = known.text.get_or_insert_default();
            held.clear();
            held.push_str(text);
        }
    }
}

fn member(name: &str, text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(format!(r#","{name}":"#).as_bytes());
    write_string(text, out);
}

#[cfg(test)]
mod tests {
    use kubechurn_client::api::request::Scope;

    use super::*;
    use crate::reader::Block;

    const PODS: ApiResource =
        ApiResource { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true, cluster: "" };

    #[test]
    fn of_a_state_only_those_texts_are_held_that_others_are_like() {
        let mut writer = Writer::of_state(0);
        let watch = Watch { number: 0, resource: PODS, scope: Scope::default(), is_repeated: false };
        writer.push(1_000.0, &Line::Watch(watch));
        let spec =
            "the same in all of them, and long enough that a whole text would be longer than its edits".repeat(3);
        let mut texts = Vec::new();
        for number in 0..300 {
            let name = format!("web{}-{number}", number % 10);
            let text = format!(r#"{{"metadata":{{"name":"{name}"}},"spec":"{spec}"}}"#);
            let (key, uid) = (ObjectKey::new("shop", &name), Uid::new(&format!("{name}-u")));
            let (delta_type, text_of) = (DeltaType::Replaced, Text::Whole(&text));
            let version = Version { watch: 0, delta_type, key: &key, uid: &uid, text: text_of };
            writer.push(1_000.0, &Line::Version(version));
            texts.push(text);
        }
        let held = writer.objects.iter().filter(|known| known.text.is_some()).count();
        assert_eq!((writer.objects.len(), held), (300, 10));

        let lines = String::from_utf8(writer.take()).expect("it is text");
        assert_eq!(lines.matches(r#""text":"#).count(), 1, "each other one is like the first of its owner");
        let (mut block, mut read) = (Block::of_state(), Vec::new());
        while let Some((_, line)) = block.next(&lines).expect("it is right") {
            if let Line::Version(Version { text: Text::Whole(text), .. }) = line {
                read.push(text.to_owned());
            }
        }
        assert!(read == texts, "each text is read again");
    }
}
