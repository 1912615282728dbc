//! What is shown of the inside of an informer: every part of the machinery after one step.

mod model;
mod parts;
mod settings;
mod steps;
mod words;

pub use model::*;
pub use settings::SETTINGS;

use crate::inside::{BreakKind, Part, Request, Step, Walk, What, Which, lesson, same_kind};
use crate::timeline::mark::grouped;
use crate::view::seconds;

use self::parts::{handlers, left_out, pop, queue, reflector, server, store, work_queue};
use self::settings::settings_model;
use self::steps::{steps, sums};

/// Shows a walk. What only the page knows is filled in by it.
pub fn inside_model(walk: &Walk) -> InsideModel {
    let machine = walk.machine();
    let last = machine.last();
    let number = walk.steps().len();
    let (sentence, client_go) = match last {
        Some(step) => (step.words(), step.client_go()),
        None => (String::from("Nothing has happened yet. The next step starts the informer."), String::new()),
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
    let mut pauses: Vec<(String, String)> = [
        ("", "never"),
        ("replace", "when a list is compared"),
        ("tombstone", "when a handler gets a tombstone"),
        ("ended", "when the watch ends"),
    ]
    .map(|(word, title)| (word.to_owned(), title.to_owned()))
    .to_vec();
    pauses.extend(walk.keys().iter().map(|key| (key.to_string(), format!("when {key} is popped"))));
    let caption = caption(walk);
    InsideModel {
        title: walk.stream().title.clone(),
        notes: walk.stream().notes.join(" "),
        number,
        of: walk.end().map(|end| format!("of {}", grouped(end as u64))).unwrap_or_default(),
        time: seconds(machine.now() - walk.stream().begins),
        client_go,
        rules: last.map(Step::rules).unwrap_or_default(),
        stands_alone: !walk.place().lesson.is_empty(),
        is_end: walk.end() == Some(number),
        pauses,
        broken: broken.and_then(|broken| BreakKind::ALL.iter().position(|kind| same_kind(*kind, broken.kind))),
        breaks: breaks.collect(),
        can_break: cursor < walk.server().len(),
        about: walk.caption().map(|(_, caption)| caption.part).or(last.map(Step::part)),
        state: match (last.map(|step| &step.what), machine.request()) {
            (Some(What::Replaced { .. }), _) => "replace",
            (_, Request::Idle) => "",
            (_, Request::List { .. } | Request::Stream { .. }) => "list",
            (_, Request::Watch { .. }) => "watch",
            (_, Request::Wait | Request::Probe) => "wait",
        },
        parts: parts.collect(),
        queues: Which::ALL.iter().map(|which| queue(*which, walk)).collect(),
        settings: settings_model(&settings),
        steps: steps(walk),
        sums: sums(walk),
        spoken: match caption.words {
            "" => format!("Step {number}. {sentence}"),
            words => format!("{}: {words} Step {number}. {sentence}", caption.place),
        },
        sentence,
        caption,
        ..InsideModel::default()
    }
}

/// What a lesson says.
fn caption(walk: &Walk) -> CaptionModel {
    let Some(lesson) = lesson(&walk.place().lesson) else { return CaptionModel::default() };
    let all = lesson.captions.len();
    match walk.caption() {
        Some((at, caption)) => CaptionModel {
            lesson: lesson.id,
            place: format!("{} of {all}, {}", at + 1, caption.part.title()),
            words: caption.words,
            is_last: at + 1 == all,
        },
        None => CaptionModel {
            lesson: lesson.id,
            place: String::from("The lesson says nothing of this step."),
            ..CaptionModel::default()
        },
    }
}

fn changes_store(step: &Step) -> bool {
    matches!(&step.what, What::Popped(_) | What::Replaced { .. })
}
