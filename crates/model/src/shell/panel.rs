//! The sizes of the panels that the user drags: the sidebar, the inspector and the labels of lanes in width, the timeline
//! in height. A size is stored for the next visit, and is never so great that the table has no room.

/// A panel with a size that the user can choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Panel {
    /// The sidebar, at the left; its size is its width.
    Sidebar,
    /// The timeline, at the bottom; its size is its height.
    Timeline,
    /// The inspector, at the right; its size is its width.
    Inspector,
    /// The labels of the timeline's lanes; their size is the width of their column.
    Labels,
}

/// The width that the sidebar is taken to have unless the user chose a greater one, in pixels.
const SIDEBAR: f64 = 276.0;
/// How much width sidebar and inspector leave to the table at least, in pixels.
const TABLE_WIDTH: f64 = 144.0;
/// How much height the timeline leaves to header, table and footer at least, in pixels.
const TABLE_HEIGHT: f64 = 260.0;

impl Panel {
    /// Every panel, in the order of [`PanelSizes`].
    pub const ALL: [Panel; 4] = [Panel::Sidebar, Panel::Timeline, Panel::Inspector, Panel::Labels];

    /// The least size, in pixels.
    pub fn least(self) -> f64 {
        match self {
            Panel::Sidebar => 150.0,
            Panel::Timeline => 110.0,
            Panel::Inspector => 320.0,
            Panel::Labels => 60.0,
        }
    }

    /// The panel's name.
    pub fn name(self) -> &'static str {
        match self {
            Panel::Sidebar => "sidebar",
            Panel::Timeline => "timeline",
            Panel::Inspector => "inspector",
            Panel::Labels => "labels",
        }
    }

    /// The name under which the browser stores the size.
    pub fn key(self) -> &'static str {
        match self {
            Panel::Sidebar => "kubechurn.sidebar-width",
            Panel::Timeline => "kubechurn.timeline-height",
            Panel::Inspector => "kubechurn.inspector",
            Panel::Labels => "kubechurn.labels",
        }
    }

    /// The style variable that has the size.
    pub fn css_variable(self) -> &'static str {
        match self {
            Panel::Sidebar => "--sidebar",
            Panel::Timeline => "--timeline",
            Panel::Inspector => "--inspector",
            Panel::Labels => "--labels",
        }
    }

    /// The side of the window that limits the panel, and how much of this side the panel leaves free, in pixels.
    fn limits(self, window: Window, sidebar: f64) -> (f64, f64) {
        match self {
            Panel::Sidebar => (window.width, (window.width * 0.6).round()),
            Panel::Timeline => (window.height, TABLE_HEIGHT),
            Panel::Inspector => (window.width, TABLE_WIDTH + sidebar.max(SIDEBAR)),
            Panel::Labels => (window.width, (window.width * 0.4).round()),
        }
    }
}

/// The size of the browser's window, in CSS pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    pub width: f64,
    pub height: f64,
}

impl Default for Window {
    /// What a window is taken for that does not say how large it is.
    fn default() -> Window {
        Window { width: 1440.0, height: 900.0 }
    }
}

/// The size of a panel as it is shown, in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PanelSize {
    /// The size that the user chose, limited to the window; `None` for the default size.
    pub chosen: Option<f64>,
    /// The greatest size that the window allows.
    pub most: f64,
}

/// The size of each panel, as it is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PanelSizes([PanelSize; Panel::ALL.len()]);

impl PanelSizes {
    /// The size of one panel.
    pub fn of(&self, panel: Panel) -> PanelSize {
        self.0[panel as usize]
    }
}

/// The sizes that the user chose, before they are limited to the window: a larger window may have room for them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChosenSizes([Option<f64>; Panel::ALL.len()]);

impl ChosenSizes {
    /// The sizes of an earlier visit: `stored` gives what the browser stored under a name.
    pub fn stored(stored: impl Fn(&str) -> Option<String>) -> ChosenSizes {
        ChosenSizes(Panel::ALL.map(|panel| read(&stored(panel.key())?)))
    }

    /// The size that the user chose for a panel, as the browser stores it; `None` for the default size.
    pub fn text(&self, panel: Panel) -> Option<String> {
        self.0[panel as usize].map(|size| size.to_string())
    }

    /// Takes the possible size of a panel that is closest to the wanted one; `None` is the default size.
    pub fn choose(&mut self, panel: Panel, wanted: Option<f64>, window: Window) {
        self.0[panel as usize] = wanted.map(|wanted| self.fit(panel, wanted, window));
    }

