//! Why a log cannot be read, in words, and whether it is worth to ask again.

use kubechurn_client::api::status::{BY_PROXY, Failure, Verdict};

/// Why there is no log.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// In a sentence or two.
    pub words: String,
    /// What follows from it.
    pub then: Then,
}

/// What follows from a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// The container has not started: its log is asked for when it has.
    Waits,
    /// There is no such log, and that does not change.
    Over,
    /// Only the user can change that.
    Forbidden,
    /// It is asked again after a while.
    Again,
}

/// Reads an answer. `namespace` and `container` are those that were asked for.
pub fn read(failure: &Failure, (namespace, container): (&str, &str)) -> Refusal {
    let said = failure.words.trim_end_matches('.');
    let (words, then) = match failure.verdict {
        Verdict::Forbidden if said.starts_with(BY_PROXY) => (
            format!(
                "The log was {said}. The program between this page and the server must let GET …/pods/NAME/log through."
            ),
            Then::Forbidden,
        ),
        Verdict::Forbidden => (
            format!(
                "You may not read logs in {namespace}: the verb get on pods/log is missing. Check it with: kubectl auth can-i get \
                 pods/log -n {namespace}. A Role needs this rule: apiGroups [\"\"], resources [\"pods/log\"], verbs [\"get\"]."
            ),
            Then::Forbidden,
        ),
        Verdict::Unauthorized => (format!("The server does not know who asks: {said}."), Then::Again),
        Verdict::Refused if said.contains("waiting to start") || said.contains("no logs yet") => {
            let why =
                said.rsplit_once("waiting to start").map_or("", |(_, why)| why).trim_start_matches([':', ' ', '-']);
            let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
            (format!("{container} has not started{why}: its log follows when it has."), Then::Waits)
        }
        Verdict::Refused if said.contains("previous terminated container") => {
            (format!("{container} has no run before this one, or the node has removed its log."), Then::Over)
        }
        Verdict::Refused if failure.code == 404 => {
            (format!("The server has no such Pod any more: {said}. What was read of its log is kept."), Then::Over)
        }
        Verdict::Refused => (format!("The server refuses it: {said}."), Then::Over),
        Verdict::TooManyRequests => (format!("The server is asked too often: {said}."), Then::Again),
        Verdict::Unreachable if failure.code == 0 => (format!("The log broke off: {said}."), Then::Again),
        _ => (format!("The node's kubelet cannot be reached, or fails: {said}."), Then::Again),
    };
    Refusal { words, then }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: u16, words: &str, then: Then, expected: &str) {
        let body = format!(r#"{{"kind":"Status","message":{words:?},"code":{code}}}"#);
        let refusal = read(&Failure::from_response(code, None, &body), ("shop", "web"));
        assert_eq!(refusal.then, then, "{refusal:?}");
        assert!(refusal.words.contains(expected), "{}", refusal.words);
    }

    #[test]
    fn what_a_server_says_is_said_in_words() {
        check(403, "pods \"a\" is forbidden", Then::Forbidden, "kubectl auth can-i get pods/log -n shop");
        let waits = "container \"web\" in pod \"a\" is waiting to start: ContainerCreating";
        check(400, waits, Then::Waits, "web has not started (ContainerCreating)");
        check(400, "container \"web\" in pod \"a\" is waiting to start - no logs yet", Then::Waits, "(no logs yet)");
        check(
            400,
            "previous terminated container \"web\" in pod \"a\" not found",
            Then::Over,
            "no run before this one",
        );
        check(400, "container nosuch is not valid for pod a", Then::Over, "not valid for pod a");
        check(404, "pods \"a\" not found", Then::Over, "no such Pod any more");
        check(401, "Unauthorized", Then::Again, "does not know who asks");
        check(429, "too many requests", Then::Again, "asked too often");
        for code in [500, 502, 503, 504] {
            check(code, "Get \"https://10.0.0.1:10250/containerLogs\": connection refused", Then::Again, "kubelet");
        }
        let broke = read(&Failure::unreachable("the answer broke off"), ("shop", "web"));
        assert_eq!((&*broke.words, broke.then), ("The log broke off: the answer broke off.", Then::Again));
        let proxy = read(&Failure::from_response(403, None, "Forbidden"), ("shop", "web"));
        assert!(proxy.words.contains("kubectl proxy refuses this path") && proxy.then == Then::Forbidden, "{proxy:?}");
    }
}
