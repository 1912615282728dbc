//! What the graph returns to be checked after a change.

use std::rc::Rc;

use super::graph::{Graph, Key, Observed, Owner};

/// A graph in which the name of each object is its uid, and all objects have one kind and one namespace.
#[derive(Default)]
struct Tester(Graph);

impl Tester {
    /// Reports an object; `state` may contain `deleted`, `foreground` and `orphan`. Owners marked with `!` are blocked
    /// by it.
    fn observe(&mut self, uid: &str, owners: &[&str], state: &str) -> String {
        let kind = self.0.kind("v1", "ConfigMap");
        let owners = owners.iter().map(|owner| {
            let uid = owner.trim_end_matches('!');
            Owner { uid: self.0.uid(uid), kind: Rc::clone(&kind), name: uid.into(), blocks: owner.ends_with('!') }
        });
        let owners = owners.collect();
        let (being_deleted, foreground, orphan) =
            (state.contains("deleted"), state.contains("foreground"), state.contains("orphan"));
        let namespace = self.0.text("default");
        let uid = self.0.uid(uid);
        summary(self.0.observe(Observed {
            name: Rc::clone(&uid),
            uid,
            kind,
            namespace,
            owners,
            being_deleted,
            foreground,
            orphan,
        }))
    }

    fn forget(&mut self, uid: &str) -> String {
        summary(self.0.forget(uid))
    }
}

fn summary(work: Vec<Key>) -> String {
    let mut words: Vec<String> = work
        .into_iter()
        .map(|key| match key {
            Key::Delete(uid) => uid.to_string(),
            Key::Orphan(uid) => format!("orphan {uid}"),
        })
        .collect();
    words.sort();
    words.dedup();
    words.join(" ")
}

#[test]
fn an_owner_that_nobody_has_seen_is_looked_for() {
    let mut graph = Tester::default();
    assert_eq!(graph.observe("child", &["root"], ""), "root");
    assert_eq!(graph.observe("other", &["root"], ""), "", "it is looked for already");
    assert!(graph.0.get("root").unwrap().is_virtual);
    assert_eq!(graph.observe("root", &[], ""), "");
    assert!(!graph.0.get("root").unwrap().is_virtual);
    assert_eq!(graph.forget("root"), "child other");
    assert_eq!((graph.forget("root"), graph.forget("child"), graph.0.len()), (String::new(), String::new(), 1));
}

#[test]
fn a_virtual_owner_goes_with_its_last_dependent() {
    let mut graph = Tester::default();
    graph.observe("child", &["root"], "");
    assert_eq!(graph.observe("child", &[], ""), "");
    assert_eq!(graph.0.len(), 1);
}

#[test]
fn an_owner_in_the_foreground_waits_for_those_that_block_it() {
    let mut graph = Tester::default();
    graph.observe("root", &[], "");
    graph.observe("child", &["root!"], "");
    graph.observe("free", &["root"], "");
    assert_eq!(graph.observe("root", &[], "deleted foreground"), "child free root");
    assert_eq!(graph.observe("root", &[], "deleted foreground"), "", "a second time is no news");
    assert_eq!(graph.0.blocking_dependents("root").iter().map(|uid| &**uid).collect::<Vec<_>>(), ["child"]);
    assert_eq!(graph.observe("late", &["root!"], ""), "root", "one more to be deleted");
    assert_eq!(graph.observe("late", &["root"], ""), "root", "it no longer blocks");
    assert_eq!(graph.forget("child"), "root");
    assert!(graph.0.blocking_dependents("root").is_empty());
}

#[test]
fn an_owner_that_leaves_its_dependents_behind_is_reported_once() {
    let mut graph = Tester::default();
    graph.observe("root", &[], "orphan");
    assert_eq!(graph.observe("root", &[], "deleted orphan"), "orphan root");
    assert_eq!(graph.observe("root", &[], "deleted orphan"), "");
}

#[test]
fn who_names_another_by_its_uid_is_looked_at() {
    let mut graph = Tester::default();
    graph.observe("root", &[], "");
    let kind = graph.0.kind("v1", "Secret");
    let owner = Owner { uid: graph.0.uid("root"), kind: Rc::clone(&kind), name: "root".into(), blocks: false };
    let observed = |namespace: &str, owners: Vec<Owner>| Observed {
        uid: "child".into(),
        kind: Rc::clone(&kind),
        namespace: namespace.into(),
        name: "child".into(),
        owners,
        being_deleted: false,
        foreground: false,
        orphan: false,
    };
    assert_eq!(summary(graph.0.observe(observed("default", vec![owner.clone()]))), "child", "the root is no Secret");
    graph.forget("child");
    let owner = Owner { kind: graph.0.kind("v1", "ConfigMap"), ..owner };
    assert_eq!(summary(graph.0.observe(observed("default", vec![owner.clone()]))), "");
    graph.forget("child");
    assert_eq!(summary(graph.0.observe(observed("elsewhere", vec![owner]))), "child", "it is in another namespace");
}

#[test]
fn what_a_list_no_longer_has_is_missing() {
    let mut graph = Tester::default();
    graph.observe("one", &["root"], "");
    graph.observe("two", &[], "");
    let kind = graph.0.kind("v1", "ConfigMap");
    let missing = graph.0.missing(&kind, |uid| uid == "two");
    assert_eq!(missing.iter().map(|uid| &**uid).collect::<Vec<_>>(), ["one"], "but not an owner that nobody has seen");
    graph.observe("two", &["far"], "");
    graph.0.expect("two", "far");
    assert_eq!(graph.0.virtual_nodes().len(), 2);
}
