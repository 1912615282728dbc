//! Which release of Kubernetes a server is, by its answer at `/version`.

use std::fmt;

use crate::json::{self, Text};

/// A release: `1.35`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release {
    /// `1`.
    pub major: u32,
    /// `35`.
    pub minor: u32,
}

impl Release {
    /// Reads the answer. `None` where it names no release: some servers do not show it to every user.
    pub fn parse(text: &str) -> Option<Release> {
        let [major, minor, git_version, ..] = json::pick(text, &["major", "minor", "gitVersion"]).ok()?;
        let [major, minor, git_version] =
            [Text::read(major).ok()?, Text::read(minor).ok()?, Text::read(git_version).ok()?];
        let own = number(&major).zip(number(&minor));
        // Some distributions leave `major` and `minor` empty.
        own.map(|(major, minor)| Release { major, minor }).or_else(|| Release::named(&git_version))
    }

    /// The release of this name: `v1.35.2`, `v1.35`.
    pub fn named(name: &str) -> Option<Release> {
        let (major, rest) = name.strip_prefix('v')?.split_once('.')?;
        let (major, minor) = number(major).zip(number(rest))?;
        Some(Release { major, minor })
    }
}

impl fmt::Display for Release {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "v{}.{}", self.major, self.minor)
    }
}

/// Whether an API server gave this answer when it was asked for its version; it answers, with a `Status`, also a user who may
/// not ask. One that finds nothing at this place, or refuses something else than its version, has its API at another.
///
/// # Errors
///
/// What was answered instead, in few words.
pub fn is_of_server(status: u16, text: &str) -> Result<(), String> {
    let is_api = text.trim_start().starts_with('{') && (text.contains("\"gitVersion\"") || text.contains("\"Status\""));
    if is_api && status < 500 && status != NOT_FOUND && !refuses_another_path(text) {
        return Ok(());
    }
    let first = text.trim().lines().next().unwrap_or_default();
    let words = if first.starts_with('<') { "a page, and no API" } else { first };
    Err(format!("HTTP {status} {}", words.chars().take(160).collect::<String>()))
}

/// The HTTP status of a path at which nothing is.
const NOT_FOUND: u16 = 404;
/// How a server names the path that a user may not read, and the resource, of which the version is none.
const REFUSED: [&str; 2] = ["cannot get path ", "cannot get resource "];

/// Whether a server's `Status` refuses something else than its version. Who may read little is refused a path at which nothing
/// is before the server looks for it.
fn refuses_another_path(text: &str) -> bool {
    let Ok([message, ..]) = json::pick(text, &["message"]) else { return false };
    let message = Text::read(message).unwrap_or_default();
    let mut refused = REFUSED.into_iter().filter_map(|words| Some(message.split_once(words)?.1));
    refused.any(|path| !path.starts_with("\"/version\""))
}

/// The number with which a text begins: vendors write `35+`.
fn number(text: &str) -> Option<u32> {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_api_server_s_answer_counts() {
        let long = "x".repeat(1_000);
        // A user who may read little is refused also what is not there: a page that is a Service's looks below `/k8s/`.
        let refusal = |what: &str| {
            format!(
                r#"{{"kind":"Status","message":"forbidden: User \"a\" cannot get {what}","reason":"Forbidden","code":403}}"#
            )
        };
        let elsewhere = refusal(r#"path \"/k8s/version\""#);
        let within = refusal(r#"resource \"services/proxy\" in API group \"\" in the namespace \"shop\""#);
        for (status, text, expected) in [
            (200, r#" {"gitVersion":"v1.35.0"}"#, Ok(())),
            (403, r#"{"kind":"Status","code":403}"#, Ok(())),
            (403, &refusal(r#"path \"/version\""#), Ok(())),
            (403, &refusal(r#"path \"/version\": not today"#), Ok(())),
            (403, r#"{"kind":"Status","message":"nobody may read anything","code":403}"#, Ok(())),
            (403, &elsewhere, Err(format!("HTTP 403 {elsewhere}"))),
            (403, &within, Err(format!("HTTP 403 {}", &within[..160]))),
            (404, r#"{"kind":"Status","code":404}"#, Err(r#"HTTP 404 {"kind":"Status","code":404}"#.to_owned())),
            (503, r#"{"kind":"Status","code":503}"#, Err(r#"HTTP 503 {"kind":"Status","code":503}"#.to_owned())),
            (200, "<html>\n<p>\"gitVersion\"", Err(String::from("HTTP 200 a page, and no API"))),
            (404, "404 page not found\nmore", Err(String::from("HTTP 404 404 page not found"))),
            (500, "", Err(String::from("HTTP 500 "))),
            (200, &long, Err(format!("HTTP 200 {}", &long[..160]))),
        ] {
            assert_eq!(is_of_server(status, text), expected, "{status} {text}");
        }
    }

    #[test]
    fn the_answer_at_version_names_the_release() {
        for (text, expected) in [
            (r#"{"major":"1","minor":"35","gitVersion":"v1.35.0"}"#, Some((1, 35))),
            (r#"{"major":"1","minor":"31+","gitVersion":"v1.31.5-eks-8cce635"}"#, Some((1, 31))),
            (r#"{"major":"","minor":"","gitVersion":"v1.30.1-rc.2+x"}"#, Some((1, 30))),
            (r#"{"gitVersion":"v1.9"}"#, Some((1, 9))),
            (r#"{"gitVersion":"1.9"}"#, None),
            (r#"{"major":"1","minor":"99999999999"}"#, None),
            (r#"{"major":1,"minor":35}"#, None),
            (r#"{"kind":"Status","code":403}"#, None),
            ("", None),
            ("[]", None),
        ] {
            let expected = expected.map(|(major, minor)| Release { major, minor });
            assert_eq!(Release::parse(text), expected, "{text}");
        }
    }
}
