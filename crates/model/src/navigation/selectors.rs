//! Checks the selectors that a user types, before the server gets them.

use kubechurn_client::api::selector::{FieldSelector, LabelSelector, SelectorError};

/// Whether a text is a label selector.
///
/// # Errors
///
/// What is wrong with the text, and an example of a label selector.
pub fn check_labels(text: &str) -> Result<(), String> {
    let explained =
        |error: SelectorError| format!("{error}. Labels are chosen as in app=web,tier!=db,env in (a,b),!canary");
    LabelSelector::parse(text).map(drop).map_err(explained)
}

/// Whether a text is a field selector. Only the server knows which fields there are.
///
/// # Errors
///
/// What is wrong with the text, and an example of a field selector.
pub fn check_fields(text: &str) -> Result<(), String> {
    let explained =
        |error: SelectorError| format!("{error}. Fields are chosen as in status.phase!=Running,spec.nodeName=n1");
    FieldSelector::parse(text).map(drop).map_err(explained)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_selector_is_shown_before_anyone_is_asked() {
        for text in ["", "app=web", "app in (a, b),!x", "tier!=db"] {
            assert_eq!(check_labels(text), Ok(()), "{text}");
        }
        for text in ["", "status.phase!=Running", "metadata.name=a,spec.nodeName=n"] {
            assert_eq!(check_fields(text), Ok(()), "{text}");
        }
        for text in ["app in a", "=", "a=b=c", "app in (a"] {
            assert!(check_labels(text).is_err_and(|words| words.contains("app=web")), "{text}");
        }
        for text in ["status.phase", "a>b"] {
            assert!(check_fields(text).is_err_and(|words| words.contains("status.phase!=")), "{text}");
        }
    }
}
