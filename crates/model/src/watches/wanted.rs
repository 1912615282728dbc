//! Which kinds are watched: what a route asks for is begun, and what it no longer asks for is let go.

use kubechurn_client::cache::factory::{InformerId, SharedInformerFactory};

use crate::navigation::catalog::Catalog;
use crate::navigation::definitions::Definitions;
use crate::navigation::route::Route;
use crate::table::schema::TableSchema;
use crate::watches::Watches;
use crate::watches::notices::Announcer;
use crate::watches::view::View;
use crate::watches::watched::{Watched, scopes};
use kubechurn_columns::kinds::Kind;

/// What a route asks for.
#[derive(Debug)]
pub struct Wanted<'a> {
    route: &'a Route,
    /// The kinds whose columns are known, those in view first.
    kinds: Vec<&'static Kind>,
    in_view: TableSchema,
}

/// What watches are made of, and the time.
#[derive(Debug)]
pub struct Around<'a> {
    /// The informers. Those that are added want to be started.
    pub informers: &'a mut SharedInformerFactory,
    /// Tells what happens to a watch.
    pub announcer: &'a mut Announcer,
    /// The time, in milliseconds.
    pub now: f64,
}

/// What came of watching what a route asks for.
#[derive(Debug, Default)]
pub struct Rewatched {
    /// The informers that ended because they have no handler any more.
    pub ended: Vec<InformerId>,
    /// Whether another table is in view than before, or none any more. Rows of two tables may have the same keys.
    pub is_other: bool,
}

impl<'a> Wanted<'a> {
    /// What `route` asks for, among the kinds that there are. Kinds that wait for their columns are not watched yet.
    pub fn at(route: &'a Route, catalog: &Catalog, definitions: &Definitions) -> Wanted<'a> {
        let known = |kind: &&'static Kind| !definitions.awaits(kind);
        let kinds = route.watched(catalog).into_iter().filter(known).collect();
        let in_view: Vec<&'static Kind> = route.kinds(catalog).into_iter().filter(known).collect();
        Wanted { route, kinds, in_view: TableSchema::of(&in_view) }
    }

    fn is_in_view(&self, kind: &Kind) -> bool {
        self.in_view.number(kind).is_some()
    }
}

impl Watches {
    /// Watches what is wanted, in its order. What is no longer wanted is let go last, so that an informer that gets a
    /// new handler goes on, and the rows of its objects are there at once.
    pub fn watch(&mut self, wanted: &Wanted<'_>, around: &mut Around<'_>) -> Rewatched {
        let mut ended = Vec::new();
        let main_before = self.main.as_ref().map(|view| view.number);
        // What has arrived is marked while the rows are there that it is about.
        self.take_marks(around.informers);
        // A kind whose columns are others now is let go first: its informer decodes objects into the old columns.
        let is_other =
            |old: &Watched| wanted.kinds.iter().any(|kind| kind.resource == old.kind().resource && *kind != old.kind());
        let before = std::mem::take(&mut self.watched);
        let (others, mut before): (Vec<_>, Vec<_>) = before.into_iter().partition(is_other);
        let has_other = |view: &View| others.iter().any(|other| view.schema().kinds().contains(&other.kind()));
        let (end, mut views): (Vec<_>, Vec<_>) = self.take_views().partition(has_other);
        ended.extend(end.into_iter().flat_map(|view| view.end(around.informers)));
        for watched in others {
            ended.extend(self.leave(watched, around));
        }
        let mut after = Vec::new();
        for kind in &wanted.kinds {
            let scopes = scopes(kind, wanted.route, wanted.is_in_view(kind));
            let same = before.iter().position(|watched| watched.kind() == *kind && watched.scopes() == scopes);
            after.push(match same {
                Some(at) => before.remove(at),
                None => {
                    let Around { informers, announcer, now } = around;
                    Watched::new(kind, scopes, informers, announcer, *now)
                }
            });
        }
        for watched in before {
            ended.extend(self.leave(watched, around));
        }
        for watched in &mut after {
            // Marks that the kind had in other scopes, or before it was let go, stay.
            if let Some(mut past) = self.past.remove(watched.kind().name) {
                past.close_gap(around.now);
                watched.go_on_with(past);
            }
            if let Some(limit) = self.limit {
                watched.marks_mut().limit(limit);
            }
        }
        // New views come before the old ones go, so that an informer that both look at goes on.
        let count = after.iter().filter(|watched| wanted.is_in_view(watched.kind())).count();
        let (in_view, others) = after.split_at(count);
        self.main = (!in_view.is_empty()).then(|| self.view_of(in_view, &mut views, around));
        self.others = others.chunks(1).map(|alone| self.view_of(alone, &mut views, around)).collect();
        self.watched = after;
        ended.extend(views.into_iter().flat_map(|view| view.end(around.informers)));
        Rewatched { ended, is_other: self.main.as_ref().map(|view| view.number) != main_before }
    }

    /// The view of these members: one of `views`, if it is of them, or a new one.
    fn view_of(&mut self, members: &[Watched], views: &mut Vec<View>, around: &mut Around<'_>) -> View {
        if let Some(at) = views.iter().position(|view| view.is_of(members)) {
            return views.swap_remove(at);
        }
        self.views_made += 1;
        View::new(self.views_made, members, self.home, around.informers, around.now)
    }

    /// Takes all views out.
    fn take_views(&mut self) -> impl Iterator<Item = View> + use<> {
        self.main.take().into_iter().chain(std::mem::take(&mut self.others))
    }

    /// Has all marks and counters take what the informers have for them.
    fn take_marks(&mut self, informers: &mut SharedInformerFactory) {
        let audit = self.audit.clone();
        for (view, members) in self.parts_mut() {
            view.take_marks(members, informers, &audit);
        }
    }

    /// Lets go of every view, so that the next call of [`Watches::watch`] makes the tables anew from what the stores
    /// hold. Returns the informers that ended because they have no handler any more.
    pub fn let_go_of_tables(&mut self, around: &mut Around<'_>) -> Vec<InformerId> {
        self.take_marks(around.informers);
        self.take_views().flat_map(|view| view.end(around.informers)).collect()
    }

    /// Lets go of a kind, and keeps its marks. Returns the informers that ended because they have no handler any more.
    fn leave(&mut self, watched: Watched, around: &mut Around<'_>) -> Vec<InformerId> {
        let name = watched.kind().name;
        let (mut marks, ended) = watched.end(around.informers, around.announcer);
        marks.open_gap(around.now, "not watched");
        self.past.insert(name, marks);
        ended
    }
}
