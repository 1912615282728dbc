//! The log of a Pod, or of a workload's Pods together.

use kubechurn_client::api::status::Failure;

use crate::logs::containers::{ContainerNow, PodNow, Run};
use crate::logs::lines::{Line, Lines};
use crate::logs::source::{Source, State};

/// How many logs are read at once: a browser has six connections to a server, and lists need some of them.
pub const MOST: usize = 4;
/// How many bytes the lines of all logs may take.
pub const BUDGET: usize = 16 << 20;
/// How many containers a log has at most.
pub const MOST_SOURCES: usize = 200;

/// The logs of some containers, as one.
#[derive(Debug)]
pub struct Followed {
    /// One for each container, and one for the run before.
    pub sources: Vec<Source>,
    /// What they wrote.
    pub lines: Lines,
    /// How many containers are beyond [`MOST_SOURCES`].
    pub more: usize,
    /// The lines of one answer, before they are kept.
    came: Vec<Line>,
}

impl Followed {
    /// No logs yet, with room for so many bytes.
    pub fn new(budget: usize) -> Followed {
        Followed { sources: Vec::new(), lines: Lines::new(budget), more: 0, came: Vec::new() }
    }

    /// Takes what is known of the Pods now. Those that are no longer among them are gone.
    pub fn look(&mut self, pods: &[PodNow], now: f64) {
        self.more = 0;
        for pod in pods {
            for container in &pod.containers {
                for is_previous in [true, false] {
                    self.look_at(pod, container, is_previous);
                }
            }
        }
        let mut came = std::mem::take(&mut self.came);
        for source in &mut self.sources {
            let pod = pods.iter().find(|pod| pod.uid == source.pod.uid);
            let container = pod.and_then(|pod| pod.containers.iter().find(|one| one.name == source.container.name));
            source.look(container, pod.is_none_or(|pod| pod.is_gone), now, &mut came);
            self.lines.push(&mut came);
        }
        self.came = came;
        self.choose();
    }

    fn look_at(&mut self, pod: &PodNow, container: &ContainerNow, is_previous: bool) {
        if (is_previous && !container.has_previous)
            || self.sources.iter().any(|source| source.is_of(pod, container, is_previous))
        {
            return;
        }
        // A run that ended while its log was followed is there already.
        let is_followed = |source: &Source| {
            source.is_of(pod, container, false) && !matches!(source.state, State::Wanted | State::Waits(_))
        };
        if is_previous && self.sources.iter().any(is_followed) {
            return;
        }
        match u16::try_from(self.sources.len()) {
            Ok(number) if self.sources.len() < MOST_SOURCES => {
                self.sources.push(Source::new(number, pod, container, is_previous));
            }
            _ => self.more += 1,
        }
    }

    /// Chooses which logs are followed, if there are more than can be: those that the user chose last, and else the first ones
    /// that run.
    fn choose(&mut self) {
        let can =
            |source: &Source| !source.is_previous && !source.pod.is_gone && !matches!(source.state, State::Over(_));
        let mut room = MOST - 1;
        let followed = self.sources.iter().filter(|source| source.follows && can(source)).count();
        room = room.saturating_sub(followed);
        for runs in [true, false] {
            for source in self.sources.iter_mut().filter(|source| can(source) && !source.follows) {
                if room > 0 && (source.container.run == Run::Runs) == runs && source.state == State::Wanted {
                    source.follows = true;
                    room -= 1;
                }
            }
        }
    }

    /// Has this log be followed, in place of another one where there is no room. Returns the one that is to be given up.
    pub fn prefer(&mut self, number: u16) -> Option<u16> {
        let is_it = |source: &Source| source.number == number;
        let wanted = self.sources.iter().find(|source| is_it(source))?;
        if wanted.follows || wanted.is_previous || wanted.pod.is_gone {
            return None;
        }
        let others = self.sources.iter().filter(|source| source.follows && source.is_under_way());
        let other = (others.clone().count() + 1 >= MOST).then(|| others.map(|source| source.number).next()).flatten();
        for source in &mut self.sources {
            if Some(source.number) == other {
                source.stop();
                (source.follows, source.state) =
                    (false, State::Over(String::from("Not followed, for another one is.")));
            }
            if source.number == number {
                source.follows = true;
                source.again();
            }
        }
        other
    }

    /// The logs that are to be asked for now, each with its path and query.
    pub fn due(&mut self, now: f64) -> Vec<(u16, String)> {
        let mut room = MOST.saturating_sub(self.sources.iter().filter(|source| source.is_under_way()).count());
        let mut due = Vec::new();
        // What is followed goes before what is read once.
        let (followed, others): (Vec<&mut Source>, Vec<&mut Source>) =
            self.sources.iter_mut().partition(|source| source.follows || source.is_previous);
        for source in followed.into_iter().chain(others) {
            if room > 0 && source.due_at().is_some_and(|at| at <= now) {
                due.push((source.number, source.ask()));
                room -= 1;
            }
        }
        due
    }

    /// When the next one is to be asked for, in milliseconds.
    pub fn due_at(&mut self) -> Option<f64> {
        if self.sources.iter().filter(|source| source.is_under_way()).count() >= MOST {
            return None;
        }
        self.sources.iter_mut().filter_map(Source::due_at).reduce(f64::min)
    }

    /// An answer begins.
    pub fn opened(&mut self, number: u16) {
        self.with(number, |source, _| source.opened());
    }

    /// More of an answer came.
    pub fn take(&mut self, number: u16, bytes: &[u8]) {
        self.with(number, |source, came| source.take(bytes, came));
    }

    /// An answer has come to its end.
    pub fn ended(&mut self, number: u16, now: f64) {
        self.with(number, |source, came| source.ended(now, came));
    }

    /// An answer is a refusal, or broke off.
    pub fn failed(&mut self, number: u16, failure: &Failure, now: f64) {
        self.with(number, |source, came| source.failed(failure, now, came));
    }

    fn with(&mut self, number: u16, act: impl FnOnce(&mut Source, &mut Vec<Line>)) {
        let Some(source) = self.sources.get_mut(usize::from(number)) else { return };
        let mut came = std::mem::take(&mut self.came);
        act(source, &mut came);
        self.lines.push(&mut came);
        self.came = came;
    }

    /// Nobody reads the logs any more. What was read stays.
    pub fn stop(&mut self) {
        self.sources.iter_mut().for_each(Source::stop);
    }

    /// Asks again for what was refused or broke off.
    pub fn again(&mut self) {
        let is_asked = |source: &&mut Source| matches!(source.state, State::Rests(..) | State::Refused(_));
        self.sources.iter_mut().filter(is_asked).for_each(Source::again);
    }
}
