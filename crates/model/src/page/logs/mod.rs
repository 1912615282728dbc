//! Logs: reads them only while the user looks at them, or has them followed; keeps the lines, and shows those in sight among the
//! changes of their Pods.

mod changes;
mod pods;

use kubechurn_client::api::status::Failure;

use crate::inspector::tab::Tab;
use crate::logs::command::LogCommand;
use crate::logs::containers::Run;
use crate::logs::followed::{BUDGET, Followed};
use crate::logs::lines::{Filter, Line};
use crate::logs::source::{Source, State, TAIL};
use crate::logs::stamp::{milliseconds, nanoseconds};
use crate::navigation::route::Route;
use crate::page::context::Context;
use crate::page::effect::{Effect, RECORDED, Request, RequestId, Slices};
use crate::page::feed::Feed;
use crate::page::inspector::Inspector;
use crate::page::links::of_change;
use crate::page::logs::changes::{ChangeRow, Changes};
use crate::page::logs::pods::{Of, Pods};
use crate::page::requests::Purpose;
use crate::page::table::Table;
use crate::page::why::{Why, in_hand};
use crate::table::export::plain_name;
use crate::timeline::mark::grouped;
use crate::view::bytes_of;
use crate::view::logs::{LINE, LogModel, LogRow, LogSource};

/// How often is looked what the Pods do, in milliseconds.
const PACE: f64 = 250.0;
/// How many rows are made beyond those in sight, above and below.
const BESIDE: usize = 10;
/// The height in which rows are made before the size of the place is known, in pixels.
const HEIGHT: f64 = 600.0;

/// What came of a log that was asked for.
#[derive(Debug)]
pub enum LogInput<'a> {
    /// The answer begins.
    Opened,
    /// More of it.
    Bytes(&'a [u8]),
    /// It has come to its end.
    Ended,
    /// It is a refusal, or broke off.
    Failed(Failure),
}

/// The logs that were looked at.
#[derive(Debug, Default)]
pub(super) struct Logs {
    /// The one that was looked at last is the last one.
    all: Vec<Log>,
    /// The incident whose log the user opened.
    incident: Option<Of>,
    /// When something is to be asked for, in milliseconds.
    due_at: Option<f64>,
}

/// A log.
#[derive(Debug)]
struct Log {
    of: Of,
    title: String,
    followed: Followed,
    pods: Pods,
    /// What is under way, and for which source.
    requests: Vec<(RequestId, u16)>,
    changes: Changes,
    among: Vec<ChangeRow>,
    words: String,
    only: Option<u16>,
    keeps: bool,
    is_whole: bool,
    /// The first pixel in sight, and how many are.
    window: (f64, f64),
    is_at_end: bool,
    scroll: (u32, f64),
    /// The moment to which it was scrolled.
    moment: Option<f64>,
    /// When the Pods were looked at, and how much had been received.
    looked: (f64, u64),
}

/// What is looked at.
struct Target {
    of: Of,
    title: String,
    since: Option<f64>,
}

impl Logs {
    /// Carries out a command.
    pub(super) fn handle(&mut self, command: LogCommand, (feed, table): (&Feed, &Table), cx: &mut Context<'_>) {
        match command {
            LogCommand::Show => return show(feed, table, cx),
            LogCommand::Open => {
                self.incident = cx.navigation.route.why.clone().map(Of::Incident);
                return cx.hurry();
            }
            _ => {}
        }
        let Some(log) = self.all.last_mut() else { return };
        match command {
            LogCommand::Filter(words) => log.words = words,
            LogCommand::Only(only) => {
                log.only = only;
                if let Some(given_up) = only.and_then(|only| log.followed.prefer(only)) {
                    log.abort(Some(given_up), cx);
                }
            }
            LogCommand::Scroll { top, height, is_at_end } => (log.window, log.is_at_end) = ((top, height), is_at_end),
            LogCommand::Keep(keeps) => log.keeps = keeps,
            LogCommand::Again => log.followed.again(),
            LogCommand::Whole => {
                log.abort(None, cx);
                log.followed = Followed::new(BUDGET);
                (log.is_whole, log.looked, log.only) = (true, (f64::NEG_INFINITY, 0), None);
            }
            LogCommand::Save => return log.save(cx),
            LogCommand::Show | LogCommand::Open => {}
        }
        let only = log.only;
        log.followed.lines.filter(Filter::of(&log.words, only));
        cx.hurry();
    }

