//! What is different between two moments: the objects that differ in the end, and nothing that was taken back.

use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::reflector::Input;
use kubechurn_client::testing::bookmark;
use kubechurn_model::feed::net::export::NetFormat;
use kubechurn_model::feed::span::{SpanCommand, SpanModel};
use kubechurn_model::feed::{FeedCommand, FeedRow, Piece};
use kubechurn_model::history::Budget;
use kubechurn_model::page::command::{Command, TimelineCommand};
use kubechurn_model::page::keys::Focus;
use kubechurn_model::rewind::banner::RewindCommand;
use serde_json::{Value, json};

use super::Play;
use super::changes::LISTED;

const PLACE: &str = "#/deployments,replicasets,pods,events?view=changes";

/// An object of a kind, with what is given beside its metadata.
fn object(kind: &str, name: &str, version: u32, owner: Option<(&str, &str)>, rest: &Value) -> Value {
    let owners = owner.map(|(kind, uid)| json!([{"kind": kind, "name": uid, "uid": uid, "controller": true}]));
    let mut object = json!({"kind": kind, "apiVersion": "v1", "metadata": {"name": name, "namespace": "shop", "uid": name,
        "generation": version, "resourceVersion": version.to_string(), "ownerReferences": owners}});
    if let (Value::Object(object), Value::Object(rest)) = (&mut object, rest) {
        object.extend(rest.clone());
    }
    object
}

fn pod(name: &str, version: u32, phase: &str) -> Value {
    let rest = json!({"spec": {"containers": [{"name": "c"}]}, "status": {"phase": phase}});
    object("Pod", name, version, Some(("ReplicaSet", "web-1")), &rest)
}

fn deployment(version: u32, image: &str, replicas: u32) -> Value {
    let template = json!({"spec": {"containers": [{"name": "web", "image": image}]}});
    object("Deployment", "web", version, None, &json!({"spec": {"replicas": replicas, "template": template}}))
}

fn replica_set(name: &str, version: u32, replicas: u32) -> Value {
    object("ReplicaSet", name, version, Some(("Deployment", "web")), &json!({"spec": {"replicas": replicas}}))
}

impl Play {
    fn id_of(&self, resource: &str) -> InformerId {
        self.informers.iter().find(|(_, of)| *of == resource).expect("it is watched").0
    }

    fn says(&mut self, at: f64, word: &str, object: &Value) {
        self.place.now.set(at);
        let resource = format!("{}s", object["kind"].as_str().unwrap_or_default().to_lowercase());
        self.reflects(self.id_of(&resource), Input::Frame(&json!({"type": word, "object": object}).to_string()));
        self.frame();
    }

    /// Compares two times, and shows frames until all is compared.
    fn compares(&mut self, from: f64, to: f64) {
        self.spans(SpanCommand::Compare(from, to));
    }

    fn spans(&mut self, command: SpanCommand) {
        self.command(Command::Span(command));
        self.settled();
    }

    fn settled(&mut self) {
        self.arrive();
        for _ in 0..20 {
            self.frame();
        }
    }

    fn net(&self) -> SpanModel {
        (*self.page.view().feed.span).clone().expect("two moments are compared")
    }

    fn rows(&self) -> Vec<FeedRow> {
        self.page.view().feed.window.rows.clone()
    }

    /// The rows in words: what is indented by how much, its sign, kind, name and what is said of it.
    fn differences(&self) -> Vec<String> {
        let rows = self.rows().into_iter().map(|row| {
            let words: String = row.words.iter().map(|piece| &*piece.text).collect();
            let name = format!("{} {}{}", row.kind, row.name, row.name_end);
            format!("{}{} {} {words}", "  ".repeat(row.depth.into()), row.delta.1, name.trim()).trim_end().to_owned()
        });
        rows.collect()
    }

    /// What a command has the page copy or save.
    fn exports(&mut self, format: NetFormat) -> String {
        self.done();
        self.command(Command::Feed(FeedCommand::Export(format)));
        self.done()
    }
}

