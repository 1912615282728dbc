//! The inspector: texts that were kept or come from the server, and a Secret's values, which are shown only on request.

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::status::Failure;
use kubechurn_model::page::command::{Command, InspectorCommand};
use kubechurn_model::page::effect::Answer;
use kubechurn_model::page::inspector::tab::Tab;

use super::Play;

fn text(lines: &kubechurn_model::page::inspector::yaml::Yaml) -> String {
    lines.lines.iter().map(|line| format!("{}{}{}\n", line.lead, line.key, line.value)).collect()
}

#[test]
fn what_was_received_is_shown_and_nothing_asked() {
    let mut play = Play::listed("#/pods?sel=n/a&tab=yaml", &["a@1"]);
    play.frame();
    let view = &play.page.view().inspector;
    let inspected = view.inspected.as_ref().expect("it is open");
    assert_eq!((&*inspected.key, inspected.state, &*inspected.words), ("n/a", "live", ""));
    assert_eq!(view.yaml.words, "resourceVersion 1, as received");
    assert!(text(&view.yaml.yaml).contains("name"), "{}", text(&view.yaml.yaml));
    assert_eq!(view.versions.shown.len(), 1);
    let done = play.done();
    assert!(!done.contains("get pods"), "{done}");
    play.hears("pods", "DELETED", "a@101");
    play.frame();
    play.frame();
    play.frame();
    play.frame();
    let inspected = play.page.view().inspector.inspected.clone();
    let inspected = inspected.as_ref().expect("it stays open");
    assert_eq!(inspected.state, "deleted");
    assert_eq!(inspected.words, "Deleted. This is the last state that this session received.");
}

#[test]
fn what_is_not_in_the_table_is_fetched_and_perhaps_not_there() {
    let mut play = Play::listed("#/pods?sel=n/gone", &["a@1"]);
    assert!(play.requests.iter().any(|(_, request)| super::word_of(request) == "get pods n/gone"));
    let failure = Failure::from_response(404, None, r#"{"kind":"Status","reason":"NotFound","code":404}"#);
    play.answers("get", Answer::Get(Err(failure)));
    play.frame();
    let inspected = play.page.view().inspector.inspected.clone();
    let inspected = inspected.as_ref().expect("it is open");
    assert_eq!(inspected.state, "unknown");
    assert!(inspected.words.starts_with("The server has no Pod of this name."), "{}", inspected.words);
    play.effects.clear();
    play.command(Command::Select(None));
    play.arrive();
    assert!(play.page.view().inspector.inspected.is_none());
}

#[test]
fn a_late_answer_is_not_shown_for_another_object() {
    let mut play = Play::listed("#/pods?sel=n/gone", &["a@1"]);
    play.command(Command::Select(Some(("pods", ObjectKey::new("n", "a")))));
    play.arrive();
    let other = r#"{"metadata":{"namespace":"n","name":"gone","uid":"x","resourceVersion":"9"}}"#;
    play.answers("get pods n/gone", Answer::Get(Ok(other.to_owned())));
    play.frame();
    let words = play.page.view().inspector.yaml.words.clone();
    assert_eq!(words, "resourceVersion 1, as received");
}

#[test]
fn events_are_watched_once_the_object_has_been_looked_at_for_a_moment() {
    let mut play = Play::listed("#/pods?sel=n/a", &["a@1"]);
    play.frame();
    assert!(!play.effects.iter().any(|effect| effect.starts_with("start events")));
    for _ in 0..5 {
        play.hears("pods", "MODIFIED", &format!("a@{}", play.place.now.get() as u64));
        play.frame();
    }
    assert_eq!(play.effects.iter().filter(|effect| *effect == "start events n").count(), 1);
    play.effects.clear();
    play.command(Command::Select(None));
    assert!(play.arrive().contains("stop events"), "the watch ends with the look");
}

#[test]
fn a_secrets_value_is_on_the_screen_only_while_it_is_looked_at() {
    let mut play = Play::found("#/secrets?sel=n/a&tab=yaml");
    play.command(Command::Scroll { top: 0.0, height: 528.0 });
    let (id, _) = play.informers[0];
    play.lists(id, &["a@1"]);
    play.frame();
    play.frame();
    let secret = r#"{"kind":"Secret","metadata":{"namespace":"n","name":"a","uid":"a","resourceVersion":"1"},
                     "data":{"password":"aHVudGVyMg=="}}"#;
    while play.requests.iter().any(|(_, request)| super::word_of(request).starts_with("get")) {
        play.answers("get", Answer::Get(Ok(secret.to_owned())));
        play.frame();
    }
    let shown = text(&play.page.view().inspector.yaml.yaml);
    assert!(!shown.contains("hunter2") && !shown.contains("aHVudGVyMg"), "{shown}");
    let reveal = || Command::Inspector(InspectorCommand::Reveal(String::from("password")));
    play.command(reveal());
    play.answers("get", Answer::Get(Ok(secret.to_owned())));
    let revealed = play.page.view().inspector.revealed.clone();
    assert_eq!(*revealed, Some((String::from("password"), String::from("hunter2"))));
    play.command(Command::Inspector(InspectorCommand::Tab(Tab::Summary)));
    assert_eq!(*play.page.view().inspector.revealed, None, "on another tab nobody looks at it");
    // A later answer is dropped.
    play.command(Command::Inspector(InspectorCommand::Tab(Tab::Yaml)));
    play.command(reveal());
    play.command(Command::Inspector(InspectorCommand::Tab(Tab::Summary)));
    play.answers("get", Answer::Get(Ok(secret.to_owned())));
    assert_eq!(*play.page.view().inspector.revealed, None);
}
