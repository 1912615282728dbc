//! Places: the search for the API, the address, and what is done again at another place.

use kubechurn_client::api::object::{ObjectKey, ResourceVersion};
use kubechurn_client::api::request::{ExactListRequest, Scope};
use kubechurn_client::cache::discovery::CachedDiscovery;
use kubechurn_client::cache::heartbeat::Ask;
use kubechurn_client::cache::reflector::{Action, Input};
use kubechurn_columns::kinds::pods;
use kubechurn_model::navigation::namespaces::Namespaces;
use kubechurn_model::page::command::{Command, Copied, PaletteCommand};
use kubechurn_model::page::effect::{Answer, FoundApi, Request, UNREADABLE};
use kubechurn_model::table::cursor::Step;

use kubechurn_client::testing::{bookmark, event};

use super::Play;

#[test]
fn the_sidebar_leads_to_everything_in_the_namespace_that_is_chosen() {
    let mut play = Play::found("#/pods?ns=shop");
    play.frame();
    let item = play.page.view().sidebar.everything.clone();
    assert_eq!((&*item.namespace, item.current), ("shop", false));
    assert!(item.href.contains("secrets") && item.href.contains("ns=shop"), "{}", item.href);
    play.command(Command::Arrive(item.href.clone()));
    play.frame();
    assert!(play.page.view().sidebar.everything.current);
    for place in ["#/pods", "#/pods?ns=shop,team"] {
        let mut play = Play::found(place);
        play.frame();
        assert_eq!(play.page.view().sidebar.everything.namespace, "", "{place}");
    }
}

#[test]
fn the_api_is_looked_for_until_it_is_found() {
    let mut play = Play::at("http://127.0.0.1:8080/#/pods", &[]);
    let done = play.done();
    assert!(done.contains("find ./k8s/ /k8s/ / in 4500"), "{done}");
    let tried = vec![(String::from("http://127.0.0.1:8080/k8s/"), String::from("no answer"))];
    play.answers("find", Answer::Find(Err(tried.clone())));
    assert_eq!(play.page.view().header.splash.as_ref().map(|splash| &splash.tried), Some(&tried));
    play.wait(1_000.0);
    assert_eq!(play.done(), "", "it is not asked at once again");
    play.wait(1_000.0);
    assert_eq!(play.done(), "find ./k8s/ /k8s/ / in 4500");
    play.place.now.set(21_000.0);
    play.answers("find", Answer::Find(Err(tried)));
    play.wait(10_000.0);
    assert_eq!(play.done(), "find ./k8s/ /k8s/ / in 25000", "a log-in takes its time");
    play.answers(
        "find",
        Answer::Find(Ok(FoundApi { http: String::from("http://127.0.0.1:8080/k8s/"), release: None, readable: true })),
    );
    assert_eq!(play.done(), "discover, start pods ");
    assert_eq!(*play.page.view().header.splash, None);
    assert_eq!(play.page.view().header.source.address, "127.0.0.1:8080");
}

#[test]
fn an_api_beyond_this_machine_is_asked_only_with_leave() {
    let at = || Play::at("http://127.0.0.1:8080/?api=http://elsewhere.example:1/k8s/#/pods", &[]);
    let mut play = at();
    assert_eq!(play.page.view().header.question.as_deref(), Some("http://elsewhere.example:1"));
    assert!(!play.done().contains("find"), "nothing is asked before the answer");
    play.command(Command::Connect(false));
    assert_eq!(play.done(), "load http://127.0.0.1:8080/#/pods");

    let mut play = at();
    play.done();
    play.command(Command::Connect(true));
    let done = play.done();
    assert!(done.starts_with("store in tab kubechurn.api http://elsewhere.example:1, restrict "), "{done}");
    let find = "ws://elsewhere.example:1, find http://elsewhere.example:1/k8s/ in 4500 or socket api/v1/pods?";
    assert!(done.contains(find), "{done}");
    assert_eq!(*play.page.view().header.question, None);
}

