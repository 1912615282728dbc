//! Takes the pictures of docs/pictures: the page on the demo cluster in each of its states, dark and light, at two
//! sizes.
//!
//! Run it with `./dev pictures`, or with `cargo bench --bench pictures` after the page and the demo cluster are built.
//! Arguments after `--` select the states. Nothing compares the pictures, so look at them.

// The states of the page in the pictures.
mod states;

fn main() {
    // `cargo test --all-targets` runs a benchmark without this flag, to see that it starts.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("the runtime starts").block_on(states::take(&wanted));
}
