//! What must hold whatever the network or the user says: the bodies of the fuzz targets, which `fuzz_corpus`
//! replays natively. Each takes any bytes, and panics where a promise is broken.

#![allow(dead_code)] // Each fuzz target uses one of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use kubechurn_client::api::extra::Keep;
use kubechurn_client::api::object::{Decode, Object, ObjectKey, decode_metadata, decode_or_flag};
use kubechurn_client::api::selector::{FieldSelector, LabelSelector};
use kubechurn_client::api::status::Failure;
use kubechurn_client::api::time::Timestamp;
use kubechurn_client::api::{event, list};
use kubechurn_client::cache::backoff::Moment;
use kubechurn_client::cache::handler::{Handled, HandlerOptions, ResourceEventHandler};
use kubechurn_client::cache::processor::HandlerId;
use kubechurn_client::cache::queue_kind::QueueKind;
use kubechurn_client::cache::reflector::{Action, Health, Input, Options};
use kubechurn_client::cache::shared_informer::{InformerOptions, SharedInformer};
use kubechurn_client::cache::store::{Change, Store};
use kubechurn_model::table::kinds::{KINDS, pods};

/// The objects of the server that tells the truth.
const TRUTH: [&str; 2] = [
    r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"n","uid":"ua","resourceVersion":"5"},"status":{"phase":"Running"}}"#,
    r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"b","namespace":"n","uid":"ub","resourceVersion":"6"},"status":{"phase":"Pending"}}"#,
];
const END: &str = r#"{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"7","annotations":{"k8s.io/initial-events-end":"true"}}}}"#;
const EXPIRED: &str =
    r#"{"type":"ERROR","object":{"kind":"Status","reason":"Expired","message":"too old","code":410}}"#;

/// Any bytes as a frame of a watch, and of a streaming list.
pub fn frame(data: &[u8]) {
    for columns in [true, false] {
        let mut watch = Session::live(columns);
        let before = watch.rows();
        let action = watch.act(Input::Bytes(data));
        watch.drain();
        watch.check_others(&before);
        watch.check_truth_returns(action);

        let mut stream = Session::streaming(columns);
        let action = stream.act(Input::Bytes(data));
        stream.check_truth_returns(action);
    }
    let text = String::from_utf8_lossy(data);
    // A text frame is always text, but it may be any.
    if matches!(text, std::borrow::Cow::Owned(_)) {
        let mut watch = Session::live(true);
        let action = watch.act(Input::Frame(&text));
        watch.check_truth_returns(action);
    }
    decode_as_every_kind(&text);
    if let Ok(frame) = event::split(&text) {
        decode_as_every_kind(frame.object);
        let failure = Failure::from_error_event(frame.object);
        assert!(failure.retry_after.is_none_or(|wait| wait > 0.0 && wait <= 60_000.0), "{failure:?}");
    }
}

/// Any bytes as a page of a relist, and as its next page.
pub fn list(data: &[u8]) {
    for columns in [true, false] {
        let mut relist = Session::relisting(columns);
        let mut action = relist.act(Input::PageBytes(data));
        if matches!(action, Some(Action::List(_))) {
            // The same page again does not continue: its token repeats.
            action = relist.act(Input::PageBytes(data));
            assert_eq!(action, Some(Action::Wait));
        }
        if matches!(action, Some(Action::Watch(_))) {
            relist.drain();
            relist.check_taken(data);
        }
        relist.check_truth_returns(action);
    }
    if let Some(page) = std::str::from_utf8(data).ok().and_then(|text| list::page(text).ok()) {
        page.items.iter().for_each(|item| decode_as_every_kind(item));
    }
}

/// Any text as a selector of labels, and of fields.
pub fn selector(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let labels = |value: &'static str| move |key: &str| key.len().is_multiple_of(2).then_some(value);
    match LabelSelector::parse(text) {
        Ok(selector) => {
            let printed = selector.to_string();
            let again = LabelSelector::parse(&printed).expect("what is printed parses");
            assert_eq!((&again, &again.to_string()), (&selector, &printed));
            let each: Vec<LabelSelector> =
                selector.requirements().iter().map(|one| read_again(&one.to_string())).collect();
            for value in ["", "a", "1", "-1"] {
                let all = each.iter().all(|one| one.matches(labels(value)));
                assert_eq!(selector.matches(labels(value)), all, "{printed} {value}");
            }
        }
        Err(error) => assert!(text.is_char_boundary(error.at), "{error}"),
    }
    let fields = |value: &'static str| move |field: &str| if field.len().is_multiple_of(2) { value } else { "" };
    match FieldSelector::parse(text) {
        Ok(selector) => {
            let printed = selector.to_string();
            let again = FieldSelector::parse(&printed).expect("what is printed parses");
            assert_eq!((&again, &again.to_string()), (&selector, &printed));
            for value in ["", "a", "\\,="] {
                assert_eq!(selector.matches(fields(value)), again.matches(fields(value)), "{printed} {value}");
            }
        }
        Err(error) => assert!(text.is_char_boundary(error.at), "{error}"),
    }
}

