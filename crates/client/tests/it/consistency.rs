//! The store compared with what the server holds at the same version, while the store goes on changing.

use kubechurn_client::cache::consistency::{CannotCompare, Compared, Comparison, Difference, Next, NotYet};
use kubechurn_client::cache::journal::{Identity, JOURNAL};
use kubechurn_client::cache::reflector::{Health, Options};

use kubechurn_client::testing::{Conversation, page};

/// A store with `a@1`, `b@2` and `c@3` at version 10.
const LISTED: &[(&str, &str)] = &[
    ("start", "stream unset"),
    ("open", ""),
    ("ADDED a@1", ""),
    ("ADDED b@2", ""),
    ("ADDED c@3", ""),
    ("END 10", ""),
    ("drain", "Added a@1 Added b@2 Added c@3"),
];

fn listed() -> Conversation {
    let mut talk = Conversation::new(Options::default());
    talk.check(LISTED);
    talk
}

fn begin(talk: &mut Conversation) -> Comparison {
    Comparison::begin(&mut talk.informer, talk.now).expect("it is live and drained")
}

/// Hands one page over.
fn answer(comparison: &mut Comparison, talk: &mut Conversation, text: &str) -> Next {
    comparison.page(page(text).as_bytes(), &mut talk.informer).expect("it can be compared")
}

/// The result in words: how many objects of how many were the same, and each difference as `name: ours > theirs`.
fn found(mut comparison: Comparison, talk: &mut Conversation) -> String {
    while !comparison.work() {}
    let compared = comparison.end(&mut talk.informer);
    let mut differences: Vec<String> = compared.differences.kept.iter().map(difference).collect();
    differences.sort();
    assert_eq!(differences.len() as u64, compared.differences.total);
    format!("{} of {} at {}: {}", compared.same, compared.of(), compared.version, differences.join(", "))
}

fn difference(difference: &Difference) -> String {
    let write = |side: &Option<Identity>| match side {
        Some(identity) => format!("{}@{}", identity.uid, identity.resource_version),
        None => String::from("-"),
    };
    format!("{} > {}", write(&difference.ours), write(&difference.theirs))
}

/// Lines before the answer, its pages with lines between them, and what is found.
#[track_caller]
fn check(lines: &[&str], pages: &[&str], expected: &str) {
    let mut talk = listed();
    let mut comparison = begin(&mut talk);
    lines.iter().for_each(|line| drop(talk.line(line)));
    for (at, text) in pages.iter().enumerate() {
        let next = answer(&mut comparison, &mut talk, text);
        assert_eq!(matches!(next, Next::Ask(_)), at + 1 < pages.len(), "page {at}: {next:?}");
        lines.iter().for_each(|line| drop(talk.line(line)));
    }
    assert_eq!(found(comparison, &mut talk), expected, "{lines:?} {pages:?}");
}

#[test]
fn the_same_is_the_same_in_one_page_and_in_several() {
    check(&[], &["10 a@1 b@2 c@3"], "3 of 3 at 10: ");
    check(&[], &["10 +x a@1", "10 +y b@2", "10 c@3"], "3 of 3 at 10: ");
}

#[test]
fn what_differs_is_found_whichever_side_has_it() {
    check(&[], &["10 a@1 b@2"], "2 of 3 at 10: c-1@3 > -");
    check(&[], &["10 a@1 b@2 c@3 d@4"], "3 of 4 at 10: - > d-1@4");
    check(&[], &["10 a@1 b@5 c@3"], "2 of 3 at 10: b-1@2 > b-1@5");
    check(&[], &["10 a@1 b#2@2 c@3"], "2 of 3 at 10: b-1@2 > b-2@2");
    check(&[], &["10"], "0 of 3 at 10: a-1@1 > -, b-1@2 > -, c-1@3 > -");
    // As many objects here as there, and not the same ones.
    check(&[], &["10 +x a@1", "10 c@3 d@4"], "2 of 4 at 10: - > d-1@4, b-1@2 > -");
}

/// What changes in the meantime makes no difference, and hides none.
#[test]
fn changes_meanwhile_are_looked_through() {
    let lines = ["MODIFIED a@11", "DELETED b@12", "ADDED d@13", "MODIFIED a@14", "drain"];
    check(&lines, &["10 a@1 b@2 c@3"], "3 of 3 at 10: ");
    check(&lines, &["10 +x a@1", "10 +y b@2", "10 c@3"], "3 of 3 at 10: ");
    check(&lines, &["10 a@9 b@2 c@3"], "2 of 3 at 10: a-1@1 > a-1@9");
    check(&lines, &["10 a@1 c@3"], "2 of 3 at 10: b-1@2 > -");
    check(&lines, &["10 a@1 b@2 c@3 d@4"], "3 of 4 at 10: - > d-1@4");
    // An object is deleted, and another one is created under the same name.
    let again = ["DELETED b@11", "ADDED b#2@12", "drain"];
    check(&again, &["10 a@1 b@2 c@3"], "3 of 3 at 10: ");
    check(&again, &["10 a@1 b#2@12 c@3"], "2 of 3 at 10: b-1@2 > b-2@12");
    // An object is created and deleted again: at the version that is compared it did not exist.
    check(&["ADDED d@11", "DELETED d@12", "drain"], &["10 a@1 b@2 c@3"], "3 of 3 at 10: ");
    // What waits in the queue has not changed the store.
    check(&["MODIFIED a@11", "DELETED b@12"], &["10 a@1 b@2 c@3"], "3 of 3 at 10: ");
}

