//! A value on the screen, and whether the value still has to be drawn.

use std::ops::Deref;

/// How the values of a panel are held.
pub trait Hold {
    /// How a value is held.
    type Of<T>;
}

/// The page holds its values: each with whether it is drawn.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByPage;

impl Hold for ByPage {
    type Of<T> = Shown<T>;
}

/// Whoever draws holds the values in a way of its own, and draws what changed.
pub trait Draw: Hold {
    /// Holds a value for the first time.
    fn hold<T: Clone + Send + Sync + 'static>(value: T) -> Self::Of<T>;
    /// Draws another value in its place.
    fn draw<T: Clone + Send + Sync + 'static>(held: &Self::Of<T>, value: T);
}

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

    /// Has the value be drawn, whatever was drawn before.
    pub fn draw_again(&mut self) {
        self.changed = true;
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
