//! Lists of lanes and groups in the address: with commas between, in which the commas of names survive.
//!
//! Most names have no comma, but the API server lets many kinds have one (`ValidatePathSegmentName` in kubernetes
//! `apimachinery/pkg/api/validation/path`). There it stands as `%2C`, and a percent sign, which no name may have, as `%25`.

use form_urlencoded::parse;

use crate::timeline::lanes::OpenGroups;

use super::once;

/// The longest words that are read, in bytes: kind, namespace and name, with some room.
const LONGEST: usize = 700;
/// What stands for all groups.
const ALL: &str = "*";

/// Reads at most so many words.
pub(super) fn read(text: &str, most: usize) -> Vec<String> {
    let items = text.split(',').map(str::trim).filter(|item| !item.is_empty() && item.len() <= LONGEST);
    // Repeated words are few, or not all are looked at.
    once(items.take(2 * most).map(unescaped)).into_iter().take(most).collect()
}

/// Writes what [`read`] reads.
pub(super) fn written(words: &[String]) -> String {
    words.iter().map(|words| words.replace('%', "%25").replace(',', "%2C")).collect::<Vec<_>>().join(",")
}

/// Reads which groups are open: their words, or a star and the words of those that are closed.
pub(super) fn read_open(text: &str) -> OpenGroups {
    let (all, rest) = match text.strip_prefix(ALL) {
        Some(rest) if rest.is_empty() || rest.starts_with(',') => (true, rest),
        _ => (false, text),
    };
    OpenGroups { all, named: read(rest, OpenGroups::MOST) }
}

/// Writes what [`read_open`] reads.
pub(super) fn written_open(open: &OpenGroups) -> String {
    let named = written(&open.named);
    let all = if open.all { ALL } else { "" };
    format!("{all}{}{named}", if open.all && !named.is_empty() { "," } else { "" })
}

fn unescaped(item: &str) -> String {
    // In a form a plus means a space, and an ampersand ends a value.
    let form = format!("={}", item.replace('+', "%2B").replace('&', "%26"));
    parse(form.as_bytes()).next().map_or_else(String::new, |(_, value)| value.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back() {
        let check = |words: &[&str], text: &str| {
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            assert_eq!(written(&words), text);
            assert_eq!(read(text, 32), words);
        };
        check(&[], "");
        check(&["deployments/shop/web", "node:n-1"], "deployments/shop/web,node:n-1");
        check(&["clusterroles/a,b", "c%2Cd", "e+f&g=h"], "clusterroles/a%2Cb,c%252Cd,e+f&g=h");
        assert_eq!(read("a,,a, b ,%2", 2), ["a", "b"]);
        assert_eq!(read(&"x".repeat(LONGEST + 1), 2), [""; 0]);
        for (all, named, text) in
            [(false, &[][..], ""), (true, &[], "*"), (true, &["pods/a/b"], "*,pods/a/b"), (false, &["*x"], "*x")]
        {
            let open = OpenGroups { all, named: named.iter().map(ToString::to_string).collect() };
            assert_eq!(written_open(&open), text);
            assert_eq!(read_open(text), open);
        }
        let many = (0..500).map(|at| at.to_string()).collect::<Vec<_>>().join(",");
        assert_eq!(read_open(&many).named.len(), OpenGroups::MOST);
    }
}
