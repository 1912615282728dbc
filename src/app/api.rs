//! Where the data comes from: looks for the API, asks the user first where an address names one beyond this machine, and
//! holds the page to what was allowed.

use gloo_timers::future::TimeoutFuture;
use wasm_bindgen_futures::spawn_local;

use kubechurn_client::cache::backoff::Moment;
use kubechurn_client::cache::heartbeat::{self, DEADLINE};
use kubechurn_model::page::address::{Access, Address, access, candidates, label, policy};
use kubechurn_model::page::catalog::Catalog;

use kubechurn_model::page::view::Source;

use crate::app::{Shared, discovery, document, travel};
use crate::browser::{base, clock};
use crate::ui::screen::{Splash, put};

/// The origin that the user has allowed in this tab.
const ALLOWED: &str = "kubechurn.api";

/// Looks for the API, or asks whether it may be asked. `granted` says that the user has just allowed it.
pub(super) fn begin(page: &Shared, granted: bool) {
    let screen = page.borrow().screen;
    let own = own_address();
    let Some(wanted) = travel::parameter("api") else {
        hold(&own, None);
        let places = candidates(&own.path).map(String::from);
        spawn_local(find(page.clone(), own, Vec::from(places), serves_trunk()));
        return;
    };
    let Some(api) = parse(&wanted) else {
        return refuse(page, &own, wanted, "this is no address");
    };
    let allowed = if granted { Some(api.origin()) } else { travel::kept_in_tab(ALLOWED) };
    match access(&api, &own, allowed.as_deref()) {
        Access::Granted => {
            if granted {
                travel::keep_in_tab(ALLOWED, &api.origin());
            }
            hold(&own, Some(&api));
            put(screen.question, None);
            let place = format!("{}{}/", api.origin(), api.path.trim_end_matches('/'));
            spawn_local(find(page.clone(), own, vec![place], false));
        }
        Access::Asked => put(screen.question, Some(api.origin())),
        Access::Refused(why) => refuse(page, &own, api.shown(), why),
    }
}

/// The user's answer. Without leave, the page begins anew with the API that it has of itself.
pub(super) fn answer(page: &Shared, allowed: bool) {
    if allowed { begin(page, true) } else { travel::leave_parameter("api") }
}

fn refuse(page: &Shared, own: &Address, address: String, why: &str) {
    hold(own, None);
    put(page.borrow().screen.splash, Some(Splash { tried: vec![(address, why.to_owned())] }));
}

/// How long an API that has not answered yet is waited for at most, in milliseconds.
const LONGEST: f64 = 30_000.0;

/// Looks for the API until it is found, and then watches.
async fn find(page: Shared, own: Address, places: Vec<String>, second: bool) {
    let began = clock::now();
    loop {
        // Behind a credential plugin the first answer may take a log-in.
        let patience = (clock::now() - began).clamp(f64::from(DEADLINE), LONGEST);
        match base::find(&places, second, patience as u32).await {
            Ok(found) => {
                discovery::begin(&page);
                let mut page = page.borrow_mut();
                put(page.screen.splash, None);
                let address = parse(&found.http).map(|api| label(&api, &own)).unwrap_or_default();
                put(page.screen.source, Source { cluster: named("cluster").unwrap_or_default(), address });
                page.catalog = Catalog::printed_by(found.release);
                page.base = Some(found);
                let route = page.route.clone();
                page.go(route);
                return;
            }
            Err(missing) => {
                let shown = |address: String| parse(&address).map_or(address, |address| address.shown());
                let tried = missing.tried.into_iter().map(|(address, words)| (shown(address), words)).collect();
                put(page.borrow().screen.splash, Some(Splash { tried }));
            }
        }
        let Moment { now, random } = clock::moment();
        TimeoutFuture::new(heartbeat::wait(now - began, random) as u32).await;
    }
}

/// Holds the page's connections to what it may ask: from now on the browser refuses every other. Scripts of others
/// cannot be here, for the built page's own policy refuses them; but what is never allowed can never be sent.
fn hold(own: &Address, api: Option<&Address>) {
    let Some(document) = document() else { return };
    let (Some(head), Ok(meta)) = (document.head(), document.create_element("meta")) else { return };
    let _ = meta.set_attribute("http-equiv", "Content-Security-Policy");
    let _ = meta.set_attribute("content", &policy(own, api));
    let _ = head.append_child(&meta);
}

/// An address in its parts, seen from the page.
fn parse(text: &str) -> Option<Address> {
    let url = web_sys::Url::new_with_base(text, &document()?.base_uri().ok()??).ok()?;
    Some(Address {
        scheme: url.protocol().trim_end_matches(':').to_owned(),
        name: url.hostname(),
        host: url.host(),
        path: url.pathname(),
        has_user: !url.username().is_empty() || !url.password().is_empty(),
    })
}

fn own_address() -> Address {
    parse("").unwrap_or_default()
}

/// Whether Trunk serves the page: it puts its base in the place of the words in braces.
fn serves_trunk() -> bool {
    named("trunk").is_some()
}

/// What the page's head says under this name. Words in braces, or none, are those that nobody has filled in.
fn named(name: &str) -> Option<String> {
    let meta = document()?.query_selector(&format!("meta[name={name}]")).ok()??;
    meta.get_attribute("content").filter(|content| !content.is_empty() && !content.starts_with("{{"))
}
