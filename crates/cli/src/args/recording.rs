//! The words after `record`, `changes` and `open`.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kubechurn_changes::filter::Filter;
use kubechurn_client::api::time::Timestamp;
use kubechurn_cluster::duration;
use lexopt::{Parser, ValueExt};

use super::{ArgsError, Command, Word, is_name, word_of};
use crate::record::folder::is_folder;
use crate::store;

/// What `record --help` prints.
const HELP_OF_RECORD: &str = "\
kubechurn record [KIND ...] -o FILE|FOLDER/|s3://BUCKET/PATH [flags]

Writes what happens in a cluster into a file, until Ctrl-C: every version of every object, and when nothing was heard. It
lists and watches as the page does, asks the API server itself, without kubectl, and writes nothing to the cluster. KIND is
a resource by any name that kubectl knows, as pods or deploy; without one, those are recorded whose changes matter most.

  -o, --output FILE       write into this file, which must be new; its name should end in .churn
  -o, --output FOLDER/    write into files of this folder, one after the other, each of which can be opened by itself
  -o, --output s3://BUCKET/PATH
                          write such files into an object store that speaks S3, with the credentials of the environment
                          (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL and the like)
      --upload DURATION   how often what is new goes into the object store (1m)
      --spool FOLDER      where files are until they are in the object store (~/.local/state/kubechurn/BUCKET/PATH)
      --every DURATION    begin another file of a folder after this time (1h)
      --size BYTES        or when a file has so many bytes, as 64MiB or 10MB (64MiB; 16MiB in an object store)
      --keep DURATION     remove files of a folder that are older than this, as 7d or 36h
      --max BYTES         remove the oldest files of a folder where all have more bytes than this, as 2GiB; a file then has
                          at most a quarter of it
      --for DURATION      end after this time, as 90s, 10m or 1h30m
      --until WORDS       end at the first change that these words of a filter let through, in one argument, as
                          'kind:Job name:backup complete'; the exit code is 2 where something else ends it before
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
kubechurn changes FILE|FOLDER [WORD ...] [flags]
kubechurn changes [WORD ...] [flags]

Prints a line for each change in a recording, or, without one, for each change in a cluster as it happens, until Ctrl-C: when
it was, in UTC; whether the object was added (▲), changed (●), deleted (✕) or found changed by a new list (◆); which
object; what was changed, from what to what; and who seems to have written it, as far as managedFields show.

The files of a folder are read in the order of their times, as one recording; so are those at s3://BUCKET/PATH. A WORD limits what is printed, as the filter
of the page's What changed does: web, kind:Deployment, ns:shop, path:spec, by:kubectl, type:deleted, status:failing,
!by:kubelet, or a regular expression between slashes. All of them must hold.

      --from TIME         leave out what was before this time, as 2026-11-26T17:00:00Z; little of it is read
      --to TIME           leave out what was after this time
      --all               print also what says nothing, such as heartbeats
      --json              print each change as a line of JSON, with all of its fields
      --audit LOG         read this audit log of the API server, and print who made the requests, and not who seems to have
                          written; what the recording has of that is printed in any case

A cluster, which is asked as by kubechurn record:
  -n, -A, --for, --context, --kubeconfig, --demo and its flags
                          as kubechurn record --help has them; without any, kubectl's current context is used

  -h, --help              print this
";

/// What `open --help` prints.
const HELP_OF_OPEN: &str = "\
kubechurn open FILE|FOLDER [flags]

Shows a recording in the browser: a file, or the files of a folder in the order of their times, as one recording; or those at
s3://BUCKET/PATH, of which a copy is made. The page is the one that shows a cluster, and needs none.

      --from TIME         leave out what ends before this time, as 2026-11-26T17:00:00Z, in whole blocks; how everything was
                          then is shown in its place
      --to TIME           leave out what begins after this time, in whole blocks
      --port PORT         listen on this port, and not on a free one
      --no-open           print the address, and open no browser

  -h, --help              print this
";

/// When a file of a folder is followed by another one, without `--every`.
const EVERY: Duration = Duration::from_secs(3_600);
/// How many bytes a file of a folder has, without `--size`.
const SIZE: u64 = 64 << 20;
/// And a file in an object store, which is sent as a whole each time.
const SIZE_IN_STORE: u64 = 16 << 20;
/// How often what is new goes into an object store, without `--upload`.
const UPLOAD: Duration = Duration::from_secs(60);

