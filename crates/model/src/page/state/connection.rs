//! Where the data comes from: looks for the API, asks the user first if the address names an API beyond this machine,
//! and limits the page's connections to what was allowed.

use kubechurn_client::api::request::presence;
use kubechurn_client::cache::heartbeat::{self, DEADLINE};
use kubechurn_client::cache::reflector::Options;

use crate::page::address::{Access, Address, access, candidates, label, policy, without_parameter};
use crate::page::catalog::Catalog;
use crate::page::effect::{Effect, Found, Request};
use crate::page::environment::Environment;
use crate::page::state::Page;
use crate::page::state::requests::Purpose;
use crate::page::view::{Source, Splash};
use kubechurn_columns::kinds::pods;

/// The name under which the browser stores the origin that the user has allowed in this tab.
const ALLOWED: &str = "kubechurn.api";

/// The longest time that the page waits for an API that has not answered yet, in milliseconds.
const LONGEST: f64 = 30_000.0;

/// The search for the API.
#[derive(Debug, Default)]
pub(super) struct Search {
    places: Vec<String>,
    second: bool,
    began: f64,
    /// When to search again.
    again: Option<f64>,
    /// Where the API was found.
    found: Option<String>,
    /// Whether the API is of another origin, whose answers the browser may keep from the page.
    foreign: bool,
}

impl Search {
    /// When to search again, in milliseconds; `None` while a search is under way, or after the API was found.
    pub(super) fn again(&self) -> Option<f64> {
        self.again
    }

    /// Whether the API was found where a page looks first whose address names no API.
    pub(super) fn is_below_page(&self, env: &dyn Environment) -> bool {
        let [first, ..] = candidates(&own(env).path);
        let found = self.found.as_ref().and_then(|found| env.address(found));
        env.parameter("api").is_none() && found.is_some() && found == env.address(first)
    }
}

impl Page {
    /// Looks for the API, or asks the user whether the page may connect to it. `granted` says that the user has just
    /// allowed it.
    pub(super) fn look_for_api(&mut self, granted: bool, env: &dyn Environment) {
        let own = own(env);
        let Some(wanted) = env.parameter("api") else {
            self.restrict(&own, None);
            let places = candidates(&own.path).map(String::from);
            // Trunk fills in this element. A placeholder in braces counts as no value.
            let second = env.named("trunk").is_some();
            return self.search(Search { places: Vec::from(places), second, ..Search::default() }, env);
        };
        let Some(api) = env.address(&wanted) else {
            return self.refuse(&own, wanted, "this is no address");
        };
        let allowed = if granted { Some(api.origin()) } else { env.stored_in_tab(ALLOWED) };
        match access(&api, &own, allowed.as_deref()) {
            Access::Granted => {
                if granted {
                    self.out.effects.push(Effect::StoreInTab(ALLOWED, api.origin()));
                }
                self.restrict(&own, Some(&api));
                self.out.view.header.question.put(None);
                let place = format!("{}{}/", api.origin(), api.path.trim_end_matches('/'));
                let foreign = !api.is_of(&own);
                self.search(Search { places: vec![place], foreign, ..Search::default() }, env);
            }
            Access::Asked => self.out.view.header.question.put(Some(api.origin())),
            Access::Refused(why) => self.refuse(&own, api.shown(), why),
        }
    }

    /// Handles the user's answer. Without permission, the page is loaded again without the API that its address names.
    pub(super) fn connect(&mut self, allowed: bool, env: &dyn Environment) {
        match allowed {
            true => self.look_for_api(true, env),
            false => self.out.effects.push(Effect::Load(without_parameter(&env.url(), "api"))),
        }
    }

    /// Limits the page's connections to the API that it may use: from now on the browser refuses every other
    /// connection. The built page's own policy already refuses foreign scripts; this limit makes sure that nothing can
    /// be sent elsewhere anyway.
    fn restrict(&mut self, own: &Address, api: Option<&Address>) {
        self.out.effects.push(Effect::Restrict(policy(own, api)));
    }

    fn refuse(&mut self, own: &Address, address: String, why: &str) {
        self.restrict(own, None);
        self.out.view.header.splash.put(Some(Splash { tried: vec![(address, why.to_owned())] }));
    }

    fn search(&mut self, search: Search, env: &dyn Environment) {
        self.place.search = Search { began: env.now(), ..search };
        self.find(env);
    }

    fn find(&mut self, env: &dyn Environment) {
        // Behind a credential plugin, the first answer may take as long as a log-in.
        let Search { places, second, began, foreign, .. } = &self.place.search;
        let patience = (env.now() - began).clamp(f64::from(DEADLINE), LONGEST) as u32;
        // The socket is one of those that follow anyway: whoever may watch what is in view need not be allowed to watch
        // anything else.
        let socket = foreign.then(|| {
            let route = &self.place.route;
            let kind = route.kinds(&Catalog::default()).first().map_or(&pods::KIND.resource, |kind| &kind.resource);
            presence(kind, route.namespaces.first().map_or("", String::as_str))
        });
        let request = Request::Find { places: places.clone(), second: *second, patience, socket };
        self.request(Purpose::Find, request);
    }

    pub(super) fn search_again(&mut self, env: &dyn Environment) {
        if self.place.search.again.is_some_and(|again| env.now() >= again) {
            self.place.search.again = None;
            self.find(env);
        }
    }

    /// Handles the result of the search: the API was found, and everything begins; or each place answered something
    /// else.
    pub(super) fn found(&mut self, answer: Result<Found, Vec<(String, String)>>, env: &dyn Environment) {
        let header = &mut self.out.view.header;
        match answer {
            Ok(Found { http, release, readable }) => {
                header.splash.put(None);
                let address = env.address(&http).map(|api| label(&api, &own(env))).unwrap_or_default();
                // Whoever serves the page names the cluster behind the page, and not one of another origin.
                let cluster = env.named("cluster").filter(|_| !self.place.search.foreign).unwrap_or_default();
                header.source.put(Source { cluster, address, unreadable: !readable });
                if !readable {
                    let options = self.watching.informers.options();
                    self.watching.informers.set_options(Options { readable, ..options });
                }
                let catalog = Catalog::printed_by(release).with_clusters(self.place.catalog.clusters().to_vec());
                self.place.catalog = if readable { catalog } else { catalog.fixed() };
                (self.place.found, self.place.search.found) = (true, Some(http));
                self.discover();
                self.go_on(env);
            }
            Err(tried) => {
                let shown = |address: String| env.address(&address).map_or(address, |address| address.shown());
                let tried = tried.into_iter().map(|(address, words)| (shown(address), words)).collect();
                header.splash.put(Some(Splash { tried }));
                let (now, search) = (env.now(), &mut self.place.search);
                search.again = Some(now + heartbeat::wait(now - search.began, env.random()));
            }
        }
    }
}

fn own(env: &dyn Environment) -> Address {
    env.address("").unwrap_or_default()
}
