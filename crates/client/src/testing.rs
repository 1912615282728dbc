//! Tests of an informer as conversations with a server, written as lists of lines. Only this crate calls the informer, so that
//! a change of its API changes no test.
//!
//! A line is what happens and the answer that is expected, both in a small language, so that a new case is a few lines of
//! data. What may happen:
//!
//! ```text
//! bytes N  long N                              N spaces of a page arrive; a frame of N bytes is not read
//! piece TEXT  end                              some text of a page arrives; that was all of the page
//! start  stop  open  woke  reachable  pass     inputs without a text; `pass` is a probe that finds nothing
//! close CODE                                   the socket closes
//! ADDED OBJECT  MODIFIED OBJECT  ...           a frame; any word in capitals is taken as its type
//! BOOKMARK VERSION  END VERSION                a bookmark; END is annotated as the end of the initial events
//! ERROR CODE REASON WORDS                      an ERROR event with a Status
//! frame TEXT  answer TEXT                      a frame, a list page, as it is
//! page VERSION [+TOKEN] [OBJECT ...]           a list page; TOKEN continues it; `?` is an item without a name
//! fail CODE REASON WORDS  text CODE WORDS      a Status, a plain text, in answer to a list or a probe
//! unreachable                                  no answer at all
//! ask                                          the heartbeat asks for the watch
//! quiet  quiet checked  event                  the answer to that: no event, no event and the version is checked, an event
//! unproven CODE WORDS                          the answer to that is no watch; 0 is no answer
//! +MS  timer                                   time passes; the deadline comes
//! ```
//!
//! The answer to these is the action: empty, `wait MS`, `stream VERSION`, `watch VERSION`, `probe stream VERSION`,
//! `probe watch VERSION`, `http VERSION` or `list VERSION [limit N] [continue TOKEN]`. The other lines ask for something: `drain` and
//! `drain N` (the changes), `store`, `marks` and `notices` (those since the last such line), `health`, `words`, `version`,
//! `synced`, `deadline`, `queued`, `traffic` (what was asked for, when the last bookmark came, how the watches ended).
//!
//! An OBJECT is `name@version`; `name#2@version` is the second object of that name, with another uid.

#![allow(clippy::unwrap_used)] // Only tests use this crate, and a panic fails the test.

use std::fmt::Write as _;
use std::sync::Arc;

use crate::api::object::{Decode, Object, ResourceVersion};
use crate::api::status::Failure;
use crate::cache::backoff::Moment;
use crate::cache::delta::DeltaType;
use crate::cache::handler::{Handled, HandlerOptions, ResourceEventHandler};
use crate::cache::processor::HandlerId;
use crate::cache::queue::Queue;
use crate::cache::reflector::{Action, Input, Notice, Options, Traffic};
use crate::cache::shared_informer::{InformerOptions, SharedInformer};
use crate::cache::store::Change;

/// Plays `lines` with the default options; the text of the module says what they may be.
#[track_caller]
pub fn check(lines: &[(&str, &str)]) {
    Conversation::new(Options::default()).check(lines);
}

/// Writes things one after the other, with spaces between them.
pub fn joined<T>(things: impl IntoIterator<Item = T>, write: impl Fn(T) -> String) -> String {
    things.into_iter().map(write).collect::<Vec<_>>().join(" ")
}

/// An informer, its clock, and what it reported to a handler.
pub struct Conversation {
    /// The informer.
    pub informer: SharedInformer,
    /// The time, in milliseconds.
    pub now: f64,
    /// The notifications that the handler got.
    pub log: Log,
    handler: HandlerId,
    /// When the heartbeat last asked.
    asked: f64,
}

/// A handler that writes everything down.
#[derive(Default)]
pub struct Log {
    /// The deltas as they arrived.
    pub marks: Vec<(DeltaType, Arc<Object>)>,
    /// The changes of the store.
    pub changes: Vec<Change>,
    /// The reflector's notices.
    pub notices: Vec<Notice>,
}

impl ResourceEventHandler for Log {
    fn changed(&mut self, _now: f64, change: &Change) -> Handled {
        self.changes.push(change.clone());
        Ok(())
    }

    fn received(&mut self, _now: f64, delta_type: DeltaType, object: &Arc<Object>) -> Handled {
        self.marks.push((delta_type, object.clone()));
        Ok(())
    }
}

impl Conversation {
    /// A conversation with an informer whose reflector has these options.
    pub fn new(options: Options) -> Conversation {
        Conversation::of(Decode::METADATA, InformerOptions { reflector: options, ..InformerOptions::default() })
    }

    /// A conversation with an informer with these options. Its handler gets everything, including resyncs.
    pub fn of(decode: Decode, options: InformerOptions) -> Conversation {
        let mut informer = SharedInformer::new(decode, options);
        let wants = HandlerOptions { received: true, resync: options.reflector.resync, ..HandlerOptions::default() };
        let handler = informer.add_event_handler(wants, 0.0);
        Conversation { informer, now: 0.0, log: Log::default(), handler, asked: 0.0 }
    }

