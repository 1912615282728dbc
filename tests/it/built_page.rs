//! What the page is built from: its security policy, the cluster's name that `./dev serve` writes into it, and what Trunk
//! watches.

use std::fs;
use std::path::Path;
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The text that `./dev serve` has Trunk write into the page for a cluster with this name.
fn written(name: &str) -> String {
    let script = Path::new(ROOT).join("dev");
    let made = Command::new("sh").arg(script).args(["config", "127.0.0.1:1", "secret", name]).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    let config = String::from_utf8(made.stdout).unwrap();
    let line = config.lines().find(|line| line.starts_with("pattern_params = ")).unwrap();
    line.strip_prefix("pattern_params = { cluster = \"").and_then(|rest| rest.strip_suffix("\" }")).unwrap().to_owned()
}

#[test]
fn a_cluster_s_name_is_neither_markup_nor_a_file() {
    for (name, expected) in [
        ("kind-development", "kind-development"),
        ("arn:aws:eks:eu-west-1:1:cluster/shop", "arn:aws:eks:eu-west-1:1:cluster/shop"),
        ("me@shop", "me@shop"),
        ("", ""),
        // Trunk would replace such a value with the content of the file that it names.
        ("@/etc/hostname", "_/etc/hostname"),
        ("\"><script>alert(1)</script>", "___script_alert_1__/script_"),
        ("a&b|c\\d\n{wasm}", "a_b_c_d__wasm_"),
    ] {
        assert_eq!(written(name), expected, "{name:?}");
    }
}

/// What Trunk does not watch is not built anew when it is saved.
#[test]
fn trunk_watches_every_crate_of_the_page() {
    let read = |name: &str| fs::read_to_string(Path::new(ROOT).join(name)).unwrap();
    let trunk = read("Trunk.toml");
    let watched = trunk.lines().find(|line| line.starts_with("watch = ")).unwrap();
    for manifest in ["Cargo.toml", "crates/model/Cargo.toml", "crates/program/Cargo.toml"] {
        let text = read(manifest);
        let built = text.split("dev-dependencies").next().unwrap_or_default().lines();
        let names = built.filter_map(|line| line.strip_prefix("kubechurn-")?.strip_suffix(" = { workspace = true }"));
        let names: Vec<&str> = names.collect();
        assert!(!names.is_empty(), "{manifest} names no crate of the project");
        let missing: Vec<&str> =
            names.into_iter().filter(|name| !watched.contains(&format!("\"crates/{name}/src\""))).collect();
        assert!(missing.is_empty(), "{manifest}: {missing:?} are not in {watched}");
    }
}

#[test]
fn the_page_s_own_policy_lets_only_its_files_run() {
    let page = fs::read_to_string(Path::new(ROOT).join("index.html")).unwrap();
    let (_, policy) = page.split_once("http-equiv=\"Content-Security-Policy\" content=\"").unwrap();
    let (policy, rest) = policy.split_once('"').unwrap();
    let directive = |name: &str| {
        let mut directives = policy.split(';').map(str::split_whitespace);
        let found = directives.find_map(|mut words| (words.next() == Some(name)).then(|| words.collect::<Vec<_>>()));
        found.unwrap_or_else(|| panic!("no {name} in {policy}"))
    };
    assert_eq!(directive("default-src"), ["'none'"]);
    assert_eq!(directive("script-src"), ["'self'", "'wasm-unsafe-eval'"]);
    assert_eq!(directive("style-src"), ["'self'"]);
    assert_eq!(directive("img-src"), ["data:"]);
    assert_eq!((directive("base-uri"), directive("form-action")), (vec!["'none'"], vec!["'none'"]));
    // The policy does not cover what comes before it, and it forbids scripts within the page.
    assert!(!page[..page.len() - rest.len()].contains("<script"));
    assert!(rest.split("<script").skip(1).all(|script| script.split_once('>').unwrap().0.contains(" src=")));
}
