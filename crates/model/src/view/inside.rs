//! What is shown of the inside of an informer: every part of the machinery after one step.

use std::sync::Arc;

use kubechurn_client::api::object::{ObjectKey, ResourceVersion};
use kubechurn_client::cache::client_go::Call;
use kubechurn_client::cache::delta::{DeltaObject, DeltaType};
use rustc_hash::FxHashMap;

use crate::inside::{
    BreakKind, Change, Compared, Handled, Machine, Part, Request, SLOW, Sent, Settings, Slot, SlotEntry, Step, Walk,
    What, Which, Worked, is_sync, same_kind,
};
use crate::timeline::mark::grouped;
use crate::view::seconds;

/// So many slots of a queue are shown.
const SLOTS: usize = 9;
/// So many deltas of one slot are shown.
const DELTAS: usize = 4;
/// So many rows of the store, and of a comparison, are shown.
const ROWS: usize = 12;
/// So many calls that wait for a handler are shown.
const CALLS: usize = 6;
/// So much of what was heard, of what was not, and of what comes next is shown of the server's log.
const HEARD: (usize, usize, usize) = (9, 4, 3);
/// So many steps stand before the present one in the row of steps, and so many after it.
const STEPS: (usize, usize) = (8, 5);

/// A line of a part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// How it looks: words for the style.
    pub look: &'static str,
    /// The type of the delta.
    pub delta: &'static str,
    /// What stands on the left: a version, a key, a number.
    pub left: String,
    /// What stands in the middle.
    pub text: String,
    /// What stands on the right.
    pub right: String,
}

impl Line {
    /// The sign of its delta.
    pub fn glyph(&self) -> &'static str {
        match self.delta {
            "Added" => "▲",
            "Updated" => "●",
            "Deleted" => "✕",
            "Replaced" => "◆",
            "Sync" => "◇",
            "tombstone" => "☒",
            "Bookmark" => "⚑",
            _ => "",
        }
    }
}

/// A part of the machinery.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartModel {
    /// Whether the step happened here.
    pub is_lit: bool,
    /// What is in it.
    pub lines: Vec<Line>,
    /// Numbers and states, each with its name.
    pub facts: Vec<(&'static str, String)>,
    /// What is to be said of it now.
    pub note: String,
}

/// What waits for one pop.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SlotModel {
    /// The key, where all of it is of one.
    pub key: String,
    /// How long it has waited.
    pub age: String,
    /// What waits.
    pub lines: Vec<Line>,
}

/// A queue.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueueModel {
    /// Whether it is the one that feeds the store and the handlers.
    pub is_chosen: bool,
    /// How much waits, in words.
    pub waits: String,
    /// What waits first.
    pub slots: Vec<SlotModel>,
    /// How much more there is, in words.
    pub more: String,
    /// What it has done so far.
    pub facts: Vec<(&'static str, String)>,
}

/// A break that the user can have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BreakModel {
    /// What breaks.
    pub title: String,
    /// What it breaks, and what heals that.
    pub sentence: &'static str,
    /// client-go's name and file.
    pub client_go: (&'static str, &'static str),
    /// Whether it is set, or has been.
    pub is_used: bool,
}

/// Something that can be set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SettingModel {
    /// What.
    pub title: &'static str,
    /// What it can be set to: words of a [`Change`], and titles.
    pub choices: Vec<(String, String)>,
    /// What it is set to, by its words.
    pub chosen: String,
}

/// A step in the row of steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepModel {
    /// Its number.
    pub number: usize,
    /// In which part it happens.
    pub part: &'static str,
    /// Whether the step before it in the row happens in another part.
    pub begins: bool,
    /// The type of its delta.
    pub delta: &'static str,
    /// What happens.
    pub words: String,
    /// `past`, `now` or `later`.
    pub state: &'static str,
}

/// Everything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InsideModel {
    /// The title of what is played.
    pub title: String,
    /// The kinds to choose from: the page's names, titles, and whether it is the one.
    pub kinds: Vec<(&'static str, &'static str, bool)>,
    /// Why nothing is played yet; empty where something is.
    pub waits: String,
    /// Where it comes from, and what is left out.
    pub notes: String,
    /// How much has come since; empty where nothing has.
    pub newer: String,
    /// The number of the step.
    pub number: usize,
    /// How many there are, as far as it is known.
    pub of: String,
    /// The time of the step, since the beginning.
    pub time: String,
    /// What happened.
    pub sentence: String,
    /// The same in the names of client-go.
    pub client_go: String,
    /// Whether what is played needs neither a cluster nor a recording.
    pub stands_alone: bool,
    /// The rules of the checklist that it follows, in words.
    pub rules: String,
    /// Whether this is the end.
    pub is_end: bool,
    /// Whether it is played.
    pub plays: bool,
    /// How fast: a place in [`SPEEDS`](crate::inside::command::SPEEDS).
    pub speed: usize,
    /// When it pauses, by its word.
    pub pause: String,
    /// When it can pause: words and titles.
    pub pauses: Vec<(String, String)>,
    /// What can break.
    pub breaks: Vec<BreakModel>,
    /// Whether something comes that could break.
    pub can_break: bool,
    /// The break that is to be explained, by its place among them.
    pub broken: Option<usize>,
    /// The state of the Reflector: `list`, `replace`, `watch` or `wait`.
    pub state: &'static str,
    /// The parts, in the order of [`Part::ALL`].
    pub parts: Vec<PartModel>,
    /// The queues, in the order of [`Which::ALL`].
    pub queues: Vec<QueueModel>,
    /// What can be set.
    pub settings: Vec<SettingModel>,
    /// The row of steps.
    pub steps: Vec<StepModel>,
    /// What went through, in words.
    pub sums: String,
    /// The step for a screen reader; empty while steps follow each other too fast to be read.
    pub spoken: String,
}

