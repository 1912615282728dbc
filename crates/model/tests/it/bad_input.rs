//! Thirty-two kinds of bad input, each with one of three outcomes: harmless text, a flagged row, or one new list after
//! a wait. In every case the input is counted, the ledger balances, the other rows are kept, and the truth returns.

use kubechurn_client::api::cell::CellRef;
use kubechurn_client::api::object::{Decode, Object};
use kubechurn_client::cache::ledger::Ledger;
use kubechurn_client::cache::reflector::{Input, Options};
use kubechurn_client::cache::shared_informer::InformerOptions;
use kubechurn_columns::kinds::pods;

use kubechurn_client::testing::{Conversation, joined, object, write_object};

/// The bad inputs, as data.
pub mod cases;

use cases::{Case, End, Sent, cases};

/// The kinds of bad input. Each has at least one case.
const KINDS: [&str; 32] = [
    "malformed frame",
    "truncated frame",
    "empty frame",
    "binary frame",
    "double frame",
    "missing resourceVersion",
    "null resourceVersion",
    "empty resourceVersion",
    "huge resourceVersion",
    "non-numeric resourceVersion",
    "depth 10,000",
    "invalid UTF-8",
    "lone surrogate",
    "duplicate keys",
    "2^53+1",
    "2^64",
    "1e400",
    "MODIFIED before ADDED",
    "DELETED of the unknown",
    "DELETED of null",
    "new uid without DELETED",
    "unknown event type",
    "unknown kind",
    "Table instead of an object",
    "BOOKMARK without metadata",
    "HTML with status 200",
    "items: null",
    "repeated items",
    "endless continue token",
    "1.5 MiB object",
    "50 MiB object",
    "hostile name",
];

#[test]
fn every_kind_of_bad_input_has_a_case() {
    let cases = cases();
    for kind in KINDS {
        assert!(cases.iter().any(|case| case.kind == kind), "{kind}");
    }
    for case in &cases {
        assert!(KINDS.contains(&case.kind), "{}", case.kind);
    }
}

#[test]
fn every_bad_input_has_a_truthful_end() {
    for case in cases() {
        for columns in [true, false] {
            Trial::new(&case, columns).run();
        }
    }
}

/// A frame that was cut off, wherever, is malformed, and never read as another frame.
#[test]
fn every_part_of_a_frame_is_malformed() {
    let frame = cases::frame("ADDED", &cases::object_with(""));
    for end in 0..frame.trim_end().len() {
        let case = Case {
            kind: "truncated frame",
            sent: Sent::Frames(vec![frame[..end].to_owned()]),
            end: End::Relist,
            counted: "malformed",
        };
        Trial::new(&case, true).run();
    }
}