/// A rollout from 20 s to 40 s, beside which other things happen; it is 60 s then. All is listed at 10 s.
fn played() -> Play {
    let mut play = Play::found(PLACE);
    play.command(Command::Feed(FeedCommand::Scroll { top: 0.0, height: 900.0, width: 900.0 }));
    play.place.now.set(10_000.0);
    let listed = [
        ("deployments", vec![deployment(1, "web:1", 1)]),
        ("replicasets", vec![replica_set("web-1", 2, 1)]),
        (
            "pods",
            vec![
                pod("web-1-a", 3, "Running"),
                pod("lone", 4, "Running"),
                pod("same", 5, "Running"),
                pod("again", 6, "Running"),
            ],
        ),
        ("events", Vec::new()),
    ];
    for (resource, objects) in listed {
        let Some((id, _)) = play.informers.iter().copied().find(|(_, of)| *of == resource) else { continue };
        play.reflects(id, Input::Start);
        play.reflects(id, Input::Opened);
        for object in objects {
            play.reflects(id, Input::Frame(&json!({"type": "ADDED", "object": object}).to_string()));
        }
        play.reflects(id, Input::Frame(&bookmark("9", LISTED)));
    }
    play.frame();
    let mut other = pod("again", 31, "Pending");
    other["metadata"]["uid"] = json!("again-2");
    let mut new = pod("web-2-a", 23, "Running");
    new["metadata"]["ownerReferences"][0] =
        json!({"kind": "ReplicaSet", "name": "web-2", "uid": "web-2", "controller": true});
    for (at, word, object) in [
        (20_000.0, "MODIFIED", deployment(20, "web:typo", 1)),
        (21_000.0, "ADDED", replica_set("web-2", 21, 1)),
        (22_000.0, "MODIFIED", deployment(22, "web:2", 1)),
        (23_000.0, "ADDED", new),
        (24_000.0, "MODIFIED", replica_set("web-1", 24, 0)),
        (25_000.0, "DELETED", pod("web-1-a", 25, "Running")),
        // It fails, and is as it was.
        (26_000.0, "MODIFIED", pod("same", 26, "Failed")),
        (27_000.0, "MODIFIED", pod("same", 27, "Running")),
        // One comes and goes.
        (28_000.0, "ADDED", pod("passing", 28, "Pending")),
        (29_000.0, "DELETED", pod("passing", 29, "Failed")),
        // Another one takes the name.
        (30_000.0, "DELETED", pod("again", 30, "Running")),
        (31_000.0, "ADDED", other),
        (40_000.0, "MODIFIED", pod("lone", 40, "Failed")),
    ] {
        play.says(at, word, &object);
    }
    play.place.now.set(60_000.0);
    play.frame();
    play
}

#[test]
fn what_differs_in_the_end_is_grouped_by_owner_and_what_was_taken_back_is_counted_alone() {
    let mut play = played();
    play.compares(15_000.0, f64::INFINITY);
    let rows = play.differences();
    assert_eq!(
        rows,
        [
            "● Deployment shop/web image 1 → 2",
            "  ▲ ReplicaSet shop/web-2 added, replicas 1",
            "    ▲ Pod shop/web-2-a added, status Running",
            "  ● ReplicaSet shop/web-1 replicas 1 → 0",
            "    ✕ Pod shop/web-1-a deleted",
            "    ◆ Pod shop/again replaced, status Running → Pending",
            "    ● Pod shop/lone status Running → Failed",
        ],
        "{rows:#?}"
    );
    let net = play.net();
    assert_eq!(net.words, "7 objects differ: 2 added, 3 changed, 1 gone, 1 replaced");
    let left_out: Vec<&str> = net.left_out.lines().collect();
    assert_eq!(
        left_out,
        [
            "1 object was changed and is as it was.",
            "1 object came and went.",
            "Events are no state of anything, and are not compared."
        ]
    );
    assert_eq!((net.ends[1].as_str(), net.is_net, net.reading.as_str()), ("now", true, ""));
    let kinds = net.sections.iter().find(|section| section.title == "kind").expect("counts by kind");
    let kinds: Vec<String> = kinds.rows.iter().map(|row| format!("{} {} {}", row.name, row.count, row.note)).collect();
    assert_eq!(kinds, ["Pod 4 ▲1 ●1 ✕1 ◆1", "ReplicaSet 2 ▲1 ●1", "Deployment 1 ●1"]);
    let there_and_back = net.sections.iter().find(|section| section.title == "there and back").expect("rows");
    let there_and_back: Vec<String> =
        there_and_back.rows.iter().map(|row| format!("{}; {}", row.name, row.filter)).collect();
    assert_eq!(
        there_and_back,
        [
            r"Pod of ReplicaSet web-1: came and went; kind:/^Pod$/ owner:/^ReplicaSet\/web\-1$/",
            "Pod shop/same: status Running → Failed → Running; kind:/^Pod$/ name:/^same$/",
        ]
    );
    // The time is that of the last change; a click opens both versions side by side.
    let rows = play.rows();
    let deployment = &rows[0];
    assert_eq!((deployment.at, &*deployment.repetition), (22_000.0, ""));
    assert!(deployment.href.contains("change=") && deployment.href.contains("against="), "{}", deployment.href);
    assert!(rows[1].href.contains("change=") && !rows[1].href.contains("against="), "{}", rows[1].href);
    play.command(Command::Go(Box::new(kubechurn_model::navigation::route::Route::parse(&deployment.href))));
    play.settled();
    let compared = play.page.view().inspector.comparison.as_ref().expect("both versions are shown");
    assert!(compared.words.starts_with("2 fields differ"), "{}", compared.words);
}

