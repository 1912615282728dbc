//! A page of a list, whatever it holds.

#![no_main]

#[path = "../../crates/model/tests/it/fuzz/properties.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|data: &[u8]| properties::list(data));