/// What is recorded, and into which file.
#[derive(Debug, PartialEq)]
pub struct Record {
    pub from: Source,
    /// By names that kubectl knows; none for the usual ones.
    pub kinds: Vec<String>,
    /// The namespaces; none for all, and `None` for that of the context.
    pub namespaces: Option<Vec<String>>,
    pub to: Destination,
    /// After which time it ends by itself.
    pub length: Option<Duration>,
    /// At which change it ends by itself.
    pub until: Option<Filter>,
    pub title: String,
    /// Whether Secrets are recorded, without their values.
    pub secrets: bool,
    /// Whether what looks like a credential stays readable.
    pub plain: bool,
    /// The audit log of the API server.
    pub audit: Option<PathBuf>,
}

/// Where a recording goes.
#[derive(Clone, Debug, PartialEq)]
pub enum Destination {
    /// Into a file.
    File(PathBuf),
    /// Into the files of a folder.
    Folder(PathBuf, Limits),
    /// Into files of an object store, each of which is in this folder until it is there.
    Store(PathBuf, Limits, Upload),
    /// Its changes to the terminal, and all else nowhere.
    Terminal(Show),
}

/// Where files are uploaded, and how often.
#[derive(Clone, Debug, PartialEq)]
pub struct Upload {
    /// As `s3://BUCKET/PATH`.
    pub address: String,
    pub every: Duration,
}

/// How large and how old the files of a folder become.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// After which time another file begins.
    pub every: Duration,
    /// At how many bytes another file begins.
    pub size: u64,
    /// How old a file may be.
    pub keep: Option<Duration>,
    /// How many bytes all may have.
    pub max: Option<u64>,
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

/// Which changes are printed, of a recording.
#[derive(Debug, PartialEq)]
pub struct Changes {
    /// A file, or a folder of files.
    pub file: PathBuf,
    /// The time of which they are, in milliseconds since 1970.
    pub from: Option<f64>,
    pub to: Option<f64>,
    pub show: Show,
    /// The audit log of the API server.
    pub audit: Option<PathBuf>,
}

/// Which changes are printed, and how.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Show {
    pub filter: Filter,
    /// Whether noise is printed, too.
    pub all: bool,
    /// Whether each is a line of JSON.
    pub json: bool,
}

/// Which recording is shown in the page.
#[derive(Debug, PartialEq)]
pub struct Open {
    /// A file, or a folder of files.
    pub path: PathBuf,
    /// The time that is shown, in milliseconds since 1970.
    pub from: Option<f64>,
    pub to: Option<f64>,
    /// The port on 127.0.0.1; 0 for a free one.
    pub port: u16,
    /// Whether a browser is opened.
    pub open: bool,
}

/// The names that stand between commas.
fn names(text: &str) -> impl Iterator<Item = String> {
    text.split(',').filter(|name| !name.is_empty()).map(str::to_owned)
}

/// The longest duration: that of [`duration::parse`].
const LONGEST: Duration = Duration::from_secs(1_000_000_000);

/// A duration as Go writes it, or in days.
fn time(text: &str) -> Option<Duration> {
    let days = text.strip_suffix('d').and_then(|days| days.parse().ok()).map(|days: u32| f64::from(days) * 86_400.0);
    let time = Duration::try_from_secs_f64(days.or_else(|| duration::parse(text))?).ok()?;
    (time <= LONGEST).then_some(time)
}

