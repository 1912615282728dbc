//! What must hold for any input from the network or the user: the bodies of the fuzz targets, which the corpus test
//! replays natively. Each takes any bytes, and panics if a property is violated.

#![allow(dead_code)] // Each fuzz target uses one of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use kubechurn_client::api::event;
use kubechurn_client::api::extra::Keep;
use kubechurn_client::api::list::{ListItem, ListReader};
use kubechurn_client::api::object::{Decode, Object, ObjectKey, decode_metadata, decode_or_flag};
use kubechurn_client::api::selector::{FieldSelector, LabelSelector};
use kubechurn_client::api::status::Failure;
use kubechurn_client::api::time::Timestamp;
use kubechurn_client::cache::backoff::Moment;
use kubechurn_client::cache::handler::{Handled, HandlerOptions, ResourceEventHandler};
use kubechurn_client::cache::processor::HandlerId;
use kubechurn_client::cache::queue::Queue;
use kubechurn_client::cache::real_fifo::RealFifo;
use kubechurn_client::cache::reflector::{Action, Health, Input, Options};
use kubechurn_client::cache::shared_informer::{InformerOptions, SharedInformer};
use kubechurn_client::cache::store::{Change, Store};
use kubechurn_columns::kinds::{KINDS, pods};

/// The objects of a truthful server.
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
    // A text frame is always valid text, but any text.
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
            // The same page again is not a continuation, because its token repeats.
            action = relist.act(Input::PageBytes(data));
            assert_eq!(action, Some(Action::Wait));
        }
        if matches!(action, Some(Action::Watch(_))) {
            relist.drain();
            relist.check_taken(data);
        }
        relist.check_truth_returns(action);
    }
    let whole = items_of(data, data.len().max(1));
    for size in [1, 2, 3, 7, 64] {
        assert_eq!(items_of(data, size), whole, "in pieces of {size} bytes");
        in_pieces(data, size);
    }
    whole.unwrap_or_default().iter().for_each(|item| decode_as_every_kind(&String::from_utf8_lossy(item)));
}

/// The same page in pieces of `size` bytes leads to the same action, the same rows and the same sums.
fn in_pieces(data: &[u8], size: usize) {
    let (mut whole, mut pieces) = (Session::relisting(true), Session::relisting(true));
    let expected = whole.act(Input::PageBytes(data));
    let early = data.chunks(size).find_map(|piece| pieces.act(Input::Piece(piece)));
    assert_eq!(early.or_else(|| pieces.act(Input::PageEnd)), expected);
    whole.drain();
    pieces.drain();
    assert_eq!(pieces.rows(), whole.rows());
    let sums = |session: &Session| (session.informer.ledger().listed, session.informer.ledger().replaced);
    assert_eq!(sums(&pieces), sums(&whole));
}