    /// Something came of a log.
    pub(super) fn came(&mut self, id: RequestId, input: &LogInput<'_>, cx: &mut Context<'_>) {
        let number = |log: &Log| log.requests.iter().find(|(own, _)| *own == id).map(|(_, number)| *number);
        let of = self.all.iter_mut().find_map(|log| Some((number(log)?, log)));
        let Some((number, log)) = of else { return };
        match input {
            LogInput::Opened => log.followed.opened(number),
            LogInput::Bytes(bytes) => log.followed.take(number, bytes),
            LogInput::Ended => log.followed.ended(number, cx.now),
            LogInput::Failed(failure) => log.followed.failed(number, failure, cx.now),
        }
        if matches!(input, LogInput::Ended | LogInput::Failed(_)) {
            log.requests.retain(|(own, _)| *own != id);
            cx.requests.take(id);
            // What the Pod says of the end is looked at anew.
            log.looked.0 = f64::NEG_INFINITY;
        }
        cx.request_frame();
    }

    /// When something is to be asked for, in milliseconds.
    pub(super) fn due_at(&self) -> Option<f64> {
        self.due_at
    }

    /// Reads what is looked at, ends what is not, and shows the lines in sight.
    pub(super) fn present(&mut self, inspector: &Inspector, why: &Why, cx: &mut Context<'_>) {
        let target = self.target(cx);
        if self.all.is_empty() && target.is_none() {
            return;
        }
        self.go_to(target.as_ref(), cx);
        self.due_at = None;
        for log in &mut self.all {
            let is_shown = target.as_ref().is_some_and(|target| target.of == log.of);
            if is_shown || log.keeps {
                log.look(inspector, why, cx);
                // A recording has no server to ask.
                if cx.navigation.recorded.is_none() && cx.navigation.found {
                    log.ask(cx);
                    self.due_at = [self.due_at, log.followed.due_at()].into_iter().flatten().reduce(f64::min);
                }
            } else {
                log.abort(None, cx);
                log.followed.stop();
            }
        }
        self.keep_to_budget();
        let model = match (target, self.all.last_mut()) {
            (Some(target), Some(log)) => log.model(&target, cx),
            _ => LogModel::default(),
        };
        cx.view.inspector.log.put(model);
    }

    /// What the user looks at.
    fn target(&mut self, cx: &Context<'_>) -> Option<Target> {
        let route = &cx.navigation.route;
        if let Some((kind, key)) = &cx.navigation.selected
            && Tab::named(&route.tab) == Tab::Logs
            && Tab::Logs.is_of(kind.resource.kind)
        {
            let title = format!("{} {key}", kind.resource.kind);
            return Some(Target { of: Of::Object(kind.name, key.clone()), title, since: None });
        }
        let place = route.why.clone();
        if self.incident.is_some() && self.incident != place.clone().map(Of::Incident) {
            self.incident = None;
        }
        let of = self.incident.clone()?;
        Some(Target { of, title: String::from("the Pods of the incident"), since: place.map(|place| place.since) })
    }

    /// Puts the log that is looked at last; makes it, if it was not looked at before.
    fn go_to(&mut self, target: Option<&Target>, cx: &Context<'_>) {
        let Some(target) = target else { return };
        if self.all.last().is_some_and(|log| log.of == target.of) {
            return;
        }
        let known = self.all.iter().position(|log| log.of == target.of).map(|at| self.all.remove(at));
        let mut log = known.unwrap_or_else(|| Log::new(target));
        log.moment = None;
        log.looked = (f64::NEG_INFINITY, 0);
        if cx.watching.moment.is_none() {
            log.is_at_end = true;
        }
        self.all.push(log);
    }

