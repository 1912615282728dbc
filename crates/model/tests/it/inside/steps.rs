//! Steps to and fro.

use super::*;

#[test]
fn a_frame_goes_from_the_server_to_the_worker_one_step_at_a_time() {
    let mut inside = inside(&["[10 a@5", "~a@11"], Settings::default());
    let expected: &[(Part, &str)] = &[
        (Part::Reflector, "Reflector.Run"),
        (Part::Server, "ListerWatcher.List"),
        (Part::Queue, "Queue.Replace(1 items)"),
        (Part::Pop, "Queue.Pop, processDeltas"),
        (Part::Handlers, "OnAdd(n/a@5, true)"),
        (Part::WorkQueue, "TypedInterface.Get"),
        (Part::Reflector, "ListerWatcher.Watch(10)"),
        (Part::WorkQueue, "Forget, Done"),
        (Part::Queue, "Queue.Update(n/a)"),
        (Part::Pop, "Queue.Pop, processDeltas"),
        (Part::Handlers, "OnUpdate(n/a@5, 11)"),
        (Part::WorkQueue, "TypedInterface.Get"),
        (Part::WorkQueue, "Forget, Done"),
    ];
    let found = parts(&mut inside);
    let found: Vec<(Part, &str)> = found.iter().map(|(part, words)| (*part, &**words)).collect();
    assert_eq!(found, expected);
    assert!(inside.forward().is_none(), "nothing more comes");
}

/// The three queues over one stream while nobody pops.
#[test]
fn each_queue_keeps_what_waits_in_its_own_way() {
    let settings = Settings { pop_takes: f64::INFINITY, ..Settings::default() };
    let mut inside = inside(&["[10 a@5 b@6", "~a@11", "~a@12", "-b@13", "=20"], settings.clone());
    play(&mut inside);
    let machine = inside.machine();
    assert_eq!(
        slots(machine, Which::DeltaFifo),
        "Replaced a@5, Updated a@11, Updated a@12 | Replaced b@6, Deleted b@13"
    );
    let atomic = "ReplacedAll  x2 | Updated a@11 | Updated a@12 | Deleted b@13 | Bookmark ";
    assert_eq!(slots(machine, Which::RealFifo), atomic);
    assert_eq!(slots(machine, Which::Folding), "Replaced a@12 x3 | Replaced b@6, Deleted b@13");
    let since: Vec<f64> = machine.queues().slots(Which::RealFifo, 9).iter().map(|slot| slot.since).collect();
    assert_eq!(since, [0.0, 1000.0, 2000.0, 3000.0, 4000.0]);
    // The same with `AtomicFIFO` turned off: it is a switch of the RealFIFO.
    let mut plain = super::inside(&["[10 a@5 b@6", "~a@11"], Settings { atomic: false, ..settings });
    play(&mut plain);
    assert_eq!(slots(plain.machine(), Which::RealFifo), "Replaced a@5 | Replaced b@6 | Updated a@11");
}

/// A stream of many frames, with a break in each thousand.
fn long(frames: usize) -> (Server, Settings) {
    let mut server = Server::default();
    let list: Vec<String> = (0..50).map(|name| format!("n{name}@{}", name + 1)).collect();
    server.push(0.0, frame(&format!("[100 {}", list.join(" "))));
    let mut lives = vec![1; 80];
    let mut exists: Vec<bool> = (0..80).map(|name| name < 50).collect();
    let mut random = 7_u64;
    for at in 0..frames {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (name, dice) = ((random >> 33) as usize % 80, (random >> 60) as usize);
        let (words, version) = (format!("n{name}#{}", lives[name]), 101 + at);
        let words = match (exists[name], dice) {
            (true, 0) => {
                (exists[name], lives[name]) = (false, lives[name] + 1);
                format!("-{words}@{version}")
            }
            (true, _) => format!("~{words}@{version}"),
            (false, _) => {
                exists[name] = true;
                format!("+{words}@{version}")
            }
        };
        server.push(at as f64 * 40.0, frame(if at % 100 == 99 { "=100" } else { &words }));
    }
    let breaks = BreakKind::ALL.iter().enumerate().map(|(at, &kind)| Break { entry: 400 + at * frames / 9, kind });
    let slow = HandlerOptions { name: "slow".into(), takes: 60.0, joins: 5000.0, wants_resync: false };
    let settings = Settings {
        breaks: breaks.collect(),
        resync: Some(60_000.0),
        pop_takes: 10.0,
        reconciler: ReconcilerOptions { workers: 2, fails_every: 5, ..ReconcilerOptions::default() },
        handlers: [Settings::default().handlers, vec![slow]].concat(),
        ..Settings::default()
    };
    (server, settings)
}