fn read_again(printed: &str) -> LabelSelector {
    LabelSelector::parse(printed).expect("one requirement of a selector is a selector")
}

/// Reads an object as one of every kind; whatever it is, it prints and sorts.
fn decode_as_every_kind(text: &str) {
    for kind in KINDS {
        let Ok(object) = kind.decode.read(text) else { continue };
        assert_eq!(object.cells.len(), kind.columns.len(), "{}", kind.title);
        assert!(!object.key.name.is_empty() && object.flaw.is_none());
        // Another reader of JSON finds the same object, in a text that it takes for JSON from end to end. What is in
        // no namespace is not even asked for one.
        if kind.resource.namespaced {
            let other = decode_metadata(text).expect("what has columns has metadata");
            let who = |object: &Object| (object.key.clone(), object.uid.clone(), object.resource_version.clone());
            assert_eq!(who(&object), who(&other), "{}", kind.title);
        }
        let mut out = String::new();
        for cell in &object.cells {
            [i64::MIN, 0, i64::MAX].into_iter().for_each(|now| cell.write(Timestamp(now), &mut out));
            assert!(cell.compare(cell).is_eq());
        }
    }
}

/// An informer and what it was told, in a conversation with a server that tells the truth.
struct Session {
    informer: SharedInformer,
    /// An informer with a queue of another kind, which is told the same and comes to the same.
    other: SharedInformer,
    /// Pods, of which the columns are read; otherwise objects of any kind, of which the metadata is.
    columns: bool,
    now: f64,
    handler: HandlerId,
    changed: Changed,
}

/// The keys of the rows that changed.
#[derive(Default)]
struct Changed(Vec<ObjectKey>);

impl ResourceEventHandler for Changed {
    fn changed(&mut self, _now: f64, change: &Change) -> Handled {
        let (Change::Added { new: object, .. }
        | Change::Updated { new: object, .. }
        | Change::Synced { new: object, .. }
        | Change::Deleted { last: object, .. }) = change;
        self.0.push(object.key.clone());
        Ok(())
    }
}

/// All that can be kept of an object, so that reading it is tried too.
const KEEP: Keep = Keep { owners: true, labels: true, text: true };

fn decoder(columns: bool) -> Decode {
    if columns { pods::KIND.decode } else { Decode::METADATA }
}

type Rows = BTreeMap<ObjectKey, Arc<Object>>;

fn rows(store: &Store) -> Rows {
    store.iter().map(|object| (object.key.clone(), object.clone())).collect()
}

impl Session {
    /// In the middle of the first list: two objects, and no end yet.
    fn streaming(columns: bool) -> Session {
        let kind = columns.then_some(pods::KIND.resource.kind);
        let options = InformerOptions {
            reflector: Options { keep: KEEP, kind, ..Options::default() },
            ..InformerOptions::default()
        };
        let mut informer = SharedInformer::new(decoder(columns), options);
        let atomic = InformerOptions { queue: QueueKind::AtomicFifo, ..options };
        let other = SharedInformer::new(decoder(columns), atomic);
        let handler = informer.add_event_handler(HandlerOptions::default(), 0.0);
        let mut session = Session { informer, other, columns, now: 0.0, handler, changed: Changed::default() };
        assert!(matches!(session.act(Input::Start), Some(Action::Watch(_))));
        session.act(Input::Opened);
        session.say_truth();
        session
    }

    /// A watch with two rows, two seconds after its beginning.
    fn live(columns: bool) -> Session {
        let mut session = Session::streaming(columns);
        assert_eq!(session.act(Input::Frame(END)), None);
        session.drain();
        assert_eq!(session.rows().len(), TRUTH.len());
        session.changed.0.clear();
        session.now += 2_000.0;
        session
    }

    /// A list that replaces what is known has been asked for.
    fn relisting(columns: bool) -> Session {
        let mut session = Session::live(columns);
        session.act(Input::Frame(EXPIRED));
        session.wait();
        let action = session.act(Input::Failed(Failure::from_response(422, None, "no streaming lists")));
        assert!(matches!(action, Some(Action::List(_))));
        session
    }

    fn act(&mut self, input: Input<'_>) -> Option<Action> {
        let moment = Moment { now: self.now, random: 0.0 };
        let action = self.informer.handle(input.clone(), moment);
        assert_eq!(self.other.handle(input, moment), action);
        assert!(self.informer.is_balanced(), "{:?}", self.informer.ledger());
        assert!(self.other.is_balanced(), "{:?}", self.other.ledger());
        action
    }

