//! The newest state in a recording, as its lines have come: what another file begins with so that it can be opened by itself, and
//! with what a version is compared.
//!
//! A recording may be several files, one after the other. Each has lists of its own: of a watch that was there before, the first
//! list in a later file says how everything is now.

use std::borrow::Cow;
use std::rc::Rc;
use std::vec;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::request::Scope;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::sort;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::edit::{self, Scratch};
use crate::line::{Line, Step, Text, Version, Watch};

/// A text is kept as edits of another one where they take at most one part of so many of it.
const SHORT: usize = 2;

/// The text of an object. A copy is cheap.
#[derive(Clone, Debug)]
enum Kept {
    Whole(Rc<str>),
    /// The edits that make it of another one, as JSON.
    Like(Rc<str>, Rc<[u8]>),
}

#[derive(Debug)]
struct Object {
    uid: Uid,
    /// `None` where it is not known.
    text: Option<Kept>,
    /// The place of its watch.
    place: usize,
}

/// What is known of a watch.
#[derive(Debug)]
struct Known {
    resource: ApiResource,
    scope: Scope,
    /// Its number in the newest file that has it; `None` once it has ended.
    number: Option<u32>,
    /// Whether a first list was complete.
    is_listed: bool,
    /// What a first list has named that is not complete.
    named: Option<FxHashSet<ObjectKey>>,
    /// What else goes on: a later list, a time without news, a refusal.
    steps: Vec<Step>,
}

/// The newest state in a recording.
#[derive(Debug, Default)]
pub struct Newest {
    watches: Vec<Known>,
    /// The places of the watches by the numbers of the newest file.
    places: FxHashMap<u32, usize>,
    objects: FxHashMap<(ApiResource, ObjectKey), Object>,
    /// For each watch and beginning of a name the text that others are kept as edits of.
    alike: FxHashMap<(usize, String), Rc<str>>,
    definitions: Vec<Rc<str>>,
    scratch: Scratch,
    /// The edits that are being made.
    edits: Vec<u8>,
}

impl Newest {
    /// Takes what a line says. Lines must come in their order.
    pub fn take(&mut self, line: &Line<'_>) {
        match line {
            Line::Watch(watch) => self.watch(watch),
            Line::Step(number, step) => self.step(*number, step),
            Line::Version(version) => self.version(version),
            Line::Definition(text) => {
                if !self.definitions.iter().any(|known| **known == **text) {
                    self.definitions.push((*text).into());
                }
            }
            // Only the first block of a file says what wrote it. The numbers of a later file are its own.
            Line::Header(header) if !header.program.is_empty() => {
                self.places.clear();
                self.watches.iter_mut().for_each(|known| known.number = None);
            }
            Line::Header(_) | Line::Note(_) | Line::Request(_) => {}
        }
    }

    /// The resource of the watch with this number in the newest file.
    pub fn resource(&self, number: u32) -> Option<ApiResource> {
        self.places.get(&number).map(|place| self.watches[*place].resource)
    }

    /// The resources of all watches that there were.
    pub fn resources(&self) -> impl Iterator<Item = &ApiResource> {
        self.watches.iter().map(|known| &known.resource)
    }

    /// The uid and the text of the object that has the name of a version which has not been taken yet.
    pub fn before(&self, version: &Version<'_>) -> Option<(&Uid, Option<Cow<'_, str>>)> {
        let resource = self.resource(version.watch)?;
        let object = self.objects.get(&(resource, version.key.clone()))?;
        Some((&object.uid, object.text.as_ref().and_then(read)))
    }

    /// The objects that are gone because a first list, whose end has not been taken yet, did not name them.
    pub fn missing(&self, number: u32) -> Vec<(ObjectKey, Uid)> {
        let Some(place) = self.places.get(&number) else { return Vec::new() };
        let Known { resource, named: Some(named), .. } = &self.watches[*place] else { return Vec::new() };
        let objects = self
            .objects
            .iter()
            .filter(|((of, key), object)| object.place == *place && of == resource && !named.contains(key));
        let mut missing: Vec<_> = objects.map(|((_, key), object)| (key.clone(), object.uid.clone())).collect();
        sort::sort_by(&mut missing, |one, other| one.0.cmp(&other.0));
        missing
    }