    /// What was looked at longest ago gives its room to what is looked at now.
    fn keep_to_budget(&mut self) {
        let Some((last, before)) = self.all.split_last_mut() else { return };
        let mut room = BUDGET;
        last.followed.lines.give(room);
        room -= last.followed.lines.bytes();
        let mut is_over = false;
        for log in before.iter_mut().rev() {
            is_over |= log.followed.lines.bytes() > room && !log.keeps;
            log.followed.lines.give(room);
            room -= log.followed.lines.bytes();
        }
        if is_over || self.all.len() > 20 {
            let is_empty = |log: &Log| log.followed.lines.counts().1 == 0 && !log.keeps;
            if let Some(at) = self.all.iter().take(self.all.len() - 1).position(is_empty) {
                self.all.remove(at);
            }
        }
    }
}

impl Log {
    fn new(target: &Target) -> Log {
        Log {
            of: target.of.clone(),
            title: target.title.clone(),
            followed: Followed::new(BUDGET),
            pods: Pods::default(),
            requests: Vec::new(),
            changes: Changes::default(),
            among: Vec::new(),
            words: String::new(),
            only: None,
            keeps: false,
            is_whole: false,
            window: (0.0, HEIGHT),
            is_at_end: true,
            scroll: (0, 0.0),
            moment: None,
            looked: (f64::NEG_INFINITY, 0),
        }
    }

    /// Looks what the Pods do now.
    fn look(&mut self, inspector: &Inspector, why: &Why, cx: &Context<'_>) {
        let received = cx.watching.history.received();
        let is_due = cx.now - self.looked.0 >= PACE && (received != self.looked.1 || self.pods.now.is_empty());
        if !is_due && self.looked.0 > f64::NEG_INFINITY {
            return;
        }
        self.looked = (cx.now, received);
        match &self.of {
            Of::Object(kind, key) => {
                let Some(kind) = cx.navigation.catalog.find(kind) else { return };
                let text = inspector.value(kind, key);
                self.pods.look((kind, key), text.as_deref(), cx);
            }
            Of::Incident(_) => {
                let (kind, keys) = why.pods(cx);
                self.pods.look_at(kind, keys, cx);
            }
        }
        self.followed.look(&self.pods.now, cx.now);
        if self.is_whole {
            self.followed.sources.iter_mut().for_each(|source| source.is_whole = true);
        }
        self.among = self.changes.of(&self.pods, cx);
    }

    /// Asks for what is due.
    fn ask(&mut self, cx: &mut Context<'_>) {
        let Some(kind) = self.pods.kind else { return };
        for (number, url) in self.followed.due(cx.now) {
            let id = cx.requests.add(Purpose::Log);
            cx.effects.push(Effect::Follow(id, kind.resource.cluster, url));
            self.requests.push((id, number));
        }
    }

    /// Gives up what is under way: of one source, or all of it.
    fn abort(&mut self, number: Option<u16>, cx: &mut Context<'_>) {
        self.requests.retain(|(id, own)| {
            let is_it = number.is_none_or(|number| number == *own);
            if is_it {
                cx.abort(*id);
            }
            !is_it
        });
    }

    /// The log, as it is shown.
    fn model(&mut self, target: &Target, cx: &Context<'_>) -> LogModel {
        let cluster = self.pods.kind.map_or("", |kind| kind.resource.cluster);
        // Lines have the server's times, and all else on the page those of the page's clock.
        let off = cx.env.server_clock(cluster).ahead() + cx.env.to_wall();
        let lines = &self.followed.lines;
        let until = |at: f64| lines.until(nanoseconds(at + off));
        // The rows of the changes: before each stand the lines that are not later.
        let changes: Vec<usize> = self.among.iter().enumerate().map(|(at, change)| until(change.at) + at).collect();
        let total = lines.shown() + changes.len();
        let moment = cx.watching.moment.map(|moment| moment.at);
        if moment != self.moment {
            self.moment = moment;
            match moment {
                Some(at) => {
                    let row = until(at) + self.among.iter().filter(|change| change.at <= at).count();
                    let top = (row as f64 * LINE - self.window.1 / 2.0).max(0.0);
                    (self.scroll, self.window.0, self.is_at_end) = ((self.scroll.0 + 1, top), top, false);
                }
                None => self.is_at_end = true,
            }
        }
        let (top, height) = self.window;
        let fit = (height / LINE).ceil() as usize + 1;
        let first = match self.is_at_end {
            true => total.saturating_sub(fit),
            false => ((top / LINE) as usize).min(total.saturating_sub(1)),
        };
        let (first, last) = (first.saturating_sub(BESIDE), (first + fit + BESIDE).min(total));
        let names = Names { log: self };
        let row = |row: usize| {
            let before = changes.partition_point(|at| *at < row);
            if changes.get(before) == Some(&row) {
                return self.among.get(before).map(|change| change_row(change, target, cx));
            }
            lines.get(row - before).map(|line| line_row(line, &names, off, target, cx))
        };
        let rows = (first..last).filter_map(row).collect();
        let counts = lines.counts();
        LogModel {
            is_open: true,
            is_of_incident: matches!(self.of, Of::Incident(_)),
            title: self.title.clone(),
            sources: self.followed.sources.iter().map(|source| self.source(source, &names)).collect(),
            notes: self.notes(cx),
            kept: format!("{} kept", bytes_of(lines.bytes() as f64)),
            counts,
            filter: self.words.clone(),
            keeps: self.keeps,
            can_ask_again: self
                .followed
                .sources
                .iter()
                .any(|source| matches!(source.state, State::Rests(..) | State::Refused(_))),
            is_end_only: !self.is_whole && self.followed.sources.iter().any(|source| source.came >= TAIL),
            total,
            first,
            rows,
            gone: lines.shown_gone(),
            is_at_end: self.is_at_end,
            scroll: self.scroll,
        }
    }

