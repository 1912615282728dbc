//! One field over the changes of an entry: of one object the values in turn, of several what each of them did.

use std::fmt;

use smallvec::{SmallVec, smallvec};
use smol_str::SmolStr;

use kubechurn_client::api::sort::sort_by_key;

use crate::field::Field;
use crate::part::{self, Part, PartKind};
use crate::paths;
use crate::short_path;
use crate::value::Value;

/// The most values of one object that are kept: the first, and the newest of the others.
const MOST_VALUES: usize = 6;
/// The most pairs of values that are counted. What other objects did is one count.
const MOST_PAIRS: usize = 8;
/// The pair of an object whose field did not change yet, and of one whose pair is not kept.
const NONE: u8 = 255;
const OTHERS: u8 = 254;

/// What a number of objects did: the value that the field of each had first, and the one that it has now.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// How many objects.
    pub count: u64,
    /// The first value; `None` is no such field.
    pub first: Option<Value>,
    /// The newest value.
    pub last: Option<Value>,
    /// Whether the objects were new, so that they had no value before the first one.
    pub is_new: bool,
}

/// What each of several objects did.
#[derive(Clone, Debug, Default, PartialEq)]
struct Shares {
    pairs: Vec<Pair>,
    /// For each member of the entry the place of its pair.
    of_member: Vec<u8>,
    /// How many objects have pairs that are not kept.
    others: u64,
}

/// A field over the changes of an entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// The path.
    pub path: SmolStr,
    /// The values that the first object had, each once, in the order in which they came first; `None` is no such field.
    pub values: SmallVec<[Option<Value>; 2]>,
    /// How many values are left out after the first.
    pub left_out: usize,
    /// The newest value of the first object.
    last: Option<Value>,
    /// How often it came back to a value that it had before.
    returns: usize,
    is_new: bool,
    reordered: bool,
    /// The name of the first object.
    object: SmolStr,
    shares: Option<Box<Shares>>,
    members: usize,
}

impl Progress {
    /// A field that changed for the first time, in an object of this name.
    pub(super) fn new(field: &Field, is_new: bool, object: &str) -> Progress {
        let [old, new] = [&field.old, &field.new].map(|value| value.as_ref().map(Value::brief));
        Progress {
            path: field.path.clone(),
            last: new.clone(),
            values: if is_new { smallvec![new] } else { smallvec![old, new] },
            left_out: 0,
            returns: 0,
            is_new,
            reordered: field.reordered,
            object: object.into(),
            shares: None,
            members: 1,
        }
    }

    /// A field that changed for the first time, in the member at this place of an entry of several.
    pub(super) fn of_member(field: &Field, is_new: bool, object: &str, member: usize) -> Progress {
        let mut progress = Progress::new(field, is_new, object);
        let first = progress.values.first().cloned().flatten();
        progress.shares = Some(Box::default());
        progress.share(member, first, is_new);
        progress
    }

    /// How many objects the entry has. From the second one on, what each of them did is counted.
    pub(super) fn set_members(&mut self, members: usize) {
        self.members = members;
        if members > 1 && self.shares.is_none() {
            let first = self.values.first().cloned().flatten();
            let pair = Pair { count: 1, first, last: self.last.clone(), is_new: self.is_new };
            self.shares = Some(Box::new(Shares { pairs: vec![pair], of_member: vec![0], others: 0 }));
        }
    }

    /// The field changed again, in the member at this place. Only what is shown is kept: the lines have the rest.
    pub(super) fn follow(&mut self, field: &Field, is_new: bool, member: usize) {
        let [old, new] = [&field.old, &field.new].map(|value| value.as_ref().map(Value::brief));
        // When an object is to be gone is moved more than once, and says nothing new.
        if self.path == paths::DELETION && self.shares.is_none() {
            return;
        }
        self.last = new.clone();
        if self.shares.is_some() {
            self.share(member, if is_new { new } else { old }, is_new);
        } else if self.values.contains(&new) {
            self.returns += 1;
        } else {
            if self.values.len() == MOST_VALUES {
                self.values.remove(1);
                self.left_out += 1;
            }
            self.values.push(new);
        }
    }

