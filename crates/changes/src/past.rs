//! What an object says of its own past: when it was made and who wrote it, how its conditions moved, how its containers
//! ended, and of an Event what it reports. Nothing of that was received, and nothing is said that the object does not say.

use smol_str::SmolStr;

use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::sort::sort_by;
use kubechurn_client::api::time::{Timestamp, write_human_duration};
use kubechurn_client::json::{self, Members};
use kubechurn_columns::state;
use smallvec::smallvec;

use crate::field::Field;
use crate::line::Line;
use crate::paths;
use crate::value::Value;
use crate::writer::{Evidence, InferredWriter};

/// The most moments of one object: the newest.
pub const MOST: usize = 8;
/// The most items of a list that are looked at.
const MOST_ITEMS: usize = 100;
/// The most letters of a text of the object.
const LONGEST: usize = 400;

/// A moment of an object's past. What the object says of one second is one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// When, by the server's clock.
    pub at: Timestamp,
    /// What happened: the most telling of all that the object says of that second.
    pub what: String,
    /// What else, or the message of an Event.
    pub more: String,
    /// What it means.
    pub tone: Tone,
    /// The manager that wrote then, or the component that reported the Event; empty where none is named.
    pub by: SmolStr,
}

/// One sentence: when, how telling it is (0 is most), and what it means.
struct Said {
    at: Timestamp,
    rank: u8,
    what: String,
    tone: Tone,
}

/// What an object of this kind says of its past, the newest first.
pub fn read(kind: &str, text: &str) -> Vec<Moment> {
    let object = json::members(text.trim_ascii()).unwrap_or_default();
    if kind == "Event" {
        return event(&object).into_iter().collect();
    }
    let metadata = json::named(&object, "metadata").and_then(json::members).unwrap_or_default();
    let status = json::named(&object, "status").and_then(json::members).unwrap_or_default();
    let mut said = Vec::new();
    read_metadata(&metadata, &mut said);
    items(&status, "conditions").iter().for_each(|item| said.extend(condition(kind, item)));
    for list in ["initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"] {
        items(&status, list).iter().for_each(|item| read_container(item, &mut said));
    }
    let managers: Vec<(Timestamp, SmolStr, bool)> =
        items(&metadata, "managedFields").iter().filter_map(|item| manager(item)).collect();
    for (at, name, is_status) in &managers {
        // What is written into a status says by itself what moved, and when.
        if !*is_status || said.iter().all(|said| said.at != *at) && items(&status, "conditions").is_empty() {
            said.push(Said { at: *at, rank: u8::MAX, what: format!("{name} wrote last"), tone: Tone::Plain });
        }
    }
    sort_by(&mut said, |one, other| other.at.cmp(&one.at).then(one.rank.cmp(&other.rank)));
    let together = said.chunk_by(|one, other| one.at == other.at).take(MOST);
    together.map(|said| moment(said, &managers)).collect()
}

/// A moment of an object as filters look at it: `object` is a line of the object as it was listed.
pub fn line_of(object: &Line, moment: &Moment, at: f64) -> Line {
    let mut line = Line { at, is_failing: moment.tone == Tone::Bad, ..object.clone() };
    if !line.is_event() {
        let new = Some(Value::plain(&format!("{}, {}", moment.what, moment.more)));
        line.fields = vec![Field { path: SmolStr::default(), old: None, new, reordered: false }];
    }
    if !moment.by.is_empty() {
        let (manager, subresource) = (moment.by.clone(), SmolStr::default());
        line.writers = smallvec![InferredWriter { manager, subresource, evidence: Evidence::TimeMoved }];
        line.requests.clear();
    }
    line
}

