//! Recordings that lie beside the page: the one that an address names (`#/open?url=run.churn`, or `url=` at any place of it), and
//! those that whoever serves the page offers.

use form_urlencoded::{byte_serialize, parse};

use crate::navigation::address::Address;

/// The parameter of a fragment that names a recording.
pub const URL: &str = "url";
/// What stands in a fragment in place of a kind where it says no more than which recording is meant.
pub const OPEN: &str = "open";
/// The most recordings that are offered.
const MOST: usize = 50;

/// The address of the recording that a fragment names, as it is written there.
pub fn named(fragment: &str) -> Option<String> {
    let (_, query) = fragment.split_once('?')?;
    let named = parse(query.as_bytes()).find(|(name, value)| name == URL && !value.is_empty());
    named.map(|(_, value)| value.into_owned())
}

/// Why a recording is not opened that has this address, which was resolved against the page's `own`.
pub fn refusal(address: Option<&Address>, own: &Address) -> Option<&'static str> {
    match address {
        None => Some("this is no address"),
        Some(address) if !address.is_of(own) || address.has_user => {
            Some("a recording is opened only from where this page comes from; save the file, and drop it here")
        }
        Some(_) => None,
    }
}

/// A fragment that shows the same place of the recording with this address.
pub fn with(fragment: &str, url: &str) -> String {
    if url.is_empty() || named(fragment).is_some() {
        return fragment.to_owned();
    }
    let url: String = byte_serialize(url.as_bytes()).collect();
    let separator = if fragment.contains('?') { '&' } else { '?' };
    format!("{fragment}{separator}{URL}={}", url.replace("%2F", "/"))
}

/// What is called so of an address: the last part of its path.
pub fn file_name(url: &str) -> &str {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    path.rsplit('/').find(|part| !part.is_empty()).unwrap_or(url)
}

/// Reads what `<meta name="recordings">` has: on a line each, the address of a recording, a space, and its title. Gives for each
/// its title and the fragment that opens it.
pub fn offered(text: &str) -> Vec<(String, String)> {
    let all = text.lines().filter_map(|line| {
        let (url, title) = line.trim().split_once(' ')?;
        Some((title.trim().to_owned(), with(&format!("#/{OPEN}"), url)))
    });
    all.filter(|(title, _)| !title.is_empty()).take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fragment_names_a_recording_at_any_place() {
        for (fragment, url) in [
            ("#/open?url=run.churn", Some("run.churn")),
            ("#/pods?ns=a&url=recordings/a%20b.churn&at=2026-11-25T14:02:11.408Z", Some("recordings/a b.churn")),
            ("#/open?url=", None),
            ("#/open", None),
            ("#/pods?q=url%3Dx", None),
            ("", None),
        ] {
            assert_eq!(named(fragment).as_deref(), url, "{fragment}");
        }
        assert_eq!(with("#/pods", "a b/c&d.churn"), "#/pods?url=a+b/c%26d.churn");
        assert_eq!(named(&with("#/pods?ns=x", "a b/c&d.churn")).as_deref(), Some("a b/c&d.churn"));
        assert_eq!(with("#/open?url=a", "b"), "#/open?url=a");
        assert_eq!(with("#/pods", ""), "#/pods");
        assert_eq!(["a/b.churn?x=/y", "b.churn", "a/", ""].map(file_name), ["b.churn", "b.churn", "a", ""]);
    }

    #[test]
    fn what_is_offered_has_an_address_and_a_title() {
        let text = "examples/rollout.churn A rollout, undone\n  nothing \n\nx.churn  <b>bold</b> ";
        let offered = offered(text);
        assert_eq!(offered[0], ("A rollout, undone".to_owned(), "#/open?url=examples/rollout.churn".to_owned()));
        assert_eq!(offered[1], ("<b>bold</b>".to_owned(), "#/open?url=x.churn".to_owned()));
        assert_eq!(offered.len(), 2);
    }
}
