//! Whatever pieces a list comes in, its items are those that another parser finds in the whole.

use proptest::prelude::*;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::*;

/// What a reader finds: each item as text, or what stands for it; and what the list says of itself.
type ListRead = Result<(Vec<String>, ListMeta), String>;

/// Reads the bytes in pieces that end at these places.
fn read(bytes: &[u8], ends: &[usize]) -> ListRead {
    let (mut reader, mut items) = (ListReader::default(), Vec::new());
    let mut from = 0;
    for &to in ends.iter().chain([&bytes.len()]) {
        let mut piece = &bytes[from..to];
        from = to;
        while let Some(item) = reader.next(&mut piece).map_err(|error| error.to_string())? {
            items.push(match item {
                ListItem::Text(text) => text.to_owned(),
                ListItem::NotText(bytes) => format!("{bytes:?}"),
                ListItem::TooLong(length) => format!("{length} bytes"),
            });
        }
        assert!(piece.is_empty());
    }
    reader.finish().map(|meta| (items, meta)).map_err(|error| error.to_string())
}

/// What the reader of JSON that the rest of this crate uses makes of a whole list.
fn oracle(text: &str) -> Option<(Vec<String>, ListMeta)> {
    #[derive(Deserialize)]
    struct List<'a> {
        #[serde(borrow)]
        metadata: &'a RawValue,
        // `deserialize_with` makes the member required, which serde would otherwise waive for an `Option`.
        #[serde(borrow, deserialize_with = "Deserialize::deserialize")]
        items: Option<Vec<&'a RawValue>>,
    }
    let list: List<'_> = serde_json::from_str(map(text).ok()?).ok()?;
    let items = list.items.unwrap_or_default().into_iter().map(|item| item.get().to_owned()).collect();
    Some((items, ListMeta::read(list.metadata.get()).ok()?))
}

/// Whether the reader finds what the other one finds, however the text is cut in two.
#[track_caller]
fn check(text: &str) -> ListRead {
    let whole = read(text.as_bytes(), &[]);
    for end in 0..=text.len() {
        assert_eq!(read(text.as_bytes(), &[end]), whole, "{text} cut at {end}");
    }
    let single: Vec<usize> = (0..text.len()).collect();
    assert_eq!(read(text.as_bytes(), &single), whole, "{text} byte by byte");
    assert_eq!(page(text).ok().map(|page| page.meta), whole.clone().ok().map(|(_, meta)| meta), "{text}");
    whole
}

