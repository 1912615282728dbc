//! What the parts of the page share. Each part has its own state and view; it gets this context for everything else.

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::request::Scope;
use kubechurn_client::api::time::Timestamp;
use kubechurn_client::cache::factory::SharedInformerFactory;
use kubechurn_client::cache::reflector::{Health, Input, Options};
use kubechurn_columns::kinds::Kind;

use crate::history::{Entry, History};
use crate::inspector::tab::Tab;
use crate::navigation::Navigation;
use crate::navigation::clusters::{self, Api};
use crate::navigation::route::{ChosenVersion, Route};
use crate::page::command::List;
use crate::page::effect::{Effect, Effects, Focused, Pace, ReflectorInput, Request, RequestId};
use crate::page::environment::{Environment, fragment};
use crate::page::requests::{Purpose, Requests};
use crate::page::time_words::{TimeWords, Zone};
use crate::page::watching::{Watching, lists};
use crate::table::schema::TableSchema;
use crate::view::panels::View;
use crate::watches::audit::AuditLog;
use crate::watches::notices::{Notices, PageNotice};

/// What the parts of the page share.
#[derive(Debug)]
pub struct Shared {
    pub navigation: Navigation,
    pub watching: Watching,
    pub requests: Requests,
    pub notices: Notices,
    /// The log of how data moves through the page, if the address asks for one.
    pub audit: AuditLog,
    pub message: Message,
    /// The footer's lists that are open.
    pub open_lists: Vec<List>,
    pub view: View,
    pub effects: Effects,
    /// Whether the timeline is painted even if nothing in it changed.
    pub repaints: bool,
    /// The clock by which times are shown.
    pub zone: Zone,
}

/// The last message about the outcome of a command.
#[derive(Debug, Default)]
pub struct Message {
    /// When it was shown, while it is.
    shown_at: Option<f64>,
}

/// How long a message is shown, in milliseconds.
const MESSAGE: f64 = 5_000.0;

impl Message {
    /// When the message goes, in milliseconds, if there is one.
    pub fn ends_at(&self) -> Option<f64> {
        self.shown_at.map(|at| at + MESSAGE)
    }
}

/// What the parts share, while one of them does something at this time.
pub struct Context<'a> {
    pub env: &'a dyn Environment,
    /// The time, in milliseconds.
    pub now: f64,
    pub navigation: &'a mut Navigation,
    pub watching: &'a mut Watching,
    pub requests: &'a mut Requests,
    pub notices: &'a mut Notices,
    pub audit: &'a AuditLog,
    message: &'a mut Message,
    pub open_lists: &'a [List],
    pub view: &'a mut View,
    pub effects: &'a mut Effects,
    pub repaints: &'a mut bool,
    pub zone: &'a mut Zone,
}

impl Shared {
    /// What is known at the beginning: the place that the address names, and the clusters. The history may take so many bytes.
    pub fn new(budget: usize, env: &dyn Environment) -> Shared {
        let own = env.address("").unwrap_or_default();
        let named = env.named("clusters").unwrap_or_default();
        let clusters = clusters::read(&named, &own, |text| env.address(text));
        let home = clusters::home(&clusters, env.named("cluster"));
        let options = lists(env.parameter("list").as_deref());
        let mut informers = SharedInformerFactory::new(options);
        let apis: Vec<Api> = clusters.iter().filter_map(|cluster| cluster.api).collect();
        let mut effects = Effects::default();
        for api in apis {
            informers.set_options_of(api.cluster, Options { readable: api.readable, ..options });
            effects.push(Effect::Cluster(api));
        }
        let history = History::new(budget, env.secret_number());
        Shared {
            navigation: Navigation::new(Route::parse(&fragment(&env.url())), clusters, home),
            watching: Watching::new(informers, home, history),
            requests: Requests::default(),
            notices: Notices::default(),
            audit: AuditLog::parse(env.parameter("audit").as_deref()),
            message: Message::default(),
            open_lists: Vec::new(),
            view: View::default(),
            effects,
            repaints: false,
            zone: Zone::default(),
        }
    }

    /// The context of something that is done now.
    pub fn context<'a>(&'a mut self, env: &'a dyn Environment) -> Context<'a> {
        Context {
            env,
            now: env.now(),
            navigation: &mut self.navigation,
            watching: &mut self.watching,
            requests: &mut self.requests,
            notices: &mut self.notices,
            audit: &self.audit,
            message: &mut self.message,
            open_lists: &self.open_lists,
            view: &mut self.view,
            effects: &mut self.effects,
            repaints: &mut self.repaints,
            zone: &mut self.zone,
        }
    }
}

