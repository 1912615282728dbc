//! The bad inputs, and the outcome that each must have.

/// One bad input.
pub struct Case {
    /// Which of the thirty-two kinds it is.
    pub kind: &'static str,
    /// The input, and how it is sent.
    pub sent: Sent,
    /// The outcome.
    pub end: End,
    /// The ledger's counters in which the input ends.
    pub counted: &'static str,
}

/// How an input is sent.
pub enum Sent {
    /// Text frames of the watch.
    Frames(Vec<String>),
    /// A binary frame.
    Bytes(Vec<u8>),
    /// Answers to a list, and to its continuations.
    Pages(Vec<String>),
}

/// The outcomes, with all rows that are then shown.
pub enum End {
    /// The input is shown as text like any other, or not at all.
    Inert(String),
    /// The input is shown, but its version is newer than those of later objects. That leads to a new list.
    Stays(String),
    /// A row that says that its columns could not be read. If the decoder reads no columns, the row is ordinary.
    Flagged(String),
    /// Nothing is shown. After a wait there is a new list.
    Relist,
}

/// The other rows only.
pub const OTHERS: &str = "one@5 two@6";

/// Every case.
pub fn cases() -> Vec<Case> {
    let mut cases = objects_as_frames();
    cases.extend(frames());
    cases.extend(pages());
    cases
}

/// A frame as the server writes it.
pub fn frame(word: &str, object: &str) -> String {
    format!("{{\"type\":\"{word}\",\"object\":{object}}}\n")
}

