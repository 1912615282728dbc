//! The page that the benchmark `frames` opens: the way of a watch frame from the browser's string to its row, without a
//! socket and without a document. The benchmark calls it through `window.frames`.

#[cfg(target_arch = "wasm32")]
mod pods;

#[cfg(target_arch = "wasm32")]
mod way;

#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: kubechurn_program::Allocator = kubechurn_program::Allocator;

#[cfg(target_arch = "wasm32")]
fn main() {
    way::install();
}

#[cfg(not(target_arch = "wasm32"))]
fn main() {
    eprintln!("this page runs in a browser: `./dev bench frames` builds and opens it.");
    std::process::exit(2);
}