impl Context<'_> {
    /// Watches exactly what the route asks for, or what a recording has. Returns whether another table is in view than before.
    pub fn watch(&mut self) -> bool {
        self.watching.watch(self.navigation, &mut self.notices.announcer, self.effects, (self.audit, self.now))
    }

    /// The user did something and waits for the result: asks for a frame at once.
    pub fn hurry(&mut self) {
        self.effects.frame(Pace::Hurried);
    }

    /// Asks for a frame.
    pub fn request_frame(&mut self) {
        self.effects.frame(Pace::Paced);
    }

    /// Asks for another place. The page goes there as soon as the address has it.
    pub fn push(&mut self, route: &Route) {
        self.effects.push(Effect::Push(route.fragment()));
    }

    /// Asks for the place that differs from the present one in this way.
    pub fn change_route(&mut self, change: impl FnOnce(Route) -> Route) {
        let route = change(self.navigation.route.clone());
        self.push(&route);
    }

    /// Selects an object, or none.
    pub fn select(&mut self, object: Option<(&'static str, ObjectKey)>) {
        if let Some((kind, key)) = &object {
            self.navigation.remember(kind, key);
        }
        let route = self.navigation.route.selecting(object.as_ref().map(|(kind, key)| (*kind, key)));
        self.push(&route);
    }

    /// Selects an object, and marks a version of it among its changes.
    pub fn select_change(&mut self, (kind, key): (&'static str, ObjectKey), change: ChosenVersion) {
        self.navigation.remember(kind, &key);
        let route = self.navigation.route.selecting(Some((kind, &key)));
        self.push(&Route { tab: String::from(Tab::Changes.name()), change: Some(change), ..route });
    }

    pub fn focus(&mut self, focused: Focused) {
        self.effects.push(Effect::Focus(focused));
    }

    /// Stores something for the next visit, or, for `None`, removes it from the store.
    pub fn store(&mut self, name: &str, value: Option<&str>) {
        self.effects.push(Effect::Store(name.to_owned(), value.map(str::to_owned)));
    }

    /// Shows the user for a moment what came of a command.
    pub fn show_message(&mut self, words: &str) {
        self.view.dialogs.message.put(words.to_owned());
        self.message.shown_at = Some(self.now);
    }

    /// Removes a message that was shown for long enough.
    pub fn end_message(&mut self) {
        if self.message.ends_at().is_some_and(|end| self.now >= end) {
            self.message.shown_at = None;
            self.view.dialogs.message.put(String::new());
        }
    }

    /// Sends a request.
    pub fn request(&mut self, purpose: Purpose, request: Request) -> RequestId {
        let id = self.requests.add(purpose);
        self.effects.push(Effect::Request(id, request));
        id
    }

    /// Drops a request: its answer is no longer wanted.
    pub fn abort(&mut self, id: RequestId) {
        if self.requests.take(id).is_some() {
            self.effects.push(Effect::Abort(id));
        }
    }

    /// Asks for an object.
    pub fn get(&mut self, purpose: Purpose, kind: &Kind, key: &ObjectKey) {
        let scope = Scope { namespace: key.namespace.to_string(), ..Scope::default() };
        self.request(purpose, Request::Get(kind.resource, scope, key.name.to_string()));
    }

    /// Publishes a notice.
    pub fn publish(&mut self, notice: PageNotice) {
        self.audit.notice(None, &notice);
        self.notices.announcer.publish(notice);
        self.deliver_notices();
    }

    /// Delivers published notices to the timelines, the list and the console.
    pub fn deliver_notices(&mut self) {
        self.watching.watches.receive_notices(&mut self.notices.announcer);
        for line in self.notices.deliver() {
            self.effects.push(Effect::Warn(line));
        }
    }

    /// Hands an input to every reflector.
    pub fn hand_all(&mut self, input: &Input<'static>) {
        for (id, _) in self.watching.informers.iter() {
            self.effects.push(Effect::Reflect(id, ReflectorInput::Input(input.clone())));
        }
    }

    /// The newest time that can be shown: that of now, or the end of a recording; in milliseconds.
    pub fn newest(&self) -> f64 {
        self.navigation.newest(self.now)
    }

    /// The time that is shown: the moment, or now; in milliseconds.
    pub fn shown_at(&self) -> f64 {
        self.watching.moment.map_or(self.now, |moment| moment.at)
    }

    /// The time that is shown, by the clock of a cluster's API server.
    pub fn server_time(&self, cluster: &'static str) -> Timestamp {
        self.env.server_clock(cluster).time(self.env.wall() - (self.now - self.shown_at()))
    }

    /// The versions of an object that are kept, as far as they had come at the time that is shown; the oldest first.
    pub fn versions_of(&self, kind: &Kind, key: &ObjectKey) -> Vec<Entry> {
        let mut kept = self.watching.history.of(&kind.resource, key);
        if let Some(moment) = self.watching.moment {
            kept.retain(|entry| entry.sequence < moment.received);
        }
        kept
    }

    /// Writes times by the clock that the user chose.
    pub fn words(&self) -> TimeWords<'_> {
        TimeWords { env: self.env, zone: *self.zone }
    }

    /// The time that is shown, by the clock of each kind's API server, by the numbers of the kinds.
    pub fn times(&self, schema: &TableSchema) -> Vec<Timestamp> {
        schema.kinds().iter().map(|kind| self.server_time(kind.resource.cluster)).collect()
    }

    /// The worst health of the kinds in view.
    pub fn health(&self) -> Option<Health> {
        self.watching.health(self.navigation, self.now)
    }
}
