//! Informers, their handlers and their factory: which handler gets which notification.

use std::sync::Arc;

use kubechurn_client::api::object::{Decode, Object};
use kubechurn_client::api::request::Scope;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::time::Timestamp;
use kubechurn_client::cache::backoff::Moment;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::cache::delta_fifo::DeltaFifo;
use kubechurn_client::cache::factory::SharedInformerFactory;
use kubechurn_client::cache::handler::{Handled, HandlerError, HandlerOptions, ResourceEventHandler, Resynced};
use kubechurn_client::cache::index::{self, IndexFunc};
use kubechurn_client::cache::processor::HandlerId;
use kubechurn_client::cache::queue::Queue;
use kubechurn_client::cache::real_fifo::RealFifo;
use kubechurn_client::cache::reflector::{Input, Options};
use kubechurn_client::cache::shared_informer::{InformerOptions, SharedInformer};
use kubechurn_client::cache::store::Change;
use kubechurn_columns::kinds::pods;

use kubechurn_client::testing::{bookmark, event, write_change, write_object};

const PODS: ApiResource =
    ApiResource { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true, cluster: "" };
const NODES: ApiResource = ApiResource { plural: "nodes", kind: "Node", namespaced: false, ..PODS };

const CHANGES: HandlerOptions = HandlerOptions { changes: true, received: false, listing: false, resync: None };

/// A handler that records its notifications, and that can be made to fail at a name.
#[derive(Default)]
struct Recorded {
    received: Vec<String>,
    errs_at: &'static str,
    panics_at: &'static str,
}

impl ResourceEventHandler for Recorded {
    fn changed(&mut self, _now: f64, change: &Change) -> Handled {
        let name = &*change.object().key.name;
        assert_ne!(name, self.panics_at, "as was asked for");
        if name == self.errs_at {
            return Err(HandlerError(format!("no {name} here")));
        }
        self.received.push(write_change(change));
        Ok(())
    }

    fn received(&mut self, _now: f64, delta_type: DeltaType, object: &Arc<Object>) -> Handled {
        self.received.push(format!("{delta_type:?} {}", write_object(object)));
        Ok(())
    }

    fn resynced(&mut self, _now: f64, Resynced { count, settled }: Resynced) -> Handled {
        self.received.push(format!("Resync of {count} settled at {settled}"));
        Ok(())
    }
}

/// An informer, its clock, and a record of what happens to it, in the words of the conversation tests.
struct Play<Q = DeltaFifo> {
    informer: SharedInformer<Q>,
    now: f64,
}

impl Play {
    /// A live watch with these objects in the store.
    fn live(objects: &[&str]) -> Play {
        let mut play = Play::new(InformerOptions::default());
        play.begin(objects);
        play.drain();
        play
    }
}

impl<Q: Queue> Play<Q> {
    fn new(options: InformerOptions) -> Play<Q> {
        Play { informer: SharedInformer::with_queue(Decode::METADATA, options), now: 0.0 }
    }

