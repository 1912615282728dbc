//! The whole page without a browser: commands, answers and frames go in, effects and the view come out.

mod alerts;
mod changes;
mod clusters;
mod comparison;
mod filter;
mod growth;
mod health;
mod idle;
mod inside;
mod inspector;
mod keeping;
mod logs;
mod missed;
mod net;
mod notes;
mod opening;
mod past;
mod places;
mod provisional;
mod requests;
mod rewind;
mod rows;
mod saving;
mod span;
mod timeline;
mod times;
mod who;
mod writers;
mod wrong;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use kubechurn_client::api::release::Release;
use kubechurn_client::api::resource::{ApiResource, intern};
use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::reflector::Input;
use kubechurn_client::cache::server_clock::ServerClock;
use kubechurn_client::testing::{bookmark, event};
use kubechurn_model::feed::alerts::Alert;
use kubechurn_model::navigation::address::Address;
use kubechurn_model::navigation::clusters::Api;
use kubechurn_model::page::Page;
use kubechurn_model::page::command::Command;
use kubechurn_model::page::effect::{
    Answer, Effect, Focused, FoundApi, Pace, ReflectorInput, Request, RequestId, Slices,
};
use kubechurn_model::page::environment::{DrawnRow, Environment};
use kubechurn_model::page::keys::{Focus, Press};
use kubechurn_model::shell::panel::Window;
use kubechurn_model::table::order::RowKey;

/// The test's substitute for the browser.
#[derive(Default)]
struct Place {
    now: Cell<f64>,
    /// How far the clock moves each time that it is read, in milliseconds.
    step: Cell<f64>,
    hidden: Cell<bool>,
    /// How many secret numbers were asked for.
    secrets: Cell<u64>,
    menu: Cell<bool>,
    /// By how many milliseconds the clock on the wall is wrong.
    wall_off: Cell<f64>,
    /// When the clock is put forward or back, and by how many milliseconds it is ahead of UTC before and after.
    zone: Cell<(f64, f64, f64)>,
    server_clock: Cell<ServerClock>,
    memory: Cell<usize>,
    /// The page's address without its fragment, and the fragment.
    url: RefCell<(String, String)>,
    stored: RefCell<BTreeMap<String, String>>,
    /// What the document names in its head.
    named: RefCell<BTreeMap<&'static str, String>>,
    drawn: RefCell<BTreeMap<RowKey, DrawnRow>>,
}

impl Environment for Place {
    fn now(&self) -> f64 {
        self.now.set(self.now.get() + self.step.get());
        self.now.get()
    }

    fn take_jump(&self) -> f64 {
        0.0
    }

    fn random(&self) -> f64 {
        0.5
    }

    fn secret_number(&self) -> u64 {
        self.secrets.set(self.secrets.get() + 1);
        6 + self.secrets.get()
    }

    fn wall(&self) -> f64 {
        self.now.get() + self.wall_off.get()
    }

    fn server_clock(&self, _cluster: &'static str) -> ServerClock {
        self.server_clock.get()
    }

    fn to_wall(&self) -> f64 {
        0.0
    }

    fn ahead(&self, wall: f64) -> f64 {
        let (changed, before, after) = self.zone.get();
        if wall < changed { before } else { after }
    }

    fn zone_name(&self) -> String {
        String::from("Europe/Berlin")
    }

    fn is_hidden(&self) -> bool {
        self.hidden.get()
    }

    fn memory(&self) -> usize {
        self.memory.get()
    }

    fn window(&self) -> Window {
        Window::default()
    }

    fn stored(&self, name: &str) -> Option<String> {
        self.stored.borrow().get(name).cloned()
    }

    fn stored_in_tab(&self, name: &str) -> Option<String> {
        self.stored.borrow().get(&format!("tab {name}")).cloned()
    }

    /// Lists are streamed where the address does not say how they come: so a list is a few frames.
    fn parameter(&self, name: &str) -> Option<String> {
        let url = self.url.borrow();
        let query = url.0.split_once('?').map_or("", |(_, query)| query);
        let said = query.split('&').find_map(|pair| Some(pair.strip_prefix(name)?.strip_prefix('=')?.to_owned()));
        said.or_else(|| (name == "list").then(|| String::from("stream")))
    }

