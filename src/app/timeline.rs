//! The timeline on its canvas: when it is painted, and what the pointer does to it.

use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;

use kubechurn_model::timeline::scale::Viewport;
use kubechurn_model::timeline::scene::{TimelineView, duration};

use crate::app::{Page, Shared, document, travel};
use crate::browser::clock;
use crate::ui::screen::{Command, Commands, put};
use crate::ui::timeline::CANVAS;
use crate::ui::timeline_canvas::Painter;

/// How often the words that stand for the canvas are renewed, in milliseconds.
const WORDS: f64 = 1_000.0;

/// What the user sees of the timeline.
#[derive(Debug, Default)]
pub(super) struct Stage {
    painter: Option<Painter>,
    viewport: Viewport,
    width: f64,
    height: f64,
    scroll: usize,
    hover: Option<(f64, f64)>,
    /// Paint whether or not anything changed.
    must: bool,
    told: f64,
}

/// Finds the canvas, which the view has put into the document, and follows its size.
pub(super) fn attach(page: &Shared, commands: Commands) {
    let canvas = document().and_then(|document| document.get_element_by_id(CANVAS));
    let Some(canvas) = canvas.and_then(|canvas| canvas.dyn_into::<web_sys::HtmlCanvasElement>().ok()) else { return };
    let observed = canvas.clone();
    let resized = Closure::<dyn FnMut()>::new(move || {
        let (width, height) = (f64::from(observed.client_width()), f64::from(observed.client_height()));
        commands.send(Command::TimelineSize(width, height));
    });
    if let Ok(observer) = web_sys::ResizeObserver::new(resized.as_ref().unchecked_ref()) {
        observer.observe(&canvas);
    }
    // The canvas lives as long as the page.
    resized.forget();
    page.borrow_mut().stage.painter = Painter::new(canvas);
}

impl Stage {
    pub(super) fn theme_changed(&mut self) {
        if let Some(painter) = &mut self.painter {
            painter.read_theme();
        }
        self.must = true;
    }

    fn resize(&mut self, width: f64, height: f64) {
        (self.width, self.height, self.must) = (width, height, true);
        let ratio = web_sys::window().map_or(1.0, |window| window.device_pixel_ratio());
        if let Some(painter) = &mut self.painter {
            painter.resize(width, height, ratio);
        }
    }

    /// A paused page shows a still picture; going live follows the time again.
    pub(super) fn pause(&mut self, paused: bool, now: f64) {
        if paused { self.viewport.pause(now) } else { self.viewport.follow() }
    }
}

impl Page {
    /// Paints the timeline of what is in view, if there is anything new to see.
    pub(super) fn paint(&mut self, now: f64) {
        let selected = self.selected_number();
        // The one that is looked at has a lane, whether or not anything is left that happened to it.
        if let Some((kind, key)) = &selected {
            self.watches.attend(*kind, key);
        }
        let Some(mut timeline) = self.watches.timeline_mut() else { return };
        let stage = &mut self.stage;
        let view = TimelineView {
            width: stage.width,
            height: stage.height,
            window: stage.viewport.window(now),
            scroll: stage.scroll,
            hold: stage.hover.is_some(),
            selected,
            hover: stage.hover,
        };
        if stage.width < 1.0 || !(std::mem::take(&mut stage.must) || timeline.is_due(&view, now)) {
            return;
        }
        let scene = timeline.scene(&view, now);
        if let Some(painter) = &stage.painter {
            painter.paint(scene);
        }
        if now - stage.told >= WORDS {
            stage.told = now;
            put(self.screen.summary, scene.summary());
        }
        put(self.screen.following, stage.viewport.is_following());
        put(self.screen.span, format!("last {}", duration(stage.viewport.span())));
        let words = stage.hover.and_then(|(x, y)| timeline.hit(x, y)).map(|hit| match hit.at() {
            Some(at) => format!("{} {hit}", time_of_day(at)),
            None => hit.to_string(),
        });
        put(self.screen.hover, words.unwrap_or_default());
    }

    pub(super) fn obey_on_timeline(&mut self, command: Command, now: f64) {
        if let Command::TimelineSize(width, height) = command {
            return self.stage.resize(width, height);
        }
        let Some(timeline) = self.watches.timeline() else { return };
        let stage = &mut self.stage;
        let scene = timeline.last_scene();
        match command {
            Command::TimelineHover(place) => stage.hover = place,
            Command::TimelineClick(x, y) if y >= scene.layout.strip_top && y <= scene.layout.strip_bottom => {
                stage.viewport.center(now, scene.strip.time(x));
            }
            Command::TimelineClick(x, y) => {
                let owner = timeline.hit(x, y).and_then(|hit| hit.owner().cloned());
                let chosen = owner.and_then(|owner| Some((self.layout.schema().kind(owner.kind)?, owner.key)));
                let chosen = chosen.filter(|chosen| self.selected.as_ref() != Some(chosen));
                if let Some((kind, key)) = &chosen {
                    self.remember(kind.name, key);
                }
                travel::push(&self.route.selecting(chosen.as_ref().map(|(kind, key)| (kind.name, key))));
            }
            Command::TimelineScroll(by) => {
                let most = scene.scrollable.saturating_sub(scene.layout.rows);
                stage.scroll = stage.scroll.saturating_add_signed(by as isize).min(most);
            }
            Command::TimelineZoom(factor, x) => {
                let at = x.map_or(now, |x| scene.scale.time(x));
                stage.viewport.zoom(now, at, factor);
            }
            Command::TimelinePan(by) => stage.viewport.pan(now, -by * scene.scale.ms_per_pixel()),
            Command::TimelineFollow => stage.viewport.follow(),
            _ => {}
        }
    }
}

/// The time of day by the browser's clock, to the millisecond, as that is set now.
pub(super) fn time_of_day(at: f64) -> String {
    let date = js_sys::Date::new(&(at + clock::to_wall()).into());
    let (hours, minutes, seconds) = (date.get_hours(), date.get_minutes(), date.get_seconds());
    format!("{hours:02}:{minutes:02}:{seconds:02}.{:03}", date.get_milliseconds())
}
