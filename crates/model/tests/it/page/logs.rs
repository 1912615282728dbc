//! Logs, as the page reads and shows them: only while they are looked at, and among the changes of their Pod.

use kubechurn_client::api::status::Failure;
use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::reflector::Input;
use kubechurn_model::inspector::tab::Tab;
use kubechurn_model::logs::command::LogCommand;
use kubechurn_model::page::LogInput;
use kubechurn_model::page::command::{Command, InspectorCommand};
use kubechurn_model::rewind::banner::RewindCommand;
use kubechurn_model::view::logs::LogModel;
use serde_json::json;

use super::changes::listed_at;
use super::{Focus, Play};

fn web(restarts: u32, ready: bool, version: u32) -> String {
    let last = if restarts > 0 { json!({"terminated": {"exitCode": 1, "reason": "Error"}}) } else { json!({}) };
    json!({"kind": "Pod", "apiVersion": "v1",
        "metadata": {"name": "web", "namespace": "shop", "uid": "w", "resourceVersion": version.to_string()},
        "spec": {"containers": [{"name": "web", "image": "x"}]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": if ready { "True" } else { "False" }}],
            "containerStatuses": [{"name": "web", "ready": ready, "restartCount": restarts, "lastState": last,
                "state": {"running": {"startedAt": "1970-01-01T00:00:01Z"}}}]}})
    .to_string()
}

