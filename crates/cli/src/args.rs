//! The command line. Reading it touches neither the network nor a cluster.

mod recording;
mod site;

use std::ffi::OsString;
use std::path::PathBuf;

use kubechurn_changes::filter::pattern::FilterError;
use lexopt::{Arg, Parser, ValueExt};

pub use recording::{Changes, Destination, Limits, Open, Record, Show, Source};
pub use site::Site;

/// What `--help` prints.
const HELP: &str = "\
kubechurn [VIEW] [flags]
kubechurn record [KIND ...] -o FILE|FOLDER/|s3://BUCKET/PATH [flags]
kubechurn changes [FILE|FOLDER] [WORD ...] [flags]
kubechurn open FILE|FOLDER [flags]
kubechurn site FOLDER FILE ...

Shows in the browser how a Kubernetes cluster changes: a demo cluster that this program makes up, or, with --context or
--kubeconfig, a cluster of yours, through kubectl and read-only. VIEW is a resource, as pods or deployments; without one,
the page shows what changed in all that matters.

With the word record, kubechurn writes what happens in a cluster into a file, and with changes it prints what such a file
has, or what happens now; with open it shows such a file in the page, and with site it makes a folder of the page and such
files for any web server. `kubechurn record --help`, and the same of the others, says more.

  -n, --namespace NAME    show this namespace (several: a,b)
  -A, --all-namespaces    show all namespaces, whichever the context names
      --port PORT         listen on this port, and not on a free one
      --no-open           print the address, and open no browser
      --recordings FOLDER offer what kubechurn record -o FOLDER/ has written: of earlier, in the page that shows now

A cluster of yours:
      --context NAME      use this context of the kubeconfig; given several times, the page can switch between them, or
                          show several in one table
      --all-contexts      use all contexts of the kubeconfig
      --kubeconfig FILE   use this kubeconfig; without --context, its current context. A single context that names a
                          namespace shows that one at first
      --secrets           pass Secrets on too, whose values the page masks; without it they are refused

The demo cluster:
      --demo              show it; the same as no flag at all
      --scenario NAMES    what happens in it, with commas between: calm, rollout, crashloop, node-failure,
                          autoscaler-flap, hot-loop, bad-config, node-repair; or mixed, the first five of them; or storm
                          or scale, which are load
      --pods N            Pods in it, about (300)
      --rate EVENTS       writes a second of a storm
      --seed S            the cluster that is made up and what happens to it (1)

  -h, --help              print this
  -V, --version           print the version
";

/// What the command line asks for.
#[derive(Debug, PartialEq)]
pub enum Command {
    /// Print this help.
    Help(&'static str),
    /// Print the version.
    Version,
    /// Serve the page and a cluster.
    Serve(Serve),
    /// Write what happens in a cluster into a file.
    Record(Record),
    /// Print the changes of such a file.
    Changes(Changes),
    /// Serve the page and such a file.
    Open(Open),
    /// Make a folder with the page and such files.
    Site(Site),
}

/// What is served, and where.
#[derive(Debug, PartialEq)]
pub struct Serve {
    /// The cluster behind the page.
    pub cluster: Cluster,
    /// The resource that is shown at first, or `changes`.
    pub view: String,
    /// The namespaces that are shown at first, with commas between; empty for all, and `None` for that of the context.
    pub namespaces: Option<String>,
    /// The port on 127.0.0.1; 0 for a free one.
    pub port: u16,
    /// Whether a browser is opened.
    pub open: bool,
    /// A recording that is offered beside the cluster.
    pub recordings: Option<PathBuf>,
}

/// Which cluster is shown.
#[derive(Debug, PartialEq)]
pub enum Cluster {
    /// The demo cluster, with these options of the program `cluster`.
    Demo(Vec<OsString>),
    /// Those that kubectl reaches by some contexts.
    Kubectl(Contexts, Kubectl),
}

/// Which contexts of the kubeconfig are used.
#[derive(Debug, PartialEq)]
pub enum Contexts {
    /// The one that is current there.
    Current,
    /// These, the first one at first.
    Named(Vec<OsString>),
    /// All.
    All,
}

/// How kubectl reaches a cluster.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kubectl {
    /// The context; `None` for the current one.
    pub context: Option<OsString>,
    /// The kubeconfig; `None` for the one that kubectl finds.
    pub kubeconfig: Option<OsString>,
    /// Whether Secrets are passed on.
    pub secrets: bool,
}