#[test]
fn a_page_keeps_its_items_unread() {
    let text = r#"{"kind":"PodList","metadata":{"resourceVersion":"9","continue":"abc","remainingItemCount":3},"items":[{"a":1}, 7]}"#;
    let read = page(text).unwrap();
    assert_eq!(read.meta.resource_version.as_str(), "9");
    assert_eq!(read.meta.continue_token.as_deref(), Some("abc"));
    assert_eq!((read.meta.remaining, read.items), (Some(3), vec![r#"{"a":1}"#, "7"]));
}

#[test]
fn a_total_is_what_is_there_and_what_remains() {
    for (metadata, items, expected) in [
        (r#""continue":"abc","remainingItemCount":149999"#, "{}", Some(150_000)),
        (r#""continue":"abc""#, "{}", None),
        (r#""continue":"""#, "{}", Some(1)),
        ("", "", Some(0)),
        (r#""continue":"abc","remainingItemCount":18446744073709551615"#, "{}", Some(u64::MAX)),
    ] {
        let text = format!(r#"{{"kind":"PartialObjectMetadataList","metadata":{{{metadata}}},"items":[{items}]}}"#);
        assert_eq!(page(&text).unwrap().total(), expected, "{text}");
    }
}

#[test]
fn a_list_is_read_however_its_members_are_ordered_and_spaced() {
    for text in [
        r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[{"a":"}"},{"b":["{"]}]}"#,
        "\n{ \"items\" : [ {} , [ ] , \"a\\\"b\" , null , -1.5e3 ] , \"metadata\" : { \"continue\" : \"t\" } }\r\n",
        r#"{"other":[{"items":[1]}],"items":null,"more":"]}","metadata":{"resourceVersion":"9"},"number":17}"#,
        r#"{"metadata":{"resourceVersion":"9","annotations":{"a":"{\"items\":[]}"}},"items":[]}"#,
        r#"{"it\u0065ms":[1],"\u006detadata":{}}"#,
        r#"{"a name that is longer than any of those that are read here, and so is not kept":1,"items":[],"metadata":{}}"#,
    ] {
        assert_eq!(check(text).ok(), Some(oracle(text).expect(text)), "{text}");
    }
}

#[test]
fn what_is_no_list_is_an_error_wherever_it_is_cut() {
    for text in [
        "",
        "  ",
        "<html>",
        "{}",
        "[]",
        "null",
        r#"{"kind":"Table","metadata":{"resourceVersion":"1"},"rows":[]}"#,
        r#"{"metadata":{},"items":{}}"#,
        r#"{"metadata":{},"items":7}"#,
        r#"{"metadata":{},"items":"null"}"#,
        r#"{"metadata":{},"items":nul}"#,
        r#"{"items":[]}"#,
        r#"{"metadata":null,"items":[]}"#,
        r#"{"metadata":[],"items":[]}"#,
        r#"{"metadata":{"resourceVersion":7},"items":[]}"#,
        r#"{"metadata":{},"items":[],"items":[]}"#,
        r#"{"metadata":{},"items":[],"it\u0065ms":null}"#,
        r#"{"metadata":{},"metadata":{},"items":[]}"#,
        r#"{"metadata":{},"items":[],}"#,
        r#"{"metadata":{},"items":[1,]}"#,
        r#"{"metadata":{},"items":[,1]}"#,
        r#"{"metadata":{},"items":[1 2]}"#,
        r#"{"metadata":{},"items":[]]"#,
        r#"{"metadata":{} "items":[]}"#,
        r#"{"metadata" {},"items":[]}"#,
        r#"{metadata:{},"items":[]}"#,
        r#"{"metadata":{},"items":[]}x"#,
        r#"{"metadata":{},"items":[]}{}"#,
        r#"{"metadata":{},"items":[{"a":1},{"b"#,
        r#"{"metadata":{},"items":[{"a":1}]"#,
        r#"{"metadata":{},"items":[{"a":1]}"#,
    ] {
        assert!(check(text).is_err(), "{text}");
        assert!(oracle(text).is_none(), "{text}");
    }
}

#[test]
fn an_item_that_is_no_json_costs_only_itself() {
    let (items, _) = check(r#"{"metadata":{},"items":[{"a":1},{a:tru},{"b":[},{"c":1}]}"#).unwrap();
    assert_eq!(items, [r#"{"a":1}"#, "{a:tru}", r#"{"b":[}"#, r#"{"c":1}"#]);
}

#[test]
fn an_item_that_is_no_utf_8_costs_only_itself() {
    let bytes = b"{\"metadata\":{},\"items\":[{\"a\":1},{\"b\":\"\xff\"},{\"c\":\"\xc3\xa4\"}]}";
    for end in 0..=bytes.len() {
        let (items, _) = read(bytes, &[end]).unwrap();
        assert_eq!((items.len(), &*items[0], &*items[2]), (3, r#"{"a":1}"#, "{\"c\":\"ä\"}"), "{end}");
        assert!(items[1].starts_with("[123, 34"), "{items:?}");
    }
    assert!(read(b"{\"metadata\":{\"continue\":\"\xff\"},\"items\":[]}", &[]).is_err());
    assert!(read(b"{\"metadata\":{},\"items\":[]}\xff", &[]).is_err());
}

/// However long an item is, no more of it is kept than is read.
#[test]
fn an_item_that_is_too_long_is_not_kept_and_costs_only_itself() {
    for piece_size in [1 << 16, LONGEST_ITEM * 2] {
        let mut reader = ListReader::default();
        let mut bytes = br#"{"metadata":{},"items":[{"a":1},{"b":""#.to_vec();
        bytes.resize(bytes.len() + LONGEST_ITEM, b'x');
        bytes.extend_from_slice(br#""},{"c":1}]}"#);
        let mut items = Vec::new();
        for mut piece in bytes.chunks(piece_size) {
            while let Some(item) = reader.next(&mut piece).unwrap() {
                items.push(match item {
                    ListItem::Text(text) => text.to_owned(),
                    other => format!("{other:?}"),
                });
            }
            assert!(reader.kept.capacity() <= 2 * LONGEST_ITEM);
        }
        assert_eq!(items, [r#"{"a":1}"#, &format!("TooLong({})", LONGEST_ITEM + 8), r#"{"c":1}"#]);
        assert!(reader.finish().is_ok() && reader.kept.capacity() <= KEPT);
    }
    // What never becomes an item is not kept either.
    let mut reader = ListReader::default();
    assert!(reader.next(&mut &br#"{"rows":[""#[..]).unwrap().is_none());
    for _ in 0..100 {
        assert!(reader.next(&mut &[b'x'; 100_000][..]).unwrap().is_none());
    }
    assert_eq!(reader.kept.capacity(), 0);
    let mut reader = ListReader::default();
    assert!(reader.next(&mut &br#"{"metadata":{"continue":""#[..]).unwrap().is_none());
    let read = (0..20).map(|_| reader.next(&mut &[b'x'; 100_000][..]).map(drop)).collect::<Result<Vec<_>, _>>();
    assert!(read.is_ok() && reader.kept.capacity() <= 2 * LONGEST_METADATA);
    assert!(reader.next(&mut &br#""},"items":[]}"#[..]).is_err());
}

/// Any JSON value, as a server or someone's custom resource may have it.
fn value() -> impl Strategy<Value = serde_json::Value> {
    let text = || r#"[a-z"\\{}\[\]:, ä€𝄞/\n]{0,12}"#;
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
        any::<i64>().prop_map(serde_json::Value::from),
        (-1e9..1e9).prop_map(serde_json::Value::from),
        text().prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            prop::collection::vec((text(), inner), 0..4)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_list_in_any_pieces_is_the_list(
        items in prop::collection::vec(value(), 0..6),
        other in value(),
        order in Just([0, 1, 2]).prop_shuffle(),
        pretty: bool,
        ends in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let metadata = r#"{"resourceVersion":"9","continue":"a\"b","remainingItemCount":7}"#;
        let (items, other) = (serde_json::Value::from(items), serde_json::json!({ "metadata": other }));
        let items = if pretty { serde_json::to_string_pretty(&items) } else { serde_json::to_string(&items) }.unwrap();
        let members = [format!(r#""metadata":{metadata}"#), format!(r#""items":{items}"#), format!(r#""other":{other}"#)];
        let text = format!("{{{},{},{}}}", members[order[0]], members[order[1]], members[order[2]]);
        let mut ends: Vec<usize> = ends.iter().map(|end| end.index(text.len() + 1)).collect();
        ends.sort_unstable();
        prop_assert_eq!(read(text.as_bytes(), &ends).ok(), oracle(&text));
        // What breaks off in the middle is no list.
        let broken = ends.first().copied().unwrap_or_default().min(text.len() - 1);
        prop_assert!(read(&text.as_bytes()[..broken], &[]).is_err());
    }

    /// Bytes that look like a list, with some of them changed: no panic, the same result however they are cut, and a
    /// list for whatever another parser takes for one.
    #[test]
    fn any_bytes_in_any_pieces_are_the_same(
        changes in prop::collection::vec((any::<prop::sample::Index>(), r#"[\{\}\[\]",:\\a0 ]|"items"|"metadata""#), 0..6),
        ends in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
    ) {
        let mut text = String::from(r#"{"kind":"x","metadata":{"resourceVersion":"9"},"items":[{"a":"b"},{"c":[1,{}]}]}"#);
        for (at, with) in changes {
            let at = at.index(text.len());
            text.replace_range(at..=at, &with);
        }
        let mut ends: Vec<usize> = ends.iter().map(|end| end.index(text.len() + 1)).collect();
        ends.sort_unstable();
        let whole = read(text.as_bytes(), &[]);
        prop_assert_eq!(read(text.as_bytes(), &ends), whole.clone());
        if let Some(list) = oracle(&text) {
            prop_assert_eq!(whole, Ok(list));
        }
    }
}
