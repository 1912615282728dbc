//! Logs without a page: bytes become lines, and no line is lost or shown twice, however often a log breaks off.

use serde_json::{Value, json};

use kubechurn_client::api::status::Failure;
use kubechurn_client::record::time::Time;
use kubechurn_model::logs::containers::PodNow;
use kubechurn_model::logs::followed::{BUDGET, Followed};
use kubechurn_model::logs::lines::{Filter, Line, Lines};
use kubechurn_model::logs::reader::{LONGEST, ReadLine, Reader};
use kubechurn_model::logs::source::State;
use kubechurn_model::logs::stamp::SECOND;

/// `2026-11-21T08:13:27Z`.
const START: i64 = 1_795_248_807 * SECOND;

fn stamp(time: i64) -> String {
    format!("{}.{:09}Z", Time(time).to_string().trim_end_matches('Z'), time.rem_euclid(SECOND))
}

fn read(pieces: &[&[u8]], ends: bool) -> Vec<ReadLine> {
    let (mut reader, mut lines) = (Reader::default(), Vec::new());
    pieces.iter().for_each(|piece| reader.read(piece, &mut |line| lines.push(line)));
    if ends {
        reader.end(&mut |line| lines.push(line));
    }
    lines
}

#[test]
fn lines_are_the_same_wherever_their_bytes_are_cut() {
    let text = "2026-11-21T08:13:27.5Z één\r\n2026-11-21T08:13:27.6Z \nno time\n\n2026-11-21T08:13:28Z torn".as_bytes();
    let whole = read(&[text], true);
    let texts: Vec<&str> = whole.iter().map(|line| &*line.text).collect();
    assert_eq!(texts, ["één", "", "no time", "", "torn"]);
    let times: Vec<Option<i64>> = whole.iter().map(|line| line.time.map(|time| time - START)).collect();
    assert_eq!(times, [Some(SECOND / 2), Some(SECOND / 10 * 6), None, None, Some(SECOND)]);
    for at in 0..text.len() {
        assert_eq!(read(&[&text[..at], &text[at..]], true), whole, "{at}");
    }
    assert_eq!(read(&[text], false).len(), 4, "a torn line is no line yet");
}

#[test]
fn what_is_no_utf_8_and_what_is_long_is_shown_as_far_as_it_goes() {
    let broken = read(&[b"2026-11-21T08:13:27Z a\xff\xfeb\n"], false);
    assert_eq!((&*broken[0].text, broken[0].cut), ("a\u{fffd}\u{fffd}b", 0));
    let long = "x".repeat(3 * LONGEST);
    let line = format!("2026-11-21T08:13:27.123456789Z {long}\nnext\n");
    let read = read(&[&line.as_bytes()[..LONGEST], &line.as_bytes()[LONGEST..]], false);
    assert_eq!((read[0].text.len(), read[0].cut as usize), (LONGEST, 2 * LONGEST));
    assert_eq!(&*read[1].text, "next");
}

fn line(at: i64, source: u16, text: &str) -> Line {
    Line::of(ReadLine { time: Some(START + at), text: text.into(), cut: 0 }, source, i64::MIN)
}

fn shown(lines: &Lines) -> Vec<&str> {
    (0..lines.shown()).filter_map(|place| Some(&*lines.get(place)?.text)).collect()
}

#[test]
fn lines_of_several_containers_stand_in_the_order_of_time_and_pass_a_filter() {
    let mut lines = Lines::new(1 << 20);
    lines.push(&mut vec![line(1, 0, "a1 GET"), line(3, 0, "a3"), line(5, 0, "a5 GET")]);
    lines.push(&mut vec![line(2, 1, "b2"), line(3, 1, "b3 get"), line(9, 1, "b9")]);
    assert_eq!(shown(&lines), ["a1 GET", "b2", "a3", "b3 get", "a5 GET", "b9"]);
    lines.filter(Filter::of("get", None));
    assert_eq!(shown(&lines), ["a1 GET", "b3 get", "a5 GET"]);
    // What comes among those that are there is filtered, too.
    lines.push(&mut vec![line(4, 0, "a4 GET"), line(4, 0, "a4"), line(10, 0, "a10 get")]);
    assert_eq!(shown(&lines), ["a1 GET", "b3 get", "a4 GET", "a5 GET", "a10 get"]);
    assert_eq!(lines.until(START + 4), 3);
    lines.filter(Filter::of("", Some(1)));
    assert_eq!(shown(&lines), ["b2", "b3 get", "b9"]);
    lines.filter(Filter::default());
    assert_eq!((lines.shown(), lines.counts()), (9, (9, 9, 0)));
    lines.give(160);
    assert_eq!((shown(&lines), lines.counts().2), (vec!["b9", "a10 get"], 7));
    assert_eq!(lines.shown_gone(), 7);
}