    /// Counts the newest value for a member. Its first one is `first`, unless it has one already.
    fn share(&mut self, member: usize, first: Option<Value>, is_new: bool) {
        let Some(shares) = &mut self.shares else { return };
        if shares.of_member.len() <= member {
            shares.of_member.resize(member + 1, NONE);
        }
        let (first, is_new) = match shares.of_member[member] {
            OTHERS => return,
            NONE => (first, is_new),
            at => {
                let pair = &mut shares.pairs[usize::from(at)];
                pair.count -= 1;
                (pair.first.clone(), pair.is_new)
            }
        };
        shares.of_member[member] = shares.place(Pair { count: 1, first, last: self.last.clone(), is_new });
    }

    /// Takes in the same field of another entry, whose members follow those of this one.
    pub(super) fn absorb(&mut self, mut other: Progress, offset: usize) {
        self.set_members(self.members.max(2));
        other.set_members(other.members.max(2));
        let (Some(shares), Some(others)) = (&mut self.shares, other.shares) else { return };
        shares.of_member.resize(offset, NONE);
        for at in others.of_member {
            let place = match at {
                NONE => NONE,
                OTHERS => shares.other(),
                at => shares.place(Pair { count: 1, ..others.pairs[usize::from(at)].clone() }),
            };
            shares.of_member.push(place);
        }
        self.last = other.last;
    }

    /// The same for an entry in which so many members stand before those of this one.
    pub(super) fn after(mut self, offset: usize) -> Progress {
        self.set_members(self.members.max(2));
        if let Some(shares) = &mut self.shares {
            shares.of_member.splice(0..0, std::iter::repeat_n(NONE, offset));
        }
        self
    }

    /// The short form of the path: `image`, `Ready`.
    pub fn short_path(&self) -> String {
        short_path::short(&self.path, &self.object)
    }

    /// What each of several objects did, the most first; empty for one object.
    pub fn pairs(&self) -> Vec<&Pair> {
        let mut pairs: Vec<&Pair> = self.live_pairs().collect();
        sort_by_key(&mut pairs, |pair| std::cmp::Reverse(pair.count));
        pairs
    }

    fn live_pairs(&self) -> impl Iterator<Item = &Pair> {
        self.shares.iter().flat_map(|shares| &shares.pairs).filter(|pair| pair.count > 0)
    }

    /// Whether it is said how many objects did what: not where all did the same, or each did something else.
    fn is_counted(&self) -> bool {
        let others = self.shares.as_ref().map_or(0, |shares| shares.others);
        let (kinds, objects) =
            self.live_pairs().fold((0, 0), |(kinds, objects), pair| (kinds + 1, objects + pair.count));
        others > 0 || objects != self.members as u64 || (kinds != 1 && objects != kinds)
    }

    /// The newest value of each object, or of each number of objects that did the same, with the first one.
    pub(super) fn ends(&self) -> impl Iterator<Item = (Option<&Value>, Option<&Value>)> {
        let own = self.shares.is_none().then(|| (self.values.first().and_then(Option::as_ref), self.last.as_ref()));
        let pairs = self.live_pairs().map(|pair| (pair.first.as_ref(), pair.last.as_ref()));
        pairs.chain(own)
    }

    /// The newest value that came.
    pub(super) fn last(&self) -> Option<&Value> {
        self.last.as_ref()
    }

    /// Whether the values of one object go back and forth between those that it had.
    pub fn alternates(&self) -> bool {
        self.shares.is_none() && self.returns > 0 && self.returns + 1 >= self.values.len() + self.left_out
    }

    /// What changed, in parts: the short path, and of long values what differs.
    pub fn parts(&self) -> Vec<Part> {
        self.parts_of(true)
    }

    /// What changed, with the whole path and all that is kept of the values.
    pub fn title(&self) -> String {
        let text = |value: &Option<Value>| value.as_ref().map_or("none", Value::kept).to_owned();
        let values: Vec<String> = match &self.shares {
            Some(_) => {
                let is_counted = self.is_counted();
                let words = |pair: &&Pair| pair_of(pair, text(&pair.first), text(&pair.last), is_counted);
                self.pairs().iter().map(words).collect()
            }
            None => vec![self.values.iter().map(text).collect::<Vec<_>>().join(self.arrow())],
        };
        format!("{} {}", paths::shown(&self.path), values.join(", "))
    }