/// The Pod `c@8`, with more members at its end.
pub fn object_with(members: &str) -> String {
    object_of(r#""name":"c","namespace":"n","uid":"c-1","resourceVersion":"8""#, members)
}

fn object_of(metadata: &str, members: &str) -> String {
    format!(r#"{{"kind":"Pod","apiVersion":"v1","metadata":{{{metadata}}}{members}}}"#)
}

/// The Pod `c` with a version as written in JSON.
fn versioned(version: &str) -> String {
    object_of(&format!(r#""name":"c","namespace":"n","uid":"c-1","resourceVersion":{version}"#), "")
}

/// The Pod `c@8` with a restart count as written in JSON.
pub fn restarted(count: &str) -> String {
    object_with(&format!(r#","status":{{"phase":"Running","containerStatuses":[{{"restartCount":{count}}}]}}"#))
}

fn named(name: &str) -> String {
    let name = serde_json::to_string(name).unwrap();
    object_of(&format!(r#""name":{name},"namespace":"n","uid":"c-1","resourceVersion":"8""#), "")
}

fn nested(depth: usize) -> String {
    format!("{}{}", "[".repeat(depth), "]".repeat(depth))
}

/// Names that would do something if anything treated them as more than text.
const HOSTILE: [&str; 12] = [
    "<img src=x onerror=alert(1)>",
    "</td></tr><script>alert(1)</script>",
    "javascript:alert(1)",
    "../../../secrets",
    "c/../../x?watch=true#",
    "'; DROP TABLE c; --",
    "\u{202e}gnp.c",
    "c\u{0}c",
    "c\n\r\tc\u{1b}[31m",
    "__proto__",
    "{{constructor}}",
    "c😀\u{200b}\u{feff}",
];

/// How a list shows a bad object: as a row, as a flagged row, or not at all.
#[derive(Clone, Copy, PartialEq)]
enum Shows {
    Inert,
    Stays,
    Flagged,
    Nothing,
}

/// Objects that are bad in themselves: the kind of bad input, the text, the version that the object has, and how it is
/// shown.
fn bad_objects() -> Vec<(&'static str, String, String, Shows)> {
    use Shows::{Flagged, Inert, Nothing, Stays};
    let huge = "9".repeat(100);
    let deep = nested(10_000);
    let mut objects = vec![
        ("missing resourceVersion", object_of(r#""name":"c","namespace":"n","uid":"c-1""#, ""), "c@", Inert),
        ("null resourceVersion", versioned("null"), "c@", Inert),
        ("empty resourceVersion", versioned(r#""""#), "c@", Inert),
        ("non-numeric resourceVersion", versioned(r#""abc""#), "c@abc", Inert),
        ("non-numeric resourceVersion", versioned(r#""-8""#), "c@-8", Inert),
        ("non-numeric resourceVersion", versioned("8"), "", Nothing),
        ("non-numeric resourceVersion", versioned("[\"8\"]"), "", Nothing),
        ("depth 10,000", object_with(&format!(r#","spec":{{"volumes":{deep}}}"#)), "c@8", Inert),
        ("depth 10,000", object_with(&format!(r#","status":{{"phase":{deep}}}"#)), "c@8", Flagged),
        ("depth 10,000", object_with(&format!(r#","status":{deep}"#)), "c@8", Flagged),
        ("depth 10,000", format!(r#"{{"kind":"Pod","metadata":{deep}}}"#), "", Nothing),
        ("depth 10,000", deep.clone(), "", Nothing),
        ("lone surrogate", object_with(r#","spec":{"hostname":"\udc00"}"#), "c@8", Inert),
        ("lone surrogate", object_with(r#","status":{"reason":"\ud800x"}"#), "c@8", Flagged),
        ("lone surrogate", object_of(r#""name":"c\ud800","uid":"c-1","resourceVersion":"8""#, ""), "", Nothing),
        ("duplicate keys", object_with(r#","spec":{"hostname":"x","hostname":"y"}"#), "c@8", Inert),
        ("duplicate keys", object_with(r#","status":{},"status":{}"#), "c@8", Flagged),
        ("duplicate keys", object_of(r#""name":"c","name":"d","uid":"c-1","resourceVersion":"8""#, ""), "", Nothing),
        ("duplicate keys", object_with(r#","metadata":{"name":"d"}"#), "", Nothing),
        ("2^53+1", restarted("9007199254740993"), "c@8", Inert),
        ("2^53+1", versioned("9007199254740993"), "", Nothing),
        ("2^53+1", versioned(r#""9007199254740993""#), "c@9007199254740993", Stays),
        ("2^64", restarted("18446744073709551616"), "c@8", Flagged),
        ("2^64", object_with(r#","spec":{"priority":18446744073709551616}"#), "c@8", Inert),
        ("2^64", versioned("18446744073709551616"), "", Nothing),
        ("2^64", versioned(r#""18446744073709551616""#), "c@18446744073709551616", Stays),
        ("1e400", restarted("1e400"), "c@8", Flagged),
        ("1e400", object_with(r#","spec":{"priority":1e400}"#), "c@8", Inert),
        ("1e400", versioned("1e400"), "", Nothing),
        ("1e400", versioned(r#""1e400""#), "c@1e400", Inert),
        ("unknown kind", object_with("").replace(r#""Pod""#, r#""Service""#), "", Nothing),
        ("unknown kind", object_with("").replace(r#""Pod""#, r#""Status""#), "", Nothing),
        ("Table instead of an object", table(r#""resourceVersion":"8""#), "", Nothing),
        (
            "Table instead of an object",
            table(r#""name":"c","namespace":"n","uid":"c-1","resourceVersion":"8""#),
            "",
            Nothing,
        ),
        ("1.5 MiB object", big(3 << 19), "c@8", Inert),
        ("1.5 MiB object", object_with(&format!(r#","status":{{"phase":"{}"}}"#, "x".repeat(3 << 19))), "c@8", Inert),
    ]
    .into_iter()
    .map(|(kind, text, row, shows)| (kind, text, row.to_owned(), shows))
    .collect::<Vec<_>>();
    objects.push(("huge resourceVersion", versioned(&format!(r#""{huge}""#)), format!("c@{huge}"), Stays));
    objects.extend(HOSTILE.map(|name| ("hostile name", named(name), format!("{name}@8"), Inert)));
    objects
}

/// A list's item that is bad in itself.
pub struct Item {
    /// Which of the thirty-two kinds it is.
    pub kind: &'static str,
    /// The item.
    pub text: String,
    /// All rows that a list with the item shows.
    pub rows: String,
    /// Whether the item's row is flagged, if the decoder reads columns.
    pub flagged: bool,
}

/// The list's items that are bad in themselves.
pub fn objects() -> Vec<Item> {
    let bad = bad_objects().into_iter();
    bad.map(|(kind, text, row, shows)| Item { kind, text, rows: with_others(&row), flagged: shows == Shows::Flagged })
        .collect()
}

/// All rows, sorted.
fn with_others(row: &str) -> String {
    let mut rows: Vec<&str> = OTHERS.split(' ').chain(Some(row).filter(|row| !row.is_empty())).collect();
    rows.sort_unstable();
    rows.join(" ")
}

fn table(metadata: &str) -> String {
    format!(
        r#"{{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{{{metadata}}},"columnDefinitions":[],"rows":[]}}"#
    )
}

/// The Pod `c@8` with an annotation of this many bytes.
fn big(bytes: usize) -> String {
    object_of(
        &format!(
            r#""name":"c","namespace":"n","uid":"c-1","resourceVersion":"8","annotations":{{"x":"{}"}}"#,
            "x".repeat(bytes)
        ),
        "",
    )
}

fn objects_as_frames() -> Vec<Case> {
    let sent = |text: &str| Sent::Frames(vec![frame("ADDED", text)]);
    let cases = bad_objects().into_iter().map(|(kind, text, row, shows)| {
        let rows = with_others(&row);
        let (end, counted) = match shows {
            Shows::Inert => (End::Inert(rows), "watched"),
            Shows::Stays => (End::Stays(rows), "watched"),
            Shows::Flagged => (End::Flagged(rows), "watched"),
            Shows::Nothing => (End::Relist, "malformed"),
        };
        Case { kind, sent: sent(&text), end, counted }
    });
    cases.collect()
}

fn frames() -> Vec<Case> {
    let good = object_with("");
    let whole = frame("ADDED", &good);
    let relist = |kind, text: &str| Case {
        kind,
        sent: Sent::Frames(vec![text.to_owned()]),
        end: End::Relist,
        counted: "malformed",
    };
    let bytes = |kind, bytes: Vec<u8>| Case { kind, sent: Sent::Bytes(bytes), end: End::Relist, counted: "malformed" };
    let inert = |kind, frames: Vec<String>, rows: &str, counted| Case {
        kind,
        sent: Sent::Frames(frames),
        end: End::Inert(with_others(rows)),
        counted,
    };
    let with_byte = |at: &str, byte: u8| {
        let at = whole.find(at).unwrap();
        [&whole.as_bytes()[..at], &[byte], &whole.as_bytes()[at..]].concat()
    };
    vec![
        relist("malformed frame", &whole.replace("\"c\"", "\"c\",")),
        relist("malformed frame", &whole.replace('"', "'")),
        relist("malformed frame", "event: ADDED"),
        relist("malformed frame", "[\"ADDED\",{}]"),
        relist("malformed frame", r#"{"type":"ADDED"}"#),
        relist("truncated frame", &whole[..whole.len() / 2]),
        relist("empty frame", ""),
        relist("empty frame", "\n"),
        relist("empty frame", "{}"),
        bytes("binary frame", b"k8s\0\x0a\x09\x0a\x02v1\x12\x03Pod\x12\x80\xff".to_vec()),
        bytes("binary frame", vec![0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0]),
        bytes("binary frame", Vec::new()),
        relist("double frame", &whole.repeat(2)),
        relist("double frame", &format!("{}{whole}", whole.trim_end())),
        bytes("invalid UTF-8", with_byte("\",\"namespace", 0xff)),
        bytes("invalid UTF-8", with_byte("Pod", 0xc0)),
        bytes("invalid UTF-8", with_byte("}}", 0xed)),
        relist("duplicate keys", &whole.replace("{\"type\"", "{\"type\":\"DELETED\",\"type\"")),
        relist("duplicate keys", &whole.replace(",\"object\"", ",\"object\":{},\"object\"")),
        inert("MODIFIED before ADDED", vec![frame("MODIFIED", &good)], "c@8", "watched"),
        inert("DELETED of the unknown", vec![frame("DELETED", &good)], "", "unknown"),
        relist("DELETED of null", &frame("DELETED", "null")),
        relist("DELETED of null", &frame("DELETED", r#"{"metadata":null}"#)),
        inert(
            "new uid without DELETED",
            vec![whole.clone(), frame("MODIFIED", &good.replace("c-1", "c-2").replace("\"8\"", "\"9\""))],
            "c#2@9",
            "watched*2",
        ),
        relist("unknown event type", &frame("RESET", &good)),
        relist("unknown event type", &frame("added", "7")),
        relist("unknown event type", &frame("", "null")),
        relist("unknown event type", &frame("ADDED", &good).replace("\"ADDED\"", "7")),
        relist("BOOKMARK without metadata", &frame("BOOKMARK", "{}")),
        relist("BOOKMARK without metadata", &frame("BOOKMARK", r#"{"kind":"Pod","metadata":null}"#)),
        relist("BOOKMARK without metadata", &frame("BOOKMARK", "null")),
        relist("HTML with status 200", HTML),
        inert("50 MiB object", vec![frame("ADDED", &big(50 << 20))], "c@8", "watched"),
    ]
}

const HTML: &str = "<!DOCTYPE html>\n<html><body>Sign in to continue</body></html>";

/// A page of a list at version 7, with a token if it is not empty.
fn page(token: &str, items: &[&str]) -> String {
    let items: Vec<String> = items.iter().map(|item| kubechurn_client::testing::object(item)).collect();
    format!(r#"{{"metadata":{{"resourceVersion":"7","continue":"{token}"}},"items":[{}]}}"#, items.join(","))
}

fn pages() -> Vec<Case> {
    let relist = |kind, pages: Vec<String>, counted| Case { kind, sent: Sent::Pages(pages), end: End::Relist, counted };
    let taken = |kind, page: String, rows: &str, counted| Case {
        kind,
        sent: Sent::Pages(vec![page]),
        end: End::Inert(rows.to_owned()),
        counted,
    };
    vec![
        relist("HTML with status 200", vec![HTML.to_owned()], ""),
        relist("Table instead of an object", vec![table(r#""resourceVersion":"7""#)], ""),
        relist("truncated frame", vec![page("", &["one@5"])[..40].to_owned()], ""),
        relist("empty frame", vec![String::new()], ""),
        // Go writes an empty list of items as `null`: it is true that there are none.
        taken("items: null", r#"{"metadata":{"resourceVersion":"7"},"items":null}"#.to_owned(), "", "tombstones*2"),
        taken(
            "repeated items",
            page("", &["one@5", "two@6", "c@8", "c@8", "c@9"]),
            "c@9 one@5 two@6",
            "merged*2 replaced*3",
        ),
        relist("endless continue token", vec![page("again", &["one@5", "c@8"]); 2], "merged*2 discarded*2"),
        relist(
            "endless continue token",
            vec![page("first", &["one@5", "two@6"]), page("second", &["two@6"])],
            "merged discarded*2",
        ),
    ]
}
