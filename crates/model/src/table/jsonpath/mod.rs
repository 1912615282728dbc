//! The JSONPath of printer columns, over JSON text: nothing of the object is kept but where a path leads.
//!
//! Grammar and answers are those of client-go's `util/jsonpath`, oddities included (`['a.b']` is two fields, `[]` is
//! the first element), for a column must show what the server's own table shows. `=~` alone is not known: regular
//! expressions would weigh more than all the rest, and no printer column was seen that has one.

mod evaluate;
mod parse;

use evaluate::Evaluation;
pub use evaluate::Scalar;

use crate::table::json::raw::member;

/// A parsed path.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonPath {
    /// What stands in the first pair of braces: the path.
    path: Vec<Node>,
    /// What stands in further ones. They show nothing, but where one of them fails there is no value.
    others: Vec<Vec<Node>>,
}

/// A step of a path.
#[derive(Clone, Debug, PartialEq)]
enum Node {
    /// A member of a map.
    Field(Box<str>),
    /// Elements of a list.
    Slice(Slice),
    /// The elements that pass.
    Filter(Filter),
    /// All elements, or all members.
    Wildcard,
    /// The value, and everything in it that holds something.
    Recursive,
    /// What several paths lead to.
    Union(Vec<Vec<Node>>),
    /// A text.
    Text(Box<str>),
    /// A number.
    Int(i64),
    /// A number.
    Float(f64),
    /// `true` or `false`.
    Bool(bool),
    /// A word, such as `range`: nothing that leads to a value.
    Word,
}

/// `[from:to:step]`; `[from]` is a slice of one.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Slice {
    from: Option<i64>,
    to: Option<i64>,
    /// Whether `to` was not written, but is one after `from`.
    derived: bool,
    step: Option<i64>,
}

/// `[?(left operator right)]`.
#[derive(Clone, Debug, PartialEq)]
struct Filter {
    left: Vec<Node>,
    operator: Operator,
    right: Vec<Node>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Operator {
    /// No operator: something is there.
    Exists,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    /// Of which the server says only when it is used that there is none such.
    Unknown,
}

/// Where a path leads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Found<'a> {
    /// A value of the object, as its text.
    Json(&'a str),
    /// A text of the path.
    Text(&'a str),
    /// A number of the path.
    Int(i64),
    /// A number of the path.
    Float(f64),
    /// A truth value of the path.
    Bool(bool),
    /// A byte of a string: what Go finds in one.
    Byte(u8),
}

impl JsonPath {
    /// Parses a path as a printer column has it, without the braces around it; `None` for what the server's parser
    /// refuses, and for a path that is longer than any column needs.
    pub fn parse(text: &str) -> Option<JsonPath> {
        parse::template(text)
    }

    /// The first place that it leads to in an object, whose text must be well-formed; `None` where there is none, and
    /// where the server's evaluation fails.
    pub fn first<'a>(&'a self, object: &'a str) -> Option<Found<'a>> {
        self.all(object).into_iter().next()
    }

    /// All places that it leads to, in order; none where the server's evaluation fails.
    pub fn all<'a>(&'a self, object: &'a str) -> Vec<Found<'a>> {
        let mut evaluation = Evaluation::default();
        let found = evaluation.list(vec![Found::Json(object)], &self.path);
        let others = self.others.iter().all(|other| evaluation.list(vec![Found::Json(object)], other).is_ok());
        found.ok().filter(|_| others).unwrap_or_default()
    }

    /// The member of an object without which it leads nowhere, and whose value [`JsonPath::first_below`] takes: most
    /// paths begin with one.
    pub fn root(&self) -> Option<&str> {
        let (Node::Field(name), rest) = self.path.split_first()? else { return None };
        // A text stands for itself, whatever there is.
        let leads = |node: &Node| !matches!(node, Node::Text(_) | Node::Union(_));
        (self.others.is_empty() && rest.iter().all(leads)).then_some(name)
    }

    /// [`JsonPath::first`], from the value of the member that [`JsonPath::root`] names.
    pub fn first_below<'a>(&'a self, value: &'a str) -> Option<Found<'a>> {
        let rest = self.path.get(1..)?;
        let fields = rest.iter().take_while(|node| matches!(node, Node::Field(_))).count();
        let mut value = value;
        for node in &rest[..fields] {
            // Of anything else than a map there are no members.
            let Node::Field(name) = node else { break };
            value = member(value, name)?;
        }
        match &rest[fields..] {
            [] => Some(Found::Json(value)),
            more => Evaluation::default().list(vec![Found::Json(value)], more).ok()?.into_iter().next(),
        }
    }
}

#[cfg(test)]
mod tests;