    /// The lines with which a file begins that goes on from here: the watches with their numbers, what their lists would have, and
    /// what else goes on. What is taken later changes nothing of them.
    pub fn beginning(&self) -> Beginning {
        let going = || self.watches.iter().enumerate().filter_map(|(at, known)| Some((at, known.number?, known)));
        let mut parts = Vec::with_capacity(self.objects.len() + 3 * self.watches.len());
        for (_, number, Known { resource, scope, .. }) in going() {
            let (resource, scope) = (*resource, scope.clone());
            parts.push(BeginningPart::Watch(Watch { number, resource, scope, is_repeated: true }));
        }
        parts.extend(self.definitions.iter().map(|text| BeginningPart::Definition(Rc::clone(text))));
        let mut objects: Vec<_> = self.objects.iter().collect();
        // Those that are like each other stand together.
        sort::sort_by(&mut objects, |((_, one), left), ((_, other), right)| {
            (left.place, one).cmp(&(right.place, other))
        });
        let mut objects = objects.into_iter().peekable();
        for (at, watch, known) in going() {
            while let Some(((_, key), object)) = objects.next_if(|(_, object)| object.place <= at) {
                if object.place == at {
                    let (key, uid, text) = (key.clone(), object.uid.clone(), object.text.clone());
                    parts.push(BeginningPart::Object { watch, key, uid, text });
                }
            }
            let listed = known.is_listed.then_some(Step::Listed);
            let steps = listed.into_iter().chain(known.steps.iter().cloned());
            parts.extend(steps.map(|step| BeginningPart::Step(watch, step)));
        }
        Beginning(parts.into_iter())
    }

    /// The numbers of the watches whose first list was complete.
    pub fn listed(&self) -> impl Iterator<Item = u32> {
        self.watches.iter().filter(|known| known.is_listed).filter_map(|known| known.number)
    }

    fn watch(&mut self, watch: &Watch) {
        let Watch { number, resource, scope, .. } = watch;
        if self.places.contains_key(number) {
            return;
        }
        let place = self.watches.iter().position(|known| known.resource == *resource && known.scope == *scope);
        let place = place.unwrap_or(self.watches.len());
        if place == self.watches.len() {
            let (resource, scope, steps) = (*resource, scope.clone(), Vec::new());
            self.watches.push(Known { resource, scope, number: None, is_listed: false, named: None, steps });
        }
        let known = &mut self.watches[place];
        (known.number, known.is_listed) = (Some(*number), false);
        known.named = Some(FxHashSet::default());
        known.steps.clear();
        self.places.insert(*number, place);
    }

    fn step(&mut self, number: u32, step: &Step) {
        if *step == Step::Listed {
            for (key, _) in self.missing(number) {
                self.forget(number, &key);
            }
        }
        let Some(known) = self.places.get(&number).and_then(|place| self.watches.get_mut(*place)) else { return };
        match step {
            Step::Listed => {
                (known.is_listed, known.named) = (true, None);
                known.steps.retain(|step| !matches!(step, Step::Refused(_)));
            }
            Step::Relisted => known.steps.retain(|step| matches!(step, Step::Lost(..))),
            Step::Gap(..) => known.steps.retain(|step| matches!(step, Step::Lists(_))),
            Step::Lists(_) | Step::Lost(..) | Step::Refused(_) => {
                let of = std::mem::discriminant(step);
                known.steps.retain(|known| std::mem::discriminant(known) != of);
                known.steps.push(step.clone());
            }
            Step::Ended => {
                known.number = None;
                self.places.remove(&number);
            }
        }
    }

    fn version(&mut self, version: &Version<'_>) {
        let Version { watch, delta_type, key, uid, text } = version;
        let Some(place) = self.places.get(watch).copied() else { return };
        if *delta_type == DeltaType::Deleted {
            return self.forget(*watch, key);
        }
        if let Some(named) = &mut self.watches[place].named {
            named.insert((*key).clone());
        }
        let text = if let Text::Whole(text) = text { Some(self.kept(place, key, text)) } else { None };
        let object = Object { uid: (*uid).clone(), text, place };
        self.objects.insert((self.watches[place].resource, (*key).clone()), object);
    }

