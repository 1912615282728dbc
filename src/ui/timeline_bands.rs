//! Paints the bands of a timeline's scene one by one, which are the states of its objects over time; and their words.

use kubechurn_client::api::cell::Tone;
use kubechurn_model::timeline::pixels::TONES;
use kubechurn_model::timeline::scene::{BandLabel, Scene};

use crate::ui::timeline_canvas::Painter;

impl Painter {
    pub(super) fn paint_bands(&self, scene: &Scene) {
        let context = &self.context;
        let _ = context.set_transform(1.0, 0.0, 0.0, 1.0, 0.0, 0.0);
        for (tone, alpha) in TONES {
            context.set_global_alpha(alpha);
            self.fill(self.tone(tone));
            // Rectangles one by one are several times as fast as a path of them.
            for band in scene.bands.iter().filter(|band| band.tone == tone) {
                let area = band.area(self.ratio);
                context.fill_rect(area.left, area.top, area.right - area.left, area.bottom - area.top);
            }
        }
        context.set_global_alpha(1.0);
        let _ = context.set_transform(self.ratio, 0.0, 0.0, self.ratio, 0.0, 0.0);
    }

    pub(super) fn paint_labels(&self, scene: &Scene) {
        for label in &scene.labels {
            self.fill(self.tone(label.tone));
            self.paint_word(label);
        }
    }

    /// Paints the words over a stretch of time that is tinted already: there they are in these colours, which are tinted, too.
    pub(super) fn paint_labels_tinted(&self, scene: &Scene, [from, to]: [f64; 2], colour: impl Fn(Tone) -> String) {
        let (context, layout) = (&self.context, &scene.layout);
        let part = |parts: &[[f64; 2]]| {
            context.save();
            context.begin_path();
            parts.iter().for_each(|[from, to]| context.rect(*from, layout.top, to - from, layout.height));
            context.clip();
        };
        part(&[[0.0, from], [to, layout.width]]);
        self.paint_labels(scene);
        context.restore();
        part(&[[from, to]]);
        for label in &scene.labels {
            self.fill(&colour(label.tone));
            self.paint_word(label);
        }
        context.restore();
    }

    fn paint_word(&self, label: &BandLabel) {
        self.text(&label.text, label.x, label.y + 0.5);
    }
}