#[test]
fn fields_that_went_there_and_back_are_named_in_an_object_that_differs_in_others() {
    let mut play = played();
    for (at, image, replicas) in [(61, "web:3", 5), (62, "web:bad", 3), (63, "web:4", 1)] {
        play.says(f64::from(at) * 1_000.0, "MODIFIED", &deployment(at, image, replicas));
    }
    // One that changes once has taken nothing back, and what one has at the end is a difference.
    play.says(64_000.0, "MODIFIED", &pod("same", 64, "Failed"));
    for (at, replicas) in [(65, 4), (66, 2)] {
        play.says(f64::from(at) * 1_000.0, "MODIFIED", &replica_set("web-2", at, replicas));
    }
    play.compares(60_500.0, f64::INFINITY);
    assert_eq!(
        play.differences(),
        [
            "● Pod shop/same status Running → Failed",
            "● Deployment shop/web image 2 → 4",
            "  ● ReplicaSet shop/web-2 replicas 1 → 2",
        ],
        "{:#?}",
        play.differences()
    );
    let net = play.net();
    assert_eq!(net.words, "3 objects differ: 3 changed");
    let said = "1 object that differs has other fields that were changed and changed back.";
    assert!(net.left_out.lines().any(|line| line == said), "{}", net.left_out);
    let words = |pieces: &[Piece]| pieces.iter().map(|piece| &*piece.text).collect::<String>();
    let said = |row: &FeedRow| (words(&row.below), row.more.clone(), row.opens);
    let rows: Vec<_> = play.rows().iter().map(said).collect();
    let back = ("there and back: replicas 1 → 5 → 3 → 1".into(), "+ 1 field there and back".into(), true);
    let nothing = (String::new(), String::new(), false);
    assert_eq!(rows, [nothing.clone(), back, nothing]);
    play.command(Command::Feed(FeedCommand::Open(play.rows()[1].id)));
    play.frame();
    let fields: Vec<String> =
        play.rows().iter().filter(|row| row.what == "field").map(|row| words(&row.words)).collect();
    assert_eq!(fields, ["there and back: spec.replicas 1 → 5 → 3 → 1"]);
    let text = play.exports(NetFormat::Text);
    assert!(text.contains("\n    there and back: spec.replicas 1 → 5 → 3 → 1\n"), "{text}");
    let markdown = play.exports(NetFormat::Markdown);
    assert!(markdown.contains("\n  - there and back: `spec.replicas` `1` → `5` → `3` → `1`\n"), "{markdown}");
    let saved = play.exports(NetFormat::JsonLines);
    let web: Value = saved
        .lines()
        .filter_map(|line| serde_json::from_str(line.get(line.find('{')?..)?).ok())
        .find(|line: &Value| line["kind"] == "Deployment")
        .expect("the Deployment");
    let course = json!([{"path": "spec.replicas", "values": ["1", "5", "3", "1"], "more": false}]);
    assert_eq!(web["thereAndBack"], course);
    // What then differs in that field, too, has not gone back.
    play.says(67_000.0, "MODIFIED", &deployment(67, "web:4", 2));
    play.place.now.set(69_000.0);
    (0..4).for_each(|_| play.frame());
    let (rows, left_out) = (play.rows(), play.net().left_out);
    assert!(rows.iter().all(|row| !said(row).1.contains("there and back")), "{rows:#?}");
    assert!(!left_out.contains("changed back."), "{left_out}");
}