/// A number of bytes, with a unit or without one.
fn bytes(text: &str) -> Option<u64> {
    let (number, unit) = text.split_at(text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len()));
    let units = [("", 1), ("B", 1), ("KB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000)];
    let binary = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TB", 1_000_000_000_000), ("TiB", 1 << 40)];
    let (_, unit) = units.into_iter().chain(binary).find(|(name, _)| *name == unit)?;
    number.parse::<u64>().ok()?.checked_mul(unit)
}

/// The flags about the cluster and the time.
#[derive(Default)]
struct Asked {
    demo: Vec<OsString>,
    context: Option<OsString>,
    kubeconfig: Option<OsString>,
    /// The last flag of each sort of cluster, and of all.
    of_demo: Option<String>,
    of_kubectl: Option<String>,
    last: Option<String>,
    namespaces: Option<Vec<String>>,
    length: Option<Duration>,
}

impl Asked {
    /// Takes a flag. Returns whether it is one of these.
    fn take(&mut self, name: &str, parser: &mut Parser) -> Result<bool, ArgsError> {
        match name {
            "--for" => self.length = Some(time(&parser.value()?.string()?).ok_or(ArgsError::Duration("--for"))?),
            "--namespace" => self.namespaces = Some(names(&parser.value()?.string()?).collect()),
            "--all-namespaces" => self.namespaces = Some(Vec::new()),
            "--demo" => self.of_demo = Some(name.to_owned()),
            "--scenario" | "--pods" | "--rate" | "--seed" => {
                self.demo.extend([OsString::from(name), parser.value()?]);
                self.of_demo = Some(name.to_owned());
            }
            "--context" => {
                self.context = Some(parser.value()?);
                self.of_kubectl = Some(name.to_owned());
            }
            "--kubeconfig" => {
                self.kubeconfig = Some(parser.value()?);
                self.of_kubectl = Some(name.to_owned());
            }
            _ => return Ok(false),
        }
        self.last = Some(name.to_owned());
        Ok(true)
    }

    /// What is recorded of these kinds.
    fn record(self, kinds: Vec<String>, to: Destination) -> Result<Record, ArgsError> {
        if !kinds.iter().chain(self.namespaces.iter().flatten()).all(|name| is_name(name)) {
            return Err(ArgsError::NoName);
        }
        let from = match (self.of_demo, self.of_kubectl) {
            (Some(demo), Some(kubectl)) => return Err(ArgsError::TwoClusters(demo, kubectl)),
            (Some(_), None) => Source::Demo(self.demo),
            (None, _) => Source::Kubeconfig { context: self.context, file: self.kubeconfig },
        };
        let (namespaces, length, title) = (self.namespaces, self.length, String::new());
        Ok(Record {
            from,
            kinds,
            namespaces,
            to,
            length,
            until: None,
            title,
            secrets: false,
            plain: false,
            audit: None,
        })
    }
}

/// The value of a flag that wants a duration.
fn span(flag: &'static str, parser: &mut Parser) -> Result<Duration, ArgsError> {
    time(&parser.value()?.string()?).filter(|time| !time.is_zero()).ok_or(ArgsError::Duration(flag))
}

/// The value of a flag that wants a number of bytes.
fn amount(flag: &'static str, parser: &mut Parser) -> Result<u64, ArgsError> {
    bytes(&parser.value()?.string()?).filter(|bytes| *bytes > 0).ok_or(ArgsError::Bytes(flag))
}

/// Where the files are that are to go to this address of an object store: in a folder of the user's own.
fn usual_spool(address: &str) -> Option<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = set("XDG_STATE_HOME").or_else(|| Some(set("HOME")?.join(".local/state")))?;
    let (bucket, path) = store::parts(address)?;
    // A path of an object store may be anything.
    let parts = [bucket].into_iter().chain(path.split('/')).filter(|part| !["", ".", ".."].contains(part));
    Some(parts.fold(state.join("kubechurn"), |folder, part| folder.join(part)))
}

