//! The palette: finds every place, object and command by a few letters of its name.

pub mod objects;

use std::ops::Range;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::sort::sort_by_key;

use crate::navigation::catalog::Catalog;
use crate::navigation::clusters::ClusterPage;
use crate::navigation::route::{Route, joined};
use crate::page::command::{Command, OFFERS};
use crate::page::keys::cap;
use crate::page::palette::objects::FoundObject;
use crate::table::schema::TableSchema;
use kubechurn_columns::kinds::Kind;

/// How many entries are shown at most: enough for all kinds of most clusters, and not too many for a page.
const SHOWN: usize = 400;

/// The headings. Entries that match equally well stand in the order of the headings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// An object that was looked at.
    Recent,
    /// A kind.
    Kind,
    /// A namespace.
    Namespace,
    /// An object.
    Object,
    /// A cluster.
    Cluster,
    /// A command.
    Action,
}

impl Group {
    /// The word beside an entry.
    pub fn word(self) -> &'static str {
        match self {
            Group::Recent => "recent",
            Group::Kind => "kind",
            Group::Namespace => "namespace",
            Group::Object => "object",
            Group::Cluster => "cluster",
            Group::Action => "action",
        }
    }
}

/// A place to go to or a command.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The heading that the entry belongs to.
    pub group: Group,
    /// Its name.
    pub title: String,
    /// More about it: short names, a key.
    pub detail: String,
    /// Other names of the entry.
    names: Vec<String>,
    /// What it does.
    pub command: Command,
}

/// An entry that was found, and which bytes of its title match.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundEntry {
    /// The entry.
    pub entry: Entry,
    /// Ranges of bytes, in order and without overlap.
    pub marks: Vec<Range<usize>>,
}

impl FoundEntry {
    /// The title in pieces, each with whether it matches.
    pub fn pieces(&self) -> Vec<(bool, String)> {
        let title = &self.entry.title;
        let (mut pieces, mut at) = (Vec::new(), 0);
        for mark in &self.marks {
            pieces.push((false, title.get(at..mark.start).unwrap_or_default().to_owned()));
            pieces.push((true, title.get(mark.clone()).unwrap_or_default().to_owned()));
            at = mark.end;
        }
        pieces.push((false, title.get(at..).unwrap_or_default().to_owned()));
        pieces.retain(|(_, text)| !text.is_empty());
        pieces
    }
}

/// What the palette searches.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// Where the user is.
    pub route: &'a Route,
    /// The kinds that the server has.
    pub catalog: &'a Catalog,
    /// The namespaces that are known.
    pub namespaces: &'a [String],
    /// The objects that were looked at, newest first.
    pub recent: &'a [(&'static str, ObjectKey)],
    /// The objects that were found, the best first.
    pub objects: &'a [FoundObject],
    /// The clusters to choose from.
    pub clusters: &'a [ClusterPage],
    /// The recordings beside the page, each with its title and the fragment that opens it.
    pub recordings: &'a [(String, String)],
}

