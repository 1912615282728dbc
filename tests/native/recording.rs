//! A page that shows a recording: what a page has saved is opened by another one.

use std::ops::ControlFlow;
use std::rc::Rc;

use kubechurn_model::page::Page as Model;
use kubechurn_model::page::command::Command;
use kubechurn_model::page::effect::{Effect, RECORDED};
use kubechurn_model::page::environment::{Environment, Recorded, fragment};
use kubechurn_recording::{Block, Header};

use crate::shell::place::Place;

/// How many bytes the history of an opened recording may take.
const BUDGET: usize = 1_000_000_000;
/// How long the user rests after each command, in milliseconds.
const REST: f64 = 500.0;

/// A recording that is shown.
pub struct Opened {
    pub page: Model,
    pub place: Rc<Place>,
    now: f64,
}

impl Opened {
    /// Opens the blocks of a recording at a place of the page.
    pub fn of(blocks: &[Vec<u8>], fragment: &str) -> Opened {
        let place = Rc::new(Place::at("http://127.0.0.1:1/", fragment));
        let around = |now| Recorded { around: &*place, now, ahead: 0.0 };
        let mut page = Model::open(&Header::default(), BUDGET, &around(0.0));
        let mut now = 0.0;
        for (number, block) in blocks.iter().enumerate() {
            let text = str::from_utf8(block).expect("lines are text");
            let mut block = Block::default();
            while let Some((at, line)) = block.next(text).unwrap_or_else(|refusal| panic!("block {number}: {refusal}"))
            {
                now = at;
                page.replay(&line, &around(at));
            }
        }
        page.replayed(now, &around(now));
        let mut opened = Opened { page, place, now };
        opened.settle();
        opened
    }

    /// Does what the user asks for.
    pub fn command(&mut self, command: Command) {
        let place = self.place.clone();
        self.page.command(command, &Recorded { around: &*place, now: self.now, ahead: 0.0 });
        self.settle();
        // What waits for the user to rest is shown, too.
        self.now += REST;
        self.page.frame(&Recorded { around: &*place, now: self.now, ahead: 0.0 });
        self.settle();
    }

    /// Carries out what is to be done, and shows frames until nothing is left to be done.
    fn settle(&mut self) {
        let place = self.place.clone();
        for frame in 0.. {
            assert!(frame < 20_000, "frames without end");
            let env = Recorded { around: &*place, now: self.now, ahead: 0.0 };
            let effects = self.page.take_effects();
            let is_quiet = effects.frame.is_none() && effects.list.iter().all(|one| matches!(one, Effect::Beat { .. }));
            for effect in effects.list {
                match effect {
                    Effect::Push(fragment) | Effect::Replace(fragment) => {
                        place.go(&fragment);
                        self.page.command(Command::Arrive(fragment_of(&place)), &env);
                    }
                    Effect::Request(id, request) => match request.at(Some(RECORDED)) {
                        ControlFlow::Break(answer) => self.page.answer(id, answer, &env),
                        ControlFlow::Continue(request) => panic!("a recording asks for {request:?}"),
                    },
                    _ => {}
                }
            }
            if is_quiet {
                return;
            }
            self.now += 20.0;
            self.page.frame(&Recorded { now: self.now, ..env });
        }
    }

    /// Looks at the page.
    pub fn look<T>(&self, look: impl FnOnce(&Model, &dyn Environment) -> T) -> T {
        look(&self.page, &Recorded { around: &*self.place, now: self.now, ahead: 0.0 })
    }
}

fn fragment_of(place: &Place) -> String {
    fragment(&place.url())
}
