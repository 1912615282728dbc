//! An hour of marks of some objects, and what the page does to show a stretch of it: it makes a scene and paints it.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Float64Array, Object, Reflect};
use kubechurn::ui::timeline::canvas::Canvas;
use kubechurn::ui::timeline::paint::paint;
use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::object::{ObjectKey, ResourceVersion};
use kubechurn_client::api::uid::Uid;
use kubechurn_model::timeline::mark::MarkType;
use kubechurn_model::timeline::marks::{Marks, NewMark};
use kubechurn_model::timeline::scale::Window;
use kubechurn_model::timeline::scene::{Scene, TimelineView};
use kubechurn_model::timeline::{Chart, Timeline, TimelineMut};
use wasm_bindgen::JsValue;
use wasm_bindgen::closure::Closure;

/// An hour, in milliseconds.
const HOUR: f64 = 3_600_000.0;

/// So many bytes that no mark is evicted.
const ROOM: usize = 1 << 30;

/// The size of the canvas, in CSS pixels.
const SIZE: (f64, f64) = (1_440.0, 420.0);

/// An hour of marks, and what a timeline remembers of it.
struct Hour {
    marks: Marks,
    chart: Chart,
}

impl Hour {
    /// So many marks of so many objects, evenly over the hour. All are updates but one in the middle of the hour, which is a
    /// delete.
    fn new(count: usize, objects: usize) -> Hour {
        let object = |at: usize| {
            let key = ObjectKey::new("shop", &format!("web-{at:03}-5d9c7b8f6d-x2x7p"));
            (key, Uid::new(&format!("{at:08x}-8f6a-4b1d-9c2e-7a60f1b2c3d4")))
        };
        let objects: Vec<_> = (0..objects).map(object).collect();
        let mut marks = Marks::new(ROOM);
        let mut number = 7_u64;
        for at in 0..count {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // The delete is of the object whose update is the last, so that its lane is in sight.
            let is_delete = at == count / 2;
            let which = if is_delete || at + 1 == count { 0 } else { (number >> 33) as usize % objects.len() };
            let (key, uid) = &objects[which];
            let mark_type = if is_delete { MarkType::Deleted } else { MarkType::Updated };
            let resource_version = &ResourceVersion::new(&(4_000_000_000 + at).to_string());
            // The state changes after every 50 marks of an object, on average.
            let tone = [Tone::Good, Tone::Wait][(number >> 44) as usize % 50 / 49];
            let mark = NewMark { key, uid, mark_type, resource_version, folded: 1, tone };
            marks.push(HOUR * (at + 1) as f64 / count as f64, mark);
        }
        Hour { marks, chart: Chart::default() }
    }

    /// The scene of a stretch of the hour.
    fn scene(&mut self, window: Window) -> &Scene {
        let (width, height) = SIZE;
        let view = TimelineView { width, height, window, ..TimelineView::default() };
        TimelineMut::new(vec![&self.marks], &mut self.chart).scene(&view, HOUR);
        Timeline::new(Vec::new(), &self.chart).last_scene()
    }
}

/// Installs the functions of `window.drawing`:
///
/// - `fill(slot, count, objects)` makes an hour of so many marks of so many objects, under the number `slot`;
/// - `scene(slot, from, to)` makes the scene of a stretch of it, in milliseconds;
/// - `show(slot, from, to)` makes the scene, and paints it;
/// - `times(slot)` returns when each mark was made, in milliseconds from the beginning of the hour.
pub fn install() {
    console_error_panic_hook::set_once();
    let canvas = web_sys::window()
        .and_then(|window| window.document())
        .and_then(|document| document.query_selector("canvas").ok().flatten())
        .and_then(|element| wasm_bindgen::JsCast::dyn_into(element).ok());
    let Some(mut canvas) = canvas.and_then(Canvas::new) else { return };
    canvas.resize(SIZE.0, SIZE.1, 1.0);
    let hours: Rc<RefCell<Vec<Hour>>> = Rc::default();
    let handle = Object::new();
    let offer = |name: &str, function: JsValue| drop(Reflect::set(&handle, &name.into(), &function));

    let this = hours.clone();
    let fill = move |slot: usize, count: usize, objects: usize| {
        let mut hours = this.borrow_mut();
        hours.truncate(slot);
        hours.push(Hour::new(count, objects));
    };
    offer("fill", Closure::<dyn Fn(usize, usize, usize)>::new(fill).into_js_value());
    let this = hours.clone();
    let scene = move |slot: usize, from: f64, to: f64| {
        if let Some(hour) = this.borrow_mut().get_mut(slot) {
            hour.scene(Window { from, to });
        }
    };
    offer("scene", Closure::<dyn Fn(usize, f64, f64)>::new(scene).into_js_value());
    let this = hours.clone();
    let show = move |slot: usize, from: f64, to: f64| {
        if let Some(hour) = this.borrow_mut().get_mut(slot) {
            paint(&canvas, hour.scene(Window { from, to }));
        }
    };
    offer("show", Closure::<dyn Fn(usize, f64, f64)>::new(show).into_js_value());
    let times = move |slot: usize| {
        let hours = hours.borrow();
        let times: Vec<f64> =
            hours.get(slot).into_iter().flat_map(|hour| hour.marks.iter().map(|mark| mark.at)).collect();
        JsValue::from(Float64Array::from(times.as_slice()))
    };
    offer("times", Closure::<dyn Fn(usize) -> JsValue>::new(times).into_js_value());

    let _ = Reflect::set(&js_sys::global(), &"drawing".into(), &handle);
}
