//! One informer for each resource, namespace and selector, shared by all who ask for it: client-go's
//! `SharedInformerFactory` (`informers/factory.go`).

use crate::api::request::Scope;
use crate::api::resource::ApiResource;
use crate::cache::delta_fifo::DeltaFifo;
use crate::cache::handler::HandlerOptions;
use crate::cache::processor::HandlerId;
use crate::cache::queue::Queue;
use crate::cache::reflector::Options;
use crate::cache::shared_informer::SharedInformer;

/// Names one informer of a factory. No other informer of that factory ever has the same name; the first one has the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InformerId(u64);

/// Names one handler of one informer (client-go's `ResourceEventHandlerRegistration`). The handler's owner keeps it, to
/// remove the handler with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registration {
    /// The informer.
    pub informer: InformerId,
    /// The handler.
    pub handler: HandlerId,
}

/// The informers.
#[derive(Debug, Default)]
pub struct SharedInformerFactory<Q = DeltaFifo> {
    options: Options,
    /// Other settings, for informers of these API servers.
    options_of: Vec<(&'static str, Options)>,
    shared: Vec<Shared<Q>>,
    made: u64,
}

#[derive(Debug)]
struct Shared<Q> {
    id: InformerId,
    resource: ApiResource,
    scope: Scope,
    informer: SharedInformer<Q>,
    started: bool,
}

impl SharedInformerFactory {
    /// A factory without informers. `options` are for whoever makes one ([`SharedInformerFactory::options`]).
    pub fn new(options: Options) -> SharedInformerFactory {
        SharedInformerFactory { options, ..SharedInformerFactory::default() }
    }
}

impl<Q: Queue> SharedInformerFactory<Q> {
    /// Changes the settings for the informers that are made from now on.
    pub fn set_options(&mut self, options: Options) {
        self.options = options;
    }

    /// Changes the settings for informers of one API server ([`ApiResource::cluster`]) that are made from now on.
    pub fn set_options_of(&mut self, cluster: &'static str, options: Options) {
        self.options_of.retain(|(other, _)| *other != cluster);
        self.options_of.push((cluster, options));
    }

    /// The settings that the reflectors of this factory have in common (client-go's `SharedInformerOption`).
    pub fn options(&self) -> Options {
        self.options
    }

    /// The settings of reflectors that list and watch this resource.
    pub fn options_of(&self, resource: &ApiResource) -> Options {
        let own = self.options_of.iter().find(|(cluster, _)| *cluster == resource.cluster);
        own.map_or(self.options, |(_, options)| *options)
    }

    /// The informer of that resource in that scope (`InformerFor`). If there is none yet, `make` makes one, which then
    /// waits for [`SharedInformerFactory::start`].
    pub fn informer_for(
        &mut self,
        resource: ApiResource,
        scope: &Scope,
        make: impl FnOnce() -> SharedInformer<Q>,
    ) -> InformerId {
        if let Some(shared) = self.shared.iter().find(|shared| shared.resource == resource && shared.scope == *scope) {
            return shared.id;
        }
        let id = InformerId(self.made);
        self.made += 1;
        let scope = scope.clone();
        self.shared.push(Shared { id, resource, scope, informer: make(), started: false });
        id
    }

    /// Adds a handler to an informer; `None` if that has ended.
    pub fn add_event_handler(
        &mut self,
        informer: InformerId,
        options: HandlerOptions,
        now: f64,
    ) -> Option<Registration> {
        let handler = self.get_mut(informer)?.add_event_handler(options, now);
        Some(Registration { informer, handler })
    }

    /// Removes a handler; to do so again changes nothing. An informer ends with its last handler: then the result is
    /// `true`, and whoever carries out the informer's actions is to stop.
    pub fn remove_event_handler(&mut self, registration: Registration) -> bool {
        let Some(informer) = self.get_mut(registration.informer) else { return false };
        if !informer.remove_event_handler(registration.handler) || informer.handlers() > 0 {
            return false;
        }
        self.shared.retain(|shared| shared.id != registration.informer);
        true
    }

    /// The informers that were made since the last call, each with its resource and its scope. They are to be handed
    /// [`crate::cache::reflector::Input::Start`].
    pub fn start(&mut self) -> Vec<(InformerId, ApiResource, Scope)> {
        let new = self.shared.iter_mut().filter(|shared| !shared.started);
        new.map(|shared| {
            shared.started = true;
            (shared.id, shared.resource, shared.scope.clone())
        })
        .collect()
    }

    /// Ends all informers, and returns their names: whoever carries out their actions is to stop.
    pub fn shutdown(&mut self) -> Vec<InformerId> {
        self.shared.drain(..).map(|shared| shared.id).collect()
    }

    /// The resource and the scope of an informer; `None` if it has ended.
    pub fn of(&self, id: InformerId) -> Option<(ApiResource, &Scope)> {
        self.shared.iter().find(|shared| shared.id == id).map(|shared| (shared.resource, &shared.scope))
    }

    /// An informer; `None` if it has ended.
    pub fn get(&self, id: InformerId) -> Option<&SharedInformer<Q>> {
        self.shared.iter().find(|shared| shared.id == id).map(|shared| &shared.informer)
    }

    /// An informer, to be handed an input, drained, or read by a handler; `None` if it has ended.
    pub fn get_mut(&mut self, id: InformerId) -> Option<&mut SharedInformer<Q>> {
        self.shared.iter_mut().find(|shared| shared.id == id).map(|shared| &mut shared.informer)
    }

    /// Every informer.
    pub fn iter(&self) -> impl Iterator<Item = (InformerId, &SharedInformer<Q>)> + Clone {
        self.shared.iter().map(|shared| (shared.id, &shared.informer))
    }

    /// Every informer of one API server ([`ApiResource::cluster`]).
    pub fn of_cluster(&self, cluster: &str) -> impl Iterator<Item = (InformerId, &SharedInformer<Q>)> {
        let all = self.shared.iter().filter(move |shared| shared.resource.cluster == cluster);
        all.map(|shared| (shared.id, &shared.informer))
    }

    /// The API servers that the informers list and watch, each once.
    pub fn clusters(&self) -> impl Iterator<Item = &'static str> {
        let name = |at: usize| self.shared[at].resource.cluster;
        (0..self.shared.len()).filter(move |at| (0..*at).all(|other| name(other) != name(*at))).map(name)
    }

    /// Every informer, to be handed an input, or drained.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (InformerId, &mut SharedInformer<Q>)> {
        self.shared.iter_mut().map(|shared| (shared.id, &mut shared.informer))
    }

    /// Returns how many informers there are.
    pub fn len(&self) -> usize {
        self.shared.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.shared.is_empty()
    }

    /// Returns whether every first list has reached its store (`WaitForCacheSync`).
    pub fn has_synced(&self) -> bool {
        self.shared.iter().all(|shared| shared.informer.has_synced())
    }
}
