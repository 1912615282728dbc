//! Where the data comes from: looks for the API, asks the user first if the address names an API beyond this machine,
//! and limits the page's connections to what was allowed.

use kubechurn_client::api::release::Release;
use kubechurn_client::api::request::presence;
use kubechurn_client::cache::heartbeat::{self, DEADLINE};
use kubechurn_client::cache::reflector::Options;

use crate::navigation::address::{Access, Address, access, candidates, label, policy, without_parameter};
use crate::navigation::catalog::Catalog;
use crate::navigation::recorded::offered;
use crate::page::context::Context;
use crate::page::effect::{Effect, FoundApi, Request};
use crate::page::environment::Environment;
use crate::page::requests::Purpose;
use crate::view::{Source, Splash};
use kubechurn_columns::kinds::{NEWEST, pods};

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

    /// Looks for the API, or asks the user whether the page may connect to it. `granted` says that the user has just
    /// allowed it.
    pub(super) fn begin(&mut self, granted: bool, cx: &mut Context<'_>) {
        let own = own(cx.env);
        let Some(wanted) = cx.env.parameter("api") else {
            restrict(&own, None, cx);
            let places = candidates(&own.path).map(String::from);
            // Trunk fills in this element. A placeholder in braces counts as no value.
            let second = cx.env.named("trunk").is_some();
            return self.search(Search { places: Vec::from(places), second, ..Search::default() }, cx);
        };
        let Some(api) = cx.env.address(&wanted) else {
            return refuse(&own, wanted, "this is no address", cx);
        };
        let allowed = if granted { Some(api.origin()) } else { cx.env.stored_in_tab(ALLOWED) };
        match access(&api, &own, allowed.as_deref()) {
            Access::Granted => {
                if granted {
                    cx.effects.push(Effect::StoreInTab(ALLOWED, api.origin()));
                }
                restrict(&own, Some(&api), cx);
                cx.view.header.question.put(None);
                let place = format!("{}{}/", api.origin(), api.path.trim_end_matches('/'));
                let foreign = !api.is_of(&own);
                self.search(Search { places: vec![place], foreign, ..Search::default() }, cx);
            }
            Access::Asked => cx.view.header.question.put(Some(api.origin())),
            Access::Refused(why) => refuse(&own, api.shown(), why, cx),
        }
    }

    /// Handles the user's answer. Without permission, the page is loaded again without the API that its address names.
    pub(super) fn connect(&mut self, allowed: bool, cx: &mut Context<'_>) {
        match allowed {
            true => self.begin(true, cx),
            false => cx.effects.push(Effect::Load(without_parameter(&cx.env.url(), "api"))),
        }
    }

    fn search(&mut self, search: Search, cx: &mut Context<'_>) {
        *self = Search { began: cx.now, ..search };
        self.find(cx);
    }

    fn find(&mut self, cx: &mut Context<'_>) {
        // Behind a credential plugin, the first answer may take as long as a log-in.
        let Search { places, second, began, foreign, .. } = &*self;
        let patience = (cx.now - began).clamp(f64::from(DEADLINE), LONGEST) as u32;
        // The socket is one of those that follow anyway: whoever may watch what is in view need not be allowed to watch
        // anything else.
        let socket = foreign.then(|| {
            let route = &cx.navigation.route;
            let kind = route.kinds(&Catalog::default()).first().map_or(&pods::KIND.resource, |kind| &kind.resource);
            presence(kind, route.namespaces.first().map_or("", String::as_str))
        });
        let request = Request::Find { places: places.clone(), second: *second, patience, socket };
        cx.request(Purpose::Find, request);
    }

    pub(super) fn again_if_due(&mut self, cx: &mut Context<'_>) {
        if self.again.is_some_and(|again| cx.now >= again) {
            self.again = None;
            self.find(cx);
        }
    }

    /// Handles the result of the search: the API was found, or each place answered something else. Returns whether the
    /// API was found.
    pub(super) fn found(&mut self, answer: Result<FoundApi, Vec<(String, String)>>, cx: &mut Context<'_>) -> bool {
        let header = &mut cx.view.header;
        match answer {
            Ok(FoundApi { http, release, readable }) => {
                header.splash.put(None);
                let address = cx.env.address(&http).map(|api| label(&api, &own(cx.env))).unwrap_or_default();
                // Whoever serves the page names the cluster behind the page, and not one of another origin.
                let cluster = cx.env.named("cluster").filter(|_| !self.foreign).unwrap_or_default();
                header.source.put(Source { cluster, address, unreadable: !readable });
                if !readable {
                    let options = cx.watching.informers.options();
                    cx.watching.informers.set_options(Options { readable, ..options });
                }
                let catalog = Catalog::printed_by(release).with_clusters(cx.navigation.catalog.clusters().to_vec());
                if let Some(Release { major, minor }) = release.filter(|release| *release > NEWEST) {
                    let newest = format!("{}.{}", NEWEST.major, NEWEST.minor);
                    cx.show_message(&format!(
                        "The server is Kubernetes {major}.{minor}, which is newer than this page: columns are those of {newest}."
                    ));
                }
                cx.navigation.catalog = if readable { catalog } else { catalog.fixed() };
                cx.navigation.found = true;
                self.found = Some(http);
                true
            }
            Err(tried) => {
                let shown = |address: String| cx.env.address(&address).map_or(address, |address| address.shown());
                let tried = tried.into_iter().map(|(address, words)| (shown(address), words)).collect();
                header.splash.put(Some(splash(tried, cx.env)));
                self.again = Some(cx.now + heartbeat::wait(cx.now - self.began, cx.env.random()));
                false
            }
        }
    }
}

/// Limits the page's connections to the API that it may use: from now on the browser refuses every other
/// connection. The built page's own policy already refuses foreign scripts; this limit makes sure that nothing can
/// be sent elsewhere anyway.
fn restrict(own: &Address, api: Option<&Address>, cx: &mut Context<'_>) {
    cx.effects.push(Effect::Restrict(policy(own, api)));
}

fn refuse(own: &Address, address: String, why: &str, cx: &mut Context<'_>) {
    restrict(own, None, cx);
    let splash = splash(vec![(address, why.to_owned())], cx.env);
    cx.view.header.splash.put(Some(splash));
}

fn splash(tried: Vec<(String, String)>, env: &dyn Environment) -> Splash {
    Splash { tried, recordings: offered(&env.named("recordings").unwrap_or_default()) }
}

fn own(env: &dyn Environment) -> Address {
    env.address("").unwrap_or_default()
}
