//! How often what is known is told again: chosen, kept for the next visit, and told to every informer.

use wasm_bindgen_futures::spawn_local;

use kubechurn_client::cache::reflector::Input;
use kubechurn_model::page::keys::Act;
use kubechurn_model::page::resync::{Resync, Resyncs};

use kubechurn_model::page::view::ResyncModel;

use crate::app::Page;
use crate::app::travel::{keep, kept, parameter};
use crate::ui::screen::put;

/// What the browser keeps it under.
const KEY: &str = "kubechurn.resync";

/// What was chosen last, and what the address says.
pub(super) fn stored() -> Resyncs {
    Resyncs::new(kept(KEY).as_deref(), parameter("resync").as_deref())
}

impl Page {
    /// Has what is known be told again so often from now on.
    pub(super) fn resync(&mut self, resync: Resync, now: f64) {
        self.resyncs.choose(resync);
        keep(KEY, (resync != Resync::default()).then_some(resync.name()));
        self.keep_resync(now);
        self.tell(&format!("{}.", Act::Resync(resync).title()), now);
        self.present_resync();
    }

    /// Has each informer tell again as often as was chosen for as many objects as it has.
    pub(super) fn keep_resync(&mut self, now: f64) {
        for id in self.watches.resync(&mut self.informers, &self.resyncs, now) {
            if let Some(driver) = self.drivers.get(&id).cloned() {
                // It has another deadline. The driver speaks to the page, which is being borrowed now.
                spawn_local(async move { driver.input(Input::Timer) });
            }
        }
    }

    /// Shows what was chosen.
    pub(super) fn present_resync(&self) {
        put(self.screen.resync, ResyncModel { chosen: self.resyncs.chosen(), words: self.resyncs.words() });
    }

    /// How often the object in the inspector was told again since its newest version, and when that was last.
    pub(super) fn resynced(&self) -> Option<(u64, f64)> {
        let (kind, key) = self.selected_number()?;
        self.watches.timeline()?.resyncs_since_change(kind, &key)
    }
}
