//! Base64 (RFC 4648): without padding and for URLs in continue tokens, with padding in Secrets.

const URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// For URLs, without padding.
pub fn encode_url(bytes: &[u8]) -> String {
    encode(bytes, URL)
}

/// The common form, padded.
pub fn encode_standard(bytes: &[u8]) -> String {
    let mut text = encode(bytes, STANDARD);
    while !text.len().is_multiple_of(4) {
        text.push('=');
    }
    text
}

fn encode(bytes: &[u8], digits: &[u8; 64]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().fold(0_u32, |group, byte| group << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for index in 0..=chunk.len() {
            text.push(char::from(digits[(group >> (18 - 6 * index)) as usize & 63]));
        }
    }
    text
}

/// From the form for URLs; `None` if it is none.
pub fn decode_url(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    for chunk in text.trim_end_matches('=').as_bytes().chunks(4) {
        if chunk.len() == 1 {
            return None;
        }
        let mut group = 0_u32;
        for letter in chunk {
            group = group << 6 | URL.iter().position(|digit| digit == letter)? as u32;
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
    fn the_vectors_of_the_rfc() {
        for (plain, encoded) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(encode_standard(plain.as_bytes()), encoded);
            assert_eq!(decode_url(encoded).as_deref(), Some(plain.as_bytes()));
            assert_eq!(encode_url(plain.as_bytes()), encoded.trim_end_matches('='));
        }
        assert_eq!(decode_url("A"), None);
        assert_eq!(decode_url("a+b/"), None);
    }
}