impl Known<'_> {
    /// The entries that match the query, the best first. `pods shop` is a kind in a namespace, as in k9s.
    pub fn find(&self, query: &str) -> Vec<FoundEntry> {
        let query = query.trim().trim_start_matches(':').trim_start().to_lowercase();
        let words: Vec<&str> = query.split_whitespace().collect();
        let mut scored: Vec<(u32, FoundEntry)> = self
            .entries()
            .into_iter()
            .filter_map(|entry| {
                let (score, marks) = score(&entry, &words)?;
                Some((score, FoundEntry { entry, marks }))
            })
            .chain(self.objects.iter().filter_map(|object| self.object(object, &words)))
            .collect();
        if let Some((score, namespace)) = self.namespace_named(&words) {
            scored.push((score, FoundEntry { entry: self.everything_in(namespace), marks: Vec::new() }));
        }
        // Sorting is stable: entries with the same score stay in the order of the groups.
        sort_by_key(&mut scored, |(score, _)| std::cmp::Reverse(*score));
        let in_place =
            self.several(&words).or_else(|| self.kind_in_namespace(&words)).or_else(|| self.everything_asked(&words));
        let in_place = in_place.map(|entry| FoundEntry { entry, marks: Vec::new() });
        in_place.into_iter().chain(scored.into_iter().map(|(_, found)| found)).take(SHOWN).collect()
    }

    fn entries(&self) -> Vec<Entry> {
        let recent = self.recent.iter().filter_map(|(kind, key)| {
            let kind = self.catalog.find(kind)?;
            Some(Entry {
                group: Group::Recent,
                title: key.to_string(),
                detail: kind.resource.kind.to_owned(),
                names: Vec::new(),
                command: Command::Visit(kind.name, key.clone()),
            })
        });
        let kinds = self.catalog.kinds().map(|kind| self.kind(kind));
        let namespaces = self.namespaces.iter().map(|namespace| Entry {
            group: Group::Namespace,
            title: namespace.clone(),
            detail: if self.route.namespaces == [namespace.as_str()] { String::from("chosen") } else { String::new() },
            names: Vec::new(),
            command: Command::Go(Box::new(Route { namespaces: vec![namespace.clone()], ..self.route.clone() })),
        });
        let chosen = self.route.namespaces.first().filter(|_| self.route.namespaces.len() == 1);
        let everything = chosen.map(|namespace| self.everything_in(namespace));
        let all = Entry {
            group: Group::Namespace,
            title: String::from("all namespaces"),
            detail: if self.route.namespaces.is_empty() { String::from("chosen") } else { String::new() },
            names: Vec::new(),
            command: Command::Go(Box::new(Route { namespaces: Vec::new(), ..self.route.clone() })),
        };
        let clusters = self.clusters.iter().map(|cluster| Entry {
            group: Group::Cluster,
            title: cluster.name.clone(),
            detail: String::new(),
            names: vec![String::from("cluster")],
            command: Command::Cluster(cluster.page.clone()),
        });
        let beside = self.clusters.iter().filter(|cluster| cluster.api.is_some()).map(|cluster| {
            let is_beside = self.route.clusters.contains(&cluster.name);
            Entry {
                group: Group::Cluster,
                title: format!(
                    "{} {}",
                    cluster.name,
                    if is_beside { "no longer beside this one" } else { "beside this one" }
                ),
                detail: String::new(),
                names: vec![String::from("cluster")],
                command: Command::Go(Box::new(self.route.beside(&cluster.name))),
            }
        });
        let commands = OFFERS.iter().filter(|offer| offer.is_in_palette).map(|offer| Entry {
            group: Group::Action,
            title: offer.title.to_owned(),
            detail: offer.keys.iter().map(|key| cap(key)).collect::<Vec<_>>().join("  "),
            names: offer.names.iter().map(|name| name.to_string()).collect(),
            command: offer.command.clone(),
        });
        let recordings = self.recordings.iter().map(|(title, fragment)| Entry {
            group: Group::Action,
            title: title.clone(),
            detail: String::from("recording"),
            names: ["open", "recording", "earlier"].map(String::from).to_vec(),
            command: Command::OpenBeside(fragment.clone()),
        });
        let mut entries: Vec<Entry> = recent.collect();
        entries.extend(kinds);
        entries.push(all);
        entries.extend(namespaces);
        entries.extend(everything);
        entries.extend(clusters);
        entries.extend(beside);
        entries.extend(recordings);
        entries.extend(commands);
        entries
    }

    /// An object that was found, unless it is one of those that were looked at.
    fn object(&self, found: &FoundObject, words: &[&str]) -> Option<(u32, FoundEntry)> {
        let FoundObject { kind, key, is_gone, score: own } = found;
        if self.recent.iter().any(|(recent, other)| recent == &kind.name && other == key) {
            return None;
        }
        let entry = Entry {
            group: Group::Object,
            title: key.to_string(),
            detail: format!("{}{}", kind.resource.kind, if *is_gone { ", deleted" } else { "" }),
            names: vec![kind.resource.kind.to_owned()],
            command: Command::Visit(kind.name, key.clone()),
        };
        let marks = score(&entry, words).map(|(_, marks)| marks).unwrap_or_default();
        Some((*own, FoundEntry { entry, marks }))
    }

    /// All kinds of a namespace, which need not be known: `all shop`.
    fn everything_asked(&self, words: &[&str]) -> Option<Entry> {
        let ["all" | "everything", namespace] = words else { return None };
        Some(self.everything_in(namespace))
    }

    /// The namespace that is looked for alone or after a kind, and how well all of its kinds match then.
    fn namespace_named<'w>(&self, words: &[&'w str]) -> Option<(u32, &'w str)> {
        match words {
            [namespace] if self.namespaces.iter().any(|known| known == namespace) => Some((950, namespace)),
            [_, "-a" | "all" | "*"] => None,
            [_, namespace] if self.kind_in_namespace(words).is_some() => Some((u32::MAX, namespace)),
            _ => None,
        }
    }

    fn everything_in(&self, namespace: &str) -> Entry {
        let route = self.route.everything_in(namespace, self.catalog);
        Entry {
            group: Group::Namespace,
            title: format!("Everything in {namespace}"),
            detail: format!("{} kinds", route.kinds(self.catalog).len()),
            names: Vec::new(),
            command: Command::Go(Box::new(route)),
        }
    }

    fn kind(&self, kind: &'static Kind) -> Entry {
        let short = kind.short_names.iter().filter(|name| !kind.resource.kind.eq_ignore_ascii_case(name));
        let mut names: Vec<String> = short.map(|name| name.to_string()).collect();
        let detail = match kind.resource.group {
            "" => names.join("  "),
            group => names.iter().map(String::as_str).chain([group]).collect::<Vec<_>>().join("  "),
        };
        names.extend([kind.resource.plural, kind.resource.kind, kind.name].map(str::to_lowercase));
        names.push(format!("{}.{}", kind.resource.kind.to_lowercase(), kind.resource.group));
        let command = Command::Go(Box::new(self.route.showing(kind.name)));
        Entry { group: Group::Kind, title: kind.title.to_owned(), detail, names, command }
    }

    /// Several kinds with commas between, and perhaps a namespace. The entry also shows which words match no kind.
    fn several(&self, words: &[&str]) -> Option<Entry> {
        let (kinds, place) = match words {
            [kinds] => (kinds, None),
            [kinds, place] => (kinds, Some(*place)),
            _ => return None,
        };
        let asked = Route { resource: (*kinds).to_owned(), ..Route::default() };
        let asked = Route::parse(&asked.fragment()).resolved(self.catalog);
        let schema = TableSchema::of(&asked.kinds(self.catalog));
        if !kinds.contains(',') || schema.kinds().is_empty() {
            return None;
        }
        let route = self.route.showing(&asked.resource);
        let (title, namespaces) = match place.filter(|_| schema.is_namespaced()) {
            None => (schema.title(), route.namespaces.clone()),
            Some("-a" | "all" | "*") => (format!("{} in all namespaces", schema.title()), Vec::new()),
            Some(place) => (format!("{} in {place}", schema.title()), vec![place.to_owned()]),
        };
        Some(Entry {
            group: Group::Kind,
            title,
            detail: joined(&asked.left_out(self.catalog)),
            names: Vec::new(),
            command: Command::Go(Box::new(Route { namespaces, ..route })),
        })
    }

    /// A kind by any name that kubectl understands, and after the kind a namespace, which need not be known.
    fn kind_in_namespace(&self, words: &[&str]) -> Option<Entry> {
        let [kind, namespace] = words else { return None };
        let kind = self.catalog.find(kind).filter(|kind| kind.resource.namespaced)?;
        let is_all = ["-a", "all", "*"].contains(namespace);
        let namespaces = if is_all { Vec::new() } else { vec![(*namespace).to_owned()] };
        let place = if is_all { String::from("all namespaces") } else { (*namespace).to_owned() };
        Some(Entry {
            group: Group::Kind,
            title: format!("{} in {place}", kind.title),
            detail: String::new(),
            names: Vec::new(),
            command: Command::Go(Box::new(Route { namespaces, ..self.route.showing(kind.name) })),
        })
    }
}

