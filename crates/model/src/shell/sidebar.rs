//! Which of the sidebar's groups are open.

use std::collections::BTreeMap;

/// The headings that are open by default.
const USUAL: [&str; 3] = ["Workloads", "Network", "Cluster"];

/// What the user has opened and closed, and what has opened by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    open: BTreeMap<String, bool>,
    /// The headings of the kinds in view.
    arrived: Vec<&'static str>,
}

impl Groups {
    /// Reads what [`Groups::text`] wrote. Lines that cannot be read are ignored.
    pub fn parse(text: &str) -> Groups {
        let mut groups = Groups::default();
        groups.open.extend(text.lines().filter_map(|line| match line.split_at_checked(1)? {
            ("+", heading) => Some((heading.to_owned(), true)),
            ("-", heading) => Some((heading.to_owned(), false)),
            _ => None,
        }));
        groups
    }

    /// What is stored: a line for each heading that is not in its default state.
    pub fn text(&self) -> String {
        let changed = self.open.iter().filter(|(heading, open)| **open != USUAL.contains(&&***heading));
        changed.map(|(heading, open)| format!("{}{heading}\n", if *open { '+' } else { '-' })).collect()
    }

    /// Whether a group is open.
    pub fn is_open(&self, heading: &str) -> bool {
        self.open.get(heading).copied().unwrap_or(USUAL.contains(&heading))
    }

    /// Opens or closes a group for the user. Returns whether that is a change.
    pub fn fold(&mut self, heading: &str, open: bool) -> bool {
        let changed = self.is_open(heading) != open;
        if changed {
            self.open.insert(heading.to_owned(), open);
        }
        changed
    }

    /// Kinds of these groups are in view. A group opens when its first kind comes into view, and then stays
    /// as the user leaves it. Returns whether a group opened.
    pub fn arrive(&mut self, headings: &[&'static str]) -> bool {
        let before = std::mem::replace(&mut self.arrived, headings.to_vec());
        let mut changed = false;
        for heading in headings {
            changed |= !before.contains(heading) && self.fold(heading, true);
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_opens_with_a_kind_in_view_and_stays_as_it_is_left() {
        let mut groups = Groups::default();
        assert!(groups.is_open("Workloads") && !groups.is_open("example.org"));
        assert!(groups.arrive(&["example.org"]) && groups.is_open("example.org"));
        assert!(groups.fold("example.org", false) && !groups.fold("example.org", false));
        assert!(!groups.arrive(&["example.org"]) && !groups.is_open("example.org"), "it is still in view");
        assert!(!groups.arrive(&["Workloads"]), "it is open");
        assert!(groups.arrive(&["example.org"]) && groups.is_open("example.org"), "it came again");
        let both = ["example.org", "Workloads"];
        assert!(!groups.arrive(&both) && groups.fold("Workloads", false) && !groups.arrive(&both));
        assert!(!groups.is_open("Workloads") && groups.is_open("example.org"));
    }

    #[test]
    fn what_is_left_open_is_remembered() {
        let mut groups = Groups::default();
        groups.fold("Network", false);
        groups.fold("example.org", true);
        groups.fold("apps", true);
        groups.fold("apps", false);
        assert_eq!(groups.text(), "-Network\n+example.org\n");
        let again = Groups::parse(&groups.text());
        assert!(!again.is_open("Network") && again.is_open("example.org") && !again.is_open("apps"));
        for text in ["", "x", "ä", "\n\n", "+", "{}"] {
            assert!(Groups::parse(text).is_open("Workloads"), "{text}");
        }
    }
}
