//! The page's checks of itself: sends their requests, hands them the answers, and carries out the repairs that they ask
//! for.

use kubechurn_client::api::object::ResourceVersion;
use kubechurn_client::api::status::Failure;
use kubechurn_client::cache::consistency::{Difference, Differences};
use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::journal::Identity;

use crate::page::audit::AuditLog;
use crate::page::command::List;
use crate::page::effect::{Effect, Request, RequestId, Told};
use crate::page::environment::{DrawnRow, Environment};
use crate::page::memory::Memory;
use crate::page::state::Page;
use crate::page::state::requests::Purpose;
use crate::page::verify::{Item, Now, Step, Verifier};
use crate::page::view::{RowModel, VerifiedItem, VerifiedModel};
use crate::page::watched::Watched;
use crate::page::watches::Around;

/// The checks, and the limits and logs that they use.
#[derive(Debug)]
pub(super) struct Checks {
    pub(super) verifier: Verifier,
    /// The request that is under way.
    asked: Option<RequestId>,
    /// Whether a notice has said already that the sums do not balance.
    pub(super) unbalanced: bool,
    /// The log of how data moves through the page, if the address asks for one.
    pub(super) audit: AuditLog,
    /// How much memory the program may take.
    pub(super) memory: Memory,
}

impl Checks {
    pub(super) fn new(audit: AuditLog, memory: Memory) -> Checks {
        Checks { verifier: Verifier::default(), asked: None, unbalanced: false, audit, memory }
    }
}

impl Page {
    /// Continues the check under way, or begins one. Must be called after each drain.
    pub(super) fn verify(&mut self, env: &dyn Environment) {
        let watching = &mut self.watching;
        let at = Now { at: env.now(), hidden: env.is_hidden(), paused: watching.paused, whole: watching.whole };
        let steps = self.checks.verifier.look(at, &watching.watches, &mut watching.informers);
        self.follow(steps, env);
        if self.checks.verifier.is_busy() {
            self.hurry();
        }
    }

    /// Begins a check at once, because the user asked for one.
    pub(super) fn verify_now(&mut self, now: f64) {
        self.checks.verifier.ask(now, &self.watching.watches);
    }

    /// Handles the server's answer to the list of a check.
    pub(super) fn listed_exactly(&mut self, number: u64, answer: Result<&[u8], Failure>, env: &dyn Environment) {
        self.checks.asked = None;
        let steps = self.checks.verifier.answered(env.now(), number, answer, &mut self.watching.informers);
        self.follow(steps, env);
    }

    fn follow(&mut self, steps: Vec<Step>, env: &dyn Environment) {
        for step in steps {
            match step {
                Step::Ask(id, number, request) => {
                    let Some((resource, scope)) = self.watching.informers.of(id) else { continue };
                    let request = Request::ListExactly(resource, scope.clone(), request);
                    self.checks.asked = Some(self.request(Purpose::Verify(number), request));
                }
                Step::GiveUp => {
                    if let Some(asked) = self.checks.asked.take() {
                        self.abort(asked);
                    }
                }
                Step::Draw(id) => {
                    let (same, differences) = self.compare_drawn(id, env);
                    let informers = &self.watching.informers;
                    let steps = self.checks.verifier.drawn(env.now(), same, differences, informers);
                    self.follow(steps, env);
                }
                Step::Relist(id, reason) => self.out.effects.push(Effect::Tell(id, Told::Relist(reason))),
                Step::Rebuild => self.make_tables_anew(env),
                Step::Publish(notice) => self.publish_audited(notice),
            }
        }
    }

    /// Compares the rows in the document with their models: how many are the same, and which are not.
    fn compare_drawn(&self, id: InformerId, env: &dyn Environment) -> (u64, Differences) {
        let (mut same, mut differences) = (0, Differences::default());
        let is_of = |member: &&Watched| member.sources().any(|(own, _)| own == id);
        let kind = self.watching.watches.members().iter().find(is_of).map(Watched::kind);
        let Some((kind, (_, scope))) = kind.zip(self.watching.informers.of(id)) else { return (same, differences) };
        for model in self.rows.models() {
            let is_own = scope.namespace.is_empty() || *model.key.namespace == *scope.namespace;
            if model.kind != kind.name || !is_own {
                continue;
            }
            let drawn = env.drawn(model.id);
            if drawn.as_ref().is_some_and(|drawn| is_drawn(drawn, model)) {
                same += 1;
                continue;
            }
            let identity = |uid| Identity { uid, resource_version: ResourceVersion::default() };
            let (ours, theirs) = (drawn.map(|drawn| identity(drawn.uid)), Some(identity(model.uid.clone())));
            differences.push(Difference { key: model.key.clone(), ours, theirs });
        }
        (same, differences)
    }

    /// Rebuilds every table from the objects that the stores hold.
    fn make_tables_anew(&mut self, env: &dyn Environment) {
        let watching = &mut self.watching;
        let announcer = &mut self.notices.announcer;
        let mut around = Around { informers: &mut watching.informers, announcer, now: env.now() };
        let ended = watching.watches.let_go_of_tables(&mut around);
        ended.into_iter().for_each(|id| self.out.effects.push(Effect::Stop(id)));
        self.begin_other_rows();
        self.go_on(env);
    }

    /// Shows what the checks found. The list is written only while it is open.
    pub(super) fn present_verified(&mut self, env: &dyn Environment) {
        let (verifier, watches) = (&self.checks.verifier, &self.watching.watches);
        let time = |at: f64| env.time_of_day(at).chars().take("13:04:05".len()).collect::<String>();
        let summary = verifier.summary(watches.members());
        let item = |item: Item| VerifiedItem {
            subject: item.subject,
            state: item.state,
            at: item.at.map(time).unwrap_or_default(),
            words: item.words,
            found_at: item.found_at.map(time),
            differences: item.differences,
        };
        let items = if self.has_list(List::Verified) { verifier.items(watches) } else { Vec::new() };
        let (state, at) = (summary.state, summary.at.map(time));
        let label = match (state, &at) {
            ("checking", _) if summary.words.is_empty() => String::from("verifying …"),
            ("checking", _) => format!("verifying, {}", summary.words),
            ("same", Some(at)) => format!("verified {at}"),
            ("differs", Some(at)) => format!("{} differ {at}", summary.words),
            _ => String::from("not verified"),
        };
        let model = VerifiedModel { state, label, words: summary.words, items: items.into_iter().map(item).collect() };
        self.out.view.footer.verified.put(model);
    }
}

/// Whether an element shows exactly what its row's model says.
fn is_drawn(drawn: &DrawnRow, model: &RowModel) -> bool {
    drawn.is_of(&model.key, &model.uid)
        && drawn.state == model.state
        && drawn.cells.len() == model.cells.len()
        // In the last column, a glyph stands before the text.
        && model.cells.iter().zip(&drawn.cells).all(|(cell, text)| text.ends_with(&cell.text))
}
