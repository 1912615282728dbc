//! Where objects are looked at: beside the feed, with their changes.

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::resource::ApiResource;

use crate::feed::net::Pair;
use crate::navigation::route::{ChosenVersion, Route, WhyPlace};
use crate::page::context::Context;
use crate::page::effect::Effect;
use kubechurn_columns::kinds::Kind;

/// The kind of a resource, as the server has it.
pub(super) fn kind_of(resource: ApiResource, cx: &Context<'_>) -> Option<&'static Kind> {
    cx.navigation.catalog.of_resource(&resource)
}

/// Where a change is looked at: beside the feed, among the changes of its object.
pub(super) fn of_change(sequence: Option<u64>, cx: &Context<'_>) -> String {
    let history = &cx.watching.history;
    let place = |sequence: u64| {
        let of = history.of_number(sequence)?;
        let resource_version = history.version_of_number(sequence)?.to_string();
        let place = beside(kind_of(of.resource, cx)?, &of.key, cx);
        Some(Route { change: Some(ChosenVersion { sequence, resource_version }), ..place }.fragment())
    };
    sequence.and_then(place).unwrap_or_default()
}

/// Where two versions of an object are looked at side by side; where there is one alone, that one.
pub(super) fn of_pair(Pair { old, new, .. }: Pair, cx: &Context<'_>) -> String {
    let history = &cx.watching.history;
    let chosen = |sequence: u64| {
        let resource_version = history.version_of_number(sequence)?.to_string();
        Some(ChosenVersion { sequence, resource_version })
    };
    let Some(of) = new.or(old).and_then(|sequence| history.of_number(sequence)) else { return String::new() };
    let Some(kind) = kind_of(of.resource, cx) else { return String::new() };
    let (old, new) = (old.and_then(chosen), new.and_then(chosen));
    let (change, against) = if new.is_some() { (new, old) } else { (old, None) };
    Route { change, against, ..beside(kind, &of.key, cx) }.fragment()
}

/// Where an object is looked at; empty where its kind is not known.
pub(super) fn of_object(resource: ApiResource, key: &ObjectKey, cx: &Context<'_>) -> String {
    kind_of(resource, cx).map(|kind| beside(kind, key, cx).fragment()).unwrap_or_default()
}

fn beside(kind: &Kind, key: &ObjectKey, cx: &Context<'_>) -> Route {
    let route = &cx.navigation.route;
    let there = if route.shows(kind.name) { route.clone() } else { route.visiting(kind.name) };
    Route { tab: String::from("changes"), ..there.selecting(Some((kind.name, key))) }
}

/// What the cluster of a resource is called, on a page that knows several; else nothing.
pub(super) fn cluster_of(resource: &ApiResource, cx: &Context<'_>) -> &'static str {
    match resource.cluster {
        _ if cx.navigation.catalog.clusters().is_empty() => "",
        "" => cx.navigation.home,
        cluster => cluster,
    }
}

/// Loads the page anew at another place.
pub(super) fn load_beside(fragment: &str, cx: &mut Context<'_>) {
    let url = cx.env.url();
    let page = url.split('#').next().unwrap_or_default();
    cx.effects.push(Effect::Load(format!("{page}{fragment}")));
}

/// Where the incident of an object is looked at.
pub(super) fn place_of(kind: &Kind, key: &ObjectKey, since: f64, cx: &Context<'_>) -> Route {
    let route = cx.navigation.route.what_changed();
    let mut route = Route { why: Some(WhyPlace::of(kind, key, since)), text: String::new(), ..route };
    if !route.shows(kind.name) && !route.pinned.iter().any(|name| name == kind.name) {
        route.pinned.push(kind.name.to_owned());
    }
    route
}
