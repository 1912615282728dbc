//! Label selectors, printed as the SELECTOR columns print them.

use serde_json::Result;

use kubechurn_client::api::cell::Cell;
use kubechurn_client::api::sort::{sort, sort_by};
use kubechurn_client::json::Text;

use super::parts::{Labels, push_after_comma};
use super::printed::Fields;

/// A label selector as workloads have it (apimachinery `meta/v1/types.go`).
#[derive(Debug, Default)]
pub struct LabelSelector<'a> {
    match_labels: Labels<'a>,
    match_expressions: Vec<Expression<'a>>,
}

#[derive(Debug)]
struct Expression<'a> {
    key: Text<'a>,
    operator: Text<'a>,
    values: Vec<Text<'a>>,
}

/// What a selector requires of one label.
enum Requirement<'a> {
    Equals(&'a str),
    In(Vec<&'a str>),
    NotIn(Vec<&'a str>),
    Exists,
    DoesNotExist,
}

impl<'de> LabelSelector<'de> {
    /// The selector that a value is; `None` if the value is missing.
    ///
    /// # Errors
    ///
    /// When the value is no selector.
    pub fn read(fields: &Fields<'_, 'de>, at: usize) -> Result<Option<LabelSelector<'de>>> {
        let mut selector = LabelSelector::default();
        fields.map(at, &["matchLabels", "matchExpressions"], &mut |fields| {
            selector.match_labels = fields.value(0)?;
            fields.each(1, &["key", "operator", "values"], &mut |one| {
                let (key, operator, values) = (one.words(0)?, one.words(1)?, one.value(2)?);
                selector.match_expressions.push(Expression { key, operator, values });
                Ok(())
            })
        })?;
        Ok(fields.is_set(at).then_some(selector))
    }
}

impl LabelSelector<'_> {
    /// The selector as one text, empty if it requires nothing; `None` if the selector is invalid.
    ///
    /// The rules are those of `LabelSelectorAsSelector` (apimachinery `meta/v1/helpers.go`) and of the selector's
    /// `String` (`labels/selector.go`): sorted by key, and the values of a set sorted too. Keys and values are not
    /// checked, because the server stores only well-formed ones.
    fn print(&self) -> Option<String> {
        let mut requirements: Vec<(&str, Requirement<'_>)> =
            self.match_labels.0.iter().map(|(key, value)| (&**key, Requirement::Equals(value))).collect();
        for expression in &self.match_expressions {
            requirements.push((&expression.key, expression.requirement()?));
        }
        sort_by(&mut requirements, |(one, _), (two, _)| one.cmp(two));

        let labels = self.match_labels.0.iter().map(|(key, value)| key.len() + value.len() + 2);
        let mut printed = String::with_capacity(labels.sum());
        for (key, requirement) in &requirements {
            match requirement {
                Requirement::DoesNotExist => {
                    push_after_comma(&mut printed, "!");
                    printed.push_str(key);
                }
                Requirement::Exists => push_after_comma(&mut printed, key),
                Requirement::Equals(value) => {
                    push_after_comma(&mut printed, key);
                    printed.push('=');
                    printed.push_str(value);
                }
                Requirement::In(values) => push_set(&mut printed, key, " in (", values),
                Requirement::NotIn(values) => push_set(&mut printed, key, " notin (", values),
            }
        }
        Some(printed)
    }
}

impl Expression<'_> {
    fn requirement(&self) -> Option<Requirement<'_>> {
        let mut values: Vec<&str> = self.values.iter().map(|value| &**value).collect();
        sort(&mut values);
        match (&*self.operator, values.is_empty()) {
            ("In", false) => Some(Requirement::In(values)),
            ("NotIn", false) => Some(Requirement::NotIn(values)),
            ("Exists", true) => Some(Requirement::Exists),
            ("DoesNotExist", true) => Some(Requirement::DoesNotExist),
            _ => None,
        }
    }
}

fn push_set(printed: &mut String, key: &str, open: &str, values: &[&str]) {
    push_after_comma(printed, key);
    printed.push_str(open);
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            printed.push(',');
        }
        printed.push_str(value);
    }
    printed.push(')');
}

