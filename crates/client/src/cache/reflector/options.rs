//! The settings of a reflector.

use std::num::NonZeroU32;

use crate::api::extra::Keep;

/// Settings of a reflector: client-go's `ReflectorOptions`, and the public fields of its `Reflector`.
///
/// A controller that watches large objects asks for them in small pages, so that neither side holds many of them at once.
/// One that must not list again each time that the API server loses its etcd for a moment keeps its watch through internal
/// errors for a while:
///
/// ```
/// use std::num::NonZeroU32;
///
/// use kubechurn_client::api::object::Decode;
/// use kubechurn_client::cache::backoff::Moment;
/// use kubechurn_client::cache::reflector::{Action, Input, Options};
/// use kubechurn_client::cache::shared_informer::{InformerOptions, SharedInformer};
///
/// let reflector = Options {
///     watch_list: false,
///     page_size: NonZeroU32::new(50),
///     max_internal_error_retry: Some(30_000.0),
///     ..Options::default()
/// };
/// let mut informer =
///     SharedInformer::new(Decode::METADATA, InformerOptions { reflector, ..InformerOptions::default() });
/// let moment = |now| Moment { now, random: 0.0 };
///
/// let Some(Action::List(request)) = informer.handle(Input::Start, moment(0.0)) else { panic!() };
/// assert_eq!(request.limit, Some(50));
///
/// // The watch that follows the list fails with an internal error, and is opened again after a wait.
/// informer.handle(Input::Page(r#"{"metadata":{"resourceVersion":"7"},"items":[]}"#), moment(1.0));
/// informer.handle(Input::Opened, moment(2.0));
/// let error = r#"{"type":"ERROR","object":{"kind":"Status","code":500,"reason":"InternalError"}}"#;
/// assert_eq!(informer.handle(Input::Frame(error), moment(3.0)), Some(Action::Wait));
/// let deadline = informer.reflector().deadline().unwrap();
/// assert!(matches!(informer.handle(Input::Timer, moment(deadline)), Some(Action::Watch(_))));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whether to ask for a streaming list first; client-go's feature `WatchListClient`, which is on by default there, and so
    /// it is here: the server then never holds the whole list in memory (KEP-3157).
    ///
    /// The page turns it off. A browser gets each object of a streaming list in a message of its own, which takes three
    /// times as long as to read the same list by fetch. Where a fetched list is not answered and none ever was, a
    /// streaming one is tried, because a browser does not show a page what an API of another origin answers; if that list
    /// comes, lists are streamed from then on.
    pub watch_list: bool,
    /// Whether answers over HTTP can be read, which is so everywhere but in a browser at an API of another origin without
    /// CORS. Where they cannot, nothing is fetched: every list is a streaming one, whatever `watch_list` says, and a socket
    /// that is refused is tried again after a wait, for nobody can tell why it was refused.
    pub readable: bool,
    /// How often to resync while watching, in milliseconds; `None` is never.
    ///
    /// The time begins with each list and runs on through the watches that follow it. In client-go an error of
    /// `Resync` ends the cycle; here a resync cannot fail.
    pub resync: Option<f64>,
    /// What is kept of each object beside its key, its versions and its cells.
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
            readable: true,
            resync: None,
            keep: Keep::default(),
            page_size: None,
            kind: None,
            max_internal_error_retry: None,
        }
    }
}
