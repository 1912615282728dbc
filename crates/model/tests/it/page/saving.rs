//! A recording that is saved: what is shown before, what is in the file, and what must not be in it.

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::request::Scope;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::cache::reflector::Input;
use kubechurn_client::testing::{bookmark, event};
use kubechurn_model::page::Page;
use kubechurn_model::page::command::Command;
use kubechurn_model::page::effect::{Answer, Request};
use kubechurn_model::page::environment::Recorded;
use kubechurn_model::recording::{RecordingCommand, Rules, SaveModel, SaveTime, Selected};
use kubechurn_recording::{Block, Header, Line, Step, Text, Version, Watch, Writer};
use serde_json::Value;

use super::{Place, Play};

/// What must not be in any file: a value of a Secret, as text and in base64; and what may be in one only if the user says so.
pub(super) const SECRET: [&str; 2] = ["canary-of-the-secret", "Y2FuYXJ5LW9mLXRoZS1zZWNyZXQ="];
pub(super) const TOKENS: [&str; 2] = ["canary-of-the-annotation", "canary-of-the-environment"];

fn pod() -> String {
    format!(
        r#"{{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"web","namespace":"shop","uid":"p","resourceVersion":"5","annotations":{{"ci/access-token":"{}"}}}},"spec":{{"containers":[{{"name":"c","env":[{{"name":"API_TOKEN","value":"{}"}}]}}]}},"status":{{"phase":"Running"}}}}"#,
        TOKENS[0], TOKENS[1]
    )
}

fn secret() -> String {
    let [plain, encoded] = SECRET;
    format!(
        r#"{{"kind":"Secret","apiVersion":"v1","metadata":{{"name":"db","namespace":"shop","uid":"s","resourceVersion":"6","annotations":{{"vault/token":"{}"}}}},"data":{{"password":"{encoded}"}},"stringData":{{"also":"{plain}"}}}}"#,
        TOKENS[0]
    )
}

const MAP: &str = r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"settings","namespace":"shop","uid":"m","resourceVersion":"7"},"data":{"colour":"green"}}"#;

impl Play {
    pub(super) fn records(&mut self, command: RecordingCommand) {
        self.command(Command::Recording(command));
        for _ in 0..5 {
            self.frame();
        }
    }

    fn asked(&self) -> Option<SaveModel> {
        (*self.page.view().dialogs.save).clone()
    }

    /// The lines of the last block, and what the file is called.
    fn packed(&mut self) -> (String, String) {
        let mut blocks = self.requests.iter().rev().filter_map(|(_, request)| match request {
            Request::Pack { lines, name, .. } => Some((String::from_utf8_lossy(lines).into_owned(), name.clone())),
            _ => None,
        });
        let (lines, name) = blocks.next().expect("a block is to be compressed");
        (lines, name.expect("it is the last one"))
    }
}

