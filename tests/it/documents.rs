//! The documents are true where a test can see it: their links lead somewhere, the book has every chapter, and the commands,
//! flags and files that they name exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::tidy::files;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The longest that a document may be: its name, and the numbers of lines and bytes.
const LIMITS: &[(&str, usize, usize)] = &[("README.md", 200, 12_000), ("docs/measurements.md", usize::MAX, 10_000)];

/// The programs whose flags documents name, and the files with their help texts.
const PROGRAMS: &[(Program, &str)] = &[
    (Program::Demo, "crates/cluster/src/args.rs"),
    (Program::Kubechurn, "crates/cli/src/args.rs"),
    (Program::Kubechurn, "crates/cli/src/args/recording.rs"),
    (Program::Kubechurn, "crates/cli/src/args/site.rs"),
    (Program::Plugin, "plugin/kubectl-churn"),
];

/// Flags of other programs that documents name on their own: kubectl's, and those of `kubectl proxy`.
const OTHERS: &[&str] = &[
    "--accept-hosts",
    "--accept-paths",
    "--api-prefix",
    "--disable-filter",
    "--field-selector",
    "--reject-methods",
    "--reject-paths",
    "--unix-socket",
    "--www",
    "--www-prefix",
];

/// How a link of a chapter begins that opens a recording in the page, where `./dev site` has put the book beside it.
const RECORDING: &str = "../../#/open?url=recordings/";

/// How a link of a chapter begins that opens a lesson in the page.
const LESSON: &str = "../../#/inside?kind=pods&lesson=";

/// The folders with which the name of a file of the project begins.
const FOLDERS: &[&str] = &["benches/", "crates/", "docs/", "fuzz/", "mutants/", "plugin/", "src/", "style/", "tests/"];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Program {
    Demo,
    Kubechurn,
    Plugin,
}

/// A document in the parts that are judged.
#[derive(Default)]
struct Document {
    /// The anchors of its headings.
    anchors: BTreeSet<String>,
    /// Where its links and pictures lead.
    links: Vec<String>,
    /// Its code: the lines of blocks, and the spans within sentences.
    code: Vec<String>,
    /// The lines on which a span of code begins or ends that goes over two lines: what it names would not be found.
    torn: Vec<String>,
}

impl Document {
    fn read(text: &str) -> Self {
        let mut document = Self::default();
        let mut fenced = false;
        for line in text.lines() {
            if line.starts_with("```") {
                fenced = !fenced;
            } else if fenced || line.starts_with("    ") {
                document.code.push(line.trim().to_owned());
            } else {
                document.read_line(line);
            }
        }
        document
    }

    fn read_line(&mut self, line: &str) {
        if let Some(heading) = line.strip_prefix('#') {
            self.anchors.insert(anchor(heading.trim_start_matches('#').trim()));
        }
        if line.matches('`').count() % 2 == 1 {
            self.torn.push(line.to_owned());
        }
        let mut prose = String::new();
        for (at, part) in line.split('`').enumerate() {
            if at % 2 == 0 {
                prose.push_str(part);
            } else {
                self.code.push(part.to_owned());
            }
        }
        for (start, end) in [("](", ')'), ("src=\"", '"'), ("srcset=\"", '"')] {
            let found = prose.split(start).skip(1).filter_map(|rest| rest.split(end).next());
            self.links.extend(found.map(str::to_owned));
        }
    }
}

/// The anchor of a heading, as GitHub and mdBook make it.
fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase();
    let kept = kept.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

/// The documents of the project, by their paths from its root.
fn documents() -> Vec<PathBuf> {
    let below = ["docs", "crates", "fuzz", "mutants"].iter().flat_map(|folder| files(folder, &["md"]));
    let top = fs::read_dir(ROOT).unwrap().map(|entry| entry.unwrap().path());
    let top = top.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let all = top.chain(below).map(|path| path.strip_prefix(ROOT).unwrap().to_owned());
    all.filter(|path| !path.starts_with("fuzz/corpus")).collect()
}

fn read(path: &Path) -> Option<String> {
    fs::read_to_string(Path::new(ROOT).join(path)).ok()
}

/// The path to which a link of a document leads, without `.` and `..`; `None` if it leads out of the project.
fn resolve(from: &Path, link: &str) -> Option<PathBuf> {
    let mut resolved = from.parent().unwrap_or(Path::new("")).to_owned();
    for part in Path::new(link).components() {
        match part {
            Component::Normal(name) => resolved.push(name),
            Component::ParentDir if resolved.pop() => {}
            Component::CurDir => {}
            _ => return None,
        }
    }
    Some(resolved)
}

