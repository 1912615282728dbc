//! The lessons: each caption is held to the state at its step.

use kubechurn_model::inside::{Lesson, lesson, lessons};

use super::*;

/// What a caption claims: facts by name, and what they are at its step.
type Claims<'a> = &'a [(&'a str, &'a str)];

/// A fact about the machinery.
fn fact(inside: &Inside, lists: usize, name: &str) -> String {
    let (machine, server) = (inside.machine(), inside.server());
    let last = machine.last();
    let chosen = machine.settings().chosen;
    match name {
        "step" => last.map(Step::words).unwrap_or_default(),
        "client-go" => last.map(Step::client_go).unwrap_or_default(),
        "at" => machine.now().to_string(),
        // What the server has, and what is known.
        "server" => {
            let (version, items) = server.list_after(server.happened(machine.now()));
            let items: Vec<String> = items.iter().map(|(object, _)| write_object(object)).collect();
            format!("{version}: {}", items.join(" "))
        }
        "log" => {
            let happened = (0..server.happened(machine.now())).filter_map(|at| server.entry(at));
            happened.map(|entry| format!("{:?}", entry.what)).collect()
        }
        "store" => store(inside, chosen),
        "stores" => Which::ALL.map(|which| store(inside, which)).join(" | "),
        "synced" => machine.queues().has_synced(chosen).to_string(),
        "delta" => slots(machine, Which::DeltaFifo),
        "real" => slots(machine, Which::RealFifo),
        "folding" => slots(machine, Which::Folding),
        "calls behind each" => format!("{:?}", Which::ALL.map(|which| machine.queues().counts(which).calls)),
        // The Reflector.
        "version" => machine.reflector().resource_version().to_string(),
        "request" => format!("{:?}", machine.request()),
        "lists" => lists.to_string(),
        "compared" => match last.map(|step| &step.what) {
            Some(What::Replaced { rows, .. }) => {
                let words = rows.iter().map(|row| format!("{} {:?}", row.key.name, row.compared()));
                words.collect::<Vec<_>>().join(", ")
            }
            _ => String::new(),
        },
        // Handlers and work.
        "calls" => machine.handlers().handlers()[0].calls().to_string(),
        "in work" => {
            let words = machine.work().in_work().iter().map(|work| format!("{}@{}", work.key, work.read));
            words.collect::<Vec<_>>().join(" ")
        }
        "workers" => machine.settings().reconciler.workers.to_string(),
        "waiting" => format!("{:?}", machine.work().waiting()),
        "added, worked on" => format!("{:?}", machine.work().counts()),
        "stale" => match last.map(|step| &step.what) {
            Some(What::Worked(worked)) => machine.is_stale(worked, server).to_string(),
            _ => String::new(),
        },
        other => panic!("no fact is called {other}"),
    }
}

/// The versions that a caption names.
fn versions(words: &str) -> impl Iterator<Item = &str> {
    words.split(|letter: char| !letter.is_ascii_digit()).filter(|digits| digits.len() == 4)
}

