//! Which kinds are watched: what a place in the page asks for is begun, and what it asks for no longer is let go.

use kubechurn_client::cache::factory::{InformerId, SharedInformerFactory};

use crate::page::catalog::Catalog;
use crate::page::definitions::Definitions;
use crate::page::notices::Announcer;
use crate::page::route::Route;
use crate::page::watched::{Watched, scopes};
use crate::page::watches::Watches;
use crate::table::kinds::Kind;
use crate::table::schema::TableSchema;
use crate::timeline::Timeline;

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
    /// Whether the table of several kinds is another one than before, or is one for the first time.
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
        // A kind whose columns are others now is let go first: its informer keeps what the old ones show.
        let is_other =
            |old: &Watched| wanted.kinds.iter().any(|kind| kind.resource == old.kind().resource && *kind != old.kind());
        let (others, mut before): (Vec<_>, Vec<_>) = self.take_out().into_iter().partition(is_other);
        if !others.is_empty() {
            // The table of several kinds looks at that informer, too.
            ended.extend(self.part(around.informers, around.announcer));
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
                    Watched::new(kind, scopes, Timeline::default(), informers, announcer, *now)
                }
            });
        }
        for watched in before {
            ended.extend(self.leave(watched, around));
        }
        for watched in &mut after {
            // What was seen of the kind in other scopes, or before it was let go, stays on its timeline.
            if let Some(mut past) = self.past.remove(watched.kind().name) {
                past.close_gap(around.now);
                watched.go_on_with(past);
            }
            if let Some(limit) = self.limit {
                watched.timeline_mut().limit(limit);
            }
        }
        let in_view = after.iter().filter(|watched| wanted.is_in_view(watched.kind())).count();
        let (more, is_other) = self.put(after, in_view, around.informers, around.announcer, around.now);
        ended.extend(more);
        Rewatched { ended, is_other }
    }

    /// Lets go of every table, so that the next call of [`Watches::watch`] makes them anew from what the stores hold. Says
    /// which informers ended by that.
    pub fn let_go_of_tables(&mut self, around: &mut Around<'_>) -> Vec<InformerId> {
        let ended = self.part(around.informers, around.announcer);
        for watched in self.iter_mut() {
            watched.keep_table(false, around.informers, around.now);
        }
        ended
    }

    /// Lets go of a kind, and keeps its timeline. Says which informers ended by that.
    fn leave(&mut self, mut watched: Watched, around: &mut Around<'_>) -> Vec<InformerId> {
        watched.take(around.informers);
        let name = watched.kind().name;
        let (mut timeline, ended) = watched.end(around.informers, around.announcer);
        timeline.open_gap(around.now, "not watched");
        self.past.insert(name, timeline);
        ended
    }
}
