//! One page of a LIST: its version, its continue token, and the texts of its items, which are not read here.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::api::object::{DecodeError, ResourceVersion, map};
use crate::api::text::Text;

/// A page as the server sent it.
#[derive(Debug)]
pub struct ListPage<'a> {
    /// The list's version; all pages of one list repeat the first page's.
    pub resource_version: ResourceVersion,
    /// The token that asks for the next page; `None` on the last page.
    pub continue_token: Option<String>,
    /// How many items are still to come, where the server says so.
    pub remaining: Option<u64>,
    /// The text of each item. Built-in kinds omit `kind` and `apiVersion` here.
    pub items: Vec<&'a str>,
}

impl ListPage<'_> {
    /// How many items the list has from this page on; `None` where more are to come and the server does not say how
    /// many.
    pub fn total(&self) -> Option<u64> {
        let remaining = match &self.continue_token {
            Some(_) => self.remaining?,
            None => 0,
        };
        Some(remaining.saturating_add(self.items.len() as u64))
    }
}

/// Reads a page without looking inside its items.
///
/// # Errors
///
/// When the text is no list. HTML with status 200 is none, and neither is a Table, which has rows instead of items.
/// `items: null` is an empty list; a text without `items` is no list.
pub fn page(text: &str) -> Result<ListPage<'_>, DecodeError> {
    #[derive(Deserialize)]
    struct List<'a> {
        #[serde(borrow)]
        metadata: Metadata<'a>,
        // `deserialize_with` makes the member required, which serde would otherwise waive for an `Option`.
        #[serde(borrow, deserialize_with = "Deserialize::deserialize")]
        items: Option<Vec<&'a RawValue>>,
    }
    #[derive(Deserialize, Default)]
    #[serde(rename_all = "camelCase", default)]
    struct Metadata<'a> {
        #[serde(borrow)]
        resource_version: Text<'a>,
        #[serde(borrow, rename = "continue")]
        continue_token: Text<'a>,
        remaining_item_count: Option<u64>,
    }
    let list: List<'_> = serde_json::from_str(map(text)?)?;
    let token = list.metadata.continue_token;
    Ok(ListPage {
        resource_version: ResourceVersion::new(&list.metadata.resource_version),
        continue_token: (!token.is_empty()).then(|| token.0.into_owned()),
        remaining: list.metadata.remaining_item_count,
        items: list.items.unwrap_or_default().into_iter().map(RawValue::get).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_keeps_its_items_unread() {
        let read = page(
            r#"{"kind":"PodList","metadata":{"resourceVersion":"9","continue":"abc","remainingItemCount":3},"items":[{"a":1}, 7]}"#,
        )
        .unwrap();
        assert_eq!(read.resource_version.as_str(), "9");
        assert_eq!(read.continue_token.as_deref(), Some("abc"));
        assert_eq!((read.remaining, read.items), (Some(3), vec![r#"{"a":1}"#, "7"]));
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
    fn null_items_are_none_and_html_is_no_list() {
        assert!(page(r#"{"metadata":{"resourceVersion":"1","continue":""},"items":null}"#).unwrap().items.is_empty());
        assert!(page(r#"{"metadata":{},"items":[]}"#).unwrap().continue_token.is_none());
        assert!(page(r#"{"kind":"Table","metadata":{"resourceVersion":"1"},"rows":[]}"#).is_err());
        assert!(page("<html>").is_err() && page("{}").is_err() && page(r#"{"metadata":{},"items":{}}"#).is_err());
    }
}
