//! The lines of a recording's block, whatever they hold.

#![no_main]

#[path = "../../crates/recording/tests/properties/mod.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|data: &[u8]| properties::block(data));