fn pod(state: Value, restarts: u32) -> PodNow {
    let last = if restarts > 0 { json!({"terminated": {"exitCode": 1}}) } else { json!({}) };
    let pod = json!({"metadata": {"namespace": "shop", "name": "web-1", "uid": "u"}, "spec": {"containers": [{"name": "web"}]},
        "status": {"containerStatuses": [{"name": "web", "state": state, "lastState": last, "restartCount": restarts}]}});
    PodNow::of(&pod, false)
}

fn running(restarts: u32) -> PodNow {
    pod(json!({"running": {"startedAt": "2026-11-21T08:13:27Z"}}), restarts)
}

/// Asks for what is due, and returns the one path and query.
#[track_caller]
fn asked(followed: &mut Followed, now: f64) -> String {
    let due = followed.due(now);
    assert_eq!(due.len(), 1, "{due:?} {:?}", followed.sources);
    followed.opened(due[0].0);
    due[0].1.clone()
}

/// What a server answers: the lines from `sinceTime` on, or all.
fn answer(log: &[(i64, String)], url: &str, until: usize) -> String {
    let since = url.split_once("sinceTime=").map_or("", |(_, time)| time);
    let lines = log[..until].iter().filter(|(time, _)| *Time(*time).to_string() >= *since);
    lines.map(|(time, text)| format!("{} {text}\n", stamp(*time))).collect()
}

#[test]
fn a_log_that_breaks_off_again_and_again_has_no_line_twice_and_none_missing() {
    // Many lines have the same time, some of them the same text, and some are late.
    let log: Vec<(i64, String)> = (0..4_000_i64)
        .map(|at| {
            let late = if at % 17 == 0 { -700_000 } else { 0 };
            (START + at / 5 * 5_000_000 + late, format!("line {}", at % 3))
        })
        .collect();
    let mut followed = Followed::new(BUDGET);
    followed.look(&[running(0)], 0.0);
    let (mut now, mut until) = (0.0, 0);
    while until < log.len() {
        until = (until + 137).min(log.len());
        now += 60_000.0;
        let url = asked(&mut followed, now);
        let text = answer(&log, &url, until);
        // The connection is cut within a line.
        let cut = if until < log.len() { text.len() - 5 } else { text.len() };
        followed.take(0, &text.as_bytes()[..cut]);
        followed.failed(0, &Failure::unreachable("the answer broke off"), now);
        assert!(matches!(followed.sources[0].state, State::Rests(..)));
    }
    let mut expected: Vec<&str> = log.iter().map(|(_, text)| &**text).collect();
    let mut got: Vec<String> = shown(&followed.lines).into_iter().map(str::to_owned).collect();
    assert_eq!(got.len(), log.len());
    assert_eq!(followed.lines.counts(), (4_000, 4_000, 0));
    expected.sort_unstable();
    got.sort_unstable();
    assert_eq!(got, expected);
}

#[test]
fn a_log_that_was_rotated_meanwhile_says_so() {
    let mut followed = Followed::new(BUDGET);
    followed.look(&[running(0)], 0.0);
    assert!(asked(&mut followed, 0.0).ends_with("container=web&timestamps=true&follow=true&tailLines=2000"));
    followed.take(0, format!("{} before\n", stamp(START)).as_bytes());
    followed.ended(0, 0.0);
    let url = asked(&mut followed, 60_000.0);
    assert!(url.ends_with("&follow=true&sinceTime=2026-11-21T08:13:26Z"), "{url}");
    followed.take(0, format!("{} after\n", stamp(START + 30 * SECOND)).as_bytes());
    let lines = shown(&followed.lines);
    assert_eq!((lines[0], lines[2]), ("before", "after"));
    assert!(lines[1].contains("rotated"), "{lines:?}");
    assert_eq!(followed.lines.counts(), (2, 2, 0), "a remark is no line");
}

#[test]
fn ten_minutes_of_two_thousand_lines_a_second_stay_within_the_budget_and_are_counted() {
    let mut followed = Followed::new(BUDGET);
    followed.look(&[running(0)], 0.0);
    asked(&mut followed, 0.0);
    followed.lines.filter(Filter::of("7ms", None));
    let (mut piece, mut most) = (String::new(), 0);
    for at in 0..1_200_000_i64 {
        piece += &format!("{} GET /cart/items?id={at} 200 {}ms\n", stamp(START + at * 500_000), at % 41);
        if piece.len() > 60_000 || at == 1_199_999 {
            followed.take(0, piece.as_bytes());
            piece.clear();
            most = most.max(followed.lines.bytes());
        }
    }
    let (received, kept, dropped) = followed.lines.counts();
    assert_eq!((received, kept + dropped), (1_200_000, 1_200_000));
    assert!(most <= BUDGET && dropped > 0 && kept > 100_000, "{most} {kept} {dropped}");
    let last = followed.lines.get(followed.lines.shown() - 1).expect("a line");
    assert!(last.text.contains("7ms") && last.at > START + 599 * SECOND, "{last:?}");
    followed.lines.filter(Filter::default());
    assert_eq!(followed.lines.shown() as u64, kept);
}

