//! The layout of the code: which rooms there are, that arrows between them point one way, that no files go in a circle, that
//! a type's methods stand in one file, and that a subject's styles and tests lie in folders of its name.
//!
//! A room is a folder or a file. A file that lies in the wrong room names what only a higher room has, or is named by what is
//! lower, and so is found here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::tidy::{ROOT, code, files, names};

/// The rooms of the model from the bottom up: none names a later one.
const MODEL: &[&str] = &[
    "kind_id",
    "local_time",
    "table",
    "timeline",
    "navigation",
    "history",
    "watches",
    "kept",
    "recording",
    "rewind",
    "feed",
    "inspector",
    "logs",
    "why",
    "writers",
    "life",
    "rollout",
    "holds",
    "verification",
    "inside",
    "shell",
    "view",
    "page",
];

/// The subjects: each has a folder in `src/ui`, and may have one in `style` and in `tests/browser`.
const UI: &[&str] = &[
    "feed",
    "holds",
    "inside",
    "inspector",
    "life",
    "logs",
    "navigation",
    "recording",
    "rewind",
    "rollout",
    "shell",
    "table",
    "timeline",
    "verification",
    "watches",
    "why",
    "writers",
];

/// The types whose methods may stand in several files, and the files: `Page` takes inputs in one, and gives output in the other.
const SPREAD: &[(&str, usize)] = &[("Page", 2)];