/// Shows a walk. What only the page knows is filled in by it.
pub fn inside_model(walk: &Walk) -> InsideModel {
    let machine = walk.machine();
    let last = machine.last();
    let number = walk.steps().len();
    let (sentence, client_go) = match last {
        Some(step) => (step.words(), step.client_go()),
        None => (String::from("Nothing has happened yet. The next step starts the informer."), String::new()),
    };
    let rules = last.map(Step::rules).unwrap_or_default().iter().map(u32::to_string).collect::<Vec<_>>();
    let rules = match &rules[..] {
        [] => String::new(),
        [one] => format!("rule {one} of the checklist"),
        more => format!("rules {} of the checklist", more.join(", ")),
    };
    let is_stale =
        last.is_some_and(|step| matches!(&step.what, What::Worked(worked) if machine.is_stale(worked, walk.server())));
    let sentence =
        if is_stale { format!("{sentence} What it read is older than what the server has.") } else { sentence };
    let is_lit =
        |part: Part| last.is_some_and(|step| step.part() == part || (part == Part::Store && changes_store(step)));
    let parts = Part::ALL.iter().map(|part| PartModel {
        is_lit: is_lit(*part),
        ..match part {
            Part::Server => server(walk),
            Part::Reflector => reflector(walk),
            Part::Queue => PartModel { note: left_out(last), ..PartModel::default() },
            Part::Pop => pop(machine),
            Part::Store => store(walk),
            Part::Handlers => handlers(machine),
            Part::WorkQueue => work_queue(walk),
        }
    });
    let settings = (**machine.settings()).clone();
    let cursor = machine.connection().cursor();
    let used = |kind: BreakKind| settings.breaks.iter().any(|broken| same_kind(broken.kind, kind));
    let breaks = BreakKind::ALL.iter().map(|kind| BreakModel {
        title: kind.title(),
        sentence: kind.sentence(),
        client_go: kind.client_go(),
        is_used: used(*kind),
    });
    let broken = settings.breaks.iter().rfind(|broken| broken.entry <= cursor).or(settings.breaks.last());
    let keys = known_keys(walk);
    let mut pauses: Vec<(String, String)> = [
        ("", "never"),
        ("replace", "when a list is compared"),
        ("tombstone", "when a handler gets a tombstone"),
        ("ended", "when the watch ends"),
    ]
    .map(|(word, title)| (word.to_owned(), title.to_owned()))
    .to_vec();
    pauses.extend(keys.iter().map(|key| (key.to_string(), format!("when {key} is popped"))));
    InsideModel {
        title: walk.stream().title.clone(),
        notes: walk.stream().notes.join(" "),
        number,
        of: walk.end().map(|end| format!("of {}", grouped(end as u64))).unwrap_or_default(),
        time: seconds(machine.now() - walk.stream().begins),
        client_go,
        rules,
        stands_alone: !walk.place().lesson.is_empty(),
        is_end: walk.end() == Some(number),
        pauses,
        broken: broken.and_then(|broken| BreakKind::ALL.iter().position(|kind| same_kind(*kind, broken.kind))),
        breaks: breaks.collect(),
        can_break: cursor < walk.server().len(),
        state: match (last.map(|step| &step.what), machine.request()) {
            (Some(What::Replaced(_)), _) => "replace",
            (_, Request::Idle) => "",
            (_, Request::List { .. }) => "list",
            (_, Request::Watch { .. }) => "watch",
            (_, Request::Wait | Request::Probe) => "wait",
        },
        parts: parts.collect(),
        queues: Which::ALL.iter().map(|which| queue(*which, machine)).collect(),
        settings: settings_model(&settings),
        steps: steps(walk),
        sums: sums(walk),
        spoken: format!("Step {number}. {sentence}"),
        sentence,
        ..InsideModel::default()
    }
}

