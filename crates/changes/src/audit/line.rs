//! A line of a kube-apiserver's audit log: an `Event` of `audit.k8s.io/v1` as JSON. What is read of it is borrowed.

use std::borrow::Cow;

use kubechurn_client::api::time::Timestamp;
use kubechurn_client::json::{self, Members};

/// The longest user, agent, address or name that is kept, in bytes.
const LONGEST: usize = 512;
/// The most objects of one `deletecollection` that are kept.
const MOST_ITEMS: usize = 10_000;

/// What a line says.
#[derive(Debug)]
pub enum Read<'a> {
    /// A request that wrote.
    Write(Box<Write<'a>>),
    /// A request that was refused because somebody else had written meanwhile: who made it, and the line's `auditID`.
    Conflict(String, Cow<'a, str>),
    /// A request that wrote nothing: it only read, was refused, was a dry run, or went to no object.
    Nothing,
    /// It is of another stage than the end of a request.
    OtherStage,
    /// It is no line of an audit log.
    NoLine,
}

/// What a request did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// It created an object.
    Create,
    /// It changed an object, or a subresource of it.
    Change,
    /// It deleted an object, or asked for that.
    Delete,
    /// It deleted the objects of a namespace.
    DeleteAll,
}

/// A request that wrote, as its line has it.
#[derive(Debug)]
pub struct Write<'a> {
    /// `auditID`.
    pub id: Cow<'a, str>,
    /// `user.username`: who has shown who they are.
    pub user: Cow<'a, str>,
    /// `impersonatedUser.username`: as whom the request was made; empty for nobody else.
    pub impersonated: Cow<'a, str>,
    /// `userAgent`.
    pub agent: Cow<'a, str>,
    /// The first of `sourceIPs`.
    pub address: Cow<'a, str>,
    /// `verb`.
    pub verb: Cow<'a, str>,
    /// What it did.
    pub act: Act,
    /// The group of the resource.
    pub group: Cow<'a, str>,
    /// The resource in the plural.
    pub plural: Cow<'a, str>,
    /// The subresource; empty for the object itself.
    pub subresource: Cow<'a, str>,
    /// The namespace; empty for none.
    pub namespace: Cow<'a, str>,
    /// The name. Empty for several objects, and where the server made the name and the line does not have the object.
    pub name: Cow<'a, str>,
    /// The uid, where the line has it.
    pub uid: Cow<'a, str>,
    /// The resourceVersion on which the request was based, where the line has it.
    pub base: Cow<'a, str>,
    /// The resourceVersion of the object in the answer, where the line has it.
    pub result: Cow<'a, str>,
    /// The field manager: the one that the request named, or the first word of the agent.
    pub manager: Cow<'a, str>,
    /// The uids of what was deleted, where the line has them.
    pub items: Option<Vec<Cow<'a, str>>>,
    /// Whether only what a selector lets through was deleted.
    pub selects: bool,
    /// When the request came, in milliseconds since 1970 by the server's clock.
    pub began: f64,
    /// When it was answered.
    pub ended: f64,
}

/// Reads a line. Whatever it is, that does no harm.
pub fn read(line: &str) -> Read<'_> {
    let Some(all) = json::members(line.trim_ascii()) else { return Read::NoLine };
    let is_event = word(&all, "kind") == "Event" && word(&all, "apiVersion").starts_with("audit.k8s.io/");
    if !is_event {
        return Read::NoLine;
    }
    if word(&all, "stage") != "ResponseComplete" {
        return Read::OtherStage;
    }
    match write(&all) {
        Some(write) => Read::Write(Box::new(write)),
        None => conflict(&all).map_or(Read::Nothing, |who| Read::Conflict(who, word(&all, "auditID"))),
    }
}

/// Who made a request that others had forestalled. That something to be created exists has the same code, and is no conflict.
fn conflict(all: &Members<'_>) -> Option<String> {
    let part = |name: &str| json::named(all, name).and_then(json::members).unwrap_or_default();
    let code = json::named(&part("responseStatus"), "code").and_then(json::integer)?;
    if code != 409 || !matches!(&*word(all, "verb"), "update" | "patch") {
        return None;
    }
    let (user, other) = (part("user"), part("impersonatedUser"));
    Some(who(&word(&user, "username"), &word(&other, "username")))
}

