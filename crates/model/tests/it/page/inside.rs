//! The inside of an informer, as the page shows it: of what the page has recorded, step by step, at an address.

use kubechurn_client::cache::reflector::Input;
use kubechurn_model::inside::command::InsideCommand;
use kubechurn_model::inside::{BreakKind, Part, Which, lessons};
use kubechurn_model::navigation::route::Route;
use kubechurn_model::page::command::{Command, Rows};
use kubechurn_model::page::keys::{self, Focus, Press};
use kubechurn_model::rewind::banner::RewindCommand;
use kubechurn_model::view::inside::{InsideModel, Line};
use serde_json::{Value, json};

use super::Play;

fn pod(name: &str, version: usize) -> Value {
    json!({"kind": "Pod", "apiVersion": "v1",
        "metadata": {"name": name, "namespace": "n", "uid": name, "resourceVersion": version.to_string()},
        "spec": {"containers": [{"name": "c"}]}, "status": {"phase": "Running"}})
}

/// A page that has listed two Pods and received so many events of so many others.
fn received(fragment: &str, events: usize, others: usize) -> Play {
    let mut play = Play::listed(fragment, &["a@1", "b@2"]);
    play.receive(events, others, 101);
    play.rest();
    play
}

impl Play {
    fn receive(&mut self, events: usize, others: usize, first: usize) {
        let id = self.informers.iter().find(|(_, of)| *of == "pods").expect("it is watched").0;
        for at in 0..events {
            self.place.now.set(self.place.now.get() + 200.0);
            let (name, word) = (format!("p{}", at % others), if at < others { "ADDED" } else { "MODIFIED" });
            let frame = json!({"type": word, "object": pod(&name, first + at)});
            self.reflects(id, Input::Frame(&frame.to_string()));
        }
    }

    /// What is shown twice a second follows.
    fn rest(&mut self) {
        self.wait(1_500.0);
        self.frame();
    }

    fn inside(&self) -> InsideModel {
        self.page.view().header.inside.as_deref().cloned().expect("the inside is shown")
    }

    fn does(&mut self, command: InsideCommand) {
        self.command(Command::Inside(command));
        self.frame();
    }

    /// The address, once it has followed.
    fn address(&mut self) -> String {
        self.rest();
        self.place.url.borrow().1.clone()
    }
}

/// All that is shown of a state, but for what depends on the way that led there.
fn seen(mut model: InsideModel) -> InsideModel {
    (model.of, model.is_end, model.newer, model.grows) = (String::new(), false, String::new(), false);
    model
}

fn lines(model: &InsideModel, part: Part) -> Vec<String> {
    let at = Part::ALL.iter().position(|own| *own == part).unwrap();
    let line = |line: &kubechurn_model::view::inside::Line| {
        [&*line.left, line.glyph(), &line.text, &line.right]
            .into_iter()
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    };
    model.parts[at].lines.iter().map(line).collect()
}

#[test]
fn a_key_opens_it_and_the_steps_are_those_of_what_was_recorded() {
    let mut play = received("#/pods", 3, 3);
    assert!(play.page.view().header.inside.is_none());
    play.press(&["i"], Focus::Table);
    assert_eq!(play.arrive(), "");
    let model = play.inside();
    assert_eq!((model.number, &*model.title, &*model.waits), (0, "Pods", ""));
    assert_eq!(play.page.place(), "#/inside?kind=pods");
    play.rest();
    assert_eq!(*play.page.view().header.title, "Inside Pods · kubechurn");
    let mut sentences = Vec::new();
    for _ in 0..5 {
        play.press(&["]"], Focus::Table);
        sentences.push(play.inside().sentence);
    }
    assert_eq!(
        sentences,
        [
            "The informer starts, and asks for a list.",
            "The list has 2 objects at version 2.",
            "The list is compared with what is known: 2 new, 0 changed, 0 the same, 0 missing.",
            "A pop takes 1 delta; what follows is 2 calls.",
            "A handler is called: OnAdd(n/a@1, true).",
        ]
    );
    // Esc leads back to where the user was.
    play.press(&["Escape"], Focus::Table);
    play.arrive();
    assert_eq!((play.page.place(), play.page.view().header.inside.is_none()), (String::from("#/pods"), true));
}

