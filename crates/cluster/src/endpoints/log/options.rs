//! `PodLogOptions`: the query of a request for a log.

use kubechurn_client::api::time::Timestamp;

use crate::endpoints::log::made::SECOND;
use crate::status::Status;

/// From when on a log is wanted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Since {
    /// So many seconds before now.
    Seconds(i64),
    /// From this second on.
    Time(i64),
}

/// What of a log is wanted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LogOptions {
    pub container: String,
    pub follow: bool,
    pub previous: bool,
    pub timestamps: bool,
    pub since: Option<Since>,
    pub tail_lines: Option<u64>,
    pub limit_bytes: Option<u64>,
}

impl LogOptions {
    /// Parses a query string. Unknown parameters are ignored, as in the real server.
    pub fn parse(query: &str) -> Result<Self, Status> {
        let mut options = Self::default();
        let (mut seconds, mut time) = (None, None);
        let number = |text: &str| {
            let read: Result<i64, _> = text.parse();
            read.map_err(|_| Status::bad_request(format!("strconv.ParseInt: parsing {text:?}: invalid syntax")))
        };
        let bool = |text: &str| !text.eq_ignore_ascii_case("false") && text != "0";
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "container" => options.container = value.into_owned(),
                "follow" => options.follow = bool(&value),
                "previous" => options.previous = bool(&value),
                "timestamps" => options.timestamps = bool(&value),
                "sinceSeconds" => seconds = Some(number(&value)?),
                "sinceTime" => {
                    let read = Timestamp::parse(&value);
                    time = Some(read.ok_or_else(|| {
                        let layout = "2006-01-02T15:04:05Z07:00";
                        let why = format!("parsing time {value:?} as {layout:?}: cannot parse {value:?} as \"2006\"");
                        Status::bad_request(why)
                    })?);
                }
                "tailLines" => {
                    let lines = number(&value)?;
                    let lines = u64::try_from(lines).map_err(|_| {
                        Status::invalid_log_options("tailLines", lines, "must be greater than or equal to 0")
                    })?;
                    options.tail_lines = Some(lines);
                }
                "limitBytes" => {
                    let bytes = number(&value)?;
                    let positive = u64::try_from(bytes).ok().filter(|bytes| *bytes > 0);
                    options.limit_bytes =
                        Some(positive.ok_or_else(|| {
                            Status::invalid_log_options("limitBytes", bytes, "must be greater than 0")
                        })?);
                }
                _ => {}
            }
        }
        options.since = match (seconds, time) {
            (Some(_), Some(_)) => {
                return Err(Status::forbidden_log_options(
                    "at most one of `sinceTime` or `sinceSeconds` may be specified",
                ));
            }
            (Some(seconds), None) if seconds < 1 => {
                return Err(Status::invalid_log_options("sinceSeconds", seconds, "must be greater than 0"));
            }
            (Some(seconds), None) => Some(Since::Seconds(seconds)),
            (None, time) => time.map(|Timestamp(second)| Since::Time(second)),
        };
        Ok(options)
    }

    /// The first time that is wanted, in nanoseconds.
    pub fn since(&self, now: i64) -> i64 {
        match self.since {
            None => i64::MIN,
            Some(Since::Time(second)) => second.saturating_mul(SECOND),
            Some(Since::Seconds(seconds)) => now.saturating_sub(seconds.saturating_mul(SECOND)),
        }
    }
}
