//! Label selectors: `app=web,tier in (front, back),!canary`.

use std::collections::BTreeSet;
use std::fmt;

use super::{SelectorError, write_joined};
use crate::api::sort::sort;

/// Requirements on labels, all of which must hold; none selects everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LabelSelector {
    /// Sorted, each once.
    requirements: Vec<LabelRequirement>,
}

/// The requirement on one label.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LabelRequirement {
    key: String,
    operator: LabelOperator,
}

/// What is required of a label. Every value is one that a label may have, which the empty value is, too.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LabelOperator {
    /// `key`: the label is there.
    Exists,
    /// `!key`: the label is not there.
    DoesNotExist,
    /// `key=value` or `key==value`.
    Equals(String),
    /// `key!=value`: the label is not there, or has another value.
    NotEquals(String),
    /// `key in (one,two)`.
    In(BTreeSet<String>),
    /// `key notin (one,two)`: the label is not there, or has none of the values.
    NotIn(BTreeSet<String>),
    /// `key>1`: the label is there, and is a greater whole number.
    GreaterThan(i64),
    /// `key<1`: the label is there, and is a smaller whole number.
    LessThan(i64),
}

impl LabelSelector {
    /// Reads requirements separated by commas; spaces, tabs and line breaks may stand between all parts. `in` and
    /// `notin` are keys and values too, where one is expected. The empty text selects everything.
    ///
    /// Go's parser ends at a NUL character; here NUL is a character that no key and no value may have.
    ///
    /// # Errors
    ///
    /// When the text is not of that grammar, or a key or a value is none that a label may have.
    pub fn parse(text: &str) -> Result<LabelSelector, SelectorError> {
        let mut parser = Parser { tokens: tokens(text), next: 0 };
        let mut requirements = Vec::new();
        if !parser.peek().begins_a_requirement() && !parser.peek().is_end() {
            return Err(parser.peek().unexpected("!, identifier, or 'end of string'"));
        }
        while !parser.peek().is_end() {
            requirements.push(parser.requirement().map_err(|error| SelectorError {
                words: format!("unable to parse requirement: {}", error.words),
                ..error
            })?);
            let after = parser.take();
            match after.text {
                "" => break,
                "," if parser.peek().begins_a_requirement() => {}
                "," => return Err(parser.peek().unexpected("identifier after ','")),
                _ => return Err(after.unexpected("',' or 'end of string'")),
            }
        }
        sort(&mut requirements);
        requirements.dedup();
        Ok(LabelSelector { requirements })
    }

    /// Whether an object has the labels that are asked for. `value_of` gives the value of a label by its key.
    pub fn matches<'a>(&self, value_of: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.requirements.iter().all(|requirement| requirement.operator.holds(value_of(&requirement.key)))
    }

    /// The requirements, in the order of the keys.
    pub fn requirements(&self) -> &[LabelRequirement] {
        &self.requirements
    }

    /// Whether it selects everything.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }
}

impl LabelRequirement {
    /// The key of the label, with its prefix if it has one.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// What is required of it.
    pub fn operator(&self) -> &LabelOperator {
        &self.operator
    }
}

impl LabelOperator {
    /// Whether a label that has this value, or is not there, is as asked for.
    fn holds(&self, label: Option<&str>) -> bool {
        let number = || label.and_then(|label| label.parse::<i64>().ok());
        match self {
            LabelOperator::Exists => label.is_some(),
            LabelOperator::DoesNotExist => label.is_none(),
            LabelOperator::Equals(value) => label == Some(value),
            LabelOperator::NotEquals(value) => label != Some(value),
            LabelOperator::In(values) => label.is_some_and(|label| values.contains(label)),
            LabelOperator::NotIn(values) => label.is_none_or(|label| !values.contains(label)),
            LabelOperator::GreaterThan(least) => number().is_some_and(|number| number > *least),
            LabelOperator::LessThan(most) => number().is_some_and(|number| number < *most),
        }
    }
}

