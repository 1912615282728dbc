//! The query of a list or watch request, parsed, defaulted and validated as the API server does it.

use axum::http::{HeaderMap, header};
use kubechurn_client::api::selector::{FieldSelector, LabelSelector};

use crate::resources::selector;
use crate::status::Status;

/// `ListOptions`.
#[derive(Debug, Default)]
pub struct Options {
    /// `resourceVersion` as sent; empty if unset.
    pub version: String,
    /// `resourceVersionMatch`.
    pub version_match: String,
    /// `sendInitialEvents`.
    pub initial_events: Option<bool>,
    /// `allowWatchBookmarks`.
    pub bookmarks: bool,
    /// `limit`; 0 for no limit.
    pub limit: usize,
    /// `continue`; empty if unset.
    pub continue_token: String,
    /// `timeoutSeconds`, if positive.
    pub timeout_seconds: Option<u64>,
    /// `labelSelector`.
    pub labels: LabelSelector,
    /// `fieldSelector`.
    pub fields: FieldSelector,
}

impl Options {
    /// Parses a query string. Unknown parameters are ignored, as in the real server.
    pub fn parse(query: &str, selectable: &[&str]) -> Result<Self, Status> {
        let mut options = Self::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "resourceVersion" => options.version = value.into_owned(),
                "resourceVersionMatch" => options.version_match = value.into_owned(),
                "sendInitialEvents" => options.initial_events = Some(parse_bool(&value)),
                "allowWatchBookmarks" => options.bookmarks = parse_bool(&value),
                "limit" => options.limit = usize::try_from(parse_int(&value)?).unwrap_or(0),
                "continue" => options.continue_token = value.into_owned(),
                "timeoutSeconds" => {
                    options.timeout_seconds = u64::try_from(parse_int(&value)?).ok().filter(|seconds| *seconds > 0);
                }
                "labelSelector" => options.labels = selector::parse_labels(&value).map_err(Status::bad_request)?,
                "fieldSelector" => {
                    options.fields = selector::parse_fields(&value, selectable).map_err(Status::bad_request)?;
                }
                _ => {}
            }
        }
        Ok(options)
    }

    /// Whether a query asks for a watch, which authorisation needs to know before the rest is parsed.
    pub fn is_watch(query: &str) -> bool {
        let watches = form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == "watch");
        watches.last().is_some_and(|(_, value)| parse_bool(&value))
    }

    /// The resourceVersion as a number; unset is 0.
    pub fn revision(&self) -> Result<u64, Status> {
        if self.version.is_empty() {
            return Ok(0);
        }
        self.version.parse().map_err(|_| Status::malformed_version(&self.version))
    }

    /// Refuses combinations that are not allowed for a list.
    pub fn validate_list(&self) -> Result<(), Status> {
        let forbidden = |why: &str| Err(Status::invalid_options("resourceVersionMatch", &format!("Forbidden: {why}")));
        if self.initial_events.is_some() {
            return Err(Status::invalid_options(
                "sendInitialEvents",
                "Forbidden: sendInitialEvents is forbidden for list",
            ));
        }
        let exact = match self.version_match.as_str() {
            "" => return Ok(()),
            _ if self.version.is_empty() => {
                return forbidden("resourceVersionMatch is forbidden unless resourceVersion is provided");
            }
            _ if !self.continue_token.is_empty() => {
                return forbidden("resourceVersionMatch is forbidden when continue is provided");
            }
            "Exact" => true,
            "NotOlderThan" => false,
            other => {
                let why = format!("Unsupported value: {other:?}: supported values: \"\", \"Exact\", \"NotOlderThan\"");
                return Err(Status::invalid_options("resourceVersionMatch", &why));
            }
        };
        if exact && self.version == "0" {
            return forbidden("resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
        }
        Ok(())
    }

    /// Refuses combinations that are not allowed for a watch, depending on the feature gate WatchList.
    pub fn validate_watch(&self, watch_list: bool) -> Result<(), Status> {
        if self.initial_events.is_some() && !watch_list {
            let why =
                "Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled";
            return Err(Status::invalid_options("sendInitialEvents", why));
        }
        let invalid = |why: &str| Err(Status::invalid_options("resourceVersionMatch", why));
        if self.initial_events.is_some() && self.version_match != "NotOlderThan" {
            return invalid("Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
        }
        if self.version_match.is_empty() {
            return Ok(());
        }
        if self.initial_events.is_none() {
            return invalid(
                "Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
            );
        }
        if !self.continue_token.is_empty() {
            return invalid("Forbidden: resourceVersionMatch is forbidden when continue is provided");
        }
        Ok(())
    }
}

/// Parses a boolean of a query: for Kubernetes everything except `false` and `0` is true, even an empty value.
fn parse_bool(text: &str) -> bool {
    !text.eq_ignore_ascii_case("false") && text != "0"
}

fn parse_int(text: &str) -> Result<i64, Status> {
    text.parse().map_err(|_| Status::bad_request(format!("strconv.ParseInt: parsing {text:?}: invalid syntax")))
}

/// The options of a write.
#[derive(Debug, Default)]
pub struct WriteOptions {
    /// `dryRun=All`: nothing is written.
    pub dry_run: bool,
    /// The field manager: `fieldManager`, or the first word of the User-Agent.
    pub manager: String,
}

impl WriteOptions {
    /// Parses a query string and the headers.
    pub fn of(headers: &HeaderMap, query: &str) -> Result<Self, Status> {
        let agent = headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok()).unwrap_or_default();
        let mut options = Self { manager: agent.split('/').next().unwrap_or_default().to_owned(), dry_run: false };
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "dryRun" => options.dry_run = parse_dry_run(&value)?,
                "fieldManager" if !value.is_empty() => options.manager = value.into_owned(),
                _ => {}
            }
        }
        // The limit is that of the real server.
        options.manager = options.manager.chars().take(128).collect();
        if options.manager.is_empty() {
            options.manager = "unknown".to_owned();
        }
        Ok(options)
    }
}

/// Parses `dryRun`, which allows one value.
pub fn parse_dry_run(value: &str) -> Result<bool, Status> {
    match value {
        "" => Ok(false),
        "All" => Ok(true),
        other => Err(Status::bad_request(format!("dryRun: Unsupported value: {other:?}: supported values: \"All\""))),
    }
}
