//! Reads the lines of a block.

use std::borrow::Cow;
use std::fmt;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::request::Scope;
use kubechurn_client::api::resource::{ApiResource, intern};
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::json::{Members, items, members, named, unescaped};

use crate::FORMAT;
use crate::edit;
use crate::line::{Header, Line, Request, Step, Text, Version, Watch};

/// The longest text of one object, in bytes. An API server accepts no request of a third of it.
const LONGEST: usize = 16 << 20;
/// How many bytes the texts of a block may take that later lines can be edits of. A few bytes of edits can ask for any number.
const MOST: usize = 512 << 20;

/// Each line has a member of one of these names, but for the first one. Others are passed over.
const KNOWN: [&str; 5] = ["type", "step", "definition", "note", "request"];
/// The member of the lines of a state.
const STATE: &str = "state";

/// Why a block cannot be read further: what was read before is right.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The line, counted from 1 in the block.
    pub line: usize,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

impl std::error::Error for Refusal {}

#[derive(Debug)]
struct Known {
    watch: u32,
    key: ObjectKey,
    uid: Uid,
    text: String,
}

/// What a block is, as its first line says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    /// A part of the recording.
    #[default]
    Lines,
    /// How everything was before the block that begins at this byte of the file.
    State(u64),
    /// The index, or the line that says where it begins.
    Index,
}

/// A block that is being read.
#[derive(Debug, Default)]
pub struct Block {
    /// Where the next line begins.
    at: usize,
    line: usize,
    /// When what the last line says happened, in microseconds; `None` before the first line.
    now: Option<i64>,
    objects: Vec<Known>,
    /// How many bytes the texts of the objects take.
    held: usize,
    /// The text that is being made, or was before the last one.
    spare: String,
    watches: Vec<u32>,
    part: Part,
    /// Whether a state is read, too.
    reads_state: bool,
}

impl Block {
    /// A block that has a state, if it is one. Its lines are those with which a file begins that goes on from there.
    pub fn of_state() -> Block {
        Block { reads_state: true, ..Block::default() }
    }

    fn is_state(&self) -> bool {
        self.reads_state && matches!(self.part, Part::State(_))
    }

    /// When it begins, in milliseconds since 1970, once its first line and no other was read.
    pub fn begins(&self) -> Option<f64> {
        self.now.map(|now| now as f64 / 1_000.0)
    }

    /// What it is, once its first line was read.
    pub fn part(&self) -> Part {
        self.part
    }

    /// The next line of a block's text, and when what it says happened, in milliseconds since 1970. `text` must be the same at
    /// every call, or have grown at its end. A last line without its end, of a file that breaks off, is not read.
    ///
    /// # Errors
    ///
    /// When the line is none. What follows it must not be read: it may be edits of what is missing.
    pub fn next(&mut self, text: &str) -> Result<Option<(f64, Line<'_>)>, Refusal> {
        loop {
            let is_passed = match self.part {
                Part::Lines => false,
                Part::State(_) => !self.reads_state,
                Part::Index => true,
            };
            if is_passed {
                return Ok(None);
            }
            let rest = text.get(self.at..).unwrap_or_default();
            let Some(end) = rest.find('\n') else { return Ok(None) };
            self.at += end + 1;
            self.line += 1;
            let (line, text) = (self.line, &rest[..end]);
            let refuse = |reason: &str| Refusal { line, reason: reason.to_owned() };
            let all = members(text).ok_or_else(|| refuse("it is no JSON object"))?;
            if self.now.is_none() {
                let (at, header) = self.read_first(&all).map_err(refuse)?;
                if self.part == Part::Lines {
                    return Ok(Some((at, Line::Header(header))));
                }
                continue;
            }
            if (self.is_state() && named(&all, STATE).is_some()) || KNOWN.iter().any(|name| named(&all, name).is_some())
            {
                return self.read(&all).map(Some).map_err(refuse);
            }
            // Somebody has added a line of another kind. Only its time counts.
            self.pass(&all).map_err(refuse)?;
        }
    }