fn write<'a>(all: &Members<'a>) -> Option<Write<'a>> {
    let part = |name: &str| json::named(all, name).and_then(json::members).unwrap_or_default();
    let (of, status) = (part("objectRef"), part("responseStatus"));
    let code = json::named(&status, "code").and_then(json::integer)?;
    let (verb, subresource) = (word(all, "verb"), word(&of, "subresource"));
    let act = match (&*verb, &*subresource) {
        ("create", "eviction") => Act::Delete,
        ("create", "") => Act::Create,
        ("create", "binding") => Act::Change,
        // Of a connection, a token or a review there is no version.
        ("create", _) => return None,
        ("update" | "patch", "") if code == 201 => Act::Create,
        ("update" | "patch", "proxy") => return None,
        ("update" | "patch", _) => Act::Change,
        ("delete", "") => Act::Delete,
        ("deletecollection", "") => Act::DeleteAll,
        _ => return None,
    };
    let plural = word(&of, "resource");
    if !(200..300).contains(&code) || plural.is_empty() {
        return None;
    }
    let agent = word(all, "userAgent");
    let uri = word(all, "requestURI");
    let (mut manager, mut selects) = (Cow::Borrowed(""), false);
    for (name, value) in form_urlencoded::parse(uri.split_once('?').unwrap_or_default().1.as_bytes()) {
        match &*name {
            "dryRun" if !value.is_empty() => return None,
            "fieldManager" => manager = Cow::Owned(value.into_owned()),
            "labelSelector" | "fieldSelector" => selects |= !value.is_empty(),
            _ => {}
        }
    }
    let asked = json::named(all, "requestObject").and_then(json::members).unwrap_or_default();
    let options = json::named(&asked, "deleteOptions").and_then(json::members).unwrap_or_default();
    if [&asked, &options].into_iter().any(|of| json::named(of, "dryRun").is_some_and(|all| all.contains("All"))) {
        return None;
    }
    if manager.is_empty() {
        // `managerOrUserAgent` (apiserver `endpoints/handlers/create.go`).
        manager = match &agent {
            Cow::Borrowed(agent) => Cow::Borrowed(first_word(agent)),
            Cow::Owned(agent) => Cow::Owned(first_word(agent).to_owned()),
        };
    }
    let answer = json::named(all, "responseObject").and_then(json::members).unwrap_or_default();
    let metadata = json::named(&answer, "metadata").and_then(json::members).unwrap_or_default();
    let is_status = word(&answer, "kind") == "Status";
    // The Status of a deletion names what was deleted.
    let details = json::named(&answer, "details").and_then(json::members).unwrap_or_default();
    let of_answer = |name: &str| if is_status { word(&details, name) } else { word(&metadata, name) };
    let wanted = |of: &Members<'a>| json::named(of, "preconditions").map_or(Cow::Borrowed(""), |of| at(of, "uid"));
    let is_one = act != Act::DeleteAll;
    let first = |all: [Cow<'a, str>; 4]| all.into_iter().find(|one| !one.is_empty()).unwrap_or_default();
    let uid = first([of_answer("uid"), word(&of, "uid"), wanted(&asked), wanted(&options)]);
    let items = if is_one || is_status { None } else { items(&answer) };
    let name = first([word(&of, "name"), of_answer("name"), "".into(), "".into()]);
    let address = json::named(all, "sourceIPs").and_then(json::items).unwrap_or_default();
    let user = |name: &str| json::named(all, name).map_or(Cow::Borrowed(""), |of| at(of, "username"));
    Some(Write {
        id: word(all, "auditID"),
        user: user("user"),
        impersonated: user("impersonatedUser"),
        agent,
        address: address.first().and_then(|text| json::unescaped(text)).map(cut).unwrap_or_default(),
        verb,
        act,
        group: word(&of, "apiGroup"),
        plural,
        subresource: if act == Act::Change { subresource } else { "".into() },
        namespace: word(&of, "namespace"),
        name: if is_one { name } else { "".into() },
        uid: if is_one { uid } else { "".into() },
        base: if act == Act::Change { word(&of, "resourceVersion") } else { "".into() },
        result: if is_one && !is_status { word(&metadata, "resourceVersion") } else { "".into() },
        manager,
        items,
        selects,
        began: milliseconds(&word(all, "requestReceivedTimestamp"))?,
        ended: milliseconds(&word(all, "stageTimestamp"))?,
    })
}

/// The uids of the items of a list; `None` where it is none, or too long.
fn items<'a>(answer: &Members<'a>) -> Option<Vec<Cow<'a, str>>> {
    let items = json::named(answer, "items").and_then(json::items)?;
    let uid = |item: &&'a str| json::member(item, "metadata").map(|of| at(of, "uid")).filter(|uid| !uid.is_empty());
    (items.len() <= MOST_ITEMS).then(|| items.iter().filter_map(uid).collect())
}

fn first_word(agent: &str) -> &str {
    let word = agent.split('/').next().unwrap_or_default();
    // The server shortens it to 128 letters (`prefixFromUserAgent`).
    word.char_indices().nth(128).map_or(word, |(end, _)| &word[..end])
}

