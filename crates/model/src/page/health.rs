//! The health of the watches, while it is shown: what is known of each, what it asked of its server, and what that costs.

use kubechurn_client::api::release::Release;
use kubechurn_client::cache::reflector::{Traffic, WatchEnd};
use kubechurn_client::cache::shared_informer::SharedInformer;

use crate::page::context::Context;
use crate::page::status::place;
use crate::timeline::mark::grouped;
use crate::view::health::{HealthModel, HealthRow};
use crate::view::{self, ago, bytes, bytes_of, chart};
use crate::watches::course::{Course, received};

/// Of so many relists the reasons are shown.
const REASONS: usize = 3;

/// The most seats that a list takes in the server's queues, how many objects are one seat before 1.34, how many bytes are one
/// seat since, and how many objects are on a page (`list_work_estimator.go`).
const SEATS: u64 = 10;
const OBJECTS_A_SEAT: u64 = 100;
const BYTES_A_SEAT: f64 = 100_000.0;
const PAGE: u64 = 500;
const BY_SIZE: Release = Release { major: 1, minor: 34 };

/// Whose watches are shown.
const OWN: &str = "The watches of this page. To the API server each is a client like a controller's informer.";
const REWOUND: &str = "These are the watches as they are now, and not at the moment that the page shows.";
const RECORDED: &str = "The watches of the recording, as far as its file has them. This page asks no server for anything, and what \
                        was asked then is not in the file.";

/// Shows the health of the watches where the address asks for it: `is_due` is whether it is time to show it anew.
pub(super) fn present(is_due: bool, cx: &mut Context<'_>) {
    let (is_open, is_shown) = (cx.navigation.route.health, cx.view.dialogs.health.is_some());
    match (is_open, is_shown) {
        (false, true) => cx.view.dialogs.health.put(None),
        (true, false) => cx.view.dialogs.health.put(Some(model(cx))),
        (true, true) if is_due => cx.view.dialogs.health.put(Some(model(cx))),
        _ => {}
    }
}

fn model(cx: &Context<'_>) -> HealthModel {
    let is_recorded = cx.navigation.recorded.is_some();
    let whose = match (is_recorded, cx.watching.moment) {
        (true, _) => RECORDED,
        (false, Some(_)) => REWOUND,
        (false, None) => OWN,
    };
    let informers = &cx.watching.informers;
    let rows = informers.iter().filter_map(|(id, informer)| {
        let (resource, scope) = informers.of(id)?;
        let kind = cx.navigation.catalog.of_resource(&resource);
        let nothing = Course::default();
        let course = cx.watching.courses.of(id).unwrap_or(&nothing);
        let row = if is_recorded { recorded(informer, course, cx) } else { row(informer, course, cx) };
        Some(HealthRow {
            title: kind.map_or(resource.kind, |kind| kind.title),
            scope: place(scope),
            state: cx.navigation.state(informer.health(cx.now).word()),
            lists: lists(informer.ledger().lists, course.relisted),
            so_far: bytes_of(informer.ledger().bytes as f64),
            ..row
        })
    });
    HealthModel { whose: whose.to_owned(), rows: rows.collect(), total: total(is_recorded, cx) }
}

fn row(informer: &SharedInformer, course: &Course, cx: &Context<'_>) -> HealthRow {
    let (reflector, ledger) = (informer.reflector(), informer.ledger());
    let traffic = reflector.traffic();
    let since = |at: Option<f64>| at.map(|at| ago(cx.now - at));
    let (events, per_second) = course.rates(received(ledger, cx.now));
    let bars = course.bars();
    let mut words = Vec::new();
    if let Some(failure) = reflector.failure() {
        let again = reflector.retry_at().map(|at| view::seconds((at - cx.now).max(0.0)));
        let again = again.map_or_else(String::new, |wait| format!(" It is tried again in {wait}."));
        words.push(format!("It fails: {}.{again}", failure.words));
    }
    words.extend(reasons(course, cx));
    words.extend(ends(traffic));
    words.extend(asked(traffic, course));
    let average = ledger.bytes as f64 / (ledger.listed + ledger.events).max(1) as f64;
    words.push(seats(informer.store().len() as u64, average, cx.navigation.catalog.release()));
    HealthRow {
        version: reflector.resource_version().to_string(),
        heard: since(reflector.heard()).unwrap_or_default(),
        bookmark: since(traffic.bookmark).unwrap_or_else(|| String::from("none yet")),
        events: format!("{events:.1}"),
        bytes: bytes(per_second),
        charts: [chart(&bars[0]), chart(&bars[1]), chart(&bars[2].map(|count| count.min(1)))],
        words,
        ..HealthRow::default()
    }
}

/// Of a watch in a recording the file has its lists, its changes, and why it was lost.
fn recorded(informer: &SharedInformer, course: &Course, cx: &Context<'_>) -> HealthRow {
    // Before the first change, the list has a version of its own here, which is none of the server's.
    let version = informer.reflector().resource_version().to_string();
    HealthRow {
        version: if informer.ledger().events > 0 { version } else { String::new() },
        words: reasons(course, cx).collect(),
        ..HealthRow::default()
    }
}