    /// The time of a line, in microseconds.
    fn pass(&mut self, all: &Members<'_>) -> Result<i64, &'static str> {
        let later = number(all, "ms").unwrap_or_default() * 1_000.0;
        if later.is_nan() || later.abs() >= 1e17 {
            return Err("its time is none");
        }
        let now = self.now.unwrap_or_default().saturating_add(later.round() as i64);
        self.now = Some(now);
        Ok(now)
    }

    fn read(&mut self, all: &Members<'_>) -> Result<(f64, Line<'_>), &'static str> {
        let at = self.pass(all)? as f64 / 1_000.0;
        for (name, make) in [("note", Line::Note as fn(_) -> _), ("definition", Line::Definition)] {
            if let Some(words) = named(all, name) {
                self.spare = unescaped(words).ok_or("its text is none")?.into_owned();
                return Ok((at, make(&self.spare)));
            }
        }
        let watch = whole(all, "watch").ok_or("it names no watch")?;
        if let Some(verb) = string(all, "request") {
            return Ok((at, Line::Request(read_request(all, &verb, watch))));
        }
        let state = string(all, STATE).filter(|_| self.is_state());
        if let Some(step) = string(all, "step").or(state.filter(|state| state != "LISTED")) {
            return Ok((at, self.read_step(all, &step, watch)?));
        }
        if !self.watches.contains(&watch) {
            return Err("the block does not say what it watches");
        }
        Ok((at, Line::Version(self.read_version(all, watch)?)))
    }