#[test]
fn the_parts_show_what_the_step_left_behind() {
    let mut play = received("#/inside?kind=pods", 4, 2);
    play.does(InsideCommand::Set("pop.never".into()));
    // The first list, then the watch and all events: nobody pops.
    play.does(InsideCommand::End);
    let model = play.inside();
    assert!(model.is_end);
    assert_eq!(
        lines(&model, Part::Server),
        ["2 ◆ LIST of Pods: 2", "WATCH from 2", "101 ▲ p0", "102 ▲ p1", "103 ● p0", "104 ● p1"]
    );
    let waits: Vec<&str> = model.queues.iter().map(|queue| &*queue.waits).collect();
    assert_eq!(waits, ["4 entries for 6", "5 entries for 6", "4 entries for 6"]);
    // What the step brought stands out, and nothing else does.
    let new = model.queues.iter().map(|queue| {
        let lines = queue.slots.iter().flat_map(|slot| &slot.lines).filter(|line| line.look.contains("new"));
        lines.map(|line| line.right.clone()).collect::<Vec<_>>().join(" ")
    });
    assert_eq!(new.collect::<Vec<_>>(), ["104", "104", "104 ×2"]);
    // Until it is popped, the store has nothing of what the server has.
    let store = lines(&model, Part::Store);
    assert_eq!(store, ["key has server", "a – 1", "b – 2", "p0 – 103", "p1 – 104"]);
    assert_eq!(model.state, "watch");
    play.does(InsideCommand::Set("pop.0".into()));
    play.does(InsideCommand::End);
    let model = play.inside();
    assert_eq!(lines(&model, Part::Store), ["key has server", "a 1 1", "b 2 2", "p0 103 103", "p1 104 104"]);
    assert!(model.sums.starts_with("lists 1  events 4  bookmarks 0"), "{}", model.sums);
}

#[test]
fn steps_to_and_fro_through_ten_thousand_events_end_in_the_same_state() {
    let mut play = received("#/inside?kind=pods", 12_000, 8);
    let model = play.inside();
    assert!(model.notes.contains("and all earlier ones"), "{}", model.notes);
    play.does(InsideCommand::Set("pop.100".into()));
    play.does(InsideCommand::To(40_000));
    let there = seen(play.inside());
    assert!(there.number > 30_000, "{}", there.number);
    let number = there.number;
    for step in [number - 1, 17, number / 2, 0, number - 300, number] {
        play.does(InsideCommand::To(step));
        assert_eq!(play.inside().number, step);
    }
    for _ in 0..40 {
        play.does(InsideCommand::Step(-1));
    }
    for _ in 0..40 {
        play.does(InsideCommand::Step(1));
    }
    assert_eq!(seen(play.inside()), there);
}

#[test]
fn the_same_address_opens_on_the_same_state() {
    let mut play = received("#/inside?kind=pods", 30, 4);
    play.does(InsideCommand::Set("queue.delta".into()));
    play.does(InsideCommand::Step(30));
    play.does(InsideCommand::Break(BreakKind::Drop));
    play.does(InsideCommand::Set("slow.10000".into()));
    play.does(InsideCommand::Step(40));
    play.does(InsideCommand::Set("atomic.0".into()));
    let there = seen(play.inside());
    let address = play.address();
    assert!(address.starts_with("#/inside?kind=pods&received="), "{address}");
    assert!(address.contains("set=0.queue.delta,0.atomic.0,30.lose."), "{address}");
    // More comes meanwhile, which the address does not mean.
    play.receive(7, 4, 900);
    for other in ["#/deployments", "#/pods"] {
        play.command(Command::Arrive(other.into()));
        play.frame();
    }
    play.command(Command::Arrive(address.clone()));
    play.frame();
    let back = seen(play.inside());
    assert_eq!(back, InsideModel { broken: there.broken, ..there });
    assert_eq!(play.page.place(), address);
    // What is not kept is not pretended: another visit has received nothing of it.
    let mut other = received(&address.replace("received=", "received=99999"), 3, 3);
    other.frame();
    assert!(other.inside().steps.len() > 3);
}