/// Goes through a lesson step by step, and checks what each caption claims.
fn check(id: &str, captions: &[(Part, Claims<'_>)]) {
    let lesson = lesson(id).unwrap();
    let parts: Vec<Part> = lesson.captions.iter().map(|caption| caption.part).collect();
    assert_eq!(parts, captions.iter().map(|(part, _)| *part).collect::<Vec<_>>(), "{id}");
    let (mut inside, mut lists) = (lesson.open(), 0);
    for (at, (stop, (_, claims))) in lesson.stops().into_iter().zip(captions).enumerate() {
        while inside.machine().number() < stop {
            let step = inside.forward().unwrap();
            lists += usize::from(matches!(step.what, What::Listed { .. }));
        }
        let [server, log] = ["server", "log"].map(|name| fact(&inside, lists, name));
        let state = format!("{} {server} {log}", seen(inside.machine()));
        for version in versions(lesson.captions[at].words) {
            assert!(state.contains(version), "caption {at} of {id} names {version}: {state}");
        }
        for (name, expected) in *claims {
            let found = fact(&inside, lists, name);
            assert_eq!(found, *expected, "{name} at caption {at} of {id}: {}", lesson.captions[at].words);
        }
    }
}

#[test]
fn what_a_list_is_for() {
    let all = "cart@1040 web-a@1012 web-b@1031";
    check(
        "list",
        &[
            (
                Part::Reflector,
                &[
                    ("client-go", "Reflector.Run"),
                    ("store", ""),
                    ("version", ""),
                    ("request", "List { has_items: false }"),
                ],
            ),
            (Part::Server, &[("step", "The list has 3 objects at version 1042."), ("server", &format!("1042: {all}"))]),
            (
                Part::Queue,
                &[
                    ("client-go", "Queue.Replace(3 items)"),
                    ("real", "ReplacedAll  x3"),
                    ("store", ""),
                    ("calls", "0"),
                    ("synced", "false"),
                ],
            ),
            (Part::Store, &[("store", all), ("synced", "true"), ("calls", "0")]),
            (Part::Handlers, &[("calls", "3"), ("client-go", "OnAdd(shop/web-b@1031, true)")]),
            (Part::Reflector, &[("client-go", "ListerWatcher.Watch(1042)"), ("lists", "1"), ("calls", "3")]),
            (
                Part::Queue,
                &[
                    ("client-go", "Queue.Update(shop/web-a)"),
                    ("real", "Updated web-a@1043"),
                    ("lists", "1"),
                    ("version", "1043"),
                ],
            ),
        ],
    );
}

#[test]
fn why_a_version() {
    let known = "web-a@1045 web-b@1031";
    check(
        "version",
        &[
            (Part::Server, &[("step", "The list has 2 objects at version 1042.")]),
            (Part::Server, &[("step", "shop/web-a has changed at version 1045."), ("store", "web-a@1012 web-b@1031")]),
            (Part::Reflector, &[("client-go", "Queue.Bookmark(1060)"), ("version", "1060"), ("store", known)]),
            (
                Part::Server,
                &[
                    ("step", "The watch ended: the connection was cut."),
                    ("version", "1060"),
                    ("store", known),
                    ("server", "1071: web-a@1045 web-b@1071"),
                ],
            ),
            (Part::Reflector, &[("client-go", "ListerWatcher.Watch(1060)"), ("lists", "1"), ("store", known)]),
            (
                Part::Handlers,
                &[
                    ("client-go", "OnUpdate(shop/web-b@1031, 1071)"),
                    ("store", "web-a@1045 web-b@1071"),
                    ("server", "1071: web-a@1045 web-b@1071"),
                    ("lists", "1"),
                    ("calls", "4"),
                    ("real", ""),
                ],
            ),
        ],
    );
}

#[test]
fn what_410_means() {
    let (known, all) = ("cart@1040 web-a@1045 web-b@1031", "web-a@1045 web-b@1050 web-c@1055");
    check(
        "410",
        &[
            (Part::Server, &[("version", "1045")]),
            (
                Part::Reflector,
                &[("step", "The watch ended: the connection was cut."), ("store", known), ("version", "1045")],
            ),
            (Part::Reflector, &[("client-go", "ListerWatcher.Watch(1045)"), ("lists", "1")]),
            (
                Part::Server,
                &[
                    ("step", "The watch ended: 410, version 1045 is too old."),
                    ("store", known),
                    ("request", "Wait"),
                    ("at", "2500"),
                ],
            ),
            (
                Part::Server,
                &[
                    ("step", "The list has 3 objects at version 1055."),
                    ("lists", "2"),
                    ("at", "3300"),
                    ("store", known),
                ],
            ),
            (Part::Queue, &[("compared", "cart Missing, web-a Same, web-b Changed, web-c New")]),
            (
                Part::Store,
                &[("client-go", "ListerWatcher.Watch(1055)"), ("store", all), ("server", &format!("1055: {all}"))],
            ),
        ],
    );
}

#[test]
fn what_the_queue_keeps_and_merges() {
    let four = "Updated web-a@1044 | Updated web-a@1045 | Updated web-b@1046 | Updated web-a@1047";
    let by_key = "Updated web-a@1044, Updated web-a@1045, Updated web-a@1047 | Updated web-b@1046";
    let folded = "Updated web-a@1047 x3 | Updated web-b@1046";
    let all = "cart@1043 web-a@1047";
    check(
        "queue",
        &[
            (
                Part::Pop,
                &[
                    ("step", "A pop takes 1 delta of shop/cart; what follows is 1 call."),
                    ("at", "5000"),
                    ("delta", ""),
                    ("real", ""),
                    ("folding", ""),
                ],
            ),
            (Part::Queue, &[("real", four)]),
            (Part::Queue, &[("delta", by_key)]),
            (Part::Queue, &[("folding", folded)]),
            (
                Part::Queue,
                &[
                    ("real", &format!("{four} | Deleted web-b@1048 | Deleted web-b@1048")),
                    ("delta", &format!("{by_key}, Deleted web-b@1048")),
                    ("folding", &format!("{folded}, Deleted web-b@1048 x2")),
                ],
            ),
            (
                Part::Pop,
                &[
                    ("step", "A pop takes 1 delta of shop/web-a; what follows is 1 call."),
                    (
                        "real",
                        "Updated web-a@1045 | Updated web-b@1046 | Updated web-a@1047 | Deleted web-b@1048 | Deleted web-b@1048",
                    ),
                    ("delta", "Updated web-b@1046, Deleted web-b@1048"),
                ],
            ),
            (
                Part::Store,
                &[
                    ("stores", &[all; 3].join(" | ")),
                    ("real", ""),
                    ("calls behind each", "[9, 10, 7]"),
                    ("server", &format!("1048: {all}")),
                ],
            ),
        ],
    );
}

#[test]
fn what_a_tombstone_is() {
    check(
        "tombstone",
        &[
            (Part::Handlers, &[("client-go", "OnDelete(shop/web-a@1043)"), ("store", "cart@1040 web-b@1031")]),
            (
                Part::Server,
                &[
                    ("step", "The watch ended: the connection was cut."),
                    ("server", "1045: cart@1040"),
                    ("store", "cart@1040 web-b@1031"),
                ],
            ),
            (
                Part::Server,
                &[
                    ("step", "The list has 1 object at version 1045."),
                    ("lists", "2"),
                    ("store", "cart@1040 web-b@1031"),
                ],
            ),
            (
                Part::Queue,
                &[
                    ("compared", "cart Same, web-b Missing"),
                    ("real", "!Deleted web-b@1031 | Replaced cart@1040"),
                    ("delta", "Replaced cart@1040 | !Deleted web-b@1031"),
                ],
            ),
            (Part::Handlers, &[("client-go", "OnDelete(DeletedFinalStateUnknown{shop/web-b@1031})")]),
        ],
    );
}

#[test]
fn what_resync_does_not_do() {
    let known = "web-a@1012 web-b@1031";
    check(
        "resync",
        &[
            (
                Part::Server,
                &[
                    ("step", "An event of shop/web-b is lost, and nobody notices it."),
                    ("store", known),
                    ("server", "1043: web-a@1012"),
                ],
            ),
            (
                Part::Queue,
                &[
                    ("client-go", "Queue.Resync()"),
                    ("at", "30000"),
                    ("real", "SyncAll "),
                    ("lists", "1"),
                    ("request", "Watch { is_open: true }"),
                ],
            ),
            (
                Part::Handlers,
                &[
                    ("client-go", "OnUpdate(shop/web-b@1031, 1031)"),
                    ("calls", "4"),
                    ("lists", "1"),
                    ("server", "1043: web-a@1012"),
                ],
            ),
            (Part::Reflector, &[("client-go", "Queue.Bookmark(1050)"), ("version", "1050"), ("store", known)]),
            (Part::Queue, &[("compared", "web-a Changed, web-b Missing"), ("lists", "2")]),
            (
                Part::Handlers,
                &[
                    ("client-go", "OnDelete(DeletedFinalStateUnknown{shop/web-b@1031})"),
                    ("store", "web-a@1060"),
                    ("at", "50800"),
                ],
            ),
        ],
    );
}

#[test]
fn one_key_many_events() {
    check(
        "one-key",
        &[
            (Part::WorkQueue, &[("in work", "shop/web-a@1012"), ("workers", "2"), ("calls", "1")]),
            (
                Part::WorkQueue,
                &[
                    ("client-go", "OnUpdate(shop/web-a@1012, 1043)"),
                    ("in work", "shop/web-a@1012"),
                    ("waiting", "(0, 0)"),
                    ("workers", "2"),
                ],
            ),
            (
                Part::WorkQueue,
                &[
                    ("calls", "6"),
                    ("in work", "shop/web-a@1012"),
                    ("waiting", "(0, 0)"),
                    ("added, worked on", "(6, 0)"),
                ],
            ),
            (Part::WorkQueue, &[("at", "3000"), ("in work", ""), ("waiting", "(1, 0)")]),
            (Part::Store, &[("in work", "shop/web-a@1047"), ("store", "web-a@1047"), ("waiting", "(0, 0)")]),
            (
                Part::WorkQueue,
                &[("calls", "6"), ("added, worked on", "(6, 2)"), ("waiting", "(0, 0)"), ("in work", "")],
            ),
        ],
    );
}

#[test]
fn stale_caches() {
    check(
        "stale",
        &[
            (Part::WorkQueue, &[("in work", "shop/web-a@1043"), ("store", "web-a@1043"), ("stale", "false")]),
            (
                Part::Handlers,
                &[
                    ("client-go", "OnUpdate(shop/web-a@1043, 1044)"),
                    ("in work", "shop/web-a@1043"),
                    ("store", "web-a@1044"),
                ],
            ),
            (
                Part::Server,
                &[("at", "3000"), ("server", "1045: web-a@1045"), ("store", "web-a@1044"), ("waiting", "(1, 0)")],
            ),
            (Part::Store, &[("in work", "shop/web-a@1044"), ("stale", "true")]),
            (
                Part::Handlers,
                &[("at", "5900"), ("client-go", "OnUpdate(shop/web-a@1044, 1045)"), ("store", "web-a@1045")],
            ),
            (Part::WorkQueue, &[("in work", "shop/web-a@1045"), ("stale", "false")]),
        ],
    );
}

/// An article's link names a lesson and a caption; both are found again, whichever way the reader came.
#[test]
fn a_caption_is_the_same_step_forward_back_and_at_once() {
    let ids: Vec<&str> = lessons().iter().map(|lesson| lesson.id).collect();
    assert_eq!(ids, ["list", "version", "410", "queue", "tombstone", "resync", "one-key", "stale"]);
    assert!(lesson("lists").is_none());
    for lesson in lessons() {
        let states: Vec<String> = (0..lesson.captions.len()).map(|at| at_once(lesson, at)).collect();
        let stops = lesson.stops();
        let mut inside = lesson.open();
        for at in (0..states.len()).rev() {
            inside.seek(stops[at]);
            assert_eq!(seen(inside.machine()), states[at], "caption {at} of {}", lesson.id);
        }
        assert!(stops.is_sorted() && stops[0] > 0, "{stops:?}");
        inside.seek(usize::MAX);
        assert!(stops[stops.len() - 1] <= inside.machine().number());
    }
}

fn at_once(lesson: &Lesson, caption: usize) -> String {
    let mut inside = lesson.open();
    inside.seek(lesson.stops()[caption]);
    seen(inside.machine())
}

#[test]
fn a_caption_is_one_to_three_plain_sentences() {
    for lesson in lessons() {
        assert!((5..=7).contains(&lesson.captions.len()), "{}", lesson.id);
        for caption in lesson.captions {
            let sentences = caption.words.split_inclusive(". ").count();
            assert!((1..=3).contains(&sentences) && caption.words.ends_with('.'), "{}", caption.words);
            assert!(caption.words.len() < 360, "{} bytes: {}", caption.words.len(), caption.words);
        }
    }
}
