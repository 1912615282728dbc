//! Where a text about the thing under the pointer stands.

use crate::shell::panel::Window;

/// How far from the pointer the text is, and from the window's edge, in pixels.
const APART: f64 = 12.0;

/// The place of a text beside the pointer, as properties of its style: on the sides where the window has more room, and
/// within it.
pub fn beside((x, y): (f64, f64), window: Window) -> [(&'static str, String); 6] {
    let side = |at: f64, end: f64| {
        let auto = String::from("auto");
        match at <= end / 2.0 {
            true => (format!("{}px", at + APART), auto, end - at),
            false => (auto, format!("{}px", end - at + APART), at),
        }
    };
    let (left, right, width) = side(x, window.width);
    let (top, bottom, height) = side(y, window.height);
    let room = |length: f64| (length - 2.0 * APART).max(0.0);
    let (width, height) = (format!("min({}px, 90ch)", room(width)), format!("{}px", room(height)));
    [("left", left), ("right", right), ("top", top), ("bottom", bottom), ("max-width", width), ("max-height", height)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_beside_the_pointer_is_within_the_window() {
        let window = Window { width: 1000.0, height: 700.0 };
        for (place, expected) in [
            ((100.0, 650.0), ["112px", "auto", "auto", "62px", "min(876px, 90ch)", "626px"]),
            ((990.0, 80.0), ["auto", "22px", "92px", "auto", "min(966px, 90ch)", "596px"]),
        ] {
            assert_eq!(beside(place, window).map(|(_, value)| value), expected);
        }
    }
}
