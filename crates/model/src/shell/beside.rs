//! Where a text about the thing under the pointer stands.

use crate::shell::panel::Window;

/// How far from the pointer the text is, and from the window's edge, in pixels.
const APART: f64 = 12.0;

/// The place of a text beside the pointer, in CSS: on the sides where the window has more room, and within it.
pub fn beside((x, y): (f64, f64), window: Window) -> String {
    let side = |at: f64, end: f64, [first, last]: [&'static str; 2]| {
        if at <= end / 2.0 { (first, at + APART, end - at) } else { (last, end - at + APART, at) }
    };
    let (across, left, width) = side(x, window.width, ["left", "right"]);
    let (along, top, height) = side(y, window.height, ["top", "bottom"]);
    let room = |length: f64| (length - 2.0 * APART).max(0.0);
    let (width, height) = (room(width), room(height));
    format!("{across}:{left}px;{along}:{top}px;max-width:min({width}px,90ch);max-height:{height}px")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_beside_the_pointer_is_within_the_window() {
        let window = Window { width: 1000.0, height: 700.0 };
        for (place, expected) in [
            ((100.0, 650.0), "left:112px;bottom:62px;max-width:min(876px,90ch);max-height:626px"),
            ((990.0, 80.0), "right:22px;top:92px;max-width:min(966px,90ch);max-height:596px"),
        ] {
            assert_eq!(beside(place, window), expected);
        }
    }
}
