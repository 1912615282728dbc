//! The log of one container: asked for, read, and asked for again.

use kubechurn_client::api::status::Failure;
use kubechurn_client::record::time::Time;

use crate::logs::containers::{ContainerNow, PodNow, Run};
use crate::logs::lines::Line;
use crate::logs::reader::{ReadLine, Reader};
use crate::logs::refusal::{self, Then};
use crate::logs::resumed::{Came, Resumed};

/// How many lines of the past are asked for first.
pub const TAIL: usize = 2_000;
/// How soon is asked again at first, and at last; in milliseconds. Each time that brings nothing doubles it.
const SOON: f64 = 1_000.0;
const SELDOM: f64 = 30_000.0;

/// What is said where lines may be missing.
const GAP: &str = "Lines may be missing here: the log was rotated or cut while it was not read.";

/// How far it is read.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// It is to be asked for when there is room.
    Wanted,
    /// It was asked for.
    Asked,
    /// Lines come.
    Reads,
    /// It is asked for again at this time, in milliseconds.
    Rests(String, f64),
    /// It is asked for when the container runs.
    Waits(String),
    /// It is read to its end.
    Over(String),
    /// Only the user can change why it is not read.
    Refused(String),
}

/// The log of one container.
#[derive(Debug)]
pub struct Source {
    /// The number of its lines' source.
    pub number: u16,
    /// Its Pod.
    pub pod: PodNow,
    /// The container.
    pub container: ContainerNow,
    /// Whether it is the log of the run before the present one.
    pub is_previous: bool,
    /// How far it is read.
    pub state: State,
    /// Whether the log is followed, and not only read.
    pub follows: bool,
    /// Whether the whole log is asked for, and not the end of it.
    pub is_whole: bool,
    /// How many lines came.
    pub came: usize,
    reader: Reader,
    resumed: Resumed,
    /// Where the last line stands.
    at: i64,
    /// How often it was asked for without a new line.
    tries: i32,
    /// Which run was asked for last, by the number of restarts.
    run_asked: i64,
}

impl Source {
    /// The log of a container, which is not asked for yet.
    pub fn new(number: u16, pod: &PodNow, container: &ContainerNow, is_previous: bool) -> Source {
        let pod = PodNow { containers: Vec::new(), ..pod.clone() };
        Source {
            number,
            pod,
            container: container.clone(),
            is_previous,
            state: State::Wanted,
            follows: false,
            is_whole: false,
            came: 0,
            reader: Reader::default(),
            resumed: Resumed::default(),
            at: i64::MIN,
            tries: 0,
            run_asked: -1,
        }
    }

    /// Whether it is the log of this container.
    pub fn is_of(&self, pod: &PodNow, container: &ContainerNow, is_previous: bool) -> bool {
        self.pod.uid == pod.uid && self.container.name == container.name && self.is_previous == is_previous
    }

    /// Whether an answer is awaited or comes.
    pub fn is_under_way(&self) -> bool {
        matches!(self.state, State::Asked | State::Reads)
    }

    /// Takes what is known of the container now.
    pub fn look(&mut self, container: Option<&ContainerNow>, is_gone: bool, now: f64, out: &mut Vec<Line>) {
        if let Some(container) = container {
            let is_other = container.run != self.container.run || container.restarts != self.container.restarts;
            self.container = container.clone();
            let runs = matches!(container.run, Run::Runs);
            match &mut self.state {
                _ if self.is_previous || !is_other => {}
                State::Rests(_, again) => *again = now,
                State::Waits(_) if !matches!(container.run, Run::Waits(_)) => self.state = State::Wanted,
                State::Over(_) if runs && container.restarts != self.run_asked => self.state = State::Wanted,
                _ => {}
            }
        }
        if is_gone && !self.pod.is_gone {
            self.pod.is_gone = true;
            if !self.is_under_way() && !matches!(self.state, State::Over(_)) {
                self.end("The Pod is gone. What was read of its log is kept.", out);
            }
        }
    }

    /// When it is to be asked for: now, at a later time, or never; in milliseconds.
    pub fn due_at(&mut self) -> Option<f64> {
        match (&self.state, &self.container.run) {
            (State::Wanted, Run::Waits(why)) if !self.is_previous => {
                self.state = State::Waits(format!(
                    "{} waits to start ({why}): its log follows when it has.",
                    self.container.name
                ));
                None
            }
            (State::Wanted, _) => Some(f64::NEG_INFINITY),
            (State::Rests(_, again), _) => Some(*again),
            _ => None,
        }
    }