/// What all watches together have asked for.
fn total(is_recorded: bool, cx: &Context<'_>) -> String {
    let ledger = cx.watching.ledger();
    let came = format!(
        "{} came in {} events and {} lists",
        bytes_of(ledger.bytes as f64),
        grouped(ledger.events),
        ledger.lists
    );
    if is_recorded {
        return format!("Together: {came}.");
    }
    let all = cx.watching.informers.iter().map(|(id, informer)| {
        let Traffic { lists, watches, probes, .. } = informer.reflector().traffic();
        let course = cx.watching.courses.of(id);
        lists + watches + probes + course.map_or(0, |course| course.proofs + course.compared)
    });
    let rates = cx
        .watching
        .informers
        .iter()
        .filter_map(|(id, informer)| Some(cx.watching.courses.of(id)?.rates(received(informer.ledger(), cx.now))));
    let (events, per_second) = rates.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    format!("Together: {events:.1} events/s and {}; {came}, for {} requests.", bytes(per_second), grouped(all.sum()))
}

/// Complete lists: `1`, or `3, of which 2 again`.
fn lists(all: u64, again: u64) -> String {
    if again == 0 { all.to_string() } else { format!("{all}, of which {again} again") }
}

/// Why everything was listed again, newest first.
fn reasons(course: &Course, cx: &Context<'_>) -> impl Iterator<Item = String> {
    course.relists().take(REASONS).map(|relist| {
        let objects = if relist.items == 1 { "object" } else { "objects" };
        format!(
            "Listed again at {} ({}): {} {objects}.",
            cx.words().to_second(relist.at),
            relist.reason,
            grouped(relist.items as u64),
        )
    })
}

/// How watches ended, if any did.
fn ends(traffic: &Traffic) -> Option<String> {
    let words = traffic.ends.iter().map(|(end, count)| match end {
        WatchEnd::Closed(code) => format!("{count} × close code {code}"),
        WatchEnd::Error(code) => format!("{count} × ERROR {code}"),
        WatchEnd::GivenUp => format!("{count} × given up here"),
    });
    let words = words.collect::<Vec<_>>().join(", ");
    (!words.is_empty()).then(|| format!("Watches ended: {words}."))
}

/// What was asked of the server.
fn asked(traffic: &Traffic, course: &Course) -> Option<String> {
    let parts = [
        (traffic.lists, "page of a list", "pages of lists"),
        (traffic.watches, "watch", "watches"),
        (traffic.probes, "question why one was refused", "questions why one was refused"),
        (course.proofs, "question whether it is alive", "questions whether it is alive"),
        (course.compared, "page to compare with", "pages to compare with"),
    ];
    let words = parts.into_iter().filter(|(count, ..)| *count > 0).map(|(count, one, several)| match count {
        1 => format!("1 {one}"),
        _ => format!("{} {several}", grouped(count)),
    });
    let words = words.collect::<Vec<_>>().join(", ");
    (!words.is_empty()).then(|| format!("Asked for: {words}."))
}

/// How many seats the next list takes in the server's queues (priority and fairness). The server knows the size of its objects in
/// etcd, which is less than what it sends.
fn seats(objects: u64, average: f64, release: Option<Release>) -> String {
    let by_count = objects.div_ceil(OBJECTS_A_SEAT).clamp(1, SEATS);
    let by_size = (objects.min(PAGE) as f64 * average / BYTES_A_SEAT).ceil().clamp(1.0, SEATS as f64) as u64;
    let (most, exactly) = match release {
        Some(release) if release < BY_SIZE => (by_count, "takes"),
        Some(_) => (by_size, "takes up to"),
        None => (by_count.max(by_size), "takes up to"),
    };
    format!("A list {exactly} {most} {}, a watch 1 until it is open.", if most == 1 { "seat" } else { "seats" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_and_how_it_ended_is_said_as_far_as_it_happened() {
        let traffic = Traffic {
            lists: 2,
            watches: 1234,
            ends: vec![(WatchEnd::Closed(1000), 3), (WatchEnd::Error(410), 1), (WatchEnd::GivenUp, 1)],
            ..Traffic::default()
        };
        let mut course = Course::default();
        course.proofs = 1;
        let words = "Asked for: 2 pages of lists, 1,234 watches, 1 question whether it is alive.";
        assert_eq!(asked(&traffic, &course).as_deref(), Some(words));
        assert_eq!(asked(&Traffic::default(), &Course::default()), None);
        let ended = "Watches ended: 3 × close code 1000, 1 × ERROR 410, 1 × given up here.";
        assert_eq!(ends(&traffic).as_deref(), Some(ended));
        assert_eq!(ends(&Traffic::default()), None);
        assert_eq!((lists(1, 0), lists(3, 2)), (String::from("1"), String::from("3, of which 2 again")));
    }

    /// `list_work_estimator_test.go` has the same numbers for lists from the cache.
    #[test]
    fn a_list_s_seats_are_counted_before_1_34_and_bounded_by_its_size_since() {
        let check = |objects, average, minor: Option<u32>, words: &str| {
            let release = minor.map(|minor| Release { major: 1, minor });
            assert_eq!(seats(objects, average, release), format!("A list takes {words}, a watch 1 until it is open."));
        };
        check(0, 0.0, Some(33), "1 seat");
        check(101, 90_000.0, Some(33), "2 seats");
        check(30_000, 10.0, Some(33), "10 seats");
        check(50, 5_000.0, Some(36), "up to 3 seats");
        check(30_000, 500.0, Some(36), "up to 3 seats");
        check(30_000, 9_000.0, Some(36), "up to 10 seats");
        check(250, 100.0, None, "up to 3 seats");
    }
}
