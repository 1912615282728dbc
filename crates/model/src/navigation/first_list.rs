//! Which list the page asked first at which place. It is written down in the browser, so that `src/start.js` asks for the
//! same list on the next visit, while the program is still loading. What is written down is only ever a path and a query
//! below the API, as a list's address has them, and never where the API is: that may be a secret.

/// The name under which the browser stores it.
pub const KEY: &str = "kubechurn.first";
/// The most places that are written down; the oldest goes first.
const MOST: usize = 8;

/// What decides the list at a place, of the fragment of its address: kinds, namespaces and selectors, as they are written
/// there. `src/start.js` reads a fragment in the same way.
pub fn place(fragment: &str) -> String {
    let fragment = fragment.trim_start_matches('#').trim_start_matches('/');
    let (kinds, query) = fragment.split_once('?').unwrap_or((fragment, ""));
    let names = ["ns=", "labels=", "fields="];
    let mut place = String::from(if kinds.is_empty() { "changes" } else { kinds });
    for part in query.split('&').filter(|part| names.iter().any(|name| part.starts_with(name))) {
        place.push('&');
        place.push_str(part);
    }
    place
}

/// What is to be written down, one place in a line, once the page has asked first for this list at a place; `None` where
/// it has asked first for something else.
pub fn written(before: &str, place: &str, list: Option<&str>) -> String {
    let others = before.lines().filter(|line| line.split('\t').next() != Some(place)).map(str::to_owned);
    // A line that would be read as something else is none.
    let is_line = |text: &str| !text.contains(['\t', '\n', '\r']);
    let own = list.filter(|list| is_line(list) && is_line(place)).map(|list| format!("{place}\t{list}"));
    own.into_iter().chain(others).take(MOST).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_what_its_list_depends_on() {
        for (fragment, expected) in [
            ("", "changes"),
            ("#/", "changes"),
            ("#/pods", "pods"),
            ("#/nodes?sort=-AGE&q=a", "nodes"),
            ("#/pods?ns=a,b&labels=app%3Dweb&sel=a/b&tab=yaml&wide=1", "pods&ns=a,b&labels=app%3Dweb"),
            ("#/pods,nodes?fields=spec.x%3D1&pin=nodes", "pods,nodes&fields=spec.x%3D1"),
        ] {
            assert_eq!(place(fragment), expected, "{fragment}");
        }
    }

    #[test]
    fn the_newest_places_are_kept_and_one_without_a_list_is_forgotten() {
        let mut text = String::new();
        for at in 0..12 {
            text = written(&text, &format!("p{at}"), Some("api/v1/pods"));
        }
        assert_eq!(text.lines().count(), MOST);
        assert!(text.starts_with("p11\tapi/v1/pods\np10\t"), "{text}");
        text = written(&text, "p10", Some("api/v1/pods?limit=500"));
        assert!(text.starts_with("p10\tapi/v1/pods?limit=500\np11\t") && text.lines().count() == MOST, "{text}");
        text = written(&text, "p11", None);
        assert!(!text.contains("p11") && text.lines().count() == MOST - 1, "{text}");
        assert_eq!(written("", "a\nb", Some("api/v1/pods")), "", "no place of an address has line breaks");
    }
}
