//! The page that the benchmark `drawing` opens: an hour of marks, and the canvas on which scenes of them are painted. The
//! benchmark calls it through `window.drawing`.

#[cfg(target_arch = "wasm32")]
mod hour;

#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: kubechurn_program::Allocator = kubechurn_program::Allocator;

#[cfg(target_arch = "wasm32")]
fn main() {
    hour::install();
}

#[cfg(not(target_arch = "wasm32"))]
fn main() {
    eprintln!("this page runs in a browser: `./dev bench drawing` builds and opens it.");
    std::process::exit(2);
}
