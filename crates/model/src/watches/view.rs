//! One table and one timeline, of one watched kind or of several.
//!
//! The rows are the view's own. The marks are the kinds': however many views come and go, a kind's marks are kept once.

use std::sync::Arc;

use kubechurn_client::api::object::Object;
use kubechurn_client::api::request::Scope;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::cache::factory::{InformerId, Registration, SharedInformerFactory};
use kubechurn_client::cache::handler::{Handled, HandlerOptions, ResourceEventHandler};
use kubechurn_client::cache::store::Change;

use crate::kind_id::KindId;
use crate::table::schema::TableSchema;
use crate::table::view::TableView;
use crate::timeline::marks::Marks;
use crate::timeline::{Chart, KindName};
use crate::watches::account::{Account, RowSums, handled};
use crate::watches::audit::AuditLog;
use crate::watches::watched::Watched;
use kubechurn_columns::kinds::Kind;

/// A new table hears of so many of the known objects at a time: some ten milliseconds of work.
const AT_ONCE: usize = 4096;

/// The table and the timeline of some watched kinds, which are the view's members. The caller of a method hands in the
/// members, in the order of their numbers.
#[derive(Debug)]
pub(super) struct View {
    /// Another number for each view.
    pub(super) number: u64,
    /// Where each kind is watched.
    scopes: Vec<Vec<Scope>>,
    /// The table's handlers: of each kind one for each scope.
    handlers: Vec<Vec<Source>>,
    pub(super) table: TableView,
    pub(super) chart: Chart,
}

/// The table's handler of one informer.
#[derive(Debug)]
struct Source {
    registration: Registration,
    /// Whether the table has taken in the informer's first list.
    synced: bool,
}

/// Shows what changed in objects of one kind as rows, and writes down what the rows are then.
struct TableHandler<'a> {
    kind: KindId,
    of: (&'a ApiResource, &'a Scope),
    table: &'a mut TableView,
    marks: &'a Marks,
    audit: &'a AuditLog,
}

impl ResourceEventHandler for TableHandler<'_> {
    fn changed(&mut self, now: f64, change: &Change) -> Handled {
        match change {
            // The marks know more than this table, which is new.
            Change::Added { new, listed: true, .. } if let Some(last) = self.marks.last_change(new) => {
                self.table.apply_known(self.kind, new, last);
            }
            _ => self.table.apply_of(self.kind, change, now),
        }
        self.audit.shown(self.of, (self.table, self.kind), change, now);
        Ok(())
    }

    fn received(&mut self, now: f64, delta_type: DeltaType, object: &Arc<Object>) -> Handled {
        self.table.apply_listed(self.kind, delta_type, object, now);
        Ok(())
    }
}

impl View {
    /// A view of these members; the cluster whose kinds name none is called `home`. Its table hears of what their informers know with the next calls of [`View::take`].
    /// `now` is the time in milliseconds.
    pub(super) fn new(
        number: u64,
        members: &[Watched],
        home: &'static str,
        informers: &mut SharedInformerFactory,
        now: f64,
    ) -> View {
        let kinds: Vec<&'static Kind> = members.iter().map(Watched::kind).collect();
        let schema = Arc::new(TableSchema::of(&kinds).at_home(home));
        let name = |kind: KindId| KindName {
            short: schema.short(kind),
            long: schema.long(kind),
            title: schema.kind(kind).map_or("", |kind| kind.title),
        };
        let numbers = (0..schema.kinds().len() as u8).map(KindId);
        let names = if schema.is_several() { numbers.map(name).collect() } else { Vec::new() };
        let handlers = members.iter().map(|member| {
            let ids = member.informer_ids();
            let options = HandlerOptions { listing: true, ..HandlerOptions::default() };
            let source = |registration| Source { registration, synced: false };
            ids.filter_map(|id| informers.add_event_handler(id, options, now).map(source)).collect()
        });
        View {
            number,
            handlers: handlers.collect(),
            scopes: members.iter().map(|member| member.scopes().to_vec()).collect(),
            table: TableView::of(schema),
            chart: Chart::of(names).with_groups(&kinds),
        }
    }

    /// The kinds and their columns.
    pub(super) fn schema(&self) -> &TableSchema {
        self.table.schema()
    }

    /// How many members the view has.
    pub(super) fn len(&self) -> usize {
        self.scopes.len()
    }

    /// Whether the view is of these members, in this order, and where they are watched.
    pub(super) fn is_of(&self, members: &[Watched]) -> bool {
        let own = self.schema().kinds().iter().zip(&self.scopes);
        own.len() == members.len()
            && own.zip(members).all(|((kind, scopes), member)| *kind == member.kind() && *scopes == member.scopes())
    }

    /// Lets go of the informers. Returns those that ended because they have no handler any more.
    pub(super) fn end(self, informers: &mut SharedInformerFactory) -> Vec<InformerId> {
        let all = self.handlers.into_iter().flatten().map(|source| source.registration);
        all.filter(|one| informers.remove_event_handler(*one)).map(|one| one.informer).collect()
    }

    /// Has the members' marks and counters, and then the table, take what the informers have for them. Returns whether
    /// the table has still to hear of objects that were known before it was made, or that a first list has brought: of
    /// very many objects it takes some at a time, so that the page does not stand still. While the page is `paused`,
    /// what a first list brings waits.
    pub(super) fn take(
        &mut self,
        members: &mut [Watched],
        informers: &mut SharedInformerFactory,
        audit: &AuditLog,
        paused: bool,
    ) -> bool {
        // The marks first: a lane begins in the state that the row still shows.
        self.take_marks(members, informers, audit);
        let mut left = false;
        for ((kind, member), handlers) in (0..).map(KindId).zip(members).zip(&mut self.handlers) {
            for (Source { registration, synced }, scope) in handlers.iter_mut().zip(member.scopes()) {
                let Some(informer) = informers.get_mut(registration.informer) else { continue };
                // A table that is new shows what there is also on a paused page.
                if paused && !informer.has_synced() && !informer.is_catching_up(registration.handler) {
                    continue;
                }
                let of = (&member.kind().resource, scope);
                let mut handler = TableHandler { kind, of, table: &mut self.table, marks: member.marks(), audit };
                left |= informer.deliver_some(registration.handler, &mut handler, AT_ONCE);
                if !*synced && informer.handler_has_synced(registration.handler) {
                    *synced = true;
                    self.table.end_list(kind, &scope.namespace);
                }
            }
        }
        left
    }

    /// Has the members' marks and counters alone take what the informers have for them.
    pub(super) fn take_marks(&self, members: &mut [Watched], informers: &mut SharedInformerFactory, audit: &AuditLog) {
        for (kind, member) in (0..).map(KindId).zip(members) {
            member.take(informers, (&self.table, kind), audit);
        }
    }

    /// What became of all that was meant for the table and for the members' marks and counters.
    pub(super) fn account(&self, members: &[Watched], informers: &SharedInformerFactory) -> Account {
        let accounts = members.iter().map(|member| member.account(informers));
        let sources = self.handlers.iter().flatten();
        let is_complete = sources.clone().all(|source| source.synced);
        let handlers = sources.map(|source| source.registration);
        let table = Some((handled(handlers, informers), RowSums::of(&self.table, is_complete)));
        Account { table, ..accounts.reduce(Account::plus).unwrap_or_default() }
    }
}
