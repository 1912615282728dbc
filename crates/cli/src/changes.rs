//! `kubechurn changes`: prints the changes in a recording, or as they are received, by the rules of the page.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs;
use std::io::{self, BufRead, BufReader, BufWriter, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kubechurn_changes::audit::Request;
use kubechurn_changes::field::Field;
use kubechurn_changes::line::{Line as Change, ReceivedChange};
use kubechurn_changes::noise::{Marks, Noise};
use kubechurn_changes::part::{Part, PartKind};
use kubechurn_changes::value::Value;
use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::record::time::Time;
use kubechurn_model::history::who::request_of;
use kubechurn_model::timeline::mark::MarkType;
use kubechurn_recording::{Line, Newest, Refusal, Step, Text, Version, member, native};
use serde_json::json;

use crate::args::{Changes, Show};
use crate::audit::{Joined, Key, key_of};
use crate::looked::{self, LookedFile};
use crate::record::folder;

/// Why not all is printed.
#[derive(Debug, thiserror::Error)]
pub enum ChangesError {
    /// The file cannot be opened.
    #[error("{0} cannot be read: {1}")]
    Open(PathBuf, #[source] io::Error),
    /// The audit log cannot be read.
    #[error("the audit log {0} cannot be read: {1}")]
    Audit(PathBuf, #[source] io::Error),
    /// The folder has no file of a recording.
    #[error("{0} has no file of a recording, as kubechurn record -o {0} writes them")]
    Empty(PathBuf),
    /// The file is no recording, or not to its end.
    #[error("{file} is no recording that can be read to its end: block {block}, {refusal}")]
    Refused {
        file: PathBuf,
        block: usize,
        #[source]
        refusal: Refusal,
    },
    /// What is printed cannot be written.
    #[error("the changes cannot be printed: {0}")]
    Print(#[source] io::Error),
}

/// Prints the changes of a recording.
///
/// # Errors
/// When it cannot be read to its end. What came before is printed.
pub fn run(changes: &Changes) -> Result<(), ChangesError> {
    let open = |error| ChangesError::Open(changes.file.clone(), error);
    let mut files = match folder::is_folder(&changes.file) {
        true => folder::files(&changes.file).map_err(open)?,
        false => vec![changes.file.clone()],
    };
    if changes.file.is_dir() {
        // One that was begun when the program was killed.
        files.retain(|file| fs::metadata(file).is_ok_and(|known| known.len() > 0));
    }
    if files.is_empty() {
        return Err(ChangesError::Empty(changes.file.clone()));
    }
    print(changes, files, Printer::new(io::stdout().lock(), changes.show.clone()))
}

fn print<W: Write>(changes: &Changes, files: Vec<PathBuf>, mut printer: Printer<W>) -> Result<(), ChangesError> {
    let open = |error| ChangesError::Open(changes.file.clone(), error);
    let inputs = || inputs(&files, changes).map_err(open);
    printer.who = who(inputs()?, changes.audit.as_deref())?;
    printer.shown = (changes.from.unwrap_or(f64::NEG_INFINITY), changes.to.unwrap_or(f64::INFINITY));
    let mut refused = Ok(());
    for mut input in inputs()? {
        if let Input::Blocks(file) = &mut input {
            file.warn();
            printer.newest = file.newest.take().unwrap_or(printer.newest);
        }
        let file = input.path().clone();
        let read = input.lines(&mut |at, line| printer.line(at, line));
        let read = read.map_err(|error| ChangesError::Open(file.clone(), error))?;
        // A file that cannot be read to its end says nothing about those after it.
        let read = read.map_err(|(block, refusal)| ChangesError::Refused { file, block, refusal });
        refused = refused.and(read);
    }
    match printer.flush() {
        // Whoever closed the output has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        printed => printed.map_err(ChangesError::Print).and(refused),
    }
}

/// A file that is read.
enum Input {
    Whole(PathBuf),
    /// What is looked at of it.
    Blocks(Box<LookedFile>),
}

/// The files that are read, or what is read of them.
fn inputs(files: &[PathBuf], changes: &Changes) -> io::Result<Vec<Input>> {
    if changes.from.is_none() && changes.to.is_none() {
        return Ok(files.iter().cloned().map(Input::Whole).collect());
    }
    Ok(looked::files(files.to_vec(), changes.from, changes.to)?.into_iter().map(Box::new).map(Input::Blocks).collect())
}

impl Input {
    fn path(&self) -> &PathBuf {
        match self {
            Input::Whole(path) => path,
            Input::Blocks(file) => &file.path,
        }
    }

    /// Calls `each` with the lines; see [`LookedFile::lines`].
    fn lines(&mut self, each: &mut dyn FnMut(f64, &Line<'_>)) -> io::Result<Result<(), (usize, Refusal)>> {
        match self {
            Input::Whole(path) => Ok(native::read(&fs::read(path)?, |at, line| each(at, &line))),
            Input::Blocks(file) => file.lines(each),
        }
    }

    /// Whether a line says who made a request.
    fn has_requests(&self) -> io::Result<bool> {
        let Input::Whole(path) = self else { return Ok(true) };
        let bytes = fs::read(path)?;
        let mut texts = member::members(&bytes).into_iter().filter_map(|block| native::unpacked(&bytes[block]).ok());
        Ok(texts.any(|text| text.contains("\n{\"request\":")))
    }
}

/// Who made the requests, as the recording has it, or the audit log.
type Who = HashMap<Key, Arc<Request>>;

/// Reads who made the requests: of changes that are printed before the line that says so.
fn who(inputs: Vec<Input>, log: Option<&Path>) -> Result<Who, ChangesError> {
    let (mut who, mut joined, mut newest, mut ahead) = (Who::new(), Joined::default(), Newest::default(), 0.0);
    for mut input in inputs {
        let path = input.path().clone();
        let open = |error| ChangesError::Open(path.clone(), error);
        if log.is_none() && !input.has_requests().map_err(open)? {
            continue;
        }
        if let Input::Blocks(file) = &mut input {
            newest = file.newest.take().unwrap_or(newest);
        }
        // Where it breaks off is said when it is printed.
        let read = input.lines(&mut |at, line| {
            match line {
                Line::Header(header) if !header.program.is_empty() => ahead = header.ahead,
                Line::Version(version) if log.is_some() => {
                    if let Some(resource) = newest.resource(version.watch) {
                        joined.version(&newest, &resource, version, at + ahead);
                    }
                }
                Line::Request(request) => {
                    let key = (request.uid.clone(), request.version.to_string(), request.is_deletion);
                    who.insert(key, Arc::new(request_of(request)));
                }
                _ => {}
            }
            newest.take(line);
        });
        _ = read.map_err(open)?;
    }
    let Some(log) = log else { return Ok(who) };
    let failed = |error| ChangesError::Audit(log.to_owned(), error);
    let mut lines = BufReader::new(fs::File::open(log).map_err(failed)?);
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).map_err(failed)? > 0 {
        joined.requests.line(&String::from_utf8_lossy(&line));
        line.clear();
    }
    joined.settle();
    who.extend(joined.all().map(|(key, request)| (key.clone(), Arc::clone(request))));
    // Whoever does not read what is said here reads the changes all the same.
    let _ = writeln!(io::stderr(), "kubechurn: {}", joined.requests.counts());
    Ok(who)
}

/// Takes a line of a recording into what is newest, and hands each change that it is to `each`.
pub fn take(newest: &mut Newest, at: f64, line: &Line<'_>, each: &mut dyn FnMut(&Change, &Newest)) {
    match line {
        Line::Version(version) => {
            if let Some(change) = change(newest, at, version) {
                each(&change, newest);
            }
        }
        Line::Step(watch, Step::Listed) => {
            // In an earlier file they were there.
            for (key, uid) in newest.missing(*watch) {
                let (delta_type, text) = (DeltaType::Deleted, Text::None);
                let gone = Version { watch: *watch, delta_type, key: &key, uid: &uid, text };
                if let Some(change) = change(newest, at, &gone) {
                    each(&change, newest);
                }
            }
        }
        _ => {}
    }
    newest.take(line);
}

/// The change that a version is.
fn change(newest: &Newest, at: f64, version: &Version<'_>) -> Option<Change> {
    let resource = newest.resource(version.watch)?;
    let (is_same, old) = match newest.before(version) {
        Some((uid, text)) if uid == version.uid => (true, text),
        _ => (false, None),
    };
    let new = if let Text::Whole(text) = version.text { Some(text) } else { None };
    // An object that a list shows is no change where it is as before, or not known from before: nobody knows when it came.
    if version.delta_type == DeltaType::Replaced && (!is_same || old.as_deref() == new) {
        return None;
    }
    let received = ReceivedChange {
        // Nobody asks for the number.
        seq: 0,
        at,
        kind: resource.kind.into(),
        key: version.key.clone(),
        uid: version.uid.clone(),
        delta_type: version.delta_type,
        old: old.as_deref(),
        new,
    };
    Some(Change::new(received, &Marks::default()))
}

/// The colours of a terminal, by what has them.
const DIM: &str = "2";
const RED: &str = "31";
const GREEN: &str = "32";
const YELLOW: &str = "33";
const BLUE: &str = "34";

/// Why nothing was heard between two runs of a recorder.
const NOT_RECORDED: &str = "nothing was recorded";

/// Prints the changes that the lines of a recording are.
pub struct Printer<W: Write> {
    out: BufWriter<W>,
    show: Show,
    is_coloured: bool,
    /// Why nothing more is printed.
    failure: Option<io::Error>,
    newest: Newest,
    /// When the last line was received, in milliseconds since 1970.
    last: Option<f64>,
    /// When the file before this one ended, until it is known whether this one goes on from there.
    ended: Option<f64>,
    who: Who,
    /// The time of which changes are printed, in milliseconds since 1970.
    shown: (f64, f64),
}

impl<W: Write> Printer<W> {
    /// A printer on the standard output, which is `out`.
    pub fn new(out: W, show: Show) -> Printer<W> {
        let is_plain = show.json || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let is_coloured = !is_plain && io::stdout().is_terminal();
        Printer {
            out: BufWriter::new(out),
            show,
            is_coloured,
            failure: None,
            newest: Newest::default(),
            last: None,
            ended: None,
            who: Who::new(),
            shown: (f64::NEG_INFINITY, f64::INFINITY),
        }
    }

    /// Hands on what was printed.
    ///
    /// # Errors
    /// When it, or something before it, could not be printed.
    pub fn flush(&mut self) -> io::Result<()> {
        self.failure.take().map_or_else(|| self.out.flush(), Err)
    }

    /// Takes a line of a recording, which was received at this time, in milliseconds since 1970.
    pub fn line(&mut self, at: f64, line: &Line<'_>) {
        if at < self.shown.0 || at > self.shown.1 {
            (self.last, self.ended) = (Some(at), None);
            return self.newest.take(line);
        }
        let kind = |watch: &u32| self.newest.resource(*watch).map_or("", |resource| resource.kind);
        match line {
            Line::Step(watch, Step::Gap(since, reason)) => self.gap(at, kind(watch), *since, reason),
            Line::Step(watch, Step::Refused(reason)) => self.refused(at, kind(watch), reason),
            Line::Note(text) => self.note(at, text),
            // Only the first block of a file says what wrote it.
            Line::Header(header) if !header.program.is_empty() => self.ended = self.last,
            Line::Watch(watch) => {
                if let Some(since) = self.ended.take().filter(|_| !watch.is_repeated) {
                    self.gap(at, "", since, NOT_RECORDED);
                }
            }
            _ => {}
        }
        self.last = Some(at);
        let mut newest = std::mem::take(&mut self.newest);
        take(&mut newest, at, line, &mut |change, newest| {
            let mut change = Cow::Borrowed(change);
            if let (Line::Version(version), false) = (line, self.who.is_empty())
                && let Some(request) = self.who.get(&key_of(version))
            {
                change.to_mut().requests.push(Arc::clone(request));
            }
            if (self.show.all || change.noise.is_none()) && self.show.filter.matches(&change) {
                self.change(&change, newest, line);
            }
        });
        self.newest = newest;
    }

    fn change(&mut self, change: &Change, newest: &Newest, line: &Line<'_>) {
        let named = change.requests.first().cloned();
        if self.show.json {
            let (Line::Version(Version { watch, .. }) | Line::Step(watch, _)) = line else { return };
            let api_version = newest.resource(*watch).map(|resource| resource.api_version());
            let mut json = as_json(change, &api_version.unwrap_or_default());
            if let Some(request) = named {
                let Request { user, impersonated, agent, address, verb, id, .. } = &*request;
                json["by"] = json!({"user": &**user, "as": &**impersonated, "agent": &**agent, "address": &**address,
                    "verb": &**verb, "auditID": &**id, "time": time(request.at)});
            }
            return self.print(&json.to_string());
        }
        let (glyph, colour) = match change.delta_type {
            DeltaType::Added => (MarkType::Added, GREEN),
            DeltaType::Updated => (MarkType::Updated, BLUE),
            DeltaType::Deleted => (MarkType::Deleted, RED),
            DeltaType::Replaced | DeltaType::Sync => (MarkType::Replaced, YELLOW),
        };
        let glyph = self.coloured(colour, glyph.glyph());
        let words: String = change.parts().iter().map(|part| self.part(part)).collect();
        let writers = match named {
            Some(request) if change.delta_type == DeltaType::Deleted => {
                plain(&format!("asked for by {}", request.who()))
            }
            Some(request) => plain(&format!("by {}", request.who())),
            None => change.writers.iter().map(|writer| plain(&writer.to_string())).collect::<Vec<_>>().join(", "),
        };
        let by = if writers.is_empty() { String::new() } else { self.coloured(DIM, &format!(" ({writers})")) };
        let time = self.coloured(DIM, &time(change.at));
        self.print(&format!("{time} {glyph} {}: {words}{by}", name(change, newest)));
    }

    fn part(&self, part: &Part) -> String {
        let text = plain(&part.text);
        match part.kind {
            PartKind::Path | PartKind::More => self.coloured(DIM, &text),
            PartKind::Old => self.coloured(RED, &text),
            PartKind::New => self.coloured(GREEN, &text),
            PartKind::Count | PartKind::Arrow | PartKind::Plain => text,
        }
    }

    /// A time without news, of this kind, or of all kinds where it is empty.
    fn gap(&mut self, at: f64, kind: &str, since: f64, reason: &str) {
        if self.show.json {
            let (at, since) = (time(at), time(since));
            return self.print(
                &json!({"time": at, "what": "gap", "kind": kind, "since": since, "reason": reason}).to_string(),
            );
        }
        let glyph = self.coloured(YELLOW, MarkType::Gap.glyph());
        let seconds = (at - since).max(0.0) / 1_000.0;
        let words = match kind {
            "" => format!("{reason} for {seconds:.1} s"),
            _ => format!("{}: nothing was heard for {seconds:.1} s ({})", plain(kind), plain(reason)),
        };
        self.print(&format!("{} {glyph} {words}", time(at)));
    }

    fn refused(&mut self, at: f64, kind: &str, reason: &str) {
        if self.show.json {
            return self
                .print(&json!({"time": time(at), "what": "refused", "kind": kind, "reason": reason}).to_string());
        }
        let glyph = self.coloured(YELLOW, MarkType::Gap.glyph());
        self.print(&format!("{} {glyph} {}: the server refused: {}", time(at), plain(kind), plain(reason)));
    }

    fn note(&mut self, at: f64, text: &str) {
        if self.show.json {
            return self.print(&json!({"time": time(at), "what": "note", "text": text}).to_string());
        }
        let (at, glyph) = (self.coloured(DIM, &time(at)), self.coloured(YELLOW, "✎"));
        self.print(&format!("{at} {glyph} {}", plain(text)));
    }

    fn coloured(&self, colour: &str, text: &str) -> String {
        if self.is_coloured { format!("\x1b[{colour}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn print(&mut self, line: &str) {
        if self.failure.is_none() {
            self.failure = writeln!(self.out, "{line}").err();
        }
    }
}

/// A change in plain words.
pub fn words(change: &Change, newest: &Newest) -> String {
    let words: String = change.parts().iter().map(|part| &*part.text).collect();
    plain(&format!("{}: {words}", name(change, newest)))
}

/// The object. An Event is known by what it is about: its own name says nothing.
fn name(change: &Change, newest: &Newest) -> String {
    let Some(about) = change.controller().filter(|_| change.is_event()) else {
        return plain(&format!("{} {}", change.kind, change.key));
    };
    // An Event about what is in no namespace is itself in one.
    let is_bare = |resource: &ApiResource| resource.kind == about.kind && !resource.namespaced;
    let namespace = if newest.resources().any(is_bare) { "" } else { &*change.key.namespace };
    plain(&format!("Event of {} {}", about.kind, ObjectKey::new(namespace, &about.name)))
}

/// Text in which nothing is a command for a terminal.
fn plain(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// A time in milliseconds since 1970, in UTC: `2026-11-26T13:04:05.678Z`.
pub fn time(at: f64) -> String {
    let milliseconds = at.round() as i64;
    let second = Time::from_seconds(milliseconds.div_euclid(1_000)).to_string();
    format!("{}.{:03}Z", second.trim_end_matches('Z'), milliseconds.rem_euclid(1_000))
}

fn as_json(change: &Change, api_version: &str) -> serde_json::Value {
    let kept = |value: &Option<Value>| value.as_ref().map(Value::kept).map(str::to_owned);
    let is_cut = |value: &Option<Value>| value.as_ref().is_some_and(|value| !value.is_whole());
    let fields = change.fields.iter().map(|Field { path, old, new, .. }| {
        json!({"path": &**path, "old": kept(old), "new": kept(new), "cut": is_cut(old) || is_cut(new)})
    });
    let what = match change.delta_type {
        DeltaType::Added => "added",
        DeltaType::Updated => "changed",
        DeltaType::Deleted => "deleted",
        DeltaType::Replaced | DeltaType::Sync => "found changed",
    };
    json!({
        "time": time(change.at),
        "what": what,
        "apiVersion": api_version,
        "kind": &*change.kind,
        "namespace": &*change.key.namespace,
        "name": &*change.key.name,
        "uid": change.uid.to_string(),
        "fields": fields.collect::<Vec<_>>(),
        "otherPaths": change.other_paths.iter().map(|path| &**path).collect::<Vec<_>>(),
        "moreFields": change.more,
        "noise": change.noise.map(Noise::words),
        "unknown": change.unknown.map(kubechurn_changes::line::Unknown::words),
        "byInferred": change.writers.iter().map(|writer| writer.name().to_string()).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use kubechurn_changes::filter::Filter;
    use kubechurn_client::api::uid::Uid;
    use kubechurn_recording::native::FileWriter;
    use kubechurn_recording::{Header, Watch};

    use super::*;

    const WEB: ApiResource = ApiResource {
        group: "apps",
        version: "v1",
        plural: "deployments",
        kind: "Deployment",
        namespaced: true,
        cluster: "",
    };

    fn text(version: u32, image: &str) -> String {
        json!({
            "metadata": {"name": "web", "namespace": "shop", "uid": "u", "resourceVersion": version.to_string()},
            "spec": {"template": {"spec": {"containers": [{"name": "web", "image": image}]}}},
        })
        .to_string()
    }

    /// What is printed of a Deployment whose image changes, that then changes in nothing that says something, and goes.
    fn printed(show: Show, is_coloured: bool) -> String {
        let mut writer = FileWriter::new(Header::default(), io::Cursor::new(Vec::new()));
        let (key, uid) = (ObjectKey::new("shop", "web"), Uid::new("u"));
        let scope = kubechurn_client::api::request::Scope::default();
        let mut lines = vec![Line::Watch(Watch { number: 3, resource: WEB, scope, is_repeated: false })];
        let texts = [text(1, "r/web:1"), text(2, "r/web:2\u{1b}[31m"), text(3, "r/web:2\u{1b}[31m")];
        let types = [DeltaType::Replaced, DeltaType::Updated, DeltaType::Replaced];
        for (delta_type, text) in types.into_iter().zip(&texts) {
            let text = Text::Whole(text);
            lines.push(Line::Version(Version { watch: 3, delta_type, key: &key, uid: &uid, text }));
        }
        lines.push(Line::Step(3, Step::Gap(1_000.0, "cut".to_owned())));
        let deleted = Version { watch: 3, delta_type: DeltaType::Deleted, key: &key, uid: &uid, text: Text::None };
        lines.push(Line::Version(deleted));
        lines.push(Line::Note("back \u{1b}[31m again"));
        for (at, line) in lines.iter().enumerate() {
            writer.push(1_000.0 * at as f64, line).expect("memory takes everything");
        }
        let file = writer.finish().expect("memory takes everything").into_inner();
        let mut out = Vec::new();
        let mut printer = Printer { is_coloured, ..Printer::new(&mut out, show) };
        native::read(&file, |at, line| printer.line(at, &line)).expect("it is a recording");
        printer.flush().expect("memory takes everything");
        drop(printer);
        String::from_utf8(out).expect("it is text")
    }

    #[test]
    fn changes_are_printed_as_by_the_page_and_nothing_of_them_is_a_command_for_the_terminal() {
        assert_eq!(
            printed(Show::default(), false),
            "1970-01-01T00:00:02.000Z ● Deployment shop/web: image 1 → 2 [31m\n\
             1970-01-01T00:00:04.000Z ░ Deployment: nothing was heard for 3.0 s (cut)\n\
             1970-01-01T00:00:05.000Z ✕ Deployment shop/web: deleted\n\
             1970-01-01T00:00:06.000Z ✎ back  [31m again\n"
        );
        let all = printed(Show { all: true, ..Show::default() }, false);
        assert!(all.contains("1970-01-01T00:00:03.000Z ◆ Deployment shop/web: versions\n"), "{all}");
        let coloured = printed(Show::default(), true);
        assert!(coloured.contains("\x1b[34m●\x1b[0m Deployment"), "{coloured}");
        let filter = Filter::parse("type:deleted").expect("a filter");
        let some = printed(Show { filter, ..Show::default() }, false);
        assert!(some.contains("deleted") && !some.contains("image"), "{some}");
    }

    #[test]
    fn of_a_chosen_time_only_its_changes_are_printed_and_they_are_compared_with_what_was_before() {
        let path = std::env::temp_dir().join(format!("kubechurn-changes-{}.churn", std::process::id()));
        let mut writer = FileWriter::new(
            Header { program: "p".into(), ..Header::default() },
            fs::File::create(&path).expect("a file"),
        );
        let (key, uid) = (ObjectKey::new("shop", "web"), Uid::new("u"));
        let scope = kubechurn_client::api::request::Scope::default();
        writer.push(0.0, &Line::Watch(Watch { number: 0, resource: WEB, scope, is_repeated: false })).expect("a file");
        for second in 0..20_u32 {
            let (delta_type, text) = (DeltaType::Updated, text(second, &format!("r/web:{second}")));
            let version = Version { watch: 0, delta_type, key: &key, uid: &uid, text: Text::Whole(&text) };
            writer.push(f64::from(second) * 1e3, &Line::Version(version)).expect("a file");
            if second % 5 == 4 {
                writer.end_block().expect("a file");
            }
        }
        writer.finish().expect("a file");
        let check = |from: Option<f64>, to: Option<f64>, expected: &[u32]| {
            let (show, file) = (Show::default(), path.clone());
            let changes = Changes { file, from, to, show: show.clone(), audit: None };
            let mut out = Vec::new();
            let printer = Printer { is_coloured: false, ..Printer::new(&mut out, show) };
            print(&changes, vec![path.clone()], printer).expect("it is printed");
            let lines: Vec<String> = String::from_utf8(out).expect("text").lines().map(str::to_owned).collect();
            let words = |second: &u32| {
                format!("1970-01-01T00:00:{second:02}.000Z ● Deployment shop/web: image {} → {second}", second - 1)
            };
            assert_eq!(lines, expected.iter().map(words).collect::<Vec<_>>(), "{from:?} {to:?}");
        };
        check(Some(10e3), Some(11e3), &[10, 11]);
        check(Some(9_500.0), Some(15e3), &[10, 11, 12, 13, 14, 15]);
        check(Some(14e3), None, &[14, 15, 16, 17, 18, 19]);
        check(Some(30e3), None, &[]);
        fs::remove_file(&path).expect("it goes");
    }

    #[test]
    fn each_line_of_json_has_all_of_a_change() {
        let lines: Vec<serde_json::Value> = printed(Show { json: true, ..Show::default() }, false)
            .lines()
            .map(|line| serde_json::from_str(line).expect("it is JSON"))
            .collect();
        let whats: Vec<&str> = lines.iter().filter_map(|line| line["what"].as_str()).collect();
        assert_eq!(whats, ["changed", "gap", "deleted", "note"]);
        assert_eq!(lines[3]["text"], "back \u{1b}[31m again");
        assert_eq!((&lines[0]["apiVersion"], &lines[0]["name"]), (&json!("apps/v1"), &json!("web")));
        let field = &lines[0]["fields"][0];
        assert_eq!(field["path"], "spec.template.spec.containers[web].image");
        assert_eq!((&field["old"], &field["new"]), (&json!("r/web:1"), &json!("r/web:2\u{1b}[31m")));
    }
}
