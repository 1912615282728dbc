//! Recordings that lie beside the page, which an address names or the page offers.

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::request::Scope;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_columns::kinds::pods;
use kubechurn_model::page::Page;
use kubechurn_model::page::command::{Command, PaletteCommand};
use kubechurn_model::page::effect::{Answer, Effect};
use kubechurn_model::page::environment::{Environment, Recorded};
use kubechurn_model::rewind::banner::RewindCommand;
use kubechurn_recording::{Header, Line, Step, Text, Version, Watch};

use super::{Place, Play, word_of};

const HOME: &str = "http://127.0.0.1:8080/";

#[test]
fn an_address_opens_the_recording_that_it_names() {
    let mut play = Play::at(&format!("{HOME}#/pods?at=2026-11-25T14:02:11.408Z&url=./runs/a%20b.churn"), &[]);
    assert!(play.done().ends_with("open the recording at ./runs/a b.churn"), "{:?}", play.effects);
    // The moment is one of the recording. The cluster's page is at its beginning.
    assert_eq!(play.page.place(), "#/changes");
    play.is_found(None);
    assert!(
        play.requests.iter().any(|(_, request)| word_of(request) == "discover"),
        "the cluster is followed meanwhile"
    );
    play.place.url.borrow_mut().1 = String::from("#/open?url=./other.churn");
    assert_eq!(play.arrive(), "open the recording at ./other.churn");
    assert_eq!(play.page.place(), "#/changes");
}

#[test]
fn a_recording_from_elsewhere_is_not_opened_by_an_address() {
    for url in ["http://127.0.0.2:8080/x.churn", "https://127.0.0.1:8080/x.churn", "http://evil.example/", "nonsense"] {
        let play = Play::at(&format!("{HOME}#/open?url={url}"), &[]);
        assert!(play.effects.iter().all(|effect| !effect.starts_with("open the recording")), "{:?}", play.effects);
        assert!(play.message().starts_with(&format!("{url} was not opened: ")), "{}", play.message());
    }
}

#[test]
fn an_address_within_a_recording_keeps_naming_it() {
    let place = Place::default();
    *place.url.borrow_mut() = (HOME.to_owned(), String::from("#/open?url=./a.churn"));
    let env = Recorded { around: &place, now: 1_000.0, ahead: 0.0 };
    let mut page = Page::open(&Header::default(), 1_000_000, &env);
    page.replayed(2_000.0, &env);
    assert_eq!(page.place(), "#/changes");
    let footer = &page.view().footer;
    assert_eq!(
        (&*footer.verified.label, &*footer.pipeline.rate),
        ("a recording", "recorded"),
        "there is no server to ask"
    );
    let fragments = |page: &mut Page| -> Vec<String> {
        let all = page.take_effects().list.into_iter().filter_map(|effect| match effect {
            Effect::Push(fragment) => Some(format!("push {fragment}")),
            Effect::Replace(fragment) => Some(format!("replace {fragment}")),
            Effect::OpenRecording(url) => Some(format!("open {url}")),
            _ => None,
        });
        all.collect()
    };
    fragments(&mut page);
    let arrive = |page: &mut Page, fragment: &str, env: &dyn Environment| {
        page.command(Command::Arrive(fragment.to_owned()), env);
        (page.place(), fragments(page).join(", "))
    };
    page.command(Command::Namespace(String::from("shop")), &env);
    assert_eq!(fragments(&mut page), ["push #/changes?ns=shop&url=./a.churn"]);
    // A link of a row does not name it.
    assert_eq!(
        arrive(&mut page, "#/pods?ns=shop", &env),
        ("#/pods?ns=shop".into(), "replace #/pods?ns=shop&url=./a.churn".into())
    );
    assert_eq!(arrive(&mut page, "#/nodes?url=./a.churn", &env), ("#/nodes".into(), String::new()));
    assert_eq!(arrive(&mut page, "#/open?url=./b.churn", &env), ("#/nodes".into(), "open ./b.churn".into()));
}

