//! The cases of apimachinery's `pkg/labels/selector_test.go`, and those that it leaves out.

use super::*;

/// What a text prints as once parsed, or the error and where it is.
fn check(text: &str, expected: Result<&str, (&str, usize)>) {
    let parsed = LabelSelector::parse(text);
    let printed = parsed.as_ref().map(ToString::to_string).map_err(|error| (&*error.words, error.at));
    assert_eq!(printed.as_ref().map(|printed| &**printed).map_err(|error| *error), expected, "{text:?}");
    if let (Ok(parsed), Ok(printed)) = (&parsed, printed) {
        assert_eq!(LabelSelector::parse(&printed).as_ref(), Ok(parsed), "{text:?}");
    }
}

/// Whether a text selects an object with these labels, written `a=b c=d`.
fn matches(text: &str, labels: &str) -> bool {
    let labels: Vec<(&str, &str)> = labels.split(' ').filter_map(|label| label.split_once('=')).collect();
    let value_of = |key: &str| labels.iter().find(|(own, _)| *own == key).map(|(_, value)| *value);
    LabelSelector::parse(text).unwrap().matches(value_of)
}

#[test]
fn what_parses_prints_in_one_form() {
    for (text, printed) in [
        ("", ""),
        (" \t\r\n", ""),
        ("x=a,y=b,z=c", "x=a,y=b,z=c"),
        ("x=a,a=x", "a=x,x=a"),
        ("x!=a,y=b", "x!=a,y=b"),
        ("x==a", "x=a"),
        ("x=", "x="),
        ("x= ", "x="),
        ("x=,z= ", "x=,z="),
        ("x= ,z= ", "x=,z="),
        ("x!=", "x!="),
        ("!x", "!x"),
        ("! x", "!x"),
        ("x>1", "x>1"),
        ("x > 007,z<5", "x>7,z<5"),
        ("\rx", "x"),
        ("a ", "a"),
        ("x,x", "x"),
        ("this-is-a-dns.domain.com/key-with-dash", "this-is-a-dns.domain.com/key-with-dash"),
        (
            "this-is-another-dns.domain.com/key-with-dash in (what,so)",
            "this-is-another-dns.domain.com/key-with-dash in (so,what)",
        ),
        ("0.1.2.domain/99 notin (10.10.100.1, tick.tack.clock)", "0.1.2.domain/99 notin (10.10.100.1,tick.tack.clock)"),
        ("foo  in\t (abc)", "foo in (abc)"),
        ("x notin\n (abc)", "x notin (abc)"),
        ("x in (def,abc)", "x in (abc,def)"),
        ("x in(abc,abc)", "x in (abc)"),
        ("x in (abc,)", "x in (,abc)"),
        ("x in ()", "x in ()"),
        ("x in (,)", "x in ()"),
        ("x in (a,,)", "x in (,a)"),
        ("x in (a,,a,,a,,a,,)", "x in (,a)"),
        ("x notin ( )", "x notin ()"),
        ("x notin (, a)", "x notin (,a)"),
        ("x notin (abc,,def),bar,z in (),w", "bar,w,x notin (,abc,def),z in ()"),
        ("x,y in (a)", "x,y in (a)"),
        ("x=a,y!=b,z in (h,i,j)", "x=a,y!=b,z in (h,i,j)"),
        // A keyword is a key and a value too.
        ("a in (x,y,notin, z,in)", "a in (in,notin,x,y,z)"),
        ("in in (in)", "in in (in)"),
        ("notin=in", "notin=in"),
        ("in,!notin", "in,!notin"),
        ("A.b_c-9=Z.y_x-0", "A.b_c-9=Z.y_x-0"),
    ] {
        check(text, Ok(printed));
    }
}