#[test]
fn a_container_is_followed_from_its_start_over_its_crash_to_its_next_run() {
    let mut followed = Followed::new(BUDGET);
    followed.look(&[pod(json!({"waiting": {"reason": "ContainerCreating"}}), 0)], 0.0);
    assert!(followed.due(0.0).is_empty());
    assert!(followed.due_at().is_none());
    assert!(followed.sources[0].words().contains("waits to start (ContainerCreating)"));
    followed.look(&[running(0)], 0.0);
    asked(&mut followed, 0.0);
    followed.take(0, format!("{} first\n{} torn", stamp(START), stamp(START + 1)).as_bytes());
    // The page knows of the end before the log does.
    followed.look(&[pod(json!({"terminated": {"exitCode": 1, "reason": "Error"}}), 0)], 0.0);
    followed.ended(0, 0.0);
    assert!(
        followed.sources[0].words().contains("web has ended (Error, exit code 1)"),
        "{:?}",
        followed.sources[0].state
    );
    followed.look(&[pod(json!({"waiting": {"reason": "CrashLoopBackOff"}}), 1)], 0.0);
    assert!(followed.due(1e9).is_empty() && followed.sources.len() == 1, "its previous run was followed");
    followed.look(&[running(1)], 0.0);
    let url = asked(&mut followed, 0.0);
    assert!(url.contains("sinceTime="), "{url}");
    followed.take(0, format!("{} second\n", stamp(START + 40 * SECOND)).as_bytes());
    assert_eq!(shown(&followed.lines), ["first", "torn", "second"], "another run is no gap");
    // The Pod goes, and what was read stays.
    followed.look(&[], 0.0);
    followed.ended(0, 0.0);
    assert!(followed.sources[0].words().contains("The Pod is gone"));
    assert_eq!((followed.lines.shown(), followed.due_at()), (3, None));
}

#[test]
fn the_run_before_is_read_once_and_a_refusal_waits_for_the_user() {
    let mut followed = Followed::new(BUDGET);
    followed.look(&[running(3)], 0.0);
    let due = followed.due(0.0);
    let urls: Vec<bool> = due.iter().map(|(_, url)| url.contains("previous=true") && !url.contains("follow")).collect();
    assert_eq!(urls, [true, false]);
    let words =
        r#"{"kind":"Status","message":"previous terminated container \"web\" in pod \"web-1\" not found","code":400}"#;
    followed.failed(0, &Failure::from_response(400, None, words), 0.0);
    assert!(matches!(&followed.sources[0].state, State::Over(words) if words.contains("no run before")));
    followed.failed(1, &Failure::from_response(403, None, r#"{"kind":"Status","message":"no","code":403}"#), 0.0);
    assert!(matches!(&followed.sources[1].state, State::Refused(words) if words.contains("pods/log")));
    assert_eq!((followed.due(1e12).len(), followed.due_at()), (0, None));
    followed.again();
    assert_eq!(followed.due(0.0).len(), 1);
    followed.failed(1, &Failure::from_response(502, None, ""), 0.0);
    let first = followed.due_at().expect("it is asked again");
    assert!(followed.due(first).len() == 1 && first >= 1_000.0);
    followed.failed(1, &Failure::from_response(502, None, ""), first);
    assert!(followed.due_at().expect("it is asked again") >= first + 2_000.0);
}

#[test]
fn of_many_pods_some_are_followed_and_the_user_chooses_others() {
    let pods: Vec<PodNow> =
        (0..9).map(|at| PodNow { name: format!("web-{at}"), uid: at.to_string(), ..running(0) }).collect();
    let mut followed = Followed::new(BUDGET);
    followed.look(&pods, 0.0);
    let asked = followed.due(0.0);
    let follow = |urls: &[(u16, String)]| urls.iter().filter(|(_, url)| url.contains("follow=true")).count();
    assert_eq!((asked.len(), follow(&asked)), (4, 3));
    assert!(followed.due(0.0).is_empty(), "no more connections than that");
    asked.iter().for_each(|(number, _)| followed.opened(*number));
    // The one that is read once ends, and the next one has its turn.
    let once = asked.iter().find(|(_, url)| !url.contains("follow")).expect("one is read once").0;
    followed.ended(once, 0.0);
    let next = followed.due(0.0);
    assert_eq!((next.len(), follow(&next)), (1, 0));
    let given_up = followed.prefer(8).expect("another one is given up");
    let due = followed.due(0.0);
    assert!(due.iter().any(|(number, url)| *number == 8 && url.contains("follow=true")), "{due:?} {given_up}");
}
