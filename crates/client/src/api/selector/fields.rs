//! Field selectors: `metadata.name=web,status.phase!=Running`.

use std::fmt;

use super::{SelectorError, write_joined};
use crate::api::sort::sort;

/// Requirements on fields, all of which must hold; none selects everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FieldSelector {
    /// Sorted, each once.
    requirements: Vec<FieldRequirement>,
}

/// The requirement on one field.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldRequirement {
    field: String,
    value: String,
    equal: bool,
}

impl FieldSelector {
    /// Reads `field=value`, `field==value` and `field!=value`, separated by commas. In a value `\,`, `\=` and `\\`
    /// stand for the character itself. Empty terms are passed over.
    ///
    /// Which fields exist depends on the resource, and is not checked here.
    ///
    /// # Errors
    ///
    /// When a term has no operator, or its value has another escape, or an `=` without one.
    pub fn parse(text: &str) -> Result<FieldSelector, SelectorError> {
        let mut requirements = Vec::new();
        for (at, term) in terms(text).into_iter().filter(|(_, term)| !term.is_empty()) {
            let Some((field, equal, value)) = split(term) else {
                return Err(SelectorError::new(at, format!("invalid selector: '{text}'; can't understand '{term}'")));
            };
            let value = unescape(value, at + term.len() - value.len())?;
            // A term without a field and a value requires nothing (`fields.Selector.Transform`).
            if !(field.is_empty() && value.is_empty()) {
                requirements.push(FieldRequirement { field: field.to_owned(), value, equal });
            }
        }
        sort(&mut requirements);
        requirements.dedup();
        Ok(FieldSelector { requirements })
    }

    /// Whether an object has the fields that are asked for. `value_of` gives the value of a field by its path,
    /// empty where there is none.
    pub fn matches<'a>(&self, value_of: impl Fn(&str) -> &'a str) -> bool {
        self.requirements
            .iter()
            .all(|requirement| (value_of(&requirement.field) == requirement.value) == requirement.equal)
    }

    /// The requirements, in the order of the fields.
    pub fn requirements(&self) -> &[FieldRequirement] {
        &self.requirements
    }

    /// Whether it selects everything.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }
}

impl FieldRequirement {
    /// The path of the field, such as `metadata.name`.
    pub fn field(&self) -> &str {
        &self.field
    }

    /// The value that the field is compared with, without escapes.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// Whether the field must have the value; otherwise it must not.
    pub fn is_equality(&self) -> bool {
        self.equal
    }
}

impl fmt::Display for FieldSelector {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_joined(&self.requirements, formatter)
    }
}

impl fmt::Display for FieldRequirement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.field)?;
        formatter.write_str(if self.equal { "=" } else { "!=" })?;
        for letter in self.value.chars() {
            if is_special(letter) {
                formatter.write_str("\\")?;
            }
            write!(formatter, "{letter}")?;
        }
        Ok(())
    }
}

fn is_special(letter: char) -> bool {
    matches!(letter, '\\' | ',' | '=')
}

/// The terms between commas, with their offsets; a comma after a backslash belongs to its term.
fn terms(text: &str) -> Vec<(usize, &str)> {
    let (mut terms, mut start, mut escaped) = (Vec::new(), 0, false);
    for (at, letter) in text.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ',' => {
                terms.push((start, &text[start..at]));
                start = at + 1;
            }
            _ => {}
        }
    }
    terms.push((start, &text[start..]));
    terms
}

/// Cuts a term at its first operator. The field before the operator has no escapes.
fn split(term: &str) -> Option<(&str, bool, &str)> {
    let equals = term.find('=')?;
    if let Some(field) = term[..equals].strip_suffix('!') {
        return Some((field, false, &term[equals + 1..]));
    }
    let value = &term[equals + 1..];
    Some((&term[..equals], true, value.strip_prefix('=').unwrap_or(value)))
}

