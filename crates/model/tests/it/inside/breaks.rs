//! What breaks, and what heals it.

use super::*;

const FRAMES: [&str; 8] = ["[10 a@5 b@6", "~a@11", "~b@12", "-b@13", "~a@14", "+c@15", "~a@16", "=17"];

/// How often the Reflector listed.
fn lists(words: &[String]) -> usize {
    words.iter().filter(|words| words.starts_with("The list has")).count()
}

#[test]
fn what_breaks_is_healed_but_for_a_lost_event_and_a_wrong_order() {
    for kind in BreakKind::ALL {
        for entry in 0..FRAMES.len() - 1 {
            let mut inside = inside(&FRAMES, broken(entry, kind));
            let words = play(&mut inside);
            let is_healed = Which::ALL.map(|which| store(&inside, which) == truth(&inside));
            // A later event of the same object heals what was lost. The change of b that comes after its deletion has none.
            let expected = match (kind, entry) {
                (BreakKind::Drop, 2 | 4 | 5) | (BreakKind::Reorder, 1) => [false; 3],
                _ => [true; 3],
            };
            assert_eq!(is_healed, expected, "{kind:?} before {entry}: {words:#?}");
            assert_eq!(lists(&words), if kind == BreakKind::Gone { 2 } else { 1 }, "{kind:?} before {entry}");
        }
    }
}

/// The lesson: a resync repeats what is known, and what is known is wrong.
#[test]
fn a_lost_event_is_not_healed_by_a_resync_and_is_by_a_list() {
    let frames = ["[10 a@5 b@6", "-b@11", "~a@12", "=13", "~a@90"];
    let mut server = server(&frames[..4]);
    server.push(200_000.0, frame(frames[4]));
    let lose = Break { entry: 0, kind: BreakKind::Drop };
    let settings = Settings { breaks: vec![lose], resync: Some(30_000.0), ..Settings::default() };
    let mut inside = Inside::new(server.clone(), settings.clone(), 0.0);
    let words = play(&mut inside);
    let resyncs = words.iter().filter(|words| words.starts_with("A resync queues")).count();
    assert!(resyncs > 3, "{words:#?}");
    for which in Which::ALL {
        assert_eq!(store(&inside, which), "a@90 b@6", "{which:?}");
    }
    // The same, and then the server forgets what was.
    let gone = Break { entry: 3, kind: BreakKind::Gone };
    let settings = Settings { breaks: vec![lose, gone], ..settings };
    let mut inside = Inside::new(server, settings, 0.0);
    assert!(forward_until(&mut inside, &Until::Tombstone, 9999), "b is missing in the new list");
    let words = inside.machine().last().map(Step::words).unwrap();
    assert_eq!(words, "A handler is called: OnDelete(DeletedFinalStateUnknown{n/b@6}).");
    play(&mut inside);
    for which in Which::ALL {
        assert_eq!(store(&inside, which), truth(&inside), "{which:?}");
    }
}

#[test]
fn in_the_wrong_order_client_go_s_store_goes_back_and_the_one_that_folds_does_not() {
    let mut inside = inside(&["[10 a@5", "~a@11", "~a@12"], broken(0, BreakKind::Reorder));
    play(&mut inside);
    assert_eq!(Which::ALL.map(|which| store(&inside, which)), ["a@11", "a@11", "a@12"]);
}

#[test]
fn twice_is_one_update_that_changes_nothing() {
    let mut inside = inside(&["[10 a@5", "~a@11"], broken(0, BreakKind::Duplicate));
    let words = play(&mut inside);
    let calls: Vec<&String> = words.iter().filter(|words| words.starts_with("A handler is called")).collect();
    assert_eq!(calls.len(), 3, "{calls:#?}");
    assert_eq!(calls[2], "A handler is called: OnUpdate(n/a@11, 11).");
}

/// After 410 the list is compared with what is known; what is missing gets a tombstone, and the wait before it is in the steps.
#[test]
fn after_410_the_list_is_compared_with_what_is_known() {
    let mut inside = inside(&FRAMES, broken(2, BreakKind::Gone));
    assert!(forward_until(&mut inside, &Until::Ended, 99) && forward_until(&mut inside, &Until::Ended, 99));
    let reason = inside.machine().reason();
    assert!(reason.contains("too old resource version: 12"), "{reason}");
    assert!(forward_until(&mut inside, &Until::Replace, 99));
    let Some(What::Replaced { rows, .. }) = inside.machine().last().map(|step| &step.what) else { panic!() };
    let rows: Vec<String> = rows.iter().map(|row| format!("{} {:?}", row.key.name, row.compared())).collect();
    assert!(rows.contains(&String::from("b Missing")), "{rows:?}");
    assert!(inside.machine().now() >= 3800.0, "the Reflector waited for {}", inside.machine().now());
}

#[test]
fn nothing_comes_between_the_events_of_a_burst() {
    let frames: Vec<String> = (0..20).map(|at| format!("~a@{}", 11 + at)).collect();
    let frames: Vec<&str> = std::iter::once("[10 a@5").chain(frames.iter().map(String::as_str)).collect();
    let mut inside = inside(&frames, broken(3, BreakKind::Burst(10)));
    play(&mut inside);
    let most = Which::ALL.map(|which| inside.machine().queues().counts(which).most);
    assert_eq!(most, [1, 10, 1]);
    let calls = Which::ALL.map(|which| inside.machine().queues().counts(which).calls);
    assert_eq!(calls, [21, 21, 12], "client-go brings each, and here nine are folded");
}

#[test]
fn a_silent_connection_is_given_up_after_minutes_and_the_next_watch_brings_everything() {
    let mut inside = inside(&FRAMES, broken(1, BreakKind::Silence));
    let words = play(&mut inside);
    assert!(words.contains(&"A time limit of the Reflector is over.".into()), "{words:#?}");
    assert!(inside.machine().now() > 60_000.0, "{}", inside.machine().now());
    assert_eq!(store(&inside, Which::RealFifo), truth(&inside));
}

/// A stream in which it broke, as it was recorded.
#[test]
fn what_broke_in_the_recording_breaks_here() {
    let frames = ["[10 a@5 b@6", "~a@11", "close", "~a@12", "410", "[20 a@15 c@18", "~c@21"];
    let mut inside = inside(&frames, Settings::default());
    let words = play(&mut inside);
    assert!(words.contains(&"The watch ended: it was closed with code 1000.".into()), "{words:#?}");
    assert_eq!(lists(&words), 2);
    for which in Which::ALL {
        assert_eq!(store(&inside, which), truth(&inside), "{which:?}");
    }
}

/// What a list of the recording showed has no version by which a watch could find it again.
#[test]
fn a_deletion_that_only_a_list_showed_survives_a_cut_before_it() {
    let frames = ["[10 a@5 b@6", "~a@11", "[20 a@15 d@18", "~d@21"];
    for entry in 0..5 {
        let mut inside = inside(&frames, broken(entry, BreakKind::Cut));
        play(&mut inside);
        assert_eq!(store(&inside, Which::RealFifo), "a@15 d@21", "cut before {entry}");
    }
}