/// Prints the selector in the first value as a Deployment's SELECTOR: an empty selector prints nothing
/// (`printDeployment`).
///
/// # Errors
///
/// When the value is no selector.
pub fn bare_cell(fields: &Fields<'_, '_>) -> Result<Cell> {
    Ok(match LabelSelector::read(fields, 0)?.as_ref().map(LabelSelector::print) {
        None => Cell::Static(""),
        Some(None) => Cell::Static("<invalid>"),
        Some(Some(printed)) => Cell::Text(printed.into()),
    })
}

/// Prints the selector in the first value as the SELECTOR of every other workload: an empty selector prints `<none>`
/// (`FormatLabelSelector`).
///
/// # Errors
///
/// When the value is no selector.
pub fn cell(fields: &Fields<'_, '_>) -> Result<Cell> {
    Ok(match LabelSelector::read(fields, 0)?.as_ref().map(LabelSelector::print) {
        Some(None) => Cell::Static("<error>"),
        Some(Some(printed)) if !printed.is_empty() => Cell::Text(printed.into()),
        _ => Cell::Static("<none>"),
    })
}

/// The selector of an admission policy's parameters, in the form in which Go's generated `String` writes the struct
/// (apimachinery `meta/v1/generated.pb.go`).
pub fn go_cell(selector: &LabelSelector<'_>) -> Cell {
    let mut labels: Vec<_> = selector.match_labels.0.iter().collect();
    sort(&mut labels);
    let mut printed = String::from("&LabelSelector{MatchLabels:map[string]string{");
    for (key, value) in labels {
        [&**key, ": ", value, ","].iter().for_each(|piece| printed.push_str(piece));
    }
    printed.push_str("},MatchExpressions:[]LabelSelectorRequirement{");
    for Expression { key, operator, values } in &selector.match_expressions {
        let values: Vec<&str> = values.iter().map(|value| &**value).collect();
        let pieces =
            ["LabelSelectorRequirement{Key:", key, ",Operator:", operator, ",Values:[", &values.join(" "), "],},"];
        pieces.iter().for_each(|piece| printed.push_str(piece));
    }
    printed.push_str("},}");
    Cell::Text(printed.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::kinds::printed::tests::print;

    fn check(text: &str, expected: &str) {
        assert_eq!(print(cell, text), Some(Cell::Text(expected.into())), "{text}");
    }

    #[test]
    fn requirements_are_sorted_by_key_and_sets_by_value() {
        for text in ["", "null", "{}", r#"{"matchLabels":null,"matchExpressions":null}"#] {
            assert_eq!(print(cell, text), Some(Cell::Static("<none>")), "{text}");
        }
        check(r#"{"matchLabels":{"a-b":"1","a":"2"}}"#, "a=2,a-b=1");
        check(
            r#"{"matchLabels":{"m":"1"},"matchExpressions":[
                {"key":"z","operator":"In","values":["b","a"]},{"key":"n","operator":"NotIn","values":["c"]},
                {"key":"b","operator":"Exists","values":null},{"key":"a","operator":"DoesNotExist"}]}"#,
            "!a,b,m=1,n notin (c),z in (a,b)",
        );
        check(
            r#"{"matchLabels":{"a":"1"},"matchExpressions":[{"key":"a","operator":"In","values":["1"]}]}"#,
            "a=1,a in (1)",
        );
    }

    #[test]
    fn impossible_selectors_say_so() {
        for expression in [
            r#"{"key":"a","operator":"Near"}"#,
            r#"{"key":"a","operator":"In","values":[]}"#,
            r#"{"key":"a","operator":"Exists","values":["b"]}"#,
            r#"{"key":"a"}"#,
        ] {
            let text = format!(r#"{{"matchExpressions":[{expression}]}}"#);
            assert_eq!(print(cell, &text), Some(Cell::Static("<error>")), "{text}");
            assert_eq!(print(bare_cell, &text), Some(Cell::Static("<invalid>")), "{text}");
        }
        assert_eq!(print(bare_cell, "null"), Some(Cell::Static("")));
        assert_eq!(print(bare_cell, "{}"), Some(Cell::Text("".into())));
        for text in ["[]", "7", r#"{"matchLabels":[]}"#, r#"{"matchExpressions":{}}"#, r#"{"matchExpressions":[7]}"#] {
            assert_eq!(print(cell, text), None, "{text}");
        }
    }
}
