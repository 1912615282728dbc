//! What the page tells of itself to tests and other tools: plain JSON.

use crate::page::effect::Effect;
use crate::page::environment::Environment;
use crate::page::state::Page;
use crate::page::watched::Watched;
use crate::page::{notices, report};

impl Page {
    /// What is said of each watched kind, those in view first. Those that wait for their columns come last: they have
    /// nothing to tell yet.
    pub fn status(&self, env: &dyn Environment) -> String {
        let (watching, verifier) = (&self.watching, &self.checks.verifier);
        let now = env.now();
        let status = |at| report::status(&watching.watches, at, &watching.informers, verifier, now);
        let status = (0..watching.watches.len()).filter_map(status);
        let waiting = self.place.route.watched(&self.place.catalog).into_iter();
        let waiting = waiting.filter(|kind| self.place.definitions.awaits(kind)).map(report::waiting);
        let all: Vec<String> =
            status.map(|status| json(&status)).chain(waiting.map(|waiting| json(&waiting))).collect();
        format!("[{}]", all.join(","))
    }

    /// What the page had to say, oldest first.
    pub fn notices(&self) -> String {
        json(&notices::told(&self.notices.list))
    }

    /// What was written down of the way of the data since this was last called; nothing where it was not asked for.
    pub fn audit(&self, env: &dyn Environment) -> Option<String> {
        self.checks.audit.take(env.now())
    }

    /// The rows of a watched kind, by the page's name for it; nothing for one that is not watched.
    pub fn rows_of(&self, resource: &str, env: &dyn Environment) -> Option<String> {
        let watched = self.watched(resource)?;
        Some(json(&report::rows(watched, &self.watching.informers, env.wall())))
    }

    /// A digest of what is held of a watched kind.
    pub fn digest_of(&self, resource: &str) -> Option<String> {
        let watched = self.watched(resource)?;
        Some(report::digest(watched.objects(&self.watching.informers).map(|object| &**object)))
    }

    /// The marks of a watched kind.
    pub fn marks_of(&self, resource: &str) -> Option<String> {
        Some(json(&report::marks(self.watched(resource)?)))
    }

    /// Gives the sign of life that is watched for from outside, with the versions at which what is watched is.
    pub(super) fn beat(&mut self) {
        let informers = &self.watching.informers;
        let versions = self.watching.watches.iter().flat_map(|watched| {
            let title = watched.kind().title;
            watched.sources().filter_map(move |(id, scope)| {
                let informer = informers.get(id)?;
                Some((title, &*scope.namespace, informer.reflector().resource_version().as_str()))
            })
        });
        let versions = report::versions(versions);
        self.out.effects.push(Effect::Beat(versions));
    }

    fn watched(&self, resource: &str) -> Option<&Watched> {
        self.watching.watches.iter().find(|watched| watched.kind().name == resource)
    }
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| String::from("null"))
}
