//! The last write of the field that the user asks about. The search reads a few versions in each frame, and goes on
//! when the object changes.

use kubechurn_changes::pointer::follow;
use kubechurn_client::api::object::ResourceVersion;
use kubechurn_client::api::uid::Uid;

use crate::history::who::joining;
use crate::inspector::last_write::{MOST, Outcome, Question, Search, Written, name};
use crate::inspector::tab::Tab;
use crate::page::context::Context;
use crate::page::effect::Pace;
use crate::page::inspector::full_text::{FullObject, with_type};
use crate::page::inspector::object::InspectedObject;
use crate::page::time_words::TimeWords;
use crate::view::inspector::LastWriteModel;

/// How many versions are read in one frame. To read and compare one takes some 25 µs.
const FRAME: usize = 100;

/// The user's question about the last write of a field.
#[derive(Debug, Default)]
pub struct LastWriteQuestion {
    asked: Option<AskedField>,
}

/// A field that the user asks about.
#[derive(Debug)]
struct AskedField {
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

impl LastWriteQuestion {
    /// Asks for the last write of a field, by its JSON pointer into what is shown, or closes the answer.
    pub fn ask(
        &mut self,
        pointer: Option<String>,
        object: &InspectedObject,
        full: Option<&FullObject>,
        cx: &Context<'_>,
    ) {
        self.asked = pointer.zip(full).map(|(pointer, full)| {
            let mut asked = AskedField::new(pointer, full.value.to_string(), full);
            asked.begin(None, object, cx);
            asked
        });
    }

    /// Searches on, and shows the answer.
    pub fn present(&mut self, object: &InspectedObject, full: Option<&FullObject>, cx: &mut Context<'_>) {
        if Tab::named(&cx.navigation.route.tab) != Tab::Yaml {
            return;
        }
        // A search that has begun comes to its end first, because another version may come sooner than that.
        if let (Some(asked), Some(full)) = (&self.asked, full)
            && asked.search.is_none()
            && !full.is(&asked.uid, &asked.version)
        {
            self.asked = asked.again(object, full, cx);
        }
        let words = TimeWords { env: cx.env, zone: *cx.zone };
        let history = &cx.watching.history;
        let shown = &mut cx.view.inspector.last_write;
        let Some(asked) = &mut self.asked else { return shown.put(None) };
        if let Some(search) = &mut asked.search {
            // The items of a list lack these two, and have them all the same.
            let is_type = matches!(&*asked.pointer, "/apiVersion" | "/kind");
            asked.outcome = search.step(FRAME, |entry| match history.version(entry).text {
                Some(text) if is_type => {
                    let value = serde_json::from_str(&text).ok()?;
                    Some(with_type(object.kind, value).to_string())
                }
                text => text,
            });
            match asked.outcome {
                Outcome::Searching(_) => cx.effects.frame(Pace::Hurried),
                _ => asked.search = None,
            }
        }
        let (when, at) = when(&asked.outcome, &words);
        // The name is made once for each answer.
        let by = match &asked.outcome {
            Outcome::Written(written) => joining::by(history, written.sequence),
            _ => None,
        };
        let is_shown = shown.as_ref().is_some_and(|shown| {
            shown.pointer == asked.pointer
                && shown.version == asked.version
                && shown.outcome == asked.outcome
                && shown.when == when
                && shown.by == by
        });
        if !is_shown {
            let (pointer, version, outcome) = (asked.pointer.clone(), asked.version.clone(), asked.outcome.clone());
            let path = name(&pointer, &asked.text);
            shown.put(Some(LastWriteModel { path, pointer, version, outcome, when, at, by }));
        }
    }
}

impl AskedField {
    fn new(pointer: String, text: String, full: &FullObject) -> AskedField {
        AskedField {
            pointer,
            text,
            uid: full.uid.clone(),
            version: full.version.clone(),
            sequence: None,
            search: None,
            outcome: Outcome::Unknown,
        }
    }

    /// The same question about what is shown now. `None` if the field is no longer there.
    fn again(&self, object: &InspectedObject, full: &FullObject, cx: &Context<'_>) -> Option<AskedField> {
        let text = full.value.to_string();
        let pointer = follow(&self.pointer, &self.text, &text)?.old?.pointer;
        if self.uid != full.uid {
            return None;
        }
        let mut again = AskedField::new(pointer, text, full);
        again.begin(Some(self), object, cx);
        Some(again)
    }

    /// Begins the search. What is known of an earlier version is not searched for again.
    fn begin(&mut self, earlier: Option<&AskedField>, object: &InspectedObject, cx: &Context<'_>) {
        let history = &cx.watching.history;
        let kept = cx.versions_of(object.kind, &object.key);
        let has_dropped = history.let_go(&self.uid, &object.kind.resource, &object.key).0 > 0;
        let question =
            Question { pointer: &self.pointer, text: &self.text, uid: &self.uid, version: &self.version, has_dropped };
        let Some(mut search) = Search::new(question, &kept) else { return };
        self.sequence = search.newest();
        if let Some(AskedField { sequence: Some(sequence), outcome, .. }) = earlier {
            search.reuse(*sequence, outcome);
        }
        (self.search, self.outcome) = (Some(search), Outcome::Searching(0));
    }
}

/// When the field was written, in words, or why that is not known; and the time in question.
fn when(outcome: &Outcome, words: &TimeWords<'_>) -> (String, Option<f64>) {
    let time = |at: f64| words.time_of_day(at);
    match outcome {
        Outcome::Searching(0) => (String::from("Searching …"), None),
        Outcome::Searching(compared) => (format!("Searching: the same in {compared} older versions …"), None),
        Outcome::Before(at) => (format!("before {}, since when its versions are kept", time(*at)), Some(*at)),
        Outcome::Further(at) => {
            let rest = format!("the same in all of the newest {MOST} versions, and older ones were not searched");
            (format!("before {}: {rest}", time(*at)), Some(*at))
        }
        Outcome::Unknown => {
            let why = "Not known: the version that is shown is not among those that are kept, or one cannot be read.";
            (String::from(why), None)
        }
        Outcome::Written(Written { at, since: None, .. }) => {
            (format!("{}, when the object was created", time(*at)), Some(*at))
        }
        Outcome::Written(Written { at, since: Some(since), is_listed: true, .. }) => {
            let rest = "as a list brought it; perhaps more than once";
            (format!("between {} and {}, {rest}", time(*since), time(*at)), Some(*at))
        }
        Outcome::Written(Written { at, .. }) => (time(*at), Some(*at)),
    }
}