#[test]
fn only_what_changed_is_done_anew() {
    let mut play = Play::listed("#/pods?pin=nodes", &["a@1", "b@2"]);
    let places = |play: &Play| play.page.view().rows.window.places.clone();
    let before = places(&play);
    for (command, pushed, done) in [
        (Command::SortBy("NAME"), "push #/pods?sort=NAME&pin=nodes", ""),
        (Command::SortBy("NAME"), "push #/pods?sort=-NAME&pin=nodes", ""),
        (Command::Select(Some(("pods", ObjectKey::new("n", "a")))), "push #/pods?sort=-NAME&pin=nodes&sel=n/a", ""),
        (Command::Pin("nodes"), "push #/pods?sort=-NAME&sel=n/a", "stop nodes"),
        (Command::Join("services"), "push #/pods,services?sort=-NAME&sel=pods/n/a", "start services "),
        (Command::Join("services"), "push #/pods?sort=-NAME&sel=n/a", "stop services"),
        (
            Command::Namespace("shop".into()),
            "store kubechurn.namespaces shop, push #/pods?ns=shop&sort=-NAME&sel=n/a",
            "start pods shop, stop pods",
        ),
        (
            Command::Labels("app=web".into()),
            "push #/pods?ns=shop&labels=app%3Dweb&sort=-NAME&sel=n/a",
            "start pods shop, stop pods",
        ),
    ] {
        play.effects.clear();
        play.command(command.clone());
        assert_eq!(play.done(), pushed);
        let mut arrived: Vec<String> = play.arrive().split(", ").map(str::to_owned).collect();
        arrived.retain(|effect| effect.starts_with("start") || effect.starts_with("stop"));
        arrived.sort();
        assert_eq!(arrived.join(", "), done, "{command:?}");
        if matches!(command, Command::SortBy(_) | Command::Select(_)) {
            let mut after = places(&play);
            after.sort();
            assert_eq!(after, before, "the rows stay in their elements");
        }
    }
    assert_eq!(play.arrive(), "", "to be where one is does nothing");
}

#[test]
fn a_filter_is_typed_without_steps_back_and_says_why_it_cannot_be_read() {
    let mut play = Play::listed("#/pods", &["cart@1", "web@2"]);
    play.command(Command::Filter("ca".into()));
    assert_eq!(play.done(), "replace #/pods?q=ca");
    play.frame();
    assert_eq!((*play.page.view().rows.length, &*play.page.view().header.route.text), (1, "ca"));
    play.command(Command::Filter("/(/".into()));
    play.frame();
    assert!(play.page.view().header.filter_error.is_some());
    assert_eq!(*play.page.view().rows.length, 2, "what cannot be read filters nothing");
    play.done();
    play.command(Command::Leave);
    assert_eq!(play.done(), "replace #/pods");
    assert_eq!(*play.page.view().header.filter_error, None);
}

#[test]
fn esc_leaves_one_thing_at_a_time_from_the_inside() {
    let mut play = Play::listed("#/pods?q=a&sel=n/a", &["a@1", "ab@2"]);
    play.command(Command::Row(Step::By(1)));
    play.command(Command::Cell(1));
    play.place.menu.set(true);
    play.command(Command::ToggleHelp);
    play.command(Command::Palette(PaletteCommand::Toggle));
    play.done();
    let mut left = Vec::new();
    for _ in 0..6 {
        play.command(Command::Leave);
        let done = play.done();
        if done == "close menu" {
            play.place.menu.set(false);
        }
        if done.starts_with("push") {
            play.arrive();
        }
        let view = play.page.view();
        left.push((view.dialogs.palette.is_some(), *view.dialogs.help, done));
    }
    let expected = [(false, true, ""), (false, false, ""), (false, false, "close menu"), (false, false, "")];
    let expected = expected.into_iter().chain([(false, false, "push #/pods?q=a"), (false, false, "replace #/pods")]);
    assert_eq!(left, expected.map(|(palette, help, done)| (palette, help, done.to_owned())).collect::<Vec<_>>());
    play.command(Command::Leave);
    assert_eq!(play.done(), "", "nothing is left to leave");
}