    /// The sizes as a window of this size can show them.
    pub fn fitted(&self, window: Window) -> PanelSizes {
        PanelSizes(Panel::ALL.map(|panel| PanelSize {
            chosen: self.0[panel as usize].map(|wanted| self.fit(panel, wanted, window)),
            most: self.most(panel, window),
        }))
    }

    fn most(&self, panel: Panel, window: Window) -> f64 {
        let sidebar = match (panel, self.0[Panel::Sidebar as usize]) {
            (Panel::Inspector, Some(wanted)) => self.fit(Panel::Sidebar, wanted, window),
            _ => SIDEBAR,
        };
        let (side, left_over) = panel.limits(window, sidebar);
        (side - left_over).max(panel.least()).min(side)
    }

    fn fit(&self, panel: Panel, wanted: f64, window: Window) -> f64 {
        wanted.max(panel.least()).min(self.most(panel, window)).round()
    }
}

/// Reads a stored size; `None` for any other text.
fn read(text: &str) -> Option<f64> {
    text.parse().ok().filter(|size: &f64| size.is_finite() && *size > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(panel: Panel, wanted: f64, window: [f64; 2]) -> f64 {
        let window = Window { width: window[0], height: window[1] };
        let mut sizes = ChosenSizes::default();
        sizes.choose(panel, Some(wanted), window);
        sizes.fitted(window).of(panel).chosen.expect("a size was chosen")
    }

    #[test]
    fn no_panel_reaches_beyond_the_window() {
        for (panel, wanted, window, expected) in [
            (Panel::Inspector, 500.4, [1440.0, 900.0], 500.0),
            (Panel::Inspector, 5_000.0, [1440.0, 900.0], 1020.0),
            (Panel::Inspector, f64::INFINITY, [1024.0, 700.0], 604.0),
            (Panel::Inspector, 10.0, [1440.0, 900.0], 320.0),
            (Panel::Inspector, -1e300, [1440.0, 900.0], 320.0),
            (Panel::Inspector, f64::NAN, [1440.0, 900.0], 320.0),
            (Panel::Inspector, 900.0, [700.0, 900.0], 320.0),
            (Panel::Inspector, 900.0, [200.0, 900.0], 200.0),
            (Panel::Inspector, 900.0, [0.0, 0.0], 0.0),
            (Panel::Sidebar, 300.0, [1440.0, 900.0], 300.0),
            (Panel::Sidebar, f64::INFINITY, [1440.0, 900.0], 576.0),
            (Panel::Sidebar, f64::NAN, [1440.0, 900.0], 150.0),
            (Panel::Sidebar, 900.0, [100.0, 900.0], 100.0),
            (Panel::Timeline, 400.0, [1440.0, 900.0], 400.0),
            (Panel::Timeline, f64::INFINITY, [1440.0, 900.0], 640.0),
            (Panel::Timeline, -3.0, [1440.0, 900.0], 110.0),
            (Panel::Timeline, 900.0, [1440.0, 300.0], 110.0),
            (Panel::Labels, 300.0, [1440.0, 900.0], 300.0),
            (Panel::Labels, f64::INFINITY, [1440.0, 900.0], 864.0),
            (Panel::Labels, 1.0, [1440.0, 900.0], 60.0),
        ] {
            assert_eq!(fitted(panel, wanted, window), expected, "{panel:?}: {wanted} in {window:?}");
        }
    }

    #[test]
    fn a_wide_sidebar_takes_its_width_from_the_inspector_and_not_from_the_table() {
        let window = Window { width: 1440.0, height: 900.0 };
        let mut sizes = ChosenSizes::default();
        sizes.choose(Panel::Inspector, Some(f64::INFINITY), window);
        sizes.choose(Panel::Sidebar, Some(400.0), window);
        let shown = sizes.fitted(window);
        assert_eq!(shown.of(Panel::Inspector), PanelSize { chosen: Some(896.0), most: 896.0 });
        sizes.choose(Panel::Sidebar, None, window);
        assert_eq!(sizes.fitted(window).of(Panel::Inspector).chosen, Some(1020.0), "the choice was kept");
    }

    #[test]
    fn what_was_kept_and_is_no_size_is_nothing() {
        for (text, expected) in [
            ("640", Some(640.0)),
            ("1e9", Some(1e9)),
            ("", None),
            ("NaN", None),
            ("inf", None),
            ("-3", None),
            ("6px", None),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn each_size_is_stored_under_a_name_of_its_own() {
        for panel in Panel::ALL {
            let sizes = ChosenSizes::stored(|name| (name == panel.key()).then(|| String::from("333")));
            let found = Panel::ALL.map(|other| sizes.text(other));
            assert_eq!(found, Panel::ALL.map(|other| (other == panel).then(|| String::from("333"))));
        }
    }
}
