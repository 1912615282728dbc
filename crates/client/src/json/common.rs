//! How far two texts are the same.

/// How many bytes two texts have in common from their beginnings.
pub fn common(left: &[u8], right: &[u8]) -> usize {
    let length = left.len().min(right.len());
    let (left, right) = (&left[..length], &right[..length]);
    // Words and not slices are compared: WebAssembly has no instruction for slices, and compares their bytes one by one.
    let differ = |one: &[u8; 8], other: &[u8; 8]| u64::from_le_bytes(*one) ^ u64::from_le_bytes(*other);
    let (words, other_words) = (left.as_chunks::<8>().0, right.as_chunks::<8>().0);
    let (fours, other_fours) = (words.as_chunks::<4>().0, other_words.as_chunks::<4>().0);
    let is_same = |(one, other): &(&[[u8; 8]; 4], &[[u8; 8]; 4])| {
        let [a, b, c, d] = [0, 1, 2, 3].map(|at| differ(&one[at], &other[at]));
        (a | b) | (c | d) == 0
    };
    let mut at = 4 * fours.iter().zip(other_fours).take_while(is_same).count();
    while let (Some(one), Some(other)) = (words.get(at), other_words.get(at)) {
        let difference = differ(one, other);
        if difference != 0 {
            return 8 * at + difference.trailing_zeros() as usize / 8;
        }
        at += 1;
    }
    let rest = left[8 * at..].iter().zip(&right[8 * at..]);
    8 * at + rest.take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_common_ends_at_the_first_difference_wherever_that_is() {
        let text: Vec<u8> = (0..200).collect();
        for length in [0, 1, 7, 8, 31, 32, 33, 40, 64, 71, 199, 200] {
            assert_eq!((common(&text, &text[..length]), common(&text[..length], &text)), (length, length));
            let mut other = text.clone();
            if let Some(byte) = other.get_mut(length) {
                *byte ^= 0x80;
            }
            assert_eq!(common(&text, &other), length);
        }
    }
}