#[test]
fn the_words_of_the_feed_filter_and_the_switch_shows_each_change() {
    let mut play = played();
    play.compares(15_000.0, 50_000.0);
    assert!(play.page.view().header.route.fragment().contains("span=15000-50000&net=1"));
    play.command(Command::Filter(String::from("kind:Pod type:deleted")));
    play.frame();
    assert_eq!(play.differences(), ["✕ Pod shop/web-1-a deleted"]);
    play.command(Command::Filter(String::from("name:nothing-is-called-so")));
    play.frame();
    assert_eq!(*play.page.view().feed.frame.empty, *"No difference passes the filter.");
    play.command(Command::Filter(String::new()));
    play.spans(SpanCommand::Net(false));
    assert!(!play.net().is_net && !play.page.view().header.route.net);
    let words: Vec<String> = play.differences();
    assert!(words.iter().any(|row| row.contains("typo")), "{words:#?}");
    play.spans(SpanCommand::Net(true));
    assert!(!play.differences().iter().any(|row| row.contains("typo")));
    // Esc gives the stretch up.
    play.command(Command::Leave);
    play.settled();
    assert!(play.page.view().feed.span.is_none() && !play.page.view().header.route.net);
}

#[test]
fn now_moves_on_and_what_is_open_stays_open() {
    let mut play = played();
    play.compares(15_000.0, f64::INFINITY);
    let is_lone = |row: &&FeedRow| row.what == "change" && row.name_end.ends_with("lone");
    let lone = play.rows().iter().find(is_lone).expect("a row").id;
    play.command(Command::Feed(FeedCommand::Open(lone)));
    play.frame();
    play.says(61_000.0, "MODIFIED", &deployment(61, "web:1", 1));
    play.says(61_100.0, "ADDED", &pod("late", 62, "Pending"));
    play.place.now.set(63_000.0);
    play.frame();
    play.frame();
    play.frame();
    let rows = play.differences();
    assert!(!rows.iter().any(|row| row.contains("Deployment")), "it is as it was: {rows:#?}");
    assert!(rows.iter().any(|row| row.contains("Pod shop/late added")), "{rows:#?}");
    assert!(play.rows().iter().find(is_lone).expect("a row").is_open, "{rows:#?}");
    // Rows that the user looks at stay, are of their time, and what came since is said.
    play.command(Command::Feed(FeedCommand::Scroll { top: 60.0, height: 100.0, width: 900.0 }));
    play.says(64_000.0, "ADDED", &pod("later", 64, "Pending"));
    play.place.now.set(66_000.0);
    (0..4).for_each(|_| play.frame());
    assert_eq!(play.page.view().feed.frame.newer, 1);
    let text = play.exports(NetFormat::Text);
    assert!(!text.contains("later") && !text.contains("00:01:06"), "{text}");
    play.command(Command::Feed(FeedCommand::Newest));
    play.command(Command::Feed(FeedCommand::Scroll { top: 0.0, height: 900.0, width: 900.0 }));
    (0..4).for_each(|_| play.frame());
    let (rows, newer) = (play.differences(), play.page.view().feed.frame.newer);
    assert!(rows.iter().any(|row| row.contains("2 Pods of ReplicaSet web-1 added")) && newer == 0, "{newer} {rows:#?}");
    // Paused, it stands still.
    play.command(Command::TogglePause);
    let before = play.differences();
    play.says(70_000.0, "DELETED", &pod("late", 70, "Pending"));
    play.place.now.set(73_000.0);
    play.frame();
    play.frame();
    assert_eq!(play.differences(), before);
    play.command(Command::TogglePause);
    play.frame();
    play.frame();
    assert_ne!(play.differences(), before);
}

#[test]
fn two_moments_are_chosen_by_key_by_typed_times_and_from_a_rewound_page() {
    let mut play = played();
    play.press(&["D"], Focus::Table);
    play.settled();
    // Before it listed everything the page has nothing to compare with.
    assert_eq!((&*play.net().ends[0], &*play.net().ends[1]), ("00:00:10.000", "now"));
    play.press(&["D"], Focus::Table);
    play.settled();
    assert!(!play.net().is_net, "each change again");
    play.spans(SpanCommand::Typed([String::from("00:00:21"), String::from("00:00:24.5")]));
    assert_eq!(play.net().words, "3 objects differ: 1 added, 2 changed");
    play.spans(SpanCommand::Typed([String::from("noon"), String::from("now")]));
    assert!(play.message().contains("Write times of day"), "{}", play.message());
    play.command(Command::Span(SpanCommand::Clear));
    play.settled();
    play.command(Command::Rewind(RewindCommand::To(35_000.0)));
    play.settled();
    // From a rewound page to now: what is now is shown again.
    play.press(&["D"], Focus::Table);
    play.settled();
    assert_eq!(
        (play.differences(), play.state()),
        (vec![String::from("● Pod shop/lone status Running → Failed")], "live")
    );
    // While another moment is shown, nothing later is compared.
    play.command(Command::Rewind(RewindCommand::To(35_000.0)));
    play.settled();
    play.spans(SpanCommand::Back(15_000.0));
    assert_eq!((play.state(), &*play.net().ends[1]), ("rewound", "00:00:35.000"));
    assert!(!play.differences().iter().any(|row| row.contains("lone")), "{:#?}", play.differences());
}