/// The parts to which the settings belong, in their order.
pub const SETTINGS: [Part; 8] = [
    Part::Reflector,
    Part::Queue,
    Part::Pop,
    Part::Handlers,
    Part::WorkQueue,
    Part::WorkQueue,
    Part::WorkQueue,
    Part::WorkQueue,
];

fn settings_model(settings: &Settings) -> Vec<SettingModel> {
    let slow = settings.handlers.iter().find(|handler| handler.name == SLOW).map_or(0.0, |handler| handler.takes);
    let pop = Some(settings.pop_takes).filter(|takes| takes.is_finite());
    let reconciler = settings.reconciler;
    let all: [(&'static str, &[Change], Change); 8] = [
        (
            "Resync",
            &[Change::Resync(None), Change::Resync(Some(5_000.0)), Change::Resync(Some(30_000.0))],
            Change::Resync(settings.resync),
        ),
        ("AtomicFIFO", &[Change::Atomic(true), Change::Atomic(false)], Change::Atomic(settings.atomic)),
        (
            "A pop takes",
            &[
                Change::Pop(Some(0.0)),
                Change::Pop(Some(100.0)),
                Change::Pop(Some(400.0)),
                Change::Pop(Some(2_000.0)),
                Change::Pop(None),
            ],
            Change::Pop(pop),
        ),
        (
            "exporter takes",
            &[Change::Slow(0.0), Change::Slow(500.0), Change::Slow(2_000.0), Change::Slow(10_000.0)],
            Change::Slow(slow),
        ),
        (
            "Workers",
            &[Change::Workers(0), Change::Workers(1), Change::Workers(2), Change::Workers(4)],
            Change::Workers(reconciler.workers),
        ),
        (
            "A reconcile takes",
            &[Change::Work(0.0), Change::Work(50.0), Change::Work(1_000.0), Change::Work(5_000.0)],
            Change::Work(reconciler.takes),
        ),
        (
            "It fails",
            &[Change::Fails(0), Change::Fails(1), Change::Fails(2), Change::Fails(5)],
            Change::Fails(reconciler.fails_every),
        ),
        ("Forget after success", &[Change::Forgets(true), Change::Forgets(false)], Change::Forgets(reconciler.forgets)),
    ];
    let models = all.into_iter().map(|(title, choices, chosen)| {
        let own = Some(&chosen).filter(|chosen| !choices.contains(chosen));
        let choices = choices.iter().chain(own).map(|change| (change.written(), choice_title(*change)));
        SettingModel { title, choices: choices.collect(), chosen: chosen.written() }
    });
    models.collect()
}

fn choice_title(change: Change) -> String {
    let time = |time: f64| {
        if time == 0.0 {
            String::from("no time")
        } else if time < 1_000.0 {
            format!("{time} ms")
        } else {
            seconds(time)
        }
    };
    match change {
        Change::Resync(None) => String::from("never"),
        Change::Resync(Some(every)) => format!("every {}", seconds(every)),
        Change::Pop(None) => String::from("for ever"),
        Change::Pop(Some(takes)) | Change::Slow(takes) | Change::Work(takes) => time(takes),
        Change::Workers(count) => count.to_string(),
        Change::Fails(0) => String::from("never"),
        Change::Fails(1) => String::from("always"),
        Change::Fails(every) => format!("one time in {every}"),
        Change::Atomic(is_on) | Change::Forgets(is_on) => String::from(if is_on { "on" } else { "off" }),
        _ => String::new(),
    }
}

fn changes_store(step: &Step) -> bool {
    matches!(&step.what, What::Popped(_) | What::Replaced(_))
}

/// The keys of what is played, in order.
fn known_keys(walk: &Walk) -> Vec<ObjectKey> {
    let mut keys: Vec<ObjectKey> = Vec::new();
    let (_, items) = walk.server().list_after(0);
    keys.extend(items.into_iter().map(|(object, _)| object.key.clone()));
    for at in 0..walk.server().len().min(1_000) {
        if let Some(Sent::Change { object, .. }) = walk.server().entry(at).map(|entry| &entry.what)
            && !keys.contains(&object.key)
        {
            keys.push(object.key.clone());
        }
    }
    keys.sort_unstable();
    keys.truncate(50);
    keys
}

fn delta_word(delta_type: DeltaType) -> &'static str {
    match delta_type {
        DeltaType::Added => "Added",
        DeltaType::Updated => "Updated",
        DeltaType::Deleted => "Deleted",
        DeltaType::Replaced => "Replaced",
        DeltaType::Sync => "Sync",
    }
}

