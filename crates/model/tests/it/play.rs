//! The page without a browser: what is watched, by which informers, and in which view.

use kubechurn_client::cache::backoff::Moment;
use kubechurn_client::cache::factory::{InformerId, SharedInformerFactory};
use kubechurn_client::cache::reflector::Input;
use kubechurn_model::navigation::catalog::Catalog;
use kubechurn_model::navigation::definitions::Definitions;
use kubechurn_model::navigation::route::Route;
use kubechurn_model::table::view::Retention;
use kubechurn_model::timeline::mark::Counts;
use kubechurn_model::timeline::scale::Window;
use kubechurn_model::timeline::scene::{Scene, TimelineView};
use kubechurn_model::watches::notices::{Announcer, NoticeKind, PageNotice};
use kubechurn_model::watches::{Around, Rewatched, Wanted, Watches};

use kubechurn_client::testing::{bookmark, event};

/// The annotation of the bookmark that ends a streaming list.
pub const LISTED: &str = r#"{"k8s.io/initial-events-end":"true"}"#;

/// Watches, their informers, and the time.
#[derive(Default)]
pub struct Play {
    pub informers: SharedInformerFactory,
    pub announcer: Announcer,
    pub watches: Watches,
    pub catalog: Catalog,
    pub definitions: Definitions,
    pub now: f64,
}

impl Play {
    /// A page at a place, whose informers have not begun.
    pub fn at(fragment: &str) -> Play {
        let mut play = Play::default();
        play.go(fragment);
        play
    }

    /// Goes to a place. Returns how many informers ended, and whether another table is in view.
    pub fn go(&mut self, fragment: &str) -> (usize, bool) {
        let route = Route::parse(fragment).resolved(&self.catalog);
        let wanted = Wanted::at(&route, &self.catalog, &self.definitions);
        let mut around = Around { informers: &mut self.informers, announcer: &mut self.announcer, now: self.now };
        let Rewatched { ended, is_other } = self.watches.watch(&wanted, &mut around);
        (ended.len(), is_other)
    }

    /// Starts the new informers, each of which lists these objects, and returns their ids.
    pub fn begin(&mut self, objects: &[&str]) -> Vec<InformerId> {
        self.begin_with(|_| objects.iter().map(|object| (*object).to_owned()).collect())
    }

    /// Starts the new informers, each of which lists what `list` gives for its resource, and returns their ids.
    pub fn begin_with(&mut self, list: impl Fn(&str) -> Vec<String>) -> Vec<InformerId> {
        let started = self.informers.start().into_iter();
        let new: Vec<_> = started.map(|(id, resource, _)| (id, list(resource.plural))).collect();
        for (id, objects) in &new {
            self.input(*id, Input::Start);
            self.input(*id, Input::Opened);
            for object in objects {
                self.input(*id, Input::Frame(&event("ADDED", object)));
            }
            self.input(*id, Input::Frame(&bookmark("100", LISTED)));
        }
        self.look();
        new.into_iter().map(|(id, _)| id).collect()
    }

    pub fn id(&self, plural: &str) -> InformerId {
        let mut all = self.informers.iter();
        all.find(|(id, _)| self.informers.of(*id).is_some_and(|(resource, _)| resource.plural == plural)).unwrap().0
    }

    pub fn input(&mut self, id: InformerId, input: Input<'_>) {
        let (resource, _) = self.informers.of(id).unwrap();
        let informer = self.informers.get_mut(id).unwrap();
        informer.handle(input, Moment { now: self.now, random: 0.0 });
        for notice in informer.take_notices() {
            let kind = NoticeKind::Watch(id, notice);
            self.announcer.publish(PageNotice { resource: resource.plural, namespace: String::new(), kind });
        }
    }

    pub fn hears(&mut self, plural: &str, word: &str, object: &str) {
        self.now += 10.0;
        self.input(self.id(plural), Input::Frame(&event(word, object)));
        self.check_sums();
    }

    #[track_caller]
    pub fn check_sums(&self) {
        let words = || self.watches.account(&self.informers).map(|account| account.words());
        assert!(self.watches.is_balanced(&self.informers), "{:?}", words());
    }

    /// Applies what is queued to the stores.
    pub fn drain(&mut self) {
        for (_, informer) in self.informers.iter_mut() {
            informer.drain(usize::MAX, self.now);
        }
    }

    /// Has the tables, marks and counters take what waits for them.
    pub fn take(&mut self) {
        self.watches.take(&mut self.informers, Retention::default(), false, self.now);
    }

    /// One frame of the screen.
    pub fn look(&mut self) {
        self.drain();
        self.take();
        self.check_sums();
        self.watches.receive_notices(&mut self.announcer);
        self.watches.look(&self.informers, self.now);
    }

    /// Name, kind and state of each row, in their order.
    pub fn rows(&self) -> String {
        let view = self.watches.view().unwrap();
        let rows = view.window(0, 100).into_iter().filter_map(|id| view.row(id));
        let words = rows.map(|row| format!("{}{}{:?}", row.object.key.name, row.kind.0, row.delta));
        words.collect::<Vec<_>>().join(" ")
    }

    /// The timeline in view from one time to another, on a canvas with room for everything.
    pub fn scene(&mut self, from: f64, to: f64) -> Scene {
        let window = Window { from, to };
        let view = TimelineView { width: 100_000.0, height: 4_000.0, window, ..TimelineView::default() };
        self.watches.timeline_mut().unwrap().scene(&view, to).clone()
    }

    /// What the timeline in view shows, from the left to the right: name, kind and type of each mark, and the words of
    /// relists and gaps.
    pub fn drawn(&mut self) -> Vec<String> {
        let scene = self.scene(-1_000.0, self.now.max(1_000.0));
        let mut all: Vec<(f64, String)> = Vec::new();
        let lane = |y: f64| {
            let lane = scene.lanes.iter().flatten().find(|lane| lane.y == y).unwrap();
            format!("{}{}", lane.key.name, lane.kind.0)
        };
        for glyph in &scene.glyphs {
            let is_folded = |pill: &&kubechurn_model::timeline::scene::Pill| {
                pill.y == glyph.y && (pill.first..=pill.last).contains(&glyph.seq)
            };
            if !scene.pills.iter().any(|pill| is_folded(&pill)) {
                all.push((glyph.x, format!("{} {}", lane(glyph.y), glyph.mark_type.name())));
            }
        }
        let folded = |counts: &Counts| {
            counts.iter().map(|(mark_type, count)| mark_type.phrase(count)).collect::<Vec<_>>().join(", ")
        };
        all.extend(scene.pills.iter().map(|pill| (pill.x, format!("{} {}", lane(pill.y), folded(&pill.counts)))));
        all.extend(scene.lines.iter().map(|line| (line.x, line.note.clone())));
        all.extend(scene.gaps.iter().map(|gap| (gap.x, gap.note.clone())));
        all.sort_by(|one, other| one.0.total_cmp(&other.0).then_with(|| one.1.cmp(&other.1)));
        all.into_iter().map(|(_, words)| words).collect()
    }

    /// The marks of a kind: name and type of each mark in their order, and the words of relists and gaps.
    pub fn marks(&self, at: usize) -> Vec<String> {
        let words = self.watches[at].marks().iter().map(|mark| match mark.key {
            Some(key) => format!("{} {}", key.name, mark.mark_type.name()),
            None => mark.note.to_owned(),
        });
        words.collect()
    }
}
