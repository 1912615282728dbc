//! Which kinds are watched: what a place in the page asks for is begun, and what it asks for no longer is let go.

use kubechurn_client::cache::factory::{InformerId, SharedInformerFactory};

use crate::page::catalog::Catalog;
use crate::page::definitions::Definitions;
use crate::page::notices::Announcer;
use crate::page::route::Route;
use crate::page::watched::{Watched, scopes};
use crate::page::watches::Watches;
use crate::page::watches::view::View;
use crate::table::kinds::Kind;
use crate::table::schema::TableSchema;

/// What a place asks for.
#[derive(Debug)]
pub struct Wanted<'a> {
    route: &'a Route,
    /// Those whose columns are known, the ones in view first.
    kinds: Vec<&'static Kind>,
    in_view: TableSchema,
}

/// What the watches work with.
#[derive(Debug)]
pub struct Around<'a> {
    /// Who watches. Those that are new want to be started.
    pub informers: &'a mut SharedInformerFactory,
    /// Who says what happens to a watch.
    pub announcer: &'a mut Announcer,
    /// The time, in milliseconds.
    pub now: f64,
}

/// What came of going to a place.
#[derive(Debug, Default)]
pub struct Rewatched {
    /// The informers that nobody looks at any more.
    pub ended: Vec<InformerId>,
    /// Whether the table in view is another one than before, or one came or went: rows of another table have the same keys.
    pub is_other: bool,
}

impl<'a> Wanted<'a> {
    /// What `route` asks for of the kinds that there are. Those that wait for their columns are not watched yet.
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
    /// Watches what is wanted, in its order. What is let go is let go last, so that an informer that is still looked at in
    /// another way goes on, and its rows are there at once.
    pub fn watch(&mut self, wanted: &Wanted<'_>, around: &mut Around<'_>) -> Rewatched {
        let mut ended = Vec::new();
        // What waits for the marks is of the rows that are there now.
        self.take_marks(around.informers);
        // A kind whose columns are others now is let go first: its informer keeps what the old ones show.
        let is_other =
            |old: &Watched| wanted.kinds.iter().any(|kind| kind.resource == old.kind().resource && *kind != old.kind());
        let before = std::mem::take(&mut self.watched);
        let (others, mut before): (Vec<_>, Vec<_>) = before.into_iter().partition(is_other);
        // The first one is that of the kinds in view, if there were any.
        let mut views: Vec<Option<View>> = std::mem::take(&mut self.views).into_iter().map(Some).collect();
        let had_main = self.in_view > 0;
        for view in &mut views {
            let has_other = |view: &mut View| others.iter().any(|other| view.schema().kinds().contains(&other.kind()));
            ended.extend(view.take_if(has_other).into_iter().flat_map(|view| view.end(around.informers)));
        }
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
            // What was seen of the kind in other scopes, or before it was let go, stays among its marks.
            if let Some(mut past) = self.past.remove(watched.kind().name) {
                past.close_gap(around.now);
                watched.go_on_with(past);
            }
            if let Some(limit) = self.limit {
                watched.marks_mut().limit(limit);
            }
        }
        self.in_view = after.iter().filter(|watched| wanted.is_in_view(watched.kind())).count();
        self.watched = after;
        let is_other = self.put_in_views(&mut views, had_main, around);
        ended.extend(views.into_iter().flatten().flat_map(|view| view.end(around.informers)));
        Rewatched { ended, is_other }
    }

    /// Makes a view of the kinds in view, and one of each of the others; takes those that are of the same kinds from
    /// `views`. New ones come before the old ones go, so that an informer that both look at goes on. Whether the view of the
    /// kinds in view is another one than before; `had_main` says whether the first of `views` was it.
    fn put_in_views(&mut self, views: &mut [Option<View>], had_main: bool, around: &mut Around<'_>) -> bool {
        let (in_view, others) = self.watched.split_at(self.in_view);
        let mut is_other = had_main != !in_view.is_empty();
        for members in std::iter::once(in_view).filter(|main| !main.is_empty()).chain(others.chunks(1)) {
            let is_of = |view: &Option<View>| view.as_ref().is_some_and(|view| view.is_of(members));
            let same = views.iter().position(is_of);
            if self.views.is_empty() && !in_view.is_empty() {
                is_other = !had_main || same != Some(0);
            }
            let view = same.and_then(|at| views[at].take());
            self.views.push(view.unwrap_or_else(|| View::new(members, around.informers, around.now)));
        }
        is_other
    }

    /// Has all marks and counters take what waits for them.
    fn take_marks(&mut self, informers: &mut SharedInformerFactory) {
        let audit = self.audit.clone();
        for (view, members) in self.parts_mut() {
            view.take_marks(members, informers, &audit);
        }
    }

    /// Lets go of every table, so that the next call of [`Watches::watch`] makes them anew from what the stores hold. Says
    /// which informers ended by that.
    pub fn let_go_of_tables(&mut self, around: &mut Around<'_>) -> Vec<InformerId> {
        self.take_marks(around.informers);
        std::mem::take(&mut self.views).into_iter().flat_map(|view| view.end(around.informers)).collect()
    }

    /// Lets go of a kind, and keeps its marks. Says which informers ended by that.
    fn leave(&mut self, watched: Watched, around: &mut Around<'_>) -> Vec<InformerId> {
        let name = watched.kind().name;
        let (mut marks, ended) = watched.end(around.informers, around.announcer);
        marks.open_gap(around.now, "not watched");
        self.past.insert(name, marks);
        ended
    }
}