fn unescape(value: &str, start: usize) -> Result<String, SelectorError> {
    let mut unescaped = String::with_capacity(value.len());
    let mut letters = value.char_indices();
    while let Some((at, letter)) = letters.next() {
        let letter = match letter {
            '\\' => match letters.next() {
                Some((_, escaped)) if is_special(escaped) => escaped,
                other => {
                    let other = other.map(|(_, letter)| letter.to_string()).unwrap_or_default();
                    let words = format!("invalid field selector: invalid escape sequence: \\{other}");
                    return Err(SelectorError::new(start + at, words));
                }
            },
            ',' | '=' => {
                let words = format!("invalid field selector: unescaped character in value: {letter}");
                return Err(SelectorError::new(start + at, words));
            }
            letter => letter,
        };
        unescaped.push(letter);
    }
    Ok(unescaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a text prints as once parsed, or the error.
    fn check(text: &str, expected: Result<&str, (&str, usize)>) {
        let parsed = FieldSelector::parse(text);
        let printed = parsed.as_ref().map(ToString::to_string).map_err(|error| (&*error.words, error.at));
        assert_eq!(printed.as_ref().map(|printed| &**printed).map_err(|error| *error), expected, "{text}");
        if let (Ok(parsed), Ok(printed)) = (&parsed, printed) {
            assert_eq!(FieldSelector::parse(&printed).as_ref(), Ok(parsed), "{text}");
        }
    }

    /// Whether a text selects an object of the name `a=b` in the namespace `x`.
    fn matches(text: &str) -> bool {
        FieldSelector::parse(text).unwrap().matches(|field| match field {
            "metadata.name" => "a=b",
            "metadata.namespace" => "x",
            _ => "",
        })
    }

    #[test]
    fn what_parses_prints_in_one_form() {
        for (text, printed) in [
            ("", ""),
            ("x=a,y=b,z=c", "x=a,y=b,z=c"),
            ("y=b,x!=a", "x!=a,y=b"),
            (r"x=a||y\=b", r"x=a||y\=b"),
            (r"x=a\=\=b", r"x=a\=\=b"),
            ("x==a", "x=a"),
            ("x==", "x="),
            ("x=", "x="),
            ("a=a,", "a=a"),
            (",a=a,,a=a", "a=a"),
            (r"k=\,,k2=v2", r"k=\,,k2=v2"),
            (r"k=\\,k2=v2", r"k=\\,k2=v2"),
            (r"k=\\\,,k2=v2", r"k=\\\,,k2=v2"),
            (r"k\,l=v", r"k\,l=v"),
            (r"k\=v", r"k\=v"),
            ("함=수,목=록", "목=록,함=수"),
            ("a!!=b", "a!!=b"),
            ("=x", "=x"),
            ("=", ""),
        ] {
            check(text, Ok(printed));
        }
    }

    #[test]
    fn what_does_not_parse_says_what_and_where() {
        check("web", Err(("invalid selector: 'web'; can't understand 'web'", 0)));
        check("a=b,web", Err(("invalid selector: 'a=b,web'; can't understand 'web'", 4)));
        check("x=a==b", Err(("invalid field selector: unescaped character in value: =", 3)));
        check("x===b", Err(("invalid field selector: unescaped character in value: =", 3)));
        check("a=1,x=록=b", Err(("invalid field selector: unescaped character in value: =", 9)));
        check(r"k=\a\b\", Err((r"invalid field selector: invalid escape sequence: \a", 2)));
        check(r"k=v\", Err((r"invalid field selector: invalid escape sequence: \", 3)));
        check(r"k=\\\", Err((r"invalid field selector: invalid escape sequence: \", 4)));
        assert_eq!(
            FieldSelector::parse("web").unwrap_err().to_string(),
            "invalid selector: 'web'; can't understand 'web', at byte 0"
        );
    }

    #[test]
    fn every_requirement_must_hold() {
        for (text, expected) in [
            ("", true),
            (r"metadata.name=a\=b", true),
            (r"metadata.name!=a\=b", false),
            ("metadata.namespace==x", true),
            (r"metadata.namespace=x,metadata.name=other", false),
            ("spec.nodeName=", true),
            ("spec.nodeName!=n", true),
        ] {
            assert_eq!(matches(text), expected, "{text}");
        }
    }
}
