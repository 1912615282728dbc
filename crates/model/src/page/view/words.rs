//! Numbers written for people.

use kubechurn_client::api::time::write_human_duration;

/// A duration in seconds: to a tenth below ten seconds, then as kubectl prints durations.
pub fn seconds(milliseconds: f64) -> String {
    if milliseconds < 9_950.0 {
        return format!("{:.1} s", milliseconds / 1000.0);
    }
    let mut text = String::new();
    write_human_duration((milliseconds / 1000.0) as i64, &mut text);
    text
}

/// A rate in bytes per second.
pub fn bytes(per_second: f64) -> String {
    format!("{}/s", bytes_of(per_second))
}

/// A number of bytes.
pub fn bytes_of(bytes: f64) -> String {
    match bytes {
        bytes if bytes >= 1e6 => format!("{:.1} MB", bytes / 1e6),
        bytes => format!("{:.0} kB", bytes / 1e3),
    }
}
