//! What is offered while the user types a filter: the words that it knows here, and after a word's colon the values that are
//! known from what is watched. Nothing of it is done while the field has no focus.

use rustc_hash::FxHashMap;

use kubechurn_changes::feed::Feed as Rows;
use kubechurn_changes::filter::grammar::{Part, is_same_title};
use kubechurn_changes::line::Line;
use kubechurn_client::api::sort::sort_by_key;
use kubechurn_columns::state::write_state;

use crate::page::command::CompletionCommand;
use crate::page::context::Context;
use crate::table::filter::searched;
use crate::view::{CompletionItem, CompletionModel};

/// How many are offered at most.
const MOST: usize = 12;
/// So many rows, or changes, are asked for the values that they have.
const ASKED: usize = 4_096;
/// A longer value is none that is typed.
const LONGEST: usize = 63;

/// The words that are offered in every view, in a table alone or in the feed alone, and what each is about.
const WORDS: [(&str, &str); 7] = [
    ("kind", "the kind"),
    ("ns", "the namespace"),
    ("name", "the name"),
    ("status", "a state, or failing"),
    ("owner", "an owner's kind and name"),
    ("cluster", "the cluster"),
    ("namespace", "the namespace"),
];
const CHANGE_WORDS: [(&str, &str); 4] = [
    ("path", "a field that changed"),
    ("by", "who wrote it"),
    ("type", "what happened, or Warning"),
    ("reason", "an Event's reason"),
];

/// What the types of changes are called.
const TYPES: [&str; 4] = ["Added", "Updated", "Deleted", "Warning"];

/// What is offered, and what of it is chosen.
#[derive(Debug, Default)]
pub(super) struct Completion {
    items: Vec<CompletionItem>,
    at: Option<usize>,
}

impl Completion {
    /// Carries out a command. Returns the filter that it makes, if it makes one.
    pub(super) fn handle(&mut self, command: CompletionCommand, rows: &Rows, cx: &mut Context<'_>) -> Option<String> {
        let count = self.items.len();
        let mut filter = None;
        match command {
            CompletionCommand::Offer => *self = Completion { items: offered(rows, cx), at: None },
            CompletionCommand::Hide => *self = Completion::default(),
            // From the field to the first or the last one, and back to the field at the end.
            CompletionCommand::Step(by) => {
                let places = count as isize + 1;
                let place = self.at.map_or(0, |at| at as isize + 1) + by;
                self.at = usize::try_from(place.rem_euclid(places) - 1).ok();
            }
            CompletionCommand::Take(place) => {
                let item = self.items.get(place.or(self.at).unwrap_or(0))?;
                let text = &cx.navigation.route.text;
                let before = text.len() - last_word(text).len();
                // What ends with a colon goes on with a value.
                let end = if item.text.ends_with(':') { "" } else { " " };
                filter = Some(format!("{}{}{end}", text.get(..before).unwrap_or_default(), item.text));
            }
        }
        let model = CompletionModel { items: self.items.clone(), at: self.at };
        cx.view.header.completion.put(Some(model).filter(|model| !model.items.is_empty()));
        filter
    }
}

/// The word that is being typed.
fn last_word(text: &str) -> &str {
    text.rsplit(char::is_whitespace).next().unwrap_or_default()
}

/// What is offered for the word that is being typed.
fn offered(rows: &Rows, cx: &Context<'_>) -> Vec<CompletionItem> {
    let word = last_word(&cx.navigation.route.text);
    let (excludes, rest) = if let Some(rest) = word.strip_prefix('!') { ("!", rest) } else { ("", word) };
    if rest.is_empty() || rest.starts_with('/') {
        return Vec::new();
    }
    let Some((title, value)) = rest.split_once(':') else {
        let is_begun = |title: &str| title.get(..rest.len()).is_some_and(|first| is_same_title(first, rest));
        let known = words(cx).into_iter().filter(|(title, _)| is_begun(title));
        let item = |(title, detail): (String, &'static str)| CompletionItem {
            text: format!("{excludes}{title}:"),
            detail: String::from(detail),
        };
        return known.map(item).take(MOST).collect();
    };
    let (not, value) = if let Some(value) = value.strip_prefix('!') { ("!", value) } else { ("", value) };
    let Some(part) = part_here(title, cx) else { return Vec::new() };
    let value = value.to_lowercase();
    let is_fit = |known: &str| {
        let is_word = !known.is_empty() && known.len() <= LONGEST && !known.contains(char::is_whitespace);
        is_word && known.to_lowercase().contains(&*value)
    };
    let mut counts: FxHashMap<String, u32> = FxHashMap::default();
    let mut note = |known: &str| {
        if is_fit(known) {
            *counts.entry(known.to_owned()).or_default() += 1;
        }
    };
    note_values(part, rows, cx, &mut note);
    let mut known: Vec<(String, u32)> = counts.into_iter().collect();
    // The most frequent come first.
    sort_by_key(&mut known, |(known, count)| (std::cmp::Reverse(*count), known.clone()));
    // One that is typed out is nothing to offer.
    known.retain(|(known, _)| known.to_lowercase() != value);
    let item = |(known, _)| CompletionItem { text: format!("{excludes}{title}:{not}{known}"), detail: String::new() };
    known.into_iter().take(MOST).map(item).collect()
}

