//! What the page does with a text frame, from the string that the socket delivers to the row of the table.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Array, JsString, Object, Reflect};
use kubechurn::browser::text::Transcript;
use kubechurn_client::api::time::Timestamp;
use kubechurn_client::cache::backoff::Moment;
use kubechurn_client::cache::handler::{Handled, HandlerOptions, ResourceEventHandler};
use kubechurn_client::cache::processor::HandlerId;
use kubechurn_client::cache::reflector::{Input, LONGEST_FRAME};
use kubechurn_client::cache::shared_informer::{InformerOptions, SharedInformer};
use kubechurn_client::cache::store::Change;
use kubechurn_columns::kinds::pods;
use kubechurn_model::table::view::TableView;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};

use crate::pods::{Cluster, SHAPES};

/// The number of distinct Pods, each of which is updated repeatedly.
const PODS: usize = 500;

/// The number of watch frames between two drains of the queue: a burst between two frames of the screen.
const BURST: u32 = 50;

/// The end of a streaming list.
const SYNCED: &str = r#"{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"1","annotations":{"k8s.io/initial-events-end":"true"}}}}"#;

/// The time and the random number of every input: nothing here waits.
const MOMENT: Moment = Moment { now: 0.0, random: 0.0 };

/// One watch of Pods of one shape, synced before the first round.
struct Bench {
    cluster: Cluster,
    informer: SharedInformer,
    table: HandlerId,
    rows: Rows,
    version: u64,
    transcript: Transcript,
}

/// Passes the changes of the store on to the table.
#[derive(Default)]
struct Rows(TableView);

impl ResourceEventHandler for Rows {
    fn changed(&mut self, now: f64, change: &Change) -> Handled {
        self.0.apply(change, now);
        Ok(())
    }
}

/// Installs the functions of `window.frames`:
///
/// - `start(shape)` starts again with Pods of that shape;
/// - `build(characters)` returns the next MODIFIED frames, of that many characters in total, each a string of its own
///   like those of a socket: decoded from bytes, flat, and not used before;
/// - `run(frames)` processes them up to their rows;
/// - `rows()` returns the table's rows from the top, each as key, uid, version and the cells that do not change with time.
pub fn install() {
    console_error_panic_hook::set_once();
    let bench: Rc<RefCell<Option<Bench>>> = Rc::default();
    let handle = Object::new();
    let offer = |name: &str, function: JsValue| drop(Reflect::set(&handle, &name.into(), &function));

    let this = bench.clone();
    let start = move |shape: usize| drop(this.replace(Some(Bench::start(shape))));
    offer("start", Closure::<dyn Fn(usize)>::new(start).into_js_value());
    let this = bench.clone();
    let build = move |characters: usize| {
        this.borrow_mut().as_mut().map_or(JsValue::UNDEFINED, |bench| bench.build(characters).into())
    };
    offer("build", Closure::<dyn Fn(usize) -> JsValue>::new(build).into_js_value());
    let this = bench.clone();
    let run = move |frames: Array| {
        if let Some(bench) = this.borrow_mut().as_mut() {
            bench.run(&frames);
        }
    };
    offer("run", Closure::<dyn Fn(Array)>::new(run).into_js_value());
    let rows = move || bench.borrow().as_ref().map_or(JsValue::UNDEFINED, |bench| bench.rows().into());
    offer("rows", Closure::<dyn Fn() -> JsValue>::new(rows).into_js_value());

    let _ = Reflect::set(&js_sys::global(), &"frames".into(), &handle);
}

impl Bench {
    fn start(shape: usize) -> Bench {
        let cluster = Cluster::new(SHAPES[shape].1, PODS);
        let mut informer = SharedInformer::new(pods::KIND.decode, InformerOptions::default());
        let table = informer.add_event_handler(HandlerOptions::default(), 0.0);
        let (rows, transcript) = (Rows::default(), Transcript::default());
        let mut bench = Bench { cluster, informer, table, rows, version: 100_000, transcript };
        bench.input(Input::Start);
        bench.input(Input::Opened);
        for pod in 0..PODS {
            let frame = bench.cluster.frame("ADDED", pod, bench.version);
            bench.input(Input::Frame(&frame));
            bench.version += 1;
        }
        bench.input(Input::Frame(SYNCED));
        bench.drain();
        bench
    }

    fn build(&mut self, characters: usize) -> Array {
        let frames = Array::new();
        let mut built = 0;
        while built < characters {
            let frame = self.cluster.frame("MODIFIED", self.version as usize % PODS, self.version);
            built += frame.len();
            frames.push(&JsValue::from_str(&frame));
            self.version += 1;
        }
        frames
    }

    /// Does for each frame what the page does for a message: checks that its data is a string, copies the text into
    /// wasm's memory, and hands it to the core. The queue is drained after every [`BURST`] frames.
    fn run(&mut self, frames: &Array) {
        for at in 0..frames.length() {
            let Ok(text) = frames.get(at).dyn_into::<JsString>() else { continue };
            let Ok(bytes) = self.transcript.read(&text, LONGEST_FRAME) else { continue };
            self.informer.handle(Input::Bytes(bytes), MOMENT);
            if at % BURST == BURST - 1 {
                self.drain();
            }
        }
        self.drain();
    }

    /// Handles an input and the actions that follow from it, including the creation of an informer.
    fn input(&mut self, input: Input<'_>) {
        self.informer.handle(input, MOMENT);
    }

    fn drain(&mut self) {
        self.informer.drain(usize::MAX, 0.0);
        self.informer.deliver(self.table, &mut self.rows);
    }

    fn rows(&self) -> Array {
        let view = &self.rows.0;
        let rows = view.window(0, view.len()).into_iter().filter_map(|id| view.row(id));
        let lines = rows.map(|row| {
            let mut line = format!("{} {} {}", row.object.key, row.object.uid, row.object.resource_version);
            for cell in row.object.cells.iter().filter(|cell| !cell.changes_with_time()) {
                line.push(' ');
                cell.write(Timestamp(0), &mut line);
            }
            JsValue::from(line)
        });
        lines.collect()
    }
}
