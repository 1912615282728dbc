//! The command line. Reading it touches neither the network nor the clock.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use lexopt::{Arg, ValueExt};

use crate::controllers::pace::Pace;
use crate::faults::grammar::{self, GrammarError};
use crate::faults::rule::Spec;
use crate::resources::builtin::RESOURCES;
use crate::scenario::{Scenario, parse_rate};
use crate::write::event_ttl::Limits;

/// What `--help` prints.
pub const HELP: &str = "\
cluster: a Kubernetes API server for demos and tests, with a cluster that changes

USAGE: cluster [OPTIONS]

  --scenario NAMES       what happens, with commas between: calm, rollout, crashloop, node-failure,
                         autoscaler-flap, hot-loop, bad-config, node-repair; or mixed, the first five of them
                         (the default); or storm or scale, which are load, without controllers
  --controllers on|off   whether controllers, scheduler and kubelets run (default on, but not under load)
  --pace demo|real       how fast things fail: as in Kubernetes, or back-offs in half and failed nodes' Pods in a
                         tenth of the time (default demo)
  --pods N               Pods in the cluster, about (default 300; scale: 150000)
  --rate EVENTS          writes a second of a storm, about; without --scenario it asks for one; 0 = quiet
                         (default of storm 5000, of scale 200)
  --seed S               the cluster that is built and what happens to it (default 1)
  --port P               port on 127.0.0.1; 0 = any free one (default 8080)
  --first-revision N     where the revision counter starts; everything below is compacted (default 1000)
  --etcd URL             keep the objects in this etcd, such as http://127.0.0.1:2379, which outlives this process;
                         a cluster is made up if there is none in it yet; no place for load
  --event-ttl SECONDS    how long an Event is kept after its last write (default 3600)
  --bookmark-seconds N   how often a watch that asked for bookmarks gets one (default 60)
  --fault WORDS          a fault from the start, such as status=429,verb=list,resource=pods,times=3; may be said
                         again: the words are those of POST /_control/fault
  --ledger FILE          writes down there, in lines of JSON, every write and every frame that is sent
  --audit FILE           writes down there, as the audit log of an API server, who made which request that may write;
                         what a storm writes past the API is not in it
  --help                 this text

Once ready it prints one line: listening on http://127.0.0.1:PORT
";

/// The options, each with its default.
#[derive(Debug, Clone, PartialEq)]
pub struct Args {
    /// About how many Pods there are.
    pub pods: usize,
    /// Writes per second.
    pub rate: f64,
    /// The seed that the cluster and its changes are derived from.
    pub seed: u64,
    /// Port on 127.0.0.1; 0 lets the system pick.
    pub port: u16,
    /// Where the revision counter starts.
    pub first_revision: u64,
    /// The time between two bookmarks of one watch.
    pub bookmark_every: Duration,
    /// Which Events are kept.
    pub events: Limits,
    /// The address of the etcd that keeps the objects; without one they are kept in memory.
    pub etcd: Option<String>,
    /// What happens in the cluster.
    pub scenarios: Vec<Scenario>,
    /// Whether controllers, scheduler and kubelets run.
    pub controllers: bool,
    /// How fast the simulated kubelets work.
    pub pace: Pace,
    /// The faults that are on from the start.
    pub faults: Vec<Spec>,
    /// The file that the ledger is written to, if any.
    pub ledger: Option<PathBuf>,
    /// The file that the audit log is written to, if any.
    pub audit: Option<PathBuf>,
}

impl Default for Args {
    fn default() -> Self {
        Self {
            pods: 300,
            rate: 0.0,
            seed: 1,
            port: 8080,
            first_revision: 1000,
            bookmark_every: Duration::from_secs(60),
            events: Limits::default(),
            etcd: None,
            scenarios: Scenario::MIXED.to_vec(),
            controllers: true,
            pace: Pace::DEMO,
            faults: Vec::new(),
            ledger: None,
            audit: None,
        }
    }
}

/// What the command line asks for.
#[derive(Debug, PartialEq)]
pub enum Command {
    /// Serve with these options.
    Serve(Box<Args>),
    /// Print the help.
    Help,
}

/// Why a command line is refused.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum ArgsError {
    /// There is no such option.
    #[error("unknown option {0:?}; --help lists the options")]
    Unknown(String),
    /// An option at the end of the line lacks its value.
    #[error("{0} needs a value")]
    MissingValue(String),
    /// The option does not accept this value.
    #[error("{option} {value:?}: {expected}")]
    BadValue {
        /// The name of the option.
        option: String,
        /// The value that was given.
        value: String,
        /// What the option accepts.
        expected: &'static str,
    },
    /// A word that is not valid text, or a value for an option that has none.
    #[error("{0}")]
    Unreadable(String),
    /// The value of `--fault` describes no fault.
    #[error("--fault {0:?}: {1}")]
    BadFault(String, #[source] GrammarError),
}