#[test]
fn ten_thousand_frames_to_and_fro_end_in_the_same_state() {
    let (server, settings) = long(10_000);
    let mut inside = Inside::new(server, settings, 0.0);
    let first = seen(inside.machine());
    let end = inside.seek(usize::MAX);
    assert!(end > 30_000, "{end} steps");
    let last = seen(inside.machine());
    // A step back plays a bounded part of the way anew.
    assert!(inside.replayed() <= (end / 64).max(256), "{} of {end}", inside.replayed());
    let mut near = Vec::new();
    for back in 1..=10 {
        assert!(inside.back());
        assert_eq!(inside.machine().number(), end - back);
        near.push(seen(inside.machine()));
    }
    for state in near.iter().rev().skip(1) {
        inside.forward();
        assert_eq!(seen(inside.machine()), *state);
    }
    for number in [end / 2, 3, end - 1, 700, 0] {
        assert_eq!(inside.seek(number), number);
        let state = seen(inside.machine());
        inside.seek(number + 300);
        inside.seek(number);
        assert_eq!(seen(inside.machine()), state);
    }
    assert_eq!(seen(inside.machine()), first);
    assert!(!inside.back(), "this is the beginning");
    assert_eq!(inside.seek(usize::MAX), end);
    assert_eq!(seen(inside.machine()), last);
}

#[test]
fn what_is_set_at_a_step_holds_from_there_on_and_is_forgotten_by_what_is_set_before_it() {
    let frames = ["[10 a@5", "~a@11", "~a@12", "~a@13", "~a@14"];
    let mut inside = inside(&frames, Settings::default());
    forward_until(&mut inside, &Until::Popped(ObjectKey::new("n", "a")), 99);
    let held = Settings { pop_takes: f64::INFINITY, ..Settings::default() };
    let number = inside.machine().number();
    inside.set(held.clone());
    play(&mut inside);
    let (end, state) = (inside.machine().number(), seen(inside.machine()));
    assert_eq!(inside.machine().queues().len(Which::RealFifo), 3);
    inside.seek(1);
    assert_eq!(**inside.machine().settings(), Settings::default(), "that was before");
    inside.seek(end);
    assert_eq!((seen(inside.machine()), &**inside.machine().settings()), (state, &held));
    inside.seek(number - 1);
    inside.set(Settings::default());
    play(&mut inside);
    assert!(inside.machine().queues().is_empty() && store(&inside, Which::RealFifo) == "a@14");
}

#[test]
fn a_stream_that_goes_on_changes_no_step_that_was_shown() {
    let mut inside = inside(&["[10 a@5", "~a@11"], broken(0, BreakKind::Cut));
    play(&mut inside);
    let (end, state) = (inside.machine().number(), seen(inside.machine()));
    inside.push(1500.0, frame("~a@12"));
    inside.push(0.0, frame("-a@13"));
    play(&mut inside);
    assert_eq!(store(&inside, Which::RealFifo), "");
    inside.seek(end);
    assert_eq!(seen(inside.machine()), state);
}

