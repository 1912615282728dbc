//! How often the page is woken.

use crate::page::rows::OLD_AGES;

/// A tick that comes this late means that the machine slept, in milliseconds.
pub(super) const SLEPT: f64 = 10_000.0;
/// How late a tick must come in a hidden page, in milliseconds, to mean that the machine slept. A browser may delay the
/// timers of a hidden page by a minute, and the first tick after the page is shown again is late for the same reason: a
/// shorter delay proves no sleep. A jump of the clock does, in a hidden page too.
pub(super) const SLEPT_HIDDEN: f64 = 90_000.0;

/// The least time between two deadlines of [`Page::deadline`](crate::page::Page::deadline), in milliseconds, and the time between them while a list
/// is on its way.
pub(super) const TICK: f64 = 250.0;
/// The time between two ticks while something on the page changes each second, in milliseconds: young ages, say.
pub(super) const SECOND: f64 = 1_000.0;
/// The time between two ticks of a page on which nothing happens, in milliseconds; that of the ages that are not young.
pub(super) const QUIET: f64 = OLD_AGES;
/// How long a page counts as one on which something happens, after something was received or the user has done something,
/// in milliseconds: rates fall to zero, and sentences for screen readers wait, for two seconds.
pub(super) const AFTER_NEWS: f64 = 5_000.0;
/// The time between two ticks of a hidden page, in milliseconds.
pub(super) const HIDDEN: f64 = 30_000.0;