#[test]
fn a_break_breaks_what_comes_next_and_a_new_list_heals_it() {
    let mut play = received("#/inside?kind=pods", 12, 3);
    play.does(InsideCommand::Set("pop.0".into()));
    play.does(InsideCommand::Pause("ended".into()));
    // Up to the last event but a few.
    let until = |play: &mut Play, text: &str| {
        for _ in 0..500 {
            play.does(InsideCommand::Step(1));
            if play.inside().sentence.contains(text) {
                return;
            }
        }
        panic!("no step says {text}");
    };
    until(&mut play, "at version 109");
    // The page's own watches, rows and state are never touched.
    let own = |play: &mut Play| {
        play.frame();
        (play.page.reports().digest_of("pods"), play.page.reports().rows_of("pods", &play.place), play.state())
    };
    let before = own(&mut play);
    play.does(InsideCommand::Break(BreakKind::Drop));
    let model = play.inside();
    assert_eq!(model.broken.map(|at| model.breaks[at].title.clone()), Some("Lose an event".into()));
    assert!(model.breaks[5].is_used && model.breaks[5].sentence.contains("only a new list"));
    until(&mut play, "is lost");
    until(&mut play, "at version 111");
    let stale = lines(&play.inside(), Part::Store);
    assert!(stale.iter().any(|line| *line == "p0 107 110"), "{stale:?}");
    play.does(InsideCommand::Break(BreakKind::Gone));
    play.does(InsideCommand::Next);
    assert!(play.inside().sentence.starts_with("The watch ended"), "{}", play.inside().sentence);
    play.does(InsideCommand::Pause("replace".into()));
    play.does(InsideCommand::Next);
    let model = play.inside();
    assert!(model.sentence.starts_with("The list is compared"), "{}", model.sentence);
    assert_eq!(model.state, "replace");
    play.does(InsideCommand::End);
    let healed = lines(&play.inside(), Part::Store);
    assert_eq!(healed, ["key has server", "a 1 1", "b 2 2", "p0 110 110", "p1 111 111", "p2 112 112"]);
    assert_eq!(own(&mut play), before);
    // Nothing comes any more that could break.
    play.does(InsideCommand::Break(BreakKind::Cut));
    assert_eq!(play.message(), "Nothing more comes that could break.");
}

#[test]
fn what_the_server_has_compacted_is_marked_on_the_ruler() {
    let mut play = received("#/inside?kind=pods", 3, 3);
    play.does(InsideCommand::Set("pop.0".into()));
    let looks = |play: &Play| {
        let lines = &play.inside().parts[0].lines;
        lines.iter().map(|line| (line.look, line.left.clone())).collect::<Vec<_>>()
    };
    while !play.inside().sentence.contains("at version 101") {
        play.does(InsideCommand::Step(1));
    }
    assert!(looks(&play).iter().all(|(look, _)| !look.contains("compacted") && *look != "mark"), "{:?}", looks(&play));
    play.does(InsideCommand::Break(BreakKind::Gone));
    while !play.inside().sentence.contains("410") {
        play.does(InsideCommand::Step(1));
    }
    // All that came up to the version that was asked for, and a mark below it; what is new after it is in no list yet.
    let found = looks(&play);
    let mark = found.iter().position(|(look, _)| *look == "mark").expect("a mark");
    assert_eq!(found[mark], ("mark", "101".into()), "{found:?}");
    assert!(found[..mark].iter().all(|(look, left)| left.is_empty() || look.contains("compacted")), "{found:?}");
    assert!(found[mark + 1..].iter().all(|(look, _)| !look.contains("compacted")), "{found:?}");
    // It stays there when the next list has come, whose version is remembered.
    while !play.inside().sentence.starts_with("The list has") {
        play.does(InsideCommand::Step(1));
    }
    let found = looks(&play);
    assert_eq!(found.iter().filter(|(look, _)| *look == "mark").count(), 1, "{found:?}");
    let last = found.iter().rfind(|(look, _)| look.contains("now")).expect("the list");
    assert_eq!(last.0, "list now", "{found:?}");
}

