//! The filter of table, feed and lanes.

use kubechurn_model::page::command::{Command, CompletionCommand, TimelineCommand};

use super::Play;
use super::changes::{listed_at, names};

/// The names of the lanes in sight, in order of the names.
fn lanes(play: &Play) -> Vec<&str> {
    let lanes = play.page.scene().expect("a scene").lanes.iter().flatten();
    let mut names: Vec<&str> = lanes.map(|lane| &*lane.key.name).collect();
    names.sort_unstable();
    names
}

fn filter(play: &mut Play, text: &str) {
    play.command(Command::Filter(text.to_owned()));
    play.frame();
    play.frame();
}

fn note(play: &Play) -> &str {
    play.page.view().header.filter_note.as_deref().unwrap_or_default()
}

#[test]
fn one_filter_is_for_table_feed_and_lanes() {
    for fragment in ["#/pods", "#/pods?lanes=namespace&open=*", "#/pods?view=changes", "#/pods?view=changes&order=name"]
    {
        let (mut play, id) = listed_at(fragment);
        play.command(Command::Timeline(TimelineCommand::Resize(1_000.0, 400.0)));
        play.change(id, "ADDED", "web-1@10");
        play.change(id, "ADDED", "db-1@11");
        play.change(id, "DELETED", "db-1@12");
        play.change(id, "MODIFIED", "a@13");
        let all = lanes(&play).len();
        let is_in_groups = fragment.contains("namespace");
        // The pointer is over the lanes: what the user asks for happens all the same.
        play.command(Command::Timeline(TimelineCommand::Hover(Some((500.0, 100.0)))));
        for (text, expected) in [
            ("web", &["web-1"][..]),
            ("name:-1", &["db-1", "web-1"]),
            ("!1", &["a"]),
            ("name:nothing", &[]),
            ("n/web", &["web-1"]),
            ("web/n", &[]),
            ("kind:pod name:/^a$/", &["a"]),
        ] {
            filter(&mut play, text);
            let shown: Vec<&str> = lanes(&play).into_iter().filter(|name| *name != "n" || !is_in_groups).collect();
            let listed = |name: &&str| !["a", "b"].contains(name) || *name == "a";
            assert_eq!(shown.into_iter().filter(listed).collect::<Vec<_>>(), expected, "{text} at {fragment}");
            let words = play.page.scene().expect("a scene").words_without_lanes();
            let hides_all = words == "the filter hides what changed in this time";
            assert_eq!(hides_all, expected.is_empty(), "{text} at {fragment}: {words}");
        }
        filter(&mut play, "");
        assert_eq!(lanes(&play).len(), all, "{fragment}");
        // A lane that comes, or changes, is judged like the others.
        play.command(Command::Timeline(TimelineCommand::Hover(None)));
        filter(&mut play, "web");
        play.change(id, "ADDED", "cart-1@20");
        play.change(id, "ADDED", "web-2@21");
        (0..30).for_each(|_| play.frame());
        let shown = lanes(&play);
        assert!(shown.contains(&"web-2") && !shown.contains(&"cart-1"), "{shown:?} at {fragment}");
    }
}

#[test]
fn lanes_follow_the_feed_in_what_only_changes_have() {
    let (mut play, id) = listed_at("#/pods?view=changes");
    play.command(Command::Timeline(TimelineCommand::Resize(1_000.0, 400.0)));
    play.change(id, "ADDED", "web-1@10");
    play.change(id, "ADDED", "db-1@11");
    play.change(id, "DELETED", "db-1@12");
    filter(&mut play, "type:deleted");
    assert_eq!((names(&play.feed()), lanes(&play)), (vec!["db-1"], vec!["db-1"]));
    play.change(id, "DELETED", "web-1@13");
    (0..30).for_each(|_| play.frame());
    assert_eq!(lanes(&play), ["db-1", "web-1"]);
}

