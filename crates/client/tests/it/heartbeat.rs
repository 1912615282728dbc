//! Several watches and one heartbeat: what the heartbeat asks and when, and what becomes of watches whose sockets are open but
//! dead.

use kubechurn_client::api::object::Decode;
use kubechurn_client::api::request::Scope;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::status::Failure;
use kubechurn_client::cache::backoff::Moment;
use kubechurn_client::cache::factory::{InformerId, SharedInformerFactory};
use kubechurn_client::cache::handler::HandlerOptions;
use kubechurn_client::cache::heartbeat::{Answer, Ask, DEADLINE, Heartbeat, Question};
use kubechurn_client::cache::reflector::{Action, Health, Input, Notice};
use kubechurn_client::cache::shared_informer::{InformerOptions, SharedInformer};

use kubechurn_client::testing::{bookmark, event};

/// How often the page calls the heartbeat, in milliseconds.
const TICK: f64 = 250.0;

/// How the API server answers over HTTP.
#[derive(Clone, Copy, PartialEq)]
enum Api {
    Up,
    /// Nothing comes back.
    Gone,
    /// It answers with this status.
    Says(u16),
}

struct Play {
    informers: SharedInformerFactory,
    ids: Vec<InformerId>,
    heartbeat: Heartbeat,
    now: f64,
    api: Api,
    /// Whether the server has something that each watch has not brought.
    ahead: Vec<bool>,
    /// Answers on their way, and when they arrive.
    coming: Vec<(f64, Question, Answer)>,
    /// When each question was asked, and for which informer.
    asked: Vec<(f64, usize)>,
    hidden: bool,
    /// The watch that the server does not answer for, while it answers for all others.
    broken: Option<usize>,
    /// Whether every socket opens at once.
    opens: bool,
    actions: Vec<Vec<Action>>,
}

