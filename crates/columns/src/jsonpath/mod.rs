//! The JSONPath of printer columns, evaluated over JSON text. Nothing of the object is kept except what a path leads
//! to.
//!
//! Grammar and results are those of client-go's `util/jsonpath`, oddities included (`['a.b']` is two fields, `[]` is
//! the first element), because a column must show what the server's own table shows. Only `=~` is missing: regular
//! expressions would take more code than all the rest, and no printer column is known that has one.

mod evaluate;
mod parse;

use evaluate::Evaluation;
pub use evaluate::Scalar;

use kubechurn_client::json::member;

/// A parsed path.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonPath {
    /// The steps in the first pair of braces.
    path: Vec<Node>,
    /// The steps in further pairs of braces. They show nothing, but where one of them fails there is no value.
    others: Vec<Vec<Node>>,
}

/// A step of a path.
#[derive(Clone, Debug, PartialEq)]
enum Node {
    /// A member of a map.
    Field(Box<str>),
    /// Elements of a list.
    Slice(Slice),
    /// The elements for which a filter holds.
    Filter(Filter),
    /// All elements, or all members.
    Wildcard,
    /// The value, and everything in it that has parts.
    Recursive,
    /// The values of several paths.
    Union(Vec<Vec<Node>>),
    /// A string.
    Text(Box<str>),
    /// A whole number.
    Int(i64),
    /// A number with a fraction.
    Float(f64),
    /// `true` or `false`.
    Bool(bool),
    /// A word such as `range`, which leads to no value.
    Word,
}

/// `[from:to:step]`; `[from]` is a slice of one element.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Slice {
    from: Option<i64>,
    to: Option<i64>,
    /// Whether `to` was not written, and therefore is one more than `from`.
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
    /// No operator: the filter holds where the path leads to a value.
    Exists,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    /// An operator that the server rejects only when the filter is evaluated.
    Unknown,
}

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Found<'a> {
    /// A value of the object, as JSON text.
    Json(&'a str),
    /// A string of the path.
    Text(&'a str),
    /// A whole number of the path.
    Int(i64),
    /// A number with a fraction of the path.
    Float(f64),
    /// A truth value of the path.
    Bool(bool),
    /// A byte of a string: Go treats a string as a list of bytes.
    Byte(u8),
}

impl JsonPath {
    /// Parses a path without the braces around it, as a printer column has it. `None` for a path that the server's
    /// parser rejects, and for one that is longer than any column needs.
    pub fn parse(text: &str) -> Option<JsonPath> {
        parse::template(text)
    }

    /// The first value that the path leads to in an object, whose text must be well-formed; `None` where there is none,
    /// and where the server's evaluation fails.
    pub fn first<'a>(&'a self, object: &'a str) -> Option<Found<'a>> {
        self.all(object).into_iter().next()
    }

    /// All values that the path leads to, in order; none where the server's evaluation fails.
    pub fn all<'a>(&'a self, object: &'a str) -> Vec<Found<'a>> {
        let mut evaluation = Evaluation::default();
        let found = evaluation.list(vec![Found::Json(object)], &self.path);
        let others = self.others.iter().all(|other| evaluation.list(vec![Found::Json(object)], other).is_ok());
        found.ok().filter(|_| others).unwrap_or_default()
    }

    /// The member of objects with which the path begins, if it begins with one, as most paths do.
    /// [`JsonPath::first_below`] takes the value of that member.
    pub fn root(&self) -> Option<&str> {
        let (Node::Field(name), rest) = self.path.split_first()? else { return None };
        // A string leads to itself, whatever the object is.
        let leads = |node: &Node| !matches!(node, Node::Text(_) | Node::Union(_));
        (self.others.is_empty() && rest.iter().all(leads)).then_some(name)
    }

    /// The member to which the path leads, if it is nothing but members: `status.phase`.
    pub fn is_members(&self, names: &[&str]) -> bool {
        let is_named = |(node, name): (&Node, &&str)| matches!(node, Node::Field(own) if **own == **name);
        self.others.is_empty() && self.path.len() == names.len() && self.path.iter().zip(names).all(is_named)
    }

    /// The type of the condition whose status the path leads to: `Ready`, of
    /// `.status.conditions[?(@.type=="Ready")].status`.
    pub fn condition(&self) -> Option<&str> {
        let [Node::Field(status), Node::Field(conditions), Node::Filter(filter), Node::Field(member)] = &*self.path
        else {
            return None;
        };
        let ([Node::Field(by)], Operator::Equal, [Node::Text(name)]) = (&*filter.left, filter.operator, &*filter.right)
        else {
            return None;
        };
        let names = [status, conditions, by, member].map(|name| &**name);
        (self.others.is_empty() && names == ["status", "conditions", "type", "status"]).then_some(name)
    }

    /// The same as [`JsonPath::first`], for the value of the member that [`JsonPath::root`] names.
    pub fn first_below<'a>(&'a self, value: &'a str) -> Option<Found<'a>> {
        let rest = self.path.get(1..)?;
        let fields = rest.iter().take_while(|node| matches!(node, Node::Field(_))).count();
        let mut value = value;
        for node in &rest[..fields] {
            // Only a map has members.
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
