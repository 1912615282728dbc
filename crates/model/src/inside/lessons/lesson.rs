//! What a lesson is made of: a short stream, what is set, and captions that each stop at a step.

use std::sync::Arc;

use kubechurn_client::api::object::ResourceVersion;
use kubechurn_client::cache::client_go::Call;
use kubechurn_client::cache::delta::{DeltaObject, DeltaType};

use crate::inside::Inside;
use crate::inside::handlers::Handled;
use crate::inside::machine::Settings;
use crate::inside::part::Part;
use crate::inside::server::{Frame, Server};
use crate::inside::step::What;
use crate::inside::work::Worked;

/// A lesson.
#[derive(Debug)]
pub struct Lesson {
    /// Its name in an address.
    pub id: &'static str,
    /// Its title.
    pub title: &'static str,
    /// What happens at the server, and when in milliseconds.
    pub(super) stream: &'static [(u32, Line)],
    /// What is set from the beginning on.
    pub(super) settings: fn() -> Settings,
    /// What is said, in order.
    pub captions: &'static [Caption],
}

/// What is said of one step.
#[derive(Debug)]
pub struct Caption {
    /// How often something happens after the caption before, until the step is reached; never where it says something else of
    /// the same step.
    pub(super) stop: (usize, fn(&What) -> bool),
    /// The part that it is about.
    pub part: Part,
    /// One to three sentences.
    pub words: &'static str,
}

/// Something that happens at the server. All objects are Pods of one namespace; each is a name and a version.
#[derive(Debug)]
pub(super) enum Line {
    /// A list, with its version.
    List(u32, &'static [(&'static str, u32)]),
    /// ADDED.
    Added(&'static str, u32),
    /// MODIFIED.
    Modified(&'static str, u32),
    /// DELETED.
    Deleted(&'static str, u32),
    /// A bookmark.
    Bookmark(u32),
}

fn text((name, version): (&str, u32)) -> Arc<str> {
    let text = format!(
        r#"{{"kind":"Pod","metadata":{{"name":"{name}","namespace":"shop","uid":"{name}","resourceVersion":"{version}"}}}}"#
    );
    text.into()
}

impl Line {
    fn frame(&self) -> Frame {
        let version = |version: u32| ResourceVersion::new(&version.to_string());
        let event = |delta_type, name, version| Frame::Event { delta_type, text: text((name, version)) };
        match *self {
            Line::List(at, items) => {
                Frame::List { version: version(at), items: items.iter().copied().map(text).collect() }
            }
            Line::Added(name, version) => event(DeltaType::Added, name, version),
            Line::Modified(name, version) => event(DeltaType::Updated, name, version),
            Line::Deleted(name, version) => event(DeltaType::Deleted, name, version),
            Line::Bookmark(at) => Frame::Bookmark(version(at)),
        }
    }
}

impl Lesson {
    /// The machinery before the first step of the lesson.
    pub fn open(&self) -> Inside {
        let mut server = Server::default();
        for (at, line) in self.stream {
            server.push(f64::from(*at), line.frame());
        }
        Inside::new(server, (self.settings)(), 0.0)
    }

    /// How many steps there are until each caption, in a lesson in which nothing was changed. To be asked for once.
    pub fn stops(&self) -> Vec<usize> {
        let mut inside = self.open();
        let stop = |caption: &Caption| {
            let (mut left, happens) = caption.stop;
            while left > 0 {
                match inside.forward() {
                    Some(step) => left -= usize::from(happens(&step.what)),
                    None => break,
                }
            }
            inside.machine().number()
        };
        self.captions.iter().map(stop).collect()
    }
}

/// The Reflector starts.
pub(super) fn started(what: &What) -> bool {
    matches!(what, What::Started)
}

/// A list comes.
pub(super) fn listed(what: &What) -> bool {
    matches!(what, What::Listed { .. })
}

/// A list is handed to the queue.
pub(super) fn replaced(what: &What) -> bool {
    matches!(what, What::Replaced { .. })
}

/// A watch opens.
pub(super) fn watches(what: &What) -> bool {
    matches!(what, What::Watches { .. })
}

/// An event comes.
pub(super) fn event(what: &What) -> bool {
    matches!(what, What::Event { .. })
}

/// A bookmark comes.
pub(super) fn bookmark(what: &What) -> bool {
    matches!(what, What::Bookmark(_))
}

/// An event is lost.
pub(super) fn lost(what: &What) -> bool {
    matches!(what, What::Lost(_))
}

/// A watch ends.
pub(super) fn ended(what: &What) -> bool {
    matches!(what, What::Ended(_))
}

/// A resync comes.
pub(super) fn resynced(what: &What) -> bool {
    matches!(what, What::Resynced { .. })
}

/// Something is popped from the chosen queue.
pub(super) fn popped(what: &What) -> bool {
    matches!(what, What::Popped(_))
}

/// A handler is called.
pub(super) fn called(what: &What) -> bool {
    matches!(what, What::Handler(_, Handled::Called(_)))
}

/// A handler gets a tombstone.
pub(super) fn tombstone(what: &What) -> bool {
    use DeltaObject::FinalStateUnknown;
    matches!(what, What::Handler(_, Handled::Called(Call::OnDelete { object: FinalStateUnknown(_) })))
}

/// A worker takes a key.
pub(super) fn took(what: &What) -> bool {
    matches!(what, What::Worked(Worked::Took(_)))
}

/// A worker is done with a key.
pub(super) fn done(what: &What) -> bool {
    matches!(what, What::Worked(Worked::Done { .. }))
}
