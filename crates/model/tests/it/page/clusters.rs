//! Several clusters in one table: each with its own watches, state and heartbeat.

use std::sync::Arc;

use kubechurn_client::api::status::Failure;
use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::heartbeat;
use kubechurn_client::cache::reflector::Input;
use kubechurn_model::page::command::{Command, Copied};
use kubechurn_model::page::effect::{Answer, FoundApi};
use kubechurn_model::rewind::banner::RewindCommand;
use kubechurn_model::table::cursor::Step;
use kubechurn_model::view::RowModel;

use super::{Place, Play};

/// A page at a fragment, of the cluster `east`, which knows two others: `west`, of another origin, and `b/c`, of its own.
fn found(fragment: &str) -> Play {
    let place = Place::default();
    *place.url.borrow_mut() = (String::from("http://127.0.0.1:8080/a/"), fragment.to_owned());
    let pages = "http://127.0.0.1:8080/a/ east,http://127.0.0.1:9090/w/ west,http://127.0.0.1:8080/b/ b/c";
    place.named.borrow_mut().insert("clusters", pages.to_owned());
    let mut play = Play::of(place);
    let http = String::from("http://127.0.0.1:8080/a/k8s/");
    play.answers("find", Answer::Find(Ok(FoundApi { http, release: None, readable: true })));
    play
}

/// The same, where each informer has listed a Pod of the same name.
fn listed(fragment: &str) -> Play {
    let mut play = found(fragment);
    play.command(Command::Scroll { top: 0.0, height: 528.0 });
    for (id, _) in play.informers.clone() {
        play.lists(id, &["a@1"]);
    }
    play.frame();
    play.effects.clear();
    play
}

/// The rows that were drawn: what stands in the cells of these columns.
fn rows(play: &mut Play, titles: &[&str]) -> Vec<String> {
    play.frame();
    let heads: Vec<&str> = play.page.view().table.heads.iter().map(|head| head.title).collect();
    let places: Vec<usize> =
        titles.iter().map(|title| heads.iter().position(|head| head == title).expect("a column")).collect();
    let drawn = std::mem::take(&mut play.page.view_mut().rows.drawn);
    let mut rows: Vec<Arc<RowModel>> = drawn.into_iter().map(|(_, row)| row).collect();
    rows.sort_by_key(|row| row.rank);
    let text = |row: &RowModel| places.iter().map(|at| row.cells[*at].text.clone()).collect::<Vec<_>>().join(" ");
    rows.iter().map(|row| text(row)).collect()
}

fn id_of(play: &Play, name: &str) -> InformerId {
    play.informers.iter().find(|(_, of)| *of == name).expect("it is watched").0
}

#[test]
fn one_table_has_the_objects_of_two_clusters() {
    let mut play = found("#/pods?cluster=west,b/c");
    let done = play.done();
    assert!(done.contains("cluster west http://127.0.0.1:9090/w/k8s/ by sockets, "), "{done}");
    assert!(done.contains("cluster b/c http://127.0.0.1:8080/b/k8s/, "), "{done}");
    for start in ["start pods ", "start pods@west ", "start pods@b/c "] {
        assert!(done.contains(start), "{done}");
    }

    let mut play = listed("#/pods?cluster=west");
    let heads: Vec<&str> = play.page.view().table.heads.iter().map(|head| head.title).collect();
    assert_eq!(heads[..3], ["CLUSTER", "NAMESPACE", "NAME"], "and no KIND, for there is one");
    assert_eq!(rows(&mut play, &["CLUSTER", "NAME"]), ["east a", "west a"]);
    assert_ne!(play.page.reports().digest_of("pods"), None);
    assert_eq!(play.page.reports().digest_of("pods"), play.page.reports().digest_of("pods@west"));
    play.hears("pods@west", "DELETED", "a@101");
    play.frame();
    let states: Vec<String> =
        play.page.view().rows.drawn.iter().map(|(_, row)| format!("{} {}", row.kind, row.state)).collect();
    assert_eq!(states, ["pods@west deleted"], "the other cluster's Pod of that name stays");
    assert_ne!(play.page.reports().digest_of("pods"), play.page.reports().digest_of("pods@west"));

    // Several kinds of several clusters: each under its own words.
    let mut play = listed("#/pods,configmaps?cluster=west&sort=-CLUSTER");
    let expected = ["west ConfigMap a", "west Pod a", "east ConfigMap a", "east Pod a"];
    let mut found = rows(&mut play, &["CLUSTER", "KIND", "NAME"]);
    found[..2].sort();
    found[2..].sort();
    assert_eq!(found, expected);
}

