//! Rules that no compiler checks: which module may depend on which, what must not be written, and how long a file may
//! be.

use std::fs;
use std::path::{Path, PathBuf};

pub const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Each folder, and what its code must not name; `ARCHITECTURE.md` gives the reasons. The compiler makes sure that no crate
/// names one that depends on it.
const RULES: &[(&str, &[&str])] = &[
    ("crates/client/src/json", &["crate::workqueue", "crate::record", "crate::cache", "crate::api"]),
    ("crates/client/src/api", &["crate::workqueue", "crate::record", "crate::cache"]),
    ("crates/client/src/workqueue", &["crate::api", "crate::record", "crate::cache"]),
    ("crates/client/src/record", &["crate::api", "crate::cache"]),
    ("crates/client/src/cache", &["crate::workqueue", "crate::record"]),
    ("crates/changes/src", &[]),
    ("crates/columns/src", &[]),
    ("crates/recorder/src", &["kubechurn_columns"]),
    ("crates/model/src", &[]),
    // It passes on what a cluster says, and reads nothing of it.
    ("crates/cli/src/serve", &["kubechurn_client", "kubechurn_columns", "kubechurn_model", "serde"]),
    ("src/ui", &["crate::browser", "crate::app"]),
    ("src/browser", &["kubechurn_columns", "kubechurn_model", "crate::ui", "crate::app"]),
];

/// The modules of the demo cluster from the bottom up: none names a later one.
const CLUSTER: &[&str] = &[
    "clock",
    "random",
    "storage",
    "resources",
    "status",
    "printers",
    "cacher",
    "request",
    "client",
    "store",
    "faults",
    "ledger",
    "log_ends",
    "api",
    "write",
    "endpoints",
    "controllers",
    "scenario",
    "control",
    "args",
    "bootstrap",
    "audit",
    "server",
];

/// What no code outside tests may contain, and the reason or the alternative.
const WORDS: &[(&str, &str)] = &[
    ("inner_html", "names come from strangers and are only ever shown as text"),
    (".unwrap()", "`expect` states the invariant that it relies on"),
    ("panic!(", "untrusted input is no reason to stop"),
    ("todo!(", "unfinished"),
    ("unimplemented!(", "unfinished"),
];

/// The most lines of a file. What lies where is a matter of its subject, and `layout` holds it.
const LONGEST: usize = 800;