    fn named(&self, name: &str) -> Option<String> {
        self.named.borrow().get(name).cloned()
    }

    fn address(&self, text: &str) -> Option<Address> {
        let own = self.url.borrow().0.clone();
        let text = match text {
            "" => own,
            below if below.starts_with("./") => format!("{}{}", &own[..own.rfind('/')? + 1], &below[2..]),
            text => text.to_owned(),
        };
        let (scheme, rest) = text.split_once("://")?;
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let name = host.split(':').next().unwrap_or_default();
        let path = path.split('?').next().unwrap_or_default();
        let [scheme, name, host, path] = [scheme, name, host, path].map(str::to_owned);
        Some(Address { scheme, name, host, path, has_user: false })
    }

    fn url(&self) -> String {
        let url = self.url.borrow();
        format!("{}{}", url.0, url.1)
    }

    fn has_menu(&self) -> bool {
        self.menu.get()
    }

    fn drawn(&self, row: RowKey) -> Option<DrawnRow> {
        self.drawn.borrow().get(&row).cloned()
    }
}

/// A page, its environment, and the effects that it asked for.
struct Play {
    page: Page,
    place: Place,
    /// Requests that are not answered yet.
    requests: Vec<(RequestId, Request)>,
    /// Logs that are read.
    logs: Vec<(RequestId, String)>,
    /// Informers that run, and what they watch.
    informers: Vec<(InformerId, &'static str)>,
    /// The effects since the last call of [`Play::done`], in words.
    effects: Vec<String>,
    /// How soon a frame was asked for since then.
    frame: Option<Pace>,
}

impl Play {
    /// A page at an address, with what is stored from an earlier visit.
    fn at(url: &str, stored: &[(&str, &str)]) -> Play {
        let place = Place::default();
        let (base, fragment) = url.split_at(url.find('#').unwrap_or(url.len()));
        *place.url.borrow_mut() = (base.to_owned(), fragment.to_owned());
        *place.stored.borrow_mut() = stored.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        Play::of(place)
    }

    /// A page in these surroundings.
    fn of(place: Place) -> Play {
        place.now.set(1_000.0);
        let page = Page::begin(&place);
        let mut play = Play {
            page,
            place,
            requests: Vec::new(),
            logs: Vec::new(),
            informers: Vec::new(),
            effects: Vec::new(),
            frame: None,
        };
        play.settle();
        play
    }

    /// A page at a fragment, for which the API was found.
    fn found(fragment: &str) -> Play {
        let mut play = Play::at(&format!("http://127.0.0.1:8080/{fragment}"), &[]);
        play.is_found(None);
        play
    }

    /// The API is found, of a server of this release.
    fn is_found(&mut self, release: Option<Release>) {
        let http = String::from("http://127.0.0.1:8080/k8s/");
        self.answers("find", Answer::Find(Ok(FoundApi { http, release, readable: true })));
        self.effects.clear();
    }

    /// A page whose informers have each listed these objects, in a table that is this many pixels high.
    fn listed(fragment: &str, objects: &[&str]) -> Play {
        let mut play = Play::found(fragment);
        play.command(Command::Scroll { top: 0.0, height: 528.0 });
        for (id, _) in play.informers.clone() {
            play.lists(id, objects);
        }
        play.frame();
        play.effects.clear();
        play
    }

