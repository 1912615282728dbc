//! A value that stands on the screen.

use std::ops::Deref;

/// A value, and whether it is another one than what was drawn last. Whoever draws takes it only where it is: readers of
/// an unchanged value have nothing to do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shown<T> {
    value: T,
    changed: bool,
}

impl<T> Shown<T> {
    /// What is on the screen from the beginning.
    pub fn new(value: T) -> Shown<T> {
        Shown { value, changed: false }
    }

    /// The value, if it was not drawn yet. It counts as drawn from now on.
    pub fn take_changed(&mut self) -> Option<&T> {
        std::mem::take(&mut self.changed).then_some(&self.value)
    }
}

impl<T: PartialEq> Shown<T> {
    /// Puts a value there. The same as before changes nothing.
    pub fn put(&mut self, value: T) {
        if self.value != value {
            (self.value, self.changed) = (value, true);
        }
    }
}

impl<T> Deref for Shown<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_drawn_once_for_each_change() {
        let mut shown = Shown::new(1);
        assert_eq!((*shown, shown.take_changed()), (1, None));
        shown.put(1);
        assert_eq!(shown.take_changed(), None, "the same is nothing new");
        shown.put(2);
        shown.put(3);
        assert_eq!((shown.take_changed().copied(), shown.take_changed()), (Some(3), None));
    }
}