pub(super) fn parse_record(mut parser: Parser) -> Result<Command, ArgsError> {
    let (mut kinds, mut file, mut asked) = (Vec::new(), None, Asked::default());
    let (mut until, mut title, mut secrets, mut plain, mut audit) = (None, String::new(), false, false, None);
    let mut limits = Limits { every: EVERY, size: SIZE, keep: None, max: None };
    let (mut upload, mut spool) = (UPLOAD, None);
    // The last flag that is for a folder, that is about old files, and that is for an object store.
    let (mut of_folder, mut of_old, mut of_store) = (None, None, None);
    let mut has_size = false;
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
            "--every" => (limits.every, of_folder) = (span("--every", &mut parser)?, Some("--every")),
            "--size" => {
                (limits.size, of_folder) = (amount("--size", &mut parser)?, Some("--size"));
                has_size = true;
            }
            "--keep" => (limits.keep, of_old) = (Some(span("--keep", &mut parser)?), Some("--keep")),
            "--max" => (limits.max, of_old) = (Some(amount("--max", &mut parser)?), Some("--max")),
            "--upload" => (upload, of_store) = (span("--upload", &mut parser)?, Some("--upload")),
            "--spool" => (spool, of_store) = (Some(PathBuf::from(parser.value()?)), Some("--spool")),
            "--until" => {
                let words = parser.value()?.string()?;
                until = Some(Filter::parse(&words)?).filter(|filter| !filter.is_empty());
                if until.is_none() {
                    return Err(ArgsError::NoCondition);
                }
            }
            "--title" => title = parser.value()?.string()?,
            "--secrets" => secrets = true,
            "--plain" => plain = true,
            "--audit" => audit = Some(PathBuf::from(parser.value()?)),
            _ if asked.take(&name, &mut parser)? => {}
            _ => return Err(ArgsError::Unknown(name)),
        }
    }
    let file = file.ok_or(ArgsError::NoOutput)?;
    let address = file.to_str().filter(|file| store::parts(file).is_some());
    let to = match (address, of_store, of_old, of_folder) {
        (Some(_), _, Some(flag), _) => return Err(ArgsError::OfFolder(flag)),
        (Some(address), ..) => {
            let spool = spool.or_else(|| usual_spool(address)).ok_or(ArgsError::NoSpool)?;
            let size = if has_size { limits.size } else { SIZE_IN_STORE };
            let upload = Upload { address: address.to_owned(), every: upload };
            Destination::Store(spool, Limits { size, ..limits }, upload)
        }
        (None, Some(flag), ..) => return Err(ArgsError::NoStore(flag)),
        _ if is_folder(&file) => Destination::Folder(file, limits),
        (None, None, Some(flag), _) | (None, None, None, Some(flag)) => return Err(ArgsError::NoFolder(flag)),
        (None, None, None, None) => Destination::File(file),
    };
    Ok(Command::Record(Record { until, title, secrets, plain, audit, ..asked.record(kinds, to)? }))
}

/// Whether a word names a recording, and is no word of a filter.
fn is_recording(word: &OsString) -> bool {
    let bytes = word.as_encoded_bytes();
    bytes.ends_with(b".churn")
        || bytes.starts_with(store::SCHEME.as_bytes())
        || is_folder(Path::new(word))
        || Path::new(word).exists()
}

pub(super) fn parse_changes(mut parser: Parser) -> Result<Command, ArgsError> {
    let (mut file, mut words, mut asked, mut show) = (None, Vec::new(), Asked::default(), Show::default());
    let (mut is_first, mut audit, mut from, mut to) = (true, None, None, None);
    while let Some(argument) = parser.next()? {
        match word_of(argument) {
            Word::Plain(word) if std::mem::take(&mut is_first) && is_recording(&word) => {
                file = Some(PathBuf::from(word))
            }
            Word::Plain(word) => words.push(word.string()?),
            Word::Flag(name) => match name.as_str() {
                "--help" => return Ok(Command::Help(HELP_OF_CHANGES)),
                "--version" => return Ok(Command::Version),
                "--all" => show.all = true,
                "--json" => show.json = true,
                "--audit" => audit = Some(PathBuf::from(parser.value()?)),
                "--from" => from = Some(moment("--from", &parser.value()?.string()?)?),
                "--to" => to = Some(moment("--to", &parser.value()?.string()?)?),
                _ if asked.take(&name, &mut parser)? => {}
                _ => return Err(ArgsError::Unknown(name)),
            },
        }
    }
    show.filter = Filter::parse(&words.join(" "))?;
    match (file, asked.last.take()) {
        (Some(_), Some(flag)) => Err(ArgsError::OfCluster(flag)),
        (Some(file), None) => Ok(Command::Changes(Changes { file, from, to, show, audit })),
        (None, _) if from.is_some() || to.is_some() => Err(ArgsError::TimeOfRecording),
        // Who made a request is known when its change has long been printed.
        (None, _) if audit.is_some() => Err(ArgsError::AuditOfRecording),
        (None, _) => Ok(Command::Record(asked.record(Vec::new(), Destination::Terminal(show))?)),
    }
}

