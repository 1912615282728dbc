//! The syntax of faults, on the command line as in a query: words of the form `key=value`.
//!
//! The table of the words is in `lib.rs`. Exactly one of `status`, `delay-ms` or `drip`, `stall`, `watch-list`,
//! `frame`, `end` and `skew` gives the effect; the other words say what is affected, and how often.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::faults::rule::{Drip, Effect, FrameFault, Refusal, Scope, Spec};

const VERBS: [&str; 8] = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];
const EVENTS: [&str; 5] = ["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"];
/// The longest delay of a fault: one day, in milliseconds.
const LONGEST: u64 = 86_400_000;

/// Why words do not describe a fault.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GrammarError {
    /// A word without `=`, or a key that is given twice.
    #[error("{0:?} is no key=value that is said once")]
    Word(String),
    /// A value that the key does not accept.
    #[error("{key}={value:?}: {expected}")]
    Value {
        key: &'static str,
        /// The value that was given.
        value: String,
        /// What the key accepts.
        expected: &'static str,
    },
    /// A key that is unknown, or that has no meaning beside the others.
    #[error("{0} has no place here")]
    Misplaced(String),
    /// No effect, or more than one.
    #[error("exactly one of status, delay-ms or drip, stall, watch-list, frame, end and skew says what happens")]
    Effect,
}

/// Parses the syntax of the command line: words separated by commas.
pub fn parse_flag(text: &str, is_resource: &dyn Fn(&str) -> bool) -> Result<Spec, GrammarError> {
    let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
    let pairs: Result<Vec<_>, _> = words
        .map(|word| word.split_once('=').ok_or_else(|| GrammarError::Word(word.to_owned())))
        .map(|pair| pair.map(|(key, value)| (key.to_owned(), value.to_owned())))
        .collect();
    parse(pairs?, is_resource)
}

/// Parses words. `is_resource` says whether a plural name is known.
pub fn parse(
    pairs: impl IntoIterator<Item = (String, String)>,
    is_resource: &dyn Fn(&str) -> bool,
) -> Result<Spec, GrammarError> {
    let mut words = Words(BTreeMap::new());
    for (key, value) in pairs {
        if words.0.insert(key.clone(), value).is_some() {
            return Err(GrammarError::Word(key));
        }
    }
    let text = words.0.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(",");
    let effect = effect(&mut words)?;
    let of_frames = matches!(effect, Effect::Frame(_));
    let of_watches = of_frames || matches!(effect, Effect::End { .. } | Effect::NoWatchList);
    let is_skew = matches!(effect, Effect::Skew(_));
    let mut spec = Spec { text, effect, scope: Scope::default(), times: None, chance: None, after: 0 };
    if !is_skew {
        spec.scope = Scope {
            resource: words.text("resource", "the plural name of a resource", is_resource)?,
            verb: words.text(
                "verb",
                "get, list, watch, create, update, patch, delete or deletecollection",
                |verb| {
                    if of_watches { verb == "watch" } else { VERBS.contains(&verb) }
                },
            )?,
            namespace: words.text("namespace", "a name", |name| !name.is_empty())?,
            user_agent: words.text("user-agent", "a part of a User-Agent", |part| !part.is_empty())?,
            event: None,
        };
        if of_frames {
            spec.scope.event = words.text("event", "a type of events", |event| EVENTS.contains(&event))?;
        }
        spec.times = words.number("times", 1..=u64::MAX)?;
        spec.after = words.number("after", 0..=u64::MAX)?.unwrap_or_default();
        if let Some(chance) = words.parsed("probability", "from 0 to 1", |chance| (0.0..=1.0).contains(chance))? {
            spec.chance = Some((chance, words.number("seed", 0..=u64::MAX)?.unwrap_or_default()));
        }
    }
    match words.0.pop_first() {
        Some((key, _)) => Err(GrammarError::Misplaced(key)),
        None => Ok(spec),
    }
}