pub(super) fn recorded() -> Play {
    let mut play = Play::found("#/pods,secrets,configmaps");
    for (id, resource) in play.informers.clone() {
        let object = match resource {
            "pods" => pod(),
            "secrets" => secret(),
            _ => MAP.to_owned(),
        };
        play.reflects(id, Input::Start);
        play.reflects(id, Input::Opened);
        play.reflects(id, Input::Frame(&format!(r#"{{"type":"ADDED","object":{object}}}"#)));
        play.reflects(id, Input::Frame(&bookmark("100", r#"{"k8s.io/initial-events-end":"true"}"#)));
    }
    play.frame();
    play
}

#[test]
fn what_will_be_in_the_file_is_shown_first_and_credentials_are_in_none() {
    let mut play = recorded();
    play.records(RecordingCommand::Save);
    let asked = play.asked().expect("the user is asked");
    let kinds: Vec<_> = asked.kinds.iter().map(|kind| (&*kind.title, &*kind.count, kind.is_chosen)).collect();
    assert_eq!(kinds, [("Pods", "1", true), ("Secrets", "1", true), ("ConfigMaps", "1", true)]);
    assert!(asked.redacts && asked.total.starts_with("3 versions, which take "), "{}", asked.total);
    assert_eq!(asked.hits, "3 values in the newest versions, among them:");
    let examples = ["Pod shop/web: ci/access-token", "Pod shop/web: API_TOKEN", "Secret shop/db: vault/token"];
    assert_eq!(asked.examples, examples);

    play.records(RecordingCommand::Title(String::from("Run 7: ä canary")));
    play.records(RecordingCommand::Kind(2));
    assert!(play.asked().expect("the user is asked").total.starts_with("2 versions"));
    play.records(RecordingCommand::Write);
    assert_eq!(play.asked(), None);
    // One file at a time.
    play.records(RecordingCommand::Save);
    assert_eq!((play.asked(), play.message()), (None, "Run-7-ä-canary.churn is still being written."));
    let (lines, name) = play.packed();
    assert_eq!(name, "Run-7-ä-canary.churn");
    assert!(SECRET.iter().chain(&TOKENS).all(|canary| !lines.contains(canary)), "{lines}");
    assert!(lines.contains("redacted, 24 bytes") && lines.contains(r#""plural":"secrets""#), "{lines}");
    assert!(!lines.contains("settings") && !lines.contains("configmaps"), "{lines}");
    play.answers("pack", Answer::Pack(Some(2_345)));
    assert_eq!(*play.page.view().dialogs.message, "Run-7-ä-canary.churn: 2 versions, 2 kB.");
}

#[test]
fn what_the_user_lets_be_is_in_the_file_and_the_values_of_secrets_never_are() {
    let mut play = recorded();
    play.records(RecordingCommand::Save);
    play.records(RecordingCommand::Redact);
    play.records(RecordingCommand::Write);
    let (lines, _) = play.packed();
    assert!(TOKENS.iter().all(|token| lines.contains(token)) && lines.contains("settings"), "{lines}");
    assert!(SECRET.iter().all(|canary| !lines.contains(canary)), "{lines}");
    // A browser that cannot write says so, and the page can save again.
    play.answers("pack", Answer::Pack(None));
    assert!(play.page.view().dialogs.message.starts_with("The browser could not write the file"));
    play.records(RecordingCommand::Save);
    play.records(RecordingCommand::CloseSave);
    assert_eq!(play.asked(), None);
}

/// How much the history of an opened recording may take.
const BUDGET: usize = 10_000_000;

/// A page that shows what another one has recorded, at its end.
fn opened(play: &Play) -> Page {
    read(play.page.reports().recording(Header::default(), Selected::default()), &play.place)
}

/// A page that shows these blocks, at their end.
pub(super) fn read(blocks: Vec<Vec<u8>>, place: &Place) -> Page {
    let env = |now| Recorded { around: place, now, ahead: 0.0 };
    let mut page = Page::open(&Header::default(), BUDGET, &env(0.0));
    let mut now = 0.0;
    for text in blocks {
        let (text, mut block) = (String::from_utf8(text).unwrap(), Block::default());
        while let Some((at, line)) = block.next(&text).unwrap() {
            // What was noted of an earlier time is no end.
            now = if matches!(line, Line::Note(_)) { at.max(now) } else { at };
            page.replay(&line, &env(at));
        }
    }
    page.replayed(now, &env(now));
    page
}

#[test]
fn a_list_that_repeats_what_is_known_is_whole_in_the_recording() {
    let mut play = Play::listed("#/pods", &["a@1", "b@2", "c@3"]);
    play.hears("pods", "MODIFIED", "a@4");
    play.frame();
    let id = play.informers[0].0;
    play.reflects(id, Input::Relist("it was asked for"));
    play.reflects(id, Input::Opened);
    for object in ["a@4", "c@7", "d@8"] {
        play.reflects(id, Input::Frame(&event("ADDED", object)));
    }
    play.reflects(id, Input::Frame(&bookmark("100", r#"{"k8s.io/initial-events-end":"true"}"#)));
    play.hears("pods", "ADDED", "e@101");
    play.frame();
    play.frame();
    let digest = play.page.reports().digest_of("pods");
    assert!(digest.is_some());
    let opened = opened(&play);
    // `a` is as it was, `b` is gone, `c` is another version, and `d` and `e` are new.
    assert_eq!(opened.reports().digest_of("pods"), digest);
    let state = |page: &Page| page.view().header.connection.state;
    assert_eq!((state(&play.page), state(&opened)), ("live", "recording"));
    let marks = |page: &Page| -> (Vec<String>, usize) {
        let marks: Value = serde_json::from_str(&page.reports().marks_of("pods").unwrap()).unwrap();
        // Where among the marks of its list that of a relist stands, depends on when there was a frame.
        let all = marks.as_array().unwrap().iter();
        let (relists, others): (Vec<&Value>, Vec<&Value>) = all.partition(|mark| mark["type"] == "Relist");
        let words = others.iter().map(|mark| format!("{} {} {}", mark["type"], mark["key"], mark["kept"]));
        (words.collect(), relists.len())
    };
    assert_eq!(marks(&opened), marks(&play.page));
}

#[test]
fn a_custom_kind_has_the_columns_of_the_definition_in_the_recording() {
    let resource = ApiResource {
        group: "example.com",
        version: "v1",
        plural: "widgets",
        kind: "Widget",
        namespaced: true,
        cluster: "",
    };
    let definition = r#"{"kind":"CustomResourceDefinition","spec":{"group":"example.com","names":{"plural":"widgets"},"versions":[{"name":"v1","served":true,"additionalPrinterColumns":[{"name":"Size","type":"integer","jsonPath":".spec.size"}]}]}}"#;
    let text = r#"{"metadata":{"name":"one","namespace":"shop","uid":"u","resourceVersion":"1"},"spec":{"size":7}}"#;
    let (key, uid) = (ObjectKey::new("shop", "one"), Uid::new("u"));
    let (watch, delta_type, text) = (0, DeltaType::Replaced, Text::Whole(text));
    let mut writer = Writer::new(Header::default());
    for line in [
        Line::Definition(definition),
        Line::Watch(Watch { number: 0, resource, scope: Scope::default(), is_repeated: false }),
        Line::Version(Version { watch, delta_type, key: &key, uid: &uid, text }),
        Line::Step(0, Step::Listed),
    ] {
        writer.push(5_000.0, &line);
    }
    let play = Play::found("#/widgets");
    let mut page = read(vec![writer.take()], &play.place);
    let env = Recorded { around: &play.place, now: 6_000.0, ahead: 0.0 };
    page.frame(&env);
    let size = |page: &Page, env: &Recorded<'_>| {
        let rows = page.reports().rows_of("widgets.example.com", env).expect("it is watched");
        let rows: Value = serde_json::from_str(&rows).unwrap();
        assert_eq!(rows[0]["key"], "shop/one");
        rows[0]["cells"]["SIZE"].clone()
    };
    assert_eq!(size(&page, &env), "7");
    // What is saved again has the definition, too.
    let mut again = read(page.reports().recording(Header::default(), Selected::default()), &play.place);
    again.frame(&env);
    assert_eq!(size(&again, &env), "7");
}

/// A file of what is chosen.
fn saved(play: &mut Play, commands: &[RecordingCommand]) -> String {
    play.records(RecordingCommand::Save);
    commands.iter().for_each(|command| play.records(command.clone()));
    play.records(RecordingCommand::Write);
    let (file, _) = play.packed();
    play.answers("pack", Answer::Pack(Some(1)));
    file
}

fn typed(from: &str, to: &str) -> RecordingCommand {
    RecordingCommand::Time(SaveTime::Typed([from.to_owned(), to.to_owned()]))
}

/// The versions in a file: what happened, name and version, and the text.
fn versions(text: &str) -> Vec<(f64, String, String)> {
    let (mut block, mut versions) = (Block::default(), Vec::new());
    while let Some((at, line)) = block.next(text).unwrap() {
        if let Line::Version(version) = line {
            let Text::Whole(text) = version.text else { panic!("{version:?}") };
            versions.push((at, format!("{:?} {}", version.delta_type, version.key.name), text.to_owned()));
        }
    }
    versions
}

#[test]
fn a_file_of_a_chosen_time_begins_with_the_state_then_and_has_nothing_of_later() {
    let mut play = Play::listed("#/pods", &["a@1", "b@2"]);
    let changes = [(3_000, "MODIFIED", "a@11"), (5_000, "ADDED", "c@12"), (8_000, "DELETED", "b@13")];
    for (at, word, object) in changes.into_iter().chain([(8_500, "MODIFIED", "c@14"), (12_000, "ADDED", "d@15")]) {
        play.place.now.set(f64::from(at));
        play.hears("pods", word, object);
        play.frame();
    }
    play.records(RecordingCommand::Save);
    assert!(play.asked().expect("the user is asked").total.starts_with("7 versions, which take "));
    play.records(typed("00:00:06", "00:00:09"));
    let asked = play.asked().expect("the user is asked");
    assert!(asked.total.starts_with("5 versions, which take about "), "{}", asked.total);
    assert_eq!((&*asked.kinds[0].count, &asked.ends[0]), ("5", &String::from("00:00:06.000")), "{asked:?}");
    let file = saved(&mut play, &[typed("00:00:06", "00:00:09")]);
    let found = versions(&file);
    let mut words: Vec<(f64, &str)> = found.iter().map(|(at, words, _)| (*at, &**words)).collect();
    words[..3].sort_by(|one, other| one.1.cmp(other.1));
    let listed = [(6_000.0, "Replaced a"), (6_000.0, "Replaced b"), (6_000.0, "Replaced c")];
    assert_eq!(words, [&listed[..], &[(8_000.0, "Deleted b"), (8_500.0, "Updated c")]].concat());
    // To the byte as it was received.
    for (object, words) in
        [("a@11", "Replaced a"), ("b@2", "Replaced b"), ("c@12", "Replaced c"), ("c@14", "Updated c")]
    {
        let text = &found.iter().find(|(_, own, _)| own == words).expect("it is there").2;
        assert!(event("ADDED", object).contains(&**text), "{object} {text}");
    }
    let opened = read(vec![file.into_bytes()], &play.place);
    let whole = opened_at_end(&mut play, "00:00:00", "00:00:09");
    assert_eq!(opened.reports().digest_of("pods"), whole.reports().digest_of("pods"));
    // The last ten minutes are all that there was; what is no time changes nothing.
    play.records(RecordingCommand::Save);
    play.records(typed("soon", ""));
    assert!(play.message().starts_with("Write times of day"), "{}", play.message());
    play.records(RecordingCommand::Time(SaveTime::Lately));
    assert!(play.asked().expect("the user is asked").total.starts_with("7 versions, "));
}

/// A page that shows what another one has saved of a time.
fn opened_at_end(play: &mut Play, from: &str, to: &str) -> Page {
    let file = saved(play, &[typed(from, to)]);
    read(vec![file.into_bytes()], &play.place)
}

#[test]
fn from_whatever_moment_a_file_begins_it_ends_with_what_there_is() {
    let mut play = Play::found("#/pods");
    let id = play.informers[0].0;
    let end = bookmark("100", r#"{"k8s.io/initial-events-end":"true"}"#);
    let mut inputs: Vec<String> = ["a@1", "b@2"].map(|object| event("ADDED", object)).to_vec();
    inputs.push(end.clone());
    inputs.extend(["c@5", "d@6"].map(|object| event("ADDED", object)));
    inputs.push(String::from("relist"));
    inputs.extend(["a@1", "c@7", "e@8"].map(|object| event("ADDED", object)));
    inputs.push(end);
    inputs.extend([event("DELETED", "a@101"), event("ADDED", "f@102")]);
    play.reflects(id, Input::Start);
    play.reflects(id, Input::Opened);
    for (second, input) in (2..).zip(&inputs) {
        play.place.now.set(f64::from(second) * 1_000.0);
        if input == "relist" {
            play.reflects(id, Input::Relist("it was asked for"));
            play.reflects(id, Input::Opened);
        } else {
            play.reflects(id, Input::Frame(input));
        }
        play.frame();
    }
    let digest = play.page.reports().digest_of("pods");
    for second in 0..15 {
        let opened = opened_at_end(&mut play, &format!("00:00:{second:02}"), "now");
        assert_eq!(opened.reports().digest_of("pods"), digest, "from {second} s on");
        assert_eq!(opened.view().header.connection.state, "recording", "from {second} s on");
    }
}

#[test]
fn namespaces_are_left_out_or_are_all_there_is() {
    let mut play = Play::found("#/pods,namespaces");
    for (id, resource) in play.informers.clone() {
        play.reflects(id, Input::Start);
        play.reflects(id, Input::Opened);
        for (at, place) in ["shop", "canary"].into_iter().enumerate() {
            let (name, namespace) = match resource {
                "pods" => (format!("web-{at}"), format!(r#""namespace":"{place}","#)),
                _ => (place.to_owned(), String::new()),
            };
            let metadata = format!(r#"{{"name":"{name}",{namespace}"uid":"{name}","resourceVersion":"{}"}}"#, at + 5);
            play.reflects(id, Input::Frame(&format!(r#"{{"type":"ADDED","object":{{"metadata":{metadata}}}}}"#)));
        }
        play.reflects(id, Input::Frame(&bookmark("100", r#"{"k8s.io/initial-events-end":"true"}"#)));
    }
    play.frame();
    play.records(RecordingCommand::Save);
    let asked = play.asked().expect("the user is asked");
    let found: Vec<_> = asked.namespaces.iter().map(|one| (&*one.title, &*one.count, one.is_chosen)).collect();
    assert_eq!(found, [("canary", "2", true), ("shop", "2", true)]);
    let [canary, shop] = [asked.namespaces[0].place, asked.namespaces[1].place].map(RecordingCommand::Namespace);
    for commands in [vec![canary], vec![RecordingCommand::Namespaces(false), shop]] {
        let file = saved(&mut play, &commands);
        assert!(!file.contains("canary") && file.contains("left out"), "{file}");
        assert_eq!(versions(&file).len(), 2, "{file}");
    }
    // The dialog counts what is chosen.
    play.records(RecordingCommand::Save);
    play.records(RecordingCommand::Namespaces(false));
    assert!(play.asked().expect("the user is asked").total.starts_with("0 versions"));
}

/// What is replaced on demand: a name, an address and an image.
const REPLACED: [&str; 3] = ["canary-payroll", "10.99.88.77", "canary.example.com/team/image"];

#[test]
fn names_addresses_and_images_are_replaced_on_demand_and_nothing_of_them_is_in_the_file() {
    let [name, address, image] = REPLACED;
    let metadata = |own: &str, version: u32, more: &str| {
        format!(
            r#"{{"name":"{own}","namespace":"canary-payroll-team","uid":"u{version}","resourceVersion":"{version}"{more}}}"#
        )
    };
    let owners = format!(
        r#","ownerReferences":[{{"kind":"ReplicaSet","name":"{name}-7c9d5b6f4","uid":"r","controller":true}}]"#
    );
    let token = format!(r#","annotations":{{"ci/access-token":"{}"}},"labels":{{"app":"{name}"}}{owners}"#, TOKENS[0]);
    let env = format!(
        r#"[{{"name":"API_TOKEN","value":"{}"}},{{"name":"PEER","value":"http://{name}.canary-payroll-team.svc:80"}}]"#,
        TOKENS[1]
    );
    let pod = format!(
        r#"{{"kind":"Pod","metadata":{},"spec":{{"nodeName":"canary-payroll-node","containers":[{{"name":"c","image":"{image}:1.4","env":{env}}}]}},"status":{{"phase":"Running","podIP":"{address}"}}}}"#,
        metadata(&format!("{name}-7c9d5b6f4-x2w4z"), 5, &token)
    );
    let event = format!(
        r#"{{"kind":"Event","metadata":{},"involvedObject":{{"kind":"Pod","name":"{name}-7c9d5b6f4-x2w4z"}},"reason":"Pulling","message":"Pulling image \"{image}:1.4\" for {address} on canary-payroll-node"}}"#,
        metadata(&format!("{name}-7c9d5b6f4-x2w4z.17c2f0a1b2c3d4e5"), 6, "")
    );
    let mut play = Play::found("#/pods,secrets,events");
    for (id, resource) in play.informers.clone() {
        let object = match resource {
            "pods" => pod.clone(),
            "secrets" => secret(),
            _ => event.clone(),
        };
        play.reflects(id, Input::Start);
        play.reflects(id, Input::Opened);
        // A word of it comes before what says that it is one.
        let early = object
            .replace("canary-payroll-node", "")
            .replace(r#""involvedObject""#, r#""note":"canary-payroll-node","involvedObject""#);
        play.reflects(id, Input::Frame(&format!(r#"{{"type":"ADDED","object":{early}}}"#)));
        play.reflects(id, Input::Frame(&bookmark("100", r#"{"k8s.io/initial-events-end":"true"}"#)));
        let changed = object.replace(r#""resourceVersion":""#, r#""resourceVersion":"1"#);
        play.reflects(id, Input::Frame(&format!(r#"{{"type":"MODIFIED","object":{changed}}}"#)));
    }
    play.frame();
    let all = Rules { names: true, addresses: true, images: true };
    play.records(RecordingCommand::Save);
    assert_eq!(play.asked().expect("the user is asked").replaced, [""; 0], "nothing by itself");
    play.records(RecordingCommand::Replace(all));
    let found = play.asked().expect("the user is asked").replaced;
    assert!(found[0].contains(&format!("{name}-7c9d5b6f4 → name-")) || found[0].starts_with("names: "), "{found:?}");
    assert!(found[1].contains(&format!("{address} → 198.18.0.1")) && found[3].contains(image), "{found:?}");
    play.records(RecordingCommand::Write);
    let (file, _) = play.packed();
    play.answers("pack", Answer::Pack(Some(1)));
    let canaries = SECRET.iter().chain(&TOKENS).chain(&REPLACED).chain(&["canary"]);
    let left: Vec<_> = canaries.filter(|canary| file.contains(**canary)).collect();
    assert!(left.is_empty(), "{left:?} in {file}");
    assert!(file.contains("198.18.0.1") && file.contains("registry.example/image-1:1.4"), "{file}");
    assert!(file.contains("names of objects, namespaces and nodes, replaced"), "the header says so: {file}");
    // It opens, and what belongs together still does.
    let opened = read(vec![file.into_bytes()], &play.place);
    let env = Recorded { around: &play.place, now: 9_000.0, ahead: 0.0 };
    let rows: Value = serde_json::from_str(&opened.reports().rows_of("pods", &env).expect("it is watched")).unwrap();
    let key = rows[0]["key"].as_str().expect("a key");
    assert!(key.ends_with("-7c9d5b6f4-x2w4z") && key.starts_with("name-"), "{rows}");
    // Without a rule it is as it was, but for the credentials.
    let plain = saved(&mut play, &[]);
    assert!(REPLACED.iter().all(|canary| plain.contains(canary)) && !plain.contains(TOKENS[0]), "{plain}");
}
