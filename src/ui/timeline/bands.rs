//! Paints the bands of a timeline's scene, which are the states of its objects over time; and their words.

use kubechurn_model::timeline::scene::{Band, Scene};

use crate::ui::timeline::canvas::Canvas;

/// Paints the bands of each tone together, the most alarming ones last.
pub(super) fn paint_bands(canvas: &Canvas, scene: &Scene) {
    let context = &canvas.context;
    let _ = context.set_transform(1.0, 0.0, 0.0, 1.0, 0.0, 0.0);
    for (tone, alpha) in Band::TONES {
        context.set_global_alpha(alpha);
        canvas.fill(canvas.tone(tone));
        // Rectangles one by one are several times as fast as a path of them.
        for band in scene.bands.iter().filter(|band| band.tone == tone) {
            let area = band.area(canvas.ratio);
            context.fill_rect(area.left, area.top, area.right - area.left, area.bottom - area.top);
        }
    }
    context.set_global_alpha(1.0);
    canvas.begin_at(0.0, 0.0);
}

/// Paints the words of bands.
pub(super) fn paint_words(canvas: &Canvas, scene: &Scene) {
    for label in &scene.labels {
        canvas.fill(canvas.tone(label.tone));
        canvas.text(&label.text, label.x, label.y + 0.5);
    }
}
