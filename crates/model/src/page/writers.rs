//! The writers, while they are shown: surveys what was written, a share of each frame's time.

use crate::page::context::Context;
use crate::page::links::of_change;
use crate::timeline::mark::grouped;
use crate::timeline::scene::duration;
use crate::view::writers::{KindRow, WriteRow, WriterRow, WritersModel};
use crate::writers::progress::{Progress, Times};
use crate::writers::{MOST, Survey, Write, Writer};

/// How long a frame may read, in milliseconds.
const SHARE: f64 = 6.0;
/// By how much a moment may move on before the survey begins anew, in milliseconds.
const MOVES: f64 = 60_000.0;

/// The survey, while it is shown.
#[derive(Debug, Default)]
pub(super) struct Writers {
    survey: Option<Survey>,
    /// The moment that it began with, in milliseconds.
    at: f64,
    /// What is shown; nothing is made anew for the same.
    shown: Option<(String, f64)>,
}

impl Writers {
    /// Reads on while the address asks for it, and shows what was found: `is_due` is whether it is time to show it anew.
    pub(super) fn work(&mut self, is_due: bool, cx: &mut Context<'_>) {
        let Some(name) = cx.navigation.route.writers.clone() else {
            if self.survey.take().is_some() || cx.view.dialogs.writers.is_some() {
                self.shown = None;
                cx.view.dialogs.writers.put(None);
            }
            return;
        };
        let history = &cx.watching.history;
        let at = cx.shown_at();
        let until = cx.watching.moment.map_or(history.received(), |moment| moment.received);
        let is_elsewhere = cx.watching.moment.is_some() && !(self.at..=self.at + MOVES).contains(&at);
        if self.survey.is_none() || is_elsewhere {
            self.survey = Some(Survey::begin(at, until, history));
            (self.at, self.shown) = (at, None);
        }
        let Some(survey) = &mut self.survey else { return };
        let end = cx.env.work_clock() + SHARE;
        let env = cx.env;
        let is_left = survey.work(until, history, || env.work_clock() < end);
        let is_other = self.shown.as_ref().is_none_or(|(shown, _)| *shown != name);
        let is_read = self.shown.as_ref().is_some_and(|(_, to)| *to < survey.to);
        if is_other || (is_due && (is_read || is_left)) {
            self.shown = Some((name.clone(), survey.to));
            let model = model(survey, &name, is_left, cx);
            cx.view.dialogs.writers.put(Some(model));
        }
        if is_left {
            cx.hurry();
        }
    }
}

fn model(survey: &Survey, name: &str, is_left: bool, cx: &Context<'_>) -> WritersModel {
    let minutes = ((cx.shown_at() - survey.from) / 60_000.0).max(1.0 / 60.0);
    let mut span = match is_left {
        true => String::from("Being read. "),
        false => String::new(),
    };
    span += &match survey.is_cut {
        true => format!("The last {} versions, since {}. ", grouped(MOST), cx.words().to_second(survey.from)),
        false if survey.to <= survey.from => String::from("Nothing was written yet that is kept. "),
        false => format!("Since {}. ", cx.words().to_second(survey.from)),
    };
    if survey.of_nobody > 0 {
        span += &format!("Of {} changes nobody is known, as of a deletion. ", grouped(survey.of_nobody));
    }
    let chosen = survey.writer(name);
    WritersModel {
        span: span.trim_end().to_owned(),
        rows: survey.writers().into_iter().map(|(name, writer)| row(name, writer, minutes, cx)).collect(),
        writes: chosen.iter().flat_map(|writer| writer.last.iter().rev()).map(|write| write_row(write, cx)).collect(),
        chosen: chosen.map(|_| name.to_owned()).unwrap_or_default(),
        kinds: survey.course.kinds().into_iter().map(|(kind, progress)| kind_row(&kind, &progress)).collect(),
    }
}

fn row(name: &str, writer: &Writer, minutes: f64, cx: &Context<'_>) -> WriterRow {
    let a_minute = |count: u64| match count as f64 / minutes {
        many if many >= 9.95 => format!("{many:.0}"),
        few => format!("{few:.1}"),
    };
    let busiest = writer.busiest().filter(|(_, _, count)| *count > 1);
    WriterRow {
        name: name.to_owned(),
        how: if writer.is_user { "user" } else { "inferred" },
        writes: grouped(writer.writes),
        a_minute: a_minute(writer.writes),
        objects: grouped(writer.objects.len() as u64),
        nothing: counted(writer.nothing),
        conflicts: counted(cx.watching.history.who.conflicts(name)),
        busiest: busiest.map_or_else(String::new, |(kind, key, count)| format!("{kind} {key}: {}", a_minute(count))),
        after: match (times(&writer.after), writer.unanswered) {
            (after, 0) => after,
            (after, nothing) if after.is_empty() => format!("{} answer nothing", grouped(nothing)),
            (after, nothing) => format!("{after}; {} answer nothing", grouped(nothing)),
        },
    }
}

fn counted(count: u64) -> String {
    if count == 0 { String::new() } else { grouped(count) }
}

fn times(times: &Times) -> String {
    times
        .middle_and_longest()
        .map_or_else(String::new, |(middle, longest)| format!("{}, at most {}", duration(middle), duration(longest)))
}

fn write_row(write: &Write, cx: &Context<'_>) -> WriteRow {
    let history = &cx.watching.history;
    let answered = write.answer.and_then(|answer| {
        let of = history.of_number(answer.seq)?;
        let after = duration(write.at - answer.at);
        Some(format!("{after} after {}: {} {}", answer.tie.words(), of.resource.kind, of.key))
    });
    WriteRow {
        time: cx.words().time_of_day(write.at),
        at: write.at,
        what: format!("{} {}", write.kind, write.key),
        words: write.words.clone(),
        href: of_change(Some(write.seq), cx),
        answer: answered.unwrap_or_else(|| String::from("nothing that is known")),
        answer_href: of_change(write.answer.map(|answer| answer.seq), cx),
    }
}

fn kind_row(kind: &str, progress: &Progress) -> KindRow {
    let [unseen, unready] = progress.waiting;
    let waits = [(unseen, "to be seen"), (unready, "to be ready")];
    let waits = waits.iter().filter(|(count, _)| *count > 0);
    KindRow {
        kind: kind.to_owned(),
        asked: grouped(progress.asked as u64),
        seen: times(&progress.seen),
        ready: times(&progress.ready),
        waits: waits.map(|(count, what)| format!("{count} {what}")).collect::<Vec<_>>().join(", "),
    }
}
