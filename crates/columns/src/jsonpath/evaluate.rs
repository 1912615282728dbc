//! Evaluates paths over text, as client-go's `util/jsonpath/jsonpath.go` does over values.

use std::borrow::Cow;
use std::cmp::Ordering;

use kubechurn_client::json::{Items, first, items, member, members, unescaped};

use super::{Filter, Found, Node, Operator, Slice};

/// How many values an evaluation may look at. A server has no such limit. A path such as `...*...*` in a large object
/// would stop the page for minutes.
const MOST: usize = 100_000;
/// How deep `..` goes: no object of a server is deeper.
const DEEPEST: usize = 256;

/// Values, in order.
type Values<'a> = Vec<Found<'a>>;
/// What was reached when a step failed. A filter that asks only whether there is a value counts it as one.
type Failed<'a> = Values<'a>;

/// One evaluation, and how many more values it may look at.
#[derive(Debug, Default)]
pub(super) struct Evaluation {
    seen: usize,
}

impl Evaluation {
    /// Follows a list of steps.
    pub(super) fn list<'a>(&mut self, from: Values<'a>, nodes: &'a [Node]) -> Result<Values<'a>, Failed<'a>> {
        nodes.iter().try_fold(from, |values, node| self.step(values, node))
    }

    fn step<'a>(&mut self, from: Values<'a>, node: &'a Node) -> Result<Values<'a>, Failed<'a>> {
        let found: Values<'a> = match node {
            Node::Field(name) => from.iter().filter_map(|value| value.member(name)).collect(),
            Node::Slice(slice) => {
                let mut found = Vec::new();
                for value in &from {
                    match value.elements() {
                        Some(elements) => {
                            if !slice.take(&elements, &mut found) {
                                return Err(from);
                            }
                            // Where nothing is selected, client-go returns from its loop.
                            if slice.bounds(elements.len()) == Some((0, 0)) {
                                break;
                            }
                        }
                        None if !value.is_null() => return Err(from),
                        None => {}
                    }
                }
                found
            }
            Node::Filter(filter) => self.filter(from, filter)?,
            Node::Wildcard => {
                let mut found = Vec::new();
                from.iter().for_each(|value| found.extend(value.content()));
                found
            }
            Node::Recursive => {
                let mut found = Vec::new();
                self.descend(&from, 0, &mut found)?;
                found
            }
            Node::Union(paths) => {
                let mut found = Vec::new();
                for path in paths {
                    match self.list(from.clone(), path) {
                        Ok(more) => found.extend(more),
                        Err(_) => return Err(from),
                    }
                }
                found
            }
            Node::Text(text) => vec![Found::Text(text)],
            Node::Int(number) => vec![Found::Int(*number); from.len()],
            Node::Float(number) => vec![Found::Float(*number); from.len()],
            Node::Bool(truth) => vec![Found::Bool(*truth); from.len()],
            Node::Word => return Err(from),
        };
        self.seen += found.len() + 1;
        if self.seen > MOST { Err(Vec::new()) } else { Ok(found) }
    }

    fn filter<'a>(&mut self, from: Values<'a>, filter: &'a Filter) -> Result<Values<'a>, Failed<'a>> {
        let mut found = Vec::new();
        for value in &from {
            let Some(elements) = value.elements() else { return Err(from) };
            for element in elements {
                let element = Found::Json(element);
                let left = self.list(vec![element], &filter.left);
                if filter.operator == Operator::Exists {
                    if !left.unwrap_or_else(|reached| reached).is_empty() {
                        found.push(element);
                    }
                    continue;
                }
                let Ok(left) = left else { return Err(from) };
                let left = match left[..] {
                    [] => continue,
                    [left] => left,
                    _ => return Err(from),
                };
                let Ok(right) = self.list(vec![element], &filter.right) else { return Err(from) };
                let right = match right[..] {
                    [] => continue,
                    [right] => right,
                    _ => return Err(from),
                };
                match passes(left, filter.operator, right) {
                    Some(true) => found.push(element),
                    Some(false) => {}
                    None => return Err(found),
                }
            }
        }
        Ok(found)
    }

    /// Each value that has parts, followed by its parts in the same way.
    fn descend<'a>(&mut self, from: &[Found<'a>], depth: usize, into: &mut Values<'a>) -> Result<(), Failed<'a>> {
        for value in from {
            let content = value.content();
            if content.is_empty() {
                continue;
            }
            into.push(*value);
            self.seen += content.len();
            if depth > DEEPEST || self.seen > MOST {
                return Err(Vec::new());
            }
            self.descend(&content, depth + 1, into)?;
        }
        Ok(())
    }
}