    fn kept(&mut self, place: usize, key: &ObjectKey, text: &str) -> Kept {
        let owner = owner(place, key);
        if let Some(base) = self.alike.get(&owner) {
            self.edits.clear();
            edit::write(base, text, &mut self.scratch, &mut self.edits);
            if self.edits.len() <= text.len() / SHORT {
                return Kept::Like(Rc::clone(base), self.edits.as_slice().into());
            }
        }
        let whole: Rc<str> = text.into();
        self.alike.insert(owner, Rc::clone(&whole));
        Kept::Whole(whole)
    }

    fn forget(&mut self, number: u32, key: &ObjectKey) {
        let Some(place) = self.places.get(&number).copied() else { return };
        self.objects.remove(&(self.watches[place].resource, key.clone()));
        let owner = owner(place, key);
        if self.alike.get(&owner).is_some_and(|base| Rc::strong_count(base) == 1) {
            self.alike.remove(&owner);
        }
    }
}

/// The lines with which a file begins, so far as they were not handed out.
#[derive(Debug)]
pub struct Beginning(vec::IntoIter<BeginningPart>);

#[derive(Debug)]
enum BeginningPart {
    Watch(Watch),
    Definition(Rc<str>),
    Object { watch: u32, key: ObjectKey, uid: Uid, text: Option<Kept> },
    Step(u32, Step),
}