    /// Plays `lines`, and checks the ledger after each.
    #[track_caller]
    pub fn check(&mut self, lines: &[(&str, &str)]) {
        for (number, (line, expected)) in lines.iter().enumerate() {
            let answer = self.line(line);
            assert_eq!(answer, *expected, "line {number}: {line}");
            assert!(self.informer.is_balanced(), "line {number}: {line}: {:?}", self.informer.ledger());
        }
    }

    /// Plays one line, and returns the answer.
    pub fn line(&mut self, line: &str) -> String {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let (code, words) = rest.split_once(' ').unwrap_or((rest, ""));
        match word {
            "start" => self.input(Input::Start),
            "stop" => self.input(Input::Stop),
            "open" => self.input(Input::Opened),
            "woke" => self.input(Input::Woke),
            "reachable" => self.input(Input::Reachable),
            "pass" => self.input(Input::ProbePassed),
            "ask" => {
                self.asked = self.now;
                String::new()
            }
            "quiet" | "event" => {
                let (event, checked) = (word == "event", rest == "checked");
                self.input(Input::HeartbeatAnswered { asked: self.asked, event, checked })
            }
            "unproven" => {
                let failure = match code {
                    "0" => Failure::unreachable("no answer"),
                    _ => Failure::from_response(code.parse().unwrap(), None, words),
                };
                self.input(Input::HeartbeatFailed { asked: self.asked, failure })
            }
            "bytes" => self.input(Input::Piece(&vec![b' '; rest.parse().unwrap()])),
            "piece" => self.input(Input::Piece(rest.as_bytes())),
            "end" => self.input(Input::PageEnd),
            "long" => self.input(Input::TooLong(rest.parse().unwrap())),
            "close" => self.input(Input::Closed(rest.parse().unwrap())),
            "frame" => self.input(Input::Frame(rest)),
            "answer" => self.input(Input::Page(rest)),
            "page" => self.input(Input::Page(&page(rest))),
            "fail" => {
                let failure = Failure::from_response(code.parse().unwrap(), None, &status(rest));
                self.input(Input::Failed(failure))
            }
            "text" => self.input(Input::Failed(Failure::from_response(code.parse().unwrap(), None, words))),
            "unreachable" => self.input(Input::Failed(Failure::unreachable("no answer"))),
            "timer" => {
                self.now = self.informer.reflector().deadline().expect("there is a deadline").max(self.now);
                self.input(Input::Timer)
            }
            "BOOKMARK" => self.input(Input::Frame(&bookmark(rest, "{}"))),
            "END" => self.input(Input::Frame(&bookmark(rest, r#"{"k8s.io/initial-events-end":"true"}"#))),
            "ERROR" => self.input(Input::Frame(&format!(r#"{{"type":"ERROR","object":{}}}"#, status(rest)))),
            "drain" => {
                self.drain(rest.parse().unwrap_or(usize::MAX));
                joined(self.log.changes.drain(..), |change| write_change(&change))
            }
            "store" => {
                let mut objects: Vec<_> = self.informer.store().iter().collect();
                objects.sort_by(|a, b| a.key.cmp(&b.key));
                joined(objects, |object| write_object(object))
            }
            "marks" => joined(self.log.marks.drain(..), |(delta_type, object)| {
                format!("{delta_type:?} {}", write_object(&object))
            }),
            "notices" => joined(self.log.notices.drain(..), |notice| match notice {
                Notice::Relisted { reason, items, .. } => format!("Relisted {items} ({reason})"),
                Notice::Gap { from, to, reason } => format!("Gap {from}-{to} ({reason})"),
                Notice::Malformed { .. } => String::from("Malformed"),
                Notice::Stale { reason, .. } => format!("Stale ({reason})"),
                Notice::Refused { reason, retried, .. } => {
                    format!("Refused {} ({reason})", if retried { "for now" } else { "for good" })
                }
                Notice::OverHttp { .. } => String::from("OverHttp"),
                Notice::Late { waited, .. } => format!("Late {waited}"),
            }),
            "health" => format!("{:?}", self.informer.health(self.now)),
            "words" => {
                let failure = self.informer.reflector().failure();
                failure.map(|failure| format!("{:?}: {}", failure.verdict, failure.words)).unwrap_or_default()
            }
            "traffic" => {
                let Traffic { lists, watches, probes, bookmark, ends } = self.informer.reflector().traffic();
                format!("{lists} lists {watches} watches {probes} probes, bookmark {bookmark:?}, {ends:?}")
            }
            "version" => self.informer.reflector().resource_version().to_string(),
            "synced" => self.informer.has_synced().to_string(),
            "deadline" => {
                let deadline = self.informer.reflector().deadline();
                deadline.map(|deadline| (deadline - self.now).to_string()).unwrap_or_default()
            }
            "queued" => self.informer.queue().queued().to_string(),
            _ if word.starts_with('+') => {
                self.now += word[1..].parse::<f64>().unwrap();
                String::new()
            }
            _ if word.chars().all(|letter| letter.is_ascii_uppercase()) => self.input(Input::Frame(&event(word, rest))),
            _ => panic!("no such line: {line}"),
        }
    }

    /// Hands an input over, and returns the action in words.
    pub fn input(&mut self, input: Input<'_>) -> String {
        let action = self.act(input);
        self.write_action(action.as_ref())
    }

    /// Hands an input over, and returns the action.
    pub fn act(&mut self, input: Input<'_>) -> Option<Action> {
        let action = self.informer.handle(input, Moment { now: self.now, random: 0.0 });
        self.informer.deliver(self.handler, &mut self.log);
        self.log.notices.extend(self.informer.take_notices());
        action
    }

    /// Takes up to `limit` keys from the queue, and has the log take what it is notified of.
    pub fn drain(&mut self, limit: usize) {
        self.informer.drain(limit, self.now);
        self.informer.deliver(self.handler, &mut self.log);
    }

    fn write_action(&self, action: Option<&Action>) -> String {
        match action {
            None => String::new(),
            Some(Action::Wait) => match self.informer.reflector().deadline() {
                Some(deadline) => format!("wait {}", deadline - self.now),
                None => String::from("wait"),
            },
            Some(Action::Watch(request)) => {
                let word = if request.initial_events { "stream" } else { "watch" };
                format!("{word} {}", write_version(&request.resource_version))
            }
            Some(Action::WatchOverHttp(request)) => format!("http {}", write_version(&request.resource_version)),
            Some(Action::Probe(request)) => {
                let word = if request.initial_events { "stream" } else { "watch" };
                format!("probe {word} {}", write_version(&request.resource_version))
            }
            Some(Action::List(request)) => {
                let mut text = format!("list {}", write_version(&request.resource_version));
                if let Some(limit) = request.limit {
                    write!(text, " limit {limit}").unwrap();
                }
                if let Some(token) = &request.continue_token {
                    write!(text, " continue {token}").unwrap();
                }
                text
            }
        }
    }
}

/// The JSON of an object: `name@version`, or `name#life@version`.
pub fn object(text: &str) -> String {
    let (who, version) = text.split_once('@').unwrap();
    let (name, life) = who.split_once('#').unwrap_or((who, "1"));
    format!(r#"{{"metadata":{{"name":"{name}","namespace":"n","uid":"{name}-{life}","resourceVersion":"{version}"}}}}"#)
}

/// The JSON of a frame.
pub fn event(word: &str, text: &str) -> String {
    format!("{{\"type\":\"{word}\",\"object\":{}}}\n", object(text))
}

/// The JSON of a bookmark.
pub fn bookmark(version: &str, annotations: &str) -> String {
    format!(
        r#"{{"type":"BOOKMARK","object":{{"kind":"Pod","metadata":{{"resourceVersion":"{version}","annotations":{annotations}}}}}}}"#
    )
}

/// The JSON of a list page.
pub fn page(text: &str) -> String {
    let mut words = text.split(' ');
    let version = words.next().unwrap_or_default();
    let (tokens, items): (Vec<&str>, Vec<&str>) =
        words.filter(|word| !word.is_empty()).partition(|word| word.starts_with('+'));
    let token = tokens.first().map_or("", |token| &token[1..]);
    let items: Vec<String> = items
        .into_iter()
        .map(|item| if item == "?" { String::from(r#"{"metadata":{"uid":"x"}}"#) } else { object(item) })
        .collect();
    format!(
        r#"{{"kind":"PodList","metadata":{{"resourceVersion":"{version}","continue":"{token}"}},"items":[{}]}}"#,
        items.join(",")
    )
}

/// The JSON of a Status: `CODE REASON WORDS`.
pub fn status(text: &str) -> String {
    let mut words = text.splitn(3, ' ');
    let mut next = || words.next().unwrap_or_default();
    let (code, reason, message) = (next(), next(), next());
    format!(r#"{{"kind":"Status","status":"Failure","code":{code},"reason":"{reason}","message":"{message}"}}"#)
}

/// An object in the language of the conversations.
pub fn write_object(object: &Object) -> String {
    let uid = object.uid.text();
    let life = uid.strip_prefix(&*object.key.name).and_then(|rest| rest.strip_prefix('-')).unwrap_or("1");
    let life = if life == "1" { String::new() } else { format!("#{life}") };
    format!("{}{life}@{}", object.key.name, object.resource_version)
}

/// A change in the language of the conversations.
pub fn write_change(change: &Change) -> String {
    match change {
        Change::Added { new, .. } => format!("Added {}", write_object(new)),
        Change::Updated { old, new, .. } => format!("Updated {}>{}", write_object(old), new.resource_version),
        Change::Synced { new, .. } => format!("Synced {}", write_object(new)),
        Change::Deleted { last, .. } => format!("Deleted {}", write_object(last)),
    }
}

fn write_version(version: &ResourceVersion) -> String {
    if version.is_unset() { String::from("unset") } else { version.to_string() }
}
