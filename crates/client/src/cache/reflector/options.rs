//! The settings of a reflector.

use crate::api::extra::Keep;

/// Settings of a reflector: client-go's `ReflectorOptions`, and the public fields of its `Reflector`.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// True to ask for a streaming list first; client-go's feature `WatchListClient`, which is on by default there, and
    /// so it is here: the server then never holds the whole list in memory (KEP-3157).
    ///
    /// The page turns it off. A browser gets each object of a streaming list in a message of its own, which takes three
    /// times as long as to read the same list by fetch. Where a fetched list is not answered and none ever was, a
    /// streaming one is tried, because a browser does not show a page what an API of another origin answers; if that
    /// list comes, lists are streamed from then on.
    pub watch_list: bool,
    /// True if answers over HTTP can be read, which is so everywhere but in a browser at an API of another origin
    /// without CORS. Where they cannot, nothing is fetched: every list is a streaming one, whatever `watch_list` says,
    /// and a socket that is refused is tried again after a wait, for nobody can say why it was refused.
    pub readable: bool,
    /// How often to resync while watching, in milliseconds; `None` is never.
    ///
    /// The time begins with each list and runs on through the watches that follow it. In client-go an error of
    /// `Resync` ends the cycle; here a resync cannot fail.
    pub resync: Option<f64>,
    /// What is kept of each object beside its key, its versions and its cells.
    pub keep: Keep,
    /// The `kind` that the objects name, such as `Pod`: one that names another is malformed, and never a row.
    /// `None` takes every object that has a name.
    pub kind: Option<&'static str>,
}

impl Default for Options {
    fn default() -> Options {
        Options { watch_list: true, readable: true, resync: None, keep: Keep::default(), kind: None }
    }
}