/// The type of a step's delta, where it has one.
fn delta_of(step: &Step) -> &'static str {
    match &step.what {
        What::Event { delta_type, .. } => delta_word(*delta_type),
        What::Replaced(rows) if rows.iter().any(|row| row.compared() == Compared::Missing) => "tombstone",
        What::Replaced(_) | What::Listed { .. } => "Replaced",
        What::Resynced { .. } => "Sync",
        What::Bookmark(_) => "Bookmark",
        What::Popped(taken) => taken.calls.first().map_or("", delta_of_call),
        What::Handler(_, Handled::Called(call) | Handled::Skipped(call)) => delta_of_call(call),
        _ => "",
    }
}

fn delta_of_call(call: &Call) -> &'static str {
    match call {
        Call::OnAdd { .. } => "Added",
        call if is_sync(call) => "Sync",
        Call::OnUpdate { .. } => "Updated",
        Call::OnDelete { object: DeltaObject::Known(_) } => "Deleted",
        Call::OnDelete { object: DeltaObject::FinalStateUnknown(_) } => "tombstone",
    }
}

/// The server's log: what was heard, what has happened and was not, and what comes next.
fn server(walk: &Walk) -> PartModel {
    let (heard, unheard, later) = HEARD;
    let mut lines: Vec<Line> =
        walk.steps().iter().rev().filter_map(|step| sent(step, &walk.stream().title)).take(heard).collect();
    lines.reverse();
    let is_now = walk.machine().last().is_some_and(|step| sent(step, "").is_some());
    let (mut happened, mut comes) = (0, 0);
    let first = walk.machine().connection().cursor();
    for at in first..walk.server().len() {
        let Some(entry) = walk.server().entry(at) else { break };
        let has_happened = entry.at <= walk.machine().now();
        let (look, right) = if has_happened { ("unheard", "not heard") } else { ("later", "") };
        let count = if has_happened { &mut happened } else { &mut comes };
        *count += 1;
        if comes > later {
            break;
        }
        if has_happened && happened > unheard {
            continue;
        }
        let right = right.to_owned();
        lines.push(match &entry.what {
            Sent::Change { delta_type, object, .. } => Line {
                look,
                delta: delta_word(*delta_type),
                left: object.resource_version.to_string(),
                text: name(&object.key),
                right,
            },
            Sent::Bookmark(version) => {
                Line { look, delta: "Bookmark", left: version.to_string(), text: "bookmark".into(), right }
            }
            Sent::Error(_) => Line { look, text: "an error ends the watch".into(), ..Line::default() },
            Sent::Closed(_) => Line { look, text: "the watch ends".into(), ..Line::default() },
        });
    }
    if is_now && let Some(line) = lines.iter_mut().rfind(|line| !matches!(line.look, "unheard" | "later")) {
        line.look = match line.look {
            "list" => "list now",
            "cut" => "cut now",
            "watch" => "watch now",
            _ => "now",
        };
    }
    let note = match walk.steps().iter().rev().find(|step| matches!(step.what, What::Ended(_) | What::Listed { .. })) {
        Some(Step { what: What::Ended(reason), .. }) if reason.starts_with("410") => String::from(
            "The server does not remember what came after the version that was asked for, so it cannot send that: 410 Gone. \
             Only a new list helps.",
        ),
        _ if walk.machine().connection().is_silent() => String::from("The connection is open, and nothing comes."),
        _ if happened > unheard => {
            format!("{} more have happened, and were not heard.", grouped((happened - unheard) as u64))
        }
        _ => String::new(),
    };
    PartModel { lines, note, ..PartModel::default() }
}

/// What went between server and Reflector in a step.
fn sent(step: &Step, title: &str) -> Option<Line> {
    Some(match &step.what {
        What::Listed { items, version } => Line {
            look: "list",
            delta: "Replaced",
            left: version.to_string(),
            text: format!("LIST: {} {title}", grouped(*items as u64)),
            ..Line::default()
        },
        What::Watches { from } => Line { look: "watch", text: format!("WATCH from {from}"), ..Line::default() },
        What::Event { delta_type, object, broken } => Line {
            look: "",
            delta: delta_word(*delta_type),
            left: object.resource_version.to_string(),
            text: name(&object.key),
            right: String::from(match broken {
                Some(BreakKind::Delay(_)) => "late",
                Some(BreakKind::Duplicate) => "twice",
                Some(BreakKind::Reorder) => "swapped",
                Some(BreakKind::Burst(_)) => "burst",
                _ => "",
            }),
        },
        What::Bookmark(version) => {
            Line {
                delta: "Bookmark", left: version.to_string(), text: "bookmark: “so far”".into(), ..Line::default()
            }
        }
        What::Lost(key) => Line {
            look: "cut",
            text: key.as_ref().map_or_else(|| String::from("bookmark"), name),
            right: "lost".into(),
            ..Line::default()
        },
        What::Ended(reason) => Line { look: "cut", text: reason.clone(), ..Line::default() },
        What::Silent => Line { look: "cut", text: "silence".into(), ..Line::default() },
        _ => return None,
    })
}

