//! A value on the screen, and whether the value still has to be drawn.

use std::ops::Deref;

use crate::view::panels::Draw;

/// A value, and whether it differs from what was drawn last. Whoever draws takes the value only if it differs, so that
/// readers of an unchanged value have nothing to do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shown<T> {
    value: T,
    changed: bool,
}

impl<T> Shown<T> {
    /// A value that is on the screen from the beginning.
    pub fn new(value: T) -> Shown<T> {
        Shown { value, changed: false }
    }

    /// The value, if it is not drawn yet. From now on the value counts as drawn.
    pub fn take_changed(&mut self) -> Option<&T> {
        std::mem::take(&mut self.changed).then_some(&self.value)
    }
}

impl<T: Clone + Send + Sync + 'static> Shown<T> {
    /// Draws the value, if it is not drawn yet.
    pub fn draw<D: Draw>(&mut self, held: &D::Of<T>) {
        if let Some(value) = self.take_changed() {
            D::draw(held, value.clone());
        }
    }
}

impl<T: PartialEq> Shown<T> {
    /// Replaces the value. A value that equals the present one changes nothing.
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
