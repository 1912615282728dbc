//! Filters of the feed that are watched: the browser shows a notification of a change that passes one of them.
//!
//! At most one notification comes in ten seconds; what passes in between is counted in the next one. What was received
//! before a filter was watched, what a list brings and what says nothing is never notified. The filters live as long as the
//! page.

use std::fmt::Write as _;

use kubechurn_changes::filter::Filter;
use kubechurn_changes::line::Line;
use kubechurn_client::cache::delta::DeltaType;

use crate::timeline::mark::grouped;
use crate::timeline::scene::fit;

/// The least time between two notifications, in milliseconds.
const LEAST: f64 = 10_000.0;
/// The most filters that are watched.
pub const MOST: usize = 8;
/// How many changes a notification names.
const NAMED: usize = 3;
/// The most characters of a line of a notification.
const LONGEST: usize = 160;

/// What the user asks of the watched filters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AlertCommand {
    /// Watch the present filter.
    Watch,
    /// Watch the filter of this number no longer.
    End(u64),
    /// Watch nothing any more.
    EndAll,
    /// Whether a tone goes with each notification.
    Sound(bool),
}

/// What the shell is to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Alert {
    /// Ask the user for the permission to notify, unless it was given or refused.
    Ask,
    /// Notify.
    Notify(Notification),
    /// Show in the tab's title and icon that the user may not have seen so many of the notified changes; 0 for none.
    Mark(u64),
}

/// A notification.
#[derive(Clone, Debug, PartialEq)]
pub struct Notification {
    /// Its first line.
    pub title: String,
    /// What changed, a line for each of the first few changes.
    pub body: String,
    /// Whether a tone goes with it.
    pub sound: bool,
}

/// A watched filter, as it is shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlertItem {
    /// Its number.
    pub id: u64,
    /// The filter as the user wrote it; in words where it lets everything through.
    pub filter: String,
    /// How many changes passed it.
    pub count: String,
}

/// What is shown of the watched filters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlertsModel {
    /// The filters.
    pub items: Vec<AlertItem>,
    /// Whether a tone goes with each notification.
    pub sound: bool,
}

#[derive(Debug)]
struct Watched {
    id: u64,
    text: String,
    filter: Filter,
    /// The number of the first change that may be notified.
    from: u64,
    passed: u64,
}

/// The filters that are watched, and what is still to be notified.
#[derive(Debug, Default)]
pub struct Alerts {
    watched: Vec<Watched>,
    /// The number of the next filter.
    next: u64,
    /// The number of the next change to be looked at: changes are read again when the user changes what is noise.
    looked: u64,
    /// The first of the changes that wait to be notified, in words.
    words: Vec<String>,
    /// How many wait.
    waiting: u64,
    /// The filter that the first of them passed.
    passed: String,
    /// When the last notification was, in milliseconds.
    notified_at: Option<f64>,
    /// How many were notified since the user was last seen.
    unseen: u64,
    sound: bool,
}

impl Alerts {
    /// Whether there is a filter.
    pub fn is_watching(&self) -> bool {
        !self.watched.is_empty()
    }

    /// Watches a filter: changes with this number or a later one. Returns whether that is new, and there is room for it.
    pub fn watch(&mut self, text: &str, filter: Filter, from: u64) -> bool {
        if self.watched.len() >= MOST || self.watched.iter().any(|watched| watched.text == text) {
            return false;
        }
        self.watched.push(Watched { id: self.next, text: text.to_owned(), filter, from, passed: 0 });
        self.next += 1;
        true
    }

    /// Watches a filter no longer.
    pub fn end(&mut self, id: u64) {
        self.watched.retain(|watched| watched.id != id);
        if self.watched.is_empty() {
            self.end_all();
        }
    }

    /// Watches nothing any more. What waits is not notified.
    pub fn end_all(&mut self) {
        self.watched.clear();
        self.words.clear();
        self.waiting = 0;
    }

    /// Whether a tone goes with each notification from now on.
    pub fn set_sound(&mut self, sound: bool) {
        self.sound = sound;
    }