#[test]
fn a_list_is_streamed_from_the_beginning_on_wherever_that_is_set() {
    let mut play = received("#/inside?kind=pods", 3, 3);
    play.does(InsideCommand::Step(6));
    play.does(InsideCommand::Set("streams.1".into()));
    let address = play.address();
    assert!(address.contains("set=0.streams.1"), "{address}");
    play.does(InsideCommand::To(4));
    let model = play.inside();
    assert_eq!((model.state, &*model.settings[1].chosen), ("list", "streams.1"));
    assert!(model.sentence.contains("is in the list at version"), "{}", model.sentence);
    let ruler = &model.parts[0].lines;
    let of_list = |line: &Line| line.look.contains("list");
    assert!(ruler[..3].iter().all(of_list), "{ruler:?}");
    assert_eq!([&*ruler[0].text, &*ruler[1].text], ["WATCH with the list", "a"]);
    while !play.inside().sentence.starts_with("A bookmark ends the list") {
        play.does(InsideCommand::Step(1));
    }
    let model = play.inside();
    assert_eq!(model.state, "replace");
    let ruler = lines(&model, Part::Server);
    assert!(ruler.iter().any(|line| line.contains("that is all")), "{ruler:?}");
    play.does(InsideCommand::Step(1));
    assert!(play.inside().sentence.starts_with("A pop takes"), "the same watch goes on: {}", play.inside().sentence);
    assert_eq!(play.inside().state, "watch");
}