/// What is said of one second; the first is the most telling.
fn moment(said: &[Said], managers: &[(Timestamp, SmolStr, bool)]) -> Moment {
    let (first, rest) = (&said[0], &said[1..]);
    let by = managers.iter().find(|(at, ..)| *at == first.at).map(|(_, name, _)| name.clone());
    // A writer who stands beside the sentence needs none.
    let rest = rest.iter().filter(|said| by.as_ref().is_none_or(|by| said.what != format!("{by} wrote last")));
    let more = rest.map(|said| &*said.what).collect::<Vec<_>>().join(", ");
    Moment { at: first.at, what: first.what.clone(), more, tone: first.tone, by: by.unwrap_or_default() }
}

fn read_metadata(metadata: &Members<'_>, said: &mut Vec<Said>) {
    if let Some(at) = time(json::named(metadata, "creationTimestamp")) {
        said.push(Said { at, rank: 1, what: "created".into(), tone: Tone::Plain });
    }
    // The server adds the grace period to the time of the request.
    if let Some(Timestamp(end)) = time(json::named(metadata, "deletionTimestamp")) {
        let grace = json::named(metadata, "deletionGracePeriodSeconds").and_then(json::integer).unwrap_or(0).max(0);
        let at = Timestamp(end.saturating_sub(grace));
        said.push(Said { at, rank: 1, what: "its deletion was asked for".into(), tone: Tone::Wait });
    }
}

fn condition(kind: &str, item: &str) -> Option<Said> {
    let members = json::members(item)?;
    let word = |name: &str| text(json::named(&members, name));
    let at = time(json::named(&members, "lastTransitionTime"))?;
    let (name, status, reason) = (word("type"), word("status"), word("reason"));
    if name.is_empty() || status.is_empty() {
        return None;
    }
    // What is as it should be is ordinary.
    let tone = Some(state::condition(kind, &name, &status)).filter(|tone| *tone != Tone::Good).unwrap_or_default();
    let rank = paths::rank(kind, &format!("status.conditions[{name}].status"), &status);
    let what = format!("{name} became {status}{}{reason}", if reason.is_empty() { "" } else { ": " });
    Some(Said { at, rank: if tone == Tone::Bad { 0 } else { 2 + rank }, what, tone })
}

/// How a container ended, now and before its last start, and when it started again.
fn read_container(item: &str, said: &mut Vec<Said>) {
    let Some(members) = json::members(item) else { return };
    let name = text(json::named(&members, "name"));
    let state = |of: &str, state: &str| {
        json::named(&members, of).and_then(|of| json::member(of, state)).and_then(json::members)
    };
    let restarts = json::named(&members, "restartCount").and_then(json::integer).unwrap_or(0);
    for of in ["state", "lastState"] {
        let Some(ended) = state(of, "terminated") else { continue };
        let Some(at) = time(json::named(&ended, "finishedAt")) else { continue };
        let number = |name: &str| json::named(&ended, name).and_then(json::integer);
        let how = match (number("signal").filter(|signal| *signal != 0), number("exitCode")) {
            (Some(signal), _) => format!(" by signal {signal}"),
            (None, Some(code)) => format!(" with exit code {code}"),
            (None, None) => String::new(),
        };
        let reason = text(json::named(&ended, "reason"));
        let comma = if reason.is_empty() { "" } else { ", " };
        let tone = if number("exitCode") == Some(0) { Tone::Plain } else { Tone::Bad };
        said.push(Said { at, rank: 0, what: format!("container {name} ended{how}{comma}{reason}"), tone });
    }
    if let Some(at) =
        state("state", "running").filter(|_| restarts > 0).and_then(|state| time(json::named(&state, "startedAt")))
    {
        let times = if restarts == 1 { "1 restart".into() } else { format!("{restarts} restarts") };
        said.push(Said { at, rank: 1, what: format!("container {name} started again, {times}"), tone: Tone::Plain });
    }
}

/// When a manager wrote last, its name, and whether it wrote the status.
fn manager(item: &str) -> Option<(Timestamp, SmolStr, bool)> {
    let at = time(json::member(item, "time"))?;
    let (name, subresource) = (text(json::member(item, "manager")), text(json::member(item, "subresource")));
    let name = if subresource.is_empty() { name } else { format!("{name} ({subresource})") };
    Some((at, name.into(), subresource == "status"))
}