    /// Looks at a change. `is_heard` says whether a watch reported it: what only a list shows is not notified.
    pub fn look(&mut self, line: &Line, is_heard: bool) {
        if self.watched.is_empty() || line.seq < self.looked {
            return;
        }
        self.looked = line.seq + 1;
        if !is_heard || line.is_listed || line.noise.is_some() || line.delta_type == DeltaType::Replaced {
            return;
        }
        let mut passed = None;
        for watched in &mut self.watched {
            if line.seq >= watched.from && watched.filter.matches(line) {
                watched.passed += 1;
                passed = passed.or(Some(&watched.text));
            }
        }
        let Some(text) = passed else { return };
        if self.waiting == 0 {
            self.passed.clone_from(text);
        }
        self.waiting += 1;
        if self.words.len() < NAMED {
            let cluster = if line.cluster.is_empty() { String::new() } else { format!("{}: ", line.cluster) };
            self.words.push(fit(&format!("{cluster}{} {} {line}", line.kind, line.key), LONGEST));
        }
    }

    /// When the next notification is due, in milliseconds, if something waits.
    pub fn deadline(&self) -> Option<f64> {
        (self.waiting > 0).then(|| self.notified_at.map_or(0.0, |at| at + LEAST))
    }

    /// The notification that is due now.
    pub fn take_due(&mut self, now: f64) -> Option<Notification> {
        self.deadline().filter(|at| *at <= now)?;
        self.notified_at = Some(now);
        self.unseen += self.waiting;
        let count = std::mem::take(&mut self.waiting);
        let mut body = std::mem::take(&mut self.words).join("\n");
        let more = count.saturating_sub(NAMED as u64);
        if more > 0 {
            let _ = write!(body, "\nand {} more", grouped(more));
        }
        let changes = if count == 1 { String::from("1 change") } else { format!("{} changes", grouped(count)) };
        let title = format!("{changes}: {}", fit(&words_of(&self.passed), LONGEST));
        Some(Notification { title, body, sound: self.sound })
    }

    /// How many changes were notified since the user was last seen.
    pub fn unseen(&self) -> u64 {
        self.unseen
    }

    /// The user is there. Returns whether something was notified meanwhile.
    pub fn seen(&mut self) -> bool {
        std::mem::take(&mut self.unseen) > 0
    }

    /// What is shown.
    pub fn model(&self) -> AlertsModel {
        let item = |watched: &Watched| AlertItem {
            id: watched.id,
            filter: words_of(&watched.text),
            count: grouped(watched.passed),
        };
        AlertsModel { items: self.watched.iter().map(item).collect(), sound: self.sound }
    }
}