impl Play {
    fn receives(&mut self, id: InformerId, delta: &str, object: &str) {
        self.reflects(id, Input::Frame(&format!(r#"{{"type":"{delta}","object":{object}}}"#)));
        self.look();
    }

    fn look(&mut self) {
        (0..5).for_each(|_| self.frame());
    }

    fn log(&self) -> &LogModel {
        &self.page.view().inspector.log
    }

    fn comes(&mut self, at: usize, input: &LogInput<'_>) {
        let id = self.logs[at].0;
        self.page.logged(id, input, &self.place);
        self.settle();
        self.look();
    }

    /// What each row is, and says.
    fn lines(&self) -> Vec<(&'static str, String)> {
        self.log().rows.iter().map(|row| (row.what, row.text.clone())).collect()
    }
}

fn opened(tab: &str) -> (Play, InformerId) {
    let (mut play, id) = listed_at("#/pods?view=changes");
    play.receives(id, "ADDED", &web(0, true, 10));
    play.command(Command::Arrive(format!("#/pods?view=changes&sel=shop/web{tab}")));
    play.look();
    (play, id)
}

#[test]
fn a_log_is_read_while_it_is_looked_at_and_no_longer() {
    let (mut play, _) = opened("");
    assert_eq!((play.logs.len(), play.log().is_open), (0, false), "nobody looks at it");
    play.command(Command::Inspector(InspectorCommand::Tab(Tab::Logs)));
    play.look();
    assert_eq!(
        play.logs[0].1,
        "api/v1/namespaces/shop/pods/web/log?container=web&timestamps=true&follow=true&tailLines=2000"
    );
    assert!(play.log().is_open);
    play.comes(0, &LogInput::Opened);
    play.comes(0, &LogInput::Bytes(b"1970-01-01T00:00:02Z one\n1970-01-01T00:00:02.5Z two\n"));
    assert_eq!(play.log().counts, (2, 2, 0));
    play.done();
    play.command(Command::Inspector(InspectorCommand::Tab(Tab::Summary)));
    play.look();
    assert!(play.done().contains("abort log") && play.logs.is_empty());
    assert!(!play.log().is_open);
    // It goes on where it was.
    play.command(Command::Inspector(InspectorCommand::Tab(Tab::Logs)));
    play.look();
    assert!(play.logs[0].1.ends_with("follow=true&sinceTime=1970-01-01T00:00:01Z"), "{:?}", play.logs);
    assert_eq!(play.log().counts, (2, 2, 0));
    play.command(Command::Logs(LogCommand::Keep(true)));
    play.command(Command::Inspector(InspectorCommand::Tab(Tab::Summary)));
    play.look();
    assert_eq!(play.logs.len(), 1, "it is kept up");
    play.comes(0, &LogInput::Bytes(b"1970-01-01T00:00:03Z three\n"));
    play.command(Command::Inspector(InspectorCommand::Tab(Tab::Logs)));
    play.look();
    assert_eq!(play.log().counts, (3, 3, 0));
}

#[test]
fn lines_stand_among_the_changes_of_their_pod_and_lead_to_their_moment() {
    let (mut play, id) = opened("&tab=logs");
    play.comes(0, &LogInput::Opened);
    play.comes(0, &LogInput::Bytes(b"1970-01-01T00:00:01.2Z early\n"));
    play.place.now.set(5_000.0);
    play.receives(id, "MODIFIED", &web(0, false, 11));
    play.comes(0, &LogInput::Bytes(b"1970-01-01T00:00:09Z late\nwithout a time\n"));
    let lines = play.lines();
    let at = |text: &str| {
        lines.iter().position(|(_, own)| own.contains(text)).unwrap_or_else(|| panic!("{text}: {lines:?}"))
    };
    let change = lines.iter().rposition(|(what, _)| *what == "change").expect("the change is there");
    assert!(at("early") < change && change < at("late") && at("late") < at("without a time"), "{lines:?}");
    assert!(play.log().rows[change].href.contains("tab=changes"));
    assert_eq!(play.log().rows[at("without a time")].time, "");
    let early = play.log().rows[at("early")].clone();
    assert_eq!((early.at, early.is_later), (1_200.0, false));
    play.place.now.set(20_000.0);
    play.command(Command::Rewind(RewindCommand::To(6_000.0)));
    play.arrive();
    play.look();
    let later: Vec<bool> = play.log().rows.iter().filter(|row| row.what == "line").map(|row| row.is_later).collect();
    assert_eq!(later, [false, true, true]);
    assert!(!play.log().is_at_end && play.log().scroll.0 == 1);
    // Filtered by words, the changes stay.
    play.command(Command::Logs(LogCommand::Filter(String::from("EARLY"))));
    play.look();
    assert_eq!(play.lines().iter().filter(|(what, _)| *what == "line").count(), 1);
}

#[test]
fn only_the_rows_in_sight_are_made_and_those_at_the_end_are_followed() {
    let (mut play, _) = opened("&tab=logs");
    play.command(Command::Logs(LogCommand::Scroll { top: 0.0, height: 380.0, is_at_end: true }));
    play.comes(0, &LogInput::Opened);
    let text: String = (0..30_000).map(|at| format!("1970-01-01T00:00:02Z line {at}\n")).collect();
    play.comes(0, &LogInput::Bytes(text.as_bytes()));
    let log = play.log();
    assert!(log.rows.len() < 60 && log.total >= 30_000, "{} {}", log.rows.len(), log.total);
    assert!(log.rows.last().is_some_and(|row| row.text == "line 29999"), "{:?}", log.rows.last());
    play.command(Command::Logs(LogCommand::Scroll { top: 190_000.0, height: 380.0, is_at_end: false }));
    play.look();
    let first = play.log().rows[0].text.clone();
    play.comes(0, &LogInput::Bytes(b"1970-01-01T00:00:03Z more\n"));
    assert_eq!(play.log().rows[0].text, first, "what is in sight stays");
}

#[test]
fn the_lines_that_are_shown_are_saved_with_the_times_of_the_server() {
    let (mut play, id) = listed_at("#/pods?view=changes");
    play.receives(id, "ADDED", &web(1, true, 10));
    play.command(Command::Arrive(String::from("#/pods?view=changes&sel=shop/web&tab=logs")));
    play.look();
    play.comes(0, &LogInput::Opened);
    play.comes(0, &LogInput::Bytes(b"1970-01-01T00:00:01.000000002Z GET /\n1970-01-01T00:00:01.5Z fatal: <b>\n"));
    play.comes(0, &LogInput::Ended);
    play.comes(1, &LogInput::Opened);
    play.comes(1, &LogInput::Bytes(b"1970-01-01T00:00:02Z GET /\nwithout a time\n"));
    play.done();
    play.command(Command::Logs(LogCommand::Save));
    let done = play.done();
    let (name, text) = done.split_once(": ").expect("a file is saved");
    assert!(name.starts_with("save log-pods-shop-web-1970") && name.ends_with(".log 4"), "{name}");
    let (head, lines): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with("# "));
    assert!(head[0].starts_with("# Log of Pod shop/web, saved at "), "{head:?}");
    let expected = [
        "[pod/web/web, previous run] 1970-01-01T00:00:01.000000002Z GET /",
        "[pod/web/web, previous run] 1970-01-01T00:00:01.500000000Z fatal: <b>",
        "[pod/web/web] 1970-01-01T00:00:02.000000000Z GET /",
        "[pod/web/web] without a time",
    ];
    assert_eq!(lines, expected);
    // What is left out is said.
    play.command(Command::Logs(LogCommand::Filter(String::from("fatal"))));
    play.command(Command::Logs(LogCommand::Save));
    let done = play.done();
    assert!(done.contains(".log 1: ") && done.contains("\n# Only lines with: fatal\n"), "{done}");
    assert!(done.ends_with(&format!("{}\n", expected[1])), "{done}");
}

#[test]
fn a_refusal_says_what_to_ask_for_and_a_crash_has_its_run_before() {
    let (mut play, id) = listed_at("#/pods?view=changes");
    play.receives(id, "ADDED", &web(3, true, 10));
    play.command(Command::Arrive(String::from("#/pods?view=changes&sel=shop/web&tab=logs")));
    play.look();
    let urls: Vec<&str> = play.logs.iter().map(|(_, url)| &**url).collect();
    assert!(urls[0].contains("previous=true") && urls[1].contains("follow=true"), "{urls:?}");
    let words = r#"{"kind":"Status","message":"pods \"web\" is forbidden","code":403}"#;
    play.comes(1, &LogInput::Failed(Failure::from_response(403, None, words)));
    let notes = play.log().notes.join(" ");
    assert!(notes.contains("kubectl auth can-i get pods/log -n shop"), "{notes}");
    assert!(play.log().can_ask_again);
    let names: Vec<&str> = play.log().sources.iter().map(|source| &*source.name).collect();
    assert_eq!(names, ["web: previous run", "web"]);
}

#[test]
fn a_key_leads_to_the_log_of_what_is_in_hand() {
    let (mut play, _) = opened("");
    assert_eq!(play.on("o", Focus::Table), Some(Command::Logs(LogCommand::Show)));
    play.done();
    play.command(Command::Logs(LogCommand::Show));
    assert!(play.done().contains("tab=logs"));
    play.command(Command::Select(None));
    play.arrive();
    play.command(Command::Logs(LogCommand::Show));
    assert!(play.message().contains("No row is chosen"), "{}", play.message());
}