#[test]
fn where_no_api_answers_the_recordings_beside_the_page_are_offered() {
    let place = Place::default();
    *place.url.borrow_mut() = (HOME.to_owned(), String::new());
    let named = "examples/rollout.churn A rollout, undone\nexamples/node.churn A node that fails";
    place.named.borrow_mut().insert("recordings", named.to_owned());
    let mut play = Play::of(place);
    play.answers("find", Answer::Find(Err(vec![(HOME.to_owned(), String::from("404"))])));
    let splash = (*play.page.view().header.splash).clone().expect("there is no API");
    let offered: Vec<(&str, &str)> =
        splash.recordings.iter().map(|(title, place)| (title.as_str(), place.as_str())).collect();
    assert_eq!(
        offered,
        [
            ("A rollout, undone", "#/open?url=examples/rollout.churn"),
            ("A node that fails", "#/open?url=examples/node.churn")
        ]
    );
}

#[test]
fn where_an_api_answers_they_are_in_the_palette() {
    let place = Place::default();
    *place.url.borrow_mut() = (HOME.to_owned(), String::from("#/pods"));
    let named = "recordings/files.churn earlier: today 09:00 to 12:40";
    place.named.borrow_mut().insert("recordings", named.to_owned());
    let mut play = Play::of(place);
    play.command(Command::Palette(PaletteCommand::Toggle));
    play.command(Command::Palette(PaletteCommand::Seek(String::from("earlier"))));
    let palette = (*play.page.view().dialogs.palette).clone().expect("it is open");
    assert_eq!(
        palette.items[0].pieces.iter().map(|(_, text)| &**text).collect::<String>(),
        "earlier: today 09:00 to 12:40"
    );
    play.command(Command::Palette(PaletteCommand::Take(Some(0))));
    let done = play.done();
    assert!(done.contains(&format!("load {HOME}#/open?url=recordings/files.churn")), "{done}");
}

/// More changes than wait to be read by the feed at any time.
const MANY: u32 = 12_000;

#[test]
fn of_a_long_recording_nothing_comes_too_fast_and_it_is_said_where_older_changes_are() {
    let place = Place::default();
    *place.url.borrow_mut() = (HOME.to_owned(), String::from("#/pods?view=changes"));
    let env = |now| Recorded { around: &place, now, ahead: 0.0 };
    let mut page = Page::open(&Header::default(), 100_000_000, &env(0.0));
    let (key, uid) = (ObjectKey::new("shop", "web"), Uid::new("u"));
    let resource = pods::KIND.resource;
    page.replay(&Line::Watch(Watch { number: 0, resource, scope: Scope::default(), is_repeated: false }), &env(0.0));
    for number in 0..=MANY {
        let text = format!(
            r#"{{"metadata":{{"name":"web","namespace":"shop","uid":"u","resourceVersion":"{}"}},"status":{{"podIP":"{number}"}}}}"#,
            number + 1
        );
        let delta_type = if number == 0 { DeltaType::Replaced } else { DeltaType::Updated };
        let version = Version { watch: 0, delta_type, key: &key, uid: &uid, text: Text::Whole(&text) };
        page.replay(&Line::Version(version), &env(f64::from(number)));
        if number == 0 {
            page.replay(&Line::Step(0, Step::Listed), &env(0.0));
        }
    }
    page.replayed(f64::from(MANY), &env(f64::from(MANY)));
    let mut now = f64::from(MANY);
    let rest = |page: &mut Page, now: &mut f64| {
        for _ in 0..200 {
            *now += 20.0;
            page.frame(&env(*now));
        }
        let frame = &page.view().feed.frame;
        (frame.words.clone(), frame.waiting.clone())
    };
    let (words, waiting) = rest(&mut page, &mut now);
    assert_eq!(page.view().feed.frame.later, "", "nothing came after the end");
    assert!(words.starts_with("the last 2,000 changes since"), "{words}");
    assert_eq!(waiting, "");
    page.command(Command::Rewind(RewindCommand::To(1_500.0)), &env(now));
    let (words, waiting) = rest(&mut page, &mut now);
    assert_eq!(page.view().feed.frame.later, "10,500 changes since");
    assert!(words.starts_with("1,500 changes since"), "{words}");
    assert_eq!(waiting, "");
}