/// Why a command line is refused.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum ArgsError {
    /// There is no such flag.
    #[error("there is no flag {0}: see --help")]
    Unknown(String),
    /// A flag at the end of the line lacks its value.
    #[error("{0} wants a value: see --help")]
    MissingValue(String),
    /// The value of `--port` is no port.
    #[error("--port wants a number")]
    Port,
    /// More than one view.
    #[error("one view is shown at first, not both {0} and {1}: the page can show several")]
    TwoViews(String, String),
    /// What would go into the address is not a name.
    #[error("a view and a namespace are names: see --help")]
    NoName,
    /// A flag of the demo cluster, and one of a real cluster.
    #[error("{0} is for the demo cluster, and {1} for a cluster of yours: leave one of them out")]
    TwoClusters(String, String),
    /// No file to write a recording into.
    #[error("a recording is written into a file: name it with -o")]
    NoOutput,
    /// The value of a flag is no duration.
    #[error("{0} wants a duration of at most thirty years, such as 90s, 10m or 1h30m")]
    Duration(&'static str),
    /// The value of a flag is no number of bytes.
    #[error("{0} wants a number of bytes, such as 64MiB or 2GiB")]
    Bytes(&'static str),
    /// A flag for the files of a folder, and no folder.
    #[error("{0} is for the files of a folder: end the name after -o with a /")]
    NoFolder(&'static str),
    /// A flag for an object store, and none.
    #[error("{0} is for an object store: name one as s3://BUCKET/PATH after -o")]
    NoStore(&'static str),
    /// A flag about old files, and an object store.
    #[error("{0} is for the files of a folder: an object store has rules of its own for what is old")]
    OfFolder(&'static str),
    /// No place for the files that are not in the object store yet.
    #[error(
        "--spool wants a folder for the files that are not in the object store yet: there is no HOME to have one in"
    )]
    NoSpool,
    /// `--until` without words.
    #[error("--until wants words of a filter, such as 'kind:Job complete'")]
    NoCondition,
    /// No recording to open, or several.
    #[error("open wants one recording: see kubechurn open --help")]
    OneRecording,
    /// The value of a flag is no time.
    #[error("{0} wants a time, such as 2026-11-26T17:00:00Z")]
    Time(&'static str),
    /// Words that are no filter.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// A recording, and a flag about a cluster.
    #[error("{0} is for a cluster, and a recording was named: leave one of them out")]
    OfCluster(String),
    /// An audit log, and no recording.
    #[error("--audit of changes is for a recording: name one, or record with kubechurn record --audit")]
    AuditOfRecording,
    /// A time, and no recording.
    #[error("--from and --to of changes are for a recording: name one")]
    TimeOfRecording,
    /// No folder, or no recording.
    #[error("site wants a folder, and the files of recordings: see kubechurn site --help")]
    NoSite,
    /// A word that is not valid text, or a value for a flag that has none.
    #[error("{0}: see --help")]
    Unreadable(String),
}

impl From<lexopt::Error> for ArgsError {
    fn from(error: lexopt::Error) -> Self {
        match error {
            lexopt::Error::MissingValue { option } => Self::MissingValue(option.unwrap_or_default()),
            other => Self::Unreadable(other.to_string()),
        }
    }
}

/// Reads the arguments that follow the program's name.
///
/// # Errors
/// When they ask for nothing that there is.
pub fn parse(words: impl IntoIterator<Item = impl Into<OsString>>) -> Result<Command, ArgsError> {
    let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
    match words.split_first() {
        Some((first, rest)) if first == "record" => recording::parse_record(Parser::from_args(rest)),
        Some((first, rest)) if first == "changes" => recording::parse_changes(Parser::from_args(rest)),
        Some((first, rest)) if first == "open" => recording::parse_open(Parser::from_args(rest)),
        Some((first, rest)) if first == "site" => site::parse(Parser::from_args(rest)),
        _ => parse_serve(Parser::from_args(words)),
    }
}

/// An argument as a flag in its long form, or as the word that it is.
enum Word {
    Flag(String),
    Plain(OsString),
}

fn word_of(argument: Arg<'_>) -> Word {
    Word::Flag(match argument {
        Arg::Short('h') => "--help".to_owned(),
        Arg::Short('V') => "--version".to_owned(),
        Arg::Short('n') => "--namespace".to_owned(),
        Arg::Short('A') => "--all-namespaces".to_owned(),
        Arg::Short(letter) => format!("-{letter}"),
        Arg::Long(name) => format!("--{name}"),
        Arg::Value(word) => return Word::Plain(word),
    })
}

fn parse_serve(mut parser: Parser) -> Result<Command, ArgsError> {
    let (mut view, mut namespaces, mut port, mut open, mut recordings) = (String::new(), None, 0, true, None);
    let (mut demo, mut kubectl) = (Vec::new(), Kubectl::default());
    let (mut contexts, mut all_contexts) = (Vec::new(), false);
    // The last flag of each sort of cluster.
    let (mut of_demo, mut of_kubectl) = (None, None);
    while let Some(argument) = parser.next()? {
        let name = match word_of(argument) {
            Word::Flag(name) => name,
            Word::Plain(word) if view.is_empty() => {
                view = word.string()?;
                continue;
            }
            Word::Plain(word) => return Err(ArgsError::TwoViews(view, word.to_string_lossy().into_owned())),
        };
        match name.as_str() {
            "--help" => return Ok(Command::Help(HELP)),
            "--version" => return Ok(Command::Version),
            "--namespace" => namespaces = Some(parser.value()?.string()?),
            "--all-namespaces" => namespaces = Some(String::new()),
            "--port" => port = parser.value()?.parse().map_err(|_| ArgsError::Port)?,
            "--no-open" => open = false,
            "--recordings" => recordings = Some(PathBuf::from(parser.value()?)),
            "--demo" => of_demo = Some(name),
            "--scenario" | "--pods" | "--rate" | "--seed" => {
                demo.extend([OsString::from(&name), parser.value()?]);
                of_demo = Some(name);
            }
            "--context" | "--all-contexts" | "--kubeconfig" | "--secrets" => {
                match name.as_str() {
                    "--context" => contexts.push(parser.value()?),
                    "--all-contexts" => all_contexts = true,
                    "--kubeconfig" => kubectl.kubeconfig = Some(parser.value()?),
                    _ => kubectl.secrets = true,
                }
                of_kubectl = Some(name);
            }
            _ => return Err(ArgsError::Unknown(name)),
        }
    }
    if !is_name(&view) || !namespaces.as_deref().is_none_or(is_name) {
        return Err(ArgsError::NoName);
    }
    let cluster = match (of_demo, of_kubectl) {
        (Some(demo), Some(kubectl)) => return Err(ArgsError::TwoClusters(demo, kubectl)),
        (_, None) => Cluster::Demo(demo),
        (None, Some(_)) => {
            let contexts = match contexts {
                _ if all_contexts => Contexts::All,
                none if none.is_empty() => Contexts::Current,
                some => Contexts::Named(some),
            };
            Cluster::Kubectl(contexts, kubectl)
        }
    };
    let view = if view.is_empty() { "changes".to_owned() } else { view };
    Ok(Command::Serve(Serve { cluster, view, namespaces, port, open, recordings }))
}

/// Whether a text may stand in the page's address: names, with commas between.
pub fn is_name(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".,_-".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Result<Serve, &str>) {
        let got = parse(line.split_whitespace()).map_err(|error| error.to_string());
        assert_eq!(got, expected.map(Command::Serve).map_err(str::to_owned), "{line}");
    }

    fn serve(cluster: Cluster, view: &str) -> Serve {
        Serve { cluster, view: view.to_owned(), namespaces: None, port: 0, open: true, recordings: None }
    }

    fn demo(words: &[&str], view: &str) -> Serve {
        serve(Cluster::Demo(words.iter().map(OsString::from).collect()), view)
    }

    #[test]
    fn flags_and_their_mistakes() {
        check("", Ok(demo(&[], "changes")));
        let of = |namespaces: &str, of: Serve| Serve { namespaces: Some(namespaces.to_owned()), ..of };
        check("--demo pods -nshop", Ok(of("shop", demo(&[], "pods"))));
        check("-A", Ok(of("", demo(&[], "changes"))));
        check("--all-namespaces pods", Ok(of("", demo(&[], "pods"))));
        check("--scenario calm --pods=20", Ok(demo(&["--scenario", "calm", "--pods", "20"], "changes")));
        check("--port 8010 --no-open", Ok(Serve { port: 8010, open: false, ..demo(&[], "changes") }));
        let beside = Serve { recordings: Some("x".into()), ..demo(&[], "changes") };
        check("--recordings x", Ok(beside));
        let named = |names: &[&str]| Contexts::Named(names.iter().map(OsString::from).collect());
        let usual = Kubectl::default;
        check("--context x", Ok(serve(Cluster::Kubectl(named(&["x"]), usual()), "changes")));
        check("--context x --context y", Ok(serve(Cluster::Kubectl(named(&["x", "y"]), usual()), "changes")));
        check("--all-contexts --context x", Ok(serve(Cluster::Kubectl(Contexts::All, usual()), "changes")));
        let full = Kubectl { kubeconfig: Some("/f".into()), secrets: true, ..usual() };
        let full = of("a,b", serve(Cluster::Kubectl(Contexts::Current, full), "pods"));
        check("--kubeconfig=/f --secrets -n a,b pods", Ok(full));
        check("--port none", Err("--port wants a number"));
        check("--port 70000", Err("--port wants a number"));
        check("--context", Err("--context wants a value: see --help"));
        check("--watch", Err("there is no flag --watch: see --help"));
        check("-x", Err("there is no flag -x: see --help"));
        check("pods nodes", Err("one view is shown at first, not both pods and nodes: the page can show several"));
        check("pods?x=<y>", Err("a view and a namespace are names: see --help"));
        check("-n a/b", Err("a view and a namespace are names: see --help"));
        check(
            "--context x --pods 3",
            Err("--pods is for the demo cluster, and --context for a cluster of yours: leave one of them out"),
        );
        check("--demo=1", Err("unexpected argument for option '--demo': \"1\": see --help"));
        assert_eq!(parse(["--version"]), Ok(Command::Version));
        assert_eq!(parse(["pods", "-h"]), Ok(Command::Help(HELP)));
    }
}