fn effect(words: &mut Words) -> Result<Effect, GrammarError> {
    let main = ["status", "stall", "watch-list", "frame", "end", "skew"];
    let named: Vec<_> = main.into_iter().filter(|key| words.0.contains_key(*key)).collect();
    match named[..] {
        [] => slow(words),
        ["status"] => refusal(words).map(Effect::Refuse),
        ["stall"] => words.text("stall", "true", |word| word == "true").map(|_| Effect::Stall),
        ["watch-list"] => words.text("watch-list", "off", |word| word == "off").map(|_| Effect::NoWatchList),
        ["frame"] => frame_fault(words).map(Effect::Frame),
        ["end"] => {
            let end = words.text("end", "close or drop", |word| ["close", "drop"].contains(&word))?;
            Ok(Effect::End { close: end.as_deref() == Some("close") })
        }
        ["skew"] => {
            let century = 100 * 365 * 86_400_i64;
            let seconds = words.parsed("skew", "seconds, a century at most", |n| (-century..=century).contains(n))?;
            Ok(Effect::Skew(seconds.unwrap_or_default()))
        }
        _ => Err(GrammarError::Effect),
    }
}

fn refusal(words: &mut Words) -> Result<Refusal, GrammarError> {
    let status = words.parsed("status", "from 400 to 599", |status| (400..=599).contains(status))?.unwrap_or(500);
    let usual = [429, 503].contains(&status).then_some(1);
    let retry_after = words.parsed("retry-after", "seconds, a day at most", |n: &u32| *n <= 86_400)?;
    let retry_after = retry_after.map(|seconds| u16::try_from(seconds).unwrap_or(u16::MAX)).or(usual);
    let plain = words.text("body", "status or text", |word| ["status", "text"].contains(&word))?;
    Ok(Refusal { status, retry_after, plain: plain.as_deref() == Some("text") })
}

fn slow(words: &mut Words) -> Result<Effect, GrammarError> {
    let delay = words.milliseconds("delay-ms")?;
    let bytes = words.number("drip", 1..=1 << 30)?;
    if delay.is_none() && bytes.is_none() {
        return Err(GrammarError::Effect);
    }
    let mut drip = None;
    if let Some(bytes) = bytes {
        let pause = words.milliseconds("pause-ms")?.unwrap_or(Duration::from_millis(20));
        drip = Some(Drip { bytes: bytes as usize, pause });
    }
    Ok(Effect::Slow { delay: delay.unwrap_or_default(), drip })
}

fn frame_fault(words: &mut Words) -> Result<FrameFault, GrammarError> {
    let Some(word) = words.0.remove("frame") else { return Err(GrammarError::Effect) };
    if word == "delay" {
        let delay = words.milliseconds("delay-ms")?;
        return Ok(FrameFault::Delay(delay.unwrap_or(Duration::from_secs(1))));
    }
    let all = [
        FrameFault::Duplicate,
        FrameFault::Reorder,
        FrameFault::Truncate,
        FrameFault::NotJson,
        FrameFault::WrongType,
        FrameFault::UnknownType,
        FrameFault::Huge,
        FrameFault::NoEndBookmark,
        FrameFault::Lose,
    ];
    let expected = "delay, duplicate, reorder, truncate, not-json, wrong-type, unknown-type, huge, no-end-bookmark or \
                    lose";
    let found = all.into_iter().find(|fault| fault.word() == word);
    found.ok_or(GrammarError::Value { key: "frame", value: word, expected })
}

/// The words that are not parsed yet.
struct Words(BTreeMap<String, String>);

impl Words {
    fn text(
        &mut self,
        key: &'static str,
        expected: &'static str,
        good: impl Fn(&str) -> bool,
    ) -> Result<Option<String>, GrammarError> {
        match self.0.remove(key) {
            Some(value) if !good(&value) => Err(GrammarError::Value { key, value, expected }),
            found => Ok(found),
        }
    }

    fn parsed<T: std::str::FromStr>(
        &mut self,
        key: &'static str,
        expected: &'static str,
        good: impl Fn(&T) -> bool,
    ) -> Result<Option<T>, GrammarError> {
        let Some(value) = self.0.remove(key) else { return Ok(None) };
        let parsed = value.parse().ok().filter(good);
        parsed.map(Some).ok_or(GrammarError::Value { key, value, expected })
    }