/// So many letters of a name have room.
const LETTERS: usize = 15;

/// The name of an object without its namespace. What is in the middle of a long one is left out: those of a workload's Pods begin
/// alike.
fn name(key: &ObjectKey) -> String {
    let letters = key.name.chars().count();
    if letters <= LETTERS {
        return key.name.to_string();
    }
    let begin = key.name.chars().take(LETTERS - 8);
    begin.chain(std::iter::once('…')).chain(key.name.chars().skip(letters - 7)).collect()
}

fn reflector(walk: &Walk) -> PartModel {
    let machine = walk.machine();
    let version = machine.reflector().resource_version();
    let (mut lists, mut watches, mut bookmark) = (0_u64, 0_u64, None);
    for step in walk.steps() {
        match &step.what {
            What::Listed { .. } => lists += 1,
            What::Watches { .. } => watches += 1,
            What::Bookmark(_) => bookmark = Some(step.at),
            _ => {}
        }
    }
    let ago = |at: f64| format!("{} ago", seconds(machine.now() - at));
    let mut facts = vec![
        ("version", if version.is_unset() { String::from("none yet") } else { version.to_string() }),
        ("lists", lists.to_string()),
        ("watches", watches.to_string()),
    ];
    facts.extend(machine.reflector().heard().map(|at| ("heard", ago(at))));
    facts.extend(bookmark.map(|at| ("bookmark", ago(at))));
    facts.extend(machine.reflector().retry_at().map(|at| ("backoff", seconds(at - machine.now()))));
    PartModel { facts, note: format!("Because {}.", machine.reason()), ..PartModel::default() }
}

/// What a resync leaves out.
fn left_out(last: Option<&Step>) -> String {
    match last.map(|step| &step.what) {
        Some(What::Resynced { again, left_out }) if !left_out.is_empty() => {
            let names: Vec<String> = left_out.iter().take(4).map(name).collect();
            format!(
                "The resync queues {again} again, and leaves out {}{}: something newer of them waits already (syncKeyLocked).",
                names.join(", "),
                if left_out.len() > names.len() { " and others" } else { "" }
            )
        }
        Some(What::Replaced(rows)) if rows.iter().any(|row| row.compared() == Compared::Missing) => String::from(
            "What is missing in the list gets a tombstone (DeletedFinalStateUnknown). It has the last state that is known: what \
             happened to the object after that was never heard.",
        ),
        _ => String::new(),
    }
}

fn queue(which: Which, machine: &Machine) -> QueueModel {
    let queues = machine.queues();
    let (len, counts) = (queues.len(which), queues.counts(which));
    let slots = queues.slots(which, SLOTS);
    let stands: u64 =
        queues.slots(which, usize::MAX).iter().flat_map(|slot| &slot.entries).map(|entry| entry.stands_for).sum();
    let waits = match len {
        0 => String::from("nothing waits"),
        1 => format!("1 entry for {}", grouped(stands)),
        len => format!("{} entries for {}", grouped(len as u64), grouped(stands)),
    };
    QueueModel {
        is_chosen: machine.settings().chosen == which,
        waits,
        slots: slots.iter().map(|slot| slot_model(slot, machine)).collect(),
        more: if len > slots.len() {
            format!("and {} more", grouped((len - slots.len()) as u64))
        } else {
            String::new()
        },
        facts: vec![
            ("pops", grouped(counts.pops)),
            ("calls", grouped(counts.calls)),
            ("at most waited", grouped(counts.most as u64)),
        ],
    }
}

fn slot_model(slot: &Slot, machine: &Machine) -> SlotModel {
    let key = slot.entries.first().and_then(|entry| entry.object.as_ref()).map(|object| name(&object.key));
    let hidden = slot.entries.len().saturating_sub(DELTAS);
    let mut lines: Vec<Line> = Vec::new();
    if hidden > 0 {
        lines.push(Line { text: format!("{hidden} older"), ..Line::default() });
    }
    let shown = slot.entries.iter().skip(hidden);
    lines.extend(shown.map(|entry| {
        let is_new = is_new(entry, machine.last());
        Line {
            look: match (entry.is_tombstone, is_new) {
                (true, true) => "tombstone new",
                (true, false) => "tombstone",
                (false, true) => "new",
                (false, false) => "",
            },
            delta: match entry.word {
                "ReplacedAll" => "Replaced",
                "SyncAll" => "Sync",
                _ if entry.is_tombstone => "tombstone",
                word => word,
            },
            left: String::new(),
            text: if entry.is_tombstone { String::from("tombstone") } else { entry.word.to_owned() },
            right: match (&entry.object, entry.stands_for) {
                (Some(object), 1) => object.resource_version.to_string(),
                (Some(object), count) => format!("{} ×{count}", object.resource_version),
                (None, 1) => String::new(),
                (None, count) => format!("{} objects", grouped(count)),
            },
        }
    }));
    SlotModel { key: key.unwrap_or_default(), age: seconds(machine.now() - slot.since), lines }
}