impl Play {
    /// This many watches. The last proof of each is the end of its list, at time 0.
    fn begin(count: usize) -> Play {
        let mut informers = SharedInformerFactory::default();
        let resource =
            ApiResource { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true, cluster: "" };
        let mut ids = Vec::new();
        for number in 0..count {
            let scope = Scope { namespace: format!("n{number}"), ..Scope::default() };
            let make = || SharedInformer::new(Decode::METADATA, InformerOptions::default());
            let id = informers.informer_for(resource, &scope, make);
            informers.add_event_handler(id, HandlerOptions::default(), 0.0).unwrap();
            ids.push(id);
        }
        let mut play = Play {
            informers,
            ids,
            heartbeat: Heartbeat::default(),
            now: 0.0,
            api: Api::Up,
            ahead: vec![false; count],
            coming: Vec::new(),
            asked: Vec::new(),
            hidden: false,
            broken: None,
            opens: false,
            actions: vec![Vec::new(); count],
        };
        for at in 0..count {
            play.input(at, Input::Start);
            play.input(at, Input::Opened);
            play.input(at, Input::Frame(&bookmark("7", r#"{"k8s.io/initial-events-end":"true"}"#)));
        }
        play.actions.iter_mut().for_each(Vec::clear);
        play
    }

    fn moment(&self) -> Moment {
        Moment { now: self.now, random: 0.5 }
    }

    fn input(&mut self, at: usize, input: Input<'_>) {
        let moment = self.moment();
        let action = self.informers.get_mut(self.ids[at]).unwrap().handle(input, moment);
        let opens = self.opens && matches!(action, Some(Action::Watch(_)));
        self.actions[at].extend(action);
        if opens {
            self.input(at, Input::Opened);
        }
    }

    fn frame(&mut self, at: usize, version: u32) {
        self.ahead[at] = false;
        self.input(at, Input::Frame(&event("MODIFIED", &format!("a@{version}"))));
    }

    fn answer(&self, question: &Question) -> (f64, Answer) {
        let at = self.ids.iter().position(|id| *id == question.informer).unwrap();
        match (self.api, &question.ask) {
            (Api::Gone, _) => (f64::from(DEADLINE), Answer::Nothing(Failure::unreachable("no answer"))),
            (Api::Says(code), _) => (20.0, Answer::Refused(Failure::from_response(code, None, ""))),
            (Api::Up, _) if self.broken == Some(at) => {
                (f64::from(DEADLINE), Answer::Refused(Failure::unreachable("no answer")))
            }
            (Api::Up, Ask::Watch { .. }) if self.ahead[at] => (1_020.0, Answer::Event),
            (Api::Up, _) => (1_020.0, Answer::Quiet),
        }
    }

    /// Time passes: the page looks, answers arrive, and deadlines come.
    fn run(&mut self, ms: f64) {
        let end = self.now + ms;
        while self.now < end {
            self.now += TICK;
            for at in 0..self.ids.len() {
                let deadline = self.informers.get(self.ids[at]).unwrap().reflector().deadline();
                if deadline.is_some_and(|deadline| deadline <= self.now) {
                    self.input(at, Input::Timer);
                }
            }
            let (due, coming) = std::mem::take(&mut self.coming).into_iter().partition(|one| one.0 <= self.now);
            self.coming = coming;
            let due: Vec<(f64, Question, Answer)> = due;
            for (_, question, answer) in due {
                let inputs = self.heartbeat.answered(&question, answer, &self.informers, self.moment());
                for (id, input) in inputs {
                    let at = self.ids.iter().position(|own| *own == id).unwrap();
                    self.input(at, input);
                }
            }
            let deadline = self.heartbeat.deadline(&self.informers, self.hidden);
            let questions = self.heartbeat.questions(&self.informers, self.moment(), self.hidden);
            let is_due = deadline.is_some_and(|deadline| deadline <= self.now);
            assert_eq!(is_due, !questions.is_empty(), "{deadline:?} at {}, and then {questions:?}", self.now);
            for question in questions {
                let at = self.ids.iter().position(|id| *id == question.informer).unwrap();
                self.asked.push((self.now, at));
                let (after, answer) = self.answer(&question);
                self.coming.push((self.now + after, question, answer));
            }
        }
    }

    /// Runs until a watch has this health, and returns when that was.
    #[track_caller]
    fn until(&mut self, at: usize, health: Health, within: f64) -> f64 {
        let end = self.now + within;
        while self.health(at) != health {
            assert!(self.now < end, "{:?} and not {health:?} after {within} ms", self.health(at));
            self.run(TICK);
        }
        self.now
    }

    fn health(&self, at: usize) -> Health {
        self.informers.get(self.ids[at]).unwrap().health(self.now)
    }

    fn gaps(&mut self, at: usize) -> Vec<(f64, f64)> {
        let notices = self.informers.get_mut(self.ids[at]).unwrap().take_notices();
        notices
            .iter()
            .filter_map(|said| if let Notice::Gap { from, to, .. } = said { Some((*from, *to)) } else { None })
            .collect()
    }
}

#[test]
fn what_is_quiet_and_answered_for_stays_live_and_is_asked_for_every_ten_seconds_at_most() {
    for count in [1, 3] {
        let mut play = Play::begin(count);
        for _ in 0..320 {
            play.run(TICK);
            (0..count).for_each(|at| assert_eq!(play.health(at), Health::Live, "at {}", play.now));
        }
        let times: Vec<f64> = play.asked.iter().map(|(now, _)| *now).collect();
        assert_eq!(times, [10_000.0, 20_000.0, 30_000.0, 40_000.0, 50_000.0, 60_000.0, 70_000.0, 80_000.0]);
        let turns: Vec<usize> = play.asked.iter().map(|(_, at)| *at).collect();
        assert_eq!(turns, (0..count).cycle().take(8).collect::<Vec<_>>(), "the one that was silent longest");
        (0..count).for_each(|at| assert_eq!((play.actions[at].len(), play.gaps(at)), (0, vec![])));
    }
}

#[test]
fn what_speaks_is_not_asked_for() {
    let mut play = Play::begin(1);
    for second in 0..60 {
        play.run(1_000.0);
        play.frame(0, 10 + second);
    }
    assert_eq!(play.asked, []);
}

#[test]
fn an_api_that_is_gone_is_noticed_within_fifteen_seconds_of_each_watch_s_last_proof() {
    for spoke in [0.0, 3_000.0, 9_750.0, 12_000.0] {
        let mut play = Play::begin(3);
        play.run(spoke);
        play.frame(1, 9);
        play.api = Api::Gone;
        for at in 0..3 {
            let heard = play.informers.get(play.ids[at]).unwrap().reflector().heard().unwrap();
            let stale = play.until(at, Health::Stale, 30_000.0);
            assert!(stale - heard.max(spoke - 1_000.0) <= 15_000.0, "{at}: {heard} to {stale}");
        }
        // The server comes back, and the gap is the whole time of the silence.
        play.run(40_000.0);
        let heard: Vec<f64> =
            play.ids.iter().map(|id| play.informers.get(*id).unwrap().reflector().heard().unwrap()).collect();
        play.api = Api::Up;
        let back = play.now;
        for (at, heard) in heard.into_iter().enumerate() {
            let live = play.until(at, Health::Live, 40_000.0);
            let gaps = play.gaps(at);
            assert_eq!(gaps.len(), 1, "{gaps:?}");
            assert!(gaps[0].0 == heard && (back..=live).contains(&gaps[0].1), "{gaps:?} {heard} {back} {live}");
        }
    }
}

#[test]
fn during_an_outage_the_questions_come_ever_later_until_thirty_seconds_apart() {
    let mut play = Play::begin(5);
    play.api = Api::Gone;
    play.run(600_000.0);
    let gaps: Vec<f64> = play.asked.windows(2).map(|two| two[1].0 - two[0].0).collect();
    assert!(play.asked.len() < 40, "{gaps:?}");
    let before = gaps.last().copied().unwrap();
    assert!((22_500.0..=42_500.0).contains(&before), "{gaps:?}");
    assert!(play.heartbeat.has_outage());
    // One question at a time; a user who presses the button does not wait for the next turn.
    let asked = play.asked.len();
    play.run(2_000.0);
    play.heartbeat.hurry(play.now);
    play.run(5_000.0);
    assert!(play.asked.len() > asked, "nothing was asked at once");
    // The first answer ends the outage. So does the end of the last informer, for then no one waits for the server.
    play.api = Api::Up;
    play.run(45_000.0);
    assert!(!play.heartbeat.has_outage());
    play.api = Api::Gone;
    play.run(20_000.0);
    assert!(play.heartbeat.has_outage());
    play.informers.shutdown();
    play.heartbeat.questions(&play.informers, play.moment(), false);
    assert!(!play.heartbeat.has_outage());
}

#[test]
fn a_short_outage_is_over_soon_after_its_end() {
    for lasts in [5_000.0, 15_000.0, 30_000.0] {
        let mut play = Play::begin(4);
        play.run(10_000.0);
        play.api = Api::Gone;
        play.run(15_000.0 + lasts);
        play.api = Api::Up;
        let back = play.now;
        let live = (0..4).map(|at| play.until(at, Health::Live, 60_000.0)).fold(0.0, f64::max);
        assert!(live - back <= 15_000.0, "{lasts}: {}", live - back);
    }
}

#[test]
fn a_single_dead_socket_is_found_when_its_turn_comes_and_replaced_at_once() {
    let mut play = Play::begin(3);
    play.run(12_000.0);
    play.ahead[1] = true;
    let stale = play.until(1, Health::Stale, 45_000.0);
    assert!(stale <= 12_000.0 + 15_000.0 + 30_000.0, "{stale}");
    assert!(matches!(&play.actions[1][..], [Action::Watch(request)] if request.resource_version.as_str() == "7"));
    assert_eq!((play.health(0), play.health(2)), (Health::Live, Health::Live));
    let heard = play.informers.get(play.ids[1]).unwrap().reflector().heard().unwrap();
    play.input(1, Input::Opened);
    play.frame(1, 9);
    assert_eq!(play.health(1), Health::Live);
    let now = play.now;
    assert_eq!(play.gaps(1), [(heard, now)]);
}

/// The answer over HTTP can come before the frame on the socket: the frame has a second to come.
#[test]
fn what_the_socket_brings_within_a_second_is_no_death() {
    let mut play = Play::begin(1);
    play.run(9_750.0);
    play.ahead[0] = true;
    play.run(1_500.0);
    play.frame(0, 9);
    play.run(3_000.0);
    assert_eq!((play.health(0), play.actions[0].len(), play.gaps(0)), (Health::Live, 0, vec![]));
}

#[test]
fn that_a_socket_opened_proves_nothing() {
    let mut play = Play::begin(2);
    play.run(5_000.0);
    play.input(0, Input::Closed(1006));
    assert_eq!(play.health(0), Health::Stale);
    play.api = Api::Gone;
    play.run(1_000.0);
    play.input(0, Input::Opened);
    for _ in 0..240 {
        play.run(TICK);
        assert_eq!(play.health(0), Health::Stale, "at {}", play.now);
    }
    // The server answers when it is asked for this watch: the gap is over, and nothing was missed.
    play.api = Api::Up;
    play.until(0, Health::Live, 30_000.0);
    assert_eq!(play.gaps(0).first().map(|gap| gap.0), Some(0.0));
}

#[test]
fn a_watch_that_was_lost_is_asked_for_as_soon_as_the_next_one_is_open() {
    let mut play = Play::begin(6);
    play.run(5_000.0);
    for at in 0..6 {
        play.input(at, Input::Closed(1006));
        play.input(at, Input::Opened);
    }
    play.run(TICK);
    assert_eq!(play.asked.len(), 4, "four at once, for a browser has six connections");
    play.run(3_000.0);
    (0..6).for_each(|at| assert_eq!(play.health(at), Health::Live));
}

#[test]
fn a_server_that_refuses_is_no_proof_but_is_there() {
    let mut play = Play::begin(2);
    play.api = Api::Says(429);
    play.run(30_000.0);
    assert_eq!((play.health(0), play.health(1)), (Health::Stale, Health::Stale));
    play.frame(0, 9);
    assert_eq!((play.health(0), play.health(1)), (Health::Live, Health::Stale));
    play.api = Api::Says(410);
    play.run(40_000.0);
    assert!(
        matches!(play.actions[1].last(), Some(Action::Watch(request)) if request.initial_events),
        "{:?}",
        play.actions[1]
    );
}

/// An aggregated API may be out of order while the API server and all its own resources are well.
#[test]
fn one_resource_that_does_not_answer_is_stale_alone() {
    let mut play = Play::begin(3);
    (play.broken, play.opens) = (Some(1), true);
    play.until(1, Health::Stale, 45_000.0);
    for _ in 0..240 {
        play.run(TICK);
        assert_eq!((play.health(0), play.health(2)), (Health::Live, Health::Live), "at {}", play.now);
    }
    assert!(!play.heartbeat.has_outage());
    play.broken = None;
    play.until(1, Health::Live, 45_000.0);
}

/// A question that was asked before the machine slept fails hours later, and an outage that began before is hours old, too.
/// Neither makes the page wait for long once the machine is awake.
#[test]
fn after_a_long_sleep_nothing_is_waited_for_as_in_a_long_outage() {
    for slept_during in [8_000.0, 30_000.0] {
        let mut play = Play::begin(2);
        play.opens = true;
        play.run(4_000.0);
        play.api = Api::Gone;
        play.run(slept_during);
        play.now += 7_200_000.0;
        play.heartbeat.hurry(play.now);
        (0..2).for_each(|at| play.input(at, Input::Woke));
        play.run(5_000.0);
        play.api = Api::Up;
        for at in 0..2 {
            play.until(at, Health::Live, 10_000.0);
        }
    }
}

/// A server that was restored to an earlier state serves a watch from a later version without an event, over HTTP, too.
#[test]
fn the_first_question_for_each_socket_asks_for_the_version() {
    let mut play = Play::begin(1);
    play.run(10_000.0 - TICK);
    let checks = |play: &mut Play| {
        play.now += TICK;
        let asked = play.heartbeat.questions(&play.informers, play.moment(), false);
        let question = asked.first().expect("a question").clone();
        let inputs = play.heartbeat.answered(&question, Answer::Quiet, &play.informers, play.moment());
        inputs.into_iter().for_each(|(_, input)| play.input(0, input));
        matches!(question.ask, Ask::Watch { check_version: true, .. })
    };
    assert!(checks(&mut play));
    play.run(10_000.0 - TICK);
    assert!(!checks(&mut play));
}

#[test]
fn a_hidden_page_asks_once_a_minute_and_one_that_is_looked_at_again_at_once() {
    let mut play = Play::begin(3);
    play.hidden = true;
    for _ in 0..10 {
        play.run(60_000.0);
        (0..3).for_each(|at| play.input(at, Input::Frame(&bookmark("8", "{}"))));
    }
    assert!((5..=11).contains(&play.asked.len()), "{:?}", play.asked);
    let before = play.asked.len();
    (play.hidden, play.now) = (false, play.now + 30_000.0);
    play.heartbeat.hurry(play.now);
    play.run(TICK);
    assert_eq!(play.asked.len(), before + 1);
}