/// What is wrong with a link.
fn link_fault(from: &Path, link: &str) -> Option<String> {
    if ["http://", "https://"].iter().any(|scheme| link.starts_with(scheme)) {
        return None;
    }
    if let Some(name) = link.strip_prefix(RECORDING) {
        let own = Document::read(&read(from).unwrap_or_default()).code;
        let is_made =
            own.iter().any(|line| line.starts_with("kubechurn record ") && line.ends_with(&format!(" -o {name}")));
        return (!is_made).then(|| format!("{link}: no command of this document makes it"));
    }
    if let Some(id) = link.strip_prefix(LESSON) {
        let lessons = Path::new(ROOT).join("crates/model/src/inside/lessons");
        let files = std::fs::read_dir(lessons).expect("the lessons can be listed").flatten();
        let mut texts = files.filter_map(|file| std::fs::read_to_string(file.path()).ok());
        let is_there = texts.any(|text| text.contains(&format!("id: \"{id}\"")));
        return (!is_there).then(|| format!("{link}: there is no such lesson"));
    }
    let (path, wanted) = link.split_once('#').map_or((link, None), |(path, wanted)| (path, Some(wanted)));
    let to = if path.is_empty() { Some(from.to_owned()) } else { resolve(from, path) };
    let Some(to) = to.filter(|to| Path::new(ROOT).join(to).exists()) else {
        return Some(format!("{link}: there is no such file"));
    };
    // A chapter of the book sees the folder `docs` alone.
    if from.starts_with("docs") && !to.starts_with("docs") {
        return Some(format!("{link}: leads out of the book"));
    }
    let has = |wanted: &str| read(&to).is_some_and(|text| Document::read(&text).anchors.contains(wanted));
    wanted.filter(|wanted| !has(wanted)).map(|_| format!("{link}: there is no such heading"))
}

/// What the usage of `./dev` has on a command: the lines that begin with its name, and those that go on.
fn usage(name: &str) -> Option<String> {
    let text = read(Path::new("dev")).unwrap();
    let (_, text) = text.split_once("<<'END'\n").unwrap();
    let (text, _) = text.split_once("\nEND\n").unwrap();
    let text = format!("\n{text}");
    let own = text.split("\n./dev ").filter(|entry| entry.split([' ', '\n']).next() == Some(name));
    let own: Vec<&str> = own.collect();
    (!own.is_empty()).then(|| own.join("\n"))
}

/// The text in which a program's flags are looked for.
fn help(program: Program) -> String {
    let paths = PROGRAMS.iter().filter(|(other, _)| *other == program).map(|(_, path)| path);
    let texts = paths.map(|path| {
        let text = read(Path::new(path)).unwrap();
        // What follows the help texts in a file is code.
        let help = text.split_once("\nEND\n").or(text.rsplit_once("\n\";\n")).map(|(help, _)| help.to_owned());
        help.unwrap_or(text)
    });
    texts.collect()
}

fn has_flag(help: &str, flag: &str) -> bool {
    let ends = |rest: &str| !rest.starts_with(|letter: char| letter.is_alphanumeric() || letter == '-');
    help.match_indices(flag).any(|(at, _)| ends(&help[at + flag.len()..]))
}

/// What is wrong with a piece of code, if it calls a program of the project.
fn code_fault(code: &str) -> Option<String> {
    let words: Vec<&str> = code.split_whitespace().take_while(|word| !word.starts_with('#')).collect();
    let flags = || words.iter().filter(|word| word.starts_with("--") && word.len() > 2);
    let flags = flags().map(|flag| flag.split('=').next().unwrap_or(flag));
    let program = match words[..] {
        ["./dev", "demo", ..] => Program::Demo,
        ["./dev", name, ..] => {
            let Some(usage) = usage(name) else { return Some(format!("{code}: ./dev has no {name}")) };
            let mut strange = flags.filter(|flag| !has_flag(&usage, flag));
            return strange.next().map(|flag| format!("{code}: ./dev {name} has no {flag}"));
        }
        [program, ..] if program == "kubechurn" || program.ends_with("kubechurn/kubechurn") => Program::Kubechurn,
        ["kubectl", "churn", ..] => Program::Plugin,
        [program, ..] if program.ends_with("kubectl-churn") => Program::Plugin,
        [flag, ..] if flag.starts_with("--") => {
            let mut flags = flags;
            let dev = read(Path::new("dev")).unwrap();
            let known = |flag: &str| PROGRAMS.iter().any(|(program, _)| has_flag(&help(*program), flag));
            let strange = flags.find(|flag| !OTHERS.contains(flag) && !known(flag) && !has_flag(&dev, flag));
            return strange.map(|flag| format!("{code}: no program has {flag}"));
        }
        _ => return None,
    };
    let help = help(program);
    let mut strange = flags.filter(|flag| !has_flag(&help, flag));
    strange.next().map(|flag| format!("{code}: {program:?} has no {flag}"))
}

/// What is wrong with a piece of code, if it names a file of the project, from its root or from the document's folder.
fn file_fault(from: &Path, code: &str) -> Option<String> {
    let path = code.split("::").next().unwrap_or_default();
    let is_name = FOLDERS.iter().any(|folder| path.starts_with(folder)) && !path.contains([' ', '*', '{', '…']);
    let near = Path::new(ROOT).join(from).with_file_name(path);
    (is_name && !Path::new(ROOT).join(path).exists() && !near.exists())
        .then(|| format!("{code}: there is no such file"))
}