/// A version that no API server would write cannot be resumed from.
#[test]
fn versions_that_are_none_do_not_move_the_watch() {
    for (version, resumes_at) in [
        (r#","resourceVersion":"8""#, "8"),
        ("", "7"),
        (r#","resourceVersion":null"#, "7"),
        (r#","resourceVersion":"""#, "7"),
        (r#","resourceVersion":"0""#, "7"),
        (r#","resourceVersion":"008""#, "7"),
        (r#","resourceVersion":"-8""#, "7"),
        (r#","resourceVersion":"1e400""#, "7"),
        (r#","resourceVersion":"6""#, "7"),
        (r#","resourceVersion":"18446744073709551616""#, "18446744073709551616"),
    ] {
        let object = format!(r#"{{"metadata":{{"name":"c","namespace":"n","uid":"c-1"{version}}}}}"#);
        let mut talk = live(true);
        assert_eq!(talk.input(Input::Frame(&cases::frame("ADDED", &object))), "", "{version}");
        assert_eq!(talk.line("close 1000"), format!("watch {resumes_at}"), "{version}");
    }
}

/// A watch of Pods at version 7, with the rows `one@5` and `two@6`. With `columns` the decoder reads their columns,
/// without it only the metadata.
fn live(columns: bool) -> Conversation {
    let decode = if columns { pods::KIND.decode } else { Decode::METADATA };
    let reflector = Options { kind: Some(pods::KIND.resource.kind), ..Options::default() };
    let mut talk = Conversation::of(decode, InformerOptions { reflector, ..InformerOptions::default() });
    talk.check(&[
        ("start", "stream unset"),
        ("open", ""),
        ("ADDED one@5", ""),
        ("ADDED two@6", ""),
        ("END 7", ""),
        ("drain", "Added one@5 Added two@6"),
        ("+2000", ""),
        ("health", "Live"),
    ]);
    talk
}

/// A case, played in one conversation.
struct Trial<'a> {
    case: &'a Case,
    talk: Conversation,
    /// Whether the decoder reads columns, or only the metadata.
    columns: bool,
}

impl<'a> Trial<'a> {
    fn new(case: &'a Case, columns: bool) -> Trial<'a> {
        let mut talk = live(columns);
        if matches!(case.sent, Sent::Pages(_)) {
            talk.check(&[
                ("ERROR 410 Expired old", "wait 800"),
                ("timer", "stream 7"),
                ("fail 422 Invalid no", "list 7"),
            ]);
        }
        Trial { case, talk, columns }
    }

    fn run(&mut self) {
        let before = *self.talk.informer.ledger();
        let good = [self.row("one"), self.row("two")];
        let answer = self.say();
        self.talk.line("drain");
        self.check_balance();
        assert_eq!(self.counted(&before), self.case.counted, "{}", self.what());
        // The other rows are unchanged, unless a whole list says otherwise.
        if self.case.kind != "items: null" {
            assert_eq!([self.row("one"), self.row("two")], good, "{}", self.what());
        }
        match &self.case.end {
            End::Inert(rows) | End::Stays(rows) => self.check_shown(&answer, rows, false),
            End::Flagged(rows) => self.check_shown(&answer, rows, self.columns),
            End::Relist => self.check_relist(&answer),
        }
        self.check_truth_by_list();
    }

    /// Sends the bad input. Returns the answer to the last part of it.
    fn say(&mut self) -> String {
        let inputs: Vec<Input<'_>> = match &self.case.sent {
            Sent::Frames(frames) => frames.iter().map(|frame| Input::Frame(frame)).collect(),
            Sent::Bytes(bytes) => vec![Input::Bytes(bytes)],
            Sent::Pages(pages) => pages.iter().map(|page| Input::PageBytes(page.as_bytes())).collect(),
        };
        let mut answer = String::new();
        for input in inputs {
            answer = self.talk.input(input);
            self.check_balance();
        }
        answer
    }

    /// The object is shown, as text or as a flagged row, and the watch goes on. The next good event shows the truth.
    fn check_shown(&mut self, answer: &str, rows: &str, flagged: bool) {
        let next = if matches!(self.case.sent, Sent::Pages(_)) { "watch 7" } else { "" };
        assert_eq!((answer, &*self.rows()), (next, rows), "{}", self.what());
        let flaws = self.talk.informer.store().iter().filter(|object| object.flaw.is_some()).count();
        assert_eq!(flaws, usize::from(flagged), "{}", self.what());
        self.talk.line("open");
        let next = self.talk.line("MODIFIED c@20");
        self.talk.line("drain");
        self.check_balance();
        let row = self.row("c").expect("a good event makes a row");
        if matches!(self.case.end, End::Stays(_)) {
            assert_eq!(next, self.next_wait(), "{}", self.what());
        } else {
            assert_eq!((&*next, &*write_object(&row), &row.flaw), ("", "c@20", &None), "{}", self.what());
            assert_eq!(self.talk.line("ERROR 410 Expired old"), self.next_wait(), "no other wait came before");
        }
        assert!(self.talk.line("timer").starts_with("stream "));
    }

    /// Nothing of the input is shown, and after a wait one list is requested.
    fn check_relist(&mut self, answer: &str) {
        assert_eq!(&*self.rows(), "one@5 two@6", "{}", self.what());
        assert_eq!(answer, self.next_wait(), "{}", self.what());
        self.talk.now = self.talk.informer.reflector().deadline().expect("a wait ends") - 1.0;
        assert_eq!(self.talk.input(Input::Timer), "", "nothing is asked before: {}", self.what());
        assert_eq!(self.talk.line("timer"), "stream 7", "{}", self.what());
    }

    /// A page answers a list that was requested after a first wait, and so the next wait is longer.
    fn next_wait(&self) -> &'static str {
        if matches!(self.case.sent, Sent::Pages(_)) { "wait 1600" } else { "wait 800" }
    }

    /// Exactly one list is requested, and the list brings the truth.
    fn check_truth_by_list(&mut self) {
        let before = self.talk.informer.ledger().lists;
        self.talk.check(&[
            ("open", ""),
            ("ADDED c@20", ""),
            ("ADDED one@5", ""),
            ("ADDED two@21", ""),
            ("END 22", ""),
            ("+1000", ""),
        ]);
        self.talk.line("drain");
        self.talk.check(&[("store", "c@20 one@5 two@21"), ("health", "Live"), ("version", "22"), ("synced", "true")]);
        assert_eq!(self.talk.informer.ledger().lists, before + 1);
        assert!(self.talk.informer.store().iter().all(|object| object.flaw.is_none()));
    }

    fn check_balance(&self) {
        assert!(self.talk.informer.is_balanced(), "{}: {:?}", self.what(), self.talk.informer.ledger());
    }

    fn row(&self, name: &str) -> Option<Object> {
        let mut rows = self.talk.informer.store().iter();
        rows.find(|row| *row.key.name == *name).map(|row| Object::clone(row))
    }

    fn rows(&mut self) -> String {
        self.talk.line("store")
    }

    /// Where the input was counted: the growth of the counters in which frames and items end.
    fn counted(&self, before: &Ledger) -> String {
        let now = self.talk.informer.ledger();
        let ends = |ledger: &Ledger| {
            [
                ("bookmarks", ledger.bookmarks),
                ("malformed", ledger.malformed),
                ("watched", ledger.watched),
                ("late", ledger.late),
                ("former", ledger.former),
                ("unknown", ledger.unknown),
                ("malformed_items", ledger.malformed_items),
                ("merged", ledger.merged),
                ("discarded", ledger.discarded),
                ("replaced", ledger.replaced),
                ("tombstones", ledger.tombstones),
            ]
        };
        let grew = ends(now).into_iter().zip(ends(before)).map(|((name, now), (_, before))| (name, now - before));
        joined(
            grew.filter(|(_, by)| *by > 0),
            |(name, by)| if by == 1 { name.to_owned() } else { format!("{name}*{by}") },
        )
    }

    /// A short description of the case.
    fn what(&self) -> String {
        let sent = match &self.case.sent {
            Sent::Frames(texts) | Sent::Pages(texts) => texts.join(" then "),
            Sent::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        };
        format!("{}: {}", self.case.kind, sent.chars().take(300).collect::<String>())
    }
}

/// 2^53 + 1 and 2^53 are different, as versions and as cells.
#[test]
fn numbers_beyond_a_double_are_exact() {
    let mut talk = live(true);
    let pod = |version: &str, restarts: &str| {
        cases::restarted(restarts).replace(r#""resourceVersion":"8""#, &format!(r#""resourceVersion":"{version}""#))
    };
    for (version, restarts) in [("9007199254740993", "9007199254740993"), ("9007199254740992", "1")] {
        talk.input(Input::Frame(&cases::frame("MODIFIED", &pod(version, restarts))));
    }
    talk.check(&[("drain", "Added c@9007199254740993"), ("version", "9007199254740993")]);
    let row = talk.informer.store().iter().find(|row| &*row.key.name == "c").unwrap();
    assert_eq!(
        (row.cells.get(2), talk.informer.ledger().late),
        (Some(CellRef::Restarts(9_007_199_254_740_993, None)), 1)
    );
}

/// A list that sends ever new tokens or ever new items still comes to an end.
#[test]
fn lists_that_continue_for_ever_are_given_up() {
    let mut talk = live(false);
    talk.check(&[("ERROR 410 Expired old", "wait 800"), ("timer", "stream 7"), ("fail 422 Invalid no", "list 7")]);
    let items = vec!["7"; 100_000].join(",");
    let page = |token| format!(r#"{{"metadata":{{"resourceVersion":"9","continue":"{token}"}},"items":[{items}]}}"#);
    for token in 1..=10 {
        assert_eq!(talk.input(Input::Page(&page(token))), format!("list 7 continue {token}"));
    }
    assert_eq!(talk.input(Input::Page(&page(11))), "wait 1600");
    talk.check(&[("store", "one@5 two@6"), ("health", "Stale")]);
}

/// A bad item of a list has the same outcome as a bad object of a watch, except that one bad item causes no relist.
#[test]
fn items_that_cannot_be_read_are_left_out_and_the_others_are_listed() {
    for cases::Item { text, rows: expected, flagged: flaws, .. } in cases::objects() {
        for columns in [true, false] {
            let mut talk = live(columns);
            talk.check(&[
                ("ERROR 410 Expired old", "wait 800"),
                ("timer", "stream 7"),
                ("fail 422 Invalid no", "list 7"),
            ]);
            let page = format!(
                r#"{{"metadata":{{"resourceVersion":"9"}},"items":[{},{text},{}]}}"#,
                object("one@5"),
                object("two@6")
            );
            let what = text.chars().take(200).collect::<String>();
            assert_eq!(talk.input(Input::Page(&page)), "watch 9", "{what}");
            talk.line("drain");
            assert_eq!(talk.line("store"), expected, "{what}");
            let flawed = talk.informer.store().iter().filter(|object| object.flaw.is_some()).count();
            assert_eq!(flawed, usize::from(flaws && columns), "{what}");
            let left_out = u64::from(expected == cases::OTHERS);
            assert_eq!(talk.informer.ledger().malformed_items, left_out, "{what}");
            assert!(talk.informer.is_balanced());
        }
    }
}