#[test]
fn the_palette_takes_what_it_has_found() {
    let mut play = Play::listed("#/pods", &["a@1"]);
    play.command(Command::Palette(PaletteCommand::Toggle));
    assert_eq!(play.done(), "namespaces");
    let known = Namespaces { names: vec![String::from("shop")], ..Namespaces::default() };
    play.answers("namespaces", Answer::Namespaces(known));
    for (letters, expected) in [
        ("nodes", "push #/nodes"),
        ("shop", "push #/pods?ns=shop"),
        ("pause", ""),
        ("dark", "light, store kubechurn.theme light"),
        ("copy link", "copy http://127.0.0.1:8080/#/pods"),
    ] {
        play.command(Command::Palette(PaletteCommand::Open("")));
        play.command(Command::Palette(PaletteCommand::Seek(letters.into())));
        assert!(play.page.view().dialogs.palette.as_ref().is_some_and(|palette| palette.query == letters));
        play.done();
        *play.place.url.borrow_mut() = (String::from("http://127.0.0.1:8080/"), String::from("#/pods"));
        play.command(Command::Palette(PaletteCommand::Take(None)));
        assert_eq!(play.done(), expected, "{letters}");
        assert!(play.page.view().dialogs.palette.is_none());
    }
    assert!(*play.page.view().header.paused);
    play.answers("copy", Answer::Copy(true));
    assert_eq!(play.message(), "Copied the link: http://127.0.0.1:8080/#/pods");
}

/// The objects that the palette finds, and their kinds.
fn find(play: &mut Play, letters: &str) -> Vec<(String, String)> {
    play.command(Command::Palette(PaletteCommand::Open("")));
    play.command(Command::Palette(PaletteCommand::Seek(letters.into())));
    let palette = (*play.page.view().dialogs.palette).clone().expect("it is open");
    let found = palette.items.into_iter().filter(|item| item.group == "object");
    found.map(|item| (item.pieces.into_iter().map(|(_, text)| text).collect(), item.detail)).collect()
}

#[test]
fn events_come_after_the_objects_that_they_are_named_after() {
    let mut play = Play::listed("#/events?pin=services", &["web.1@1", "a-web@2"]);
    let found = find(&mut play, "web");
    let kinds: Vec<&str> = found.iter().map(|(_, kind)| &**kind).collect();
    assert_eq!(kinds, ["Service", "Service", "Event", "Event"], "{found:?}");
}

#[test]
fn the_palette_finds_objects_of_all_watched_kinds_and_those_that_are_gone() {
    let mut play = Play::listed("#/pods?pin=services", &["cart-1@1", "cart-2@2", "web@3"]);
    play.hears("pods", "DELETED", "cart-2@101");
    // Its row is gone, and it is remembered all the same.
    play.command(Command::ClearDeleted);
    play.frame();
    let pair = |title: &str, detail: &str| (title.to_owned(), detail.to_owned());
    let found = find(&mut play, "cart");
    let mut sorted = found.clone();
    sorted.sort();
    assert_eq!(
        sorted,
        [
            pair("n/cart-1", "Pod"),
            pair("n/cart-1", "Service"),
            pair("n/cart-2", "Pod, deleted"),
            pair("n/cart-2", "Service"),
        ]
    );
    assert_eq!(found.last(), Some(&pair("n/cart-2", "Pod, deleted")), "what there is comes first");
    assert_eq!(find(&mut play, "cart-1 svc"), [pair("n/cart-1", "Service")]);
    assert_eq!(find(&mut play, "n/web pod"), [pair("n/web", "Pod")]);
    assert_eq!(find(&mut play, "c"), [], "a letter is in too many names");
    assert_eq!(find(&mut play, "pods"), [], "a kind alone is no object");
    play.command(Command::Palette(PaletteCommand::Seek("web service".into())));
    play.done();
    play.command(Command::Palette(PaletteCommand::Take(None)));
    let done = play.done();
    assert!(done.contains("push #/services?pin=services&sel=n/web"), "{done}");
}

