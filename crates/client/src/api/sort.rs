//! Sorting with code that all types share. The standard library's sort is compiled anew for each type and order, and each
//! copy adds four kilobytes to the wasm. It is used all the same where very many elements are sorted while a user waits.

use std::cmp::Ordering;

/// Sorts by an order. Equal elements keep their order.
pub fn sort_by<T>(list: &mut [T], mut order: impl FnMut(&T, &T) -> Ordering) {
    if list.len() > 1 {
        let places = places(list.len(), &mut |one, two| order(&list[one], &list[two]));
        rearrange(list, places);
    }
}

/// Sorts by a key of each element. Equal elements keep their order.
pub fn sort_by_key<'t, T, K: Ord + 't>(list: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(list, |one, two| key(one).cmp(&key(two)));
}

/// Sorts by the type's own order. Equal elements keep their order.
pub fn sort<T: Ord>(list: &mut [T]) {
    sort_by(list, T::cmp);
}

/// The places of this many elements, in the order of the elements.
#[inline(never)]
fn places(length: usize, order: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..length).collect();
    places.sort_by(|one, two| order(*one, *two));
    places
}

/// Brings to each place the element that stands at the place which `places` names there. The elements move along the cycles
/// of that permutation, so that no copy of the whole is made.
fn rearrange<T>(list: &mut [T], mut places: Vec<usize>) {
    for start in 0..list.len() {
        let mut at = start;
        loop {
            let from = std::mem::replace(&mut places[at], at);
            if from == start {
                break;
            }
            list.swap(at, from);
            at = from;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_sorts_as_the_standard_library_does(list in proptest::collection::vec((0u8..9, any::<u16>()), 0..60)) {
            let (mut ours, mut theirs) = (list.clone(), list.clone());
            sort_by_key(&mut ours, |(key, _)| *key);
            theirs.sort_by_key(|(key, _)| *key);
            prop_assert_eq!(&ours, &theirs);
            sort(&mut ours);
            theirs.sort();
            prop_assert_eq!(ours, theirs);
        }
    }
}
