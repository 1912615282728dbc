//! The lines of a recording's block, whatever they hold, and those of the index at the end of one.

#![no_main]

#[path = "../../crates/recording/tests/properties/mod.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    properties::block(data);
    let _ = properties::index(data);
});