    /// Asks for it: the path and query below the API.
    pub fn ask(&mut self) -> String {
        let same = self.run_asked == self.container.restarts;
        let since = self.resumed.since().filter(|_| !self.is_previous);
        self.reader.forget();
        self.resumed.begin(same);
        self.run_asked = self.container.restarts;
        self.state = State::Asked;
        let PodNow { namespace, name, .. } = &self.pod;
        let mut url =
            format!("api/v1/namespaces/{namespace}/pods/{name}/log?container={}&timestamps=true", self.container.name);
        if self.is_previous {
            url += "&previous=true";
        } else if self.follows {
            url += "&follow=true";
        }
        match since {
            Some(since) => url += &format!("&sinceTime={}", Time(since)),
            None if self.is_whole => {}
            None => url += &format!("&tailLines={TAIL}"),
        }
        url
    }

    /// The answer begins.
    pub fn opened(&mut self) {
        self.state = State::Reads;
    }

    /// More of it came.
    pub fn take(&mut self, bytes: &[u8], out: &mut Vec<Line>) {
        let mut reader = std::mem::take(&mut self.reader);
        reader.read(bytes, &mut |line| self.push(line, out));
        self.reader = reader;
    }

    fn push(&mut self, line: ReadLine, out: &mut Vec<Line>) {
        let came = self.resumed.take(&line);
        if came == Came::Again {
            return;
        }
        self.tries = 0;
        self.came += 1;
        if came == Came::NewAfterGap {
            out.push(Line::remark(GAP, self.number, self.at));
        }
        let line = Line::of(line, self.number, self.at);
        self.at = line.at;
        out.push(line);
    }

    /// The answer has come to its end.
    pub fn ended(&mut self, now: f64, out: &mut Vec<Line>) {
        let words = match &self.container.run {
            _ if self.is_previous => String::from("That run has ended, and its log is complete."),
            _ if self.pod.is_gone => String::from("The Pod is gone. What was read of its log is kept."),
            _ if !self.follows => String::from("This log was read once, and is not followed."),
            Run::Ended(words) if self.run_asked == self.container.restarts => {
                format!("{} has ended ({words}). A new run is followed when it starts.", self.container.name)
            }
            // Whether the container has ended, or only the answer, is not known yet.
            _ => return self.rest(String::from("The log has ended for now: it is asked for again."), None, now),
        };
        self.end(&words, out);
    }

    /// It could not be had, or broke off.
    pub fn failed(&mut self, failure: &Failure, now: f64, out: &mut Vec<Line>) {
        let refusal = refusal::read(failure, (&self.pod.namespace, &self.container.name));
        match refusal.then {
            Then::Forbidden => self.state = State::Refused(refusal.words),
            Then::Over => self.end(&refusal.words, out),
            Then::Again => self.rest(refusal.words, failure.retry_after, now),
            // The Pod may not be watched, so that nobody says when the container runs.
            Then::Waits => self.rest(refusal.words, None, now),
        }
    }

    fn rest(&mut self, words: String, retry_after: Option<f64>, now: f64) {
        let wait = (SOON * 2.0_f64.powi(self.tries)).min(SELDOM);
        self.tries = (self.tries + 1).min(10);
        self.state = State::Rests(words, now + retry_after.unwrap_or(0.0).max(wait));
    }

    fn end(&mut self, words: &str, out: &mut Vec<Line>) {
        let mut reader = std::mem::take(&mut self.reader);
        reader.end(&mut |line| self.push(line, out));
        self.state = State::Over(words.to_owned());
    }

    /// Nobody reads it any more. What was read stays, and it goes on from there.
    pub fn stop(&mut self) {
        if self.is_under_way() {
            self.state = State::Wanted;
        }
    }

    /// Asks again at once, whatever was said.
    pub fn again(&mut self) {
        if !self.is_under_way() {
            (self.state, self.tries) = (State::Wanted, 0);
        }
    }

    /// What is to be said of it; empty where lines come.
    pub fn words(&self) -> &str {
        match &self.state {
            State::Wanted => "Not asked for yet.",
            State::Asked => "Asked for …",
            State::Reads => "",
            State::Rests(words, _) | State::Waits(words) | State::Over(words) | State::Refused(words) => words,
        }
    }
}
