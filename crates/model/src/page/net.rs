//! What is different between two moments: what the address asks for, and what is shown and written of it.

use kubechurn_changes::feed::{Entry, EntryId};
use kubechurn_client::api::cell::Tone;

use crate::feed::net::back::Course;
use crate::feed::net::export::{Head, NetFormat, write};
use crate::feed::net::{Asked, Net, Pair};
use crate::feed::{FeedRow, Piece};
use crate::navigation::route::Route;
use crate::page::context::Context;
use crate::page::effect::{Request, Slices};
use crate::page::links::{cluster_of, of_pair};
use crate::page::requests::Purpose;
use crate::page::time_words::TimeWords;
use crate::table::export::{Format, plain_name};
use crate::timeline::mark::MarkType;

/// What the address asks to be compared, while the feed is in view. Nothing is compared that is later than the moment that is
/// shown.
pub(super) fn asked(cx: &Context<'_>) -> Option<Asked> {
    let route = &cx.navigation.route;
    let span = route.span.filter(|_| route.net && route.changes)?;
    let last = cx.watching.moment.map_or(f64::INFINITY, |moment| moment.at);
    let kinds = cx.navigation.schema.kinds().iter();
    Some(Asked {
        ends: [span.from.min(last), span.to.min(last)],
        kinds: kinds.map(|kind| (*kind, cluster_of(&kind.resource, cx))).collect(),
        namespaces: route.namespaces.clone(),
    })
}

/// The two times, to be shown.
pub(super) fn ends(net: &Net, cx: &Context<'_>) -> [String; 2] {
    let [from, to] = net.times().map(|at| cx.words().time_of_day(at));
    [from, if net.moves_on() { String::from("now") } else { to }]
}

/// Where the two versions are of what a row shows that has these changes, and when the last one came.
pub(super) fn pair_of(net: &Net, seqs: &[u64]) -> Pair {
    let pairs = || seqs.iter().filter_map(|seq| net.pair(*seq));
    let last = pairs().next_back().unwrap_or_default();
    Pair { at: pairs().map(|pair| pair.at).fold(f64::NEG_INFINITY, f64::max), ..last }
}

/// Has a row show a difference rather than a change.
pub(super) fn show_pair(row: &mut FeedRow, pair: Pair, entry: Option<&Entry>, cx: &Context<'_>) {
    if row.what == "noise" {
        row.at = cx.shown_at();
        return;
    }
    row.at = pair.at;
    if !row.href.is_empty() {
        row.href = of_pair(pair, cx);
    }
    if row.delta.0 == MarkType::Replaced.name() && row.what != "field" {
        row.words.insert(0, Piece::plain("replaced, "));
    }
    if let Some(entry) = entry.filter(|entry| entry.count > 1) {
        row.repetition = format!("all {}", entry.count);
    }
}

/// Has a row say that fields of its objects were changed and changed back: below, where nothing else stands there; and that it opens.
pub(super) fn show_back(row: &mut FeedRow, net: &Net, entry: &Entry) {
    let courses = || entry.seqs.iter().flat_map(|seq| net.back_of(*seq));
    let fields = match courses().count() {
        0 => return,
        1 => String::from("1 field there and back"),
        fields => format!("{fields} fields there and back"),
    };
    if let Some(course) = courses().next().filter(|_| row.below.is_empty()) {
        row.below = words_of(&course.label, course.shown());
    }
    row.more = if row.more.is_empty() { format!("+ {fields}") } else { format!("{}, {fields}", row.more) };
    row.opens = true;
}

/// What a row shows of a field that was changed and changed back.
pub(super) fn row_of_course((id, seq): (EntryId, u64), course: &Course, depth: u8) -> FeedRow {
    let words = words_of(&course.path, course.whole());
    FeedRow { id, seq: Some(seq), words, depth: depth + 2, what: "field", ..FeedRow::default() }
}

fn words_of(path: &str, values: Vec<String>) -> Vec<Piece> {
    let piece = |text: String, what| Piece { text, what, tone: Tone::Plain };
    let mut words = vec![Piece::plain("there and back: "), piece(format!("{path} "), "path")];
    for (at, value) in values.into_iter().enumerate() {
        if at > 0 {
            words.push(piece(String::from(" → "), "arrow"));
        }
        words.push(piece(value, ""));
    }
    words
}

/// What is different, in a form in which it leaves the page.
pub(super) fn written(net: &Net, format: NetFormat, route: &Route, words: TimeWords<'_>) -> String {
    let is_json = format == NetFormat::JsonLines;
    let ends = net.times().map(|at| if is_json { words.rfc3339(at) } else { words.full(at) });
    let place = match &route.namespaces[..] {
        [] => String::from("in all namespaces"),
        [one] => format!("in namespace {one}"),
        several => format!("in namespaces {}", several.join(", ")),
    };
    let head = Head { ends: [&ends[0], &ends[1]], place: &place, filter: &route.text };
    write(net, format, head, &|at| if is_json { words.rfc3339(at) } else { words.time_of_day(at) })
}

/// Copies what is different, or saves it.
pub(super) fn export(net: &Net, format: NetFormat, cx: &mut Context<'_>) {
    let (words, route) = (cx.words(), &cx.navigation.route);
    let text = written(net, format, route, words);
    if format == NetFormat::JsonLines {
        let rows = text.lines().count();
        let name = plain_name("differences", &route.namespaces, &words.for_file(net.times()[1]), "ndjson");
        let media_type = Format::Json.media_type();
        let slices = Box::new(Slices::Text(text, rows));
        cx.request(Purpose::Save(name.clone()), Request::Save { name, media_type, slices });
    } else {
        cx.request(Purpose::Copy(format.words(), text.clone()), Request::Copy(text));
    }
}
