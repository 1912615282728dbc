//! Label selectors, printed as the SELECTOR columns print them.

use serde::Deserialize;

use kubechurn_client::api::cell::Cell;
use kubechurn_client::api::sort::{sort, sort_by};
use kubechurn_client::api::text::Text;

use super::parts::{Labels, or_default, push_after_comma, structures};

/// A label selector as workloads have it (apimachinery `meta/v1/types.go`).
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LabelSelector<'a> {
    #[serde(borrow)]
    match_labels: Labels<'a>,
    #[serde(borrow, deserialize_with = "structures")]
    match_expressions: Vec<Expression<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Expression<'a> {
    #[serde(borrow)]
    key: Text<'a>,
    #[serde(borrow)]
    operator: Text<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
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

/// A Deployment's SELECTOR: an empty selector prints nothing (`printDeployment`).
pub fn bare_cell(selector: Option<&LabelSelector<'_>>) -> Cell {
    match selector.map(LabelSelector::print) {
        None => Cell::Static(""),
        Some(None) => Cell::Static("<invalid>"),
        Some(Some(printed)) => Cell::Text(printed.into()),
    }
}

/// The SELECTOR of every other workload: an empty selector prints `<none>` (`FormatLabelSelector`).
pub fn cell(selector: Option<&LabelSelector<'_>>) -> Cell {
    match selector.map(LabelSelector::print) {
        Some(None) => Cell::Static("<error>"),
        Some(Some(printed)) if !printed.is_empty() => Cell::Text(printed.into()),
        _ => Cell::Static("<none>"),
    }
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

    fn check(text: &str, expected: &str) {
        let selector: Option<LabelSelector<'_>> = serde_json::from_str(text).unwrap();
        assert_eq!(cell(selector.as_ref()).text(), Some(expected), "{text}");
    }

    #[test]
    fn requirements_are_sorted_by_key_and_sets_by_value() {
        check("null", "<none>");
        check("{}", "<none>");
        check(r#"{"matchLabels":null,"matchExpressions":null}"#, "<none>");
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
        check(r#"{"matchExpressions":[{"key":"a","operator":"Near"}]}"#, "<error>");
        check(r#"{"matchExpressions":[{"key":"a","operator":"In","values":[]}]}"#, "<error>");
        check(r#"{"matchExpressions":[{"key":"a","operator":"Exists","values":["b"]}]}"#, "<error>");
        let selector: LabelSelector<'_> = serde_json::from_str(r#"{"matchExpressions":[{"key":"a"}]}"#).unwrap();
        assert_eq!(bare_cell(Some(&selector)), Cell::Static("<invalid>"));
        assert_eq!(bare_cell(None), Cell::Static(""));
    }
}
