//! What the page reports about itself to tests and other tools, as plain JSON.

use crate::page::effect::Effect;
use crate::page::environment::Environment;
use crate::page::state::Page;
use crate::page::watched::Watched;
use crate::page::{notices, report};

impl Page {
    /// The state of each watched kind, those in view first. Kinds that wait for their columns come last, because they
    /// have nothing to report yet.
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

    /// The notices, oldest first.
    pub fn notices(&self) -> String {
        json(&notices::told(&self.notices.list))
    }

    /// The entries of the audit log since the last call; `None` if the address asks for no log.
    pub fn audit(&self, env: &dyn Environment) -> Option<String> {
        self.checks.audit.take(env.now())
    }

    /// The rows of a watched kind, by the page's name for it; `None` for a kind that is not watched.
    pub fn rows_of(&self, resource: &str, env: &dyn Environment) -> Option<String> {
        let watched = self.watched(resource)?;
        Some(json(&report::rows(watched, &self.watching.informers, env.wall())))
    }

    /// A digest of the objects that the page holds of a watched kind.
    pub fn digest_of(&self, resource: &str) -> Option<String> {
        let watched = self.watched(resource)?;
        Some(report::digest(watched.objects(&self.watching.informers).map(|object| &**object)))
    }

    /// The marks of a watched kind.
    pub fn marks_of(&self, resource: &str) -> Option<String> {
        Some(json(&report::marks(self.watched(resource)?, &self.watching.history)))
    }

    /// Gives the sign of life that a watchdog outside the program waits for, with the resource versions of what is
    /// watched, and says when the next sign comes.
    pub(super) fn beat(&mut self, env: &dyn Environment) {
        let informers = &self.watching.informers;
        let versions = self.watching.watches.iter().flat_map(|watched| {
            let title = watched.kind().title;
            watched.sources().filter_map(move |(id, scope)| {
                let informer = informers.get(id)?;
                Some((title, &*scope.namespace, informer.reflector().resource_version().as_str()))
            })
        });
        let versions = report::versions(versions);
        let next = (self.deadline(env) - env.now()).max(0.0);
        self.out.effects.push(Effect::Beat { versions, next });
    }

    /// How much was received, and what the recorder keeps of it.
    pub fn recorder(&self) -> String {
        json(&self.watching.history.report())
    }

    fn watched(&self, resource: &str) -> Option<&Watched> {
        self.watching.watches.iter().find(|watched| watched.kind().name == resource)
    }
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| String::from("null"))
}
