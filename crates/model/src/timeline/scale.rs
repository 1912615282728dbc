//! Maps time to the x axis: the window of time on the screen, zoom, pan and following.

/// A stretch of time, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Window {
    /// Where the window begins.
    pub from: f64,
    /// Where the window ends.
    pub to: f64,
}

impl Window {
    /// The length of the window; at least a millisecond, so that one may divide by it.
    pub fn span(&self) -> f64 {
        (self.to - self.from).max(1.0)
    }

    /// Whether the window ends at a time, as one does that follows it.
    pub fn ends_at(&self, now: f64) -> bool {
        (self.to - now).abs() < 1e-3
    }

    /// Whether a time is in the window, its ends included.
    pub fn contains(&self, at: f64) -> bool {
        self.from <= at && at <= self.to
    }
}

/// Maps a window to `width` pixels from `left`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// The window that is mapped.
    pub window: Window,
    /// The x coordinate where the window begins.
    pub left: f64,
    /// How many pixels the window takes.
    pub width: f64,
}

impl Scale {
    /// The x coordinate of a time.
    pub fn x(&self, at: f64) -> f64 {
        self.left + (at - self.window.from) / self.window.span() * self.width
    }

    /// The time at an x coordinate.
    pub fn time(&self, x: f64) -> f64 {
        self.window.from + (x - self.left) * self.ms_per_pixel()
    }

    /// The x coordinates of both ends of a stretch of time, as far as it is in the window; `None` if none of it is.
    pub fn stretch(&self, of: Window) -> Option<[f64; 2]> {
        let is_in = of.from < self.window.to && of.to > self.window.from;
        is_in.then(|| [self.clamped(of.from), self.clamped(of.to)])
    }

    /// How many milliseconds a pixel is.
    pub fn ms_per_pixel(&self) -> f64 {
        self.window.span() / self.width.max(1.0)
    }

    /// The x coordinate of a time; for a time outside the window that of its nearer end.
    pub fn clamped(&self, at: f64) -> f64 {
        self.x(at).clamp(self.left, self.left + self.width.max(0.0))
    }
}

/// The shortest window, in milliseconds: marks of one burst are distinguished in it.
pub const MIN_SPAN: f64 = 5.0;

/// The longest window, and how far back it may be moved, in milliseconds: a week.
pub const HISTORY: f64 = 604_800_000.0;

/// What the user looks at: the last seconds or minutes, or a part of the past.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewport {
    span: f64,
    /// The right end of the window; `None` while the window follows the time.
    end: Option<f64>,
}

impl Default for Viewport {
    fn default() -> Viewport {
        Viewport { span: 60_000.0, end: None }
    }
}

impl Viewport {
    /// The window to draw.
    pub fn window(&self, now: f64) -> Window {
        let to = self.end.unwrap_or(now);
        Window { from: to - self.span, to }
    }

    /// How long the window is, in milliseconds.
    pub fn span(&self) -> f64 {
        self.span
    }

    /// Whether the window follows the time.
    pub fn is_following(&self) -> bool {
        self.end.is_none()
    }

    /// Has the window follow the time again.
    pub fn follow(&mut self) {
        self.end = None;
    }

    /// Stops the window where it is.
    pub fn pause(&mut self, now: f64) {
        self.end = Some(self.end.unwrap_or(now));
    }

    /// Makes the window `factor` times as long. The time `at` stays where it is on the screen; while the window follows
    /// the time, now stays there.
    pub fn zoom(&mut self, now: f64, at: f64, factor: f64) {
        let span = (self.span * factor).clamp(MIN_SPAN, HISTORY);
        if !span.is_finite() {
            return;
        }
        if let Some(end) = self.end {
            self.end = Some(at + (end - at) * span / self.span);
        }
        self.span = span;
        self.clamp(now);
    }

    /// Moves the window by so many milliseconds, to the past if negative. A window that reaches now follows the time
    /// again.
    pub fn pan(&mut self, now: f64, by: f64) {
        let end = self.end.unwrap_or(now) + by;
        self.end = if end >= now { None } else { Some(end) };
        self.clamp(now);
    }

