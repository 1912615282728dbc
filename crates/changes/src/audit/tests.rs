//! Versions and lines that are written down here, and which of them belong together.

use super::*;

use kubechurn_client::cache::delta::DeltaType;

const PODS: ApiResource =
    ApiResource { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true, cluster: "" };

/// A Pod of this uid and version, whose managers have written at these seconds, with more members of its metadata.
fn pod(uid: &str, version: u32, managers: &[(&str, &str, u32)], more: &str) -> String {
    let entry = |(manager, subresource, second): &(&str, &str, u32)| {
        format!(
            r#"{{"manager":"{manager}","operation":"Update","subresource":"{subresource}","time":"2026-11-26T17:00:{second:02}Z","fieldsV1":{{"f:status":{{"f:v{version}":{{}}}}}}}}"#
        )
    };
    let managers = managers.iter().map(entry).collect::<Vec<_>>().join(",");
    format!(
        r#"{{"metadata":{{"name":"a","namespace":"shop","uid":"{uid}","resourceVersion":"{version}","creationTimestamp":"2026-11-26T17:00:01Z","managedFields":[{managers}]{more}}},"status":{{"v{version}":1}}}}"#
    )
}

/// A line of a request by this user at these seconds, with more members.
fn line(id: u32, user: &str, verb: &str, (began, ended): (f64, f64), more: &str) -> String {
    let time = |at: f64| format!("2026-11-26T17:00:{at:09.6}Z");
    format!(
        r#"{{"kind":"Event","apiVersion":"audit.k8s.io/v1","stage":"ResponseComplete","auditID":"{id}","verb":"{verb}","user":{{"username":"{user}"}},"userAgent":"m/1","sourceIPs":["10.0.0.7"],"responseStatus":{{"code":200}},"requestReceivedTimestamp":"{}","stageTimestamp":"{}",{more}}}"#,
        time(began),
        time(ended)
    )
}

const OF: &str = r#""objectRef":{"resource":"pods","namespace":"shop","name":"a"}"#;
const OF_STATUS: &str = r#""objectRef":{"resource":"pods","namespace":"shop","name":"a","subresource":"status"}"#;

/// The second 0 of these times, in milliseconds since 1970.
const START: f64 = 1_795_712_400_000.0;

/// Versions, each with what happened and the second in which it was received.
fn requests(lines: &[String], versions: &[(DeltaType, &str, &str, f64)]) -> Requests {
    let mut requests = Requests::default();
    let mut old: Option<(&str, &str)> = None;
    for (id, (delta_type, uid, text, at)) in versions.iter().enumerate() {
        let (named, before) = (Uid::new(uid), old.filter(|(of, _)| of == uid).map(|(_, text)| text));
        let (new, at) = (Some(*text), START + at * 1_000.0);
        let version = Version { id: id as u64, delta_type: *delta_type, uid: &named, old: before, new, at };
        requests.version(&PODS, &ObjectKey::new("shop", "a"), version);
        old = Some((uid, text));
    }
    lines.iter().for_each(|line| requests.line(line));
    while requests.settle(1) {}
    requests
}

fn who(requests: &Requests, id: u64) -> String {
    requests.of(id).map_or_else(String::new, |request| request.who())
}

const ADDED: DeltaType = DeltaType::Added;
const UPDATED: DeltaType = DeltaType::Updated;
const DELETED: DeltaType = DeltaType::Deleted;

#[test]
fn the_second_of_the_manager_must_be_one_of_the_request() {
    let (old, new) = (pod("u", 1, &[], ""), pod("u", 2, &[("m", "status", 5)], ""));
    let versions = [(ADDED, "u", &*old, 1.0), (UPDATED, "u", &*new, 5.5)];
    let check = |began: f64, ended: f64, of: &str, expected: &str| {
        let requests = requests(&[line(1, "alice", "patch", (began, ended), of)], &versions);
        assert_eq!(who(&requests, 1), expected, "{began} {ended}");
    };
    check(5.2, 5.3, OF_STATUS, "alice");
    check(4.9, 5.1, OF_STATUS, "alice");
    check(3.2, 4.999, OF_STATUS, "");
    check(6.0, 6.1, OF_STATUS, "");
    // Another subresource.
    check(5.2, 5.3, OF, "");
}

#[test]
fn what_fits_two_users_is_nobodys_and_what_fits_two_lines_of_one_user_is_that_users() {
    let (old, new) = (pod("u", 1, &[], ""), pod("u", 2, &[("m", "status", 5)], ""));
    let versions = [(ADDED, "u", &*old, 1.0), (UPDATED, "u", &*new, 5.5)];
    let of = |user, id| line(id, user, "patch", (5.2, 5.3), OF_STATUS);
    let two = requests(&[of("alice", 1), of("bob", 2)], &versions);
    assert_eq!((who(&two, 1), two.counts().several), (String::new(), 2));
    let one = requests(&[of("alice", 1), of("alice", 2)], &versions);
    assert_eq!((who(&one, 1), &*one.of(1).unwrap().id), (String::from("alice"), ""));
    let same = requests(&[of("alice", 1), of("alice", 1)], &versions);
    assert_eq!((&*same.of(1).unwrap().id, same.counts().writes), ("1", 1), "a line that is there twice");
}

