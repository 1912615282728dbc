//! Label and field selectors: parsing with the real server's error messages, and matching.

use std::iter::Peekable;
use std::vec::IntoIter;

use super::object::Object;

/// Which objects of a resource a request is about.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    /// Only this namespace.
    pub namespace: Option<String>,
    /// Requirements on labels, all of which must hold.
    pub labels: Vec<Requirement>,
    /// Requirements on fields, all of which must hold.
    pub fields: Vec<FieldRequirement>,
}

/// One requirement of a label selector.
#[derive(Debug, Clone, PartialEq)]
pub enum Requirement {
    /// The label is there.
    Exists(String),
    /// The label is not there.
    Missing(String),
    /// The label is there with one of the values.
    In(String, Vec<String>),
    /// The label is not there, or has none of the values.
    NotIn(String, Vec<String>),
}

/// One requirement of a field selector.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldRequirement {
    field: Field,
    value: String,
    equal: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Field {
    Name,
    Namespace,
}

impl Filter {
    /// Whether it selects by anything but the namespace; such lists do not say how many items remain.
    pub fn selects(&self) -> bool {
        !self.labels.is_empty() || !self.fields.is_empty()
    }

    /// Whether the object is selected.
    pub fn matches(&self, object: &Object) -> bool {
        self.namespace.as_deref().is_none_or(|namespace| *namespace == *object.namespace)
            && self.fields.iter().all(|requirement| requirement.matches(object))
            && self.labels.iter().all(|requirement| requirement.matches(object))
    }
}

impl FieldRequirement {
    fn matches(&self, object: &Object) -> bool {
        let actual = match self.field {
            Field::Name => &object.name,
            Field::Namespace => &object.namespace,
        };
        (**actual == *self.value) == self.equal
    }
}

impl Requirement {
    fn matches(&self, object: &Object) -> bool {
        let value_of = |name: &str| {
            object.labels.binary_search_by(|(label, _)| (**label).cmp(name)).ok().map(|index| &*object.labels[index].1)
        };
        match self {
            Self::Exists(name) => value_of(name).is_some(),
            Self::Missing(name) => value_of(name).is_none(),
            Self::In(name, values) => value_of(name).is_some_and(|value| values.iter().any(|one| one == value)),
            Self::NotIn(name, values) => value_of(name).is_none_or(|value| values.iter().all(|one| one != value)),
        }
    }
}

/// Parses a field selector; the error is the message of the 400.
pub fn parse_fields(text: &str) -> Result<Vec<FieldRequirement>, String> {
    let mut requirements = Vec::new();
    for term in text.split(',').filter(|term| !term.is_empty()) {
        let not_equal = term.split_once("!=").map(|(field, value)| (field, value, false));
        let equal =
            || term.split_once("==").or_else(|| term.split_once('=')).map(|(field, value)| (field, value, true));
        let Some((field, value, equal)) = not_equal.or_else(equal) else {
            return Err(format!("invalid selector: '{text}'; can't understand '{term}'"));
        };
        let field = match field {
            "metadata.name" => Field::Name,
            "metadata.namespace" => Field::Namespace,
            _ => return Err(format!("field label not supported: {field}")),
        };
        requirements.push(FieldRequirement { field, value: value.to_owned(), equal });
    }
    Ok(requirements)
}

/// Parses a label selector; the error is the message of the 400.
pub fn parse_labels(text: &str) -> Result<Vec<Requirement>, String> {
    let mut tokens = lex(text).into_iter().peekable();
    let mut requirements = Vec::new();
    while tokens.peek().is_some() {
        requirements
            .push(parse_requirement(&mut tokens).map_err(|error| format!("unable to parse requirement: {error}"))?);
        match tokens.next() {
            None => break,
            Some(token) if token == "," => {
                if !tokens.peek().is_some_and(|token| is_word(token) || token == "!") {
                    let found = tokens.next().unwrap_or_default();
                    return Err(format!("found '{found}', expected: identifier after ','"));
                }
            }
            Some(token) => return Err(format!("found '{token}', expected: ',' or 'end of string'")),
        }
    }
    Ok(requirements)
}

fn parse_requirement(tokens: &mut Peekable<IntoIter<String>>) -> Result<Requirement, String> {
    let mut name = tokens.next().unwrap_or_default();
    let negated = name == "!";
    if negated {
        name = tokens.next().unwrap_or_default();
    }
    if !is_word(&name) {
        return Err(format!("found '{name}', expected: identifier"));
    }
    if negated {
        return Ok(Requirement::Missing(name));
    }
    if tokens.peek().is_none_or(|token| token == ",") {
        return Ok(Requirement::Exists(name));
    }
    let operator = tokens.next().unwrap_or_default();
    match operator.as_str() {
        "=" | "==" => Ok(Requirement::In(name, vec![parse_value(tokens)?])),
        "!=" => Ok(Requirement::NotIn(name, vec![parse_value(tokens)?])),
        "in" => Ok(Requirement::In(name, parse_values(tokens)?)),
        "notin" => Ok(Requirement::NotIn(name, parse_values(tokens)?)),
        found => Err(format!("found '{found}', expected: in, notin, =, ==, !=, gt, lt")),
    }
}

