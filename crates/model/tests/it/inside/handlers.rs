//! Handlers and the work queue.

use super::*;

fn handler(name: &str, takes: f64, joins: f64) -> HandlerOptions {
    HandlerOptions { name: name.into(), takes, joins, wants_resync: false }
}

#[test]
fn a_slow_handler_has_a_backlog_and_holds_nobody_up() {
    let handlers = vec![handler("fast", 0.0, 0.0), handler("slow", 5000.0, 0.0)];
    let settings = Settings { handlers, ..Settings::default() };
    let mut inside = inside(&["[10 a@5", "~a@11", "~a@12", "~a@13"], settings);
    while inside.machine().now() < 3500.0 && inside.forward().is_some() {
        if inside.machine().handlers().handlers()[0].calls() == 4 {
            break;
        }
    }
    let handlers = inside.machine().handlers();
    assert_eq!([handlers.behind(0), handlers.behind(1)], [0, 3]);
    assert_eq!(handlers.log().1.len(), 3, "the log keeps what the slowest has not got");
    play(&mut inside);
    let handlers = inside.machine().handlers();
    assert_eq!((handlers.behind(1), handlers.handlers()[1].calls(), handlers.log().1.len()), (0, 4, 0));
}

#[test]
fn a_handler_that_comes_late_gets_what_there_is() {
    let handlers = vec![handler("early", 0.0, 0.0), handler("late", 0.0, 2500.0)];
    let settings = Settings { handlers, ..Settings::default() };
    let mut inside = inside(&["[10 a@5 b@6", "-b@11", "+c@12", "~a@13"], settings);
    let words = play(&mut inside);
    assert!(words.contains(&"A handler comes late, and gets 2 objects first, which are in the store.".into()));
    let calls: Vec<u64> = inside.machine().handlers().handlers().iter().map(|handler| handler.calls()).collect();
    assert_eq!(calls, [5, 3]);
}

#[test]
fn a_resync_leaves_out_what_waits_and_those_who_did_not_ask() {
    let mut server = server(&["[10 a@5 b@6", "~a@11"]);
    server.push(70_000.0, frame("=20"));
    let handlers =
        vec![HandlerOptions { wants_resync: true, ..handler("asked", 0.0, 0.0) }, handler("did not ask", 0.0, 0.0)];
    let settings = Settings { handlers, resync: Some(30_000.0), atomic: false, ..Settings::default() };
    let mut inside = Inside::new(server.clone(), settings.clone(), 0.0);
    let words = play(&mut inside);
    let calls: Vec<u64> = inside.machine().handlers().handlers().iter().map(|handler| handler.calls()).collect();
    assert_eq!(calls, [3 + 2 * 2, 3], "{words:#?}");
    // Nobody pops any more when a changes: its Sync would bring an older state behind a newer one.
    let mut held = Inside::new(server, settings.clone(), 0.0);
    while held.machine().queues().counts(Which::RealFifo).pops < 2 {
        held.forward();
    }
    held.set(Settings { pop_takes: f64::INFINITY, ..settings });
    let words = play(&mut held);
    let expected = "A resync queues 1 object again, and leaves out 1 of which something waits.";
    assert!(words.contains(&expected.into()), "{words:#?}");
    assert_eq!(slots(held.machine(), Which::DeltaFifo), "Updated a@11 | Sync b@6");
}

#[test]
fn five_updates_of_one_object_are_one_key_and_one_reconcile() {
    let frames = ["[10 a@5", "~a@11", "~a@12", "~a@13", "~a@14", "~a@15"];
    let reconciler = ReconcilerOptions { takes: 60_000.0, ..ReconcilerOptions::default() };
    let mut inside = inside(&frames, Settings { reconciler, ..Settings::default() });
    play(&mut inside);
    // One for the list, which takes a minute, and one for all that came meanwhile.
    assert_eq!(inside.machine().work().counts(), (6, 2));
}

#[test]
fn a_key_that_fails_waits_longer_each_time_until_it_is_forgotten() {
    let failing = ReconcilerOptions { fails_every: 1, takes: 0.0, ..ReconcilerOptions::default() };
    let mut inside = inside(&["[10 a@5"], Settings { reconciler: failing, ..Settings::default() });
    let key = ObjectKey::new("n", "a");
    let mut times = Vec::new();
    while times.len() < 5 {
        let step = inside.forward().unwrap().clone();
        if step.client_go() == "AddRateLimited, Done" {
            times.push(step.at);
        }
    }
    assert_eq!(times, [0.0, 5.0, 15.0, 35.0, 75.0]);
    assert_eq!(inside.machine().work().failures(&key), 5);
    // It succeeds from now on, and is not forgotten: the next failure would wait long.
    let careless = ReconcilerOptions { fails_every: 0, forgets: false, ..failing };
    inside.set(Settings { reconciler: careless, ..Settings::default() });
    play(&mut inside);
    assert_eq!(inside.machine().work().failures(&key), 5);
}

/// Between the server and the worker lies a queue: a worker may read what is no longer true.
#[test]
fn a_worker_may_read_a_state_that_is_old() {
    let reconciler = ReconcilerOptions { takes: 3000.0, ..ReconcilerOptions::default() };
    let settings = Settings { reconciler, ..Settings::default() };
    let mut slow = super::inside(&["[10 a@5", "~a@11", "~a@12", "~a@13"], settings);
    let mut stale = Vec::new();
    while slow.forward().is_some() {
        let machine = slow.machine();
        if let Some(What::Worked(worked)) = machine.last().map(|step| &step.what) {
            stale.push(machine.is_stale(worked, slow.server()));
        }
    }
    // The first work is done in the third second, when the object has changed; the second one begins before the last change is
    // popped.
    assert_eq!(stale, [false, true, true, true, false, false]);
}
