//! Carries out what the page wants done.

use std::rc::Rc;

use kubechurn_client::api::request::Scope;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::reflector::Input;
use kubechurn_model::page::command::Rows;
use kubechurn_model::page::effect::{Effect, Focused, ReflectorInput};

use crate::app::App;
use crate::browser::base::Base;
use crate::browser::driver::Driver;
use crate::browser::lister_watcher::ListerWatcher;
use crate::browser::{location, policy, recording, storage, watchdog};
use crate::ui::feed::alerts;
use crate::ui::focus;
use crate::ui::shell::theme;

impl App {
    pub(super) fn perform(&self, effect: Effect) {
        match effect {
            Effect::Start(id, resource, scope) => self.start(id, resource, scope),
            Effect::Cluster(api) => drop(self.bases.borrow_mut().insert(api.cluster, Base::at(api.http, api.readable))),
            Effect::Stop(id) => drop(self.drivers.borrow_mut().remove(&id)),
            Effect::Reflect(id, given) => {
                let driver = self.drivers.borrow().get(&id).cloned();
                if let Some(driver) = driver {
                    match given {
                        ReflectorInput::Input(input) => driver.input(input),
                        ReflectorInput::Relist(reason) => driver.input(Input::Relist(&reason)),
                        ReflectorInput::GiveUp(reason) => driver.input(Input::GiveUp(&reason)),
                    }
                }
            }
            Effect::Request(id, request) => self.ask(id, request),
            Effect::Follow(id, cluster, url) => self.follow(id, cluster, url),
            Effect::Abort(id) => {
                if let Some(handle) = self.requests.borrow_mut().remove(&id) {
                    handle.abort();
                }
            }
            Effect::Restrict(words) => policy::add(&words),
            Effect::Push(fragment) => location::push(&fragment),
            Effect::Replace(fragment) => location::replace(&fragment),
            Effect::Load(url) => location::load(&url),
            Effect::Store(name, value) => storage::keep(&name, value.as_deref()),
            Effect::StoreInTab(name, value) => storage::keep_in_tab(name, &value),
            Effect::Theme(theme) => {
                theme::choose(theme.name());
                self.read_theme();
            }
            Effect::Rewound(is_rewound) => {
                theme::rewind(is_rewound);
                self.read_theme();
            }
            Effect::ChooseRecording => {
                let app = self.this.clone();
                recording::choose(move |file| app.upgrade().into_iter().for_each(|app| app.open(file.clone())));
            }
            Effect::OpenRecording(url) => self.this.upgrade().into_iter().for_each(|app| app.open_at(url.clone())),
            Effect::OpenKept(id, name) => {
                self.this.upgrade().into_iter().for_each(|app| app.open_kept(id.clone(), name.clone()));
            }
            Effect::CloseRecording => self.close(),
            Effect::Warn(line) => web_sys::console::warn_1(&line.into()),
            Effect::Alert(alert) => alerts::perform(alert),
            Effect::Focus(Focused::Rows(rows)) => focus::rows(rows),
            Effect::Focus(Focused::Field(id)) => focus::field(id),
            Effect::Focus(Focused::Menu(handle)) => focus::menu(handle),
            Effect::Focus(Focused::ClosedMenu) => focus::close_menu(),
            Effect::ScrollTable(top) => focus::scroll(Rows::Table, top),
            Effect::ScrollFeed(top) => focus::scroll(Rows::Feed, top),
            Effect::Beat { versions, next } => watchdog::beat(&versions, next),
        }
    }

    /// Has the canvas painted in the document's colours.
    pub(super) fn read_theme(&self) {
        if let Some(canvas) = &mut *self.canvas.borrow_mut() {
            canvas.read_theme();
        }
    }

    fn start(&self, id: InformerId, resource: ApiResource, scope: Scope) {
        // Informers are started once the API was found.
        let Some(base) = self.bases.borrow().get(resource.cluster).cloned() else { return };
        let app = self.this.clone();
        let driver = Driver::new(ListerWatcher { base, resource, scope }, move |input| {
            let Some(app) = app.upgrade() else { return (None, None) };
            let mut page = app.page.borrow_mut();
            let next = page.reflect(id, input, &app.browser());
            let effects = page.take_effects();
            drop(page);
            app.settle_later(effects);
            next
        });
        self.drivers.borrow_mut().insert(id, Rc::clone(&driver));
        driver.input(Input::Start);
    }
}