#[test]
fn it_stops_at_what_it_was_asked_for() {
    let frames = ["[10 a@5 b@6", "~a@11", "410", "[20 a@11"];
    for (until, expected) in [
        (Until::Ended, "The watch ended: too old."),
        (Until::Popped(ObjectKey::new("n", "a")), "A pop takes 1 delta of n/a; what follows is 1 call."),
    ] {
        let mut inside = inside(&frames, Settings::default());
        assert!(forward_until(&mut inside, &until, 99), "{until:?}");
        assert_eq!(inside.machine().last().map(Step::words).as_deref(), Some(expected));
    }
    let mut inside = inside(&frames, Settings::default());
    assert!(forward_until(&mut inside, &Until::Replace, 99) && forward_until(&mut inside, &Until::Replace, 99));
    assert!(!forward_until(&mut inside, &Until::Replace, 99), "there are two lists");
}

/// What a stream's later list shows to have changed has happened before it.
#[test]
fn a_later_list_of_the_stream_is_compared_with_what_is_known() {
    let server = server(&["[10 a@5 b@6 c@7", "~a@11", "[20 a@15 c@7 d@18", "?", "=30"]);
    let list = |count: usize| {
        let (version, items) = server.list_after(count);
        let items: Vec<String> = items.iter().map(|(object, _)| write_object(object)).collect();
        format!("{version}: {}", items.join(" "))
    };
    assert_eq!(list(0), "10: a@5 b@6 c@7");
    assert_eq!(list(1), "11: a@11 b@6 c@7");
    assert_eq!(list(server.len()), "30: a@15 c@7 d@18");
    let mut broken = Server::default();
    broken.push(0.0, Frame::List { version: ResourceVersion::new("1"), items: vec!["{".into(), "{}".into()] });
    broken.push(0.0, Frame::Event { delta_type: DeltaType::Added, text: "[]".into() });
    assert_eq!((broken.unreadable(), broken.len()), (3, 0));
    let mut empty = Inside::new(broken, Settings::default(), 0.0);
    assert!(!play(&mut empty).is_empty(), "an empty list and a watch");
}

#[test]
fn every_part_and_every_break_is_explained_and_has_its_place_in_client_go() {
    for part in Part::ALL {
        let (names, file) = part.client_go();
        assert!(part.sentence().ends_with('.') && !part.title().is_empty() && !names.is_empty());
        assert!(file.ends_with(".go"), "{file}");
    }
    let mut titles: Vec<String> = BreakKind::ALL.iter().map(|kind| kind.title()).collect();
    for kind in BreakKind::ALL {
        assert!(kind.sentence().ends_with('.') && kind.client_go().1.ends_with(".go"), "{kind:?}");
    }
    titles.sort();
    titles.dedup();
    assert_eq!(titles.len(), BreakKind::ALL.len());
    let (server, settings) = long(900);
    let mut inside = Inside::new(server, settings, 0.0);
    while let Some(step) = inside.forward() {
        assert!(step.words().ends_with('.'), "{step:?}");
        assert!(
            matches!(step.what, What::Lost(_) | What::Ended(_) | What::Silent | What::TimeOver)
                || !step.client_go().is_empty()
        );
        assert!(step.rules().iter().all(|rule| (1..=90).contains(&rule.0)));
    }
}