pub(super) fn parse_open(mut parser: Parser) -> Result<Command, ArgsError> {
    let (mut path, mut from, mut to, mut port, mut open) = (None, None, None, 0, true);
    while let Some(argument) = parser.next()? {
        match word_of(argument) {
            Word::Plain(word) if path.is_none() => path = Some(PathBuf::from(word)),
            Word::Plain(_) => return Err(ArgsError::OneRecording),
            Word::Flag(name) => match name.as_str() {
                "--help" => return Ok(Command::Help(HELP_OF_OPEN)),
                "--version" => return Ok(Command::Version),
                "--from" => from = Some(moment("--from", &parser.value()?.string()?)?),
                "--to" => to = Some(moment("--to", &parser.value()?.string()?)?),
                "--port" => port = parser.value()?.parse().map_err(|_| ArgsError::Port)?,
                "--no-open" => open = false,
                _ => return Err(ArgsError::Unknown(name)),
            },
        }
    }
    Ok(Command::Open(Open { path: path.ok_or(ArgsError::OneRecording)?, from, to, port, open }))
}

/// A time, in milliseconds since 1970.
fn moment(flag: &'static str, text: &str) -> Result<f64, ArgsError> {
    Timestamp::parse(text).map(|Timestamp(seconds)| seconds as f64 * 1e3).ok_or(ArgsError::Time(flag))
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
        let (kinds, namespaces, length, until, title) = (Vec::new(), None, None, None, String::new());
        let to = Destination::File(PathBuf::from("x.churn"));
        Record { from, kinds, namespaces, to, length, until, title, secrets: false, plain: false, audit: None }
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
        check(
            "record -o x.churn --audit a.log",
            Ok(Command::Record(Record { audit: Some("a.log".into()), ..usual() })),
        );
        check("record -A -o x.churn", Ok(Command::Record(Record { namespaces: Some(Vec::new()), ..usual() })));
        let named = Source::Kubeconfig { context: Some("x".into()), file: Some("/f".into()) };
        check("record --context x --kubeconfig /f -o x.churn", Ok(Command::Record(record(named))));
        let demo = Source::Demo(["--scenario", "rollout"].map(OsString::from).to_vec());
        check("record --scenario rollout -o x.churn", Ok(Command::Record(record(demo))));
        check("record --demo -o x.churn", Ok(Command::Record(record(Source::Demo(Vec::new())))));
        let until = Some(Filter::parse("kind:Job complete").expect("a filter"));
        let (from, to) = (usual().from, usual().to);
        let until = Command::Record(Record { until, from, to, ..usual() });
        let words = ["record", "-o", "x.churn", "--until", "kind:Job complete"];
        assert_eq!(parse(words).map_err(|error| error.to_string()), Ok(until));
        check("record -o x.churn -h", Ok(Command::Help(HELP_OF_RECORD)));
        check("record", Err("a recording is written into a file: name it with -o"));
        check("record -o", Err("-o wants a value: see --help"));
        for bad in ["10", "40000d", "99999999999d", "1000000h", "99999999999999999999999999s"] {
            let line = format!("record -o x.churn --for {bad}");
            check(&line, Err("--for wants a duration of at most thirty years, such as 90s, 10m or 1h30m"));
        }
        check("record -o x.churn --until !", Err("--until wants words of a filter, such as 'kind:Job complete'"));
        check("record -o x.churn --until /x", Err("the regular expression /x has no end: close it with a /"));
        check(
            "record -o x.churn --keep 7d",
            Err("--keep is for the files of a folder: end the name after -o with a /"),
        );
        check("record -o x.churn --port 1", Err("there is no flag --port: see --help"));
        check("record -o x.churn po/web", Err("a view and a namespace are names: see --help"));
        check(
            "record -o x.churn --pods 3 --context x",
            Err("--pods is for the demo cluster, and --context for a cluster of yours: leave one of them out"),
        );
    }

    #[test]
    fn the_files_of_a_folder_have_limits() {
        let folder = |limits| {
            let to = Destination::Folder(PathBuf::from("x/"), limits);
            Ok(Command::Record(Record { to, ..usual() }))
        };
        let usual = Limits { every: EVERY, size: SIZE, keep: None, max: None };
        check("record -o x/", folder(usual));
        let days = Some(Duration::from_secs(7 * 86_400));
        check("record -o x/ --keep 7d --max 2GiB", folder(Limits { keep: days, max: Some(2 << 30), ..usual }));
        let small = Limits { every: Duration::from_secs(90), size: 10_000_000, ..usual };
        check("record -o x/ --every 1m30s --size 10MB", folder(small));
        check(
            "record -o x/ --keep 7w",
            Err("--keep wants a duration of at most thirty years, such as 90s, 10m or 1h30m"),
        );
        check(
            "record -o x/ --every 0s",
            Err("--every wants a duration of at most thirty years, such as 90s, 10m or 1h30m"),
        );
        for bad in ["0", "2Gi", "1.5GB", "x", "99999999999TiB"] {
            check(&format!("record -o x/ --max {bad}"), Err("--max wants a number of bytes, such as 64MiB or 2GiB"));
        }
    }

    #[test]
    fn an_object_store_has_a_folder_for_what_is_not_there_yet() {
        let upload = |every| Upload { address: "s3://b/c/".to_owned(), every };
        let limits = |size| Limits { every: EVERY, size, keep: None, max: None };
        let store = |size, every| {
            let to = Destination::Store(PathBuf::from("x"), limits(size), upload(every));
            Ok(Command::Record(Record { to, ..usual() }))
        };
        check("record -o s3://b/c/ --spool x", store(SIZE_IN_STORE, UPLOAD));
        check("record -o s3://b/c/ --spool x --size 1MB --upload 5s", store(1_000_000, Duration::from_secs(5)));
        check("record -o x/ --spool y", Err("--spool is for an object store: name one as s3://BUCKET/PATH after -o"));
        check(
            "record -o s3://b/c --keep 7d",
            Err("--keep is for the files of a folder: an object store has rules of its own for what is old"),
        );
        let spool = usual_spool("s3://b/../c//d").map(|spool| spool.display().to_string()).unwrap_or_default();
        assert!(spool.is_empty() || spool.ends_with("/kubechurn/b/c/d"), "{spool}");
    }

    #[test]
    fn what_is_to_be_printed() {
        let show = |all, json, words| Show { filter: Filter::parse(words).expect("a filter"), all, json };
        let with = |show, audit| {
            Ok(Command::Changes(Changes { file: PathBuf::from("x.churn"), from: None, to: None, show, audit }))
        };
        let of = |show| with(show, None);
        check("changes x.churn", of(show(false, false, "")));
        check("changes x.churn --audit a.log", with(show(false, false, ""), Some("a.log".into())));
        check(
            "changes --audit a.log",
            Err("--audit of changes is for a recording: name one, or record with kubechurn record --audit"),
        );
        check("changes --json x.churn --all", of(show(true, true, "")));
        check("changes x.churn kind:Pod !web --json", of(show(false, true, "kind:Pod !web")));
        check("changes x.churn y.churn", of(show(false, false, "y.churn")));
        let live = |show, from| Ok(Command::Record(Record { to: Destination::Terminal(show), ..record(from) }));
        check("changes kind:Pod --all", live(show(true, false, "kind:Pod"), usual().from));
        let named = Source::Kubeconfig { context: Some("x".into()), file: None };
        check("changes --context x", live(show(false, false, ""), named));
        check("changes --help", Ok(Command::Help(HELP_OF_CHANGES)));
        check("changes x.churn by:/x", Err("the regular expression by:/x has no end: close it with a /"));
        check(
            "changes x.churn -n y",
            Err("--namespace is for a cluster, and a recording was named: leave one of them out"),
        );
        check("changes --title y", Err("there is no flag --title: see --help"));
    }

    #[test]
    fn what_is_to_be_opened() {
        let open = Open { path: PathBuf::from("x"), from: None, to: None, port: 0, open: true };
        check("open x", Ok(Command::Open(Open { path: PathBuf::from("x"), ..open })));
        let some = Open { from: Some(1e3), to: Some(90e3), port: 8010, open: false, ..open };
        check(
            "open x --from 1970-01-01T00:00:01Z --to=1970-01-01T01:01:30+01:00 --port 8010 --no-open",
            Ok(Command::Open(some)),
        );
        check("open --help", Ok(Command::Help(HELP_OF_OPEN)));
        check("open", Err("open wants one recording: see kubechurn open --help"));
        check("open x y", Err("open wants one recording: see kubechurn open --help"));
        check("open x --to 17:00", Err("--to wants a time, such as 2026-11-26T17:00:00Z"));
    }
}