#[test]
fn what_does_not_parse_says_what_and_where() {
    for (text, words, at) in [
        ("x==a==b", "found '==', expected: ',' or 'end of string'", 4),
        ("!x=a", "found '=', expected: ',' or 'end of string'", 2),
        ("!x in (a)", "found 'in', expected: ',' or 'end of string'", 3),
        ("x=a b", "found 'b', expected: ',' or 'end of string'", 4),
        ("a=b)", "found ')', expected: ',' or 'end of string'", 3),
        ("a in (xyz)b notin ()", "found 'b', expected: ',' or 'end of string'", 10),
        ("a in (xyz),", "found '', expected: identifier after ','", 11),
        ("x,,y", "found ',', expected: identifier after ','", 2),
        (",x,y", "found ',', expected: !, identifier, or 'end of string'", 0),
        ("=x", "found '=', expected: !, identifier, or 'end of string'", 0),
    ] {
        check(text, Err((words, at)));
    }
    for (text, words, at) in [
        ("x nott in (y)", "found 'nott', expected: in, notin, =, ==, !=, gt, lt", 2),
        ("a!", "found '!', expected: in, notin, =, ==, !=, gt, lt", 1),
        ("!", "found '', expected: identifier", 1),
        ("!!a", "found '!', expected: identifier", 1),
        ("a=)", "found ')', expected: identifier", 2),
        ("a=>1", "found '>', expected: identifier", 2),
        ("a in b", "found 'b' expected: '('", 5),
        ("a notin", "found '' expected: '('", 7),
        ("a in (", "found '', expected: ',', ')' or identifier", 6),
        ("a in (=)", "found '=', expected: ',', ')' or identifier", 6),
        ("a in (b", "found '', expected: ',' or ')'", 7),
        ("a in (b c)", "found 'c', expected: ',' or ')'", 8),
        ("a in (b,", "found '', expected: ',', or identifier", 8),
        ("x<a", "Invalid value: \"a\": '>' and '<' compare with a whole number", 2),
        ("x>", "Invalid value: \"\": '>' and '<' compare with a whole number", 2),
        ("x>9223372036854775808", "Invalid value: \"9223372036854775808\": '>' and '<' compare with a whole number", 2),
    ] {
        check(text, Err((&format!("unable to parse requirement: {words}"), at)));
    }
}

#[test]
fn keys_and_values_are_what_labels_may_have() {
    let (long, longer) = ("a".repeat(63), "a".repeat(64));
    let (prefix, too_long) = ("a".repeat(253), "a".repeat(254));
    for good in [&*long, &format!("{prefix}/{long}"), &format!("a={long}"), "a.b-c.0/D", "0=0"] {
        assert!(LabelSelector::parse(good).is_ok(), "{good}");
    }
    for (text, token, why, at) in [
        ("x=a||y=b", "a||y", NAME, 2),
        ("a,-b", "-b", NAME, 2),
        ("b-", "b-", NAME, 0),
        ("x in (a,.b)", ".b", NAME, 8),
        ("é=1", "é", NAME, 0),
        ("a=b\0", "b\0", NAME, 2),
        ("x>-1", "-1", NAME, 2),
        ("/a", "/a", "the prefix before the slash is empty", 0),
        ("a/", "a/", "the name is empty", 0),
        ("a/b/c", "a/b/c", "there is more than one slash", 0),
        ("A/b", "A/b", "the prefix is no DNS name of small letters, digits, '-' and '.'", 0),
        ("a..b/c", "a..b/c", "the prefix is no DNS name of small letters, digits, '-' and '.'", 0),
        (&longer, &longer, "the name is longer than 63 characters", 0),
        (&format!("a={longer}"), &longer, "a value is longer than 63 characters", 2),
        (&format!("{too_long}/a"), &format!("{too_long}/a"), "the prefix is longer than 253 characters", 0),
    ] {
        check(text, Err((&format!("unable to parse requirement: Invalid value: {token:?}: {why}"), at)));
    }
}

#[test]
fn every_requirement_must_hold() {
    for (text, labels) in [
        ("", "x=y"),
        ("x=y", "x=y"),
        ("x=y,z=w", "x=y z=w"),
        ("x!=y,z!=w", "x=z z=a"),
        ("x!=y", "z=y"),
        ("notin=in", "notin=in"),
        ("x", "x=z"),
        ("x=", "x="),
        ("!x", "y=z"),
        ("x>1", "x=2"),
        ("x<1", "x=0"),
        ("x<1", "x=-7"),
        ("x in (foo),y notin (alpha)", "x=foo y=baz"),
        ("x notin (),y", "y="),
        ("x in ()", "x="),
    ] {
        assert!(matches(text, labels), "{text}: {labels}");
    }
    for (text, labels) in [
        ("x=z", ""),
        ("x=y", "x=z"),
        ("x=y,z=w", "x=w z=w"),
        ("x!=y,z!=w", "x=z z=w"),
        ("x", "y=z"),
        ("x=", "y=z"),
        ("!x", "x=z"),
        ("x>1", "x=0"),
        ("x>1", "x=v2"),
        ("x>1", "y=2"),
        ("x<1", "x=2"),
        ("x in (foo),y in (alpha)", "x=foo y=baz"),
        ("x notin (),!y", "y="),
        ("x in ()", "y=baz"),
        ("foo=bar,foobar=bar,baz=blah", "foo=bar baz=blah"),
    ] {
        assert!(!matches(text, labels), "{text}: {labels}");
    }
}
