//! Kinds that the recorded tables lack, and cases that the recorded objects of other kinds do not cover.

use kubechurn_client::api::release::Release;
use kubechurn_client::api::time::Timestamp;
use kubechurn_columns::kinds::{KINDS, kind, printed_by};

use super::{OBJECTS, printed, row};

/// A plural, the rest of an object in addition to its name, and its cells at the start of 2026, an hour after the
/// object was created.
type Case = (&'static str, &'static str, &'static [&'static str]);

/// Objects of the kinds for which nothing was recorded.
pub const UNRECORDED: &[Case] = &[
    (
        "replicationcontrollers",
        r#""spec":{"replicas":3,"selector":{"b":"2","a":"1"},"template":{"spec":{"containers":[
            {"name":"c","image":"i:1"},{"name":"d","image":"j:2"}]}}},"status":{"replicas":2,"readyReplicas":1}"#,
        &["3", "2", "1", "60m", "c,d", "i:1,j:2", "a=1,b=2"],
    ),
    (
        "podtemplates",
        r#""template":{"metadata":{"labels":{"a":"1"}},"spec":{"containers":[{"name":"c","image":"i:1"}]}}"#,
        &["c", "i:1", "a=1"],
    ),
    ("limitranges", r#""spec":{"limits":[]}"#, &["2025-12-31T23:00:00Z"]),
    ("runtimeclasses", r#""handler":"runsc""#, &["runsc", "60m"]),
    ("mutatingwebhookconfigurations", r#""webhooks":[{"name":"a"},{"name":"b"}]"#, &["2", "60m"]),
    ("validatingwebhookconfigurations", r#""webhooks":[{"name":"a"}]"#, &["1", "60m"]),
    (
        "validatingadmissionpolicies",
        r#""spec":{"paramKind":{"apiVersion":"v1","kind":"ConfigMap"},"validations":[{"expression":"true"}]}"#,
        &["1", "v1/ConfigMap", "60m"],
    ),
    (
        "validatingadmissionpolicybindings",
        r#""spec":{"policyName":"p","paramRef":{"name":"q","namespace":"ns"}}"#,
        &["p", "ns/q", "60m"],
    ),
    ("volumeattributesclasses", r#""driverName":"d.example","parameters":{"iops":"1"}"#, &["x", "d.example", "60m"]),
    (
        "volumeattachments",
        r#""spec":{"attacher":"d.example","nodeName":"n","source":{"persistentVolumeName":"pv-1"}},
            "status":{"attached":true}"#,
        &["d.example", "pv-1", "n", "true", "60m"],
    ),
    (
        "csidrivers",
        r#""spec":{"attachRequired":false,"podInfoOnMount":true,"storageCapacity":true,"requiresRepublish":true,
            "tokenRequests":[{"audience":"a"},{"audience":"b"}],"volumeLifecycleModes":["Persistent","Ephemeral"]}"#,
        &["false", "true", "true", "a,b", "true", "Persistent,Ephemeral", "60m"],
    ),
    ("csinodes", r#""spec":{"drivers":[{"name":"d.example","nodeID":"n"}]}"#, &["1", "60m"]),
    ("csistoragecapacities", r#""storageClassName":"fast","capacity":"5Gi""#, &["fast", "5Gi"]),
    (
        "ingressclasses",
        r#""spec":{"controller":"c.example/i","parameters":{"apiGroup":"g.example","kind":"Params","name":"p"}}"#,
        &["x", "c.example/i", "Params.g.example/p", "60m"],
    ),
    (
        "certificatesigningrequests",
        r#""spec":{"signerName":"s.example/k","username":"u","expirationSeconds":86400},
            "status":{"conditions":[{"type":"Approved"}],"certificate":"LS0t"}"#,
        &["60m", "s.example/k", "u", "24h", "Approved,Issued"],
    ),
    ("deviceclasses", r#""spec":{}"#, &["60m"]),
    ("resourceclaimtemplates", r#""spec":{}"#, &["60m"]),
    (
        "resourceclaims",
        r#""status":{"allocation":{"devices":{}},"reservedFor":[{"name":"p"}]}"#,
        &["allocated,reserved", "60m"],
    ),
    (
        "resourceslices",
        r#""spec":{"nodeName":"n","driver":"d.example","pool":{"name":"p","generation":1}}"#,
        &["n", "d.example", "p", "60m"],
    ),
];

/// The object of a case, with additional metadata.
fn object(metadata: &str, rest: &str) -> String {
    format!(r#"{{"metadata":{{"name":"x","creationTimestamp":"2025-12-31T23:00:00Z"{metadata}}},{rest}}}"#)
}

/// Each unrecorded kind's plural and object.
pub fn unrecorded() -> impl Iterator<Item = (&'static str, String)> {
    UNRECORDED.iter().map(|(plural, rest, _)| (*plural, object("", rest)))
}

fn check(cases: &[Case]) {
    for (plural, rest, cells) in cases {
        assert_eq!(row(plural, &object("", rest)), *cells, "{plural}: {rest}");
    }
}

/// One cell, by its column's title.
fn cell(plural: &str, title: &str, metadata: &str, rest: &str) -> String {
    let kind = kind(plural).expect("a kind");
    let at = kind.columns.iter().position(|column| column.title == title).expect("a column");
    row(plural, &object(metadata, rest)).swap_remove(at)
}

#[test]
fn every_kind_is_tried() {
    for kind in KINDS {
        assert!(OBJECTS.iter().any(|(tried, _)| tried.resource == kind.resource), "{}", kind.name);
    }
}

#[test]
fn kinds_that_were_not_recorded_print_as_their_printers_say() {
    check(UNRECORDED);
}

#[test]
fn what_is_not_there_is_printed_as_go_prints_it() {
    check(&[
        ("statefulsets", r#""spec":{}"#, &["0/1", "60m", "", ""]),
        ("daemonsets", r#""spec":{}"#, &["0", "0", "0", "0", "0", "<none>", "60m", "", "", "<none>"]),
        ("cronjobs", r#""spec":{}"#, &["", "<none>", "False", "0", "<none>", "60m", "", "", "<none>"]),
        ("replicationcontrollers", r#""spec":{}"#, &["1", "0", "0", "60m", "", "", "<none>"]),
        ("controllerrevisions", r#""data":{}"#, &["<none>", "0", "60m"]),
        ("poddisruptionbudgets", r#""spec":{}"#, &["N/A", "N/A", "0", "60m"]),
        ("horizontalpodautoscalers", r#""spec":{}"#, &["/", "<none>", "<unset>", "0", "0", "60m"]),
        ("configmaps", r#""data":null"#, &["0", "60m"]),
        ("secrets", r#""type":"""#, &["", "0", "60m"]),
        ("secrets", r#""data":{}"#, &["Opaque", "0", "60m"]),
        ("resourcequotas", r#""status":{}"#, &["", "", "60m"]),
        ("persistentvolumeclaims", r#""spec":{}"#, &["", "", "", "", "", "<unset>", "60m", "<unset>"]),
        ("persistentvolumes", r#""spec":{}"#, &["0", "", "", "", "", "", "<unset>", "", "60m", "<unset>"]),
        ("storageclasses", r#""provisioner":"p""#, &["x", "p", "Delete", "Immediate", "false", "60m"]),
        ("volumeattachments", r#""spec":{}"#, &["", "", "", "false", "60m"]),
        ("csidrivers", r#""spec":{}"#, &["true", "false", "false", "<unset>", "false", "<none>", "60m"]),
        ("csidrivers", r#""spec":{"tokenRequests":[]}"#, &["true", "false", "false", "", "false", "<none>", "60m"]),
        ("csistoragecapacities", r#""storageClassName":"s""#, &["s", "<unset>"]),
        ("ingresses", r#""spec":{}"#, &["<none>", "*", "", "80", "60m"]),
        ("ingressclasses", r#""spec":{}"#, &["x", "", "<none>", "60m"]),
        ("ingressclasses", r#""spec":{"parameters":{"kind":"K","name":"n"}}"#, &["x", "", "K/n", "60m"]),
        ("networkpolicies", r#""spec":{"podSelector":{}}"#, &["<none>", "60m"]),
        ("endpointslices", r#""addressType":"FQDN""#, &["FQDN", "<unset>", "<unset>", "60m"]),
        ("endpoints", r#""subsets":[]"#, &["<none>", "60m"]),
        ("endpoints", r#""subsets":[{"notReadyAddresses":[{"ip":"10.0.0.1"}],"ports":[{"port":1}]}]"#, &["", "60m"]),
        ("ipaddresses", r#""spec":{}"#, &["<none>"]),
        ("leases", r#""spec":{}"#, &["", "60m"]),
        ("apiservices", r#""spec":{}"#, &["Local", "Unknown", "60m"]),
        ("flowschemas", r#""spec":{}"#, &["", "0", "<none>", "60m", "?"]),
        (
            "prioritylevelconfigurations",
            r#""spec":{"type":"Limited","limited":{"limitResponse":{"type":"Reject"}}}"#,
            &["Limited", "<none>", "<none>", "<none>", "<none>", "60m"],
        ),
        ("certificatesigningrequests", r#""spec":{}"#, &["60m", "<none>", "", "<none>", "Pending"]),
        ("validatingadmissionpolicies", r#""spec":{}"#, &["0", "<unset>", "60m"]),
        ("validatingadmissionpolicybindings", r#""spec":{}"#, &["", "<unset>", "60m"]),
        ("resourceclaims", r#""spec":{}"#, &["pending", "60m"]),
        ("resourceslices", r#""spec":{"allNodes":true,"pool":{}}"#, &["", "", "", "60m"]),
    ]);
}

#[test]
fn cron_jobs_say_how_long_ago_they_ran_and_go_on_counting() {
    let status = r#""status":{"lastScheduleTime":"2025-12-31T23:58:30Z","active":[{"name":"a"},{"name":"b"}]}"#;
    assert_eq!(cell("cronjobs", "LAST SCHEDULE", "", status), "90s");
    assert_eq!(cell("cronjobs", "ACTIVE", "", status), "2");
    let object = object("", status);
    let read = kind("cj").expect("CronJobs").decode.read(&object).expect("a CronJob");
    assert_eq!(read.cells.iter().filter(|cell| cell.changes_with_time()).count(), 2);
    let spec = r#""spec":{"suspend":true,"timeZone":"Asia/Tokyo","schedule":"@daily"}"#;
    assert_eq!(
        ["SCHEDULE", "TIMEZONE", "SUSPEND"].map(|title| cell("cj", title, "", spec)),
        ["@daily", "Asia/Tokyo", "True"]
    );
}

/// What a server of release 1.`minor` prints for an object, by column.
fn printed_at(minor: u32, name: &str, metadata: &str, rest: &str) -> String {
    let kind = printed_by(Some(Release { major: 1, minor })).find(|kind| kind.name == name).expect("a kind");
    let read = kind.decode.read(&object(metadata, rest)).expect("an object");
    let now = Timestamp::parse("2026-01-01T00:00:00Z").expect("a date");
    let cells = read.cells.iter().map(|cell| printed(cell, now));
    assert_eq!(read.cells.len(), kind.columns.len());
    cells.zip(kind.columns).map(|(cell, column)| format!("{}={cell}", column.title)).collect::<Vec<_>>().join(" ")
}

#[test]
fn older_servers_print_what_they_printed() {
    let default = r#","annotations":{"ingressclass.kubernetes.io/is-default-class":"true"}"#;
    let class = r#""spec":{"controller":"c.example/i"}"#;
    let plain = "CONTROLLER=c.example/i PARAMETERS=<none> AGE=60m";
    assert_eq!(printed_at(35, "ingressclasses", default, class), plain);
    assert_eq!(printed_at(36, "ingressclasses", default, class), format!("NAME=x (default) {plain}"));
    assert_eq!(printed_at(36, "ingressclasses", "", class), format!("NAME=x {plain}"));

    let secrets = r#""secrets":[{"name":"a"},{"name":"b"}]"#;
    assert_eq!(printed_at(34, "serviceaccounts", "", secrets), "SECRETS=2 AGE=60m");
    assert_eq!(printed_at(34, "serviceaccounts", "", r#""kind":"ServiceAccount""#), "SECRETS=0 AGE=60m");
    assert_eq!(printed_at(35, "serviceaccounts", "", secrets), "AGE=60m");

    let info = r#""status":{"nodeInfo":{"kernelVersion":"6.1.0","architecture":"arm64"}}"#;
    for (minor, kernel) in [(34, "6.1.0"), (35, "6.1.0 (arm64)")] {
        let node = printed_at(minor, "nodes", "", info);
        assert!(node.contains(&format!("KERNEL-VERSION={kernel} CONTAINER-RUNTIME")), "{minor}: {node}");
    }

    let decided = r#""status":{"conditions":[{"type":"SuccessCriteriaMet","status":"True"}]}"#;
    for (minor, status) in [(33, "Running"), (34, "SuccessCriteriaMet")] {
        let job = printed_at(minor, "jobs", "", decided);
        assert!(job.starts_with(&format!("STATUS={status} COMPLETIONS")), "{minor}: {job}");
    }

    let quota = r#""status":{"hard":{"pods":"5","limits.cpu":"2"},"used":{"pods":"3"}}"#;
    assert_eq!(printed_at(32, "resourcequotas", "", quota), "AGE=60m REQUEST=pods: 3/5 LIMIT=limits.cpu: 0/2");
    assert_eq!(printed_at(33, "resourcequotas", "", quota), "REQUEST=pods: 3/5 LIMIT=limits.cpu: 0/2 AGE=60m");
}

#[test]
fn only_the_default_class_says_so() {
    let annotated = |annotation: &str, value: &str| {
        let metadata = format!(r#","annotations":{{"a":"b","{annotation}":"{value}"}}"#);
        ["sc", "vac"].map(|plural| cell(plural, "NAME", &metadata, r#""provisioner":"p""#))
    };
    let check = |annotation: &str, classes: [&str; 2]| {
        assert_eq!(annotated(annotation, "true"), classes, "{annotation}");
        assert_eq!(annotated(annotation, "false"), ["x", "x"], "{annotation}");
    };
    check("storageclass.kubernetes.io/is-default-class", ["x (default)", "x"]);
    check("storageclass.beta.kubernetes.io/is-default-class", ["x (default)", "x"]);
    check("volumeattributesclass.alpha.kubernetes.io/is-default-class", ["x", "x (default)"]);
    check("storageclass.kubernetes.io", ["x", "x"]);
    let text =
        object(r#","annotations":{"storageclass.kubernetes.io/is-default-class":"true"}"#, r#""provisioner":"p""#);
    let object = kind("sc").expect("StorageClasses").decode.read(&text).expect("a StorageClass");
    assert_eq!(&*object.key.name, "x", "the key is the name alone");
}

#[test]
fn volumes_and_claims_say_where_they_stand() {
    let claim = |title, rest| cell("pvc", title, "", rest);
    let bound = r#""spec":{"volumeName":"v","storageClassName":"s"},"status":{"phase":"Bound",
        "capacity":{"storage":"1Gi"},"accessModes":["ReadWriteMany","ReadWriteOnce","ReadWriteOncePod","ReadWriteMany"]}"#;
    assert_eq!(
        ["STATUS", "CAPACITY", "ACCESS MODES"].map(|title| claim(title, bound)),
        ["Bound", "1Gi", "RWO,RWX,RWOP"]
    );
    // The size that a claim requests is not the size that it has.
    let unbound = r#""spec":{"resources":{"requests":{"storage":"1Gi"}}},"status":{"capacity":{"storage":"1Gi"},
        "accessModes":["ReadWriteOnce"],"phase":"Pending"}"#;
    assert_eq!(["STATUS", "CAPACITY", "ACCESS MODES"].map(|title| claim(title, unbound)), ["Pending", "", ""]);
    let old = r#","annotations":{"volume.beta.kubernetes.io/storage-class":"old"}"#;
    assert_eq!(["pv", "pvc"].map(|plural| cell(plural, "STORAGECLASS", old, bound)), ["old", "old"]);
    assert_eq!(claim("STORAGECLASS", bound), "s");
    let deleting = r#","deletionTimestamp":"2025-12-31T23:30:00Z""#;
    assert_eq!(["pv", "pvc"].map(|plural| cell(plural, "STATUS", deleting, bound)), ["Terminating", "Terminating"]);
    let claimed = r#""spec":{"claimRef":{"namespace":"ns","name":"c"},"capacity":{"storage":5}}"#;
    assert_eq!(["CLAIM", "CAPACITY"].map(|title| cell("pv", title, "", claimed)), ["ns/c", "5"]);
}

#[test]
fn long_lists_are_cut_after_three_and_counted() {
    let slice = |title, rest: &str| cell("endpointslices", title, "", rest);
    let ports = r#""ports":[{"port":1},{"name":"n"},{"name":null,"port":null},{"port":4},{}]"#;
    assert_eq!(slice("PORTS", ports), "1,n,* + 2 more...");
    assert_eq!(slice("PORTS", r#""ports":[{"name":""}]"#), "<unset>");
    let three = r#""endpoints":[{"addresses":["a","b"]},{"addresses":null},{"addresses":["c"]}]"#;
    assert_eq!(slice("ENDPOINTS", three), "a,b,c");
    let four = r#""endpoints":[{"addresses":["a","b"]},{"addresses":["c","d"]}]"#;
    assert_eq!(slice("ENDPOINTS", four), "a,b,c + 1 more...");

    let endpoints = |subsets: &str| cell("ep", "ENDPOINTS", "", &format!(r#""subsets":[{subsets}]"#));
    let subset = r#"{"addresses":[{"ip":"10.0.0.1"},{"ip":"fd00::1"}],"ports":[{"port":80},{"port":443}]}"#;
    assert_eq!(endpoints(subset), "10.0.0.1:80,[fd00::1]:80,10.0.0.1:443 + 1 more...");
    assert_eq!(endpoints(r#"{"addresses":[{"ip":"10.0.0.1"},{"ip":"fd00::1"}]}"#), "10.0.0.1,fd00::1");

    let hosts = |hosts: &str| {
        let rules: Vec<String> =
            hosts.split(' ').map(|host| format!(r#"{{"host":"{}"}}"#, host.trim_matches('-'))).collect();
        cell("ing", "HOSTS", "", &format!(r#""spec":{{"rules":[{}]}}"#, rules.join(",")))
    };
    assert_eq!(["-", "a -", "- a", "a b c"].map(hosts), ["*", "a", "a", "a,b,c"]);
    // Rules without a host are not shown, but counted.
    assert_eq!(
        ["a b c d", "a b c - -", "a - b c", "- - a b c -"].map(hosts),
        ["a,b,c + 1 more...", "a,b,c + 2 more...", "a,b,c", "a,b,c + 3 more..."]
    );
    let addressed = r#""spec":{"tls":[{}]},"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.9"},
        {"hostname":"b.example"},{"ip":"192.0.2.10"},{"ip":"192.0.2.9"}]}}"#;
    assert_eq!(cell("ing", "ADDRESS", "", addressed), "192.0.2.10,192.0.2.9,b.example");
    assert_eq!(cell("ing", "PORTS", "", addressed), "80, 443");
}

#[test]
fn autoscalers_say_what_is_measured_and_what_is_wanted() {
    let check = |metrics: &str, statuses: &str, expected: &str| {
        let rest = format!(r#""spec":{{"metrics":[{metrics}]}},"status":{{"currentMetrics":{statuses}}}"#);
        assert_eq!(cell("hpa", "TARGETS", "", &rest), expected, "{rest}");
    };
    let cpu =
        r#"{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":70}}}"#;
    check(cpu, "null", "cpu: <unknown>/70%");
    check(
        cpu,
        r#"[{"type":"Resource","resource":{"name":"cpu","current":{"averageUtilization":31,"averageValue":"5m"}}}]"#,
        "cpu: 31%/70%",
    );
    check(cpu, r#"[{"type":"","resource":null}]"#, "cpu: <unknown>/70%");
    check(r#"{"type":"Resource","resource":{"name":"cpu","target":{}}}"#, "[]", "cpu: <unknown>/<auto>");
    let memory = r#"{"type":"ContainerResource","containerResource":{"name":"memory","container":"c","target":{"averageValue":"1Gi"}}}"#;
    check(
        memory,
        r#"[{"type":"ContainerResource","containerResource":{"current":{"averageValue":"300Mi"}}}]"#,
        "memory: 300Mi/1Gi",
    );
    let pods = r#"{"type":"Pods","pods":{"metric":{"name":"qps"},"target":{"averageValue":"100"}}}"#;
    check(pods, r#"[{"type":"Pods","pods":{"current":{"averageValue":"20"}}}]"#, "20/100");
    let object = r#"{"type":"Object","object":{"metric":{"name":"qps"},"target":{"value":"10k"}}}"#;
    check(object, r#"[{"type":"Object","object":{"current":{"value":"9k"}}}]"#, "9k/10k");
    let external = r#"{"type":"External","external":{"metric":{"name":"q"},"target":{"averageValue":"30"}}}"#;
    check(external, r#"[{"type":"External","external":{"current":{"averageValue":"7"}}}]"#, "7/30 (avg)");
    check(r#"{"type":"Other"}"#, "[]", "<unknown type>");
    check(&[cpu, memory].join(","), "[]", "cpu: <unknown>/70%, memory: <unknown>/1Gi");
    check(&[cpu, pods, object, external].join(","), "[]", "cpu: <unknown>/70%, <unknown>/100 + 2 more...");
    assert_eq!(cell("hpa", "MINPODS", "", r#""spec":{"minReplicas":0}"#), "0");
}

#[test]
fn owners_roles_and_references_are_named_in_short() {
    let owned = |owners: &str| {
        cell("controllerrevisions", "CONTROLLER", &format!(r#","ownerReferences":[{owners}]"#), r#""revision":7"#)
    };
    let set = r#"{"apiVersion":"apps/v1","kind":"StatefulSet","name":"db","controller":true}"#;
    assert_eq!(owned(&format!(r#"{{"apiVersion":"v1","kind":"Pod","name":"p"}},{set}"#)), "statefulset.apps/db");
    assert_eq!(owned(r#"{"apiVersion":"v1","kind":"Pod","name":"p","controller":true}"#), "pod/p");
    assert_eq!(owned(r#"{"apiVersion":"v1","kind":"Pod","name":"p"}"#), "<none>");
    let subjects = r#""roleRef":{"kind":"Role","name":"r"},"subjects":[{"kind":"User","name":"a"},
        {"kind":"ServiceAccount","namespace":"ns","name":"s"},{"kind":"User","name":"b"},{"kind":"Group","name":"g"}]"#;
    for plural in ["rolebindings", "clusterrolebindings"] {
        let cells = ["ROLE", "USERS", "GROUPS", "SERVICEACCOUNTS"].map(|title| cell(plural, title, "", subjects));
        assert_eq!(cells, ["Role/r", "a, b", "g", "ns/s"]);
    }
    let parent = |parent: &str| cell("ip", "PARENTREF", "", &format!(r#""spec":{{"parentRef":{parent}}}"#));
    assert_eq!(parent(r#"{"resource":"services","namespace":"ns","name":"s"}"#), "services/ns/s");
    assert_eq!(parent(r#"{"group":"G.example","resource":"Things","name":"T"}"#), "things.g.example/T");
    let reference = |reference: &str| {
        let rest = format!(r#""spec":{{"paramRef":{reference}}}"#);
        cell("validatingadmissionpolicybindings", "PARAMREF", "", &rest)
    };
    assert_eq!(reference(r#"{"name":"n"}"#), "*/n");
    let selector = r#"{"selector":{"matchLabels":{"b":"2","a":"1"},
        "matchExpressions":[{"key":"k","operator":"In","values":["v","w"]}]}}"#;
    let go = "&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},MatchExpressions:[]LabelSelectorRequirement{\
        LabelSelectorRequirement{Key:k,Operator:In,Values:[v w],},},}";
    assert_eq!(reference(selector), go);
}

#[test]
fn quotas_distinguish_limits_from_the_rest() {
    let status = r#""status":{"hard":{"pods":"10","limits.cpu":"4","requests.cpu":"2","count/secrets":5},
        "used":{"pods":"3","limits.cpu":"500m","requests.cpu":null}}"#;
    assert_eq!(cell("quota", "REQUEST", "", status), "count/secrets: 0/5, pods: 3/10, requests.cpu: 0/2");
    assert_eq!(cell("quota", "LIMIT", "", status), "limits.cpu: 500m/4");
    let share = |value| cell("pdb", "MIN AVAILABLE", "", &format!(r#""spec":{{"minAvailable":{value}}}"#));
    assert_eq!(["0", "3", "\"50%\""].map(share), ["0", "3", "50%"]);
}

#[test]
fn states_have_the_tones_that_they_deserve() {
    use kubechurn_client::api::cell::Tone::{Bad, Good, Plain, Wait};
    let conditions = |conditions: &str| format!(r#""status":{{"conditions":[{conditions}]}}"#);
    for (plural, title, rest, word, tone) in [
        (
            "apiservices",
            "AVAILABLE",
            conditions(r#"{"type":"Available","status":"True","reason":"Passed"}"#),
            "True",
            Good,
        ),
        (
            "apiservices",
            "AVAILABLE",
            conditions(r#"{"type":"Available","status":"False","reason":"MissingEndpoints"}"#),
            "False (MissingEndpoints)",
            Bad,
        ),
        ("apiservices", "AVAILABLE", conditions(r#"{"type":"Available","status":"False"}"#), "False", Bad),
        ("flowschemas", "MISSINGPL", conditions(r#"{"type":"Dangling","status":"True"}"#), "True", Bad),
        ("flowschemas", "MISSINGPL", conditions(r#"{"type":"Dangling","status":"False"}"#), "False", Plain),
        ("csr", "CONDITION", conditions(r#"{"type":"Approved"}"#), "Approved", Wait),
        ("csr", "CONDITION", conditions(r#"{"type":"Approved"},{"type":"Denied"}"#), "Denied", Bad),
        ("csr", "CONDITION", conditions(r#"{"type":"Approved"},{"type":"Failed"}"#), "Approved,Failed", Bad),
        ("pv", "STATUS", r#""status":{"phase":"Failed"}"#.to_owned(), "Failed", Bad),
        ("pv", "STATUS", r#""status":{"phase":"Released"}"#.to_owned(), "Released", Wait),
        ("resourceclaims", "STATE", r#""status":{"allocation":{}}"#.to_owned(), "allocated", Good),
    ] {
        let kind = kind(plural).expect("a kind");
        let at = kind.columns.iter().position(|column| column.title == title).expect("a column");
        let read = kind.decode.read(&object("", &rest)).expect("an object");
        let cell = read.cells.get(at).expect("a cell");
        assert_eq!((cell.text(), cell.tone()), (Some(word), tone), "{plural}: {rest}");
    }
    let deleting = r#","deletionTimestamp":"2025-12-31T23:30:00Z""#;
    assert_eq!(cell("resourceclaims", "STATE", deleting, r#""status":{}"#), "deleted");
    assert_eq!(cell("resourceclaims", "STATE", deleting, r#""status":{"allocation":{}}"#), "deleted,allocated");
}

#[test]
fn secrets_are_counted_and_nothing_of_them_is_kept() {
    const VALUE: &str = "c2VjcmV0";
    let secrets = kind("secrets").expect("Secrets");
    let text =
        object("", &format!(r#""type":"t","data":{{"a":"{VALUE}","b":"{VALUE}"}},"stringData":{{"c":"{VALUE}"}}"#));
    let read = secrets.decode.read(&text).expect("a Secret");
    assert!(!format!("{read:?}").contains(VALUE));
    assert_eq!(row("secrets", &text), ["t", "2", "60m"]);
    // An error is shown to the user: it says which part of the object is wrong, but never a value.
    for rest in [
        format!(r#""data":["{VALUE}"]"#),
        format!(r#""data":"{VALUE}""#),
        format!(r#""data":{{"a":"{VALUE}"#),
        format!(r#""type":7,"data":{{"a":"{VALUE}"}}"#),
    ] {
        let error = secrets.decode.read(&object("", &rest)).expect_err("no Secret").to_string();
        assert!(!error.contains(VALUE), "{error}");
    }
}

#[test]
fn errors_name_the_field() {
    for (plural, rest, expected) in [
        ("sts", r#""spec":{"replicas":"3"}"#, "spec replicas: invalid type"),
        ("cm", r#""data":[]"#, "data: a map or null was expected"),
        ("pvc", r#""spec":[]"#, "spec: a map or null was expected"),
        ("quota", r#""status":{"hard":{"pods":[]}}"#, "status hard: invalid type"),
        ("ds", r#""spec":{"selector":"app=d"}"#, "spec selector: a map or null was expected"),
        ("svc", r#""spec":{"ports":{"port":80}}"#, "spec ports: a list or null was expected"),
        ("svc", r#""spec":{"ports":[{"port":80},{"port":"http"}]}"#, "spec ports: port: invalid type"),
        ("hpa", r#""spec":{"metrics":[{"pods":{"target":[]}}]}"#, "spec metrics: pods: target: a map or null was"),
        ("cj", r#""status":{"lastScheduleTime":12}"#, "status lastScheduleTime: invalid type"),
        ("pc", r#""value":1.5"#, "value: invalid type"),
        ("sc", r#""allowVolumeExpansion":"yes""#, "allowVolumeExpansion: invalid type"),
    ] {
        let kind = kind(plural).expect("a kind");
        let error = kind.decode.read(&object("", rest)).expect_err("of another shape").to_string();
        assert!(error.contains(expected), "{plural}: {error}");
    }
}