    /// Applies what is queued, in both informers, which come to the same.
    fn drain(&mut self) {
        for informer in [&mut self.informer, &mut self.other] {
            informer.drain(usize::MAX, self.now);
            assert!(informer.queue().is_empty() && informer.is_balanced(), "{:?}", informer.ledger());
        }
        self.informer.deliver(self.handler, &mut self.changed);
        assert_eq!(self.rows(), rows(self.other.store()));
    }

    fn rows(&self) -> Rows {
        rows(self.informer.store())
    }

    /// What the informer shall make of an object, if it takes it.
    fn read(&self, text: &str) -> Option<Object> {
        let mut object = decode_or_flag(decoder(self.columns), text).ok()?;
        if let Err(flaw) = object.keep(text, KEEP) {
            object.flaw = Some(flaw.to_string().into());
        }
        Some(object)
    }

    /// Lets the wait pass, which is neither short nor for ever; nothing is asked for before its end.
    fn wait(&mut self) -> Option<Action> {
        let deadline = self.informer.reflector().deadline().expect("a wait ends");
        let wait = deadline - self.now;
        assert!((800.0..=60_000.0).contains(&wait), "a wait of {wait} ms");
        self.now = deadline - 1.0;
        assert_eq!(self.act(Input::Timer), None);
        self.now = deadline;
        self.act(Input::Timer)
    }

    fn say_truth(&mut self) {
        for object in TRUTH {
            assert_eq!(self.act(Input::Frame(&format!("{{\"type\":\"ADDED\",\"object\":{object}}}\n"))), None);
        }
    }

    /// One frame changes one row at most: all others are as they were.
    fn check_others(&self, before: &Rows) {
        let named = self.changed.0.first();
        assert!(self.changed.0.iter().all(|key| Some(key) == named), "{:?}", self.changed.0);
        let others = |rows: &Rows| -> Rows {
            rows.iter().filter(|(key, _)| Some(*key) != named).map(|(key, row)| (key.clone(), row.clone())).collect()
        };
        assert_eq!(others(&self.rows()), others(before));
    }

    /// A page that was taken for the whole list: each row is a readable item, and the newest of its name; or it was there
    /// before.
    fn check_taken(&self, data: &[u8]) {
        let page = list::page(std::str::from_utf8(data).expect("text")).expect("a page");
        let items: Vec<Object> = page.items.iter().filter_map(|item| self.read(item)).collect();
        let rows = self.rows();
        assert!(self.columns || items.iter().all(|item| rows.contains_key(&item.key)));
        for row in rows.values() {
            if !items.contains(row) {
                // It was there before, and says that it may be what could not be read.
                let unread = self.informer.ledger().malformed_items;
                assert!(unread > 0 && row.flaw.is_some(), "{row:?}");
                continue;
            }
            let mut lives = items.iter().filter(|item| item.key == row.key);
            // Of two lives in one list no one can say which is the later.
            if lives.clone().any(|item| item.uid != row.uid) {
                continue;
            }
            assert!(lives.all(|item| !row.resource_version.is_older_than(&item.resource_version)), "{row:?}");
        }
    }

    /// Whatever is asked for next is answered with the truth, which is then all that is shown.
    fn check_truth_returns(&mut self, mut action: Option<Action>) {
        for _ in 0..8 {
            action = match action {
                // The bad input is over, and what it left is found out by the next list.
                None => self.act(Input::Frame(EXPIRED)),
                Some(Action::Wait) => self.wait(),
                Some(Action::Watch(request)) if request.initial_events => {
                    self.act(Input::Opened);
                    self.say_truth();
                    assert_eq!(self.act(Input::Frame(END)), None);
                    return self.check_truth();
                }
                Some(Action::Watch(_)) => {
                    self.act(Input::Opened);
                    None
                }
                Some(Action::List(_)) => {
                    let page = format!(r#"{{"metadata":{{"resourceVersion":"7"}},"items":[{}]}}"#, TRUTH.join(","));
                    assert!(matches!(self.act(Input::Page(&page)), Some(Action::Watch(_))));
                    self.act(Input::Opened);
                    let asked = self.now;
                    assert_eq!(self.act(Input::HeartbeatAnswered { asked, event: false, checked: true }), None);
                    return self.check_truth();
                }
                Some(Action::Probe(_)) => panic!("no socket was refused"),
            };
        }
        panic!("no list was asked for");
    }

    fn check_truth(&mut self) {
        self.drain();
        let truth = TRUTH.map(|text| self.read(text).expect("the truth is readable"));
        assert_eq!(self.rows(), truth.map(|object| (object.key.clone(), Arc::new(object))).into());
        assert!(self.informer.has_synced());
        assert_eq!(self.informer.health(self.now), Health::Live);
        assert_eq!(self.informer.reflector().resource_version().as_str(), "7");
    }
}