#[test]
fn a_relist_that_was_recorded_breaks_the_stream_where_it_did() {
    let mut play = received("#/pods", 3, 3);
    let id = play.informers[0].0;
    let error = r#"{"type":"ERROR","object":{"kind":"Status","status":"Failure","code":410,"reason":"Expired","message":"too old"}}"#;
    play.reflects(id, Input::Frame(error));
    // The new list has lost p0, and p1 is another version.
    play.place.now.set(play.place.now.get() + 2_000.0);
    play.reflects(id, Input::Timer);
    play.reflects(id, Input::Opened);
    for object in [pod("a", 1), pod("b", 2), pod("p1", 300), pod("p2", 103)] {
        play.reflects(id, Input::Frame(&json!({"type": "ADDED", "object": object}).to_string()));
    }
    let end = kubechurn_client::testing::bookmark("400", r#"{"k8s.io/initial-events-end":"true"}"#);
    play.reflects(id, Input::Frame(&end));
    play.frame();
    play.receive(1, 1, 500);
    play.frame();
    play.press(&["i"], Focus::Table);
    play.arrive();
    play.does(InsideCommand::Set("pop.0".into()));
    play.does(InsideCommand::Pause("tombstone".into()));
    play.does(InsideCommand::Next);
    assert_eq!(play.inside().sentence, "A handler is called: OnDelete(DeletedFinalStateUnknown{n/p0@101}).");
}

#[test]
fn a_stream_is_sampled_and_what_is_left_out_is_counted() {
    let mut play = received("#/inside?kind=pods", 400, 100);
    let model = play.inside();
    assert!(
        model
            .notes
            .ends_with("8 of 102 objects, with 32 of the events: those that changed last; 368 of others are left out."),
        "{}",
        model.notes
    );
    assert_eq!(model.newer, "");
    // Before the first step it follows. Then what comes meanwhile is counted, and played when the user wants it.
    play.receive(1, 100, 800);
    play.rest();
    assert!(play.inside().notes.contains("with 33 of the events"), "{}", play.inside().notes);
    play.does(InsideCommand::Step(1));
    play.receive(5, 5, 900);
    play.rest();
    let notes = play.inside().notes;
    assert!(notes.ends_with("1 event has come since, and 4 of others, which are left out."), "{notes}");
    assert_eq!(play.inside().newer, "1 new frame");
    play.does(InsideCommand::New);
    assert!(play.inside().sentence.starts_with("n/p0 has changed at version 900"), "{}", play.inside().sentence);
    assert_eq!(play.inside().newer, "4 newer");
    play.does(InsideCommand::Renew);
    let model = play.inside();
    assert!((&*model.newer, model.number) == ("", 0) && model.notes.contains("of others"), "{}", model.notes);
    assert!(model.notes != notes);
}

/// What comes while it is open joins the end, whether the end was seen or not. No step that was shown changes, and the address
/// leads to the same state.
#[test]
fn what_comes_meanwhile_is_played_after_the_last_step() {
    for there in [20, usize::MAX] {
        let mut play = received("#/inside?kind=pods", 30, 4);
        play.does(InsideCommand::Set("resync.5000".into()));
        play.does(InsideCommand::Set("slow.10000".into()));
        play.does(InsideCommand::To(there));
        let (before, steps) = (seen(play.inside()), play.inside().number);
        play.receive(7, 4, 900);
        play.rest();
        let model = play.inside();
        assert_eq!((model.number, &*model.newer, model.grows), (steps, "7 new frames", true));
        assert_eq!(
            (&model.sentence, &model.parts[4], &model.queues),
            (&before.sentence, &before.parts[4], &before.queues)
        );
        // Back and forth through what was shown already.
        play.does(InsideCommand::To(10));
        play.does(InsideCommand::To(steps));
        assert_eq!(
            (&play.inside().sentence, play.inside().parts[5..].to_vec()),
            (&before.sentence, before.parts[5..].to_vec())
        );
        play.receive(3, 3, 950);
        play.rest();
        play.does(InsideCommand::New);
        assert!(play.inside().sentence.contains("at version 900"), "{}", play.inside().sentence);
        assert_eq!(play.inside().newer, "");
        play.does(InsideCommand::End);
        let store = lines(&play.inside(), Part::Store);
        assert!(store.contains(&"p0 950 950".to_owned()) && store.contains(&"p3 903 903".to_owned()), "{store:?}");
        play.receive(2, 1, 980);
        play.rest();
        play.does(InsideCommand::Step(3));
        let (last, address) = (seen(play.inside()), play.address());
        assert!(address.contains("&grown="), "{address}");
        for other in ["#/deployments", "#/pods", &address] {
            play.command(Command::Arrive(other.into()));
            play.frame();
        }
        let notes = |model: InsideModel| InsideModel { notes: String::new(), ..model };
        assert_eq!(notes(seen(play.inside())), notes(last), "{address}");
    }
}

/// While it is played, the end is not the end: it waits for what comes.
#[test]
fn playing_goes_on_with_what_comes() {
    let mut play = received("#/inside?kind=pods", 6, 3);
    play.does(InsideCommand::Set("pop.0".into()));
    play.does(InsideCommand::End);
    let end = play.inside().number;
    play.does(InsideCommand::Speed(5));
    play.does(InsideCommand::Play);
    play.wait(600.0);
    play.frame();
    assert_eq!((play.inside().number, play.inside().plays), (end, true));
    play.receive(1, 1, 700);
    for _ in 0..40 {
        play.wait(600.0);
        play.frame();
    }
    let model = play.inside();
    assert!(model.number > end && model.plays, "{} of {end}", model.number);
    assert!(lines(&model, Part::Store).contains(&"p0 700 700".to_owned()));
}

/// Where the page's own watch has broken, the stream has not, so that it does not go on with what came after that.
#[test]
fn nothing_joins_a_stream_whose_watch_was_broken_since() {
    let mut play = received("#/inside?kind=pods", 6, 3);
    play.does(InsideCommand::Step(1));
    let id = play.informers.iter().find(|(_, of)| *of == "pods").expect("it is watched").0;
    play.reflects(id, Input::Closed(1006));
    play.wait(3_000.0);
    play.reflects(id, Input::Timer);
    play.reflects(id, Input::Opened);
    play.receive(4, 3, 800);
    play.rest();
    let model = play.inside();
    assert_eq!((&*model.newer, model.grows), ("4 newer", false));
}

/// What is done for a frame that comes while it is open does not grow with what there is: allocations are counted, so that the
/// load of the machine does not matter.
#[test]
fn an_open_inside_costs_each_event_little() {
    let cost = |fragment: &str| {
        let mut play = received(fragment, 8_000, 40);
        if fragment.contains("inside") {
            play.does(InsideCommand::Step(3));
        }
        play.rest();
        let measured = allocation_counter::measure(|| {
            for second in 0..3 {
                play.receive(1_000, 40, 10_000 + second * 1_000);
                play.rest();
            }
        });
        measured.count_total
    };
    let (closed, open) = (cost("#/pods"), cost("#/inside?kind=pods"));
    assert!(open * 2 < closed * 3, "{open} allocations, and {closed} while it is not open");
}

/// A step costs as much at the end of many frames as at the end of few.
#[test]
fn a_step_costs_the_same_however_many_frames_there_are() {
    let cost = |events: usize| {
        let mut play = received("#/inside?kind=pods", events, 8);
        play.does(InsideCommand::Set("pop.0".into()));
        play.does(InsideCommand::End);
        play.does(InsideCommand::Step(-200));
        let measured = allocation_counter::measure(|| {
            for _ in 0..100 {
                play.does(InsideCommand::Step(1));
            }
        });
        (measured.count_total, measured.bytes_total)
    };
    let ((few, few_bytes), (many, many_bytes)) = (cost(500), cost(8_000));
    assert!(many * 4 < few * 5, "{many} allocations, and {few} with few frames");
    assert!(many_bytes * 4 < few_bytes * 5, "{many_bytes} bytes, and {few_bytes} with few frames");
}

/// A page that stands in another one shows a lesson, asks for nothing, keeps nothing, and does nothing else.
#[test]
fn an_embedded_page_shows_a_lesson_and_asks_for_nothing() {
    let base = "https://docs.example/kubechurn/";
    let mut play =
        Play::at(&format!("{base}?embed=1&part=queue#/inside?kind=pods&lesson=tombstone"), &[("kubechurn.keep", "on")]);
    play.frame();
    let model = play.inside();
    assert_eq!((model.caption.lesson, model.about), ("tombstone", Some(Part::Queue)));
    assert_eq!(model.whole, format!("{base}#/inside?kind=pods&lesson=tombstone"));
    for key in [".", ".", "]"] {
        play.press(&[key], Focus::Table);
        play.frame();
    }
    let model = play.inside();
    assert!(model.number > 3 && model.whole.ends_with("&caption=4"), "{}", model.whole);
    play.press(&["[", "i", "Escape", "?"], Focus::Table);
    play.command(Command::Go(Route::parse("#/secrets").into()));
    play.command(Command::Arrive("#/open?url=recordings/x.churn".into()));
    for _ in 0..50 {
        play.wait(10_000.0);
        play.frame();
    }
    let waits = play.inside().waits;
    assert_eq!(waits, "The address of this page names no lesson.");
    play.command(Command::Arrive("#/inside?kind=pods&lesson=410&caption=4".into()));
    play.frame();
    assert_eq!(&play.inside().caption.place[..4], "4 of");
    assert!(play.requests.is_empty() && play.informers.is_empty(), "{:?}", play.requests);
    let effects = play.done();
    let others: Vec<&str> = effects.split(", ").filter(|effect| !effect.starts_with("replace #/inside")).collect();
    assert_eq!(others, ["dark", "restrict 'none'", "dark"], "nothing is kept, and nobody goes elsewhere");
}

#[test]
fn it_plays_by_itself_and_pauses_and_nothing_is_kept_or_asked_for_when_it_is_left() {
    let mut play = received("#/inside?kind=pods", 6, 3);
    play.does(InsideCommand::Speed(5));
    play.does(InsideCommand::Pause("n/p1".into()));
    play.press(&[" "], Focus::Table);
    assert!(play.inside().plays);
    for _ in 0..400 {
        play.wait(60.0);
        play.frame();
        if !play.inside().plays {
            break;
        }
    }
    let model = play.inside();
    assert!(
        !model.plays && model.sentence.contains("A pop takes") && model.sentence.contains("n/p1"),
        "{}",
        model.sentence
    );
    play.press(&[" "], Focus::Table);
    play.press(&["i"], Focus::Table);
    play.arrive();
    assert!(play.page.view().header.inside.is_none());
    play.wait(20_000.0);
    play.frame();
    let page = format!("{:?}", play.page);
    assert!(page.contains("inside: Inside { open: None"), "nothing is kept");
}

#[test]
fn a_lesson_opens_at_its_address_without_a_cluster() {
    let open = |id: &str| {
        let mut play = Play::at(&format!("http://127.0.0.1:8080/#/inside?kind=pods&lesson={id}"), &[]);
        play.frame();
        play
    };
    let mut play = open("410");
    play.does(InsideCommand::Pause("ended".into()));
    play.does(InsideCommand::Next);
    let model = play.inside();
    assert_eq!(model.sentence, "The watch ended: the connection was cut.");
    assert!(model.stands_alone && model.notes.starts_with("What 410 means"), "{}", model.notes);
    assert_eq!(open("none").inside().waits, "This page has no lesson of this name.");
}

/// What a learner reads beside a caption, line by line.
fn read_beside(model: &InsideModel) -> String {
    let text = |words: &str| words.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = |indent: &str, line: &Line| {
        let middle = format!("{} {}", line.glyph(), line.text);
        let words = [&*line.left, &middle, &line.right].map(text);
        indent.to_owned() + &words.into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join(" | ")
    };
    let mut all = vec![
        format!("Caption {}: {}", model.caption.place, text(model.caption.words)),
        format!("Step: {}", text(&model.sentence)),
        format!("Reflector: {}", model.state),
    ];
    for (part, shown) in Part::ALL.into_iter().zip(&model.parts) {
        all.push(format!("{}{}", part.title(), if shown.is_lit { ", now" } else { "" }));
        all.extend(shown.facts.iter().map(|(name, value)| format!("    {}: {}", text(name), text(value))));
        let queues = Which::ALL.into_iter().zip(&model.queues).filter(|_| part == Part::Queue);
        for (which, queue) in queues {
            let chosen = if queue.is_chosen { ", chosen" } else { "" };
            all.push(format!("    {}{chosen}: {}", which.title(), text(&queue.waits)));
            for slot in &queue.slots {
                // A resync queues what the store has in an order that is the machine's.
                if which == Which::Folding && slot.lines.iter().any(|one| one.delta == "Sync") {
                    all.push(String::from("        of a resync"));
                    continue;
                }
                let key = if slot.key.is_empty() { String::from("all") } else { text(&slot.key) };
                all.push(format!("        {key}"));
                all.extend(slot.lines.iter().map(|one| line("            ", one)));
            }
        }
        all.extend(shown.lines.iter().map(|one| line("    ", one)));
        all.extend(Some(text(&shown.note)).filter(|note| !note.is_empty()).map(|note| format!("    {note}")));
    }
    all.join("\n")
}

/// `KUBECHURN_WRITE=1` writes the file that a browser's test reads, too: read what differs before it is committed.
#[test]
fn each_lesson_is_read_caption_by_caption_and_each_has_an_address() {
    let mut read = String::new();
    for lesson in lessons() {
        read += &format!("# {}\n\n", lesson.id);
        let stops = lesson.stops();
        let mut play = Play::at(&format!("http://127.0.0.1:8080/#/inside?kind=pods&lesson={}", lesson.id), &[]);
        play.frame();
        for (at, caption) in lesson.captions.iter().enumerate() {
            if at > 0 {
                // As the key does it.
                let command = Command::Rewind(RewindCommand::Step(1));
                let taken = keys::command(Press { key: ".", ..Press::default() }, Focus::Table, Rows::Inside, true);
                assert!(taken.is_some() && taken != Some(command), "{taken:?}");
                play.command(taken.unwrap());
                play.frame();
            }
            let model = play.inside();
            let place = format!("{} of {}, {}", at + 1, lesson.captions.len(), caption.part.title());
            assert_eq!((model.caption.words, &model.caption.place), (caption.words, &place), "{}", lesson.id);
            assert_eq!((model.number, model.caption.lesson), (stops[at], lesson.id));
            assert_eq!(model.caption.is_last, at + 1 == stops.len());
            assert!(model.spoken.contains(caption.words), "{}", model.spoken);
            read += &format!("{}\n\n", read_beside(&model));
            let address = play.address();
            assert!(at == 0 || address.ends_with(&format!("caption={}", at + 1)), "{address}");
            let mut again = Play::at(&format!("http://127.0.0.1:8080/{address}"), &[]);
            again.frame();
            assert_eq!(seen(again.inside()), seen(model), "{address}");
        }
    }
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/lessons.txt");
    if std::env::var_os("KUBECHURN_WRITE").is_some() {
        std::fs::write(file, &read).unwrap();
    }
    let written = std::fs::read_to_string(file).unwrap();
    let differs = read.lines().zip(written.lines()).find(|(read, written)| read != written);
    assert!(read == written, "{differs:?}");
}

#[test]
fn whoever_leaves_the_way_of_a_lesson_sees_that_and_comes_back() {
    let mut play = Play::at("http://127.0.0.1:8080/#/inside?kind=pods&lesson=tombstone", &[]);
    play.frame();
    let first = play.inside();
    play.does(InsideCommand::Caption(1));
    let second = play.inside();
    play.does(InsideCommand::Set("atomic.1".into()));
    play.does(InsideCommand::Set("pop.never".into()));
    let changed = play.inside();
    assert_eq!((changed.caption.words, &*changed.caption.place), ("", "The lesson says nothing of this step."));
    play.does(InsideCommand::Caption(-1));
    assert_eq!(seen(play.inside()), seen(second), "what was set is gone");
    play.does(InsideCommand::Caption(-1));
    play.does(InsideCommand::Caption(-1));
    assert_eq!(seen(play.inside()), seen(first), "there is none before the first");
    play.does(InsideCommand::Lesson("410"));
    play.arrive();
    let other = play.inside();
    assert_eq!((other.caption.lesson, &other.caption.place[..4]), ("410", "1 of"));
    play.does(InsideCommand::Toggle);
    play.arrive();
    assert!(play.page.view().header.inside.is_none());
}

#[test]
fn words_of_the_model_are_those_of_the_step() {
    let mut play = received("#/inside?kind=pods", 1, 1);
    play.does(InsideCommand::To(3));
    let model = play.inside();
    assert_eq!(model.client_go, "Queue.Replace(2 items)");
    assert_eq!(model.spoken, format!("Step 3. {}", model.sentence));
    assert_eq!(model.rules.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [56, 57]);
    let lit: Vec<bool> = model.parts.iter().map(|part| part.is_lit).collect();
    assert_eq!(lit, [false, false, true, false, true, false, false]);
    assert_eq!(lines(&model, Part::Store), ["key has → list so", "a ▲ – → 1 new", "b ▲ – → 2 new"]);
    let now: Vec<usize> = model.steps.iter().filter(|step| step.state == "now").map(|step| step.number).collect();
    assert_eq!((now, model.steps.len()), (vec![3], 14));
}