#[test]
fn what_documents_name_exists() {
    let mut wrong = Vec::new();
    let all = documents();
    assert!(all.len() > 20, "{all:?}");
    for path in all {
        let document = Document::read(&read(&path).unwrap());
        let links = document.links.iter().filter_map(|link| link_fault(&path, link));
        let code = document.code.iter().filter_map(|code| code_fault(code).or_else(|| file_fault(&path, code)));
        let torn = document.torn.iter().map(|line| format!("a span of code goes over two lines: {line}"));
        wrong.extend(links.chain(code).chain(torn).map(|fault| format!("{}: {fault}", path.display())));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_book_has_every_chapter_once() {
    let summary = Path::new("docs/SUMMARY.md");
    let listed = Document::read(&read(summary).unwrap()).links;
    let listed: Vec<PathBuf> = listed.iter().map(|link| resolve(summary, link).unwrap()).collect();
    let mut chapters: Vec<PathBuf> = documents().into_iter().filter(|path| path.starts_with("docs")).collect();
    chapters.retain(|path| path != summary);
    let mut sorted = listed;
    sorted.sort();
    chapters.sort();
    assert_eq!(sorted, chapters);
}

#[test]
fn documents_that_are_read_to_the_end_are_short() {
    for (path, lines, bytes) in LIMITS {
        let text = read(Path::new(path)).unwrap();
        let (own_lines, own_bytes) = (text.lines().count(), text.len());
        assert!(own_lines <= *lines && own_bytes <= *bytes, "{path} has {own_lines} lines and {own_bytes} bytes");
    }
}

/// `.ci/run` runs the command that the README gives.
#[test]
fn the_readme_has_the_command_of_ci() {
    let run = read(Path::new(".ci/run")).unwrap();
    let command = run.lines().find_map(|line| line.strip_prefix("exec ")?.split(" <").next()).unwrap();
    let code = Document::read(&read(Path::new("README.md")).unwrap()).code;
    assert!(code.iter().any(|code| code.starts_with(command)), "{command}");
}

#[test]
fn what_is_wrong_in_a_document_is_found() {
    let from = Path::new("docs/guide/table.md");
    let link = |link: &str, expected: Option<&str>| {
        let fault = link_fault(from, link);
        assert_eq!(fault.as_deref().and_then(|fault| fault.strip_prefix(&format!("{link}: "))), expected, "{link}");
    };
    link("https://rustup.rs", None);
    link("changes.md", None);
    link("../measurements.md", None);
    link("#resyncs", None);
    link("changes.md#loops-and-fights", None);
    link("none.md", Some("there is no such file"));
    link("../../../README.md", Some("there is no such file"));
    link("../../README.md", Some("leads out of the book"));
    link("#none", Some("there is no such heading"));
    link("changes.md#none", Some("there is no such heading"));
    link("../../#/open?url=recordings/none.churn", Some("no command of this document makes it"));
    link("../../#/inside?kind=pods&lesson=tombstone", None);
    link("../../#/inside?kind=pods&lesson=none", Some("there is no such lesson"));
    let code = |code: &str, expected: Option<&str>| {
        let fault = code_fault(code).or_else(|| file_fault(from, code));
        assert_eq!(fault.as_deref().and_then(|fault| fault.strip_prefix(&format!("{code}: "))), expected, "{code}");
    };
    code("./dev test # --none", None);
    code("./dev serve --demo", None);
    code("./dev demo --pods 5", None);
    code("./kubechurn/kubechurn --scenario=calm", None);
    code("kubectl churn --all-contexts", None);
    code("kubectl proxy --none", None);
    code("--reject-methods='^POST$'", None);
    code("tests/it/documents.rs::name", None);
    code("./dev none", Some("./dev has no none"));
    code("./dev serve --pods 5", Some("./dev serve has no --pods"));
    code("./dev demo --pod 5", Some("Demo has no --pod"));
    code("./kubechurn/kubechurn --none", Some("Kubechurn has no --none"));
    code("kubectl churn --scenario calm", Some("Plugin has no --scenario"));
    code("--none", Some("no program has --none"));
    code("tests/it/none.rs", Some("there is no such file"));
    let text = "# A, and `b`\n\n[a](b.md) `[c](d)` ![e](f.webp)\n\n    [g](h)\n\n```\n[i](j)\n```\n<img src=\"k\">\n";
    let document = Document::read(text);
    assert_eq!(document.anchors.iter().collect::<Vec<_>>(), ["a-and-b"]);
    assert_eq!(document.links, ["b.md", "f.webp", "k"]);
    assert_eq!(document.code, ["b", "[c](d)", "[g](h)", "[i](j)"]);
    assert_eq!(Document::read("`a\nb`\n`c`\n").torn, ["`a", "b`"]);
}
