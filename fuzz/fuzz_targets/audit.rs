//! The lines of an audit log and the versions that they are joined to, whatever they hold.

#![no_main]

#[path = "../../crates/changes/tests/properties/audit.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|data: &[u8]| properties::log(data));