#[test]
fn where_a_line_is_missing_the_other_one_is_not_taken_for_it() {
    let texts = [1, 2, 3].map(|version| pod("u", version, &[("m", "status", 5)], ""));
    let versions = [(ADDED, "u", &*texts[0], 1.0), (UPDATED, "u", &*texts[1], 5.5), (UPDATED, "u", &*texts[2], 5.6)];
    let one = requests(&[line(1, "alice", "patch", (5.2, 5.3), OF_STATUS)], &versions);
    assert_eq!((who(&one, 1), who(&one, 2)), (String::new(), String::new()));
    let more = r#","responseObject":{"kind":"Pod","metadata":{"uid":"u","resourceVersion":"3"}}"#;
    let exact = requests(&[line(1, "alice", "patch", (5.2, 5.3), &format!("{OF_STATUS}{more}"))], &versions);
    assert_eq!((who(&exact, 1), who(&exact, 2)), (String::new(), String::from("alice")));
    // What it was based on says the same at the level Metadata.
    let based = OF_STATUS.replace(r#""name":"a""#, r#""name":"a","uid":"u","resourceVersion":"2""#);
    let based = requests(&[line(1, "alice", "update", (5.2, 5.3), &based)], &versions);
    assert_eq!((who(&based, 1), who(&based, 2)), (String::new(), String::from("alice")));
}

#[test]
fn a_patch_that_changed_nothing_wrote_nothing() {
    let (old, new) = (pod("u", 1, &[], ""), pod("u", 2, &[("m", "status", 5)], ""));
    let versions = [(ADDED, "u", &*old, 1.0), (UPDATED, "u", &*new, 5.5)];
    let more =
        format!(r#"{OF_STATUS},"responseObject":{{"kind":"Pod","metadata":{{"uid":"u","resourceVersion":"2"}}}}"#);
    let (first, second) = (line(1, "alice", "patch", (5.1, 5.2), &more), line(2, "bob", "patch", (5.3, 5.4), &more));
    let both = requests(&[second.clone(), first.clone()], &versions);
    assert_eq!((who(&both, 1), both.counts().matched, both.counts().none), (String::from("alice"), 1, 1));
    let later = line(2, "bob", "patch", (9.3, 9.4), &more);
    assert_eq!(who(&requests(&[later], &versions), 1), "", "the first line is missing");
}

#[test]
fn who_marked_it_asked_for_a_deletion_and_not_the_kubelet_that_removed_it() {
    let mark = r#","deletionTimestamp":"2026-11-26T17:00:35Z","deletionGracePeriodSeconds":30"#;
    let (old, new) = (pod("u", 1, &[], ""), pod("u", 2, &[], mark));
    let versions = [(ADDED, "u", &*old, 1.0), (UPDATED, "u", &*new, 5.5), (DELETED, "u", &*new, 5.9)];
    let asks = line(1, "alice", "delete", (5.2, 5.3), OF);
    let removes = line(2, "system:node:n", "delete", (5.8, 5.85), OF);
    let both = requests(&[asks.clone(), removes.clone()], &versions);
    assert_eq!((who(&both, 1), who(&both, 2)), (String::from("alice"), String::from("alice")));
    let without = requests(&[removes], &versions);
    assert_eq!((who(&without, 1), who(&without, 2)), (String::new(), String::new()));
    let evicts = r#""objectRef":{"resource":"pods","namespace":"shop","name":"a","subresource":"eviction"}"#;
    let evicted = requests(&[line(1, "carol", "create", (5.2, 5.3), evicts)], &versions);
    assert_eq!(who(&evicted, 2), "carol");
    let dry = format!(r#"{OF},"requestURI":"/x?dryRun=All""#);
    assert_eq!(who(&requests(&[line(1, "erin", "delete", (5.2, 5.3), &dry)], &versions), 2), "");
    // What is gone at once has only the time at which that was heard.
    let at_once = [(ADDED, "u", &*old, 1.0), (DELETED, "u", &*old, 5.9)];
    assert_eq!(who(&requests(std::slice::from_ref(&asks), &at_once), 1), "alice");
    let late = [(ADDED, "u", &*old, 1.0), (DELETED, "u", &*old, 25.0)];
    assert_eq!(who(&requests(&[asks], &late), 1), "");
}

#[test]
fn a_collection_that_was_deleted_names_its_objects_or_has_no_selector() {
    let old = pod("u", 1, &[], "");
    let versions = [(ADDED, "u", &*old, 1.0), (DELETED, "u", &*old, 5.4)];
    let check = |more: &str, expected: &str| {
        let of = format!(r#""objectRef":{{"resource":"pods","namespace":"shop"}}{more}"#);
        let requests = requests(&[line(1, "alice", "deletecollection", (5.2, 5.3), &of)], &versions);
        let counts = requests.counts();
        assert_eq!(
            (who(&requests, 1), counts.matched),
            (expected.to_owned(), u64::from(!expected.is_empty())),
            "{more}"
        );
    };
    check("", "alice");
    check(r#","requestURI":"/x?labelSelector=a""#, "");
    check(r#","requestURI":"/x?labelSelector=a","responseObject":{"items":[{"metadata":{"uid":"u"}}]}"#, "alice");
    check(r#","responseObject":{"items":[{"metadata":{"uid":"v"}}]}"#, "");
}

#[test]
fn of_another_cluster_s_log_only_what_names_the_uid_counts() {
    let (old, new) = (pod("u", 1, &[], ""), pod("u", 2, &[("m", "status", 5)], ""));
    let last = pod("u", 3, &[("m", "status", 11)], "");
    let versions = [(ADDED, "u", &*old, 1.0), (UPDATED, "u", &*new, 9.0), (UPDATED, "u", &*last, 12.0)];
    let patch = line(1, "alice", "patch", (5.2, 5.3), OF_STATUS);
    assert_eq!(who(&requests(std::slice::from_ref(&patch), &versions), 1), "alice");
    let other = OF_STATUS.replace(r#""name":"a""#, r#""name":"a","uid":"v""#);
    let other = line(2, "bob", "update", (6.2, 6.3), &other);
    let mixed = requests(&[patch, other.clone()], &versions);
    assert_eq!((who(&mixed, 1), mixed.counts().foreign), (String::new(), 1));
    let own = OF_STATUS.replace(r#""name":"a""#, r#""name":"a","uid":"u""#);
    let own = line(3, "alice", "update", (5.2, 5.3), &own);
    assert_eq!(who(&requests(&[other.clone(), own], &versions), 1), "alice");
    // Somebody else may have had the name when the object was perhaps gone already.
    assert_eq!(requests(&[other], &versions[..2]).counts().foreign, 0);
}

#[test]
fn a_line_without_a_name_counts_for_what_the_log_names_elsewhere() {
    let made = pod("u", 1, &[("m", "", 1)], r#","generateName":"a-""#);
    let ready = pod("u", 2, &[("m", "", 1), ("m", "status", 5)], r#","generateName":"a-""#);
    let versions = [(ADDED, "u", &*made, 1.5), (UPDATED, "u", &*ready, 5.5)];
    let create = line(1, "alice", "create", (1.2, 1.3), r#""objectRef":{"resource":"pods","namespace":"shop"}"#);
    let status = line(2, "kubelet", "patch", (5.2, 5.3), OF_STATUS);
    assert_eq!(who(&requests(&[create.clone(), status], &versions), 0), "alice");
    assert_eq!(who(&requests(std::slice::from_ref(&create), &versions), 0), "", "it may be of another cluster");
    let other_time = line(2, "kubelet", "patch", (35.2, 35.3), OF_STATUS);
    assert_eq!(who(&requests(&[create, other_time], &versions), 0), "");
}

#[test]
fn what_is_taken_is_forgotten_and_who_asked_for_a_deletion_is_not() {
    let mark = r#","deletionTimestamp":"2026-11-26T17:00:35Z","deletionGracePeriodSeconds":30"#;
    let (old, new) = (pod("u", 1, &[], ""), pod("u", 2, &[], mark));
    let versions = [(ADDED, "u", &*old, 1.0), (UPDATED, "u", &*new, 5.5)];
    let mut requests = requests(&[line(1, "alice", "delete", (5.2, 5.3), OF)], &versions);
    let taken = requests.take_before(START + 20_000.0);
    assert_eq!(
        taken.iter().map(|found| (found.id, found.request.who())).collect::<Vec<_>>(),
        [(1, "alice".to_owned())]
    );
    assert!(!requests.holds(0) && requests.of(1).is_none());
    let uid = Uid::new("u");
    let gone =
        Version { id: 2, delta_type: DELETED, uid: &uid, old: Some(&new), new: Some(&new), at: START + 35_000.0 };
    requests.version(&PODS, &ObjectKey::new("shop", "a"), gone);
    while requests.settle(9) {}
    assert_eq!(who(&requests, 2), "alice");
    let Counts { writes, matched, .. } = requests.counts();
    assert_eq!((writes, matched, requests.take_before(f64::INFINITY).len()), (1, 1, 1));
    assert!(requests.known.is_empty() && requests.held.is_empty() && requests.found.is_empty());
}

#[test]
fn a_log_is_known_by_its_first_line() {
    assert!(Requests::is_log(&format!("\n{}\nwhatever", line(1, "a", "get", (1.0, 2.0), OF))));
    for text in ["", "{}", "\u{1f}\u{8b}\u{8}", r#"{"kind":"Event","apiVersion":"v1"}"#] {
        assert!(!Requests::is_log(text), "{text}");
    }
}