/// What an Event reports: its last occurrence.
fn event(object: &Members<'_>) -> Option<Moment> {
    let of = |path: &[&str]| {
        let (first, rest) = path.split_first()?;
        rest.iter().try_fold(json::named(object, first)?, |value, name| json::member(value, name))
    };
    let first_time = |paths: &[&[&str]]| paths.iter().find_map(|path| time(of(path)));
    let first_text =
        |paths: &[&[&str]]| paths.iter().map(|path| text(of(path))).find(|text| !text.is_empty()).unwrap_or_default();
    let first = first_time(&[
        &["firstTimestamp"],
        &["deprecatedFirstTimestamp"],
        &["eventTime"],
        &["metadata", "creationTimestamp"],
    ])?;
    let last = first_time(&[&["series", "lastObservedTime"], &["lastTimestamp"], &["deprecatedLastTimestamp"]])
        .unwrap_or(first);
    let counts: [&[&str]; 3] = [&["series", "count"], &["count"], &["deprecatedCount"]];
    let mut what = text(of(&["reason"]));
    if let Some(count) = counts.iter().find_map(|path| of(path).and_then(json::integer)).filter(|count| *count > 1) {
        what += &format!(" × {count} in ");
        write_human_duration(last.seconds_since(first).max(0), &mut what);
    }
    Some(Moment {
        at: last,
        what,
        more: first_text(&[&["message"], &["note"]]),
        tone: state::event_type(&text(of(&["type"]))),
        by: first_text(&[
            &["source", "component"],
            &["reportingComponent"],
            &["reportingController"],
            &["deprecatedSource", "component"],
        ])
        .into(),
    })
}

/// The first items of a list.
fn items<'a>(members: &Members<'a>, name: &str) -> Vec<&'a str> {
    let items = json::named(members, name).and_then(json::items).unwrap_or_default();
    items.into_iter().take(MOST_ITEMS).collect()
}

fn time(value: Option<&str>) -> Option<Timestamp> {
    Timestamp::parse_set(&json::unescaped(value?)?)
}