/// Whether the last step brought an entry of a queue.
fn is_new(entry: &SlotEntry, last: Option<&Step>) -> bool {
    let object = entry.object.as_ref();
    match last.map(|step| &step.what) {
        Some(What::Event { object: new, .. }) => {
            object.is_some_and(|object| object.key == new.key && object.resource_version == new.resource_version)
        }
        Some(What::Replaced(_)) => entry.is_tombstone || entry.word.starts_with("Replaced"),
        Some(What::Resynced { .. }) => entry.word.starts_with("Sync"),
        Some(What::Bookmark(_)) => entry.word == "Bookmark",
        _ => false,
    }
}

fn pop(machine: &Machine) -> PartModel {
    let chosen = machine.settings().chosen;
    if let Some(What::Popped(taken)) = machine.last().map(|step| &step.what) {
        let key = taken.key.as_ref().map_or_else(|| String::from("all objects"), name);
        let calls = taken.calls.iter().take(CALLS).map(|call| Line {
            // The key stands above already where all calls are of one.
            left: if taken.key.is_some() { String::new() } else { name(key_of(call)) },
            ..call_line("new", call)
        });
        let more = taken.calls.len().saturating_sub(CALLS);
        let note = if more > 0 { format!("and {more} more calls") } else { String::new() };
        let facts = vec![("took", key), ("deltas", taken.deltas.to_string()), ("calls", taken.calls.len().to_string())];
        return PartModel { lines: calls.collect(), facts, note, ..PartModel::default() };
    }
    match machine.queues().slots(chosen, 1).first() {
        None => PartModel { note: String::from("Nothing waits."), ..PartModel::default() },
        Some(slot) => {
            let SlotModel { key, age, lines } = slot_model(slot, machine);
            let key = if key.is_empty() { String::from("all objects") } else { key };
            let facts = vec![("next", key), ("waits", age), ("deltas", slot.entries.len().to_string())];
            PartModel {
                facts,
                lines: lines.into_iter().map(|line| Line { look: "", ..line }).collect(),
                ..PartModel::default()
            }
        }
    }
}

/// The comparison of a list with the store; otherwise the store beside what the server has.
fn store(walk: &Walk) -> PartModel {
    let machine = walk.machine();
    let text = |version: &Option<ResourceVersion>| {
        version.as_ref().map_or_else(|| String::from("–"), ResourceVersion::to_string)
    };
    let more = |count: usize| {
        if count > ROWS { format!("and {} more", grouped((count - ROWS) as u64)) } else { String::new() }
    };
    let head = |text: &str, right: &str| Line {
        look: "head",
        left: "key".into(),
        text: text.into(),
        right: right.into(),
        ..Line::default()
    };
    if let Some(What::Replaced(rows)) = machine.last().map(|step| &step.what) {
        let mut lines = vec![head("has → list", "so")];
        lines.extend(rows.iter().take(ROWS).map(|row| {
            let (look, delta, right) = match row.compared() {
                Compared::New => ("", "Added", "new"),
                Compared::Changed => ("", "Updated", "newer"),
                Compared::Same => ("", "", "same"),
                Compared::Missing => ("tombstone", "tombstone", "missing"),
            };
            let both = format!("{} → {}", text(&row.known), text(&row.listed));
            Line { look, delta, left: name(&row.key), text: both, right: right.into() }
        }));
        return PartModel { lines, note: more(rows.len()), ..PartModel::default() };
    }
    let changed: Vec<&ObjectKey> = match machine.last().map(|step| &step.what) {
        Some(What::Popped(taken)) => taken.calls.iter().map(key_of).collect(),
        _ => Vec::new(),
    };
    let (_, truth) = walk.server().list_after(walk.server().happened(machine.now()));
    let mut truth: FxHashMap<ObjectKey, ResourceVersion> =
        truth.into_iter().map(|(object, _)| (object.key.clone(), object.resource_version.clone())).collect();
    let mut objects = machine.queues().store(machine.settings().chosen).list();
    objects.sort_unstable_by(|a, b| a.key.cmp(&b.key));
    let mut lines: Vec<Line> = Vec::new();
    for object in &objects {
        let there = truth.remove(&object.key);
        let (mut look, right) = match &there {
            None => ("stale", String::from("gone")),
            Some(version) if *version != object.resource_version => ("stale", version.to_string()),
            Some(version) => ("", version.to_string()),
        };
        if changed.contains(&&object.key) {
            look = if look.is_empty() { "new" } else { "stale new" };
        }
        lines.push(Line { look, left: name(&object.key), text: object.resource_version.to_string(), right, delta: "" });
    }
    let mut missing: Vec<(ObjectKey, ResourceVersion)> = truth.into_iter().collect();
    missing.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    lines.extend(missing.iter().map(|(key, version)| Line {
        look: "later",
        left: name(key),
        text: String::from("–"),
        right: version.to_string(),
        delta: "",
    }));
    let count = lines.len();
    lines.truncate(ROWS);
    if !lines.is_empty() {
        lines.insert(0, head("has", "server"));
    }
    let facts = vec![("objects", grouped(objects.len() as u64))];
    PartModel { lines, facts, note: more(count), ..PartModel::default() }
}

