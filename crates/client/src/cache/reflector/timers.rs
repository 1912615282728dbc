//! The times that a reflector waits for, beside the deadline of what is under way. All times are milliseconds.

use crate::cache::backoff::{Backoff, Moment};

/// A watch that ends within this time and without an event is a failure; and no two watches are opened within this time
/// (client-go, `RetryWatcher`).
pub(super) const SHORT: f64 = 1_000.0;
/// A list that had items without a name leaves it open whether some known objects still exist. Another list is taken
/// after this time. The time is long, for an item that is broken on the server will most often be so then, too.
const DOUBT: f64 = 300_000.0;

/// Where lists are allowed and watches are not, the first list that takes a watch's place comes after this time; each further
/// one after twice the time, up to [`SELDOM`]. A list costs the server as much as all its objects.
const UNWATCHED: f64 = 60_000.0;
const SELDOM: f64 = 480_000.0;
/// A request that took so long before it failed costs its server something: the next one waits a third of that time at least,
/// and longer each time, up to [`SLOWEST`]. Whatever was wrong, somebody repairs it, and then looks at the page.
const SLOW: f64 = 2_000.0;
const SLOWEST: f64 = 30_000.0;

/// The waits between attempts, and what is due while a watch runs.
#[derive(Clone, Debug)]
pub(super) struct Timers {
    backoff: Backoff,
    /// When a socket was last asked for.
    socket: f64,
    /// How often to resync.
    resync_every: Option<f64>,
    /// When the next resync is due. The time runs from the list on, whatever becomes of the watch's sockets, as
    /// client-go's `startResync` runs beside its watches.
    pub(super) resync_at: Option<f64>,
    /// When a list is to be taken anew, because the last one left it open whether some object still exists.
    pub(super) doubt_at: Option<f64>,
    /// When the last list was complete, and how many came since a watch was last allowed.
    listed: (f64, u32),
    /// How many slow requests failed in a row.
    slow: u32,
}

impl Timers {
    pub(super) fn new(resync_every: Option<f64>) -> Timers {
        Timers {
            backoff: Backoff::default(),
            socket: f64::NEG_INFINITY,
            resync_every,
            resync_at: None,
            doubt_at: None,
            listed: (0.0, 0),
            slow: 0,
        }
    }

    /// The end of the wait before the next attempt, which is not shorter than the server asked for.
    pub(super) fn retry_at(&mut self, at_least: Option<f64>, moment: Moment) -> f64 {
        moment.now + self.backoff.next(moment).max(at_least.unwrap_or(0.0))
    }

    /// The least wait after a request that failed after so many milliseconds.
    pub(super) fn after_failing(&mut self, took: f64) -> f64 {
        if took < SLOW {
            return 0.0;
        }
        self.slow += 1;
        (took / 3.0 * f64::from(self.slow)).min(SLOWEST)
    }

    /// Whether a list is to take the place of a watch that is not allowed.
    pub(super) fn lists_unwatched(&self, now: f64) -> bool {
        let (at, lists) = self.listed;
        let doubled = UNWATCHED * f64::from(1_u32 << lists.saturating_sub(1).min(8));
        now - at >= doubled.min(SELDOM)
    }

    /// A watch is allowed.
    pub(super) fn watch_allowed(&mut self) {
        self.listed.1 = 0;
    }

    /// The server goes on refusing, so that the next waits do not begin short again: somebody has to do something first.
    pub(super) fn still_refused(&mut self, moment: Moment) {
        self.backoff.goes_on(moment);
    }

    /// The server answers, so that the next waits begin short again.
    pub(super) fn reset_backoff(&mut self) {
        self.backoff = Backoff::default();
    }

    /// A socket is asked for.
    pub(super) fn socket_asked(&mut self, now: f64) {
        self.socket = now;
    }

    /// When the next socket may be asked for; `None` is at once.
    pub(super) fn next_socket_at(&self, now: f64) -> Option<f64> {
        (now - self.socket < SHORT).then_some(self.socket + SHORT)
    }

    /// Sets how often to resync. The time begins now where a list is complete (`listed`), else with its end.
    pub(super) fn set_resync(&mut self, every: Option<f64>, listed: bool, now: f64) {
        self.resync_every = every;
        self.resync_at = every.filter(|_| listed).map(|every| now + every);
    }

    /// The time to the next resync begins.
    pub(super) fn restart_resync(&mut self, now: f64) {
        self.resync_at = self.resync_every.map(|every| now + every);
    }

    /// A list is complete; `doubt` says whether it left open that some object still exists.
    pub(super) fn list_complete(&mut self, doubt: bool, now: f64) {
        self.restart_resync(now);
        self.listed = (now, self.listed.1 + 1);
        self.slow = 0;
        self.doubt_at = doubt.then_some(now + DOUBT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_begins_the_times_of_resync_and_doubt() {
        let mut timers = Timers::new(Some(5_000.0));
        assert_eq!((timers.resync_at, timers.doubt_at), (None, None));
        timers.list_complete(true, 1_000.0);
        assert_eq!((timers.resync_at, timers.doubt_at), (Some(6_000.0), Some(301_000.0)));
        timers.list_complete(false, 2_000.0);
        assert_eq!((timers.resync_at, timers.doubt_at), (Some(7_000.0), None));
        timers.set_resync(Some(100.0), false, 3_000.0);
        assert_eq!(timers.resync_at, None, "it begins with the end of the list");
    }

    #[test]
    fn lists_in_a_watch_s_place_are_seldom_and_slow_failures_are_waited_for() {
        let mut timers = Timers::new(None);
        timers.list_complete(false, 0.0);
        assert_eq!([59_999.0, 60_000.0].map(|now| timers.lists_unwatched(now)), [false, true]);
        timers.list_complete(false, 60_000.0);
        assert_eq!([179_999.0, 180_000.0].map(|now| timers.lists_unwatched(now)), [false, true]);
        for _ in 0..40 {
            timers.list_complete(false, 0.0);
        }
        assert_eq!([479_999.0, 480_000.0].map(|now| timers.lists_unwatched(now)), [false, true]);
        timers.watch_allowed();
        timers.list_complete(false, 0.0);
        assert!(timers.lists_unwatched(60_000.0));
        let waits = [1_000.0, 30_000.0, 30_000.0, 30_000.0, 30_000.0].map(|took| timers.after_failing(took));
        assert_eq!(waits, [0.0, 10_000.0, 20_000.0, 30_000.0, 30_000.0]);
        timers.list_complete(false, 0.0);
        assert_eq!(timers.after_failing(30_000.0), 10_000.0);
    }

    #[test]
    fn sockets_are_a_second_apart_and_the_server_may_ask_for_longer_waits() {
        let mut timers = Timers::new(None);
        assert_eq!(timers.next_socket_at(0.0), None);
        timers.socket_asked(0.0);
        assert_eq!((timers.next_socket_at(999.0), timers.next_socket_at(1_000.0)), (Some(1_000.0), None));
        let moment = Moment { now: 10.0, random: 0.0 };
        assert_eq!(timers.retry_at(None, moment), 810.0);
        assert_eq!(timers.retry_at(Some(9_000.0), moment), 9_010.0);
        timers.reset_backoff();
        assert_eq!(timers.retry_at(None, moment), 810.0);
    }
}