impl From<lexopt::Error> for ArgsError {
    fn from(error: lexopt::Error) -> Self {
        match error {
            lexopt::Error::MissingValue { option } => Self::MissingValue(option.unwrap_or_default()),
            other => Self::Unreadable(other.to_string()),
        }
    }
}

/// An option with its value.
struct Given {
    option: String,
    value: String,
}

impl Given {
    /// Parses the value with `read`; where `read` gives `None`, the error says what the option expects.
    fn read<T>(&self, expected: &'static str, read: impl FnOnce(&str) -> Option<T>) -> Result<T, ArgsError> {
        let bad = || ArgsError::BadValue { option: self.option.clone(), value: self.value.clone(), expected };
        read(&self.value).ok_or_else(bad)
    }

    /// Parses the value as a number of seconds, at least 1 and at most `most`.
    fn seconds(&self, most: u64) -> Result<Duration, ArgsError> {
        let read = |text: &str| text.parse().ok().filter(|seconds| (1..=most).contains(seconds));
        self.read("seconds, from 1", read).map(Duration::from_secs)
    }
}

/// Reads the arguments that follow the program's name; `--option value` and `--option=value` are the same.
pub fn parse(words: impl IntoIterator<Item = impl Into<OsString>>) -> Result<Command, ArgsError> {
    let mut args = Args::default();
    let (mut pods, mut rate, mut scenarios, mut controllers) = (None, None, None, None);
    let mut parser = lexopt::Parser::from_args(words);
    while let Some(argument) = parser.next()? {
        let name = match argument {
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Help),
            Arg::Long(name) => name.to_owned(),
            Arg::Short(letter) => return Err(ArgsError::Unknown(format!("-{letter}"))),
            Arg::Value(word) => return Err(ArgsError::Unknown(word.to_string_lossy().into_owned())),
        };
        let option = format!("--{name}");
        let mut given =
            || -> Result<Given, ArgsError> { Ok(Given { option: option.clone(), value: parser.value()?.string()? }) };
        match name.as_str() {
            "pods" => {
                let read = |text: &str| text.parse().ok().filter(|pods| *pods <= 500_000);
                pods = Some(given()?.read("a number up to 500000", read)?);
            }
            "rate" => rate = Some(given()?.read("a number from 0 to 100000", parse_rate)?),
            "scenario" => {
                let expected = "names of --help with commas between; storm and scale stand alone";
                scenarios = Some(given()?.read(expected, Scenario::parse_list)?);
            }
            "seed" => args.seed = given()?.read("a whole number", |text| text.parse().ok())?,
            "port" => args.port = given()?.read("a port from 0 to 65535", |text| text.parse().ok())?,
            "first-revision" => {
                // Half of the range stays free, so that no number of writes can overflow the counter.
                let read = |text: &str| text.parse().ok().filter(|n| (1..=u64::MAX / 2).contains(n));
                args.first_revision = given()?.read("a whole number from 1", read)?;
            }
            "etcd" => {
                // No TLS: on this machine it would be no safer unless etcd also asked for a client certificate.
                let read = |text: &str| {
                    let rest = text.strip_prefix("http://").filter(|rest| !rest.is_empty());
                    rest.map(|_| text.to_owned())
                };
                args.etcd = Some(given()?.read("an address that begins with http://", read)?);
            }
            "event-ttl" => args.events.ttl = given()?.seconds(31_536_000)?,
            "bookmark-seconds" => args.bookmark_every = given()?.seconds(86_400)?,
            "fault" => {
                let Given { value, .. } = given()?;
                // CustomResourceDefinitions are created after the command line is read, so any name with a group is
                // accepted.
                let is_resource =
                    |name: &str| name.contains('.') || RESOURCES.iter().any(|resource| resource.plural == name);
                let fault = grammar::parse_flag(&value, &is_resource);
                args.faults.push(fault.map_err(|error| ArgsError::BadFault(value, error))?);
            }
            "pace" => {
                let read = |text: &str| match text {
                    "demo" => Some(Pace::DEMO),
                    "real" => Some(Pace::default()),
                    _ => None,
                };
                args.pace = given()?.read("demo or real", read)?;
            }
            "audit" => args.audit = Some(given()?.value.into()),
            "ledger" => args.ledger = Some(given()?.value.into()),
            "controllers" => {
                let read = |text: &str| match text {
                    "on" => Some(true),
                    "off" => Some(false),
                    _ => None,
                };
                controllers = Some(given()?.read("on or off", read)?);
            }
            _ => return Err(ArgsError::Unknown(option)),
        }
    }
    // Only the storm scenario has a rate, so a rate without a scenario selects the storm.
    let storm = || if rate.is_some() { vec![Scenario::Storm] } else { args.scenarios.clone() };
    args.scenarios = scenarios.unwrap_or_else(storm);
    let (is_storm, is_scale) = (args.scenarios == [Scenario::Storm], args.scenarios == [Scenario::Scale]);
    args.rate = rate.unwrap_or(if is_storm {
        5000.0
    } else if is_scale {
        200.0
    } else {
        0.0
    });
    args.pods = pods.unwrap_or(if is_scale { 150_000 } else { args.pods });
    args.controllers = controllers.unwrap_or(!(is_storm || is_scale));
    if let Some(url) = args.etcd.as_ref().filter(|_| (is_storm || is_scale) && args.rate > 0.0) {
        let expected = "storm and scale are written past the API, which only a storage in memory allows";
        return Err(ArgsError::BadValue { option: "--etcd".to_owned(), value: url.clone(), expected });
    }
    Ok(Command::Serve(Box::new(args)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Result<Args, &str>) {
        let got = parse(line.split_whitespace().map(str::to_owned)).map_err(|error| error.to_string());
        assert_eq!(got, expected.map(|args| Command::Serve(Box::new(args))).map_err(str::to_owned), "{line}");
    }

    fn frame_error(word: &str) -> String {
        grammar::parse_flag(&format!("frame={word}"), &|_| true).unwrap_err().to_string()
    }

    #[test]
    fn options_and_their_mistakes() {
        check("", Ok(Args::default()));
        let storm = || Args { scenarios: vec![Scenario::Storm], controllers: false, rate: 5000.0, ..Args::default() };
        check("--pods 5 --rate=0.5 --port 0", Ok(Args { pods: 5, rate: 0.5, port: 0, ..storm() }));
        check("--scenario storm", Ok(storm()));
        check("--scenario scale", Ok(Args { scenarios: vec![Scenario::Scale], pods: 150_000, rate: 200.0, ..storm() }));
        check("--scenario hot-loop", Ok(Args { scenarios: vec![Scenario::HotLoop], ..Args::default() }));
        let expected = "names of --help with commas between; storm and scale stand alone";
        check("--scenario storm,calm", Err(&format!("--scenario \"storm,calm\": {expected}")));
        check("--pods", Err("--pods needs a value"));
        check("--pods many", Err("--pods \"many\": a number up to 500000"));
        check("--rate -1", Err("--rate \"-1\": a number from 0 to 100000"));
        check("--pace real", Ok(Args { pace: Pace::default(), ..Args::default() }));
        check("--pace slow", Err("--pace \"slow\": demo or real"));
        check("--controllers off", Ok(Args { controllers: false, ..Args::default() }));
        check("--controllers on --rate 1", Ok(Args { controllers: true, rate: 1.0, ..storm() }));
        check("--controllers yes", Err("--controllers \"yes\": on or off"));
        check("--rate NaN", Err("--rate \"NaN\": a number from 0 to 100000"));
        check("--port 70000", Err("--port \"70000\": a port from 0 to 65535"));
        check("--etcd http://h:1", Ok(Args { etcd: Some("http://h:1".to_owned()), ..Args::default() }));
        check("--etcd http://h:1 --rate 0", Ok(Args { etcd: Some("http://h:1".to_owned()), rate: 0.0, ..storm() }));
        let refused = "storm and scale are written past the API, which only a storage in memory allows";
        check("--scenario scale --etcd http://h:1", Err(&format!("--etcd \"http://h:1\": {refused}")));
        check("--etcd https://h:1", Err("--etcd \"https://h:1\": an address that begins with http://"));
        let fault = "status=500,resource=pods";
        let parsed = grammar::parse_flag(fault, &|_| true).unwrap();
        check(&format!("--fault {fault}"), Ok(Args { faults: vec![parsed], ..Args::default() }));
        check("--fault frame=red", Err(&format!("--fault \"frame=red\": {}", frame_error("red"))));
        let events = Limits { ttl: Duration::from_secs(90), ..Limits::default() };
        check("--event-ttl 90", Ok(Args { events, ..Args::default() }));
        check("--event-ttl 0", Err("--event-ttl \"0\": seconds, from 1"));
        check("--ledger file", Ok(Args { ledger: Some("file".into()), ..Args::default() }));
        check("--audit file", Ok(Args { audit: Some("file".into()), ..Args::default() }));
        check("--colour red", Err("unknown option \"--colour\"; --help lists the options"));
        check("pods", Err("unknown option \"pods\"; --help lists the options"));
        check("--colour", Err("unknown option \"--colour\"; --help lists the options"));
        assert_eq!(parse(["--help".to_owned()]), Ok(Command::Help));
    }
}
