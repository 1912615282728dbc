//! An informer from the inside, step by step: a stream of a few objects, with breaks, played to and fro.

use std::fmt::Write as _;
use std::sync::Arc;

use kubechurn_client::api::object::{ObjectKey, ResourceVersion};
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::cache::store::Store;
use kubechurn_client::testing::{object, status, write_object};
use kubechurn_model::inside::{
    Break, BreakKind, Frame, HandlerOptions, Inside, Machine, Part, ReconcilerOptions, Server, Settings, Slot, Step,
    Until, What, Which, written,
};

/// What breaks, and what heals it.
mod breaks;
/// Handlers and the work queue.
mod handlers;
/// The lessons, and what their captions claim.
mod lessons;
/// Steps to and fro.
mod steps;

/// A frame in words: `[10 a@1 b@2` is a list, `+a@3`, `~a@4` and `-a@5` are events, `=6` is a bookmark, `410` an error and
/// `close` the end of the connection.
fn frame(words: &str) -> Frame {
    let (sign, rest) = words.split_at(1);
    let event = |delta_type| Frame::Event { delta_type, text: object(rest).into() };
    match sign {
        "[" => {
            let mut words = rest.split(' ');
            let version = ResourceVersion::new(words.next().unwrap());
            Frame::List { version, items: words.map(|item| Arc::from(object(item))).collect() }
        }
        "+" => event(DeltaType::Added),
        "~" => event(DeltaType::Updated),
        "-" => event(DeltaType::Deleted),
        "=" => Frame::Bookmark(ResourceVersion::new(rest)),
        "4" => Frame::Error(status("410 Expired too old").into()),
        _ => Frame::Closed(1000),
    }
}

/// A stream with a frame each second.
fn server(frames: &[&str]) -> Server {
    let mut server = Server::default();
    for (at, words) in frames.iter().enumerate() {
        server.push(at as f64 * 1000.0, frame(words));
    }
    server
}

fn inside(frames: &[&str], settings: Settings) -> Inside {
    Inside::new(server(frames), settings, 0.0)
}

/// Goes forward until something happens, or by so many steps. Returns whether it happened.
fn forward_until(inside: &mut Inside, until: &Until, most: usize) -> bool {
    (0..most).map_while(|_| inside.forward().map(|step| until.is(step))).any(|is_it| is_it)
}

/// Breaks before an entry of the server's log, which does not count the first list.
fn broken(entry: usize, kind: BreakKind) -> Settings {
    Settings { breaks: vec![Break { entry, kind }], ..Settings::default() }
}

/// Plays to the end, and returns the sentences.
fn play(inside: &mut Inside) -> Vec<String> {
    let mut words = Vec::new();
    while let Some(step) = inside.forward() {
        words.push(step.words());
    }
    words
}

fn objects(store: &Store) -> String {
    store.list().iter().map(|object| write_object(object)).collect::<Vec<_>>().join(" ")
}

fn store(inside: &Inside, which: Which) -> String {
    objects(inside.machine().queues().store(which))
}

/// What the server has in the end.
fn truth(inside: &Inside) -> String {
    let (_, items) = inside.server().list_after(inside.server().len());
    items.iter().map(|(object, _)| write_object(object)).collect::<Vec<_>>().join(" ")
}

/// Everything that can be seen of a machine.
fn seen(machine: &Machine) -> String {
    let mut text = format!(
        "{} at {}: {:?} because {} at {}",
        machine.number(),
        machine.now(),
        machine.request(),
        machine.reason(),
        machine.reflector().resource_version(),
    );
    let mut line = |part: String| write!(text, "\n{part}").unwrap();
    line(format!("{:?}", machine.last()));
    for which in Which::ALL {
        let queues = machine.queues();
        line(format!("{:?} {}", queues.counts(which), queues.has_synced(which)));
        line(format!("{:?}", queues.slots(which, usize::MAX)));
        line(objects(queues.store(which)));
    }
    for (at, handler) in machine.handlers().handlers().iter().enumerate() {
        let (place, behind) = (handler.place(), machine.handlers().behind(at));
        line(format!("{} {place} {behind} {}", handler.name(), handler.calls()));
    }
    let (first, log) = machine.handlers().log();
    line(format!("{first} {:?}", log.iter().map(written).collect::<Vec<_>>()));
    line(format!("{:?} {:?} {:?}", machine.work().in_work(), machine.work().waiting(), machine.work().counts()));
    text
}

/// What waits in a queue: for each slot its words and versions.
fn slots(machine: &Machine, which: Which) -> String {
    let slot = |slot: &Slot| {
        let entry = |entry: &kubechurn_model::inside::SlotEntry| {
            let object = entry.object.as_ref().map(|object| write_object(object)).unwrap_or_default();
            let sign = if entry.is_tombstone { "!" } else { "" };
            let times = if entry.stands_for > 1 { format!(" x{}", entry.stands_for) } else { String::new() };
            format!("{sign}{} {object}{times}", entry.word)
        };
        slot.entries.iter().map(entry).collect::<Vec<_>>().join(", ")
    };
    machine.queues().slots(which, 99).iter().map(slot).collect::<Vec<_>>().join(" | ")
}

/// The place in which each step happened, and what it is called in client-go.
fn parts(inside: &mut Inside) -> Vec<(Part, String)> {
    let mut parts = Vec::new();
    while let Some(step) = inside.forward() {
        parts.push((step.part(), step.client_go()));
    }
    parts
}
