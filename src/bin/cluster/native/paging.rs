//! Continue tokens: the first page's revision and the last key, opaque to clients, in the real server's form.

use serde::{Deserialize, Serialize};

/// Where the next page starts.
#[derive(Debug, Clone, PartialEq)]
pub struct Continue {
    /// The revision of the first page; `None` continues at the newest one, inconsistently.
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
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

impl Continue {
    /// As text for `metadata.continue`.
    pub fn encode(&self) -> String {
        let rv = self.revision.map_or(-1, |revision| revision as i64);
        // The NUL makes it the first key after the last one.
        let token = Token { v: VERSION.to_owned(), rv, start: format!("{}\0", self.last_key) };
        let json = serde_json::to_string(&token).expect("strings and a number always serialise");
        encode_base64(json.as_bytes())
    }

    /// From a client's text; `None` if this server cannot have written it.
    pub fn decode(text: &str) -> Option<Self> {
        let token: Token = serde_json::from_slice(&decode_base64(text)?).ok()?;
        let last_key = token.start.strip_suffix('\0')?.to_owned();
        let revision = match token.rv {
            -1 => None,
            rv => Some(u64::try_from(rv).ok().filter(|rv| *rv > 0)?),
        };
        (token.v == VERSION).then_some(Self { revision, last_key })
    }
}

/// Base64 for URLs without padding (RFC 4648 §5).
fn encode_base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().fold(0_u32, |group, byte| group << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for index in 0..=chunk.len() {
            text.push(char::from(DIGITS[(group >> (18 - 6 * index)) as usize & 63]));
        }
    }
    text
}

fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    for chunk in text.trim_end_matches('=').as_bytes().chunks(4) {
        if chunk.len() == 1 {
            return None;
        }
        let mut group = 0_u32;
        for letter in chunk {
            group = group << 6 | DIGITS.iter().position(|digit| digit == letter)? as u32;
        }
        group <<= 6 * (4 - chunk.len());
        bytes.extend_from_slice(&group.to_be_bytes()[1..chunk.len()]);
    }
    Some(bytes)
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