/// How well an entry matches all words, and where the words are in its title.
fn score(entry: &Entry, words: &[&str]) -> Option<(u32, Vec<Range<usize>>)> {
    let mut sum = 0;
    let mut marks: Vec<Range<usize>> = Vec::new();
    for word in words {
        let in_title = match_word(&entry.title, word);
        let in_names = entry.names.iter().filter_map(|name| match_word(name, word)).map(|(score, _)| score).max();
        let in_group = entry.group.word().starts_with(word).then_some(50);
        let best = in_title.as_ref().map(|(score, _)| *score).max(in_names).max(in_group)?;
        sum += best;
        marks.extend(in_title.into_iter().flat_map(|(_, marks)| marks));
    }
    sort_by_key(&mut marks, |mark| (mark.start, mark.end));
    let mut apart: Vec<Range<usize>> = Vec::new();
    for mark in marks {
        match apart.last_mut().filter(|last| last.end >= mark.start) {
            Some(last) => last.end = last.end.max(mark.end),
            None => apart.push(mark),
        }
    }
    Some((sum, apart))
}

/// How well a text matches a word in lower case. From best to worst: the whole text, its beginning, the beginning of a
/// word in it, any part of it, its letters with others between them. Of two texts, the shorter one is the better match.
fn match_word(text: &str, word: &str) -> Option<(u32, Vec<Range<usize>>)> {
    // Only ASCII is lowered, because that keeps every byte in its place: marks stay right.
    let lower = text.to_ascii_lowercase();
    let length = (text.len().min(200) / 4) as u32;
    if lower == word {
        return Some((1_000, std::iter::once(0..text.len()).collect()));
    }
    let mut best: Option<(u32, usize)> = None;
    for (at, _) in lower.match_indices(word) {
        let before = lower.get(..at).and_then(|before| before.chars().next_back());
        let score = match before {
            None => 800,
            Some(before) if !before.is_alphanumeric() => 600,
            // An upper-case letter begins a word too, as in `ReplicaSets`.
            Some(_)
                if text.get(at..).is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_uppercase())) =>
            {
                550
            }
            Some(_) => 400,
        };
        if best.is_none_or(|(most, _)| score > most) {
            best = Some((score, at));
        }
    }
    if let Some((score, at)) = best {
        return Some((score - length, std::iter::once(at..at + word.len()).collect()));
    }
    // The name of a group has letters enough for nearly every word.
    if lower.contains('.') {
        return None;
    }
    let mut marks: Vec<Range<usize>> = Vec::new();
    let mut rest = lower.char_indices();
    for letter in word.chars() {
        let (at, found) = rest.find(|(_, other)| *other == letter)?;
        marks.push(at..at + found.len_utf8());
    }
    // Letters that are far apart are found in nearly every text, and are no match.
    let spread = marks.last()?.end - marks.first()?.start;
    (spread <= 2 * word.len() + 1).then(|| (200 - length - (spread as u32).min(100), marks))
}

#[cfg(test)]
mod tests;
