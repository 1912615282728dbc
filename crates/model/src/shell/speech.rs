//! What a screen reader reads out without being asked: that a list is complete, that the connection is lost, that it is
//! back; and of a list that takes long, once, that its rows are provisional. Single events and running counts are never read out, because the listener must be able to listen to other
//! things.

/// The shortest time between two sentences, in milliseconds. A sentence that is no longer true by then is dropped.
const PAUSE: f64 = 2_000.0;

/// How long rows have been provisional when that is read out, in milliseconds. Most lists end before.
const LONG: f64 = 1_000.0;

/// What is known of the kind in view.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen<'a> {
    /// Its title: `Pods`.
    pub title: &'a str,
    /// The connection's state: `live`, `stale`, …
    pub state: &'static str,
    /// How many rows are shown, and how many there are.
    pub counts: (usize, usize),
    /// Whether there are rows of a list that is not complete.
    pub provisional: bool,
    /// The filter, as it was typed.
    pub filter: &'a str,
    /// Whether the page is paused.
    pub paused: bool,
}

/// What a sentence is about. Anything else may change without a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
struct About {
    title: String,
    state: &'static str,
    filter: String,
    paused: bool,
}

/// Decides which changes are read out, and when.
#[derive(Debug, Default)]
pub struct Speech {
    /// The subject of the last sentence.
    spoken: Option<About>,
    at: Option<f64>,
    /// The subject of the next sentence, and since when it has been true.
    pending: Option<(About, f64)>,
    /// Since when rows have been provisional, and whether that was read out.
    provisional: Option<(f64, bool)>,
}

impl Speech {
    /// Takes the present state, and returns a sentence if one is due. Must be called a few times a second.
    pub fn look(&mut self, now: f64, seen: Seen<'_>) -> Option<String> {
        // Connecting and listing are passing states.
        if ["connecting", "listing"].contains(&seen.state) {
            return self.listing(now, seen);
        }
        self.provisional = None;
        let Seen { state, paused, .. } = seen;
        let about = About { title: seen.title.to_owned(), state, filter: seen.filter.to_owned(), paused };
        if self.spoken.as_ref() == Some(&about) {
            self.pending = None;
            return None;
        }
        // A filter is typed letter by letter, and a connection may be back in a moment.
        let since = match &self.pending {
            Some((pending, since)) if *pending == about => *since,
            _ => {
                self.pending = Some((about.clone(), now));
                now
            }
        };
        let is_first = self.spoken.is_none();
        let waits = now - since < PAUSE / 4.0 || self.at.is_some_and(|at| now - at < PAUSE);
        if waits && !is_first {
            return None;
        }
        let sentence = self.sentence(seen);
        (self.spoken, self.at, self.pending) = (Some(about), Some(now), None);
        Some(sentence)
    }

    /// That rows are provisional is read out once for each list, and not for each row.
    fn listing(&mut self, now: f64, seen: Seen<'_>) -> Option<String> {
        let (since, was_said) = self.provisional.unwrap_or((now, false));
        self.provisional = seen.provisional.then_some((since, was_said));
        if !seen.provisional || was_said || now - since < LONG {
            return None;
        }
        self.provisional = Some((since, true));
        Some(format!("Listing {}: the rows are provisional until the list is complete.", seen.title))
    }

    fn sentence(&self, seen: Seen<'_>) -> String {
        let Seen { title, state, counts: (shown, total), filter, paused, .. } = seen;
        let before = self.spoken.as_ref();
        let is_same_list = before.is_some_and(|before| before.title == title && before.state == state);
        if is_same_list && before.is_some_and(|before| before.paused != paused) {
            return String::from(if paused { "Paused." } else { "Live again." });
        }
        let rows = match (filter.trim(), shown) {
            ("", _) => format!("{total} {title}"),
            (_, shown) => format!("{shown} of {total} {title} match"),
        };
        match state {
            "live" if is_same_list => format!("{rows}."),
            "live" if before.is_some_and(|before| before.title == title) => format!("{title} are live again: {rows}."),
            "live" => format!("Listing finished: {rows}."),
            "stale" => format!("{title} are stale: the connection is lost."),
            "forbidden" => format!("{title} are forbidden."),
            state => format!("{title}: {state}."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PODS: Seen<'_> =
        Seen { title: "Pods", state: "live", counts: (312, 312), provisional: false, filter: "", paused: false };

    #[test]
    fn each_state_is_said_once_and_no_event() {
        let mut speech = Speech::default();
        let stale = Seen { state: "stale", ..PODS };
        let listing = Seen { state: "listing", counts: (0, 0), provisional: true, ..PODS };
        let provisional = Some("Listing Pods: the rows are provisional until the list is complete.");
        let typing = |filter| Seen { filter, counts: (3, 312), ..PODS };
        for (now, seen, expected) in [
            (0.0, Seen { state: "connecting", ..PODS }, None),
            (100.0, Seen { state: "listing", counts: (5, 9), ..PODS }, None),
            (200.0, listing, None),
            (500.0, PODS, Some("Listing finished: 312 Pods.")),
            (1_000.0, Seen { counts: (313, 313), ..PODS }, None),
            (90_000.0, Seen { counts: (999, 999), ..PODS }, None),
            // A connection that is back in a moment is not reported as lost.
            (100_000.0, stale, None),
            (100_300.0, PODS, None),
            (110_000.0, stale, None),
            (110_600.0, stale, Some("Pods are stale: the connection is lost.")),
            (111_000.0, PODS, None),
            (111_600.0, PODS, None),
            (112_700.0, PODS, Some("Pods are live again: 312 Pods.")),
            // A filter is reported when the user stops typing.
            (120_000.0, typing("c"), None),
            (120_400.0, typing("ca"), None),
            (120_800.0, typing("car"), None),
            (121_400.0, typing("car"), Some("3 of 312 Pods match.")),
            (130_000.0, Seen { paused: true, ..typing("car") }, None),
            (130_600.0, Seen { paused: true, ..typing("car") }, Some("Paused.")),
            (140_000.0, typing("car"), None),
            (140_600.0, typing("car"), Some("Live again.")),
            (150_000.0, Seen { title: "Nodes", counts: (4, 4), ..PODS }, None),
            (150_600.0, Seen { title: "Nodes", counts: (4, 4), ..PODS }, Some("Listing finished: 4 Nodes.")),
            (160_000.0, Seen { title: "Jobs", state: "forbidden", ..PODS }, None),
            (160_600.0, Seen { title: "Jobs", state: "forbidden", ..PODS }, Some("Jobs are forbidden.")),
            // A list that takes long, and breaks, says once that its rows are provisional.
            (170_000.0, listing, None),
            (170_900.0, listing, None),
            (171_000.0, listing, provisional),
            (172_000.0, listing, None),
            (190_000.0, Seen { state: "connecting", ..listing }, None),
            (200_000.0, listing, None),
        ] {
            assert_eq!(speech.look(now, seen).as_deref(), expected, "at {now}");
        }
    }
}