    /// Moves the window so that the time `at` is in its middle, as a click on the overview does.
    pub fn center(&mut self, now: f64, at: f64) {
        let by = at + self.span / 2.0 - self.end.unwrap_or(now);
        self.pan(now, by);
    }

    /// Has the window be this stretch of time. If it reaches now, it follows the time.
    pub fn set(&mut self, now: f64, window: Window) {
        self.span = window.span().clamp(MIN_SPAN, HISTORY);
        self.end = (window.to < now).then_some(window.to);
        self.clamp(now);
    }

    fn clamp(&mut self, now: f64) {
        if let Some(end) = self.end {
            self.end = Some(end.clamp(now - HISTORY + self.span, now));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn panning_to_now_follows_again_and_never_leaves_the_history() {
        let now = 1_000_000_000.0;
        let mut view = Viewport::default();
        view.pan(now, -5_000.0);
        assert!(!view.is_following());
        assert_eq!(view.window(now + 100.0), Window { from: now - 65_000.0, to: now - 5_000.0 });
        view.pan(now, -1e12);
        assert_eq!(view.window(now).from, now - HISTORY);
        view.pan(now, 1e12);
        assert!(view.is_following());
        view.zoom(now, now - 30_000.0, 1e9);
        assert_eq!((view.span(), view.is_following()), (HISTORY, true));
        // Down to milliseconds around a time of the past, on a clock that counts from 1970.
        let now = 1_790_000_000_000.0;
        view.pan(now, -3_600_000.0);
        let at = now - 4_000_000.0;
        for _ in 0..400 {
            view.zoom(now, at, 0.9);
        }
        assert_eq!(view.span(), MIN_SPAN);
        assert!(view.window(now).contains(at), "{:?}", view.window(now));
    }

    #[test]
    fn a_window_is_set_as_it_is_brushed() {
        let (now, mut view) = (1_000_000_000.0, Viewport::default());
        let wanted = Window { from: now - 20_000.0, to: now - 5_000.0 };
        view.set(now, wanted);
        assert_eq!((view.window(now + 100.0), view.is_following()), (wanted, false));
        view.set(now, Window { from: now - 20_000.0, to: now + 10.0 });
        assert!(view.is_following(), "it reaches now");
        view.set(now, Window { from: now - 5_000.0, to: now - 5_000.0 });
        assert_eq!(view.span(), MIN_SPAN);
        let scale = Scale { window: wanted, left: 100.0, width: 150.0 };
        let stretch = |from: f64, to: f64| scale.stretch(Window { from: now + from, to: now + to });
        assert_eq!(stretch(-19_000.0, -18_000.0), Some([110.0, 120.0]));
        assert_eq!(stretch(-90_000.0, -19_000.0), Some([100.0, 110.0]));
        assert_eq!((stretch(-90_000.0, -20_000.0), stretch(-5_000.0, 0.0)), (None, None));
    }

    proptest! {
        #[test]
        fn x_and_time_are_inverse(
            from in 0.0f64..1e9,
            span in 1.0f64..600_000.0,
            width in 1.0f64..4_000.0,
            part in 0.0f64..1.0,
        ) {
            let scale = Scale { window: Window { from, to: from + span }, left: 236.0, width };
            let at = from + span * part;
            prop_assert!((scale.time(scale.x(at)) - at).abs() < 1e-3);
        }

        #[test]
        fn zoom_keeps_the_point(part in 0.2f64..0.8, factor in 0.7f64..1.4) {
            let now = 10_000_000.0;
            let mut view = Viewport::default();
            view.pan(now, -200_000.0);
            let before = Scale { window: view.window(now), left: 0.0, width: 600.0 };
            let at = before.time(600.0 * part);
            view.zoom(now, at, factor);
            let after = Scale { window: view.window(now), left: 0.0, width: 600.0 };
            prop_assert!((after.x(at) - 600.0 * part).abs() < 1e-6);
        }
    }
}
