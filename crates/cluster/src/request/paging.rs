//! Continue tokens: the revision of the first page and the last key, in the real server's format, which is opaque to
//! clients.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

/// Where the next page begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Continue {
    /// The revision of the first page; `None` continues inconsistently at the newest revision.
    pub revision: Option<u64>,
    /// The last key that was listed.
    pub last_key: String,
}

#[derive(Serialize, Deserialize)]
struct Token {
    v: String,
    rv: i64,
    start: String,
}

const VERSION: &str = "meta.k8s.io/v1";

impl Continue {
    /// Encodes the token for `metadata.continue`.
    pub fn encode(&self) -> String {
        let rv = self.revision.map_or(-1, |revision| revision as i64);
        // With the NUL, this is the first key after the last one.
        let token = Token { v: VERSION.to_owned(), rv, start: format!("{}\0", self.last_key) };
        let json = serde_json::to_string(&token).expect("strings and a number always serialise");
        URL_SAFE_NO_PAD.encode(json)
    }

    /// Decodes a client's token; `None` if this server cannot have written it.
    pub fn decode(text: &str) -> Option<Self> {
        let token: Token = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
        let last_key = token.start.strip_suffix('\0')?.to_owned();
        let revision = match token.rv {
            -1 => None,
            rv => Some(u64::try_from(rv).ok().filter(|rv| *rv > 0)?),
        };
        (token.v == VERSION).then_some(Self { revision, last_key })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_the_real_servers_token() {
        let recorded =
            "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6ODE0LCJzdGFydCI6InNob3AvZGIuMThlYTAxNTUxOTFiZTNiOFx1MDAwMCJ9";
        let token = Continue { revision: Some(814), last_key: "shop/db.18ea0155191be3b8".to_owned() };
        assert_eq!(Continue::decode(recorded), Some(token.clone()));
        assert_eq!(token.encode(), recorded);
        for length in 0..5 {
            let token = Continue { revision: None, last_key: "x".repeat(length) };
            assert_eq!(Continue::decode(&token.encode()), Some(token));
        }
    }

    #[test]
    fn refuses_what_it_did_not_write() {
        for text in ["", "A", "?", "e30", "bm9uc2Vuc2U", "eyJ2IjoieCIsInJ2IjoxLCJzdGFydCI6ImFcdTAwMDAifQ"] {
            assert_eq!(Continue::decode(text), None, "{text}");
        }
    }
}