impl Slice {
    /// Takes the elements that the slice selects; `false` where the slice selects one that is not there.
    fn take<'a>(&self, elements: &[&'a str], into: &mut Values<'a>) -> bool {
        let Some((from, to)) = self.bounds(elements.len()) else { return false };
        if from == to {
            return true;
        }
        let step = self.step.unwrap_or(1);
        if step <= 0 {
            return false;
        }
        let step = usize::try_from(step).unwrap_or(usize::MAX);
        into.extend(elements[from..to].iter().step_by(step).map(|element| Found::Json(element)));
        true
    }

    /// Where the slice begins and ends in a list; `None` where that is outside the list.
    fn bounds(&self, length: usize) -> Option<(usize, usize)> {
        let length = length as i64;
        let mut from = self.from.unwrap_or(0);
        if from < 0 {
            from += length;
        }
        let mut to = self.to.unwrap_or(length);
        if to < 0 || (to == 0 && self.derived) {
            to += length;
        }
        if from == to {
            return Some((0, 0));
        }
        let inside = (0..length).contains(&from) && (0..=length).contains(&to) && from < to;
        inside.then_some((from as usize, to as usize))
    }
}

impl<'a> Found<'a> {
    /// Whether the value is `null`.
    pub fn is_null(self) -> bool {
        matches!(self, Found::Json(text) if first(text) == b'n')
    }

    fn member(self, name: &str) -> Option<Found<'a>> {
        match self {
            Found::Json(text) => member(text, name).map(Found::Json),
            _ => None,
        }
    }

    fn elements(self) -> Option<Items<'a>> {
        match self {
            Found::Json(text) if first(text) == b'[' => Some(items(text).unwrap_or_default()),
            _ => None,
        }
    }

    /// The parts of a value: members, elements, or bytes.
    fn content(self) -> Values<'a> {
        let bytes = |text: &str| text.bytes().map(Found::Byte).collect();
        match self {
            Found::Json(text) => match first(text) {
                b'{' => members(text).unwrap_or_default().iter().map(|member| Found::Json(member.value)).collect(),
                b'[' => items(text).unwrap_or_default().into_iter().map(Found::Json).collect(),
                b'"' => unescaped(text).map(|text| bytes(&text)).unwrap_or_default(),
                _ => Vec::new(),
            },
            Found::Text(text) => bytes(text),
            _ => Vec::new(),
        }
    }

    /// The value, if it has no parts and may be compared or shown by itself; `None` for maps, lists and `null`.
    pub fn scalar(self) -> Option<Scalar<'a>> {
        Some(match self {
            Found::Json(text) => match first(text) {
                b'"' => Scalar::Text(unescaped(text)?),
                b't' => Scalar::Bool(true),
                b'f' => Scalar::Bool(false),
                b'-' | b'0'..=b'9' => match text.parse() {
                    Ok(number) => Scalar::Int(number),
                    // A number that is too large for any type: no server has one.
                    Err(_) => Scalar::Float(text.parse().ok().filter(|number: &f64| number.is_finite())?),
                },
                _ => return None,
            },
            Found::Text(text) => Scalar::Text(Cow::Borrowed(text)),
            Found::Int(number) => Scalar::Int(number),
            Found::Float(number) => Scalar::Float(number),
            Found::Bool(truth) => Scalar::Bool(truth),
            Found::Byte(byte) => Scalar::Int(i64::from(byte)),
        })
    }
}

/// A value without parts, as Go's decoder has it: whole numbers that fit into 64 bits are whole, all other numbers are
/// not.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar<'a> {
    /// A string.
    Text(Cow<'a, str>),
    /// A whole number.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// A truth value.
    Bool(bool),
}

/// Whether a comparison holds; `None` where Go's templates do not compare such values.
fn passes(left: Found<'_>, operator: Operator, right: Found<'_>) -> Option<bool> {
    use Scalar::{Bool, Float, Int, Text};
    let (left, right) = (left.scalar()?, right.scalar()?);
    let order = match (&left, &right) {
        (Text(left), Text(right)) => Some(left.cmp(right)),
        (Int(left), Int(right)) => Some(left.cmp(right)),
        (Float(left), Float(right)) => left.partial_cmp(right),
        (Bool(left), Bool(right)) => match operator {
            Operator::Equal | Operator::NotEqual => Some(left.cmp(right)),
            _ => return None,
        },
        _ => return None,
    };
    Some(match operator {
        Operator::Equal => order == Some(Ordering::Equal),
        Operator::NotEqual => order != Some(Ordering::Equal),
        Operator::Less => order == Some(Ordering::Less),
        Operator::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Operator::Greater => order == Some(Ordering::Greater),
        Operator::GreaterOrEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        Operator::Exists | Operator::Unknown => return None,
    })
}
