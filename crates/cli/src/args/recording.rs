//! The words after `record` and `changes`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use kubechurn_cluster::duration;
use lexopt::{Parser, ValueExt};

use super::{ArgsError, Command, Kubectl, Word, is_name, word_of};

/// What `record --help` prints.
const HELP_OF_RECORD: &str = "\
kubechurn record [KIND ...] -o FILE [flags]

Writes what happens in a cluster into a file, until Ctrl-C: every version of every object, and when nothing was heard. It
lists and watches as the page does, asks the API server itself, without kubectl, and writes nothing to the cluster. KIND is
a resource by any name that kubectl knows, as pods or deploy; without one, those are recorded whose changes matter most.

  -o, --output FILE       write into this file, which must be new; its name should end in .churn
      --for DURATION      end after this time, as 90s, 10m or 1h30m
      --title TEXT        what the recording is called
  -n, --namespace NAME    record this namespace (several: a,b); what is in no namespace is recorded as well
  -A, --all-namespaces    record all namespaces, whichever the context names
      --context NAME      use this context of the kubeconfig, and not the current one
      --kubeconfig FILE   use this kubeconfig; without one, and where kubectl would find none, the service account of the
                          Pod in which this runs
      --secrets           record Secrets too, without their values; without it they are refused
      --plain             leave values readable whose names look like those of credentials (password, token, api-key and the
                          like); without it only their lengths are written
      --demo              record a demo cluster that this program makes up; with --scenario, --pods, --rate and --seed as
                          kubechurn --help has them

  -h, --help              print this
";

/// What `changes --help` prints.
const HELP_OF_CHANGES: &str = "\
kubechurn changes FILE [flags]

Prints a line for each change in a recording: when it was, in UTC; whether the object was added (▲), changed (●), deleted
(✕) or found changed by a new list (◆); which object; what was changed, from what to what; and who seems to have written
it, as far as managedFields tell.

      --all               print also what says nothing, such as heartbeats
      --json              print each change as a line of JSON, with all of its fields

  -h, --help              print this
";

/// What is recorded, and into which file.
#[derive(Debug, PartialEq)]
pub struct Record {
    pub from: Source,
    /// By names that kubectl knows; none for the usual ones.
    pub kinds: Vec<String>,
    /// The namespaces; none for all, and `None` for that of the context.
    pub namespaces: Option<Vec<String>>,
    pub file: PathBuf,
    /// After which time it ends by itself.
    pub length: Option<Duration>,
    pub title: String,
    /// Whether Secrets are recorded, without their values.
    pub secrets: bool,
    /// Whether what looks like a credential stays readable.
    pub plain: bool,
}

/// Which cluster is recorded.
#[derive(Debug, PartialEq)]
pub enum Source {
    /// A demo cluster, with these options of the program `cluster`.
    Demo(Vec<OsString>),
    /// The one that a kubeconfig names.
    Kubeconfig {
        /// The context; `None` for the current one.
        context: Option<OsString>,
        /// The file; `None` for the one that kubectl finds.
        file: Option<OsString>,
    },
}

/// Which changes are printed.
#[derive(Debug, PartialEq)]
pub struct Changes {
    pub file: PathBuf,
    /// Whether noise is printed, too.
    pub all: bool,
    /// Whether each is a line of JSON.
    pub json: bool,
}

/// The names that stand between commas.
fn names(text: &str) -> impl Iterator<Item = String> {
    text.split(',').filter(|name| !name.is_empty()).map(str::to_owned)
}

pub(super) fn parse_record(mut parser: Parser) -> Result<Command, ArgsError> {
    let (mut kinds, mut namespaces, mut file, mut length) = (Vec::new(), None, None, None);
    let (mut title, mut demo, mut kubectl) = (String::new(), Vec::new(), Kubectl::default());
    let mut plain = false;
    // The last flag of each sort of cluster.
    let (mut of_demo, mut of_kubectl) = (None, None);
    while let Some(argument) = parser.next()? {
        let name = match word_of(argument) {
            Word::Flag(name) => name,
            Word::Plain(word) => {
                kinds.extend(names(&word.string()?));
                continue;
            }
        };
        match name.as_str() {
            "--help" => return Ok(Command::Help(HELP_OF_RECORD)),
            "--version" => return Ok(Command::Version),
            "--output" | "-o" => file = Some(PathBuf::from(parser.value()?)),
            "--for" => {
                let seconds = duration::parse(&parser.value()?.string()?).ok_or(ArgsError::Duration)?;
                length = Some(Duration::from_secs_f64(seconds));
            }
            "--title" => title = parser.value()?.string()?,
            "--namespace" => namespaces = Some(names(&parser.value()?.string()?).collect()),
            "--all-namespaces" => namespaces = Some(Vec::new()),
            "--secrets" => kubectl.secrets = true,
            "--plain" => plain = true,
            "--demo" => of_demo = Some(name),
            "--scenario" | "--pods" | "--rate" | "--seed" => {
                demo.extend([OsString::from(&name), parser.value()?]);
                of_demo = Some(name);
            }
            "--context" => {
                kubectl.context = Some(parser.value()?);
                of_kubectl = Some(name);
            }
            "--kubeconfig" => {
                kubectl.kubeconfig = Some(parser.value()?);
                of_kubectl = Some(name);
            }
            _ => return Err(ArgsError::Unknown(name)),
        }
    }
    if !kinds.iter().chain(namespaces.iter().flatten()).all(|name| is_name(name)) {
        return Err(ArgsError::NoName);
    }
    let from = match (of_demo, of_kubectl) {
        (Some(demo), Some(kubectl)) => return Err(ArgsError::TwoClusters(demo, kubectl)),
        (Some(_), None) => Source::Demo(demo),
        (None, _) => Source::Kubeconfig { context: kubectl.context, file: kubectl.kubeconfig },
    };
    let file = file.ok_or(ArgsError::NoOutput)?;
    Ok(Command::Record(Record { from, kinds, namespaces, file, length, title, secrets: kubectl.secrets, plain }))
}

