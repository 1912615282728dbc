//! Which resources a server has, as far as it has answered: client-go's `discovery/cached/memory`. It is given each answer, and
//! says what to ask next.

use crate::api::definition::may_define;
use crate::api::discovery::{Answer, Discovered, GroupVersion, PATHS, prefer, read, read_version};
use crate::api::object::DecodeError;

/// How often a server is asked, in milliseconds. While nothing has changed, its answer is a bare 304. A watch would report
/// one kind of definitions only, and only users who may watch them.
const AGAIN: u32 = 5_000;
/// How often a server is asked that does not aggregate its answers, so that it has to be asked for many documents; in
/// milliseconds.
const SELDOM: u32 = 30_000;
/// How soon a server is asked again that has not answered yet, or of which some part did not answer; in milliseconds.
const SOON: u32 = 2_000;
/// How many rounds in a row something must fail before the user sees a note. A single failure passes by itself, and a note that
/// comes and goes with it would only alarm.
const NOTICED: u32 = 2;

/// What is known of a server's resources, and what could not be learned.
#[derive(Clone, Debug, Default)]
pub struct CachedDiscovery {
    /// What each of [`PATHS`] answered.
    halves: [Half; PATHS.len()],
    /// What failed in this round.
    words: Vec<String>,
    /// In how many rounds in a row something failed.
    failed: u32,
}

#[derive(Clone, Debug, Default)]
struct Half {
    etag: Option<String>,
    known: Known,
}

#[derive(Clone, Debug)]
enum Known {
    Aggregated { resources: Vec<Discovered>, stale: Vec<&'static str> },
    Versions(Vec<Version>),
}

impl Default for Known {
    fn default() -> Known {
        Known::Versions(Vec::new())
    }
}

/// The document of one version of a group.
#[derive(Clone, Debug)]
struct Version {
    of: GroupVersion,
    /// The resources; `None` before the first answer.
    resources: Option<Vec<Discovered>>,
    /// Whether the last request for the document failed.
    failed: bool,
}

impl CachedDiscovery {
    /// Whether each of [`PATHS`] has answered.
    pub fn is_heard(&self) -> bool {
        let is_new = |half: &Half| matches!(&half.known, Known::Versions(versions) if versions.is_empty());
        !self.halves.iter().any(is_new)
    }

    /// Begins a round: what failed in the round before is forgotten.
    pub fn begin(&mut self) {
        self.words.clear();
    }

    /// The ETag to ask a path of [`PATHS`] with, so that the server need not send the same answer again.
    pub fn etag(&self, path: usize) -> Option<&str> {
        self.halves.get(path).and_then(|half| half.etag.as_deref())
    }

    /// A path of [`PATHS`] answered. What is known of a group stays known while the group's own server is down.
    ///
    /// # Errors
    ///
    /// When the text is no document of discovery. Then nothing changes.
    pub fn answered(&mut self, path: usize, etag: Option<String>, text: &str) -> Result<(), DecodeError> {
        let answer = read(text)?;
        let Some(half) = self.halves.get_mut(path) else { return Ok(()) };
        half.etag = etag;
        let before = std::mem::take(&mut half.known);
        half.known = match (answer, before) {
            (Answer::Aggregated { mut resources, stale }, Known::Aggregated { resources: before, .. }) => {
                let is_lost = |one: &Discovered| {
                    let version = |other: &Discovered| {
                        (other.resource.group, other.resource.version) == (one.resource.group, one.resource.version)
                    };
                    stale.iter().any(|name| *name == one.resource.api_version()) && !resources.iter().any(version)
                };
                let lost: Vec<Discovered> = before.into_iter().filter(is_lost).collect();
                resources.extend(lost);
                prefer(&mut resources);
                Known::Aggregated { resources, stale }
            }
            (Answer::Aggregated { resources, stale }, Known::Versions(_)) => Known::Aggregated { resources, stale },
            (Answer::Versions(versions), before) => {
                let before = if let Known::Versions(before) = before { before } else { Vec::new() };
                let known = |of: GroupVersion| before.iter().find(|version| version.of == of).cloned();
                let new = |of| Version { of, resources: None, failed: false };
                Known::Versions(versions.into_iter().map(|of| known(of).unwrap_or_else(|| new(of))).collect())
            }
        };
        Ok(())
    }

    /// The documents to ask for in this round: those that were never answered, those that failed, and those that may change
    /// while the server runs. The server's own groups never change.
    pub fn wanted(&self) -> Vec<GroupVersion> {
        let wanted = |version: &&Version| version.resources.is_none() || version.failed || may_define(version.of.group);
        self.versions().filter(wanted).map(|version| version.of).collect()
    }

