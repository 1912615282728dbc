//! The last write of the field that the user asks about. The search reads a few versions in each frame, and is continued
//! when the object changes.

use kubechurn_changes::pointer::follow;
use kubechurn_client::api::object::ResourceVersion;
use kubechurn_client::api::uid::Uid;

use crate::page::effect::Pace;
use crate::page::history::Entry;
use crate::page::inspector::last_write::{Outcome, Question, Search, name};
use crate::page::inspector::tab::Tab;
use crate::page::state::Page;
use crate::page::state::inspector::{Full, Inspection};
use crate::page::view::inspector::LastWriteModel;

/// How many versions are read in one frame. To read and compare one takes some 25 µs.
const FRAME: usize = 100;

/// A field that the user asks about.
#[derive(Debug)]
pub(super) struct Asked {
    /// The field, as a JSON pointer into the text.
    pointer: String,
    /// The text that was shown when the search began, and the object and version that it is of.
    text: String,
    uid: Uid,
    version: ResourceVersion,
    /// The number of that version, if it is kept.
    sequence: Option<u64>,
    search: Option<Search>,
    outcome: Outcome,
}

impl Asked {
    /// The same question about what is shown now. `None` if the field is no longer there.
    fn again(&self, full: &Full) -> Option<Asked> {
        let text = full.value.to_string();
        let pointer = follow(&self.pointer, &self.text, &text)?.old?.pointer;
        (self.uid == full.uid).then(|| Asked::new(pointer, text, full))
    }

    fn new(pointer: String, text: String, full: &Full) -> Asked {
        Asked {
            pointer,
            text,
            uid: full.uid.clone(),
            version: full.version.clone(),
            sequence: None,
            search: None,
            outcome: Outcome::Unknown,
        }
    }

    /// Begins the search. What is known of an earlier version is not searched for again.
    fn begin(&mut self, kept: &[Entry], has_dropped: bool, earlier: Option<&Asked>) {
        let question =
            Question { pointer: &self.pointer, text: &self.text, uid: &self.uid, version: &self.version, has_dropped };
        let Some(mut search) = Search::new(question, kept) else { return };
        self.sequence = search.newest();
        if let Some(Asked { sequence: Some(sequence), outcome, .. }) = earlier {
            search.reuse(*sequence, outcome);
        }
        (self.search, self.outcome) = (Some(search), Outcome::Searching(0));
    }
}

impl Page {
    /// Asks for the last write of a field, by its JSON pointer into what is shown, or closes the answer.
    pub(super) fn ask_last_write(&mut self, pointer: Option<String>) {
        let Some(mut open) = self.inspector.open.take() else { return };
        open.asked = match (pointer, open.text.full.clone()) {
            (Some(pointer), Some(full)) => {
                let mut asked = Asked::new(pointer, full.value.to_string(), &full);
                self.begin_last_write(&open, &mut asked, None);
                Some(asked)
            }
            _ => None,
        };
        self.inspector.open = Some(open);
    }

    fn begin_last_write(&self, open: &Inspection, asked: &mut Asked, earlier: Option<&Asked>) {
        let history = &self.watching.history;
        let kept = history.of(&open.kind.resource, &open.key);
        let has_dropped = history.let_go(&asked.uid, &open.kind.resource, &open.key).0 > 0;
        asked.begin(&kept, has_dropped, earlier);
    }

    /// Searches on, and shows the answer.
    pub(super) fn present_last_write(&mut self, open: &mut Inspection) {
        if Tab::named(&self.place.route.tab) != Tab::Yaml {
            return;
        }
        // A search that has begun comes to its end first, because another version may come sooner than that.
        if let (Some(asked), Some(full)) = (&open.asked, open.text.full.clone())
            && asked.search.is_none()
            && !full.is(&asked.uid, &asked.version)
        {
            let mut again = asked.again(&full);
            if let Some(again) = &mut again {
                self.begin_last_write(open, again, Some(asked));
            }
            open.asked = again;
        }
        let history = &self.watching.history;
        let shown = &mut self.out.view.inspector.last_write;
        let Some(asked) = &mut open.asked else { return shown.put(None) };
        if let Some(search) = &mut asked.search {
            asked.outcome = search.step(FRAME, |entry| history.version(entry).text);
            match asked.outcome {
                Outcome::Searching(_) => self.out.effects.frame(Pace::Hurried),
                _ => asked.search = None,
            }
        }
        // The name is made once for each answer.
        let is_shown = shown.as_ref().is_some_and(|shown| {
            shown.pointer == asked.pointer && shown.version == asked.version && shown.outcome == asked.outcome
        });
        if !is_shown {
            let (pointer, version, outcome) = (asked.pointer.clone(), asked.version.clone(), asked.outcome.clone());
            shown.put(Some(LastWriteModel { path: name(&pointer, &asked.text), pointer, version, outcome }));
        }
    }
}
