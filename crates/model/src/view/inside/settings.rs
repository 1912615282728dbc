//! What can be set, and to what.

use crate::inside::{Change, Part, SLOW, Settings};
use crate::view::inside::model::SettingModel;
use crate::view::seconds;

/// The parts to which the settings belong, in their order.
pub const SETTINGS: [Part; 9] = [
    Part::Reflector,
    Part::Reflector,
    Part::Queue,
    Part::Pop,
    Part::Handlers,
    Part::WorkQueue,
    Part::WorkQueue,
    Part::WorkQueue,
    Part::WorkQueue,
];

pub(super) fn settings_model(settings: &Settings) -> Vec<SettingModel> {
    let slow = settings.handlers.iter().find(|handler| handler.name == SLOW).map_or(0.0, |handler| handler.takes);
    let pop = Some(settings.pop_takes).filter(|takes| takes.is_finite());
    let reconciler = settings.reconciler;
    let all: [(&'static str, &[Change], Change); 9] = [
        (
            "Resync",
            &[Change::Resync(None), Change::Resync(Some(5_000.0)), Change::Resync(Some(30_000.0))],
            Change::Resync(settings.resync),
        ),
        ("Streaming list", &[Change::Streams(false), Change::Streams(true)], Change::Streams(settings.streams)),
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
        Change::Atomic(is_on) | Change::Streams(is_on) | Change::Forgets(is_on) => {
            String::from(if is_on { "on" } else { "off" })
        }
        _ => String::new(),
    }
}