    /// A document was answered, or could not be asked for, with the reason in words. Then what is known of it stays known.
    pub fn described(&mut self, of: GroupVersion, answer: Result<&str, &str>) {
        let read = answer
            .map_err(str::to_owned)
            .and_then(|text| read_version(text, of).map_err(|error| format!("cannot be read: {error}")));
        let halves = self.halves.iter_mut();
        let mut versions = halves.filter_map(|half| match &mut half.known {
            Known::Versions(versions) => versions.iter_mut().find(|version| version.of == of),
            Known::Aggregated { .. } => None,
        });
        let Some(version) = versions.next() else { return };
        version.failed = read.is_err();
        match read {
            Ok(resources) => version.resources = Some(resources),
            Err(words) => self.words.push(format!("{}: {words}", of.path())),
        }
    }

    /// A path of [`PATHS`] did not answer; the words say why.
    pub fn failed(&mut self, words: String) {
        self.words.push(words);
    }

    /// Ends a round.
    pub fn end(&mut self) {
        for half in &self.halves {
            if let Known::Aggregated { stale, .. } = &half.known {
                self.words.extend(stale.iter().map(|version| format!("the server of {version} does not answer")));
            }
        }
        self.failed = if self.words.is_empty() { 0 } else { self.failed + 1 };
    }

    /// What could not be learned, and why. `None` until the same has lasted for two rounds.
    pub fn trouble(&self) -> Option<String> {
        let [first, rest @ ..] = &self.words[..] else { return None };
        let noticed = self.failed >= NOTICED;
        noticed.then(|| if rest.is_empty() { first.clone() } else { format!("{first}; and {} more", rest.len()) })
    }

    /// How long to wait before the next round, in milliseconds.
    pub fn wait(&self) -> u32 {
        match self.versions().next() {
            _ if self.failed == 1 || self.resources().is_empty() => SOON,
            Some(_) => SELDOM,
            None => AGAIN,
        }
    }

    /// All that is known, in the server's order.
    pub fn resources(&self) -> Vec<Discovered> {
        let mut all = Vec::new();
        for half in &self.halves {
            match &half.known {
                Known::Aggregated { resources, .. } => all.extend_from_slice(resources),
                Known::Versions(versions) => {
                    let mut known: Vec<Discovered> =
                        versions.iter().filter_map(|version| version.resources.as_ref()).flatten().cloned().collect();
                    prefer(&mut known);
                    all.append(&mut known);
                }
            }
        }
        all
    }