#[test]
fn before_and_after_a_mark_are_two_moments() {
    let mut play = played();
    play.spans(SpanCommand::Around(22_000.0));
    play.press(&["D"], Focus::Table);
    play.settled();
    assert_eq!((&*play.net().ends[0], &*play.net().ends[1]), ("00:00:20.000", "00:00:24.000"));
    assert_eq!(
        play.differences(),
        [
            "● Deployment shop/web image typo → 2",
            "  ▲ ReplicaSet shop/web-2 added, replicas 1",
            "    ▲ Pod shop/web-2-a added, status Running",
            "  ● ReplicaSet shop/web-1 replicas 1 → 0",
        ]
    );
}

#[test]
fn what_cannot_be_compared_is_named() {
    let mut play = played();
    // Before anything was listed.
    play.compares(5_000.0, f64::INFINITY);
    let words =
        "Deployments, ReplicaSets and Pods: not compared, because not watched or not yet listed at the first moment.";
    assert!(play.net().left_out.contains(words), "{}", play.net().left_out);
    assert_eq!((play.differences().len(), &*play.net().words), (0, "No object differs"));
    // Versions that are let go: who differs is known, and not in what.
    for version in 100..500 {
        let mut noisy = pod("noisy", version, "Running");
        noisy["metadata"]["annotations"] = json!({"text": format!("{version}").repeat(20_000)});
        play.says(60_000.0 + f64::from(version), if version == 100 { "ADDED" } else { "MODIFIED" }, &noisy);
        if version == 110 {
            play.command(Command::Recorder(Budget::Small));
        }
    }
    play.compares(15_000.0, f64::INFINITY);
    let recorder: Value = serde_json::from_str(&play.page.reports().recorder()).expect("JSON");
    assert!(recorder["dropped"].as_u64() > Some(0), "{recorder}");
    let rows = play.differences();
    assert!(rows.iter().any(|row| row.contains("not comparable, one of the two versions is not kept")), "{rows:#?}");
    assert!(play.net().words.contains("not kept at one of the two moments"), "{}", play.net().words);
    assert!(play.net().left_out.contains("objects may be missing"), "{}", play.net().left_out);
}

#[test]
fn objects_of_another_selector_are_not_called_gone() {
    let mut play = played();
    play.command(Command::Arrive(String::from("#/pods?view=changes&labels=app%3Dweb")));
    play.settle();
    let id = play.id_of("pods");
    play.reflects(id, Input::Start);
    play.reflects(id, Input::Opened);
    play.reflects(id, Input::Frame(&json!({"type": "ADDED", "object": pod("lone", 40, "Failed")}).to_string()));
    play.reflects(id, Input::Frame(&bookmark("90", LISTED)));
    play.frame();
    play.compares(15_000.0, f64::INFINITY);
    assert_eq!(play.differences(), Vec::<String>::new());
    let words = "Pods: not compared, because other labels or fields were selected at one of the two moments.";
    assert_eq!(play.net().left_out.lines().next(), Some(words));
    // Those of the same selector are compared.
    play.says(70_000.0, "MODIFIED", &pod("lone", 70, "Running"));
    play.compares(65_000.0, f64::INFINITY);
    assert_eq!(play.differences(), ["● Pod shop/lone status Failed → Running"]);
}

#[test]
fn a_condition_that_came_back_differs_in_noise_alone() {
    let mut play = played();
    for (at, version, status) in [(62_000.0, 62, "True"), (64_000.0, 64, "False"), (66_000.0, 66, "True")] {
        let condition = json!({"type": "Available", "status": status, "lastTransitionTime": at.to_string()});
        let rest = json!({"status": {"conditions": [condition]}});
        let word = if version == 62 { "ADDED" } else { "MODIFIED" };
        play.says(at, word, &object("Deployment", "flips", version, None, &rest));
    }
    play.compares(63_000.0, f64::INFINITY);
    assert_eq!(play.net().words, "No object differs; 1 in noise alone");
    play.compares(63_000.0, 65_000.0);
    assert_eq!(play.differences(), ["● Deployment shop/flips Available True → False"]);
}