    fn begin(&mut self, objects: &[&str]) {
        self.input(Input::Start);
        self.input(Input::Opened);
        objects.iter().for_each(|object| self.frame("ADDED", object));
        self.input(Input::Frame(&bookmark("100", r#"{"k8s.io/initial-events-end":"true"}"#)));
    }

    fn input(&mut self, input: Input<'_>) {
        self.informer.handle(input, Moment { now: self.now, random: 0.0 });
        assert!(self.informer.is_balanced());
    }

    fn frame(&mut self, word: &str, object: &str) {
        self.input(Input::Frame(&event(word, object)));
    }

    /// The watch is lost, and everything is listed again.
    fn relist(&mut self, objects: &[&str]) {
        self.input(Input::Frame("no frame"));
        self.now = self.informer.reflector().deadline().expect("it tries again");
        self.input(Input::Timer);
        self.begin(objects);
    }

    fn drain(&mut self) {
        self.informer.drain(usize::MAX, self.now);
        assert!(self.informer.is_balanced());
    }

    fn add(&mut self, options: HandlerOptions) -> HandlerId {
        self.informer.add_event_handler(options, self.now)
    }

    /// The notifications of a handler that never fails.
    fn received(&mut self, id: HandlerId) -> String {
        let mut recorded = Recorded::default();
        self.informer.deliver(id, &mut recorded);
        recorded.received.join(" ")
    }

    fn pass(&mut self, ms: f64) {
        let end = self.now + ms;
        while let Some(deadline) = self.informer.reflector().deadline().filter(|deadline| *deadline <= end) {
            self.now = deadline;
            self.input(Input::Timer);
        }
        self.now = end;
    }
}

/// 67. TestSharedInformerWatchDisruption.
#[test]
fn a_deletion_missed_by_the_watch_reaches_every_handler_after_the_relist() {
    let mut play = Play::live(&["a@1", "b@2"]);
    let handlers = [play.add(CHANGES), play.add(CHANGES)];
    for id in handlers {
        assert_eq!(play.received(id), "Added a@1 Added b@2");
    }
    play.relist(&["b@2", "c@9"]);
    play.drain();
    for id in handlers {
        // `b` is repeated without a change: without resyncs, a relist reaches every handler.
        assert_eq!(play.received(id), "Synced b@2 Added c@9 Deleted a@1");
    }
}

#[test]
fn who_comes_late_can_hear_of_what_is_there_a_few_at_a_time_and_then_of_the_rest() {
    let mut play = Play::live(&["a@1", "b@2", "c@3"]);
    let id = play.add(CHANGES);
    play.frame("MODIFIED", "a@9");
    play.drain();
    let mut some = |limit| {
        let mut recorded = Recorded::default();
        let left = play.informer.deliver_some(id, &mut recorded, limit);
        (recorded.received.join(" "), left)
    };
    assert_eq!(some(2), ("Added a@1 Added b@2".into(), true));
    assert_eq!(some(2), ("Added c@3 Updated a@1>9".into(), false));
    assert_eq!(some(2), (String::new(), false));
}

/// 68. TestListenerResyncPeriods, TestResyncCheckPeriod.
#[test]
fn each_handler_is_resynced_in_its_own_period() {
    let every = |resync| HandlerOptions { resync: Some(resync), ..CHANGES };
    let mut play = <Play>::new(InformerOptions::default());
    // The shortest period decides how often the informer checks. No handler is served more often than once a second.
    let handlers = [play.add(CHANGES), play.add(every(2000.0)), play.add(every(3000.0)), play.add(every(1.0))];
    play.begin(&["a@1"]);
    play.drain();
    // A handler that is added later is limited to the period in force: the informer does not check more often because
    // of it.
    let late = play.add(every(10.0));
    handlers.into_iter().chain([late]).for_each(|id| assert_eq!(play.received(id), "Added a@1"));
    for (second, expected) in [
        (1, [0, 0, 0, 1, 1]),
        (2, [0, 1, 0, 1, 1]),
        (3, [0, 0, 1, 1, 1]),
        (4, [0, 1, 0, 1, 1]),
        (5, [0, 0, 0, 1, 1]),
        (6, [0, 1, 1, 1, 1]),
    ] {
        play.pass(1000.0);
        play.drain();
        let received: Vec<String> = handlers.into_iter().chain([late]).map(|id| play.received(id)).collect();
        let received: Vec<usize> = received.iter().map(|received| usize::from(received == "Synced a@1")).collect();
        assert_eq!(received, expected, "after {second} s");
    }
    let mut without = Play::live(&["a@1"]);
    let late = without.add(every(1000.0));
    without.received(late);
    without.pass(5000.0);
    without.drain();
    assert_eq!(without.received(late), "", "where nothing is resynced, who comes late cannot begin it");
}

/// In client-go a period is fixed when the informer starts; here it can change while the watch runs.
#[test]
fn a_resync_period_changes_while_the_watch_runs() {
    let mut play = Play::live(&["a@1", "b@2"]);
    let (own, other) = (play.add(CHANGES), play.add(CHANGES));
    let raw = play.add(HandlerOptions { changes: false, received: true, ..CHANGES });
    for id in [own, other] {
        assert_eq!(play.received(id), "Added a@1 Added b@2");
    }
    play.pass(20_000.0);
    assert_eq!((play.informer.ledger().resyncs, play.informer.resync_period(own)), (0, None));
    for id in [own, raw] {
        play.informer.set_resync_period(id, Some(10_000.0), play.now);
    }
    play.pass(9_999.0);
    assert_eq!(play.received(raw), "");
    // A key that has something queued is left out of the resync, and a handler without a period is not notified.
    play.frame("MODIFIED", "b@101");
    play.pass(1.0);
    assert_eq!(play.received(raw), "Updated b@101 Resync of 1 settled at 0");
    play.drain();
    assert_eq!(
        (play.received(own), play.received(other)),
        ("Updated b@2>101 Synced a@1".into(), "Updated b@2>101".into())
    );
    play.informer.set_resync_period(own, None, play.now);
    // A handler that is added with the period of another one is resynced together with it, and does not delay it.
    play.pass(4_000.0);
    let late = play.add(CHANGES);
    play.informer.set_resync_period(late, Some(10_000.0), play.now);
    play.received(late);
    play.pass(6_000.0);
    play.drain();
    assert_eq!(play.received(late).matches("Synced").count(), 2);
    assert!(play.informer.remove_event_handler(late));
    assert_eq!((play.received(own), play.received(raw)), (String::new(), "Resync of 2 settled at 30000".into()));
    // A period below a second counts as a second, beginning now.
    play.informer.set_resync_period(other, Some(1.0), play.now);
    play.pass(999.0);
    assert_eq!(play.informer.ledger().resyncs, 3);
    play.pass(1.0);
    play.drain();
    let received = play.received(other);
    assert!(received == "Synced a@1 Synced b@101" || received == "Synced b@101 Synced a@1", "{received}");
    for id in [other, raw] {
        play.informer.set_resync_period(id, None, play.now);
    }
    play.pass(60_000.0);
    assert_eq!((play.informer.ledger().resyncs, play.received(raw)), (5, String::new()));
}

/// 69. TestAddWhileActive.
#[test]
fn a_handler_that_comes_late_misses_nothing() {
    let mut play = Play::live(&["a@1", "b@2"]);
    play.frame("MODIFIED", "a@101");
    play.frame("ADDED", "c@102");
    // Two changes wait in the queue, and another arrives before the handler has processed anything.
    let late = play.add(CHANGES);
    assert!(!play.informer.handler_has_synced(late));
    play.drain();
    play.frame("DELETED", "b@103");
    play.drain();
    assert_eq!(play.received(late), "Added a@1 Added b@2 Updated a@1>101 Added c@102 Deleted b@103");
    assert!(play.informer.handler_has_synced(late));
    let raw = play.add(HandlerOptions { changes: false, received: true, ..CHANGES });
    play.frame("MODIFIED", "a@104");
    play.frame("MODIFIED", "a@105");
    play.drain();
    assert_eq!(
        (play.received(raw), play.received(late)),
        ("Updated a@104 Updated a@105".into(), "Updated a@101>105".into())
    );
}

/// 70. TestSharedInformerRemoveHandler.
#[test]
fn removal_is_idempotent() {
    let mut play = Play::live(&["a@1"]);
    let (first, second) = (play.add(CHANGES), play.add(CHANGES));
    assert_eq!(play.informer.handlers(), 2);
    assert!(play.informer.remove_event_handler(first));
    assert!(!play.informer.remove_event_handler(first), "a second time changes nothing");
    play.frame("DELETED", "a@101");
    play.drain();
    assert_eq!((play.received(first), play.informer.handlers()), (String::new(), 1));
    assert_eq!(play.received(second), "Added a@1 Deleted a@101");
    assert_eq!((play.informer.handler_ledger(first), play.informer.handler_has_synced(first)), (None, false));
}

/// 71. TestEventPanics.
#[test]
fn a_handler_that_fails_or_panics_loses_one_notification() {
    let mut play = Play::live(&["a@1", "b@2", "c@3"]);
    let (clumsy, calm) = (play.add(CHANGES), play.add(CHANGES));
    let mut recorded = Recorded { errs_at: "a", panics_at: "b", ..Recorded::default() };
    assert_eq!(play.informer.deliver(clumsy, &mut recorded), 3);
    play.frame("MODIFIED", "b@101");
    play.frame("MODIFIED", "c@102");
    play.drain();
    assert_eq!(play.informer.handler_ledger(clumsy).map(|ledger| ledger.waiting), Some(2));
    play.informer.deliver(clumsy, &mut recorded);
    assert_eq!(recorded.received, ["Added c@3", "Updated c@3>102"]);
    let ledger = play.informer.handler_ledger(clumsy).unwrap();
    assert_eq!((ledger.handled, ledger.failed, ledger.waiting), (2, 3, 0), "each one is in one place");
    assert_eq!(ledger.complaint.as_deref(), Some("the handler panicked"));
    assert_eq!(play.received(calm), "Added a@1 Added b@2 Added c@3 Updated b@2>101 Updated c@3>102");
    assert!(play.informer.handler_has_synced(clumsy));
}

/// 73. TestSingleFile: a handler is synced when the informer is, and after it has processed the first list.
#[test]
fn a_handler_is_synced_once_the_first_list_has_reached_it() {
    let mut play = <Play>::new(InformerOptions::default());
    let early = play.add(CHANGES);
    let synced = |play: &Play, id| (play.informer.has_synced(), play.informer.handler_has_synced(id));
    play.begin(&["a@1", "b@2"]);
    assert_eq!(synced(&play, early), (false, false), "the list waits in the queue");
    play.informer.drain(1, 0.0);
    play.received(early);
    assert_eq!(synced(&play, early), (false, false), "half of it");
    play.drain();
    assert_eq!(synced(&play, early), (true, false), "in the store, and not yet received");
    let late = play.add(CHANGES);
    assert_eq!(synced(&play, late), (true, false));
    play.received(early);
    assert_eq!((synced(&play, early), synced(&play, late)), ((true, true), (true, false)));
    play.received(late);
    assert_eq!(synced(&play, late), (true, true));
    let mut empty = Play::live(&[]);
    let id = empty.add(CHANGES);
    assert_eq!(synced(&empty, id), (true, true), "of an empty list there is nothing to wait for");
}

/// Indexes objects by the value of one label.
fn by_label(label: &'static str) -> IndexFunc {
    Arc::new(move |object, file| object.label(label).into_iter().for_each(&mut *file))
}

/// Indexes objects by what a column shows, independent of the time.
fn by_column(column: usize) -> IndexFunc {
    Arc::new(move |object, file| {
        let mut text = String::new();
        if let Some(cell) = object.cells.get(column) {
            cell.write(Timestamp(0), &mut text);
            file(&text);
        }
    })
}

#[test]
fn objects_are_found_by_owner_label_and_namespace() {
    let keep = kubechurn_client::api::extra::Keep { owners: true, labels: true, text: false };
    let options = Options { keep, watch_list: false, ..Options::default() };
    let mut play = <Play>::new(InformerOptions { reflector: options, ..InformerOptions::default() });
    play.informer.add_index(index::NAMESPACE, index::by_namespace()).unwrap();
    play.informer.add_index("owner", index::by_owner()).unwrap();
    play.input(Input::Start);
    let item = |name: &str, app: &str, owner: &str| {
        format!(
            r#"{{"metadata":{{"name":"{name}","namespace":"n","uid":"{name}","resourceVersion":"1","labels":{{"app":"{app}"}},"ownerReferences":[{{"uid":"{owner}"}}]}}}}"#
        )
    };
    let items = [item("a", "x", "r"), item("b", "y", "r"), item("c", "x", "s")].join(",");
    play.input(Input::Page(&format!(r#"{{"metadata":{{"resourceVersion":"5"}},"items":[{items}]}}"#)));
    play.drain();
    // An index that is added late covers the objects that are already in the store.
    play.informer.add_index("app", by_label("app")).unwrap();
    play.input(Input::Opened);
    let moved = item("a", "y", "s").replace(r#""resourceVersion":"1""#, r#""resourceVersion":"6""#);
    play.input(Input::Frame(&format!(r#"{{"type":"MODIFIED","object":{moved}}}"#)));
    play.drain();
    let found = |index: &str, value: &str| {
        let mut names: Vec<&str> =
            play.informer.store().by_index(index, value).map(|object| &*object.key.name).collect();
        names.sort_unstable();
        names.join(" ")
    };
    assert_eq!((found("owner", "r"), found("owner", "s")), ("b".into(), "a c".into()));
    assert_eq!((found("app", "x"), found("app", "y")), ("c".into(), "a b".into()));
    assert_eq!((found("namespace", "n"), found("namespace", "m")), ("a b c".into(), String::new()));
}

/// An index by what a column shows: Pods by their node.
#[test]
fn pods_are_found_by_node_as_they_are_placed() {
    let node = pods::KIND.columns.iter().position(|column| column.title == "NODE").unwrap();
    let informer = SharedInformer::new(pods::KIND.decode, InformerOptions::default());
    let mut play = Play { informer, now: 0.0 };
    play.informer.add_index("node", by_column(node)).unwrap();
    play.begin(&[]);
    let pod = |word: &str, name: &str, version: u32, spec: &str| {
        let metadata = format!(r#"{{"name":"{name}","namespace":"n","uid":"{name}","resourceVersion":"{version}"}}"#);
        format!(r#"{{"type":"{word}","object":{{"kind":"Pod","metadata":{metadata},"spec":{spec},"status":{{}}}}}}"#)
    };
    for (frame, expected) in [
        (pod("ADDED", "a", 101, "{}"), "<none>:a"),
        (pod("ADDED", "b", 102, r#"{"nodeName":"x"}"#), "<none>:a x:b"),
        (pod("MODIFIED", "a", 103, r#"{"nodeName":"x"}"#), "x:a,b"),
        (pod("DELETED", "b", 104, r#"{"nodeName":"x"}"#), "x:a"),
    ] {
        play.input(Input::Frame(&frame));
        play.drain();
        let store = play.informer.store();
        let mut filed: Vec<String> = store
            .index("node")
            .unwrap()
            .values()
            .map(|(node, _)| {
                let mut names: Vec<&str> = store.by_index("node", node).map(|pod| &*pod.key.name).collect();
                names.sort_unstable();
                format!("{node}:{}", names.join(","))
            })
            .collect();
        filed.sort();
        assert_eq!(filed.join(" "), expected, "{frame}");
    }
}

/// The notifications of informers with each kind of queue, for the same stream.
#[test]
fn each_queue_notifies_of_one_stream_in_its_way() {
    let folded = "Added a@102 Added b@2 Deleted b@103 Added b#2@104";
    let all = "Added a@1 Added b@2 Updated a@1>101 Updated a@101>102 Deleted b@103 Added b#2@104";
    // A RealFIFO queues the deletions that a list reveals before the list's items.
    let (behind, before) = ("Synced a@102 Deleted b#2@104", "Deleted b#2@104 Synced a@102");
    assert_eq!(check_queue::<DeltaFifo>(folded, behind), check_queue::<RealFifo>(all, before));
}

/// Plays a stream and a relist before a queue, checks the notifications, and returns what the store holds in the end.
fn check_queue<Q: Queue>(streamed: &str, relisted: &str) -> Vec<Arc<Object>> {
    let mut play = Play::<Q>::new(InformerOptions::default());
    play.begin(&["a@1", "b@2"]);
    for (word, object) in [("MODIFIED", "a@101"), ("MODIFIED", "a@102"), ("DELETED", "b@103"), ("ADDED", "b#2@104")] {
        play.frame(word, object);
    }
    let id = play.add(CHANGES);
    play.drain();
    assert_eq!(play.received(id), streamed);
    play.relist(&["a@102"]);
    play.drain();
    assert_eq!(play.received(id), relisted);
    assert!(play.informer.queue().is_empty() && play.informer.is_balanced());
    play.informer.store().list()
}

/// TestSharedInformerFactory: one informer for each resource, namespace and selector.
#[test]
fn a_factory_shares_informers_and_ends_them_with_their_last_handler() {
    let mut factory = SharedInformerFactory::default();
    let make = || SharedInformer::new(Decode::METADATA, InformerOptions::default());
    let in_shop = Scope { namespace: "shop".into(), ..Scope::default() };
    let labelled = Scope { label_selector: "app=x".into(), ..Scope::default() };
    let all = factory.informer_for(PODS, &Scope::default(), make);
    assert_eq!(factory.informer_for(PODS, &Scope::default(), make), all);
    let mut ids = vec![all];
    for (resource, scope) in [(PODS, &in_shop), (PODS, &labelled), (NODES, &Scope::default())] {
        ids.push(factory.informer_for(resource, scope, make));
    }
    ids.dedup();
    assert_eq!((ids.len(), factory.len()), (4, 4));
    let (table, timeline) =
        (factory.add_event_handler(all, CHANGES, 0.0), factory.add_event_handler(all, CHANGES, 0.0));
    let (table, timeline) = (table.unwrap(), timeline.unwrap());

    let started = |factory: &mut SharedInformerFactory| factory.start().len();
    assert_eq!((started(&mut factory), started(&mut factory)), (4, 0), "starting is idempotent");
    factory.informer_for(NODES, &labelled, make);
    assert_eq!(started(&mut factory), 1, "and needed again for what is new");

    assert!(!factory.remove_event_handler(table), "one handler is left");
    assert!(!factory.remove_event_handler(table), "a second time changes nothing");
    assert!(factory.remove_event_handler(timeline), "the last handler's going ends the watch");
    assert!(!factory.remove_event_handler(timeline) && factory.get(all).is_none());
    assert_eq!(factory.add_event_handler(all, CHANGES, 0.0), None);
    let again = factory.informer_for(PODS, &Scope::default(), make);
    assert_ne!(again, all, "a name is never used again");
    assert!(!factory.has_synced());
    assert_eq!((factory.shutdown().len(), factory.len()), (5, 0));
}
