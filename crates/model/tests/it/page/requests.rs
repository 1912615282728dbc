//! Requests: what is requested, dropped and requested again, and what happens to late answers.

use kubechurn_client::api::release::Release;
use kubechurn_client::api::request::Scope;
use kubechurn_client::api::status::Failure;
use kubechurn_client::cache::discovery::CachedDiscovery;
use kubechurn_client::cache::heartbeat;
use kubechurn_client::cache::reflector::{Action, Input};
use kubechurn_columns::kinds::{kind, pods};
use kubechurn_model::navigation::namespaces::Namespaces;
use kubechurn_model::page::command::{Command, List, PaletteCommand};
use kubechurn_model::page::effect::{Answer, FoundApi, RequestId};
use kubechurn_model::table::view::Retention;

use super::{Focus, Play};
use kubechurn_client::testing::event;

#[test]
fn a_long_list_is_counted_and_the_question_given_up_with_it() {
    let mut play = Play::found("#/pods");
    let (id, _) = play.informers[0];
    for input in [Input::Start, Input::Opened, Input::Frame(&event("ADDED", "a@1"))] {
        play.reflects(id, input);
    }
    play.frame();
    play.wait(100.0);
    assert!(!play.done().contains("count"), "most lists are short");
    play.wait(600.0);
    assert_eq!(play.done(), "count pods");
    play.answers("count", Answer::Count(Some(30_000)));
    play.frame();
    play.wait(600.0);
    play.frame();
    let listing = play.page.view().table.listing.clone();
    assert_eq!(listing.as_ref().map(|listing| &*listing.words), Some("1 of about 30,000"));

    let mut play = Play::found("#/pods");
    let (id, _) = play.informers[0];
    play.reflects(id, Input::Start);
    play.reflects(id, Input::Opened);
    play.reflects(id, Input::Frame(&event("ADDED", "a@1")));
    play.wait(900.0);
    assert_eq!(play.done(), "count pods");
    play.reflects(
        id,
        Input::Frame(&kubechurn_client::testing::bookmark("9", r#"{"k8s.io/initial-events-end":"true"}"#)),
    );
    play.frame();
    play.wait(250.0);
    assert_eq!(play.done(), "abort count pods");
}

#[test]
fn what_nothing_answers_is_stale_and_says_so() {
    let mut play = Play::listed("#/pods", &["a@1"]);
    assert_eq!(play.state(), "live");
    play.wait(10_500.0);
    assert_eq!(play.done(), "heartbeat pods");
    let failure = Failure::unreachable("the API server does not answer");
    play.answers("heartbeat", Answer::Heartbeat(heartbeat::Answer::Nothing(failure)));
    assert!(play.done().starts_with("tell HeartbeatFailed"), "each reflector hears of it");
    let (id, _) = play.informers[0];
    let asked = play.place.now.get();
    let failure = Failure::unreachable("the API server does not answer");
    play.reflects(id, Input::HeartbeatFailed { asked, failure });
    play.frame();
    assert_eq!(play.state(), "stale");
    let trouble = &play.page.view().table.trouble;
    assert!(trouble.iter().any(|trouble| trouble.words.contains("does not answer")), "{trouble:?}");
    play.effects.clear();
    play.command(Command::Retry);
    assert!(play.done().starts_with("tell Start"), "the user need not wait");
}

#[test]
fn an_answer_that_nobody_asked_for_changes_nothing() {
    let mut play = Play::listed("#/pods", &["a@1"]);
    let known = || Namespaces { names: vec![String::from("made-up")], ..Namespaces::default() };
    play.page.answer(RequestId(4_711), Answer::Namespaces(known()), &play.place);
    assert!(play.page.view().header.namespaces.names.is_empty());
    play.command(Command::LoadNamespaces);
    play.answers("namespaces", Answer::Count(Some(3)));
    assert!(play.page.view().header.namespaces.names.is_empty(), "an answer to something else is none");
    play.command(Command::LoadNamespaces);
    let (id, _) = play.requests.pop().expect("it is asked");
    play.page.answer(id, Answer::Namespaces(known()), &play.place);
    play.page.answer(id, Answer::Namespaces(Namespaces::default()), &play.place);
    assert_eq!(play.page.view().header.namespaces.names, ["made-up"], "the first answer counts, and no other");
}

/// Who may not list namespaces types their names, and need not type them twice.
#[test]
fn namespaces_that_were_typed_are_remembered_and_can_be_forgotten() {
    const KEY: &str = "kubechurn.namespaces";
    let mut play = Play::listed("#/pods?ns=shop", &["a@1"]);
    let refused = || Namespaces { trouble: Some("no".into()), ..Namespaces::default() };
    let offered = |play: &Play| play.page.view().header.namespaces.offered(&[], "");
    let answer_with = |play: &mut Play, answer| {
        play.command(Command::LoadNamespaces);
        play.answers("namespaces", Answer::Namespaces(answer));
        play.done();
    };
    answer_with(&mut play, refused());
    play.command(Command::Namespace(" team-a, team-b".into()));
    play.arrive();
    assert_eq!(play.page.view().header.route.namespaces, ["shop", "team-a", "team-b"]);
    play.command(Command::Namespace("team-a".into()));
    play.arrive();
    assert_eq!(
        play.page.view().header.route.namespaces,
        ["shop", "team-b"],
        "what is taken away is known all the same"
    );
    assert_eq!(play.place.stored.borrow()[KEY], "team-b,team-a");
    let mut again = Play::at("http://127.0.0.1:8080/#/pods", &[(KEY, "team-b,team-a")]);
    assert_eq!(offered(&again), ["team-b", "team-a"]);
    again.is_found(None);
    answer_with(&mut again, refused());
    assert_eq!(offered(&again), ["team-b", "team-a"]);
    again.command(Command::Palette(PaletteCommand::Open("")));
    again.command(Command::Palette(PaletteCommand::Seek("team-b".into())));
    let found = format!("{:?}", again.page.view().dialogs.palette);
    assert!(found.contains("namespace") && found.matches("team-b").count() > 1, "{found}");
    again.command(Command::ForgetNamespace("team-b".into()));
    assert_eq!((offered(&again), &*again.place.stored.borrow()[KEY]), (vec!["team-a".to_owned()], "team-a"));
    again.command(Command::ForgetNamespace("team-a".into()));
    assert_eq!((offered(&again), again.place.stored.borrow().get(KEY)), (vec![], None));
    // Of a server that lists all names nothing is remembered.
    answer_with(&mut again, Namespaces { names: vec!["default".into()], ..Namespaces::default() });
    again.command(Command::Namespace("default".into()));
    assert_eq!(again.place.stored.borrow().get(KEY), None);
}

#[test]
fn a_release_that_the_page_does_not_know_is_said_once() {
    let message_of = |minor| {
        let mut play = Play::at("http://127.0.0.1:8080/#/crds", &[]);
        play.is_found(Some(Release { major: 1, minor }));
        String::clone(&play.page.view().dialogs.message)
    };
    assert_eq!((message_of(36), message_of(37)), (String::new(), String::new()));
    let words = message_of(38);
    assert!(words.contains("Kubernetes 1.38") && words.contains("those of 1.37"), "{words}");
}

/// What a server of the fixtures has.
pub(super) fn discovery() -> Answer {
    let documents = ["discovery-api.json", "discovery-apis.json"].map(|name| {
        std::fs::read_to_string(format!("{}/../../tests/fixtures/discovery/{name}", env!("CARGO_MANIFEST_DIR")))
            .unwrap()
    });
    let mut cached = CachedDiscovery::default();
    cached.begin();
    for (at, text) in documents.iter().enumerate() {
        cached.answered(at, None, text).unwrap();
    }
    Answer::Discovery(cached)
}

#[test]
fn the_columns_are_those_of_the_server_s_release_before_discovery_and_after() {
    let class = r#"{"type":"ADDED","object":{"metadata":{"name":"nginx","resourceVersion":"7","uid":"u",
        "annotations":{"ingressclass.kubernetes.io/is-default-class":"true"}}}}"#;
    let new = "NAME GROUP SCOPE VERSIONS CREATED AT";
    for (minor, definitions, name) in [
        (Some(35), "NAME CREATED AT", "nginx"),
        (Some(36), "NAME CREATED AT", "nginx (default)"),
        (Some(37), new, "nginx (default)"),
        (None, new, "nginx (default)"),
    ] {
        let found = |place: &str| {
            let mut play = Play::at(&format!("http://127.0.0.1:8080/{place}"), &[]);
            play.is_found(minor.map(|minor| Release { major: 1, minor }));
            play
        };
        let mut play = found("#/crds");
        let titles = |play: &Play| {
            let columns = play.page.view().table.columns.iter().map(|column| column.title);
            columns.filter(|title| *title != "Δ").collect::<Vec<_>>().join(" ")
        };
        assert_eq!(titles(&play), definitions, "{minor:?}");
        play.answers("discover", discovery());
        play.frame();
        assert_eq!(titles(&play), definitions, "{minor:?}");
        let mut play = found("#/ingressclasses");
        play.answers("discover", discovery());
        let (id, _) = play.informers[0];
        play.lists(id, &[]);
        play.reflects(id, Input::Frame(class));
        play.frame();
        let rows = play.page.reports().rows_of("ingressclasses", &play.place).unwrap();
        assert!(rows.contains(&format!(r#""NAME":"{name}""#)), "{minor:?}: {rows}");
    }
}

#[test]
fn what_kubectl_proxy_refuses_is_not_laid_on_the_cluster() {
    let mut play = Play::found("#/pods");
    let (id, _) = play.informers[0];
    play.reflects(id, Input::Start);
    play.reflects(id, Input::Failed(Failure::from_response(403, None, "Forbidden\n")));
    play.frame();
    let trouble = &play.page.view().table.trouble[0];
    assert_eq!(trouble.what, "Pods: refused between page and server, and not by the cluster");
    assert!(trouble.words.contains("kubectl proxy") && trouble.words.contains("--reject-paths"), "{trouble:?}");
    let mut play = Play::found("#/pods");
    let (id, _) = play.informers[0];
    play.reflects(id, Input::Start);
    let status = r#"{"kind":"Status","reason":"Forbidden","message":"pods is forbidden: no","code":403}"#;
    play.reflects(id, Input::Failed(Failure::from_response(403, None, status)));
    play.frame();
    let trouble = &play.page.view().table.trouble[0];
    assert!(trouble.what.contains("Ask for"), "{trouble:?}");
}

#[test]
fn a_credential_that_is_not_taken_and_a_server_that_starts_have_words_of_their_own() {
    let starting =
        r#"{"kind":"Status","code":500,"message":"[-]poststarthook/rbac/bootstrap-roles failed: not yet ready"}"#;
    let expired = r#"{"kind":"Status","reason":"Unauthorized","message":"Unauthorized","code":401}"#;
    for (code, body, words) in [
        (401, expired, "Pods: the server does not take your credential. Log in again, and the page goes on"),
        (500, starting, "Pods: the server is starting"),
    ] {
        let mut play = Play::found("#/pods");
        let (id, _) = play.informers[0];
        play.reflects(id, Input::Start);
        play.reflects(id, Input::Failed(Failure::from_response(code, None, body)));
        play.frame();
        assert_eq!(play.page.view().table.trouble[0].what, words);
    }
}

#[test]
fn what_was_chosen_is_kept_and_found_again() {
    let mut play = Play::listed("#/pods", &["a@1", "b@2"]);
    play.command(Command::Retention(Retention::AtOnce));
    play.command(Command::ToggleLetters);
    play.command(Command::ToggleTheme);
    play.command(Command::Fold("Network", false));
    let done = play.done();
    assert_eq!(
        done,
        "store kubechurn.linger 0, store kubechurn.letters off, light, store kubechurn.theme light, \
         store kubechurn.rail -Network\n"
    );
    assert_eq!(play.message(), "Keys of one letter are off.");
    let stored = play.place.stored.borrow().clone();
    let stored: Vec<(&str, &str)> = stored.iter().map(|(name, value)| (&**name, &**value)).collect();
    let again = Play::at("http://127.0.0.1:8080/#/pods", &stored);
    let view = again.page.view();
    assert!(again.on("p", Focus::Table).is_none() && view.header.theme.name() == "light");
    assert_eq!(view.table.retention.chosen, Retention::AtOnce);
    assert!(!view.sidebar.open.contains(&"Network") && view.sidebar.open.contains(&"Workloads"));
}

#[test]
fn lists_are_written_only_while_they_are_open() {
    let mut play = Play::listed("#/pods", &["a@1"]);
    play.wait(600.0);
    play.frame();
    assert!(play.page.view().footer.watches.is_empty() && play.page.view().footer.verified.items.is_empty());
    play.command(Command::List(List::Watches, true));
    play.command(Command::List(List::Verified, true));
    let footer = &play.page.view().footer;
    assert_eq!((footer.watches.len(), footer.verified.items.len()), (1, 1), "at once, and not with the next frame");
    play.command(Command::List(List::Watches, false));
    assert!(play.page.view().footer.watches.is_empty());
}

#[test]
fn short_memory_is_reported_and_the_largest_watch_given_up() {
    let mut play = Play::listed("#/pods?pin=nodes", &["a@1"]);
    play.place.memory.set(900_000_000);
    play.frame();
    let done = play.done();
    assert!(done.contains("warn page: memory: The page takes 900 of 1074 MB"), "{done}");
    play.place.memory.set(1_060_000_000);
    play.frame();
    let done = play.done();
    assert!(done.contains("give up ") && done.contains("is no longer watched"), "{done}");
}

/// `src/start.js` asks for the list that is written down before the program is there, so it must be exactly the one that
/// the page asks first; where the page begins with something else, nothing may be written down.
#[test]
fn the_first_list_of_a_place_is_written_down_where_it_is_asked_below_the_page() {
    let api = "http://127.0.0.1:8080/token/k8s/";
    let stored = [("kubechurn.first", "nodes\tapi/v1/nodes\npods&ns=a\told")];
    for (address, found, is_early) in [
        ("http://127.0.0.1:8080/token/?list=fetch#/pods?ns=a&sel=a/x", api, true),
        ("http://127.0.0.1:8080/?list=fetch#/pods?ns=a", api, false),
        ("http://127.0.0.1:8080/token/?list=stream#/pods?ns=a", api, false),
        ("http://127.0.0.1:8080/token/?list=fetch&api=http://127.0.0.1:8080/token/k8s/#/pods?ns=a", api, false),
    ] {
        let mut play = Play::at(address, &stored);
        play.answers("find", Answer::Find(Ok(FoundApi { http: String::from(found), release: None, readable: true })));
        let (id, _) = play.informers[0];
        let (action, _) = play.page.reflect(id, Input::Start, &play.place);
        play.settle();
        let own = match action {
            Some(Action::List(request)) if is_early => {
                let scope = Scope { namespace: String::from("a"), ..Scope::default() };
                format!("pods&ns=a\t{}\n", request.url(&pods::KIND.resource, &scope))
            }
            _ => String::new(),
        };
        let text = play.place.stored.borrow()["kubechurn.first"].clone();
        assert_eq!(text, format!("{own}nodes\tapi/v1/nodes"), "{address}");
        assert!(!text.contains("token"), "where the API is may be a secret");
        play.done();
        play.reflects(id, Input::Closed(1006));
        assert!(!play.done().contains("kubechurn.first"), "the first request only");
    }
}

/// The page's file names the list of the place at which everybody begins, for those who come for the first time. It must
/// be the one that the page asks.
#[test]
fn the_page_s_file_names_the_list_that_the_page_asks_first_without_an_address() {
    let html = include_str!("../../../../../index.html");
    let named = html.split_once("<meta name=\"first-list\" content=\"").and_then(|(_, rest)| rest.split_once('"'));
    let named = named.map(|(content, _)| content.replace("&amp;", "&"));
    // What the address does not say is `stream` in these tests, and `fetch` in the page.
    for address in ["http://127.0.0.1:8080/token/?list=fetch", "http://127.0.0.1:8080/token/?list=fetch#/changes"] {
        let mut play = Play::at(address, &[]);
        let http = String::from("http://127.0.0.1:8080/token/k8s/");
        play.answers("find", Answer::Find(Ok(FoundApi { http, release: None, readable: true })));
        let (id, _) = play.informers[0];
        let (action, _) = play.page.reflect(id, Input::Start, &play.place);
        let asked = match action {
            Some(Action::List(request)) => Some(request.url(&kind("deployments").unwrap().resource, &Scope::default())),
            _ => None,
        };
        assert!(asked.is_some(), "{address}");
        assert_eq!(named, asked, "{address}");
    }
}