#[test]
fn a_moment_has_the_objects_of_each_cluster_as_they_were_then() {
    let mut play = listed("#/pods?cluster=west");
    let begin = play.place.now.get();
    for (after, name, word, object) in [
        (10_000.0, "pods", "MODIFIED", "a@101"),
        (20_000.0, "pods@west", "MODIFIED", "a@102"),
        (30_000.0, "pods@west", "DELETED", "a@103"),
    ] {
        play.place.now.set(begin + after);
        play.hears(name, word, object);
        play.frame();
    }
    play.place.now.set(begin + 40_000.0);
    play.frame();
    for (after, east, west, count) in [
        (5_000.0, "1", "1", "2 / 2"),
        (15_000.0, "101", "1", "2 / 2"),
        (25_000.0, "101", "102", "2 / 2"),
        (35_000.0, "101", "", "1 / 1"),
    ] {
        play.rewind(RewindCommand::To((begin + after).ceil()));
        let versions = ["pods", "pods@west"].map(|name| {
            let rows: serde_json::Value =
                serde_json::from_str(&play.page.reports().rows_of(name, &play.place).unwrap()).unwrap();
            rows[0]["resourceVersion"].as_str().unwrap_or_default().to_owned()
        });
        assert_eq!((&*versions[0], &*versions[1], &**play.page.view().table.count), (east, west, count), "{after}");
    }
}

#[test]
fn a_cluster_that_is_down_is_named_and_the_other_goes_on() {
    let mut play = listed("#/pods?cluster=west");
    assert_eq!(play.state(), "live");
    play.wait(10_500.0);
    let done = play.done();
    assert!(done.contains("heartbeat pods@west") && done.contains("heartbeat pods,"), "each is asked for: {done}");
    let failure = Failure::unreachable("the API server does not answer");
    play.answers("heartbeat pods@west", Answer::Heartbeat(heartbeat::Answer::Nothing(failure.clone())));
    assert_eq!(play.done().matches("tell HeartbeatFailed").count(), 1, "only the watches of that cluster hear of it");
    play.answers("heartbeat pods", Answer::Heartbeat(heartbeat::Answer::Quiet));
    let asked = play.place.now.get();
    let west = id_of(&play, "pods@west");
    play.reflects(west, Input::HeartbeatFailed { asked, failure });
    play.frame();
    assert_eq!(play.state(), "stale");
    let trouble = &play.page.view().table.trouble;
    assert!(trouble.len() == 1 && trouble[0].what.contains("Pods of west"), "{trouble:?}");
    let status = play.page.reports().status(&play.place);
    assert!(status.contains(r#""resource":"pods","#) && status.contains(r#""resource":"pods@west","#), "{status}");
    play.page.view_mut().rows.drawn.clear();
    play.hears("pods", "MODIFIED", "a@101");
    play.frame();
    assert_eq!(play.page.view().rows.drawn.len(), 1);
}

#[test]
fn what_is_asked_of_an_object_is_asked_of_its_cluster() {
    let mut play = listed("#/pods?cluster=b/c&sel=pods@b%252Fc/n/z");
    play.frame();
    assert!(play.requests.iter().any(|(_, request)| request.cluster() == "b/c"), "{:?}", play.requests);
    let inspected = play.page.view().inspector.inspected.clone();
    assert_eq!(inspected.as_ref().map(|one| &*one.kind), Some("Pod of b/c"));
    play.command(Command::Row(Step::Last));
    play.frame();
    play.done();
    play.command(Command::Copy(Copied::ObjectCommandLine));
    assert!(play.done().contains("kubectl get pod a -n n --context b/c -o yaml"), "{:?}", play.requests);
    play.command(Command::Copy(Copied::TableCommandLine));
    assert_eq!(play.done(), "copy kubectl get pods -A\nkubectl --context b/c get pods -A");
}

#[test]
fn clusters_are_joined_and_parted_without_losing_the_place() {
    let mut play = listed("#/pods?sel=n/a&q=a");
    let beside = |play: &Play, cluster: &str| play.page.view().header.route.beside(cluster);
    play.command(Command::Go(Box::new(beside(&play, "west"))));
    assert!(play.done().contains("push #/pods?q=a&cluster=west&sel=pods/n/a"));
    play.arrive();
    assert_eq!(play.informers.iter().map(|(_, name)| *name).collect::<Vec<_>>()[..2], ["pods", "pods@west"]);
    let (together, west) = (play.page.view().header.route.clone(), id_of(&play, "pods@west"));
    play.lists(west, &["b@1"]);
    assert_eq!(play.page.view().rows.length.to_string(), "1", "the filter stays");
    play.command(Command::Cluster(String::from("http://127.0.0.1:9090/w/")));
    assert!(play.done().contains("load http://127.0.0.1:9090/w/#/pods?q=a&cluster=east"));
    play.command(Command::Go(Box::new(together.beside("west"))));
    assert!(play.done().contains("push #/pods?q=a&sel=n/a"));

    // The kind of another cluster alone, and a cluster that nobody knows.
    let play = found("#/pods@west");
    assert_eq!(play.informers.iter().map(|(_, name)| *name).collect::<Vec<_>>(), ["pods@west"]);
    let mut play = listed("#/pods?cluster=nowhere");
    play.place.now.set(play.place.now.get() + 1_000.0);
    play.frame();
    assert_eq!(play.informers.len(), 1);
}

#[test]
fn the_filter_knows_clusters() {
    let mut play = listed("#/pods?cluster=west&q=cluster%3Awest");
    play.frame();
    assert_eq!(rows(&mut play, &["CLUSTER"]), ["west"]);
    let mut play = listed("#/pods?cluster=west&q=!west");
    play.frame();
    assert_eq!(rows(&mut play, &["CLUSTER"]), ["east"]);
}