/// A new list in the meantime changes what is held, and not what was held at the version that is compared.
#[test]
fn a_list_meanwhile_is_looked_through() {
    let lines = ["ERROR 410 Expired gone", "timer", "fail 422 Invalid no", "page 20 a@15 d@16", "drain"];
    check(&lines, &["10 a@1 b@2 c@3"], "3 of 3 at 10: ");
    check(&lines, &["10 a@15 d@16"], "0 of 4 at 10: - > d-1@16, a-1@1 > a-1@15, b-1@2 > -, c-1@3 > -");
}

#[test]
fn a_comparison_begins_where_all_is_known_and_applied() {
    let mut talk = Conversation::new(Options::default());
    let refused = |talk: &mut Conversation| Comparison::begin(&mut talk.informer, talk.now).err();
    assert_eq!(refused(&mut talk), Some(NotYet::NotLive(Health::Connecting)));
    for (line, expected) in LISTED {
        assert_eq!(talk.line(line), *expected);
        if line.starts_with("END") {
            assert_eq!(refused(&mut talk), Some(NotYet::Queued));
        }
    }
    talk.line("MODIFIED a@11");
    assert_eq!(refused(&mut talk), Some(NotYet::Queued));
    talk.line("drain");
    assert_eq!(begin(&mut talk).version().as_str(), "11");
    // A bookmark says that everything up to it is known.
    talk.line("BOOKMARK 40");
    let comparison = begin(&mut talk);
    let request = comparison.request();
    assert_eq!((request.resource_version.as_str(), request.continue_token), ("40", None));
    talk.line("close 1006");
    assert_eq!(refused(&mut talk), Some(NotYet::NotLive(Health::Stale)));
}

#[test]
fn what_cannot_be_compared_says_why() {
    for (text, why) in [
        (page("11 a@1"), "it answered as of version 11 where version 10 was asked for"),
        (page("9 a@1"), "it answered as of version 9 where version 10 was asked for"),
        (page("10 a@1 a@1"), "its list repeats itself"),
        (page("10 +x"), "its list repeats itself"),
        (page("10 ?"), "an item of the answer could not be read: the object has no metadata.name"),
        (String::from("<html>"), "the answer is no list: not the JSON that was expected: a JSON object was expected"),
    ] {
        let mut talk = listed();
        let mut comparison = begin(&mut talk);
        let answer = comparison.page(text.as_bytes(), &mut talk.informer);
        assert_eq!(answer.map_err(|error| error.to_string()), Err(why.to_owned()), "{text}");
    }
    let mut talk = listed();
    let mut comparison = begin(&mut talk);
    assert!(matches!(comparison.page(b"\xff", &mut talk.informer), Err(CannotCompare::NoList(_))));
    // The next page must name no one that the first one named.
    let mut comparison = begin(&mut talk);
    answer(&mut comparison, &mut talk, "10 +x a@1 b@2");
    assert!(matches!(comparison.page(page("10 b@2").as_bytes(), &mut talk.informer), Err(CannotCompare::Repeats)));
}

/// A store of many objects, compared while all of them change: the journal has a limit.
#[test]
fn a_journal_that_is_full_ends_the_comparison() {
    let mut talk = listed();
    let mut comparison = begin(&mut talk);
    for number in 0..=JOURNAL {
        talk.line(&format!("ADDED x{number}@{}", 11 + number));
    }
    talk.drain(usize::MAX);
    let answer = comparison.page(page("10 a@1 b@2 c@3").as_bytes(), &mut talk.informer);
    assert!(matches!(answer, Err(CannotCompare::TooMuchChanged)), "{answer:?}");
    // The journal is dropped, and the next comparison begins anew.
    let Compared { same, .. } = comparison.end(&mut talk.informer);
    assert_eq!(same, 0);
    assert!(talk.informer.store().journal().is_none());
}

/// All are counted, the first ones are kept, and what was not named is found in slices.
#[test]
fn many_differences_are_counted_and_some_are_kept() {
    let mut talk = Conversation::new(Options::default());
    let objects: Vec<String> = (0..10_000).map(|number| format!("o{number}@{}", number + 1)).collect();
    for line in ["start", "open"] {
        talk.line(line);
    }
    objects.iter().for_each(|object| drop(talk.line(&format!("ADDED {object}"))));
    talk.line("END 20000");
    talk.drain(usize::MAX);
    let mut comparison = begin(&mut talk);
    assert_eq!(answer(&mut comparison, &mut talk, "20000 o1@2"), Next::Work);
    let mut slices = 1;
    while !comparison.work() {
        slices += 1;
    }
    let compared = comparison.end(&mut talk.informer);
    assert_eq!((compared.same, compared.of(), compared.differences.total), (1, 10_000, 9_999));
    assert_eq!((compared.differences.kept.len(), slices), (100, 3));
}

/// How differences are repaired: an open watch ends, and a list of the server's newest state follows, even if the server's
/// versions have gone back.
#[test]
fn a_relist_on_demand_takes_the_servers_word_even_where_its_versions_went_back() {
    let mut talk = listed();
    talk.line("notices");
    let relist =
        |talk: &mut Conversation| talk.input(kubechurn_client::cache::reflector::Input::Relist("2 objects differ"));
    assert_eq!(relist(&mut talk), "stream unset");
    talk.check(&[
        ("health", "Stale"),
        ("notices", ""),
        ("open", ""),
        ("ADDED a@1", ""),
        ("ADDED b@4", ""),
        ("END 5", ""),
        ("health", "Live"),
        ("version", "5"),
        ("notices", "Relisted 2 (2 objects differ)"),
        ("drain", "Synced a@1 Updated b@2>4 Deleted c@3"),
        ("MODIFIED a@6", ""),
        ("version", "6"),
        ("close 1000", "wait 1000"),
        ("timer", "watch 6"),
    ]);
    // While a list or a watch is being opened already, no other list is needed.
    talk.line("close 1006");
    assert_eq!(relist(&mut talk), "");
}