#[test]
fn it_leaves_the_page_as_text_markdown_and_lines_of_json() {
    let mut play = played();
    play.compares(15_000.0, 50_000.0);
    let text = play.exports(NetFormat::Text);
    for line in [
        "7 objects differ: 2 added, 3 changed, 1 gone, 1 replaced, in all namespaces.",
        "● Deployment shop/web: changed at 00:00:22.000",
        "    spec.template.spec.containers[web].image web:1 → web:2",
        "  ● ReplicaSet shop/web-1: changed at 00:00:24.000",
        "    ✕ Pod shop/web-1-a: gone at 00:00:25.000",
        "1 object came and went.",
    ] {
        assert!(text.lines().any(|own| own == line), "{line} in {text}");
    }
    let markdown = play.exports(NetFormat::Markdown);
    for line in [
        "| Pod | 1 | 1 | 1 | 1 | 0 |",
        "- ● **Deployment `shop/web`**: changed at 00:00:22.000",
        "  - `spec.template.spec.containers[web].image` `web:1` → `web:2`",
        "  - ● **ReplicaSet `shop/web-1`**: changed at 00:00:24.000",
    ] {
        assert!(markdown.lines().any(|own| own == line), "{line} in {markdown}");
    }
    let saved = play.exports(NetFormat::JsonLines);
    let (name, lines) = saved.split_once(": ").expect("a file");
    assert!(name.starts_with("save differences-") && name.ends_with(".ndjson 7"), "{name}");
    let objects: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let web = objects.iter().find(|object| object["kind"] == "Deployment").expect("the Deployment");
    assert_eq!(
        (&web["what"], &web["fields"][0]["new"], &web["namespace"]),
        (&json!("changed"), &json!("web:2"), &json!("shop"))
    );
    assert_eq!(objects.len(), 7);
    // What the filter hides is left out, and that is said.
    play.command(Command::Filter(String::from("kind:Deployment")));
    play.frame();
    let text = play.exports(NetFormat::Text);
    assert!(
        text.contains("Only what passes the filter is listed: kind:Deployment") && !text.contains("lone"),
        "{text}"
    );
    // By another clock, if the page shows that one.
    play.press(&["z"], Focus::Table);
    let text = play.exports(NetFormat::Text);
    assert!(text.contains("changed at 00:00:22.000Z") && text.contains("00:00:50 UTC"), "{text}");
}

#[test]
fn hostile_names_are_no_markup_in_a_report() {
    let mut play = played();
    let mut hostile = pod("`|<script>*", 50, "x` **bold** | <b>");
    hostile["metadata"]["uid"] = json!("hostile");
    play.says(50_000.0, "ADDED", &hostile);
    // Owners that own each other.
    for (name, owner) in [("one", "two"), ("two", "one")] {
        play.says(51_000.0, "ADDED", &object("ReplicaSet", name, 51, Some(("ReplicaSet", owner)), &json!({})));
    }
    play.place.now.set(60_000.0);
    play.compares(45_000.0, f64::INFINITY);
    assert_eq!(play.differences().len(), 3, "{:#?}", play.differences());
    let markdown = play.exports(NetFormat::Markdown);
    assert!(markdown.contains("**Pod ``shop/`|<script>*``**"), "{markdown}");
}

#[test]
fn flags_show_the_two_moments_on_the_lanes() {
    let mut play = played();
    play.command(Command::Timeline(TimelineCommand::Resize(1_000.0, 300.0)));
    let flags = |play: &Play| {
        let scene = play.page.scene().expect("a scene");
        scene.compared.map(|x| x.map(|x| scene.scale.time(x).round()))
    };
    play.settled();
    assert_eq!(flags(&play), [None, None]);
    play.compares(15_000.0, 55_000.0);
    let [Some(from), Some(to)] = flags(&play) else { panic!("{:?}", flags(&play)) };
    assert!((from - 15_000.0).abs() < 1.0 && (to - 55_000.0).abs() < 1.0, "{from} {to}");
    // Now moves on.
    play.compares(15_000.0, f64::INFINITY);
    let now = play.place.now.get();
    assert!(flags(&play)[1].is_some_and(|to| (to - now).abs() < 1_000.0), "{:?} {now}", flags(&play));
    play.spans(SpanCommand::Net(false));
    assert_eq!(flags(&play), [None, None], "each change is shown");
}
