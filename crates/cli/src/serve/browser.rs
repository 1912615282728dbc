//! Opens the page in the user's browser.

use std::env;
use std::ffi::OsString;
use std::process::Stdio;

use tokio::process::Command;

/// Opens the address, with the same programs as `kubectl churn`, and waits until the program that was asked to do it ends, which
/// may be the browser. Returns whether there is one, and it had no complaint.
pub async fn open(url: &str) -> bool {
    let Some(program) = program(cfg!(target_os = "macos"), |name| env::var_os(name)) else { return false };
    let mut command = Command::new(program);
    // The browser outlives this program.
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    command.status().await.is_ok_and(|status| status.success())
}

/// The program that opens an address: macOS has its own, and elsewhere the environment names one, or has a screen.
fn program(is_mac: bool, variable: impl Fn(&str) -> Option<OsString>) -> Option<OsString> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    if is_mac {
        return Some("open".into());
    }
    let screen = || set("DISPLAY").or_else(|| set("WAYLAND_DISPLAY"));
    set("BROWSER").or_else(|| screen().map(|_| "xdg-open".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_is_where_the_system_says() {
        let check = |is_mac, set: &[(&str, &str)], expected: Option<&str>| {
            let variable = |name: &str| set.iter().find(|(own, _)| *own == name).map(|(_, value)| value.into());
            assert_eq!(program(is_mac, variable), expected.map(OsString::from), "{set:?}");
        };
        check(true, &[], Some("open"));
        check(false, &[], None);
        check(false, &[("DISPLAY", "")], None);
        check(false, &[("DISPLAY", ":0")], Some("xdg-open"));
        check(false, &[("WAYLAND_DISPLAY", "wayland-0")], Some("xdg-open"));
        check(false, &[("DISPLAY", ":0"), ("BROWSER", "firefox")], Some("firefox"));
    }
}