#[test]
fn dependencies_point_one_way() {
    let mut wrong = Vec::new();
    for (room, forbidden) in RULES {
        for path in room_files(room) {
            for (number, line) in code(&path) {
                let named = forbidden.iter().filter(|other| names(&line, other));
                wrong.extend(named.map(|other| format!("{}:{number} names {other}", path.display())));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_demo_cluster_stands_on_what_is_below() {
    let mut wrong = Vec::new();
    for (at, room) in CLUSTER.iter().enumerate() {
        let files = room_files(&format!("crates/cluster/src/{room}"));
        assert!(!files.is_empty(), "there is no {room}");
        for path in files {
            for (number, line) in code(&path) {
                let named = CLUSTER[at + 1..].iter().filter(|above| names(&line, &format!("crate::{above}")));
                wrong.extend(named.map(|above| format!("{}:{number} names {above}", path.display())));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let all = files("crates/cluster/src", &["rs"]).into_iter();
    let is_known = |path: &PathBuf| {
        let ends = ["lib.rs", "main.rs"].iter().any(|end| path.ends_with(end));
        ends || ["tests"].iter().chain(CLUSTER).any(|room| in_room(path, &format!("crates/cluster/src/{room}")))
    };
    let strange: Vec<PathBuf> = all.filter(|path| !is_known(path)).collect();
    assert!(strange.is_empty(), "in none of these modules: {strange:?}");
}

#[test]
fn only_app_joins_browser_and_ui() {
    for path in files("src", &["rs"]) {
        let lines = code(&path);
        let both = ["crate::browser", "crate::ui"].iter().all(|room| lines.iter().any(|(_, line)| names(line, room)));
        let is_app = path.ends_with("src/app.rs") || path.starts_with(Path::new(ROOT).join("src/app"));
        assert!(!both || is_app, "{} names browser and ui", path.display());
    }
}

/// The most lines of the program's code outside `crates/model` and `src/ui`: decisions belong to `crates/model`. A recording
/// that is shown in place of the cluster has a page of its own, whose surroundings take some 300 of them, and the private file
/// system takes some 300; the logs of containers, which come as long as they are read, take 40; and that the browser compresses
/// and unpacks in pieces, so that no task is long, takes 25.
const SHELL: usize = 2_870;

#[test]
fn the_shell_is_thin() {
    let is_shell = |path: &PathBuf| !in_room(path, "src/ui");
    let lines = |path: PathBuf| fs::read_to_string(path).unwrap().lines().count();
    let all: usize = files("src", &["rs"]).into_iter().filter(is_shell).map(lines).sum();
    assert!(all <= SHELL, "src without ui has {all} lines");
}

#[test]
fn what_no_code_may_say() {
    let mut wrong = Vec::new();
    for path in files("src", &["rs"]).into_iter().chain(files("crates", &["rs"])) {
        let careful = RULES.iter().any(|(room, _)| in_room(&path, room));
        for (number, line) in code(&path) {
            for (word, instead) in WORDS.iter().filter(|(word, _)| careful || *word == "inner_html") {
                if line.contains(word) {
                    wrong.push(format!("{}:{number} says {word}: {instead}", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn files_are_read_in_a_sitting_and_begin_with_what_they_do() {
    let folders = [("src", "rs"), ("crates", "rs"), ("tests", "rs"), ("benches", "rs"), ("style", "css")];
    for path in folders.iter().flat_map(|(folder, extension)| files(folder, &[*extension])) {
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.lines().count() <= LONGEST, "{} has {} lines", path.display(), text.lines().count());
        let says = path.extension().is_some_and(|extension| extension == "css") || text.starts_with("//! ");
        assert!(says, "{} does not say what it does", path.display());
    }
}

#[test]
fn the_rules_find_what_they_look_for() {
    for line in
        ["use crate::ui::row;", "    crate::ui::show()", "use crate::{api, ui::row};", "use crate::{cache, ui};"]
    {
        assert!(names(line, "crate::ui"), "{line}");
    }
    for line in ["use crate::api::uid;", "let ui = 3;", "use leptos::ui;", "use crate::ui_like;"] {
        assert!(!names(line, "crate::ui"), "{line}");
    }
    assert!(names("use kubechurn_model::page;", "kubechurn_model") && !names("kubechurn_models", "kubechurn_model"));
    RULES.iter().for_each(|(room, _)| assert!(!room_files(room).is_empty(), "{room}"));
    let text = "//! A.\nuse crate::api;\n// crate::ui\n#[cfg(test)]\nmod tests {}\n";
    assert_eq!(strip(text), [(2, String::from("use crate::api;"))]);
}

/// Whether a line of code names a crate or one of the crate's own modules: by a path, or in a group after `crate::{`.
pub fn names(line: &str, what: &str) -> bool {
    let ends = |rest: &str| !rest.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_');
    let after = |start: &str| line.match_indices(start).any(|(at, _)| ends(&line[at + start.len()..]));
    let Some(room) = what.strip_prefix("crate::") else { return after(what) };
    let grouped = line.contains("crate::{") && ["{", " "].iter().any(|before| after(&format!("{before}{room}")));
    after(what) || grouped
}

/// The lines of a file that are code and not tests, with their numbers. Unit tests are at the end of a file, or in a
/// file of their own.
pub fn code(path: &Path) -> Vec<(usize, String)> {
    if path.ends_with("tests.rs") || path.iter().any(|part| part == "tests") {
        return Vec::new();
    }
    strip(&fs::read_to_string(path).unwrap())
}

fn strip(text: &str) -> Vec<(usize, String)> {
    let lines = text.lines().take_while(|line| !line.trim_start().starts_with("#[cfg(test)]"));
    let numbered = lines.enumerate().map(|(at, line)| (at + 1, line.to_owned()));
    numbered.filter(|(_, line)| !line.trim_start().starts_with("//")).collect()
}

fn in_room(path: &Path, room: &str) -> bool {
    let room = Path::new(ROOT).join(room);
    path.starts_with(&room) || *path == room.with_extension("rs")
}

fn room_files(room: &str) -> Vec<PathBuf> {
    let all = files("src", &["rs"]).into_iter().chain(files("crates", &["rs"]));
    all.filter(|path| in_room(path, room)).collect()
}

/// The files with one of these extensions below a folder of the repository; none if there is no such folder.
pub fn files(folder: &str, extensions: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![Path::new(ROOT).join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|own| extensions.iter().any(|wanted| own == *wanted)) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
