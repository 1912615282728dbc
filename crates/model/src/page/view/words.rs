//! Figures in words.

use kubechurn_client::api::time::write_human_duration;

/// Seconds, to a tenth below ten; then as kubectl prints them.
pub fn seconds(milliseconds: f64) -> String {
    if milliseconds < 9_950.0 {
        return format!("{:.1} s", milliseconds / 1000.0);
    }
    let mut text = String::new();
    write_human_duration((milliseconds / 1000.0) as i64, &mut text);
    text
}

/// So many bytes a second.
pub fn bytes(per_second: f64) -> String {
    format!("{}/s", bytes_of(per_second))
}

/// So many bytes.
pub fn bytes_of(bytes: f64) -> String {
    match bytes {
        bytes if bytes >= 1e6 => format!("{:.1} MB", bytes / 1e6),
        bytes => format!("{:.0} kB", bytes / 1e3),
    }
}
