//! The blocks of a file: gzip members (RFC 1952), each of which says in its extra field how long it is.
//!
//! So a reader finds every block without unpacking the ones before. Where a member does not say so, as after another program
//! has packed the file again, everything up to the end of the file is one member.

use std::ops::Range;

/// The bytes of a member before its compressed text.
pub const HEAD: usize = 20;
/// Where in a member its length stands, in four bytes, the low ones first. It is 0 while the member is being written.
pub const LENGTH_AT: usize = 16;
/// The beginning of a member: deflate, with an extra field of eight bytes, of no time, by an unknown system; and in the field the
/// two letters by which RFC 1952 tells subfields apart, and that four bytes follow.
const START: [u8; 16] = [0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255, 8, 0, b'K', b'C', 4, 0];
/// The bytes at the beginning of any gzip member that has a plain header.
const PLAIN: usize = 10;

/// The beginning of a member of this length in bytes.
pub fn head(length: u32) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    head[..LENGTH_AT].copy_from_slice(&START);
    head[LENGTH_AT..].copy_from_slice(&length.to_le_bytes());
    head
}

/// A plain gzip member, as browsers and flate2 make it, as the member of a file. `None` for what is none.
pub fn framed(plain: &[u8]) -> Option<Vec<u8>> {
    let (start, rest) = plain.split_at_checked(PLAIN)?;
    let is_plain = start[..4] == [0x1f, 0x8b, 8, 0];
    let length = u32::try_from(HEAD + rest.len()).ok().filter(|_| is_plain)?;
    Some([&head(length)[..], rest].concat())
}

/// Whether a file begins as gzip does.
pub fn is_gzip(file: &[u8]) -> bool {
    file.starts_with(&[0x1f, 0x8b, 8])
}

/// How long the member is that begins with these bytes: `None` where it does not say so.
pub fn length(start: &[u8]) -> Option<usize> {
    let length = start.get(LENGTH_AT..HEAD).filter(|_| start.starts_with(&START))?;
    let length = u32::from_le_bytes(length.try_into().ok()?) as usize;
    (length > HEAD).then_some(length)
}

/// Whether all bytes of a member are there: then it must be as it was written. One that breaks off, or was being written, is right
/// as far as it goes.
pub fn is_whole(member: &[u8]) -> bool {
    length(member) == Some(member.len())
}

/// Why a member is not read that is not as it was written.
pub const SPOILED: &str = "it is not as it was written: its checksum does not match";

/// The members of a file, in their order. The last one may break off.
pub fn members(file: &[u8]) -> Vec<Range<usize>> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < file.len() {
        let end = length(&file[at..]).and_then(|length| at.checked_add(length));
        let end = end.map_or(file.len(), |end| end.min(file.len()));
        found.push(at..end);
        at = end;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_by_their_lengths() {
        let plain = [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3][..], b"deflated"].concat();
        let one = framed(&plain).expect("it is a member");
        assert_eq!((length(&one), one.len()), (Some(HEAD + 8), HEAD + 8));
        let file = [&one[..], &one, &one[..HEAD + 3]].concat();
        assert_eq!(members(&file), [0..28, 28..56, 56..79]);
        assert!(is_gzip(&file));
        // One that was being written, and one that another program has written.
        assert_eq!(members(&head(0)), vec![0..HEAD]);
        assert_eq!(members(&plain), vec![0..plain.len()]);
        assert_eq!((framed(&one), framed(b"x"), members(b"")), (None, None, Vec::new()));
        // A length that leads nowhere does not go in a circle.
        assert_eq!(members(&head(3)).len(), 1);
        assert_eq!(members(&head(u32::MAX)).len(), 1);
    }
}
