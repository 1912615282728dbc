//! The error of a request to the API server.

use serde_json::Value;

/// A request that failed: the `Status` of the answer, or why there was none.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    /// The HTTP status; 0 if there was no answer.
    pub code: u16,
    /// The `reason` of the `Status`, such as `AlreadyExists`; empty if there is none.
    pub reason: String,
    /// The message of the server.
    pub message: String,
    /// The reasons of the `causes` in the `Status`, such as `NamespaceTerminating`.
    pub causes: Vec<String>,
}

impl ApiError {
    /// There was no answer; `message` says why.
    pub fn unanswered(message: impl Into<String>) -> Self {
        Self { code: 0, reason: String::new(), message: message.into(), causes: Vec::new() }
    }

    /// An answer that is not a success. If the body is not a `Status`, the body itself is the message.
    pub fn from_response(code: u16, body: &[u8]) -> Self {
        let status: Value = serde_json::from_slice(body).unwrap_or_default();
        let text = |field: &str| status[field].as_str().unwrap_or_default().to_owned();
        let mut message = text("message");
        if message.is_empty() {
            message = format!("HTTP status {code}: {}", String::from_utf8_lossy(&body[..body.len().min(200)]).trim());
        }
        let causes = status.pointer("/details/causes").and_then(Value::as_array).into_iter().flatten();
        let causes = causes.filter_map(|cause| cause["reason"].as_str().map(str::to_owned)).collect();
        Self { code, reason: text("reason"), message, causes }
    }

    /// The object was changed since it was read, or was deleted and created again (`IsConflict`).
    pub fn is_conflict(&self) -> bool {
        self.code == 409 && self.reason != "AlreadyExists"
    }

    /// There is no such object (`IsNotFound`).
    pub fn is_not_found(&self) -> bool {
        self.code == 404
    }

    /// The name is already in use (`IsAlreadyExists`).
    pub fn is_already_exists(&self) -> bool {
        self.code == 409 && self.reason == "AlreadyExists"
    }

    /// The namespace is being deleted, and accepts no new objects (`HasStatusCause` of `NamespaceTerminating`).
    pub fn is_namespace_terminating(&self) -> bool {
        let is_terminating = self.causes.iter().any(|cause| cause == "NamespaceTerminating");
        is_terminating || (self.code == 403 && self.message.contains("because it is being terminated"))
    }
}

/// An answer about an object that may be deleted already: `None` for a 404.
///
/// # Errors
/// Every other error.
pub fn ignore_not_found<T>(answer: Result<T, ApiError>) -> Result<Option<T>, ApiError> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks which of the four questions the error answers with yes.
    fn check(code: u16, body: &str, expected: &str) {
        let error = ApiError::from_response(code, body.as_bytes());
        let answers = [
            ("conflict", error.is_conflict()),
            ("not found", error.is_not_found()),
            ("already exists", error.is_already_exists()),
            ("terminating", error.is_namespace_terminating()),
        ];
        let yes: Vec<&str> = answers.into_iter().filter(|(_, yes)| *yes).map(|(name, _)| name).collect();
        assert_eq!(yes.join(","), expected, "{code} {body}");
    }

    #[test]
    fn reasons_distinguish_the_two_kinds_of_409() {
        check(409, r#"{"reason":"Conflict","message":"x"}"#, "conflict");
        check(409, r#"{"reason":"AlreadyExists","message":"x"}"#, "already exists");
        check(404, "404 page not found", "not found");
        check(403, r#"{"details":{"causes":[{"reason":"NamespaceTerminating"}]}}"#, "terminating");
        check(500, "", "");
        assert_eq!(ApiError::from_response(502, b"bad gateway\n").to_string(), "HTTP status 502: bad gateway");
    }
}
