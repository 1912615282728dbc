//! Which release of Kubernetes a server is, by its answer at `/version`.

use serde::Deserialize;

/// A release: `1.35`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release {
    /// `1`.
    pub major: u32,
    /// `35`.
    pub minor: u32,
}

#[derive(Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[derive(Default)]
struct Version {
    major: String,
    minor: String,
    git_version: String,
}

impl Release {
    /// Reads the answer. `None` where it names no release: some servers do not tell every user.
    pub fn parse(text: &str) -> Option<Release> {
        let Version { major, minor, git_version } = serde_json::from_str(text).ok()?;
        let own = number(&major).zip(number(&minor));
        // Some distributions leave `major` and `minor` empty.
        let (major, minor) = own.or_else(|| {
            let (major, rest) = git_version.strip_prefix('v')?.split_once('.')?;
            number(major).zip(number(rest))
        })?;
        Some(Release { major, minor })
    }
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
    fn the_answer_at_version_tells_the_release() {
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
