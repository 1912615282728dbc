//! One value of a row, kept so that it can be printed, sorted and compared without the object.

use crate::api::time::Timestamp;

/// How alarming a value is. The view gives it a colour and a shape; never a colour alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Tone {
    /// Nothing to say.
    #[default]
    Plain,
    /// As it should be: `Running`, `Ready`.
    Good,
    /// On its way: `Pending`, `Terminating`.
    Wait,
    /// Failing: `CrashLoopBackOff`, `Error`.
    Bad,
}

/// One cell of a row, apart from the namespace and the name, which are the row's key.
///
/// Values that print a time keep the time, so that ages tick without the object.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Printed as it is; sorts by its bytes.
    Text(Box<str>),
    /// A text that needs no allocation.
    Static(&'static str),
    /// A whole number; sorts as one.
    Number(i64),
    /// `ready/total`, such as `1/2`; sorts by the first number, then the second.
    Ratio(i64, i64),
    /// A state in words with its tone, such as a Pod's STATUS.
    Status(Box<str>, Tone),
    /// The time since a point, as `kubectl` prints an age; `<unknown>` without one. Sorts youngest first.
    Age(Option<Timestamp>),
    /// A count, and when it last grew: `3 (5m ago)`. Sorts by the count.
    Restarts(i64, Option<Timestamp>),
    /// The time between two points, the second being now while it is not known. Empty without a first.
    Elapsed(Option<Timestamp>, Option<Timestamp>),
}