    fn number(&mut self, key: &'static str, range: std::ops::RangeInclusive<u64>) -> Result<Option<u64>, GrammarError> {
        let expected = if *range.start() == 0 { "a whole number" } else { "a whole number from 1" };
        self.parsed(key, expected, |number| range.contains(number))
    }

    fn milliseconds(&mut self, key: &'static str) -> Result<Option<Duration>, GrammarError> {
        let found = self.parsed(key, "milliseconds, a day at most", |milliseconds| *milliseconds <= LONGEST)?;
        Ok(found.map(Duration::from_millis))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<Effect, &str>) {
        let got = parse_flag(text, &|name| name == "pods").map(|spec| spec.effect);
        assert_eq!(got.map_err(|error| error.to_string()), expected.map_err(str::to_owned), "{text}");
    }

    #[test]
    fn effects_and_their_mistakes() {
        let refuse = |status, retry_after, plain| Ok(Effect::Refuse(Refusal { status, retry_after, plain }));
        let slow = |delay, drip: Option<(usize, u64)>| {
            let drip = drip.map(|(bytes, pause)| Drip { bytes, pause: Duration::from_millis(pause) });
            Ok(Effect::Slow { delay: Duration::from_millis(delay), drip })
        };
        check("status=429,retry-after=2,verb=list,resource=pods,times=3", refuse(429, Some(2), false));
        check("status=429,body=text", refuse(429, Some(1), true));
        check("status=503", refuse(503, Some(1), false));
        check("status=500", refuse(500, None, false));
        check("delay-ms=500", slow(500, None));
        check("drip=7", slow(0, Some((7, 20))));
        check("drip=7, pause-ms=0, delay-ms=1", slow(1, Some((7, 0))));
        check("stall=true,resource=pods", Ok(Effect::Stall));
        check("watch-list=off", Ok(Effect::NoWatchList));
        check("frame=delay,delay-ms=5", Ok(Effect::Frame(FrameFault::Delay(Duration::from_millis(5)))));
        check("frame=truncate,event=MODIFIED,after=3", Ok(Effect::Frame(FrameFault::Truncate)));
        check("end=close,after=3,verb=watch", Ok(Effect::End { close: true }));
        check("skew=-90", Ok(Effect::Skew(-90)));
        let none = GrammarError::Effect.to_string();
        for text in ["", "resource=pods", "status=429,end=drop"] {
            check(text, Err(&none));
        }
        check("status", Err("\"status\" is no key=value that is said once"));
        check("status=500,status=500", Err("\"status\" is no key=value that is said once"));
        check("status=200", Err("status=\"200\": from 400 to 599"));
        check("status=500,resource=nosuch", Err("resource=\"nosuch\": the plural name of a resource"));
        check("status=500,times=0", Err("times=\"0\": a whole number from 1"));
        check("status=500,probability=2", Err("probability=\"2\": from 0 to 1"));
        check("status=500,seed=2", Err("seed has no place here"));
        check("status=500,event=ADDED", Err("event has no place here"));
        check("skew=1,resource=pods", Err("resource has no place here"));
        check("skew=99999999999", Err("skew=\"99999999999\": seconds, a century at most"));
        check("frame=lose,colour=red", Err("colour has no place here"));
        check(
            "end=drop,verb=list",
            Err("verb=\"list\": get, list, watch, create, update, patch, delete or deletecollection"),
        );
    }

    #[test]
    fn the_same_seed_strikes_the_same() {
        let strikes = |seed: u64| -> Vec<bool> {
            let spec = parse_flag(&format!("status=500,probability=0.5,seed={seed},times=20"), &|_| true);
            let rule = crate::faults::rule::Rule::new(1, spec.expect("it is one"));
            (0..64).map(|_| rule.strikes(None)).collect()
        };
        assert_eq!(strikes(7), strikes(7));
        assert_ne!(strikes(7), strikes(8));
        assert_eq!(strikes(7).iter().filter(|struck| **struck).count(), 20);
    }
}
