//! What can be set on a reflector.

use std::num::NonZeroU32;

use crate::api::extra::Keep;

/// Settings of a reflector; client-go's `ReflectorOptions`, and the fields that are set on its `Reflector`.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Ask for a streaming list first; client-go's feature `WatchListClient`.
    pub watch_list: bool,
    /// Tell everything again this often while watching, in milliseconds.
    ///
    /// The time begins with each list and runs on through the watches that follow it. In client-go an error of
    /// `Resync` ends the cycle; here telling again cannot fail.
    pub resync: Option<f64>,
    /// What is kept of each object beside its columns.
    pub keep: Keep,
    /// The most items of a page; client-go's `WatchListPageSize`. Where it is set, every list comes in such pages.
    /// Where it is not, lists at unset and at `0` come in pages of 500, and those at a version whole, so that the
    /// server's cache can answer them.
    pub page_size: Option<NonZeroU32>,
    /// The `kind` that the objects name, such as `Pod`: one that names another is malformed, and never a row.
    /// `None` takes every object that has a name.
    pub kind: Option<&'static str>,
    /// How long internal errors of a watch are answered with the same watch, in milliseconds; client-go's
    /// `MaxInternalErrorRetryDuration`. `None`, as there, lists again at the first.
    pub max_internal_error_retry: Option<f64>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            watch_list: true,
            resync: None,
            keep: Keep::default(),
            page_size: None,
            kind: None,
            max_internal_error_retry: None,
        }
    }
}