fn key_of(call: &Call) -> &ObjectKey {
    match call {
        Call::OnAdd { new, .. } | Call::OnUpdate { new, .. } => &new.key,
        Call::OnDelete { object: DeltaObject::Known(last) | DeltaObject::FinalStateUnknown(last) } => &last.key,
    }
}

fn call_line(look: &'static str, call: &Call) -> Line {
    let (text, right) = match call {
        Call::OnAdd { new, is_in_initial_list } => {
            (if *is_in_initial_list { "OnAdd, initial" } else { "OnAdd" }, new.resource_version.to_string())
        }
        Call::OnUpdate { old, new } => ("OnUpdate", format!("{} → {}", old.resource_version, new.resource_version)),
        Call::OnDelete { object: DeltaObject::Known(last) } => ("OnDelete", last.resource_version.to_string()),
        Call::OnDelete { object: DeltaObject::FinalStateUnknown(last) } => {
            ("OnDelete, tombstone", last.resource_version.to_string())
        }
    };
    Line { look, delta: delta_of_call(call), left: name(key_of(call)), text: text.into(), right }
}

fn handlers(machine: &Machine) -> PartModel {
    let (first, log) = machine.handlers().log();
    let handlers = machine.handlers().handlers();
    let here = |number: usize| {
        let names: Vec<&str> =
            handlers.iter().filter(|handler| handler.place() == number).map(|handler| handler.name()).collect();
        if names.is_empty() { String::new() } else { format!("◂ {}", names.join(", ")) }
    };
    let mut lines: Vec<Line> = log
        .iter()
        .take(CALLS)
        .enumerate()
        .map(|(at, call)| {
            let Line { delta, left, .. } = call_line("", call);
            Line { look: "", delta, left: format!("{}", first + at + 1), text: left, right: here(first + at) }
        })
        .collect();
    if log.len() > CALLS {
        lines.push(Line {
            look: "more",
            text: format!("and {} more", grouped((log.len() - CALLS) as u64)),
            ..Line::default()
        });
    }
    let end = here(first + log.len());
    if !end.is_empty() {
        lines.push(Line { look: "end", left: "end".into(), text: String::new(), right: end, delta: "" });
    }
    lines.extend(handlers.iter().enumerate().map(|(at, handler)| {
        let behind = machine.handlers().behind(at);
        Line {
            look: if behind > 0 { "handler behind" } else { "handler" },
            left: handler.name().to_owned(),
            text: format!("{} calls", grouped(handler.calls())),
            right: if behind > 0 { format!("{} behind", grouped(behind as u64)) } else { String::from("up to date") },
            delta: "",
        }
    }));
    PartModel { lines, ..PartModel::default() }
}

fn work_queue(walk: &Walk) -> PartModel {
    let machine = walk.machine();
    let work = machine.work();
    let ((ready, later), (added, attempts)) = (work.waiting(), work.counts());
    let mut lines: Vec<Line> = Vec::new();
    for in_work in work.in_work() {
        let is_stale = machine.is_stale(&Worked::Took(in_work.clone()), walk.server());
        lines.push(Line {
            look: if is_stale { "stale" } else { "new" },
            left: name(&in_work.key),
            text: if in_work.read.is_unset() { String::from("reads: gone") } else { format!("reads {}", in_work.read) },
            right: match work.failures(&in_work.key) {
                0 => String::from(if is_stale { "stale" } else { "" }),
                failures => format!("failed {failures}×"),
            },
            delta: "",
        });
    }
    for (key, count) in work.adds().iter().take(CALLS) {
        let is_in_work = work.in_work().iter().any(|in_work| in_work.key == *key);
        lines.push(Line {
            look: "",
            left: name(key),
            text: if is_in_work { String::from("again, later") } else { String::from("waits") },
            right: format!("{count} {}", if *count == 1 { "add" } else { "adds" }),
            delta: "",
        });
    }
    if work.adds().len() > CALLS {
        let text = format!("and {} more", grouped((work.adds().len() - CALLS) as u64));
        lines.push(Line { look: "more", text, ..Line::default() });
    }
    let mut facts = vec![
        ("dirty, waits", grouped(ready as u64)),
        ("processing", grouped(work.in_work().len() as u64)),
        ("waiting for its time", grouped(later as u64)),
    ];
    facts.extend(work.next_due().map(|at| ("the next of them", format!("in {}", seconds(at - machine.now())))));
    let note = format!(
        "{} adds, {} reconciles: however often a key is added, it waits once.",
        grouped(added),
        grouped(attempts)
    );
    PartModel { lines, facts, note, ..PartModel::default() }
}

