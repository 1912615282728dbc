//! What holds an object back that is to go, and what uses an object: searched while the object is looked at.

use std::collections::BTreeMap;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::sort::sort_by;
use kubechurn_client::api::time::Timestamp;
use kubechurn_client::json;
use kubechurn_columns::kinds::Kind;
use rustc_hash::FxHashMap;

use crate::holds::finalizers::who_takes_off;
use crate::holds::search::{Search, Seen, is_used, selects, users_of};
use crate::inspector::deletion::{Deletion, deletion};
use crate::page::context::Context;
use crate::page::links::{of_change, of_object};
use crate::page::why::rollout::to_page;
use crate::timeline::mark::grouped;
use crate::view::ago;
use crate::view::holds::{HoldRow, HoldsModel};
use crate::why::references::{Taken, list, text};

/// How long a frame may search, in milliseconds.
const SHARE: f64 = 6.0;
/// How soon it is looked again at what came since, in milliseconds.
const AGAIN: f64 = 1_000.0;
/// How soon what was found is counted again, in milliseconds.
const PACE: f64 = 500.0;
/// How many rows are shown of each sort.
const MOST: usize = 8;
/// How many versions of an object are read for when its data changed last.
const VERSIONS: usize = 40;
/// A time of the server is in whole seconds: what is nearer than that is not told apart, in milliseconds.
const SECOND: f64 = 1_000.0;

/// What is searched for the object that is looked at.
#[derive(Debug, Default)]
pub(super) struct Holding {
    of: Option<(ApiResource, ObjectKey)>,
    search: Option<Search>,
    looked_at: f64,
    is_left: bool,
    /// When what is shown was made, in milliseconds, and that.
    shown: (f64, Option<HoldsModel>),
}

/// Whether anything is to be searched: the object is to go, others use it, a budget may keep it, or it is a node that is drained.
fn is_asked(resource: &ApiResource, own: &str) -> bool {
    is_used(resource) || resource.kind == "Pod" || is_deleting(own) || is_cordoned(resource, own)
}

fn is_cordoned(resource: &ApiResource, own: &str) -> bool {
    resource.kind == "Node" && json::value_at(own, &["spec", "unschedulable"]) == Some("true")
}

fn is_deleting(own: &str) -> bool {
    json::value_at(own, &["metadata", "deletionTimestamp"]).is_some_and(|value| value != "null")
}