impl fmt::Display for LabelSelector {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_joined(&self.requirements, formatter)
    }
}

impl fmt::Display for LabelRequirement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = &self.key;
        let mut set = |operator: &str, values: &BTreeSet<String>| {
            write!(formatter, "{key} {operator} (")?;
            write_joined(values, formatter)?;
            formatter.write_str(")")
        };
        match &self.operator {
            LabelOperator::In(values) => set("in", values),
            LabelOperator::NotIn(values) => set("notin", values),
            LabelOperator::Exists => formatter.write_str(key),
            LabelOperator::DoesNotExist => write!(formatter, "!{key}"),
            LabelOperator::Equals(value) => write!(formatter, "{key}={value}"),
            LabelOperator::NotEquals(value) => write!(formatter, "{key}!={value}"),
            LabelOperator::GreaterThan(least) => write!(formatter, "{key}>{least}"),
            LabelOperator::LessThan(most) => write!(formatter, "{key}<{most}"),
        }
    }
}

/// A symbol or a word, and where it stands. The end of the text is an empty one.
#[derive(Clone, Copy, Debug)]
struct Token<'a> {
    at: usize,
    text: &'a str,
}

impl Token<'_> {
    fn is_end(self) -> bool {
        self.text.is_empty()
    }

    fn is_word(self) -> bool {
        self.text.chars().next().is_some_and(|letter| !is_symbol(letter))
    }

    fn begins_a_requirement(self) -> bool {
        self.is_word() || self.text == "!"
    }

    fn unexpected(self, expected: &str) -> SelectorError {
        SelectorError::new(self.at, format!("found '{}', expected: {expected}", self.text))
    }

    fn invalid(self, why: &str) -> SelectorError {
        SelectorError::new(self.at, format!("Invalid value: {:?}: {why}", self.text))
    }
}

fn is_symbol(letter: char) -> bool {
    matches!(letter, '=' | '!' | '(' | ')' | ',' | '<' | '>')
}

fn is_space(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\r' | '\n')
}

/// Cuts a text in words and symbols; the end is the last of them.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let (mut tokens, mut at) = (Vec::new(), 0);
    loop {
        let rest = text[at..].trim_start_matches(is_space);
        at = text.len() - rest.len();
        let length = match rest.chars().next() {
            None => 0,
            Some('=' | '!') if rest[1..].starts_with('=') => 2,
            Some(letter) if is_symbol(letter) => 1,
            Some(_) => rest.find(|letter| is_symbol(letter) || is_space(letter)).unwrap_or(rest.len()),
        };
        tokens.push(Token { at, text: &rest[..length] });
        if length == 0 {
            return tokens;
        }
        at += length;
    }
}