/// The words that say something here, and what each is about: those of the grammar, and in a table the titles of its columns.
fn words(cx: &Context<'_>) -> Vec<(String, &'static str)> {
    let has_clusters = !cx.navigation.catalog.clusters().is_empty();
    let own = WORDS.iter().filter(|(word, _)| *word != "cluster" || has_clusters);
    let mut words: Vec<(String, &'static str)> = own.map(|(word, about)| (word.to_string(), *about)).collect();
    if cx.navigation.route.changes {
        words.extend(CHANGE_WORDS.iter().map(|(word, about)| (word.to_string(), *about)));
        return words;
    }
    let columns = cx.navigation.schema.columns().iter().map(|column| column.title);
    for title in columns {
        if !words.iter().any(|(known, _)| is_same_title(known, title)) {
            words.push((title.replace(' ', "-"), "a column"));
        }
    }
    words
}

/// What a word before a colon means here.
fn part_here(title: &str, cx: &Context<'_>) -> Option<Part> {
    let is_it = |known: &str| is_same_title(known, title);
    let columns = || cx.navigation.schema.columns().iter();
    let column = || columns().position(|column| is_it(column.title)).map(Part::Column);
    match Part::named(title) {
        part if cx.navigation.route.changes => part,
        Some(part @ (Part::Kind | Part::Namespace | Part::Cluster | Part::Status | Part::Owner)) => Some(part),
        _ => column(),
    }
}

/// Notes the values of a part that are known.
fn note_values(part: Part, rows: &Rows, cx: &Context<'_>, note: &mut dyn FnMut(&str)) {
    let schema = &cx.navigation.schema;
    match part {
        Part::Kind => schema.kinds().iter().for_each(|kind| note(kind.resource.kind)),
        Part::Cluster => {
            note(cx.navigation.home);
            cx.navigation.catalog.clusters().iter().for_each(|cluster| note(cluster));
        }
        Part::Type => TYPES.iter().for_each(|word| note(word)),
        Part::Namespace => cx.view.header.namespaces.known().for_each(|name| note(name)),
        Part::Status => note("failing"),
        _ => {}
    }
    if cx.navigation.route.changes {
        rows.lines().take(ASKED).for_each(|line| note_of_line(part, line, note));
        return;
    }
    let Some(view) = cx.watching.view() else { return };
    let mut word = String::new();
    for row in view.rows().live_among(0, ASKED) {
        match part {
            Part::Namespace => note(&row.object.key.namespace),
            Part::Owner => {
                let owners = row.object.owners.iter().flat_map(|owners| owners.iter());
                owners.for_each(|owner| note(&format!("{}/{}", owner.kind, owner.name)));
            }
            Part::Status => {
                if let Some(kind) = schema.kind(row.kind) {
                    write_state(kind.columns, &row.object.cells, &mut word);
                    note(&word);
                }
            }
            Part::Column(at) => {
                word.clear();
                if let Some(cell) = schema.cell(row.kind, at).and_then(|at| row.object.cells.get(at)) {
                    searched(cell, &mut word);
                    note(&word);
                }
            }
            _ => return,
        }
    }
}

fn note_of_line(part: Part, line: &Line, note: &mut dyn FnMut(&str)) {
    match part {
        Part::Namespace => note(&line.key.namespace),
        Part::Path => line.fields.iter().for_each(|field| note(&field.path)),
        Part::By => line.named_writers().for_each(|writer| note(&writer.name())),
        Part::Owner => line.owners.iter().for_each(|owner| note(&format!("{}/{}", owner.kind, owner.name))),
        Part::Reason => line.reason.iter().for_each(|reason| note(&reason.word)),
        Part::Status => line.states().for_each(|(_, word)| note(word)),
        _ => {}
    }
}
