//! Something that is broken, and since when.

use kubechurn_changes::findings::{Card, Finding};
use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::resource::ApiResource;

use crate::feed::wrong::row::Words;
use crate::feed::wrong::{Entry, Fault, Subject};

/// An incident: one for a cause, and not for each Pod. Without a fault it is an object at a time that the user asks about.
#[derive(Clone, Debug, PartialEq)]
pub struct Incident {
    /// What it is about.
    pub subject: Subject,
    /// What is wrong, of one of the objects.
    pub fault: Option<Fault>,
    /// The field that is fought over, or that goes to and fro.
    pub path: String,
    /// What is wrong, in words.
    pub words: Words,
    /// How many objects it concerns, and how many there should be, if that is known.
    pub count: (usize, Option<u64>),
    /// Some of these objects.
    pub objects: Vec<Subject>,
    /// Since when, in milliseconds.
    pub since: f64,
    /// When it ended, in milliseconds.
    pub ended_at: Option<f64>,
    /// The number of the change with which it began, where owner and version say so.
    pub began: Option<u64>,
}

impl Incident {
    /// The incident of an entry of what is wrong.
    pub fn of_entry(entry: &Entry) -> Incident {
        Incident {
            subject: entry.subject.clone(),
            fault: Some(entry.fault.clone()),
            path: String::new(),
            words: entry.words(),
            count: entry.count,
            objects: entry.objects.clone(),
            since: entry.since,
            ended_at: entry.ended_at,
            began: entry.began.as_ref().filter(|began| began.explains()).map(|began| began.seq),
        }
    }

    /// The incident of a loop or a fight, which is about this object.
    pub fn of_card(card: &Card, subject: Subject) -> Incident {
        let path = match &card.finding {
            Finding::Fight { path, .. } | Finding::Flapping { path, .. } => path.clone(),
            _ => String::new(),
        };
        Incident { path, words: card.words(), ..Incident::at(subject, card.since) }
    }

    /// An object at a time, in milliseconds.
    pub fn at(subject: Subject, since: f64) -> Incident {
        Incident {
            objects: vec![subject.clone()],
            subject,
            fault: None,
            path: String::new(),
            words: Words::new(),
            count: (1, None),
            since,
            ended_at: None,
            began: None,
        }
    }

    /// Whether it is about an object, or this is among the objects that are named.
    pub fn concerns(&self, resource: &ApiResource, key: &ObjectKey) -> bool {
        self.objects.iter().chain([&self.subject]).any(|object| object.is(resource, key))
    }

    /// What the cluster itself says of it; empty where it says nothing.
    pub fn said(&self) -> String {
        self.fault.as_ref().map(|fault| fault.words(true).1).unwrap_or_default()
    }

    /// What it waits for, in words.
    pub fn waits_for(&self) -> &'static str {
        match &self.fault {
            _ if self.ended_at.is_some() => "",
            Some(Fault::Pull { .. }) => "waits for the kubelet, which tries again after a pause that grows",
            Some(Fault::Crash { .. }) => "waits for the kubelet, which starts it again after a pause that grows",
            Some(Fault::Start { .. } | Fault::Hang { .. }) => "waits for the kubelet, which tries again",
            Some(Fault::Schedule { .. }) => "waits for a node that takes it",
            Some(Fault::Create { .. }) => "waits for its controller, which tries again after a pause that grows",
            Some(Fault::Unready { .. }) => "waits for its probe to pass",
            Some(Fault::NotReady) => "waits for its kubelet",
            Some(Fault::Unbound) => "waits for a volume",
            Some(Fault::Condition { .. }) => "waits for its controller",
            Some(Fault::Deadline) => "its deadline is over, and the rollout still goes on",
            Some(Fault::Deleting { .. }) => "waits for what holds it",
            Some(Fault::Job { .. } | Fault::Ended { .. }) => "is not tried again by itself",
            None => "",
        }
    }
}
