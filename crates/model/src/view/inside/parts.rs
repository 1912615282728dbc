//! What is in each part after a step.

use kubechurn_client::api::object::{ObjectKey, ResourceVersion};
use kubechurn_client::api::sort;
use kubechurn_client::cache::client_go::Call;
use rustc_hash::FxHashMap;

use crate::inside::{
    BreakKind, Compared, Held, Machine, Sent, Slot, SlotEntry, Step, Walk, What, Which, Worked, plural,
};
use crate::timeline::mark::{MarkType, grouped};
use crate::view::inside::model::{Line, PartModel, QueueModel, SlotModel};
use crate::view::inside::words::{call_line, name};
use crate::view::seconds;
use crate::view::words::bytes_of;

/// So many slots of a queue are shown.
const SLOTS: usize = 9;
/// So many deltas of one slot are shown.
const DELTAS: usize = 4;
/// So many rows of the store, and of a comparison, are shown.
const ROWS: usize = 12;
/// So many calls that wait for a handler are shown.
const CALLS: usize = 6;
/// So much of what was heard, of what was not, and of what comes next is shown of the server's log.
const HEARD: (usize, usize, usize) = (11, 4, 3);

/// The server's log: what was heard, what has happened and was not, and what comes next.
pub(super) fn server(walk: &Walk) -> PartModel {
    let (heard, unheard, later) = HEARD;
    let mut lines: Vec<Line> = Vec::new();
    let (mut is_compacted, mut has_mark) = (false, false);
    for step in walk.steps().iter().rev() {
        let Some(line) = sent(step, &walk.stream().title) else { continue };
        if lines.len() >= heard {
            break;
        }
        // A version that is too old was compacted, and so was everything before it.
        if !is_compacted || line.left.is_empty() {
            lines.push(line);
        } else {
            if !std::mem::replace(&mut has_mark, true) {
                let left = line.left.clone();
                lines.push(Line { look: "mark", left, text: "compacted".into(), ..Line::default() });
            }
            lines.push(Line { look: if line.look == "list" { "list compacted" } else { "compacted" }, ..line });
        }
        is_compacted |= step.is_gone();
    }
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
                delta: MarkType::from(*delta_type).name(),
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
    if is_now && let Some(line) = lines.iter_mut().rfind(|line| !matches!(line.look, "unheard" | "later" | "mark")) {
        line.look = match line.look {
            "list" => "list now",
            "cut" => "cut now",
            "watch" => "watch now",
            _ => "now",
        };
    }
    let note = match () {
        () if walk.passed().is_gone => String::from(
            "The server does not remember what came after the version that was asked for, so it cannot send that: 410 Gone. \
             Only a new list helps.",
        ),
        () if walk.machine().connection().is_silent() => String::from("The connection is open, and nothing comes."),
        () if happened > unheard => {
            format!("{} more have happened, and were not heard.", grouped((happened - unheard) as u64))
        }
        () => String::new(),
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
            text: format!("LIST of {title}: {}", grouped(*items as u64)),
            ..Line::default()
        },
        What::Watches { streams: true, .. } => {
            Line { look: "list", delta: "Replaced", text: "WATCH with the list".into(), ..Line::default() }
        }
        What::Streamed(object) => Line {
            look: "list",
            delta: "Added",
            left: object.resource_version.to_string(),
            text: name(&object.key),
            ..Line::default()
        },
        What::Replaced { bookmark: Some(version), .. } => Line {
            look: "list",
            delta: "Bookmark",
            left: version.to_string(),
            text: "bookmark: “that is all”".into(),
            ..Line::default()
        },
        What::Watches { from, .. } => Line { look: "watch", text: format!("WATCH from {from}"), ..Line::default() },
        What::Event { delta_type, object, broken } => Line {
            look: "",
            delta: MarkType::from(*delta_type).name(),
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

pub(super) fn reflector(walk: &Walk) -> PartModel {
    let machine = walk.machine();
    let version = machine.reflector().resource_version();
    let passed = walk.passed();
    let ago = |at: f64| format!("{} ago", seconds(machine.now() - at));
    let mut facts = vec![
        ("version", if version.is_unset() { String::from("none yet") } else { version.to_string() }),
        ("lists", passed.lists.to_string()),
        ("watches", passed.watches.to_string()),
    ];
    facts.extend(machine.reflector().heard().map(|at| ("heard", ago(at))));
    facts.extend(passed.bookmark.map(|at| ("bookmark", ago(at))));
    facts.extend(machine.reflector().retry_at().map(|at| ("backoff", seconds(at - machine.now()))));
    PartModel { facts, note: format!("Because {}.", machine.reason()), ..PartModel::default() }
}

/// What a resync leaves out.
pub(super) fn left_out(last: Option<&Step>) -> String {
    match last.map(|step| &step.what) {
        Some(What::Resynced { again, left_out }) if !left_out.is_empty() => {
            let names: Vec<String> = left_out.iter().take(4).map(name).collect();
            format!(
                "The resync queues {again} again, and leaves out {}{}: something newer of them waits already (syncKeyLocked).",
                names.join(", "),
                if left_out.len() > names.len() { " and others" } else { "" }
            )
        }
        Some(What::Replaced { rows, .. }) if rows.iter().any(|row| row.compared() == Compared::Missing) => {
            String::from(
                "What is missing in the list gets a tombstone (DeletedFinalStateUnknown). It has the last state that is known: what \
             happened to the object after that was never heard.",
            )
        }
        _ => String::new(),
    }
}

pub(super) fn queue(which: Which, walk: &Walk) -> QueueModel {
    let machine = walk.machine();
    let queues = machine.queues();
    let (len, counts) = (queues.len(which), queues.counts(which));
    let slots = queues.slots(which, SLOTS);
    let Held { stands_for: stands, objects } = queues.held(which);
    let bytes: u64 = objects.iter().map(|object| walk.server().bytes_of(object)).sum();
    let waits = match len {
        0 => String::from("nothing waits"),
        1 => format!("1 entry for {}", grouped(stands)),
        len => format!("{} entries for {}", grouped(len as u64), grouped(stands)),
    };
    QueueModel {
        is_chosen: machine.settings().chosen == which,
        waits,
        slots: slots.iter().map(|slot| slot_model(which, slot, machine)).collect(),
        more: if len > slots.len() {
            format!("and {} more", grouped((len - slots.len()) as u64))
        } else {
            String::new()
        },
        holds: match bytes {
            0..1_000 => format!("{bytes} bytes"),
            1_000..10_000 => format!("{:.1} kB", bytes as f64 / 1e3),
            _ => bytes_of(bytes as f64),
        },
        done: format!("{}, {}", plural(counts.pops as usize, "pop"), plural(counts.calls as usize, "call")),
        most: format!("at most {}", grouped(counts.most as u64)),
    }
}

fn slot_model(which: Which, slot: &Slot, machine: &Machine) -> SlotModel {
    let key = slot.entries.first().and_then(|entry| entry.object.as_ref()).map(|object| name(&object.key));
    let hidden = slot.entries.len().saturating_sub(DELTAS);
    let mut lines: Vec<Line> = Vec::new();
    if hidden > 0 {
        lines.push(Line { text: format!("{hidden} older"), ..Line::default() });
    }
    // What a step brings stands last in its slot; in the RealFIFO it has a slot of its own.
    let can_be_new = which != Which::RealFifo || slot.since == machine.now();
    let last = slot.entries.len() - usize::from(!slot.entries.is_empty());
    let shown = slot.entries.iter().enumerate().skip(hidden);
    lines.extend(shown.map(|(at, entry)| {
        let is_new = can_be_new && at == last && is_new(entry, machine.last());
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
        Some(What::Replaced { .. }) => entry.is_tombstone || entry.word.starts_with("Replaced"),
        Some(What::Resynced { .. }) => entry.word.starts_with("Sync"),
        Some(What::Bookmark(_)) => entry.word == "Bookmark",
        _ => false,
    }
}

pub(super) fn pop(machine: &Machine) -> PartModel {
    let chosen = machine.settings().chosen;
    if let Some(What::Popped(taken)) = machine.last().map(|step| &step.what) {
        let key = taken.key.as_ref().map_or_else(|| String::from("all objects"), name);
        let calls = taken.calls.iter().take(CALLS).map(|call| Line {
            // The key stands above already where all calls are of one.
            left: if taken.key.is_some() { String::new() } else { name(call.key()) },
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
            let SlotModel { key, age, lines } = slot_model(chosen, slot, machine);
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
pub(super) fn store(walk: &Walk) -> PartModel {
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
    if let Some(What::Replaced { rows, .. }) = machine.last().map(|step| &step.what) {
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
        Some(What::Popped(taken)) => taken.calls.iter().map(Call::key).collect(),
        _ => Vec::new(),
    };
    let (_, truth) = walk.server().list_after(walk.server().happened(machine.now()));
    let mut truth: FxHashMap<ObjectKey, ResourceVersion> =
        truth.into_iter().map(|(object, _)| (object.key.clone(), object.resource_version.clone())).collect();
    let mut objects = machine.queues().store(machine.settings().chosen).list();
    sort::sort_by(&mut objects, |a, b| a.key.cmp(&b.key));
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
    sort::sort_by(&mut missing, |a, b| a.0.cmp(&b.0));
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

pub(super) fn handlers(machine: &Machine) -> PartModel {
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

pub(super) fn work_queue(walk: &Walk) -> PartModel {
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
