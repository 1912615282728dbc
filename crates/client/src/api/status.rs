//! What the server answers when it does not do what was asked, and what follows from that.

use crate::json::{self, Text};

/// What a failed request or an ERROR event means for a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The version asked for is gone (410): a new list is needed.
    Expired,
    /// The version asked for is ahead of the server: ask for its newest instead.
    TooLarge,
    /// Asked too often (429): wait, then ask the same again.
    TooManyRequests,
    /// The server could not be reached, or a proxy before it could not.
    Unreachable,
    /// The server failed (500, 504): wait, then start over.
    Failing,
    /// The server is starting, and says so in one of several ways (403, 500, 503): wait, then ask the same again.
    NotReady,
    /// The server does not know who asks (401): the credential is being renewed, or has run out. Ask the same again.
    Unauthorized,
    /// Not allowed (403): only someone else can change that, so ask seldom.
    Forbidden,
    /// The request itself is wrong or not served (400, 404, 405, 406, 422): asking again will not help.
    Refused,
}

/// A request or a watch that failed: what follows from that, and the server's own words.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// What follows from it.
    pub verdict: Verdict,
    /// The HTTP status, or the code of an ERROR event; 0 where no answer came.
    pub code: u16,
    /// The server's own words.
    pub words: String,
    /// How long the server asks to wait, in milliseconds.
    pub retry_after: Option<f64>,
}

impl Failure {
    /// A failure without an answer, for the reason in `words`.
    pub fn unreachable(words: impl Into<String>) -> Failure {
        Failure { verdict: Verdict::Unreachable, code: 0, words: words.into(), retry_after: None }
    }

    /// An ERROR event of a watch: its object is a `Status`.
    ///
    /// Its verdict is never [`Verdict::Unreachable`], for the server that sent it was reached.
    pub fn from_error_event(object: &str) -> Failure {
        let mut failure = Failure::from_response(0, None, object);
        if failure.verdict == Verdict::Unreachable {
            failure.verdict = Verdict::Failing;
        }
        failure
    }

    /// A response that is no success. Where `code` is 0, the code is that of the body.
    ///
    /// The body may be a `Status`, plain text (from a proxy, or from priority and fairness), anything else, or empty.
    /// `retry_after` is the value of that header in seconds.
    pub fn from_response(code: u16, retry_after: Option<f64>, body: &str) -> Failure {
        let status = Status::read(body.trim()).unwrap_or_default();
        let is_status = &*status.kind == "Status";
        let code = if code != 0 { code } else { status.code.unwrap_or(500) };
        // Servers of different releases say this in three ways (client-go, `isTooLargeResourceVersionError`).
        let too_large = status.has_cause_too_large
            || status.message.contains("Too large resource version")
            // etcd's own words, which servers before 1.35 pass on where a limit was set (kubernetes 132374).
            || status.message.contains("mvcc: required revision is a future revision");
        let verdict = match (code, &*status.reason) {
            _ if too_large => Verdict::TooLarge,
            (410, _) | (_, "Expired" | "Gone") => Verdict::Expired,
            (429, _) | (_, "TooManyRequests") => Verdict::TooManyRequests,
            (403 | 500 | 503, _) if is_starting(body) => Verdict::NotReady,
            (401, _) => Verdict::Unauthorized,
            (403, _) => Verdict::Forbidden,
            // kubectl proxy says in plain text that it cannot reach its API server.
            (500, _) if !is_status => Verdict::Unreachable,
            // The server cannot parse the resourceVersion: it names no cause and no reason.
            (500, "") if status.message.starts_with("resourceVersion: Invalid value") => Verdict::Expired,
            (502 | 503, _) => Verdict::Unreachable,
            (400..=499, _) => Verdict::Refused,
            _ => Verdict::Failing,
        };
        let words = if code == 403 && !is_status && !body.trim().is_empty() {
            by_proxy(body)
        } else if !status.message.is_empty() {
            status.message.0.into_owned()
        } else if body.trim().is_empty() {
            format!("HTTP status {code}, without a word")
        } else {
            first_words(body)
        };
        let seconds = retry_after.or(status.retry_after_seconds);
        let retry_after =
            seconds.filter(|seconds| seconds.is_finite() && *seconds > 0.0).map(|seconds| seconds.min(60.0) * 1000.0);
        Failure { verdict, code, words, retry_after }
    }
}

/// How the words begin of a request that a program between page and API server refused.
pub const BY_PROXY: &str = "not passed on to the server: ";

/// A 403 that is no `Status` is no API server's. `kubectl proxy` says nothing but the status's name (its `FilterServer`).
fn by_proxy(body: &str) -> String {
    let why = match body.trim() {
        "Forbidden" => "kubectl proxy refuses this path. Its flags --reject-paths and --accept-paths decide",
        _ => &first_words(body),
    };
    format!("{BY_PROXY}{why}")
}

/// Whether an API server says that it is starting: its admission (`not yet ready to handle request`), its health checks
/// (`poststarthook/…`), or its own words.
fn is_starting(body: &str) -> bool {
    const WORDS: [&str; 4] = ["not yet ready", "poststarthook", "post-start-hook", "apiserver is starting"];
    WORDS.iter().any(|words| body.contains(words))
}

/// The first line of a text that is no `Status`, at most 200 characters.
fn first_words(body: &str) -> String {
    body.trim().lines().next().unwrap_or_default().chars().take(200).collect()
}

/// What is read of a `Status`.
#[derive(Default)]
struct Status<'a> {
    kind: Text<'a>,
    reason: Text<'a>,
    message: Text<'a>,
    code: Option<u16>,
    /// Whether one of the causes says that the version asked for is ahead of the server.
    has_cause_too_large: bool,
    retry_after_seconds: Option<f64>,
}

