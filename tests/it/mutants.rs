//! The mutants still apply: the lines that each patch removes or needs as context are in the code. Whether the tests
//! notice each mutant is what `./dev mutants` shows.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::tidy::files;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// A hunk of a patch: the file, and the consecutive lines that must be in it.
#[derive(Debug, PartialEq)]
struct Hunk {
    path: String,
    before: Vec<String>,
    /// Whether the hunk changes anything.
    changes: bool,
}

/// The hunks of a unified diff. The first line of a patch says what it breaks.
fn hunks(patch: &str) -> Vec<Hunk> {
    let (mut hunks, mut path): (Vec<Hunk>, &str) = (Vec::new(), "");
    for line in patch.lines() {
        if let Some(name) = line.strip_prefix("--- a/") {
            path = name;
        } else if line.starts_with("@@ ") {
            hunks.push(Hunk { path: path.to_owned(), before: Vec::new(), changes: false });
        } else if line.starts_with("diff ") {
            path = "";
        } else if let (false, Some(hunk)) = (path.is_empty() || line.starts_with("+++ b/"), hunks.last_mut()) {
            hunk.changes |= line.starts_with(['+', '-']);
            if !line.starts_with('+') {
                hunk.before.push(line.get(1..).unwrap_or_default().to_owned());
            }
        }
    }
    hunks
}

/// What is wrong with a patch. `read` returns the text of a file.
fn fault(patch: &str, read: impl Fn(&str) -> Option<String>) -> Option<String> {
    let hunks = hunks(patch);
    if hunks.is_empty() || !hunks.iter().all(|hunk| hunk.changes) {
        return Some(String::from("it changes nothing"));
    }
    let is_sentence = patch.lines().next().is_some_and(|line| line.ends_with('.'));
    if !is_sentence {
        return Some(String::from("its first line does not say what it breaks"));
    }
    hunks.iter().find_map(|hunk| {
        let Some(text) = read(&hunk.path) else { return Some(format!("there is no {:?}", hunk.path)) };
        let lines: Vec<&str> = text.lines().collect();
        let found = lines.windows(hunk.before.len()).filter(|lines| **lines == hunk.before).count();
        (found == 0).then(|| format!("{} does not hold {:#?}", hunk.path, hunk.before))
    })
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

#[test]
fn every_mutant_still_applies() {
    let read = |path: &str| fs::read_to_string(Path::new(ROOT).join(path)).ok();
    let patches = files("mutants", &["patch"]);
    assert!(patches.len() >= 12);
    for path in patches {
        let patch = fs::read_to_string(&path).unwrap();
        assert_eq!(fault(&patch, read), None, "{}: write the patch again", path.display());
    }
}

/// The table of `mutants/README.md` has each patch once, and names only tests that exist.
#[test]
fn every_mutant_is_listed_with_tests_that_exist() {
    let text = fs::read_to_string(Path::new(ROOT).join("mutants/README.md")).unwrap();
    let quoted = |cell: &str| -> Vec<String> { cell.split('`').skip(1).step_by(2).map(str::to_owned).collect() };
    let mut listed = BTreeSet::new();
    let sources: Vec<String> = ["src", "crates"]
        .iter()
        .flat_map(|folder| files(folder, &["rs"]))
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    for row in text.lines().filter_map(|line| line.strip_prefix("| `")) {
        let (name, tests) = row.split_once("` |").unwrap();
        assert!(listed.insert(name.to_owned()), "{name} is listed twice");
        let tests = quoted(tests);
        assert!(!tests.is_empty(), "{name} is noticed by no test");
        for test in tests {
            let function = format!("fn {}(", test.rsplit("::").next().unwrap());
            assert!(sources.iter().any(|source| source.contains(&function)), "{name}: there is no {test}");
        }
    }
    let patches: BTreeSet<String> = files("mutants", &["patch"]).iter().map(|path| name(path)).collect();
    assert_eq!(listed, patches);
}

#[test]
fn a_patch_that_has_rotted_is_found() {
    let check = |text: &str, expected: Option<&str>| {
        let patch = "Words.\n\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@ fn f()\n a\n-b\n+c\n \n";
        let fault = fault(patch, |path| (path == "x").then(|| text.to_owned()));
        assert_eq!(fault.as_deref().map(|fault| fault.lines().next().unwrap()), expected, "{text:?}");
    };
    check("a\nb\n\n", None);
    check("z\na\nb\n\nz\n", None);
    check("a\nc\n\n", Some("x does not hold ["));
    check("a\nb\nz\n", Some("x does not hold ["));
    check("", Some("x does not hold ["));
    assert_eq!(fault("Words.\n", |_| None).as_deref(), Some("it changes nothing"));
    assert!(fault("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", |_| None).unwrap().starts_with("its first line"));
    assert!(fault("W.\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", |_| None).unwrap().starts_with("there is no"));
}
