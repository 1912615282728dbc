//! The page's entry point. Everything it does is in the library.

#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: kubechurn_program::Allocator = kubechurn_program::Allocator;

#[cfg(target_arch = "wasm32")]
fn main() {
    kubechurn::app::mount();
}

#[cfg(not(target_arch = "wasm32"))]
fn main() {
    eprintln!("kubechurn runs in a browser: start it with `./dev serve`, or build its files with `./dev build`.");
    std::process::exit(2);
}