pub(super) fn parse_changes(mut parser: Parser) -> Result<Command, ArgsError> {
    let (mut file, mut all, mut json) = (None, false, false);
    while let Some(argument) = parser.next()? {
        match word_of(argument) {
            Word::Plain(word) if file.is_none() => file = Some(PathBuf::from(word)),
            Word::Plain(_) => return Err(ArgsError::OneFile),
            Word::Flag(name) => match name.as_str() {
                "--help" => return Ok(Command::Help(HELP_OF_CHANGES)),
                "--version" => return Ok(Command::Version),
                "--all" => all = true,
                "--json" => json = true,
                _ => return Err(ArgsError::Unknown(name)),
            },
        }
    }
    Ok(Command::Changes(Changes { file: file.ok_or(ArgsError::OneFile)?, all, json }))
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Result<Command, &str>) {
        let got = parse(line.split_whitespace()).map_err(|error| error.to_string());
        assert_eq!(got, expected.map_err(str::to_owned), "{line}");
    }

    fn record(from: Source) -> Record {
        let (kinds, namespaces, length, title) = (Vec::new(), None, None, String::new());
        Record { from, kinds, namespaces, file: PathBuf::from("x.churn"), length, title, secrets: false, plain: false }
    }

    fn usual() -> Record {
        record(Source::Kubeconfig { context: None, file: None })
    }

    #[test]
    fn what_is_to_be_recorded() {
        let of = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
        check("record -o x.churn", Ok(Command::Record(usual())));
        let some = Record { kinds: of(&["pods", "deploy", "nodes"]), ..usual() };
        check("record pods,deploy nodes --output=x.churn", Ok(Command::Record(some)));
        let long = Record { length: Some(Duration::from_secs(5_400)), title: "why".to_owned(), ..usual() };
        check("record -ox.churn --for 1h30m --title why", Ok(Command::Record(long)));
        let two = Record { namespaces: Some(of(&["a", "b"])), secrets: true, ..usual() };
        check("record -n a,b -o x.churn --secrets", Ok(Command::Record(two)));
        check("record -o x.churn --plain", Ok(Command::Record(Record { plain: true, ..usual() })));
        check("record -A -o x.churn", Ok(Command::Record(Record { namespaces: Some(Vec::new()), ..usual() })));
        let named = Source::Kubeconfig { context: Some("x".into()), file: Some("/f".into()) };
        check("record --context x --kubeconfig /f -o x.churn", Ok(Command::Record(record(named))));
        let demo = Source::Demo(["--scenario", "rollout"].map(OsString::from).to_vec());
        check("record --scenario rollout -o x.churn", Ok(Command::Record(record(demo))));
        check("record --demo -o x.churn", Ok(Command::Record(record(Source::Demo(Vec::new())))));
        check("record -o x.churn -h", Ok(Command::Help(HELP_OF_RECORD)));
        check("record", Err("a recording is written into a file: name it with -o"));
        check("record -o", Err("-o wants a value: see --help"));
        check("record -o x.churn --for 10", Err("--for wants a duration, such as 90s, 10m or 1h30m"));
        check("record -o x.churn --port 1", Err("there is no flag --port: see --help"));
        check("record -o x.churn po/web", Err("a view and a namespace are names: see --help"));
        check(
            "record -o x.churn --pods 3 --context x",
            Err("--pods is for the demo cluster, and --context for a cluster of yours: leave one of them out"),
        );
    }

    #[test]
    fn what_is_to_be_printed() {
        let of = |all, json| Ok(Command::Changes(Changes { file: PathBuf::from("x.churn"), all, json }));
        check("changes x.churn", of(false, false));
        check("changes --json x.churn --all", of(true, true));
        check("changes --help", Ok(Command::Help(HELP_OF_CHANGES)));
        check("changes", Err("changes wants the file of one recording: see kubechurn changes --help"));
        check("changes x y", Err("changes wants the file of one recording: see kubechurn changes --help"));
        check("changes x -n y", Err("there is no flag --namespace: see --help"));
    }
}