fn parse_value(tokens: &mut Peekable<IntoIter<String>>) -> Result<String, String> {
    match tokens.peek() {
        None => Ok(String::new()),
        Some(token) if token == "," => Ok(String::new()),
        Some(token) if is_word(token) => Ok(tokens.next().unwrap_or_default()),
        Some(token) => Err(format!("found '{token}', expected: identifier")),
    }
}

fn parse_values(tokens: &mut Peekable<IntoIter<String>>) -> Result<Vec<String>, String> {
    let open = tokens.next().unwrap_or_default();
    if open != "(" {
        return Err(format!("found '{open}' expected: '('"));
    }
    let mut values = vec![String::new()];
    loop {
        let token = tokens.next().unwrap_or_default();
        match token.as_str() {
            ")" => return Ok(values),
            "," => values.push(String::new()),
            word if is_word(word) && values.last().is_some_and(String::is_empty) => {
                values.pop();
                values.push(token);
            }
            found => return Err(format!("found '{found}', expected: ',', ')' or identifier")),
        }
    }
}

fn is_word(token: &str) -> bool {
    !token.is_empty() && !token.starts_with(['(', ')', ',', '!', '=', '<', '>'])
}

fn lex(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut last = ' ';
    for letter in text.chars() {
        let symbol = matches!(letter, '(' | ')' | ',' | '!' | '=' | '<' | '>');
        let joins = match letter {
            // `!=` and `==` are one token, `,=` is not.
            '=' => matches!(last, '=' | '!') && tokens.last().is_some_and(|token| token.len() == 1),
            _ => !symbol && !matches!(last, '(' | ')' | ',' | '!' | '=' | '<' | '>') && !last.is_whitespace(),
        };
        if !letter.is_whitespace() {
            match tokens.last_mut().filter(|_| joins) {
                Some(token) => token.push(letter),
                None => tokens.push(letter.to_string()),
            }
        }
        last = letter;
    }
    tokens
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::object::Draft;
    use super::super::resource::PODS;
    use super::*;

    fn check(selector: &str, expected: Result<bool, &str>) {
        let metadata =
            json!({"name": "web", "namespace": "shop", "labels": {"app": "web", "tier": "front", "empty": ""}});
        let object = Draft::from_value(json!({"metadata": metadata, "spec": {}})).unwrap().into_object(PODS, 1);
        let labels = parse_labels(selector);
        let got = labels.map(|labels| Filter { labels, ..Filter::default() }.matches(&object));
        assert_eq!(got, expected.map_err(str::to_owned), "{selector}");
    }

    #[test]
    fn label_selectors() {
        for yes in [
            "",
            "app=web",
            "app == web",
            "app!=db",
            "missing!=x",
            "app",
            "!missing",
            "app in (db, web)",
            "app notin (db)",
            "missing notin (db)",
            "empty=",
            "empty in ()",
            "app=web,tier=front,!x",
            "app,tier in (front)",
        ] {
            check(yes, Ok(true));
        }
        for no in
            ["app=db", "app!=web", "missing", "!app", "app in (db)", "app notin (web,db)", "missing=", "app=web,x"]
        {
            check(no, Ok(false));
        }
    }

    #[test]
    fn label_selectors_that_do_not_parse() {
        check("a in b", Err("unable to parse requirement: found 'b' expected: '('"));
        check("=x", Err("unable to parse requirement: found '=', expected: identifier"));
        check("a b", Err("unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"));
        check("a in (b", Err("unable to parse requirement: found '', expected: ',', ')' or identifier"));
        check("a=b,", Err("found '', expected: identifier after ','"));
        check("a=b)", Err("found ')', expected: ',' or 'end of string'"));
    }

    #[test]
    fn field_selectors() {
        let metadata = json!({"name": "web", "namespace": "shop"});
        let object = Draft::from_value(json!({"metadata": metadata, "spec": {}})).unwrap().into_object(PODS, 1);
        for (selector, expected) in [
            ("metadata.name=web", Ok(true)),
            ("metadata.name==web,metadata.namespace!=shop", Ok(false)),
            ("spec.nosuch=x", Err("field label not supported: spec.nosuch")),
            ("web", Err("invalid selector: 'web'; can't understand 'web'")),
        ] {
            let fields = parse_fields(selector);
            let got = fields.map(|fields| Filter { fields, ..Filter::default() }.matches(&object));
            assert_eq!(got, expected.map_err(str::to_owned), "{selector}");
        }
    }
}