/// Who made a request: `alice`, or `alice as bob`.
pub fn who(user: &str, impersonated: &str) -> String {
    match impersonated {
        "" => user.to_owned(),
        other => format!("{user} as {other}"),
    }
}

/// A member that is a text; empty where there is none.
fn word<'a>(members: &Members<'a>, name: &str) -> Cow<'a, str> {
    json::named(members, name).and_then(json::unescaped).map(cut).unwrap_or_default()
}

fn at<'a>(object: &'a str, name: &str) -> Cow<'a, str> {
    json::member(object, name).and_then(json::unescaped).map(cut).unwrap_or_default()
}

fn cut(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.len() <= LONGEST {
        return text;
    }
    let end = (0..=LONGEST).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    Cow::Owned(text[..end].to_owned())
}

/// A time with its fraction of a second, in milliseconds since 1970.
fn milliseconds(text: &str) -> Option<f64> {
    let Timestamp(seconds) = Timestamp::parse(text)?;
    let digits = text.split_once('.').map(|(_, rest)| rest).unwrap_or_default();
    let end = digits.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(digits.len());
    let fraction: f64 = format!("0.{}", &digits[..end.min(9)]).parse().unwrap_or(0.0);
    Some((seconds as f64 + fraction) * 1_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: &str = r#""kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"a-1","stage":"ResponseComplete","requestURI":"/apis/apps/v1/namespaces/shop/deployments/web?fieldManager=kubectl-set","verb":"patch","user":{"username":"alice","groups":["dev"]},"sourceIPs":["10.0.0.7","10.0.0.1"],"userAgent":"kubectl/v1.36.2 (linux/amd64) kubernetes/abc","objectRef":{"resource":"deployments","namespace":"shop","name":"web","apiGroup":"apps","apiVersion":"v1"},"responseStatus":{"metadata":{},"code":200},"requestReceivedTimestamp":"2026-11-26T17:00:00.250000Z","stageTimestamp":"2026-11-26T17:00:00.500000Z""#;

    /// A line of a request on a Deployment, with these members beside the usual ones.
    fn line(more: &str) -> String {
        let text = format!("{{{USUAL}}}");
        let mut names: Vec<&str> = Vec::new();
        let members = json::members(more).expect("an object");
        members.iter().for_each(|member| names.push(&member.name));
        let kept = json::members(&text).expect("an object");
        let kept = kept.iter().filter(|member| !names.contains(&&*member.name));
        let all = kept.chain(&members).map(|member| format!("\"{}\":{}", member.name, member.value));
        format!("{{{}}}", all.collect::<Vec<_>>().join(","))
    }

    #[track_caller]
    fn is_nothing(more: &str) {
        assert!(matches!(read(&line(more)), Read::Nothing), "{more}");
    }

    #[test]
    fn a_write_is_read_with_all_that_is_asked_of_it() {
        let text = line("{}");
        let Read::Write(write) = read(&text) else { panic!("{text}") };
        let Write { user, agent, address, verb, manager, began, ended, .. } = &*write;
        assert_eq!((&**user, &**address, &**verb, &**manager), ("alice", "10.0.0.7", "patch", "kubectl-set"));
        assert!(agent.starts_with("kubectl/v1.36.2 ") && matches!(agent, Cow::Borrowed(_)));
        assert_eq!(ended - began, 250.0);
        assert_eq!(
            (&*write.group, &*write.plural, &*write.namespace, &*write.name),
            ("apps", "deployments", "shop", "web")
        );
        assert_eq!((write.act, &*write.uid, &*write.base, &*write.result), (Act::Change, "", "", ""));
    }

    #[test]
    fn who_is_impersonated_what_was_answered_and_what_it_was_based_on_is_read() {
        let text = line(
            r#"{"impersonatedUser":{"username":"bob"},"requestURI":"/x","verb":"update",
            "objectRef":{"resource":"pods","namespace":"shop","name":"a","uid":"u","resourceVersion":"7","subresource":"status"},
            "responseObject":{"kind":"Pod","metadata":{"name":"a","uid":"u","resourceVersion":"8"}}}"#,
        );
        let Read::Write(write) = read(&text) else { panic!("{text}") };
        assert_eq!((&*write.user, &*write.impersonated, &*write.manager), ("alice", "bob", "kubectl"));
        assert_eq!((&*write.subresource, &*write.uid, &*write.base, &*write.result), ("status", "u", "7", "8"));
    }

    #[test]
    fn that_a_pod_is_bound_to_a_node_is_a_change_of_the_pod() {
        let text = line(
            r#"{"verb":"create","objectRef":{"resource":"pods","namespace":"shop","name":"a","subresource":"binding"},
            "responseStatus":{"code":201}}"#,
        );
        let Read::Write(write) = read(&text) else { panic!("{text}") };
        assert_eq!((write.act, &*write.plural, &*write.name), (Act::Change, "pods", "a"));
    }

    #[test]
    fn a_name_that_the_server_made_is_in_the_answer_alone() {
        let made = r#""verb":"create","objectRef":{"resource":"pods","namespace":"shop"}"#;
        let text = line(&format!("{{{made}}}"));
        let Read::Write(write) = read(&text) else { panic!("{text}") };
        assert_eq!((write.act, &*write.name), (Act::Create, ""));
        let text = line(&format!(r#"{{{made},"responseObject":{{"metadata":{{"name":"web-x1"}}}}}}"#));
        let Read::Write(write) = read(&text) else { panic!("{text}") };
        assert_eq!(&*write.name, "web-x1");
    }

    #[test]
    fn deletions_have_many_forms() {
        let evicts = r#"{"verb":"create","responseStatus":{"code":201},"objectRef":{"resource":"pods","namespace":"shop","name":"a","subresource":"eviction"},"responseObject":{"kind":"Status","status":"Success"}}"#;
        let text = line(evicts);
        let Read::Write(write) = read(&text) else { panic!("{text}") };
        assert_eq!((write.act, &*write.name, &*write.subresource, &*write.result), (Act::Delete, "a", "", ""));
        let deletes = r#"{"verb":"delete","responseObject":{"kind":"Status","details":{"name":"web","uid":"u"}}}"#;
        let text = line(deletes);
        let Read::Write(write) = read(&text) else { panic!("{text}") };
        assert_eq!((write.act, &*write.uid), (Act::Delete, "u"));
        let all = r#"{"verb":"deletecollection","requestURI":"/x?labelSelector=a","responseObject":{"items":[{"metadata":{"uid":"u"}},7]}}"#;
        let text = line(all);
        let Read::Write(write) = read(&text) else { panic!("{text}") };
        let items: Vec<&str> = write.items.iter().flatten().map(|uid| &**uid).collect();
        assert_eq!((write.act, items, write.selects), (Act::DeleteAll, vec!["u"], true));
    }

    #[test]
    fn a_write_that_others_forestalled_is_a_conflict() {
        let conflict = |more: &str| match read(&line(more)) {
            Read::Conflict(who, id) => format!("{who} {id}"),
            other => panic!("{more}: {other:?}"),
        };
        assert_eq!(conflict(r#"{"verb":"update","responseStatus":{"code":409}}"#), "alice a-1");
        let more = r#"{"verb":"patch","responseStatus":{"code":409},"impersonatedUser":{"username":"bob"}}"#;
        assert_eq!(conflict(more), "alice as bob a-1");
    }

    #[test]
    fn what_wrote_nothing_is_no_write() {
        is_nothing(r#"{"verb":"list"}"#);
        is_nothing(r#"{"verb":"watch"}"#);
        is_nothing(r#"{"verb":"create","responseStatus":{"code":409}}"#);
        is_nothing(r#"{"responseStatus":{}}"#);
        is_nothing(r#"{"requestURI":"/x?dryRun=All"}"#);
        is_nothing(r#"{"verb":"delete","requestObject":{"kind":"DeleteOptions","dryRun":["All"]}}"#);
        is_nothing(r#"{"verb":"create","objectRef":{"resource":"pods","name":"a","subresource":"exec"}}"#);
        is_nothing(r#"{"verb":"create","objectRef":{"resource":"serviceaccounts","name":"a","subresource":"token"}}"#);
        is_nothing(r#"{"objectRef":null}"#);
        is_nothing(r#"{"requestReceivedTimestamp":"yesterday"}"#);
        assert!(matches!(read(&line(r#"{"stage":"RequestReceived"}"#)), Read::OtherStage));
        assert!(matches!(read(&line(r#"{"stage":"Panic"}"#)), Read::OtherStage));
    }

    #[test]
    fn what_is_hostile_is_no_line_or_says_little() {
        let deep = "[".repeat(100_000);
        let long = format!(r#"{{"user":{{"username":"{}"}}}}"#, "é".repeat(100_000));
        for text in ["", "7", "{", "[]", "null", r#"{"kind":"Pod"}"#, r#"{"kind":"Event","apiVersion":"v1"}"#, &deep] {
            assert!(matches!(read(text), Read::NoLine), "{text:.40}");
        }
        let text = line(&long);
        let Read::Write(write) = read(&text) else { panic!("it is a write") };
        assert_eq!(write.user.len(), LONGEST);
        for (name, value) in [("objectRef", "7"), ("sourceIPs", "{}"), ("user", "[]"), ("responseObject", "\"x\"")] {
            let _ = read(&line(&format!(r#"{{"{name}":{value}}}"#)));
        }
    }
}