#[test]
fn a_word_that_says_nothing_here_takes_nothing_away_and_is_named() {
    let (mut play, id) = listed_at("#/pods");
    play.change(id, "ADDED", "c@10");
    filter(&mut play, "by:kubelet path:spec name:c");
    assert_eq!(note(&play), "by: and path: take nothing away here: changes have that, rows do not.");
    assert_eq!(*play.page.view().rows.length, 1);
    filter(&mut play, "VERSION:1.37");
    assert_eq!(note(&play), "VERSION: takes nothing away here: no kind in view has such a column.");
    assert_eq!(*play.page.view().rows.length, 3);
    filter(&mut play, "restarts:7 c");
    assert_eq!(note(&play), "", "Pods have that");
    // The filter stays in another view, where it means something else.
    play.command(Command::ToggleChanges);
    play.arrive();
    play.frame();
    assert_eq!(&*play.page.view().header.route.text, "restarts:7 c");
    assert_eq!(note(&play), "RESTARTS: takes nothing away here: it is a column of a table, and a change has none.");
    assert_eq!(names(&play.feed()), ["c"]);
    play.command(Command::WhatChanged);
    play.arrive();
    assert_eq!(&*play.page.view().header.route.text, "restarts:7 c");
}

/// What is offered once this text was typed.
fn offered(play: &mut Play, text: &str) -> Vec<String> {
    play.command(Command::Filter(text.to_owned()));
    play.command(Command::Completion(CompletionCommand::Offer));
    let model = play.page.view().header.completion.as_ref();
    model.into_iter().flat_map(|model| &model.items).map(|item| item.text.clone()).collect()
}

#[test]
fn the_words_of_the_filter_and_their_known_values_are_offered() {
    let (mut play, id) = listed_at("#/pods");
    play.change(id, "ADDED", "c@10");
    for (text, expected) in [
        ("ki", &["kind:"][..]),
        ("web !KI", &["!kind:"]),
        ("kind:", &["kind:Pod"]),
        ("kind:!po", &["kind:!Pod"]),
        ("kind:node", &[]),
        ("x ns:", &["ns:n"]),
        ("ns:n", &[]),
        ("status:fail", &["status:failing"]),
        ("nominated", &["NOMINATED-NODE:"]),
        // These are about changes.
        ("pat", &[]),
        ("type:", &[]),
        ("web", &[]),
        ("", &[]),
        ("ki ", &[]),
        ("/ki", &[]),
    ] {
        assert_eq!(offered(&mut play, text), expected, "{text}");
    }
    assert!(offered(&mut play, "r").contains(&String::from("RESTARTS:")));
    play.command(Command::Filter(String::new()));
    play.command(Command::ToggleChanges);
    play.arrive();
    for (text, expected) in
        [("pat", &["path:"][..]), ("restart", &[]), ("type:del", &["type:Deleted"]), ("ns:", &["ns:n"])]
    {
        assert_eq!(offered(&mut play, text), expected, "{text} in the feed");
    }
}

#[test]
fn what_is_offered_is_chosen_and_taken() {
    let (mut play, _) = listed_at("#/pods");
    let complete = |play: &mut Play, command| {
        play.command(Command::Completion(command));
        play.page.view().header.completion.as_ref().map(|model| model.at)
    };
    assert_eq!(offered(&mut play, "web n")[..2], ["ns:", "name:"]);
    assert_eq!(complete(&mut play, CompletionCommand::Step(1)), Some(Some(0)));
    assert_eq!(complete(&mut play, CompletionCommand::Step(-1)), Some(None), "back in the field");
    complete(&mut play, CompletionCommand::Step(1));
    // The values of the word are offered at once.
    assert_eq!(complete(&mut play, CompletionCommand::Take(None)), Some(None));
    assert_eq!(&*play.page.view().header.route.text, "web ns:");
    assert_eq!(complete(&mut play, CompletionCommand::Take(Some(0))), None, "nothing is left to offer");
    assert_eq!(&*play.page.view().header.route.text, "web ns:n ");
    assert!(!offered(&mut play, "web k").is_empty());
    assert_eq!(complete(&mut play, CompletionCommand::Hide), None);
    assert_eq!(&*play.page.view().header.route.text, "web k", "what was typed stays");
    assert_eq!(complete(&mut play, CompletionCommand::Take(None)), None);
    assert_eq!(&*play.page.view().header.route.text, "web k");
}