    fn read_first(&mut self, all: &Members<'_>) -> Result<(f64, Header), &'static str> {
        match whole(all, "churn") {
            None => return Err("it is not the beginning of a block of a recording"),
            Some(format) if format > FORMAT => return Err("a newer version of kubechurn wrote it: use that one"),
            Some(_) => {}
        }
        let from = number(all, "from").filter(|from| from.abs() < 1e15).ok_or("it does not say when it begins")?;
        self.now = Some((from * 1_000.0).round() as i64);
        if named(all, "index").is_some() {
            self.part = Part::Index;
        } else if let Some(before) = named(all, STATE) {
            self.part = Part::State(before.parse().map_err(|_| "it does not say before which block all was so")?);
        }
        let text = |name| string(all, name).unwrap_or_default().into_owned();
        let rules = named(all, "redaction").and_then(items).unwrap_or_default();
        let header = Header {
            title: text("title"),
            program: text("program"),
            server: text("server"),
            release: text("release"),
            ahead: number(all, "ahead").filter(|ahead| ahead.abs() < 1e15).unwrap_or_default(),
            redaction: rules.iter().filter_map(|rule| unescaped(rule)).map(Cow::into_owned).collect(),
        };
        Ok((from, header))
    }

    fn read_step(&mut self, all: &Members<'_>, step: &str, watch: u32) -> Result<Line<'static>, &'static str> {
        let reason = || string(all, "reason").unwrap_or_default().into_owned();
        let since = || number(all, "since").filter(|since| since.abs() < 1e15).ok_or("it does not say since when");
        let step = match step {
            "began" | "goes on" => return self.read_watch(all, step == "goes on", watch),
            "listed" => Step::Listed,
            "lists" => Step::Lists(reason()),
            "relisted" => Step::Relisted,
            "lost" => Step::Lost(since()?, reason()),
            "gap" => Step::Gap(since()?, reason()),
            "refused" => Step::Refused(reason()),
            "ended" => Step::Ended,
            _ => return Err("it is of no kind that is known"),
        };
        Ok(Line::Step(watch, step))
    }

    fn read_watch(&mut self, all: &Members<'_>, is_repeated: bool, number: u32) -> Result<Line<'static>, &'static str> {
        let text = |name| string(all, name).unwrap_or_default();
        let name = |name| intern(&text(name));
        let resource = ApiResource {
            group: name("group"),
            version: name("version"),
            plural: name("plural"),
            kind: name("kind"),
            namespaced: named(all, "namespaced") == Some("true"),
            cluster: name("cluster"),
        };
        if resource.version.is_empty() || resource.plural.is_empty() || resource.kind.is_empty() {
            return Err("it does not name the resource");
        }
        let scope = Scope {
            namespace: text("namespace").into_owned(),
            label_selector: text("labels").into_owned(),
            field_selector: text("fields").into_owned(),
        };
        if !self.watches.contains(&number) {
            self.watches.push(number);
        }
        Ok(Line::Watch(Watch { number, resource, scope, is_repeated }))
    }

    fn read_version(&mut self, all: &Members<'_>, watch: u32) -> Result<Version<'_>, &'static str> {
        let member = if self.is_state() { STATE } else { "type" };
        let delta_type = match string(all, member).as_deref() {
            Some("ADDED") => DeltaType::Added,
            Some("MODIFIED") => DeltaType::Updated,
            Some("DELETED") => DeltaType::Deleted,
            Some("LISTED") => DeltaType::Replaced,
            _ => return Err("it is of no type that is known"),
        };
        let number = whole(all, "object").ok_or("it names no object")? as usize;
        if number == self.objects.len() {
            let text = |name| string(all, name).unwrap_or_default();
            let (key, uid) = (ObjectKey::new(&text("namespace"), &text("name")), Uid::new(&text("uid")));
            self.objects.push(Known { watch, key, uid, text: String::new() });
        }
        let known = self.objects.get(number).filter(|known| known.watch == watch);
        let known = known.ok_or("its object is not in the block")?;
        let mut has_text = true;
        self.spare.clear();
        if let Some(edits) = named(all, "edits") {
            let base = match whole(all, "like") {
                Some(like) => self.objects.get(like as usize).ok_or("what it is like is not in the block")?,
                None => known,
            };
            // What the edits put in is no longer than they are. A text that grows by itself takes up to twice its size.
            self.spare.reserve_exact(base.text.len() + edits.len());
            if edit::read(&base.text, edits, LONGEST, &mut self.spare).is_none() {
                return Err("its edits do not fit the text before it");
            }
        } else if let Some(text) = named(all, "text") {
            self.spare.push_str(&unescaped(text).filter(|text| text.len() <= LONGEST).ok_or("its text is none")?);
        } else {
            has_text = false;
        }
        let is_kept = named(all, "kept") != Some("false");
        let known = &mut self.objects[number];
        if has_text {
            self.held += self.spare.len();
            self.held -= known.text.len();
            if self.held > MOST {
                return Err("the texts of its block are too large to be held");
            }
            std::mem::swap(&mut known.text, &mut self.spare);
        }
        let text = match (has_text, is_kept) {
            (true, _) => Text::Whole(&known.text),
            (false, true) if delta_type == DeltaType::Deleted => Text::None,
            (false, _) => Text::NotKept,
        };
        Ok(Version { watch, delta_type, key: &known.key, uid: &known.uid, text })
    }
}

fn read_request(all: &Members<'_>, verb: &str, watch: u32) -> Request<'static> {
    let text = |name| Cow::Owned(string(all, name).unwrap_or_default().into_owned());
    Request {
        watch,
        uid: Uid::new(&text("uid")),
        version: text("version"),
        is_deletion: named(all, "deleted") == Some("true"),
        user: text("user"),
        impersonated: text("as"),
        agent: text("agent"),
        address: text("address"),
        verb: Cow::Owned(verb.to_owned()),
        at: number(all, "at").filter(|at| at.abs() < 1e15).unwrap_or_default(),
        id: text("audit"),
    }
}

fn string<'a>(all: &Members<'a>, name: &str) -> Option<Cow<'a, str>> {
    unescaped(named(all, name)?)
}

fn number(all: &Members<'_>, name: &str) -> Option<f64> {
    named(all, name)?.parse().ok()
}

fn whole(all: &Members<'_>, name: &str) -> Option<u32> {
    named(all, name)?.parse().ok()
}