impl Beginning {
    /// Hands the next lines to `each`, at most so many. Returns whether that were all.
    ///
    /// # Errors
    ///
    /// That of `each`, after which no line follows.
    pub fn next<E>(&mut self, most: usize, mut each: impl FnMut(&Line<'_>) -> Result<(), E>) -> Result<bool, E> {
        for part in self.0.by_ref().take(most) {
            match part {
                BeginningPart::Watch(watch) => each(&Line::Watch(watch))?,
                BeginningPart::Definition(text) => each(&Line::Definition(&text))?,
                BeginningPart::Step(watch, step) => each(&Line::Step(watch, step))?,
                BeginningPart::Object { watch, key, uid, text } => {
                    let text = text.as_ref().and_then(read);
                    let text = text.as_deref().map_or(Text::NotKept, Text::Whole);
                    let (delta_type, key, uid) = (DeltaType::Replaced, &key, &uid);
                    each(&Line::Version(Version { watch, delta_type, key, uid, text }))?;
                }
            }
        }
        Ok(self.0.len() == 0)
    }
}

/// The name that objects of one owner have in common.
fn owner(place: usize, key: &ObjectKey) -> (usize, String) {
    let name = &*key.name;
    (place, format!("{}/{}", key.namespace, name.rfind('-').map_or(name, |at| &name[..at])))
}

fn read(kept: &Kept) -> Option<Cow<'_, str>> {
    match kept {
        Kept::Whole(text) => Some(Cow::Borrowed(text)),
        Kept::Like(base, edits) => {
            let mut text = String::new();
            edit::read(base, str::from_utf8(edits).ok()?, usize::MAX, &mut text)?;
            Some(Cow::Owned(text))
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::line::Header;

    use super::*;

    const PODS: ApiResource =
        ApiResource { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true, cluster: "" };

    fn watch(number: u32) -> Line<'static> {
        Line::Watch(Watch { number, resource: PODS, scope: Scope::default(), is_repeated: false })
    }

    fn text(name: &str, version: u32) -> String {
        let long = "a text that is long enough for edits of it to be shorter than all of it ".repeat(4);
        format!(r#"{{"metadata":{{"name":"{name}","resourceVersion":"{version}"}},"spec":"{long}"}}"#)
    }

    fn take(newest: &mut Newest, watch: u32, delta_type: DeltaType, name: &str, version: u32) {
        let (key, uid, text) = (ObjectKey::new("shop", name), Uid::new(name), text(name, version));
        newest.take(&Line::Version(Version { watch, delta_type, key: &key, uid: &uid, text: Text::Whole(&text) }));
    }

    fn begun(newest: &Newest) -> Vec<String> {
        let mut lines = Vec::new();
        let mut add = |line: &Line<'_>| -> Result<(), ()> {
            lines.push(match line {
                Line::Watch(watch) => format!("watch {}", watch.number),
                Line::Version(Version { watch, key, text: Text::Whole(text), .. }) => {
                    let version = text.split('"').nth(9).unwrap_or_default();
                    format!("{watch} {} {version}", key.name)
                }
                other => format!("{other:?}"),
            });
            Ok(())
        };
        let mut beginning = newest.beginning();
        while !beginning.next(2, &mut add).expect("nothing fails") {}
        lines
    }

    #[test]
    fn another_file_begins_with_how_everything_is() {
        let mut newest = Newest::default();
        newest.take(&watch(0));
        for name in ["web-1", "web-2", "cart"] {
            take(&mut newest, 0, DeltaType::Replaced, name, 1);
        }
        assert_eq!(begun(&newest), ["watch 0", "0 cart 1", "0 web-1 1", "0 web-2 1"], "the list is not complete");
        newest.take(&Line::Step(0, Step::Listed));
        take(&mut newest, 0, DeltaType::Updated, "web-2", 2);
        take(&mut newest, 0, DeltaType::Deleted, "web-1", 3);
        newest.take(&Line::Step(0, Step::Lost(5.0, "cut".to_owned())));
        let lost = r#"Step(0, Lost(5.0, "cut"))"#;
        assert_eq!(begun(&newest), ["watch 0", "0 cart 1", "0 web-2 2", "Step(0, Listed)", lost]);
        newest.take(&Line::Step(0, Step::Lists("why".to_owned())));
        newest.take(&Line::Step(0, Step::Gap(5.0, "cut".to_owned())));
        assert_eq!(begun(&newest).last().map(String::as_str), Some(r#"Step(0, Lists("why"))"#));
        newest.take(&Line::Step(0, Step::Relisted));
        assert_eq!(begun(&newest).last().map(String::as_str), Some("Step(0, Listed)"));
        newest.take(&Line::Step(0, Step::Ended));
        assert_eq!(begun(&newest), Vec::<String>::new());
    }

    #[test]
    fn the_first_list_of_a_later_file_says_what_is_gone() {
        let mut newest = Newest::default();
        newest.take(&watch(0));
        take(&mut newest, 0, DeltaType::Replaced, "a", 1);
        take(&mut newest, 0, DeltaType::Replaced, "b", 1);
        newest.take(&Line::Step(0, Step::Listed));
        newest.take(&Line::Header(Header { program: "kubechurn".to_owned(), ..Header::default() }));
        let nodes = ApiResource { plural: "nodes", kind: "Node", namespaced: false, ..PODS };
        let other = Watch { number: 0, resource: nodes, scope: Scope::default(), is_repeated: false };
        newest.take(&Line::Watch(other));
        newest.take(&watch(1));
        take(&mut newest, 1, DeltaType::Replaced, "b", 2);
        let (key, uid) = (ObjectKey::new("shop", "b"), Uid::new("b"));
        let version = Version { watch: 1, delta_type: DeltaType::Updated, key: &key, uid: &uid, text: Text::None };
        let before = newest.before(&version).and_then(|(_, text)| text).map(Cow::into_owned);
        assert_eq!(before, Some(text("b", 2)));
        assert_eq!(newest.missing(1), [(ObjectKey::new("shop", "a"), Uid::new("a"))]);
        newest.take(&Line::Step(1, Step::Listed));
        assert_eq!(newest.missing(1), []);
        assert_eq!(begun(&newest), ["watch 1", "watch 0", "1 b 2", "Step(1, Listed)"]);
    }

    #[test]
    fn what_is_gone_takes_no_memory() {
        let mut newest = Newest::default();
        newest.take(&watch(0));
        for round in 0..3 {
            for name in ["a-1", "a-2", "b-1"] {
                take(&mut newest, 0, DeltaType::Added, name, round);
            }
            for name in ["a-1", "b-1", "a-2"] {
                take(&mut newest, 0, DeltaType::Deleted, name, round);
            }
            assert!(newest.objects.is_empty() && newest.alike.is_empty(), "{newest:?}");
        }
    }
}