/// What a queue has in memory: each object once, and without what the store has anyway.
#[test]
fn what_waits_is_in_memory_once_and_what_the_store_has_is_not_counted() {
    let held = |inside: &Inside, which: Which| {
        let queues = inside.machine().queues();
        let held = queues.held(which);
        let bytes: u64 = held.objects.iter().map(|object| inside.server().bytes_of(object)).sum();
        (held.stands_for, held.objects.len(), bytes)
    };
    let settings = Settings { pop_takes: f64::INFINITY, ..Settings::default() };
    let mut waits = inside(&["[10 a@5 b@6", "~a@11", "~a@12", "-b@13", "=20"], settings);
    play(&mut waits);
    let bytes = |words: &[&str]| words.iter().map(|words| object(words).len() as u64).sum::<u64>();
    let all = bytes(&["a@5", "b@6", "a@11", "a@12", "b@13"]);
    assert_eq!(held(&waits, Which::DeltaFifo), (5, 5, all));
    assert_eq!(held(&waits, Which::RealFifo), (6, 5, all), "a bookmark has no object");
    assert_eq!(held(&waits, Which::Folding), (5, 3, bytes(&["a@12", "b@6", "b@13"])));
    // A resync queues what the store has: nothing is in memory because of it.
    let settings = Settings { resync: Some(1_000.0), atomic: false, ..Settings::default() };
    let mut resynced = inside(&["[10 a@5 b@6", "~a@11", "~a@12"], settings);
    while resynced.forward().is_some_and(|step| !matches!(step.what, What::Resynced { .. })) {}
    for which in [Which::DeltaFifo, Which::RealFifo] {
        let (stands_for, objects, bytes) = held(&resynced, which);
        assert_eq!((stands_for > 0, objects, bytes), (true, 0, 0), "{which:?}");
    }
}

#[test]
fn a_streaming_list_comes_one_object_at_a_time_and_is_known_when_a_bookmark_ends_it() {
    let settings = |streams: bool| Settings { streams, ..broken(2, BreakKind::Gone) };
    let frames = ["[10 a@5 b@6", "~a@11", "~a@12", "-b@13", "=20"];
    let mut streamed = inside(&frames, settings(true));
    let mut known = Vec::new();
    let mut words = Vec::new();
    while let Some(step) = streamed.forward().cloned() {
        let waits = !streamed.machine().queues().is_empty();
        if matches!(step.what, What::Streamed(_)) {
            known.push((format!("{:?}", streamed.machine().request()), waits, store(&streamed, Which::RealFifo)));
        }
        words.push(step.words());
    }
    // Nothing of the first list is known before its end, and of the list after 410 what was known before stays.
    let sent = |count: usize| format!("Stream {{ sent: Some({count}) }}");
    let none = String::new();
    assert_eq!(known[..2], [(sent(1), false, none.clone()), (sent(2), false, none)]);
    assert_eq!(known[2], (sent(1), false, String::from("a@12 b@6")), "b was deleted meanwhile, and is missing");
    assert_eq!(known.len(), 3, "{known:?}");
    let lists: Vec<&String> = words.iter().filter(|words| words.contains("is compared")).collect();
    assert!(lists[0].starts_with("A bookmark ends the list, at version 10. It is compared"), "{lists:?}");
    assert!(lists[1].ends_with("0 new, 0 changed, 1 the same, 1 missing."), "{lists:?}");
    // The same watch goes on after it: one watch for the first list, one that was refused, and one for the second.
    let watches = words.iter().filter(|words| words.starts_with("A watch begins")).count();
    assert_eq!(watches, 3, "{words:#?}");
    let mut whole = inside(&frames, settings(false));
    play(&mut whole);
    assert_eq!(store(&streamed, Which::RealFifo), store(&whole, Which::RealFifo));
    assert_eq!(truth(&streamed), "a@12");
}

/// The rules beside the steps are those of the checklist, word by word.
#[test]
fn the_rules_beside_a_step_are_those_of_the_checklist() {
    let checklist = include_str!("../../../../../docs/checklist.md");
    let (client, _) = checklist.split_once("## The ").and_then(|(_, rest)| rest.split_once("\n## ")).unwrap();
    let mut found = 0;
    for streams in [false, true] {
        let settings = Settings { resync: Some(1_000.0), streams, ..broken(1, BreakKind::Gone) };
        let mut inside = inside(&["[10 a@5 b@6", "~a@11", "~a@12", "-b@13", "=20"], settings);
        while let Some(step) = inside.forward() {
            for (number, words) in step.rules() {
                assert!(client.contains(&format!("| {number} | {words} |")), "{number}: {words}");
                found += 1;
            }
        }
    }
    assert!(found > 10, "{found}");
}