    fn arrow(&self) -> &'static str {
        if self.alternates() { " ⇄ " } else { " → " }
    }

    pub(super) fn parts_of(&self, is_short: bool) -> Vec<Part> {
        let path = if is_short { self.short_path() } else { paths::shown(&self.path).into() };
        let path = Part::new(format!("{path} "), PartKind::Path);
        if let Some(shares) = &self.shares {
            return self.parts_of_pairs(path, shares.others, is_short);
        }
        if let [old, new] = &self.values[..]
            && self.returns == 0
        {
            let (path, old, new) = (self.path.clone(), old.clone(), new.clone());
            let field = Field { path, old, new, reordered: self.reordered };
            return field.parts_of(is_short.then_some(&*self.object));
        }
        let mut values: Vec<Option<&Value>> = self.values.iter().map(Option::as_ref).collect();
        // Of what came back once among many values, the value that it has now stands last.
        if !self.alternates() && self.returns > 0 && values.last() != Some(&self.last.as_ref()) {
            values.push(self.last.as_ref());
        }
        let words = part::words(&self.path, &values, is_short);
        let (arrow, newest) = (self.arrow(), words.len().saturating_sub(1));
        let mut parts = vec![path];
        for (at, word) in words.into_iter().enumerate() {
            if at > 0 {
                let left_out = if at == 1 && self.left_out > 0 { format!("{arrow}…{arrow}") } else { arrow.into() };
                parts.push(Part::new(left_out, PartKind::Arrow));
            }
            let is_now = at == newest || self.alternates();
            parts.push(Part::new(word, if is_now { PartKind::New } else { PartKind::Old }));
        }
        parts
    }

    /// `7 Pending → Running, 2 Pending → Failed`, and of numbers `2 went 1 → 3`; without counts where all objects did the same,
    /// or each did something else.
    fn parts_of_pairs(&self, path: Part, others: u64, is_short: bool) -> Vec<Part> {
        if self.path == paths::DELETION {
            return vec![Part::new("marked for deletion", PartKind::Plain)];
        }
        let (pairs, mut parts) = (self.pairs(), vec![path]);
        let values: Vec<_> = pairs.iter().flat_map(|pair| [pair.first.as_ref(), pair.last.as_ref()]).collect();
        let mut words = part::words(&self.path, &values, is_short).into_iter();
        let is_counted = self.is_counted();
        for (at, pair) in pairs.iter().enumerate() {
            if at > 0 {
                parts.push(Part::new(", ", PartKind::Plain));
            }
            let [first, last] = [(); 2].map(|()| words.next().unwrap_or_default());
            let is_same = pair.first == pair.last;
            if is_counted {
                parts.push(Part::new(count_of(pair, &first), PartKind::Count));
            }
            match is_same && pair.is_new {
                true => parts.push(Part::new(last, PartKind::New)),
                false => {
                    parts.push(Part::new(first, PartKind::Old));
                    parts.push(Part::new(if is_same { " ⇄ " } else { " → " }, PartKind::Arrow));
                    parts.push(Part::new(if is_same { "…".into() } else { last }, PartKind::New));
                }
            }
        }
        if others > 0 {
            parts.push(Part::new(format!(", {others} "), PartKind::Count));
            parts.push(Part::new("otherwise", PartKind::Plain));
        }
        parts
    }
}

/// What so many objects did, in words.
fn pair_of(pair: &Pair, first: String, last: String, is_counted: bool) -> String {
    let count = if is_counted { count_of(pair, &first) } else { String::new() };
    match pair.first == pair.last && pair.is_new {
        true => format!("{count}{last}"),
        false => format!("{count}{first} → {last}"),
    }
}

/// How many objects did so. Before a value that is a number comes a word: two numbers beside each other would be read as one.
fn count_of(pair: &Pair, first: &str) -> String {
    let word = match first.starts_with(|letter: char| letter.is_ascii_digit()) {
        false => "",
        true if pair.first == pair.last && pair.is_new => "have ",
        true => "went ",
    };
    format!("{} {word}", pair.count)
}

impl Shares {
    /// The place of a pair, which one more object has now.
    fn place(&mut self, pair: Pair) -> u8 {
        let is_it = |known: &Pair| (&known.first, &known.last, known.is_new) == (&pair.first, &pair.last, pair.is_new);
        let known = self.pairs.iter().position(is_it);
        if let Some(at) = known {
            self.pairs[at].count += 1;
            return at as u8;
        }
        if let Some(at) = self.pairs.iter().position(|known| known.count == 0) {
            self.pairs[at] = pair;
            return at as u8;
        }
        if self.pairs.len() == MOST_PAIRS {
            return self.other();
        }
        self.pairs.push(pair);
        (self.pairs.len() - 1) as u8
    }

    fn other(&mut self) -> u8 {
        self.others += 1;
        OTHERS
    }
}

impl fmt::Display for Progress {
    /// With the whole path.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&part::sentence(&self.parts_of(false)))
    }
}