#[test]
fn all_kinds_of_a_namespace_are_in_one_table() {
    let mut play = Play::listed("#/pods", &["a@1"]);
    play.command(Command::Everything(String::from("shop")));
    let place = play.arrive();
    let route = play.page.view().header.route.clone();
    assert!(place.contains("start configmaps shop") && place.contains("start events shop"), "{place}");
    assert!(!place.contains("start nodes"), "{place}");
    assert_eq!(route.namespaces, ["shop"]);
    let kinds = route.names().count();
    assert_eq!(play.page.view().header.subject.title, format!("everything, {kinds} kinds"));
}

#[test]
fn an_object_elsewhere_is_visited_in_its_own_table() {
    let mut play = Play::listed("#/pods?ns=shop", &["a@1"]);
    play.command(Command::Visit("services", ObjectKey::new("bank", "web")));
    let done = play.done();
    assert!(done.starts_with("push #/services?ns=bank, "), "{done}");
    assert!(done.ends_with("push #/services?ns=bank&sel=bank/web"), "{done}");
    assert_eq!(play.page.view().header.subject.title, "Services");
}

#[test]
fn what_is_copied_and_kept_is_said() {
    let mut play = Play::listed("#/pods", &["a@1", "b@2"]);
    play.command(Command::Copy(Copied::Name));
    assert_eq!((play.done(), play.message()), (String::new(), "No row is chosen: j and k, or the arrows, go to one."));
    play.command(Command::Row(Step::By(1)));
    play.command(Command::Row(Step::By(1)));
    play.done();
    play.command(Command::Copy(Copied::ObjectCommandLine));
    assert_eq!(play.done(), "copy kubectl get pod b -n n -o yaml");
    play.answers("copy", Answer::Copy(false));
    assert!(play.message().ends_with("To copy by hand: kubectl get pod b -n n -o yaml"), "{}", play.message());
    play.hears("pods", "DELETED", "a@101");
    play.frame();
    play.command(Command::Export(kubechurn_model::table::export::Format::Csv));
    assert_eq!(play.done(), "save pods-19700101T000001.csv 1", "a deleted row is not what there is");
    play.answers("save", Answer::Save(Some(1)));
    assert_eq!(play.message(), "Exported 1 rows: pods-19700101T000001.csv");
}

/// The page at `address` once a socket alone has found its API.
fn unreadable(address: &str) -> Play {
    let mut play = Play::at(address, &[]);
    let http = String::from("http://127.0.0.1:9000/");
    play.answers("find", Answer::Find(Ok(FoundApi { http, release: None, readable: false })));
    play
}

/// An API of another origin may answer what the browser keeps from the page. A socket of the kind in view, in its namespace,
/// shows whether an API is there. At the page's own origin no answer is kept from the page, and no socket is tried.
#[test]
fn an_api_of_another_origin_is_looked_for_by_a_socket_too() {
    let socket = |path: &str| format!("or socket {path}?fieldSelector=metadata.name%3Dnone&watch=true");
    for (address, expected) in [
        ("http://127.0.0.1:8080/?api=http://127.0.0.1:9000/#/pods", socket("api/v1/pods")),
        (
            "http://127.0.0.1:8080/?api=http://127.0.0.1:9000/#/deploy,po?ns=shop",
            socket("apis/apps/v1/namespaces/shop/deployments"),
        ),
        ("http://127.0.0.1:8080/?api=http://127.0.0.1:9000/#/widgets", socket("api/v1/pods")),
        ("http://127.0.0.1:8080/?api=http://127.0.0.1:8080/k8s/#/pods", String::new()),
        ("http://127.0.0.1:8080/#/pods", String::new()),
    ] {
        let done = Play::at(address, &[]).done();
        let (_, find) = done.split_once("find ").unwrap();
        assert!(find.contains(&expected) && find.contains("socket") != expected.is_empty(), "{address}: {done}");
    }
}