/// A filter in words.
fn words_of(text: &str) -> String {
    if text.is_empty() { String::from("whatever changes") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use kubechurn_changes::line::ReceivedChange;
    use kubechurn_changes::noise::Marks;
    use kubechurn_client::api::object::ObjectKey;
    use kubechurn_client::api::uid::Uid;

    use super::*;

    fn line(seq: u64, delta_type: DeltaType, name: &str) -> Line {
        let (key, uid, kind) = (ObjectKey::new("shop", name), Uid::new(name), "Pod".into());
        let text = r#"{"metadata":{"resourceVersion":"1"},"spec":{"a":1}}"#;
        let other = format!(r#"{{"metadata":{{"resourceVersion":"2"}},"spec":{{"a":"{seq}"}}}}"#);
        let old = (delta_type != DeltaType::Added).then_some(text);
        Line::new(
            ReceivedChange { seq, at: 0.0, kind, key, uid, delta_type, old, new: Some(&other) },
            &Marks::default(),
        )
    }

    fn watching(text: &str, from: u64) -> Alerts {
        let mut alerts = Alerts::default();
        assert!(alerts.watch(text, Filter::parse(text).unwrap(), from));
        alerts
    }

    #[test]
    fn what_passes_is_notified_at_once_and_then_at_most_once_in_ten_seconds() {
        let mut alerts = watching("name:cart", 0);
        assert_eq!((alerts.deadline(), alerts.take_due(5_000.0)), (None, None));
        alerts.look(&line(0, DeltaType::Updated, "other"), true);
        alerts.look(&line(1, DeltaType::Updated, "cart"), true);
        let due = alerts.take_due(5_000.0).unwrap();
        assert_eq!((&*due.title, &*due.body), ("1 change: name:cart", "Pod shop/cart spec.a 1 → 1"));
        for seq in 2..7 {
            alerts.look(&line(seq, DeltaType::Updated, "cart"), true);
            assert_eq!(alerts.take_due(5_000.0 + seq as f64), None);
        }
        assert_eq!((alerts.deadline(), alerts.take_due(14_999.0)), (Some(15_000.0), None));
        let due = alerts.take_due(15_000.0).unwrap();
        assert_eq!(due.title, "5 changes: name:cart");
        assert_eq!(due.body.lines().collect::<Vec<_>>()[2..], ["Pod shop/cart spec.a 1 → 4", "and 2 more"]);
        assert_eq!((alerts.take_due(60_000.0), alerts.unseen()), (None, 6));
        assert!(alerts.seen() && !alerts.seen());
        assert_eq!(alerts.model().items[0].count, "6");
    }

    #[test]
    fn what_was_there_before_what_a_list_brings_and_what_says_nothing_is_never_notified() {
        let mut alerts = watching("", 10);
        let (old, listed) = (line(9, DeltaType::Updated, "a"), line(10, DeltaType::Replaced, "a"));
        alerts.look(&old, true);
        alerts.look(&listed, true);
        // A deletion that only a list shows, and one that the watch reports.
        alerts.look(&line(11, DeltaType::Deleted, "a"), false);
        assert_eq!(alerts.deadline(), None);
        let noise = Line { noise: Some(kubechurn_changes::noise::Noise::Marked), ..line(12, DeltaType::Updated, "a") };
        alerts.look(&noise, true);
        assert_eq!(alerts.deadline(), None);
        alerts.look(&line(13, DeltaType::Deleted, "a"), true);
        assert!(alerts.take_due(0.0).is_some());
        // What is read again, because another field is noise now, was notified before.
        alerts.look(&line(13, DeltaType::Deleted, "a"), true);
        assert_eq!(alerts.deadline(), None);
    }

    #[test]
    fn several_filters_are_watched_and_each_ends() {
        let mut alerts = watching("name:a", 0);
        assert!(!alerts.watch("name:a", Filter::default(), 0), "it is watched");
        assert!(alerts.watch("name:ab", Filter::parse("name:ab").unwrap(), 0));
        alerts.look(&line(1, DeltaType::Added, "ab"), true);
        assert_eq!(alerts.take_due(0.0).unwrap().title, "1 change: name:a", "it passes both, and is notified once");
        let ids: Vec<u64> = alerts.model().items.iter().map(|item| item.id).collect();
        alerts.end(ids[0]);
        alerts.look(&line(2, DeltaType::Added, "a"), true);
        assert_eq!(alerts.deadline(), None);
        alerts.look(&line(3, DeltaType::Added, "ab"), true);
        alerts.end(ids[1]);
        assert!(!alerts.is_watching() && alerts.deadline().is_none(), "what waits is not notified");
        (0..MOST).for_each(|at| assert!(alerts.watch(&at.to_string(), Filter::default(), 0)));
        assert!(!alerts.watch("one more", Filter::default(), 0));
    }

    #[test]
    fn a_hostile_name_stays_text_of_bounded_length() {
        let mut alerts = watching("", 0);
        alerts.look(&line(1, DeltaType::Added, &"x\u{202e}\n".repeat(5_000)), true);
        let due = alerts.take_due(0.0).unwrap();
        assert!(due.body.chars().count() <= LONGEST && !due.body.contains(['\u{202e}', '\n']), "{}", due.body);
    }
}