/// A text in one line; empty where there is none.
fn text(value: Option<&str>) -> String {
    let text = value.and_then(json::unescaped).unwrap_or_default();
    text.chars().take(LONGEST).map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Second, sentence, what else, meaning, and who wrote.
    type Row = (i64, &'static str, &'static str, Tone, &'static str);

    #[track_caller]
    fn check(kind: &str, text: &str, expected: &[Row]) {
        let text = text.replace("@", "2026-11-25T10:00:");
        let start = Timestamp::parse("2026-11-25T10:00:00Z").unwrap().0;
        let moments = read(kind, &text);
        let rows: Vec<_> =
            moments.iter().map(|one| (one.at.0 - start, &*one.what, &*one.more, one.tone, &*one.by)).collect();
        assert_eq!(rows, expected);
    }

    #[test]
    fn a_pod_says_how_its_containers_ended_and_how_its_conditions_moved() {
        let pod = r#"{"metadata":{"creationTimestamp":"@01Z","managedFields":[
                {"manager":"kube-controller-manager","operation":"Update","time":"@01Z","fieldsV1":{"f:spec":{}}},
                {"manager":"kubelet","operation":"Update","subresource":"status","time":"@30Z"},
                {"manager":"kubectl-label","operation":"Update","time":"@20Z"}]},
            "status":{"conditions":[
                {"type":"Initialized","status":"True","lastTransitionTime":"@01Z"},
                {"type":"Ready","status":"False","reason":"ContainersNotReady","lastTransitionTime":"@30Z"}],
              "containerStatuses":[{"name":"app","restartCount":6,"state":{"running":{"startedAt":"@31Z"}},
                "lastState":{"terminated":{"exitCode":137,"reason":"OOMKilled","finishedAt":"@30Z"}}},
                {"name":"log","restartCount":0,"state":{"running":{"startedAt":"@02Z"}}}],
              "initContainerStatuses":[{"name":"init","state":{"terminated":{"exitCode":0,"reason":"Completed","finishedAt":"@03Z"}}}]}}"#;
        check(
            "Pod",
            pod,
            &[
                (31, "container app started again, 6 restarts", "", Tone::Plain, ""),
                (
                    30,
                    "container app ended with exit code 137, OOMKilled",
                    "Ready became False: ContainersNotReady",
                    Tone::Bad,
                    "kubelet (status)",
                ),
                (20, "kubectl-label wrote last", "", Tone::Plain, "kubectl-label"),
                (3, "container init ended with exit code 0, Completed", "", Tone::Plain, ""),
                (1, "created", "Initialized became True", Tone::Plain, "kube-controller-manager"),
            ],
        );
    }

    #[test]
    fn what_is_to_go_says_when_that_was_asked_for_and_a_node_when_it_was_lost() {
        let going = r#"{"metadata":{"deletionTimestamp":"@40Z","deletionGracePeriodSeconds":30}}"#;
        check("Pod", going, &[(10, "its deletion was asked for", "", Tone::Wait, "")]);
        let node = r#"{"metadata":{"creationTimestamp":null,"managedFields":[
                {"manager":"kubelet","subresource":"status","time":"@50Z"}]},"status":{"conditions":[
                {"type":"MemoryPressure","status":"Unknown","lastTransitionTime":"@40Z"},
                {"type":"Ready","status":"Unknown","reason":"NodeStatusUnknown","lastTransitionTime":"@40Z"}]}}"#;
        let what = "Ready became Unknown: NodeStatusUnknown";
        check("Node", node, &[(40, what, "MemoryPressure became Unknown", Tone::Bad, "")]);
        // Without conditions a status has nothing else that says when it was written.
        let set = r#"{"metadata":{"managedFields":[{"manager":"m","subresource":"status","time":"@05Z"}]}}"#;
        check("ReplicaSet", set, &[(5, "m (status) wrote last", "", Tone::Plain, "m (status)")]);
    }

    #[test]
    fn an_event_says_what_it_reports_at_its_last_time() {
        let event = r#"{"metadata":{"creationTimestamp":"@01Z"},"type":"Warning","reason":"BackOff","message":"again\nand again",
            "count":9,"firstTimestamp":"@01Z","lastTimestamp":"@41Z","source":{"component":"kubelet"}}"#;
        check("Event", event, &[(41, "BackOff × 9 in 40s", "again and again", Tone::Bad, "kubelet")]);
        let newer = r#"{"reason":"Scheduled","note":"assigned","type":"Normal","eventTime":"@07.5Z","deprecatedLastTimestamp":null,
            "reportingController":"default-scheduler"}"#;
        check("Event", newer, &[(7, "Scheduled", "assigned", Tone::Plain, "default-scheduler")]);
    }

    #[test]
    fn much_is_bounded_and_what_cannot_be_read_says_nothing() {
        for text in
            ["", "7", "{", r#"{"metadata":[],"status":{"conditions":{},"containerStatuses":[7,{"lastState":3}]}}"#]
        {
            assert_eq!((read("Pod", text), read("Event", text)), (vec![], vec![]), "{text}");
        }
        let conditions: Vec<String> = (10..60)
            .map(|at| format!(r#"{{"type":"T{at}","status":"True","lastTransitionTime":"2026-11-25T10:00:{at}Z"}}"#))
            .collect();
        let moments = read("X", &format!(r#"{{"status":{{"conditions":[{}]}}}}"#, conditions.join(",")));
        assert_eq!((moments.len(), &*moments[0].what), (MOST, "T59 became True"));
    }
}
