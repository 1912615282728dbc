//! Writes a value as Go's `json.Marshal` does: members sorted by name, no spaces, and `<`, `>` and `&` escaped.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;

use kubechurn_client::api::float;
use kubechurn_client::json::{first, items, members};

use crate::jsonpath::{Found, Scalar};

/// How many levels deep a value is written: no object of a server is deeper.
const DEEPEST: u8 = 255;

/// The text of a value, which must be well-formed JSON.
pub(super) fn of(value: &str) -> String {
    let mut out = String::new();
    write(value, DEEPEST, &mut out);
    out
}

fn write(value: &str, depth: u8, out: &mut String) {
    let Some(depth) = depth.checked_sub(1) else { return out.push_str("null") };
    match first(value) {
        b'{' => {
            // One by one: collecting into a map would sort the members first, which takes much more code.
            let mut sorted: BTreeMap<Cow<'_, str>, &str> = BTreeMap::new();
            sorted.extend(members(value).unwrap_or_default().into_iter().map(|member| (member.name, member.value)));
            out.push('{');
            for (at, (name, value)) in sorted.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_text(&name, out);
                out.push(':');
                write(value, depth, out);
            }
            out.push('}');
        }
        b'[' => {
            out.push('[');
            for (at, value) in items(value).unwrap_or_default().into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(value, depth, out);
            }
            out.push(']');
        }
        _ => match Found::Json(value).scalar() {
            Some(Scalar::Text(text)) => write_text(&text, out),
            // Writing to a String cannot fail.
            Some(Scalar::Int(number)) => drop(write!(out, "{number}")),
            Some(Scalar::Float(number)) => float::write_json(number, out),
            Some(Scalar::Bool(truth)) => out.push_str(if truth { "true" } else { "false" }),
            None => out.push_str("null"),
        },
    }
}

fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\x08' => out.push_str("\\b"),
            '\x0c' => out.push_str("\\f"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\x1f' => {
                let _ = write!(out, "\\u{:04x}", u32::from(letter));
            }
            _ => out.push(letter),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_go_writes_them() {
        for (value, expected) in [
            (
                r#"{ "b" : 1 , "a" : [ true , null , -0.50 , 1e30 ] , "b" : 2 }"#,
                r#"{"a":[true,null,-0.5,1e+30],"b":2}"#,
            ),
            (
                r#""<a href=\"x\">\u0041\u2028\u0001\/</a>""#,
                r#""\u003ca href=\"x\"\u003eA\u2028\u0001/\u003c/a\u003e""#,
            ),
            ("[]", "[]"),
            ("{}", "{}"),
        ] {
            assert_eq!(of(value), expected);
        }
        let deep = "[".repeat(300) + &"]".repeat(300);
        assert!(of(&deep).contains("null"));
    }
}
