//! Which bytes of two texts are alike, many at once.

use kubechurn_client::json;
use wide::u8x16;

/// The bytes that are compared at once.
pub const BLOCK: usize = 64;

/// How many bytes two texts have in common from their beginnings.
#[inline]
pub fn common(left: &[u8], right: &[u8]) -> usize {
    let (left_blocks, right_blocks) = (left.as_chunks::<BLOCK>().0, right.as_chunks::<BLOCK>().0);
    let mut length = 0;
    for (one, other) in left_blocks.iter().zip(right_blocks) {
        let alike = in_block(one, other);
        if alike != u64::MAX {
            return length + alike.trailing_ones() as usize;
        }
        length += BLOCK;
    }
    length + json::common(&left[length..], &right[length..])
}

/// How many bytes two texts have in common before their ends, at most `most`.
#[inline]
pub fn common_before(left: &[u8], right: &[u8], most: usize) -> usize {
    let most = most.min(left.len()).min(right.len());
    let (left, right) = (&left[left.len() - most..], &right[right.len() - most..]);
    let ((left, left_words), (right, right_words)) = (left.as_rchunks::<8>(), right.as_rchunks::<8>());
    let mut length = 0;
    for (one, other) in left_words.iter().zip(right_words).rev() {
        let difference = u64::from_le_bytes(*one) ^ u64::from_le_bytes(*other);
        if difference != 0 {
            return length + difference.leading_zeros() as usize / 8;
        }
        length += 8;
    }
    length + left.iter().zip(right).rev().take_while(|(one, other)| one == other).count()
}

/// Which of the first 64 bytes of two texts are alike: a bit for each, the lowest for the first.
#[inline]
pub fn first_alike(left: &[u8], right: &[u8]) -> u64 {
    if let (Some(left), Some(right)) = (left.first_chunk(), right.first_chunk()) {
        return in_block(left, right);
    }
    // Behind the end of either text no byte is like another.
    let (mut one, mut other) = ([0; BLOCK], [1; BLOCK]);
    let length = left.len().min(right.len()).min(BLOCK);
    one[..length].copy_from_slice(&left[..length]);
    other[..length].copy_from_slice(&right[..length]);
    in_block(&one, &other)
}

#[inline]
fn in_block(left: &[u8; BLOCK], right: &[u8; BLOCK]) -> u64 {
    let ([a, b, c, d], [e, f, g, h]) = (parts(left), parts(right));
    let (a, b, c, d) = (a.simd_eq(e), b.simd_eq(f), c.simd_eq(g), d.simd_eq(h));
    // Mostly all are.
    if ((a & b) & (c & d)).to_bitmask() == 0xFFFF {
        return u64::MAX;
    }
    let bits = |which: u8x16| u64::from(which.to_bitmask());
    bits(a) | bits(b) << 16 | bits(c) << 32 | bits(d) << 48
}

#[inline]
fn parts(block: &[u8; BLOCK]) -> [u8x16; 4] {
    match block.as_chunks().0 {
        [a, b, c, d] => [u8x16::new(*a), u8x16::new(*b), u8x16::new(*c), u8x16::new(*d)],
        _ => [u8x16::splat(0); 4],
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn as_many_are_alike_as_one_by_one(
            (left, right) in (0_usize..200).prop_flat_map(|length| {
                let bytes = || proptest::collection::vec(prop_oneof![20 => Just(7_u8), 1 => any::<u8>()], length..200);
                (bytes(), bytes())
            }),
            most in 0_usize..200,
        ) {
            let pairs = || left.iter().zip(&right);
            prop_assert_eq!(common(&left, &right), pairs().take_while(|(one, other)| one == other).count());
            let before = left.iter().rev().zip(right.iter().rev()).take(most);
            let before = before.take_while(|(one, other)| one == other).count();
            prop_assert_eq!(common_before(&left, &right, most), before);
            let bits = pairs().take(BLOCK).enumerate().map(|(at, (one, other))| u64::from(one == other) << at);
            prop_assert_eq!(first_alike(&left, &right), bits.sum::<u64>());
        }
    }
}