impl<'a> Status<'a> {
    fn read(body: &'a str) -> serde_json::Result<Status<'a>> {
        let paths = ["kind", "reason", "message", "code", "details causes", "details retryAfterSeconds"];
        let [kind, reason, message, code, causes, seconds, ..] = json::pick(body, &paths)?;
        let mut has_cause_too_large = false;
        json::each_item(causes, &mut |cause| {
            let [reason, message, ..] = json::pick(cause, &["reason", "message"])?;
            has_cause_too_large |= &*Text::read(reason)? == "ResourceVersionTooLarge"
                || &*Text::read(message)? == "Too large resource version";
            Ok(())
        })?;
        Ok(Status {
            kind: Text::read(kind)?,
            reason: Text::read(reason)?,
            message: Text::read(message)?,
            code: code.parse().ok(),
            has_cause_too_large,
            retry_after_seconds: seconds.parse().ok(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(code: u16, body: &str, verdict: Verdict, words: &str) {
        let failure = Failure::from_response(code, None, body);
        assert_eq!((failure.verdict, &*failure.words), (verdict, words), "{code} {body}");
    }

    #[test]
    fn answers_are_sorted_by_what_follows() {
        check(
            410,
            r#"{"kind":"Status","reason":"Expired","message":"too old","code":410}"#,
            Verdict::Expired,
            "too old",
        );
        check(0, r#"{"kind":"Status","reason":"Gone","message":"too old","code":410}"#, Verdict::Expired, "too old");
        check(
            429,
            "Too many requests, please try again later.\n",
            Verdict::TooManyRequests,
            "Too many requests, please try again later.",
        );
        check(
            403,
            r#"{"kind":"Status","message":"pods is forbidden: no"}"#,
            Verdict::Forbidden,
            "pods is forbidden: no",
        );
        // What stands before the server refuses in words of its own, and does not ask it.
        check(
            403,
            "Forbidden\n",
            Verdict::Forbidden,
            "not passed on to the server: kubectl proxy refuses this path. Its flags --reject-paths and --accept-paths decide",
        );
        check(403, "kubechurn passes no", Verdict::Forbidden, "not passed on to the server: kubechurn passes no");
        check(403, "", Verdict::Forbidden, "HTTP status 403, without a word");
        check(401, r#"{"kind":"Status","message":"Unauthorized"}"#, Verdict::Unauthorized, "Unauthorized");
        // One number, and other things: a server that starts says so with the same codes.
        for code in [403, 500, 503] {
            let words = "pods is forbidden: not yet ready to handle request";
            let body = format!(r#"{{"kind":"Status","reason":"Forbidden","message":"{words}","code":{code}}}"#);
            check(code, &body, Verdict::NotReady, words);
        }
        let hooks = "[+]ping ok\n[-]poststarthook/rbac/bootstrap-roles failed: reason withheld";
        check(500, hooks, Verdict::NotReady, "[+]ping ok");
        check(
            500,
            "dial tcp 127.0.0.1:6443: connect: connection refused\n",
            Verdict::Unreachable,
            "dial tcp 127.0.0.1:6443: connect: connection refused",
        );
        check(
            500,
            r#"{"kind":"Status","reason":"InternalError","message":"etcd","code":500}"#,
            Verdict::Failing,
            "etcd",
        );
        // What the store cannot read has no event, whoever reports it.
        for reason in ["StorageReadError", "InternalError"] {
            let words = "saw a DELETED event, but object data is corrupt";
            let body = format!(r#"{{"kind":"Status","reason":"{reason}","message":"{words}","code":500}}"#);
            check(500, &body, Verdict::Failing, words);
        }
        check(404, "404 page not found\n", Verdict::Refused, "404 page not found");
        check(503, "", Verdict::Unreachable, "HTTP status 503, without a word");
        check(200, "{}", Verdict::Failing, "{}");
    }

    #[test]
    fn the_spellings_of_too_large_are_known() {
        for body in [
            r#"{"kind":"Status","reason":"Timeout","message":"x","code":504,"details":{"causes":[{"reason":"ResourceVersionTooLarge"}]}}"#,
            r#"{"kind":"Status","reason":"Timeout","message":"Timeout: Too large resource version: 9, current: 1","code":504}"#,
            r#"{"kind":"Status","reason":"Timeout","message":"x","code":504,"details":{"causes":[{"message":"Too large resource version"}]}}"#,
            r#"{"kind":"Status","message":"Too large resource version","code":500}"#,
            r#"{"kind":"Status","message":"etcdserver: mvcc: required revision is a future revision","code":500}"#,
        ] {
            assert_eq!(Failure::from_response(504, None, body).verdict, Verdict::TooLarge, "{body}");
        }
    }

    #[test]
    fn an_error_event_never_means_that_nothing_answers() {
        for object in ["{}", "7", r#"{"kind":"Status","code":503}"#] {
            assert_eq!(Failure::from_error_event(object).verdict, Verdict::Failing, "{object}");
        }
    }

    #[test]
    fn the_wait_that_is_asked_for_is_read_and_bounded() {
        let body = r#"{"kind":"Status","code":429,"details":{"retryAfterSeconds":2}}"#;
        assert_eq!(Failure::from_response(429, None, body).retry_after, Some(2000.0));
        assert_eq!(Failure::from_response(429, Some(1e9), "").retry_after, Some(60_000.0));
        assert_eq!(Failure::from_response(429, Some(f64::NAN), "").retry_after, None);
    }
}