/// The items of a page that is read in pieces of `size` bytes; `None` where the bytes are no page.
fn items_of(data: &[u8], size: usize) -> Option<Vec<Vec<u8>>> {
    let (mut reader, mut items) = (ListReader::default(), Vec::new());
    for mut piece in data.chunks(size) {
        while let Some(item) = reader.next(&mut piece).ok()? {
            items.push(match item {
                ListItem::Text(text) => text.as_bytes().to_vec(),
                ListItem::NotText(bytes) => bytes.to_vec(),
                ListItem::TooLong(_) => Vec::new(),
            });
        }
        assert!(piece.is_empty(), "a piece is read to its end");
    }
    reader.finish().ok()?;
    Some(items)
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

/// Reads an object as one of every kind. Whatever was read can be printed and sorted.
fn decode_as_every_kind(text: &str) {
    for kind in KINDS {
        let Ok(object) = kind.decode.read(text) else { continue };
        assert_eq!(object.cells.len(), kind.columns.len(), "{}", kind.title);
        assert!(!object.key.name.is_empty() && object.flaw.is_none());
        // Another JSON parser accepts the whole text and finds the same object. A kind without namespaces is not asked
        // for one.
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

/// An informer and what it received, in a conversation with a truthful server.
struct Session {
    informer: SharedInformer,
    /// An informer with a queue of another type, which receives the same and must reach the same state.
    other: SharedInformer<RealFifo>,
    /// Whether the objects are Pods whose columns are read. If not, they are objects of any kind, and only their
    /// metadata is read.
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

/// Keeps everything that can be kept of an object, so that all the code that reads it is run.
const KEEP: Keep = Keep { owners: true, labels: true, text: true };

fn decoder(columns: bool) -> Decode {
    if columns { pods::KIND.decode } else { Decode::METADATA }
}

type Rows = BTreeMap<ObjectKey, Arc<Object>>;

fn rows(store: &Store) -> Rows {
    store.iter().map(|object| (object.key.clone(), object.clone())).collect()
}

/// Applies all that is queued.
fn drain<Q: Queue>(informer: &mut SharedInformer<Q>, now: f64) {
    informer.drain(usize::MAX, now);
    assert!(informer.queue().is_empty() && informer.is_balanced(), "{:?}", informer.ledger());
}

impl Session {
    /// In the middle of the first list: two objects have arrived, and not its end.
    fn streaming(columns: bool) -> Session {
        let kind = columns.then_some(pods::KIND.resource.kind);
        let options = InformerOptions {
            reflector: Options { keep: KEEP, kind, ..Options::default() },
            ..InformerOptions::default()
        };
        let mut informer = SharedInformer::new(decoder(columns), options);
        let other = SharedInformer::with_queue(decoder(columns), options);
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

    /// A new list that replaces what is known was requested.
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

    /// Applies what is queued in both informers, which must then hold the same.
    fn drain(&mut self) {
        drain(&mut self.informer, self.now);
        drain(&mut self.other, self.now);
        self.informer.deliver(self.handler, &mut self.changed);
        assert_eq!(self.rows(), rows(self.other.store()));
    }

    fn rows(&self) -> Rows {
        rows(self.informer.store())
    }

    /// The object that the informer must make of a text, if it accepts the text.
    fn read(&self, text: &str) -> Option<Object> {
        let mut object = decode_or_flag(decoder(self.columns), text).ok()?;
        if let Err(flaw) = object.keep(text, KEEP) {
            object.flaw = Some(flaw.to_string().into());
        }
        Some(object)
    }

    /// Lets the wait pass, which must be neither too short nor endless. Nothing is requested before its end.
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

    /// A frame changes at most one row. All others stay as they were.
    fn check_others(&self, before: &Rows) {
        let named = self.changed.0.first();
        assert!(self.changed.0.iter().all(|key| Some(key) == named), "{:?}", self.changed.0);
        let others = |rows: &Rows| -> Rows {
            rows.iter().filter(|(key, _)| Some(*key) != named).map(|(key, row)| (key.clone(), row.clone())).collect()
        };
        assert_eq!(others(&self.rows()), others(before));
    }

    /// After a page that was accepted as the whole list, each row is either a readable item and the newest of its name,
    /// or was there before.
    fn check_taken(&self, data: &[u8]) {
        let items = items_of(data, data.len()).expect("a page").into_iter();
        let texts = items.filter_map(|item| String::from_utf8(item).ok());
        let items: Vec<Object> = texts.filter_map(|item| self.read(&item)).collect();
        let rows = self.rows();
        assert!(self.columns || items.iter().all(|item| rows.contains_key(&item.key)));
        for row in rows.values() {
            if !items.contains(row) {
                // The row was there before. Its flag says that it may be the item that could not be read.
                let unread = self.informer.ledger().malformed_items;
                assert!(unread > 0 && row.flaw.is_some(), "{row:?}");
                continue;
            }
            let mut lives = items.iter().filter(|item| item.key == row.key);
            // If a list has two objects of one name, nothing says which is the later one.
            if lives.clone().any(|item| item.uid != row.uid) {
                continue;
            }
            assert!(lives.all(|item| !row.resource_version.is_older_than(&item.resource_version)), "{row:?}");
        }
    }

    /// Answers every further request with the truth. Only the truth is shown then.
    fn check_truth_returns(&mut self, mut action: Option<Action>) {
        for _ in 0..8 {
            action = match action {
                // The bad input is over, and the next list repairs what it left behind.
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
                Some(Action::Probe(_) | Action::WatchOverHttp(_)) => panic!("no socket was refused"),
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