    fn versions(&self) -> impl Iterator<Item = &Version> {
        self.halves.iter().flat_map(|half| match &half.known {
            Known::Versions(versions) => &versions[..],
            Known::Aggregated { .. } => &[],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORE: &str = include_str!("../../../../tests/fixtures/discovery/discovery-api.json");
    const GROUPS: &str = include_str!("../../../../tests/fixtures/discovery/discovery-apis.json");
    const OLD_CORE: &str = include_str!("../../../../tests/fixtures/discovery/legacy-api.json");
    const OLD_GROUPS: &str = include_str!("../../../../tests/fixtures/discovery/legacy-apis.json");

    fn round(
        cached: &mut CachedDiscovery,
        answers: [Result<&str, &str>; 2],
        describe: impl Fn(GroupVersion) -> Result<String, String>,
    ) {
        cached.begin();
        for (path, answer) in answers.into_iter().enumerate() {
            match answer {
                Ok(text) => cached.answered(path, Some(format!("\"{path}\"")), text).unwrap(),
                Err(words) => cached.failed(words.to_owned()),
            }
        }
        for of in cached.wanted() {
            let described = describe(of);
            cached.described(of, described.as_deref().map_err(String::as_str));
        }
        cached.end();
    }

    fn nothing_to_describe(of: GroupVersion) -> Result<String, String> {
        panic!("{of:?} was asked for")
    }

    fn list(of: GroupVersion) -> String {
        let plural = format!("{}s", of.group.split('.').next().unwrap());
        format!(
            r#"{{"kind":"APIResourceList","resources":[{{"name":"{plural}","kind":"X","verbs":["list","watch"]}}]}}"#
        )
    }

    fn has(cached: &CachedDiscovery, group: &str) -> bool {
        cached.resources().iter().any(|one| one.resource.group == group)
    }

    #[test]
    fn a_failure_costs_nothing_and_is_reported_when_it_lasts() {
        let mut cached = CachedDiscovery::default();
        assert_eq!((cached.etag(1), cached.wait()), (None, SOON));
        round(&mut cached, [Ok(CORE), Ok(GROUPS)], nothing_to_describe);
        let all = cached.resources().len();
        assert_eq!((cached.etag(1), cached.wait(), cached.trouble()), (Some("\"1\""), AGAIN, None));
        round(&mut cached, [Ok(CORE), Err("no answer")], nothing_to_describe);
        assert_eq!((cached.resources().len(), cached.wait(), cached.trouble()), (all, SOON, None));
        for _ in 0..3 {
            round(&mut cached, [Err("nothing"), Err("no answer")], nothing_to_describe);
            assert_eq!((cached.resources().len(), cached.wait()), (all, AGAIN));
            assert_eq!(cached.trouble().as_deref(), Some("nothing; and 1 more"));
        }
        round(&mut cached, [Ok(CORE), Ok(GROUPS)], nothing_to_describe);
        assert_eq!(cached.trouble(), None);
    }

    #[test]
    fn what_a_group_had_stays_known_while_its_server_is_down() {
        let group = |resources: &str, freshness: &str| {
            format!(
                r#"{{"kind":"APIGroupDiscoveryList","items":[{{"metadata":{{"name":"metrics.k8s.io"}},"versions":[
                {{"version":"v1beta1","freshness":"{freshness}","resources":[{resources}]}}]}},
                {{"metadata":{{"name":"a.b"}},"versions":[{{"version":"v1","resources":[{{"resource":"cs"}}]}}]}}]}}"#
            )
        };
        let (up, down) = (group(r#"{"resource":"pods"}"#, "Current"), group("", "Stale"));
        let mut cached = CachedDiscovery::default();
        round(&mut cached, [Ok(CORE), Ok(&up)], nothing_to_describe);
        round(&mut cached, [Ok(CORE), Ok(&down)], nothing_to_describe);
        round(&mut cached, [Ok(CORE), Ok(&down)], nothing_to_describe);
        assert!(has(&cached, "metrics.k8s.io") && has(&cached, "a.b"));
        assert_eq!(cached.trouble().as_deref(), Some("the server of metrics.k8s.io/v1beta1 does not answer"));
        round(&mut cached, [Ok(CORE), Ok(&group("", "Current"))], nothing_to_describe);
        assert!(!has(&cached, "metrics.k8s.io") && cached.trouble().is_none());
    }

    #[test]
    fn servers_that_do_not_aggregate_are_asked_version_by_version() {
        let mut cached = CachedDiscovery::default();
        round(&mut cached, [Ok(OLD_CORE), Ok(OLD_GROUPS)], |of| Ok(list(of)));
        assert!(has(&cached, "") && has(&cached, "apps") && has(&cached, "example.org"));
        assert_eq!(cached.wait(), SELDOM);
        let scaling = cached.resources().into_iter().filter(|one| one.resource.group == "autoscaling");
        assert_eq!(
            scaling.map(|one| (one.resource.version, one.preferred)).collect::<Vec<_>>(),
            [("v2", true), ("v1", false)]
        );
        // The server's own groups are asked for once; a group whose document fails costs no other.
        round(&mut cached, [Ok(OLD_CORE), Ok(OLD_GROUPS)], |of| {
            assert_eq!(of.group, "example.org");
            Err(String::from("503"))
        });
        assert!(has(&cached, "example.org") && cached.trouble().is_none() && cached.wait() == SOON);
        round(&mut cached, [Ok(OLD_CORE), Ok(OLD_GROUPS)], |_| Ok(String::from("{}")));
        assert!(cached.trouble().unwrap().starts_with("apis/example.org/v1: cannot be read"), "{:?}", cached.trouble());
        let without = OLD_GROUPS.replace("example.org", "example.com");
        round(&mut cached, [Ok(OLD_CORE), Ok(&without)], |of| Ok(list(of)));
        assert!(!has(&cached, "example.org") && has(&cached, "example.com") && cached.trouble().is_none());
        // It is replaced by one that aggregates.
        round(&mut cached, [Ok(CORE), Ok(GROUPS)], nothing_to_describe);
        assert!(has(&cached, "example.org") && !has(&cached, "example.com") && cached.wait() == AGAIN);
    }

    #[test]
    fn what_is_no_document_changes_nothing() {
        let mut cached = CachedDiscovery::default();
        round(&mut cached, [Ok(CORE), Ok(GROUPS)], nothing_to_describe);
        let all = cached.resources();
        assert!(cached.answered(1, None, "<html>").is_err());
        assert_eq!((cached.resources(), cached.etag(1)), (all, Some("\"1\"")));
    }
}
