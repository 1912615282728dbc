//! The page's checks of itself: sends their requests, hands them the answers, and carries out the repairs that they ask
//! for.

use kubechurn_client::api::object::ResourceVersion;
use kubechurn_client::api::status::Failure;
use kubechurn_client::cache::consistency::{Difference, Differences};
use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::journal::Identity;

use crate::page::command::List;
use crate::page::context::Context;

use crate::page::effect::{Effect, RECORDED, ReflectorInput, Request, RequestId};
use crate::page::environment::DrawnRow;
use crate::page::requests::Purpose;
use crate::page::rows::RowWindow;
use crate::verification::found::{self, Item};
use crate::verification::{Now, Step, Verifier};
use crate::view::{RowModel, VerifiedItem, VerifiedModel};
use crate::watches::Around;
use crate::watches::memory::{self, Memory};
use crate::watches::notices::{NoticeKind, PageNotice};
use crate::watches::watched::Watched;

/// The memory of a timeline's marks after memory has become short, in bytes.
const MARKS: usize = 512 << 10;
/// The memory of the texts of versions after memory has become short, in bytes.
const TEXTS: usize = 4 << 20;

/// The checks, and the limits and logs that they use.
#[derive(Debug)]
pub(super) struct Verification {
    pub(super) verifier: Verifier,
    /// The request that is under way.
    asked: Option<RequestId>,
    /// Whether a notice has said already that the sums do not balance.
    unbalanced: bool,
    /// How much memory the program may take.
    pub(super) memory: Memory,
}

impl Verification {
    pub(super) fn new(memory: Memory) -> Verification {
        Verification { verifier: Verifier::default(), asked: None, unbalanced: false, memory }
    }

    /// Continues the check under way, or begins one. Must be called after each drain. Returns whether the tables must be
    /// made anew.
    pub(super) fn continue_check(&mut self, rows: &RowWindow, cx: &mut Context<'_>) -> bool {
        // Nobody can be asked whether a recording is right.
        if cx.navigation.recorded.is_some() {
            return false;
        }
        let watching = &mut *cx.watching;
        let at = Now { at: cx.now, hidden: cx.env.is_hidden(), paused: watching.paused, whole: watching.whole };
        let steps = self.verifier.look(at, &watching.watches, &mut watching.informers);
        let outcome = self.follow(steps, rows, cx);
        if self.verifier.is_busy() {
            cx.hurry();
        }
        outcome
    }

    /// Begins a check at once, because the user asked for one.
    pub(super) fn begin_check(&mut self, cx: &mut Context<'_>) {
        match cx.navigation.recorded {
            Some(_) => cx.show_message(&format!("Nothing is verified: {RECORDED}.")),
            None => self.verifier.ask(cx.now, &cx.watching.watches),
        }
    }

    /// Handles the server's answer to the list of a check. Returns whether the tables must be made anew.
    pub(super) fn listed_exactly(
        &mut self,
        number: u64,
        answer: Result<&[u8], Failure>,
        rows: &RowWindow,
        cx: &mut Context<'_>,
    ) -> bool {
        self.asked = None;
        let steps = self.verifier.answered(cx.now, number, answer, &mut cx.watching.informers);
        self.follow(steps, rows, cx)
    }

    /// Carries out what a check asks for. Returns whether the tables must be made anew.
    fn follow(&mut self, steps: Vec<Step>, rows: &RowWindow, cx: &mut Context<'_>) -> bool {
        let mut rebuilds = false;
        for step in steps {
            match step {
                Step::Ask(id, number, request) => {
                    let Some((resource, scope)) = cx.watching.informers.of(id) else { continue };
                    let request = Request::ListExactly(resource, scope.clone(), request);
                    cx.watching.courses.of_mut(id).compared += 1;
                    self.asked = Some(cx.request(Purpose::Verify(number), request));
                }
                Step::GiveUp => {
                    if let Some(asked) = self.asked.take() {
                        cx.abort(asked);
                    }
                }
                Step::Draw(id) => {
                    let (same, differences) = compare_drawn(id, rows, cx);
                    let informers = &cx.watching.informers;
                    let steps = self.verifier.drawn(cx.now, same, differences, informers);
                    rebuilds |= self.follow(steps, rows, cx);
                }
                Step::Relist(id, reason) => cx.effects.push(Effect::Reflect(id, ReflectorInput::Relist(reason))),
                Step::Rebuild => {
                    let watching = &mut *cx.watching;
                    let announcer = &mut cx.notices.announcer;
                    let mut around = Around { informers: &mut watching.informers, announcer, now: cx.now };
                    let ended = watching.watches.let_go_of_tables(&mut around);
                    ended.into_iter().for_each(|id| cx.effects.push(Effect::Stop(id)));
                    rebuilds = true;
                }
                Step::Publish(notice) => cx.publish(notice),
            }
        }
        rebuilds
    }