    /// Saves the lines that are shown, as `kubectl logs --timestamps` writes them.
    fn save(&self, cx: &mut Context<'_>) {
        let names = Names { log: self };
        let mut head = vec![format!("Log of {}, saved at {}.", self.title, cx.words().full(cx.now))];
        if !self.words.trim().is_empty() {
            head.push(format!("Only lines with: {}", self.words.trim()));
        }
        if let Some(source) = self.only.and_then(|only| self.followed.sources.get(usize::from(only))) {
            head.push(format!("Only {}.", names.of(source)));
        }
        head.extend(self.notes(cx));
        let sources: Vec<String> = match &self.followed.sources[..] {
            [_] => vec![String::new()],
            several => several.iter().map(|source| format!("[{}] ", names.whole(source))).collect(),
        };
        let of = match &self.of {
            Of::Object(kind, key) => format!("{kind} {} {}", key.namespace, key.name),
            Of::Incident(place) => format!("incident {}", place.name()),
        };
        let name = plain_name("log", &[of], &cx.words().for_file(cx.now), "log");
        let media_type = "text/plain;charset=utf-8";
        let slices = Box::new(Slices::Log(self.followed.lines.writing(&head, sources)));
        cx.request(Purpose::Save(name.clone()), Request::Save { name, media_type, slices });
    }

    fn source(&self, source: &Source, names: &Names<'_>) -> LogSource {
        LogSource {
            number: source.number,
            name: names.of(source),
            state: match &source.state {
                State::Asked | State::Reads if source.follows => "follows",
                State::Asked | State::Reads => "reads",
                State::Wanted | State::Rests(..) | State::Waits(_) => "waits",
                State::Over(_) => "over",
                State::Refused(_) => "refused",
            },
            words: source.words().to_owned(),
            is_only: self.only == Some(source.number),
        }
    }

    /// What is to be said, each sentence once.
    fn notes(&self, cx: &Context<'_>) -> Vec<String> {
        let mut notes: Vec<String> = Vec::new();
        let mut say = |words: String| {
            if !words.is_empty() && !notes.contains(&words) {
                notes.push(words);
            }
        };
        if cx.navigation.recorded.is_some() {
            say(format!("No log can be read: {RECORDED}. Logs are never in a recording."));
            return notes;
        }
        let (_, _, dropped) = self.followed.lines.counts();
        match dropped {
            0 => {}
            1 => say(String::from("1 older line was dropped, to keep within the budget.")),
            dropped => say(format!("{} older lines were dropped, to keep within the budget.", grouped(dropped))),
        }
        if self.followed.sources.is_empty() {
            say(match self.pods.are_watched {
                true => String::from("No Pod of it is known, and so there is no log."),
                false => String::from(
                    "Pods are not watched here, and so it is not known which ones belong to it: show or pin them.",
                ),
            });
        }
        let shown = self.followed.sources.iter().filter(|source| self.only.is_none_or(|only| only == source.number));
        for source in shown {
            match &source.state {
                State::Over(words) if !words.contains("read once") && !words.starts_with("That run") => {
                    say(words.clone())
                }
                State::Rests(words, _) | State::Waits(words) | State::Refused(words) => say(words.clone()),
                _ => {}
            }
        }
        let can =
            self.followed.sources.iter().filter(|source| !source.is_previous && source.container.run == Run::Runs);
        let (all, followed) = (can.clone().count(), can.filter(|source| source.follows).count());
        if all > followed {
            say(format!(
                "{followed} of {all} running containers are followed, for a browser has few connections; the last {} lines of the \
                 others were read once. Choose one to follow it.",
                grouped(TAIL as u64)
            ));
        }
        if self.followed.more > 0 {
            say(format!("{} more containers are left out.", self.followed.more));
        }
        notes.truncate(6);
        notes
    }
}