struct Parser<'a> {
    /// Never empty; the last one is the end.
    tokens: Vec<Token<'a>>,
    next: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Token<'a> {
        self.tokens[self.next.min(self.tokens.len() - 1)]
    }

    fn take(&mut self) -> Token<'a> {
        let token = self.peek();
        self.next += 1;
        token
    }

    fn requirement(&mut self) -> Result<LabelRequirement, SelectorError> {
        let mut token = self.take();
        let negated = token.text == "!";
        if negated {
            token = self.take();
        }
        if !token.is_word() {
            return Err(token.unexpected("identifier"));
        }
        check_key(token.text).map_err(|why| token.invalid(why))?;
        let key = token.text.to_owned();
        if negated {
            return Ok(LabelRequirement { key, operator: LabelOperator::DoesNotExist });
        }
        if matches!(self.peek().text, "" | ",") {
            return Ok(LabelRequirement { key, operator: LabelOperator::Exists });
        }
        let sign = self.take();
        let operator = match sign.text {
            "=" | "==" => LabelOperator::Equals(self.value()?),
            "!=" => LabelOperator::NotEquals(self.value()?),
            "in" => LabelOperator::In(self.values()?),
            "notin" => LabelOperator::NotIn(self.values()?),
            ">" => LabelOperator::GreaterThan(self.number()?),
            "<" => LabelOperator::LessThan(self.number()?),
            _ => return Err(sign.unexpected("in, notin, =, ==, !=, gt, lt")),
        };
        Ok(LabelRequirement { key, operator })
    }

    /// A value, which may be empty.
    fn value(&mut self) -> Result<String, SelectorError> {
        let token = self.peek();
        if matches!(token.text, "" | ",") {
            return Ok(String::new());
        }
        if !token.is_word() {
            return Err(token.unexpected("identifier"));
        }
        self.next += 1;
        checked_value(token)
    }

    fn number(&mut self) -> Result<i64, SelectorError> {
        let token = self.peek();
        let value = self.value()?;
        value.parse().map_err(|_| token.invalid("'>' and '<' compare with a whole number"))
    }

    /// Values in parentheses. Between commas there may be nothing, which is the empty value.
    fn values(&mut self) -> Result<BTreeSet<String>, SelectorError> {
        let open = self.take();
        if open.text != "(" {
            // The server's message has no comma here, unlike the others.
            return Err(SelectorError::new(open.at, format!("found '{}' expected: '('", open.text)));
        }
        let mut values = BTreeSet::new();
        loop {
            let token = self.take();
            if token.is_word() {
                values.insert(checked_value(token)?);
                let after = self.take();
                match after.text {
                    ")" => return Ok(values),
                    // A comma that closes the list leaves an empty value before the parenthesis.
                    "," => {}
                    _ => return Err(after.unexpected("',' or ')'")),
                }
                continue;
            }
            match token.text {
                ")" | "," => values.insert(String::new()),
                _ if values.is_empty() => return Err(token.unexpected("',', ')' or identifier")),
                _ => return Err(token.unexpected("',', or identifier")),
            };
            if token.text == ")" {
                return Ok(values);
            }
        }
    }
}

/// A key: a name of at most 63 letters, behind a prefix and a slash or not. The prefix is a DNS subdomain of at
/// most 253 (`IsLabelKey` in apimachinery `pkg/api/validate/content/kube.go`).
fn check_key(key: &str) -> Result<(), &'static str> {
    let (prefix, name) = key.split_once('/').map_or((None, key), |(prefix, name)| (Some(prefix), name));
    match prefix {
        Some("") => return Err("the prefix before the slash is empty"),
        Some(prefix) if prefix.len() > 253 => return Err("the prefix is longer than 253 characters"),
        Some(prefix) if !prefix.split('.').all(is_dns_label) => {
            return Err("the prefix is no DNS name of small letters, digits, '-' and '.'");
        }
        _ => {}
    }
    match name {
        "" => Err("the name is empty"),
        _ if name.contains('/') => Err("there is more than one slash"),
        _ if name.len() > 63 => Err("the name is longer than 63 characters"),
        _ if !is_name(name) => Err(NAME),
        _ => Ok(()),
    }
}

/// A value: at most 63 letters, or none (`IsLabelValue`, in the same file).
fn checked_value(token: Token<'_>) -> Result<String, SelectorError> {
    match token.text {
        long if long.len() > 63 => Err(token.invalid("a value is longer than 63 characters")),
        odd if !is_name(odd) => Err(token.invalid(NAME)),
        value => Ok(value.to_owned()),
    }
}

const NAME: &str = "a name or value has letters, digits, '-', '_' and '.', and a letter or digit at both ends";

fn is_name(text: &str) -> bool {
    let ends = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    ends(text.bytes().next()) && ends(text.bytes().next_back()) && text.bytes().all(inner)
}

fn is_dns_label(text: &str) -> bool {
    let ends = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    ends(text.bytes().next()) && ends(text.bytes().next_back()) && text.bytes().all(inner)
}

#[cfg(test)]
mod tests;