/// The steps around the present one.
fn steps(walk: &Walk) -> Vec<StepModel> {
    let now = walk.steps().len();
    let first = now.saturating_sub(STEPS.0 + 1);
    let later = walk.ahead(STEPS.0 + STEPS.1 + 1 - now.min(STEPS.0 + 1));
    let shown = walk.steps()[first..].iter().chain(&later);
    let mut before = None;
    let model = |(at, step): (usize, &Step)| {
        let (number, part) = (first + at + 1, step.part());
        StepModel {
            number,
            part: part.title(),
            begins: before.replace(part) != Some(part),
            delta: delta_of(step),
            words: short(step),
            state: match number.cmp(&now) {
                std::cmp::Ordering::Less => "past",
                std::cmp::Ordering::Equal => "now",
                std::cmp::Ordering::Greater => "later",
            },
        }
    };
    shown.enumerate().map(model).collect()
}

/// What happens in a step, in few words.
fn short(step: &Step) -> String {
    match &step.what {
        What::Started => String::from("The informer starts"),
        What::Listed { items, version } => format!("List: {} at {version}", grouped(*items as u64)),
        What::Replaced(rows) => {
            let count = |compared| rows.iter().filter(|row| row.compared() == compared).count();
            let counts = [(Compared::New, "new"), (Compared::Changed, "changed"), (Compared::Missing, "missing")];
            let counts =
                counts.map(|(compared, word)| (count(compared), word)).into_iter().filter(|(count, _)| *count > 0);
            let counts: Vec<String> = counts.map(|(count, word)| format!("{count} {word}")).collect();
            format!("Replace: {}", if counts.is_empty() { String::from("all the same") } else { counts.join(", ") })
        }
        What::Watches { from } => format!("Watch from {from}"),
        What::Event { delta_type, object, .. } => {
            format!("{} {}", name(&object.key), delta_word(*delta_type).to_lowercase())
        }
        What::Bookmark(version) => format!("Bookmark: seen up to {version}"),
        What::Lost(key) => format!("Lost: {}", key.as_ref().map_or_else(|| String::from("a bookmark"), name)),
        What::Ended(reason) => format!("Ended: {reason}"),
        What::Silent => String::from("Silence"),
        What::TimeOver => String::from("A time limit is over"),
        What::Resynced { again, left_out } => format!("Resync: {again} again, {} left out", left_out.len()),
        What::Popped(taken) => {
            let of = taken.key.as_ref().map_or_else(|| String::from("all"), name);
            format!("Pop {of}: {} → {}", plural(taken.deltas, "delta"), plural(taken.calls.len(), "call"))
        }
        What::Handler(_, Handled::Joined(count)) => format!("A handler joins, with {count} to add"),
        What::Handler(_, Handled::Called(call)) => {
            let Line { left, text, .. } = call_line("", call);
            format!("{text} {left}")
        }
        What::Handler(_, Handled::Skipped(call)) => format!("Not called: {}", call_line("", call).left),
        What::Worked(Worked::Due(count)) => format!("{} due", plural(*count, "key")),
        What::Worked(Worked::Took(work)) => format!("Work on {}", name(&work.key)),
        What::Worked(Worked::Done { work, failed: false }) => format!("Done: {}", name(&work.key)),
        What::Worked(Worked::Done { work, failed: true }) => format!("Failed: {}", name(&work.key)),
    }
}

fn plural(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

/// What went through from the server to the handlers.
fn sums(walk: &Walk) -> String {
    let (mut lists, mut events, mut bookmarks) = (0_u64, 0_u64, 0_u64);
    for step in walk.steps() {
        match &step.what {
            What::Listed { .. } => lists += 1,
            What::Event { .. } => events += 1,
            What::Bookmark(_) => bookmarks += 1,
            _ => {}
        }
    }
    let machine = walk.machine();
    let chosen = machine.settings().chosen;
    let counts = machine.queues().counts(chosen);
    let (added, attempts) = machine.work().counts();
    [
        format!("lists {}", grouped(lists)),
        format!("events {}", grouped(events)),
        format!("bookmarks {}", grouped(bookmarks)),
        format!("→ waits {}", grouped(machine.queues().len(chosen) as u64)),
        format!("→ pops {}", grouped(counts.pops)),
        format!("→ calls {}", grouped(counts.calls)),
        format!("→ adds {}", grouped(added)),
        format!("→ reconciles {}", grouped(attempts)),
    ]
    .join("  ")
}

/// The model as the page holds it.
pub type SharedInside = Option<Arc<InsideModel>>;