#[test]
fn the_rooms_of_the_model_stand_on_what_is_below() {
    let root = Path::new(ROOT).join("crates/model/src");
    let mut wrong = Vec::new();
    for (at, room) in MODEL.iter().enumerate() {
        let own = files("crates/model/src", &["rs"]).into_iter().filter(|path| room_of(&root, path) == Some(room));
        let own: Vec<PathBuf> = own.collect();
        assert!(!own.is_empty(), "there is no {room}");
        for path in own {
            for (number, line) in code(&path) {
                let above = MODEL[at + 1..].iter().filter(|above| names(&line, &format!("crate::{above}")));
                wrong.extend(above.map(|above| format!("{}:{number} names {above}", path.display())));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let all = files("crates/model/src", &["rs"]);
    let strange: Vec<&PathBuf> =
        all.iter().filter(|path| !path.ends_with("lib.rs") && room_of(&root, path).is_none()).collect();
    assert!(strange.is_empty(), "in none of these rooms: {strange:?}");
}

#[test]
fn the_parts_of_the_screen_lie_in_the_folders_of_their_subjects() {
    let root = Path::new(ROOT).join("src/ui");
    let folders = fs::read_dir(&root).unwrap().filter_map(|entry| entry.ok()).filter(|entry| entry.path().is_dir());
    let folders: BTreeSet<String> = folders.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(folders.iter().map(String::as_str).collect::<Vec<_>>(), UI);
}

/// The browser's tests and the styles, and the folders that each has besides those of the subjects.
const BESIDE: &[(&str, &str, &[&str])] = &[("tests/browser", "rs", &["page", "program"]), ("style", "css", &["page"])];

#[test]
fn the_browser_s_tests_and_the_styles_lie_in_the_folders_of_their_subjects() {
    for (root, extension, others) in BESIDE {
        let known: Vec<PathBuf> = UI.iter().chain(*others).map(|name| Path::new(ROOT).join(root).join(name)).collect();
        let mut all = files(root, &[extension]);
        assert!(!all.is_empty(), "{root} has no files");
        all.retain(|path| !path.ends_with("main.rs") && !known.iter().any(|folder| path.starts_with(folder)));
        assert!(all.is_empty(), "in the folder of no subject: {all:?}");
    }
}

#[test]
fn the_page_has_each_style_once() {
    let page = fs::read_to_string(Path::new(ROOT).join("index.html")).unwrap();
    let links = page.split("rel=\"css\" href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let mut linked: Vec<PathBuf> = links.map(|link| Path::new(ROOT).join(link)).collect();
    linked.sort();
    assert_eq!(linked, files("style", &["css"]));
}

/// A plain word that a subject styles wherever it stands, such as `.why`, has that style in every other subject's parts, too. What
/// is in shell and table is for all.
#[test]
fn a_word_that_one_subject_styles_is_no_other_subject_s() {
    let text = |path: PathBuf| fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let all = |folder: &str, extension| files(folder, &[extension]).into_iter().map(text).collect::<String>();
    let mut wrong = Vec::new();
    for own in
        UI.iter().filter(|own| !["shell", "table"].contains(*own) && Path::new(ROOT).join("style").join(own).is_dir())
    {
        let styled = styled_words(&all(&format!("style/{own}"), "css"));
        for other in UI.iter().filter(|other| *other != own) {
            let used = all(&format!("src/ui/{other}"), "rs");
            let used: BTreeSet<&str> =
                used.split("class=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
            let words = used.iter().flat_map(|classes| classes.split(' ')).filter(|word| styled.contains(*word));
            wrong.extend(words.map(|word| format!("{word} of {own} in {other}")));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The words that are styled wherever they stand.
fn styled_words(css: &str) -> BTreeSet<String> {
    let selectors = css.lines().filter_map(|line| line.trim().strip_suffix([',', '{']));
    let word = |selector: &str| {
        let word = selector.trim().strip_prefix('.')?;
        word.bytes().all(|letter| letter.is_ascii_lowercase()).then(|| word.to_owned())
    };
    selectors.filter_map(word).collect()
}

#[test]
fn no_files_of_the_model_go_in_a_circle() {
    let graph = imports("crates/model/src");
    // What nothing that is left stands on goes, until nothing is left but circles.
    let mut left: BTreeMap<&str, BTreeSet<&str>> =
        graph.iter().map(|(name, named)| (&**name, named.iter().map(String::as_str).collect())).collect();
    loop {
        let free: Vec<&str> = left.iter().filter(|(_, named)| named.is_empty()).map(|(name, _)| *name).collect();
        if free.is_empty() {
            break;
        }
        free.iter().for_each(|name| drop(left.remove(name)));
        left.values_mut().for_each(|named| named.retain(|other| !free.contains(other)));
    }
    assert!(left.is_empty(), "each of these stands on another of them: {left:#?}");
}

/// The most methods of `Page`: it hands each input to a part, and decides nothing itself.
const METHODS: usize = 40;

#[test]
fn the_page_has_few_methods() {
    let is_method = |line: &str| {
        let begins = |start: &str| line.strip_prefix("    ").is_some_and(|line| line.starts_with(start));
        ["fn ", "pub fn ", "pub(super) fn "].into_iter().any(begins)
    };
    let of = |file: &str| code(&Path::new(ROOT).join("crates/model/src/page").join(file));
    let all: Vec<String> = ["mod.rs", "output.rs"].into_iter().flat_map(of).map(|(_, line)| line).collect();
    let count = all.iter().filter(|line| is_method(line)).count();
    assert!((METHODS / 2..=METHODS).contains(&count), "Page has {count} methods");
}

#[test]
fn the_methods_of_a_type_stand_in_one_file() {
    let folders = ["crates/model/src", "crates/client/src/cache"];
    for folder in folders {
        let mut places: BTreeMap<String, BTreeSet<PathBuf>> = BTreeMap::new();
        for path in files(folder, &["rs"]) {
            for (_, line) in code(&path) {
                if let Some(name) = line.strip_prefix("impl").and_then(inherent) {
                    places.entry(name.to_owned()).or_default().insert(path.clone());
                }
            }
        }
        for (name, files) in places {
            let most = SPREAD.iter().find(|(own, _)| *own == name).map_or(1, |(_, most)| *most);
            // Two types in different folders may share a name.
            let folders: BTreeSet<&Path> = files.iter().filter_map(|file| file.parent()).collect();
            let is_one = folders.len() == files.len();
            assert!(files.len() <= most || is_one, "{name} has methods in {files:?}");
        }
    }
}

#[test]
fn the_rules_see_what_breaks_them() {
    let css = "  .why {\n  .main > .own {\n  .why-head,\n  .tone[data-x] {\n  color: red;\n";
    assert_eq!(styled_words(css).into_iter().collect::<Vec<_>>(), ["why"]);
    assert_eq!(inherent(" Reflector {"), Some("Reflector"));
    assert_eq!(inherent("<T: Clone> Shown<T> {"), Some("Shown"));
    assert_eq!(inherent(" Drop for Reflector {"), None);
    assert_eq!(named("use crate::page::{self, context::Context};"), ["page", "page::context::Context"]);
    assert_eq!(named("    crate::table::order::RowId"), ["table::order::RowId"]);
}

/// The type of an `impl` block without a trait, from what follows the word.
fn inherent(rest: &str) -> Option<&str> {
    let rest = match rest.strip_prefix('<') {
        Some(generic) => &generic[generic.find("> ")? + 2..],
        None => rest.strip_prefix(' ')?,
    };
    if rest.contains(" for ") {
        return None;
    }
    rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next().filter(|name| !name.is_empty())
}

fn room_of(root: &Path, path: &Path) -> Option<&'static &'static str> {
    let first = path.strip_prefix(root).ok()?.iter().next()?.to_str()?;
    MODEL.iter().find(|room| first.trim_end_matches(".rs") == **room)
}

/// Which files of a crate each file names, by their module paths. That a module names its own submodules makes no circle.
fn imports(folder: &str) -> BTreeMap<String, BTreeSet<String>> {
    let root = Path::new(ROOT).join(folder);
    let modules: BTreeMap<String, PathBuf> =
        files(folder, &["rs"]).into_iter().filter_map(|path| Some((module(&root, &path)?, path))).collect();
    let mut graph = BTreeMap::new();
    for (name, path) in &modules {
        let text: String = code(path).into_iter().map(|(_, line)| line + "\n").collect();
        let mut to = BTreeSet::new();
        for path in named(&text) {
            let mut path = path.as_str();
            while !path.is_empty() && !modules.contains_key(path) {
                path = path.rsplit_once("::").map_or("", |(front, _)| front);
            }
            if !path.is_empty() && path != name {
                to.insert(path.to_owned());
            }
        }
        graph.insert(name.clone(), to);
    }
    graph
}

fn module(root: &Path, path: &Path) -> Option<String> {
    let path = path.strip_prefix(root).ok()?.to_str()?.strip_suffix(".rs")?;
    let path = path.strip_suffix("/mod").unwrap_or(path);
    (path != "lib" && !path.ends_with("tests") && !path.contains("tests/")).then(|| path.replace('/', "::"))
}

/// The paths after `crate::` in a text, those in braces each for itself.
fn named(text: &str) -> Vec<String> {
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
    let mut found = Vec::new();
    for (at, start) in text.match_indices("crate::") {
        let rest = &text[at + start.len()..];
        let end = rest.find(|letter| !is_name(letter)).unwrap_or(rest.len());
        let path = rest[..end].trim_end_matches(':');
        let group = rest[end..].strip_prefix('{').and_then(|group| group.split_once('}'));
        let Some((group, _)) = group else {
            found.extend((!path.is_empty()).then(|| path.to_owned()));
            continue;
        };
        let prefix = if path.is_empty() { String::new() } else { format!("{path}::") };
        let items = group.split(',').map(str::trim).filter(|item| !item.is_empty());
        for item in items {
            let item = item.split(' ').next().unwrap_or(item);
            found.push(if item == "self" { path.to_owned() } else { format!("{prefix}{item}") });
        }
    }
    found
}