/// What sources are called.
struct Names<'a> {
    log: &'a Log,
}

impl Names<'_> {
    /// With its Pod, as `kubectl logs --prefix` has it.
    fn whole(&self, source: &Source) -> String {
        let run = if source.is_previous { ", previous run" } else { "" };
        format!("pod/{}/{}{run}", source.pod.name, source.container.name)
    }

    fn of(&self, source: &Source) -> String {
        let pods = &self.log.pods.keys;
        let pod = match pods.len() {
            ..2 => String::new(),
            _ => format!("…{} ", source.pod.name.get(source.pod.name.rfind('-').unwrap_or(0)..).unwrap_or_default()),
        };
        let kind = match source.container.kind {
            "app" => String::new(),
            kind => format!(" ({kind})"),
        };
        let run = if source.is_previous { ": previous run" } else { "" };
        format!("{pod}{}{kind}{run}", source.container.name)
    }
}

/// How long before or after the incident something was.
fn after(at: f64, target: &Target) -> String {
    target.since.map_or_else(String::new, |since| {
        let sign = if at < since { '−' } else { '+' };
        format!("{sign}{:.3} s", (at - since).abs() / 1_000.0)
    })
}

fn change_row(change: &ChangeRow, target: &Target, cx: &Context<'_>) -> LogRow {
    LogRow {
        what: "change",
        time: cx.words().time_of_day(change.at),
        at: change.at,
        after: after(change.at, target),
        text: change.words.clone(),
        href: of_change(Some(change.seq), cx),
        is_later: cx.watching.moment.is_some_and(|moment| change.at > moment.at),
        ..LogRow::default()
    }
}

fn line_row(line: &Line, names: &Names<'_>, off: f64, target: &Target, cx: &Context<'_>) -> LogRow {
    let at = milliseconds(line.time.unwrap_or(line.at)) - off;
    let sources = &names.log.followed.sources;
    let source = sources.get(usize::from(line.source)).filter(|_| sources.len() > 1);
    let has_time = line.time.is_some();
    LogRow {
        what: if line.is_remark { "remark" } else { "line" },
        time: if has_time { cx.words().time_of_day(at) } else { String::new() },
        at,
        after: if has_time { after(at, target) } else { String::new() },
        source: source.map(|source| names.of(source)).unwrap_or_default(),
        text: line.text.to_string(),
        cut: match line.cut {
            0 => String::new(),
            cut => format!("… {} more bytes were cut", grouped(u64::from(cut))),
        },
        href: String::new(),
        is_later: cx.watching.moment.is_some_and(|moment| at > moment.at),
    }
}

/// Goes to the log of the object that is selected, or else of the row under the cursor.
fn show(feed: &Feed, table: &Table, cx: &mut Context<'_>) {
    let selected = cx.navigation.selected.clone();
    let chosen = selected.or_else(|| in_hand(feed, table, cx).map(|(kind, key, _)| (kind, key)));
    match chosen.filter(|(kind, _)| Tab::Logs.is_of(kind.resource.kind)) {
        Some((kind, key)) => {
            cx.navigation.remember(kind.name, &key);
            let route = cx.navigation.route.selecting(Some((kind.name, &key)));
            cx.push(&Route { tab: String::from(Tab::Logs.name()), ..route });
        }
        None => cx.show_message("No row is chosen that has a log: choose a Pod, or a workload."),
    }
}