/// Where only sockets are of use, every list is streamed, and the page says what is missing.
#[test]
fn an_api_whose_answers_cannot_be_read_is_streamed_and_says_so() {
    let mut play = unreadable("http://127.0.0.1:8080/?list=fetch&api=http://127.0.0.1:9000/#/pods");
    assert_eq!(*play.page.view().header.splash, None);
    assert!(play.page.view().header.source.unreadable);
    let (id, _) = play.informers[0];
    let (action, _) = play.page.reflect(id, Input::Start, &play.place);
    assert!(matches!(&action, Some(Action::Watch(request)) if request.initial_events), "{action:?}");
    play.settle();
    play.reflects(id, Input::Opened);
    play.reflects(id, Input::Frame(&event("ADDED", "a@1")));
    play.reflects(id, Input::Frame(&bookmark("100", r#"{"k8s.io/initial-events-end":"true"}"#)));
    play.frame();
    assert_eq!(play.state(), "live");
    // A watch that has been silent is asked for, by the same heartbeat as ever, but not with the version, which takes a fetch.
    play.done();
    play.wait(11_000.0);
    let asked =
        |request: &Request| matches!(request, Request::Heartbeat(_, _, Ask::Watch { check_version: false, .. }));
    assert!(play.requests.iter().any(|(_, request)| asked(request)), "{}", play.done());

    for (place, words) in [
        ("#/widgets", "There is no “widgets”: it is no kind that the page knows by itself"),
        ("#/widgets,gadgets", "None of these can be shown. “widgets”: it is no kind that the page knows by itself"),
    ] {
        let mut play = unreadable(&format!("http://127.0.0.1:8080/?api=http://127.0.0.1:9000/{place}"));
        play.frame();
        let empty = play.page.view().rows.empty.clone();
        assert!(format!("{empty:?}").contains(words), "{place}: {empty:?}");
    }
}

/// What only fetch could answer is answered at once, with the reason; what sockets or the browser answer is carried out.
#[test]
fn what_cannot_be_fetched_is_answered_with_the_reason() {
    let (pods, scope) = (pods::KIND.resource, Scope::default);
    let exactly = ExactListRequest { resource_version: ResourceVersion::new("7"), limit: 5, continue_token: None };
    let known = Namespaces { names: vec![String::from("shop")], ..Namespaces::default() };
    for (request, expected) in [
        (Request::Discovery(CachedDiscovery::default()), "only the kinds that the page knows by itself"),
        (Request::Definition(pods), "does not let this page read"),
        (Request::Count(pods, scope()), "Count(None)"),
        (Request::ListExactly(pods, scope(), exactly), "does not let this page read"),
        (Request::Get(pods, scope(), String::from("a")), "does not let this page read"),
        (Request::Namespaces(known), "[\"shop\"], trouble: Some(\"Type a name: "),
    ] {
        let answer = format!("{:?}", request.at(Some(UNREADABLE)).break_value().expect("an answer"));
        assert!(answer.contains(expected), "{answer}");
    }
    assert!(Request::Count(pods, scope()).at(None).is_continue());
    let ask = Ask::Version;
    for request in [Request::Heartbeat(pods, scope(), ask), Request::Copy(String::from("a"))] {
        assert!(request.at(Some(UNREADABLE)).is_continue());
    }
}

#[test]
fn what_changed_stays_watched_in_other_views_unless_that_is_turned_off() {
    let mut play = Play::found("#/changes");
    assert!(play.informers.len() >= 9, "all that matters is watched");
    play.done();
    let goes = |play: &mut Play, place: &str| {
        play.command(Command::Arrive(String::from(place)));
        play.frame();
        play.done()
    };
    let done = goes(&mut play, "#/nodes");
    assert!(!done.contains("stop") && !done.contains("start"), "{done}");
    let done = goes(&mut play, "#/services");
    assert!(done.contains("start services") && !done.contains("stop"), "{done}");
    let done = goes(&mut play, "#/changes");
    assert!(!done.contains("start"), "nothing was missed: {done}");
    goes(&mut play, "#/nodes");
    play.command(Command::ToggleKept);
    let done = play.done();
    assert!(done.matches("stop").count() >= 8 && !done.contains("stop nodes"), "{done}");
    // A page that never showed it watches what is in view alone.
    let mut play = Play::found("#/pods");
    play.done();
    assert!(goes(&mut play, "#/nodes").contains("stop"));
}