impl Holding {
    /// Searches within a share of this frame's time. Returns whether something is left.
    pub(super) fn work(&mut self, of: Option<(&'static Kind, ObjectKey)>, cx: &Context<'_>) -> bool {
        let kind = of.as_ref().map(|(kind, _)| *kind);
        let of = of.map(|(kind, key)| (kind.resource, key));
        let history = &cx.watching.history;
        let received = cx.watching.moment.map_or(history.received(), |moment| moment.received);
        if of != self.of {
            *self =
                Holding { of, looked_at: f64::NEG_INFINITY, shown: (f64::NEG_INFINITY, None), ..Holding::default() };
        }
        let Some((resource, key)) = &self.of else { return false };
        let known = self.search.as_ref().map(Search::received);
        let rests = known.is_some_and(|known| known <= received) && cx.now - self.looked_at < AGAIN;
        if known != Some(received) && !rests {
            self.looked_at = cx.now;
            let kept = self.search.take().filter(|_| known.is_some_and(|known| known <= received));
            self.search = match kept {
                Some(mut search) => search.go_on_to(received, history).then_some(search),
                None => Search::begin(*resource, key, received, history),
            };
        }
        let was_left = self.is_left;
        match self.search.as_mut().filter(|search| is_asked(&search.resource, &search.own)) {
            Some(search) => {
                let (env, end) = (cx.env, cx.env.work_clock() + SHARE);
                self.is_left = search.work(history, || env.work_clock() < end);
            }
            None => self.is_left = false,
        }
        // What was found is counted seldom: it may be much.
        if cx.now - self.shown.0 >= PACE || (was_left && !self.is_left) {
            let model = match &self.search {
                Some(search) => made(search, self.is_left, cx),
                // Of another moment the object itself is said not to be kept.
                None => {
                    let is_now = cx.watching.moment.is_none();
                    kind.filter(|kind| is_now && is_used(resource) && cx.watching.has_listed(kind))
                        .map(|_| not_kept(cx))
                }
            };
            self.shown = (cx.now, model);
        }
        self.is_left
    }

    /// What is known of an object; `None` for another one, and where nothing is to be said.
    pub(super) fn model(&self, resource: ApiResource, key: &ObjectKey) -> Option<HoldsModel> {
        let of = self.of.as_ref()?;
        self.shown.1.clone().filter(|_| of.0 == resource && of.1 == *key)
    }
}

/// What is said of an object that others use, where its text is not kept.
fn not_kept(cx: &Context<'_>) -> HoldsModel {
    let why = match cx.watching.history.is_off() {
        true => "The recorder is off",
        false => "The recorder keeps no version of it",
    };
    let words = format!("{why}: who uses it, and what holds it back, is not known.");
    HoldsModel { unknown: vec![words], ..HoldsModel::default() }
}

fn made(search: &Search, is_searching: bool, cx: &Context<'_>) -> Option<HoldsModel> {
    let resource = search.resource;
    if !is_asked(&resource, &search.own) {
        return None;
    }
    let mut model = HoldsModel { is_searching, ..HoldsModel::default() };
    let value = is_deleting(&search.own).then(|| serde_json::from_str(&search.own).ok()).flatten();
    let deletion = value.as_ref().and_then(deletion);
    if let Some(deletion) = &deletion {
        add_deletion(&mut model, search, deletion, cx);
    }
    match resource.kind {
        "Pod" => add_budgets(&mut model, search, deletion.is_some(), cx),
        "Node" if is_cordoned(&resource, &search.own) => add_drain(&mut model, search, cx),
        _ => {}
    }
    if is_used(&resource) {
        add_users(&mut model, search, deletion.is_some(), cx);
    }
    if !search.unread.is_empty() && !(model.held.is_empty() && model.users.is_empty()) {
        let count = grouped(search.unread.len() as u64);
        model.unknown.push(format!("Of {count} objects no version is kept: they are not looked at."));
    }
    let is_empty = model.asked.is_empty() && model.held.is_empty() && model.used.is_empty();
    (!is_empty).then_some(model)
}

/// The place of what was found: a rank, whether it is a Pod, and the number of the object.
type Rank = (u8, bool, u32);

/// The objects that were found and have a rank, those of the lowest first: the first of them, and how many there are.
fn found(
    search: &Search,
    rank: &dyn Fn(&Seen) -> Option<u8>,
    cx: &Context<'_>,
) -> (Vec<(ApiResource, ObjectKey, Seen)>, usize) {
    let history = &cx.watching.history;
    let mut all: Vec<(Rank, &Seen)> = Vec::new();
    let mut count = 0;
    for (life, seen) in &search.found {
        let Some(rank) = rank(seen) else { continue };
        count += 1;
        let own = (rank, seen.is_pod, *life);
        let place = all.partition_point(|(other, _)| *other < own);
        if place < MOST {
            all.insert(place, (own, seen));
            all.truncate(MOST);
        }
    }
    let named = |((_, _, life), seen): (Rank, &Seen)| {
        let life = history.life(life)?;
        Some((history.resource_of(life)?, life.key.clone(), seen.clone()))
    };
    (all.into_iter().filter_map(named).collect(), count)
}

fn row((resource, key, _): &(ApiResource, ObjectKey, Seen), words: String, cx: &Context<'_>) -> HoldRow {
    HoldRow { name: format!("{} {}", resource.kind, key), href: of_object(*resource, key, cx), words, tone: "" }
}

fn more(count: usize, shown: usize, what: &str) -> Option<HoldRow> {
    let more = count.saturating_sub(shown);
    (more > 0).then(|| HoldRow { words: format!("and {} more {what}", grouped(more as u64)), ..HoldRow::default() })
}

/// Whether objects of a kind are watched, or were at the moment that is shown.
fn is_watched(name: &str, cluster: &str, cx: &Context<'_>) -> bool {
    let history = &cx.watching.history;
    let is_it = |kind: &&'static Kind| kind.resource.kind == name && kind.resource.cluster == cluster;
    let found = cx.navigation.catalog.kinds().find(is_it);
    let moment = history.moment(cx.shown_at());
    found.is_some_and(|kind| !history.coverage.known(kind.resource, moment).is_nothing())
}

fn add_deletion(model: &mut HoldsModel, search: &Search, deletion: &Deletion, cx: &Context<'_>) {
    let asked = deletion.asked.0 as f64 * SECOND + to_page(search.resource.cluster, cx);
    let grace =
        Some(deletion.grace()).filter(|words| !words.is_empty()).map_or(String::new(), |words| format!(", {words}"));
    model.asked = format!(
        "Its deletion was asked for at {}, {} ago{grace}.",
        cx.words().date_and_second(asked),
        crate::view::seconds((cx.shown_at() - asked).max(0.0))
    );
    let all = json::value_at(&search.own, &["metadata", "finalizers"]).and_then(json::items);
    let of_spec = json::value_at(&search.own, &["spec", "finalizers"]).and_then(json::items);
    let count = all.into_iter().flatten().count() + of_spec.into_iter().flatten().count();
    for name in deletion.finalizers.iter().take(MOST) {
        let mut row = HoldRow { tone: "wait", ..HoldRow::default() };
        let who = match who_takes_off(name) {
            Some(words) => words.to_owned(),
            None => {
                let seen =
                    |is_off: bool| search.handled.iter().find(|one| one.finalizer == *name && one.is_off == is_off);
                match (seen(true), seen(false)) {
                    (Some(one), _) => {
                        row.href = of_change(Some(one.seq), cx);
                        format!("{} took it off another object: it seems to wait for that (inferred)", one.manager)
                    }
                    (None, Some(one)) => {
                        row.href = of_change(Some(one.seq), cx);
                        format!("{} added it, and usually who adds one takes it off (inferred)", one.manager)
                    }
                    (None, None) => String::from("who takes it off is not known"),
                }
            }
        };
        row.name = format!("Finalizer {name}");
        row.words = who;
        model.held.push(row);
    }
    model.held.extend(more(count, deletion.finalizers.len().min(MOST), "finalizers"));
    let waits_for = |name: &str| deletion.finalizers.iter().any(|one| one.starts_with(name));
    if waits_for("foregroundDeletion") {
        let (objects, count) = found(search, &|seen| seen.blocks.then_some(0), cx);
        model.held.extend(objects.iter().map(|one| row(one, String::from("is still there, and blocks it"), cx)));
        model.held.extend(more(count, objects.len(), "that block it"));
        if count == 0 && !model.is_searching {
            let words = "Of what is watched nothing is left that it owns and that blocks it.";
            model.unknown.push(String::from(words));
        }
    }
    if waits_for("external-attacher/") {
        let (objects, _) = found(search, &|seen| seen.attached.as_ref().map(|_| 0), cx);
        for one in &objects {
            let node = one.2.attached.as_deref().unwrap_or_default();
            model.held.push(row(one, format!("attaches it to the node {node}"), cx));
        }
        if !is_watched("VolumeAttachment", search.resource.cluster, cx) {
            let words = "VolumeAttachments are not watched: whether it is attached is not known.";
            model.unknown.push(String::from(words));
        }
    }
    if search.resource.kind == "Namespace" {
        add_namespace(model, search, cx);
    }
}

/// How many objects of a kind are left, and the first of them.
type Left = (usize, Option<(ApiResource, ObjectKey)>);

/// What is left in a namespace that does not go, in the words of its conditions, and as far as it is watched.
fn add_namespace(model: &mut HoldsModel, search: &Search, cx: &Context<'_>) {
    let status = json::member(&search.own, "status").unwrap_or("{}");
    for one in list(status, "conditions").into_iter().take(MOST) {
        let name = text(one, &["type"]).unwrap_or_default();
        if text(one, &["status"]).as_deref() == Some("True") {
            let message = text(one, &["message"]).unwrap_or_default();
            let words = message.chars().take(400).collect();
            model.held.push(HoldRow { name: name.into_owned(), words, tone: "wait", ..HoldRow::default() });
        }
    }
    let history = &cx.watching.history;
    let mut kinds: BTreeMap<&'static str, Left> = BTreeMap::new();
    for number in search.found.keys() {
        let Some(life) = history.life(*number) else { continue };
        let Some(resource) = history.resource_of(life) else { continue };
        let entry = kinds.entry(resource.kind).or_default();
        entry.0 += 1;
        if entry.1.as_ref().is_none_or(|(_, key)| life.key < *key) {
            entry.1 = Some((resource, life.key.clone()));
        }
    }
    let count = kinds.len();
    for (kind, (count, first)) in kinds.into_iter().take(2 * MOST) {
        let Some((resource, key)) = first else { continue };
        let words = match count {
            1 => String::from("is left"),
            _ => format!("and {} more of kind {kind} are left", grouped(count as u64 - 1)),
        };
        let href = of_object(resource, &key, cx);
        model.held.push(HoldRow { name: format!("{kind} {}", key.name), href, words, tone: "" });
    }
    model.held.extend(more(count, 2 * MOST, "kinds"));
    model
        .unknown
        .push(String::from("Kinds that are not watched may have objects left, too: they are not listed here."));
}

/// What a budget refuses that has so many healthy Pods, and must have so many.
fn refusal(pods: &str, (healthy, wanted): (i64, i64)) -> String {
    let are = if healthy == 1 { "Pod is" } else { "Pods are" };
    format!("refuses to evict {pods} now: {healthy} {are} healthy, and {wanted} must be")
}

fn add_unwatched_budgets(model: &mut HoldsModel, search: &Search, cx: &Context<'_>) {
    if !is_watched("PodDisruptionBudget", search.resource.cluster, cx) {
        model.unknown.push(String::from("PodDisruptionBudgets are not watched: whether one refuses is not known."));
    }
}

/// Budgets that refuse to evict a Pod now.
fn add_budgets(model: &mut HoldsModel, search: &Search, is_deleting: bool, cx: &Context<'_>) {
    let (budgets, _) = found(search, &|seen| seen.refuses.map(|_| 0), cx);
    for one in &budgets {
        let words = refusal("it", one.2.refuses.unwrap_or_default());
        model.held.push(HoldRow { tone: "wait", ..row(one, words, cx) });
    }
    if is_deleting {
        add_unwatched_budgets(model, search, cx);
    }
}

/// What is left of a node that takes no new Pods, and the budgets that refuse to evict it.
fn add_drain(model: &mut HoldsModel, search: &Search, cx: &Context<'_>) {
    let (cluster, history) = (search.resource.cluster, &cx.watching.history);
    let of = |wanted: bool| search.found.values().filter(move |seen| seen.drained == Some(wanted)).count();
    let (left, staying) = (of(true), of(false));
    if !model.asked.is_empty() {
        model.asked.push(' ');
    }
    model.asked += "It takes no new Pods. ";
    model.asked += &match (left, model.is_searching) {
        _ if !is_watched("Pod", cluster, cx) => {
            String::from("Pods are not watched: which ones are on it is not known.")
        }
        (0, true) => String::from("Its Pods are being searched …"),
        (0, false) => String::from("No Pod that a drain takes is left on it."),
        (1, _) => String::from("1 Pod that a drain takes is on it."),
        (left, _) => format!("{} Pods that a drain takes are on it.", grouped(left as u64)),
    };
    if staying > 0 {
        let words = number(
            staying,
            "Pod of a DaemonSet or of the node itself stays",
            "Pods of DaemonSets or of the node itself stay",
        );
        model.asked += &format!(" {words}.");
    }
    let mut pods: FxHashMap<&str, Vec<(&ObjectKey, &str)>> = FxHashMap::default();
    let mut budgets = Vec::new();
    for (life, seen) in &search.found {
        let Some(life) = history.life(*life) else { continue };
        match (seen.drained, seen.refuses) {
            (Some(true), _) => pods.entry(&life.key.namespace).or_default().push((&life.key, &seen.text)),
            (_, Some(refuses)) => budgets.push((life, &seen.text, refuses)),
            _ => {}
        }
    }
    sort_by(&mut budgets, |one, other| one.0.key.cmp(&other.0.key));
    let held = budgets.iter().filter_map(|(life, budget, refuses)| {
        let resource = history.resource_of(life)?;
        let pods = pods.get(&*life.key.namespace)?.iter().filter(|(_, labels)| selects(budget, labels));
        let (count, first) = (pods.clone().count(), pods.map(|(key, _)| key).min()?);
        let more = if count > 1 { format!(" and {} more", grouped(count as u64 - 1)) } else { String::new() };
        Some(HoldRow {
            name: format!("{} {}", resource.kind, life.key),
            href: of_object(resource, &life.key, cx),
            words: refusal(&format!("{}{more}", first.name), *refuses),
            tone: "wait",
        })
    });
    let held: Vec<HoldRow> = held.collect();
    let count = held.len();
    model.held.extend(held.into_iter().take(MOST));
    model.held.extend(more(count, count.min(MOST), "budgets that refuse"));
    if left > 0 {
        add_unwatched_budgets(model, search, cx);
    }
}

/// When the data of an object changed last, in milliseconds, or since when it is known not to have.
enum LastChange {
    At(f64),
    NotSince(f64),
}

fn last_change(search: &Search, cx: &Context<'_>) -> Option<LastChange> {
    let history = &cx.watching.history;
    let versions = history.of(&search.resource, &search.key);
    let mut newer: Option<(f64, Vec<Option<String>>)> = None;
    let known = versions.iter().rev().filter(|entry| entry.sequence < search.received() && entry.has_text);
    for entry in known.take(VERSIONS) {
        let object = history.text(entry.sequence)?;
        let data = ["data", "binaryData"].map(|name| json::member(&object, name).map(str::to_owned)).to_vec();
        if let Some((at, later)) = &newer
            && *later != data
        {
            return Some(LastChange::At(*at));
        }
        newer = Some((entry.at, data));
    }
    newer.map(|(at, _)| LastChange::NotSince(at))
}

/// How many objects refer to the one that is looked at.
#[derive(Default)]
struct Counts {
    /// Pods, and all others.
    pods: usize,
    others: usize,
    /// The Pods that read its data when a container starts; of these those with the old data, and those of which it is not known.
    at_start: usize,
    old: usize,
    not_known: usize,
    /// The Pods that have it as files.
    as_files: usize,
}

fn number(count: usize, one: &str, several: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{} {several}", grouped(count as u64)) }
}

fn add_users(model: &mut HoldsModel, search: &Search, is_deleting: bool, cx: &Context<'_>) {
    let to_page = to_page(search.resource.cluster, cx);
    let has_data = matches!(search.resource.kind, "ConfigMap" | "Secret");
    let change = has_data.then(|| last_change(search, cx)).flatten();
    // Whether a Pod's containers began before the last change, as far as that is known.
    let is_old = |started: Option<Timestamp>| match (&change, started) {
        (Some(LastChange::At(at)), Some(started)) => {
            let started = started.0 as f64 * SECOND + to_page;
            match () {
                () if started + SECOND <= *at => Some(true),
                () if started >= *at => Some(false),
                () => None,
            }
        }
        _ => None,
    };
    let mut counts = Counts::default();
    for seen in search.found.values() {
        match seen.uses {
            None => {}
            Some(_) if !seen.is_pod => counts.others += 1,
            Some((taken, started)) => {
                counts.pods += 1;
                counts.as_files += usize::from(taken == Taken::Renewed);
                if taken == Taken::AtStart {
                    let is_old = is_old(started);
                    counts.at_start += 1;
                    counts.old += usize::from(is_old == Some(true));
                    counts.not_known += usize::from(is_old.is_none());
                }
            }
        }
    }
    model.used = used(search, &counts, model.is_searching);
    if let Some(change) = &change {
        model.used += &of_data(change, &counts, cx);
    }
    // Those with the old data come first.
    let rank = |seen: &Seen| {
        seen.uses.map(|(taken, started)| match is_old(started) {
            Some(true) if taken == Taken::AtStart => 0,
            None if taken == Taken::AtStart && started.is_some() => 1,
            _ => 2,
        })
    };
    let (objects, count) = found(search, &rank, cx);
    for one in &objects {
        let Some((taken, started)) = one.2.uses else { continue };
        let (words, tone) = match (taken, is_old(started)) {
            _ if is_deleting && one.2.is_pod && search.resource.kind == "PersistentVolumeClaim" => {
                ("still uses the claim, which therefore does not go", "wait")
            }
            (Taken::AtStart, Some(true)) => ("runs with the old data", "wait"),
            (Taken::AtStart, Some(false)) => ("started after the last change", ""),
            (Taken::AtStart, None) => ("takes it when a container starts", ""),
            (Taken::Renewed, _) => ("has it as files, which are renewed", ""),
            (Taken::Named, _) => ("names it", ""),
        };
        model.users.push(HoldRow { tone, ..row(one, words.into(), cx) });
    }
    model.users.extend(more(count, objects.len(), "that refer to it"));
    let unwatched: Vec<&str> =
        users_of(&search.resource).filter(|kind| !is_watched(kind, search.resource.cluster, cx)).collect();
    if !unwatched.is_empty() {
        model.unknown.push(format!("Not watched, so not looked at: {}.", unwatched.join(", ")));
    }
}

/// How many objects refer to it, in a sentence.
fn used(search: &Search, counts: &Counts, is_searching: bool) -> String {
    let others = match search.resource.kind {
        "StorageClass" => number(counts.others, "claim or workload", "claims and workloads"),
        _ => number(counts.others, "workload", "workloads"),
    };
    match (counts.others, counts.pods) {
        (0, 0) if is_searching => String::from("Being searched …"),
        (0, 0) => String::from("Of what is watched nothing refers to it."),
        (1, 0) => format!("{others} refers to it."),
        (_, 0) => format!("{others} refer to it."),
        (0, 1) => String::from("1 Pod refers to it."),
        (0, pods) => format!("{} Pods refer to it.", grouped(pods as u64)),
        (_, pods) => format!("{others} and {} refer to it.", number(pods, "Pod", "Pods")),
    }
}

/// When its data changed last, and with which data the Pods run, in sentences.
fn of_data(change: &LastChange, counts: &Counts, cx: &Context<'_>) -> String {
    let mut words = match change {
        LastChange::At(at) if counts.at_start > 0 => format!(
            " Its data changed at {}, {}: {} of {} still {} with the old data, until their containers start anew.",
            cx.words().to_second(*at),
            ago(cx.shown_at() - at),
            counts.old,
            number(
                counts.at_start,
                "Pod that takes it when a container starts",
                "Pods that take it when a container starts"
            ),
            if counts.old == 1 { "runs" } else { "run" }
        ),
        LastChange::At(at) => format!(" Its data changed at {}.", cx.words().to_second(*at)),
        LastChange::NotSince(at) => {
            format!(" Its data has not changed since {}, as far as its versions are kept.", cx.words().to_second(*at))
        }
    };
    if matches!(change, LastChange::At(_)) && counts.not_known > 0 {
        words += &format!(" Of {} it is not known.", number(counts.not_known, "Pod", "Pods"));
    }
    if counts.as_files > 0 {
        words += &format!(
            " {} it as files, which the kubelet renews within about a minute: whether the program reads them again is not known.",
            number(counts.as_files, "Pod has", "Pods have")
        );
    }
    words
}
