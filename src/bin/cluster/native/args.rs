//! The command line, parsed by hand; it never touches the network or the clock.

use std::time::Duration;

/// What `--help` prints.
pub const HELP: &str = "\
cluster: a Kubernetes API server for demos and tests, with a cluster that changes

USAGE: cluster [OPTIONS]

  --pods N               Pods in the cluster, about (default 300)
  --rate EVENTS          writes a second, about; 0 = quiet (default 20)
  --seed S               the cluster that is built and what happens to it (default 1)
  --port P               port on 127.0.0.1; 0 = any free one (default 8080)
  --first-revision N     where the revision counter starts; everything below is compacted (default 1000)
  --bookmark-seconds N   how often a watch that asked for bookmarks gets one (default 60)
  --help                 this text

Once ready it prints one line: listening on http://127.0.0.1:PORT
";

/// The options, each with its default.
#[derive(Debug, Clone, PartialEq)]
pub struct Args {
    /// About how many Pods there are.
    pub pods: usize,
    /// Writes a second.
    pub rate: f64,
    /// What the cluster and its changes are derived from.
    pub seed: u64,
    /// Port on 127.0.0.1; 0 lets the system pick.
    pub port: u16,
    /// Where the revision counter starts.
    pub first_revision: u64,
    /// Time between two bookmarks of one watch.
    pub bookmark_every: Duration,
}

impl Default for Args {
    fn default() -> Self {
        Self {
            pods: 300,
            rate: 20.0,
            seed: 1,
            port: 8080,
            first_revision: 1000,
            bookmark_every: Duration::from_secs(60),
        }
    }
}

/// What the command line asks for.
#[derive(Debug, PartialEq)]
pub enum Command {
    /// Serve with these options.
    Serve(Args),
    /// Print the help.
    Help,
}

/// A command line that cannot be followed.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum ArgsError {
    /// No such option.
    #[error("unknown option {0:?}; --help lists the options")]
    Unknown(String),
    /// An option at the end, without its value.
    #[error("{0} needs a value")]
    MissingValue(String),
    /// A value that the option does not take.
    #[error("{option} {value:?}: {expected}")]
    BadValue {
        /// The option.
        option: String,
        /// What was given.
        value: String,
        /// What it takes.
        expected: &'static str,
    },
}

/// Reads the arguments that follow the program's name; `--option value` and `--option=value` are the same.
pub fn parse(words: impl IntoIterator<Item = String>) -> Result<Command, ArgsError> {
    let mut args = Args::default();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let (option, inline) = match word.split_once('=') {
            Some((option, value)) => (option.to_owned(), Some(value.to_owned())),
            None => (word, None),
        };
        if option == "--help" || option == "-h" {
            return Ok(Command::Help);
        }
        if !["--pods", "--rate", "--seed", "--port", "--first-revision", "--bookmark-seconds"]
            .contains(&option.as_str())
        {
            return Err(ArgsError::Unknown(option));
        }
        let value = match inline.or_else(|| words.next()) {
            Some(value) => value,
            None => return Err(ArgsError::MissingValue(option)),
        };
        let bad = |expected| ArgsError::BadValue { option: option.clone(), value: value.clone(), expected };
        match option.as_str() {
            "--pods" => {
                args.pods = value.parse().ok().filter(|pods| *pods <= 500_000).ok_or(bad("a number up to 500000"))?;
            }
            "--rate" => args.rate = parse_rate(&value).ok_or(bad("a number from 0 to 100000"))?,
            "--seed" => args.seed = value.parse().map_err(|_| bad("a whole number"))?,
            "--port" => args.port = value.parse().map_err(|_| bad("a port from 0 to 65535"))?,
            "--first-revision" => {
                // Half of the range stays free, so no count of writes overflows it.
                args.first_revision = value
                    .parse()
                    .ok()
                    .filter(|n| (1..=u64::MAX / 2).contains(n))
                    .ok_or(bad("a whole number from 1"))?;
            }
            _ => {
                let seconds = value.parse().ok().filter(|n| (1..=86_400).contains(n)).ok_or(bad("seconds, from 1"))?;
                args.bookmark_every = Duration::from_secs(seconds);
            }
        }
    }
    Ok(Command::Serve(args))
}

/// A rate of writes a second; also what `/_control/rate` takes.
pub fn parse_rate(text: &str) -> Option<f64> {
    text.parse().ok().filter(|rate: &f64| (0.0..=100_000.0).contains(rate))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Result<Args, &str>) {
        let got = parse(line.split_whitespace().map(str::to_owned)).map_err(|error| error.to_string());
        assert_eq!(got, expected.map(Command::Serve).map_err(str::to_owned), "{line}");
    }

    #[test]
    fn options_and_their_mistakes() {
        check("", Ok(Args::default()));
        check("--pods 5 --rate=0.5 --port 0", Ok(Args { pods: 5, rate: 0.5, port: 0, ..Args::default() }));
        check("--pods", Err("--pods needs a value"));
        check("--pods many", Err("--pods \"many\": a number up to 500000"));
        check("--rate -1", Err("--rate \"-1\": a number from 0 to 100000"));
        check("--rate NaN", Err("--rate \"NaN\": a number from 0 to 100000"));
        check("--port 70000", Err("--port \"70000\": a port from 0 to 65535"));
        check("--colour", Err("unknown option \"--colour\"; --help lists the options"));
        assert_eq!(parse(["--help".to_owned()]), Ok(Command::Help));
    }
}