    /// Shows what the checks found. The list is written only while it is open.
    pub(super) fn present(&self, cx: &mut Context<'_>) {
        let (verifier, watches) = (&self.verifier, &cx.watching.watches);
        let time = |at: f64| cx.words().to_second(at);
        let summary = found::summary(verifier, watches.members());
        let item = |item: Item| VerifiedItem {
            subject: item.subject,
            state: item.state,
            at: item.at.map(time).unwrap_or_default(),
            words: item.words,
            found_at: item.found_at.map(time),
            differences: item.differences,
        };
        let is_listed = cx.open_lists.contains(&List::Verified) && cx.navigation.recorded.is_none();
        let items = if is_listed { found::items(verifier, watches) } else { Vec::new() };
        let (state, at) = (cx.navigation.state(summary.state), summary.at.map(time));
        let label = match (state, &at) {
            ("checking", _) if summary.words.is_empty() => String::from("verifying …"),
            ("checking", _) => format!("verifying, {}", summary.words),
            ("same", Some(at)) => format!("verified {at}"),
            ("differs", Some(at)) => format!("{} differ {at}", summary.words),
            ("recording", _) => String::from("a recording"),
            _ => String::from("not verified"),
        };
        let model = VerifiedModel { state, label, words: summary.words, items: items.into_iter().map(item).collect() };
        cx.view.footer.verified.put(model);
    }

    /// Gives up what must be given up, if anything, and publishes a notice about it.
    pub(super) fn keep_to_memory(&mut self, cx: &mut Context<'_>) {
        let taken = cx.env.memory();
        let largest = cx.watching.watches.largest(&cx.watching.informers);
        match (self.memory.look(taken, largest.is_some()), largest) {
            (None, _) | (Some(memory::Step::Stop), None) => {}
            (Some(memory::Step::Shed), _) => self.shed(taken, cx),
            (Some(memory::Step::Stop), Some((id, kind, count))) => {
                let words = format!(
                    "{}, the largest watch with {count} objects, is no longer watched, and stays as it is now. Narrow it down \
                     by a namespace or a selector, or try again.",
                    kind.title
                );
                cx.effects.push(Effect::Reflect(id, ReflectorInput::GiveUp(words.clone())));
                self.report_memory(taken, words, cx);
            }
        }
    }

    /// Gives up texts and marks. They go first, because they are about the past: what is shown now stays right without
    /// them.
    fn shed(&self, taken: usize, cx: &mut Context<'_>) {
        let watching = &mut *cx.watching;
        let before = watching.history.bytes().0 + watching.watches.timeline_bytes();
        watching.history.limit(TEXTS);
        watching.watches.limit_timelines(MARKS);
        let after = watching.history.bytes().0 + watching.watches.timeline_bytes();
        let freed = before.saturating_sub(after) as f64 / 1e6;
        let words = format!(
            "the oldest texts of versions and marks of the timeline were given up ({freed:.1} MB), and fewer are kept from \
             now on. If it goes on growing, the largest watch will be given up."
        );
        self.report_memory(taken, words, cx);
    }

    fn report_memory(&self, taken: usize, words: String, cx: &mut Context<'_>) {
        let kind = NoticeKind::Memory { at: cx.now, taken, budget: self.memory.budget(), words };
        cx.publish(PageNotice { resource: "", namespace: String::new(), kind });
        cx.request_frame();
    }

    /// Must be called after each frame. Publishes a notice, once, if the sums do not balance.
    pub(super) fn check_sums(&mut self, cx: &mut Context<'_>) {
        if self.unbalanced || cx.watching.is_balanced() {
            return;
        }
        self.unbalanced = true;
        let kind = NoticeKind::Unbalanced { at: cx.now, words: cx.watching.sums() };
        cx.publish(PageNotice { resource: "", namespace: String::new(), kind });
    }
}

/// Compares the rows in the document with their models: how many are the same, and which are not.
fn compare_drawn(id: InformerId, rows: &RowWindow, cx: &Context<'_>) -> (u64, Differences) {
    let (mut same, mut differences) = (0, Differences::default());
    let is_of = |member: &&Watched| member.sources().any(|(own, _)| own == id);
    let kind = cx.watching.watches.members().iter().find(is_of).map(Watched::kind);
    let Some((kind, (_, scope))) = kind.zip(cx.watching.informers.of(id)) else { return (same, differences) };
    for model in rows.models() {
        let is_own = scope.namespace.is_empty() || *model.key.namespace == *scope.namespace;
        if model.kind != kind.name || !is_own {
            continue;
        }
        let drawn = cx.env.drawn(model.id);
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

/// Whether an element shows exactly what its row's model says.
fn is_drawn(drawn: &DrawnRow, model: &RowModel) -> bool {
    drawn.is_of(&model.key, &model.uid)
        && drawn.state == model.state
        && drawn.cells.len() == model.cells.len()
        // In the last column, a glyph stands before the text.
        && model.cells.iter().zip(&drawn.cells).all(|(cell, text)| text.ends_with(&cell.text))
}