    fn lists(&mut self, id: InformerId, objects: &[&str]) {
        self.reflects(id, Input::Start);
        self.reflects(id, Input::Opened);
        for object in objects {
            self.reflects(id, Input::Frame(&event("ADDED", object)));
        }
        self.reflects(id, Input::Frame(&bookmark("100", r#"{"k8s.io/initial-events-end":"true"}"#)));
    }

    fn reflects(&mut self, id: InformerId, input: Input<'_>) {
        self.page.reflect(id, input, &self.place);
        self.settle();
    }

    /// Receives a frame of the watch of a resource.
    fn hears(&mut self, resource: &str, word: &str, object: &str) {
        let id = self.informers.iter().find(|(_, of)| *of == resource).expect("it is watched").0;
        self.reflects(id, Input::Frame(&event(word, object)));
    }

    fn command(&mut self, command: Command) {
        self.page.command(command, &self.place);
        self.settle();
    }

    /// Time passes, and the screen shows a frame.
    fn frame(&mut self) {
        self.place.now.set(self.place.now.get() + 100.0);
        self.page.frame(&self.place);
        self.settle();
    }

    /// Time passes, with a tick at each deadline in it. Returns how many ticks there were.
    fn wait(&mut self, milliseconds: f64) -> usize {
        let (end, mut ticks) = (self.place.now.get() + milliseconds, 0);
        loop {
            let deadline = self.page.deadline(&self.place);
            if deadline > end {
                self.place.now.set(end);
                return ticks;
            }
            self.place.now.set(self.place.now.get().max(deadline));
            self.page.tick(&self.place);
            self.settle();
            ticks += 1;
        }
    }

    /// Answers the first request that has this word.
    fn answers(&mut self, word: &str, answer: Answer) {
        let at = self.requests.iter().position(|(_, request)| word_of(request).starts_with(word));
        let (id, _) = self.requests.remove(at.unwrap_or_else(|| panic!("no {word} among {:?}", self.requests)));
        self.page.answer(id, answer, &self.place);
        self.settle();
    }

    /// Carries out effects as a browser does, and records them.
    fn settle(&mut self) {
        let effects = self.page.take_effects();
        self.frame = self.frame.max(effects.frame);
        for effect in effects.list {
            let words = match effect {
                Effect::Start(id, resource, scope) => {
                    self.informers.push((id, name_of(&resource)));
                    format!("start {} {}", name_of(&resource), scope.namespace)
                }
                Effect::Cluster(Api { cluster, http, readable }) => {
                    format!("cluster {cluster} {http}{}", if readable { "" } else { " by sockets" })
                }
                Effect::Stop(id) => {
                    let at = self.informers.iter().position(|(own, _)| *own == id).expect("it was started");
                    format!("stop {}", self.informers.remove(at).1)
                }
                // The informer has a new deadline, as after most inputs.
                Effect::Reflect(_, ReflectorInput::Input(Input::Timer)) => continue,
                Effect::Reflect(_, ReflectorInput::Input(input)) => format!("tell {input:?}"),
                Effect::Reflect(_, ReflectorInput::Relist(reason)) => format!("relist {reason}"),
                Effect::Reflect(_, ReflectorInput::GiveUp(reason)) => format!("give up {reason}"),
                Effect::Request(id, request) => {
                    let words = word_of(&request);
                    self.requests.push((id, request));
                    words
                }
                Effect::Follow(id, _, url) => {
                    let words = format!("log {url}");
                    self.logs.push((id, url));
                    words
                }
                Effect::Abort(id) if self.logs.iter().any(|(own, _)| *own == id) => {
                    self.logs.retain(|(own, _)| *own != id);
                    String::from("abort log")
                }
                Effect::Abort(id) => {
                    let at = self.requests.iter().position(|(own, _)| *own == id).expect("it was asked");
                    format!("abort {}", word_of(&self.requests.remove(at).1))
                }
                Effect::Restrict(policy) => format!("restrict {}", policy.split(' ').next_back().unwrap_or_default()),
                Effect::Push(fragment) => {
                    self.place.url.borrow_mut().1 = fragment.clone();
                    format!("push {fragment}")
                }
                Effect::Replace(fragment) => {
                    self.place.url.borrow_mut().1 = fragment.clone();
                    format!("replace {fragment}")
                }
                Effect::OpenRecording(url) => format!("open the recording at {url}"),
                Effect::OpenKept(id, name) => format!("open {name}, kept in {id}"),
                Effect::ChooseRecording => String::from("choose a recording"),
                Effect::CloseRecording => String::from("close the recording"),
                Effect::Load(url) => format!("load {url}"),
                Effect::Store(name, value) => {
                    let words = format!("store {name} {}", value.as_deref().unwrap_or("nothing"));
                    match value {
                        Some(value) => drop(self.place.stored.borrow_mut().insert(name, value)),
                        None => drop(self.place.stored.borrow_mut().remove(&name)),
                    }
                    words
                }
                Effect::StoreInTab(name, value) => format!("store in tab {name} {value}"),
                Effect::Theme(theme) => theme.name().to_owned(),
                Effect::Rewound(is_rewound) => String::from(if is_rewound { "rewound" } else { "live" }),
                Effect::Warn(line) => format!("warn {line}"),
                Effect::Alert(Alert::Ask) => String::from("ask to notify"),
                Effect::Alert(Alert::Notify(notification)) => {
                    format!("notify {}: {}", notification.title, notification.body)
                }
                Effect::Alert(Alert::Mark(count)) => format!("mark {count}"),
                Effect::Focus(Focused::Rows(rows)) => format!("focus {rows:?}").to_lowercase(),
                Effect::Focus(Focused::Field(id)) => format!("focus {id}"),
                Effect::Focus(Focused::Menu(handle)) => format!("open {handle}"),
                Effect::Focus(Focused::ClosedMenu) => String::from("close menu"),
                Effect::ScrollTable(top) | Effect::ScrollFeed(top) => format!("scroll {top}"),
                Effect::Beat { .. } => continue,
            };
            self.effects.push(words);
        }
    }

    /// What a key does where the focus is.
    fn on(&self, key: &str, focus: Focus) -> Option<Command> {
        self.page.command_of(Press { key, ..Press::default() }, focus)
    }

    /// Presses keys, named as the browser names them, and shows a frame.
    fn press(&mut self, keys: &[&str], focus: Focus) {
        for key in keys {
            let command = self.on(key, focus).unwrap_or_else(|| panic!("{key} does nothing"));
            self.command(command);
            self.frame();
        }
    }

    /// The effects since the last call.
    fn done(&mut self) -> String {
        std::mem::take(&mut self.effects).join(", ")
    }

    /// The browser notifies the page that the address has the fragment that the page asked for.
    fn arrive(&mut self) -> String {
        let fragment = self.place.url.borrow().1.clone();
        self.effects.clear();
        self.command(Command::Arrive(fragment));
        self.frame();
        self.done()
    }

    fn message(&self) -> &str {
        &self.page.view().dialogs.message
    }

    fn state(&self) -> &'static str {
        self.page.view().header.connection.state
    }
}

/// A resource by its plural, and by its cluster if that is not the page's own.
fn name_of(resource: &ApiResource) -> &'static str {
    match resource.cluster {
        "" => resource.plural,
        cluster => intern(&format!("{}@{cluster}", resource.plural)),
    }
}

fn word_of(request: &Request) -> String {
    match request {
        Request::Find { places, patience, socket, .. } => {
            let socket = socket.as_ref().map(|watch| format!(" or socket {watch}"));
            format!("find {} in {patience}{}", places.join(" "), socket.unwrap_or_default())
        }
        Request::Discovery(_) => String::from("discover"),
        Request::Definition(resource) => format!("define {}", resource.plural),
        Request::Heartbeat(resource, ..) => format!("heartbeat {}", name_of(resource)),
        Request::Count(resource, _) => format!("count {}", resource.plural),
        Request::ListExactly(resource, ..) => format!("list {}", name_of(resource)),
        Request::Get(resource, scope, name) => format!("get {} {}/{name}", name_of(resource), scope.namespace),
        Request::Namespaces(_) => String::from("namespaces"),
        Request::Copy(text) => format!("copy {text}"),
        Request::Save { name, slices, .. } => match &**slices {
            Slices::Table(export) => format!("save {name} {}", export.total()),
            Slices::Text(text, rows) => format!("save {name} {rows}: {text}"),
            Slices::Log(writing) => {
                let (mut writing, total) = (writing.clone(), writing.total());
                let text: String = std::iter::from_fn(|| writing.slice(2)).collect();
                format!("save {name} {total}: {text}")
            }
        },
        Request::Disk(request) => format!("disk {request:?}"),
        Request::Pack { lines, name, .. } => {
            format!("pack {}: {}", name.as_deref().unwrap_or("a block"), String::from_utf8_lossy(lines))
        }
    }
}
