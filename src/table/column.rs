//! A column: its title, where it stands, and how its cells print and sort.

/// How a column's values sit in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Start,
    /// Numbers and ages.
    End,
}

/// One column after NAMESPACE and NAME, as `kubectl get` prints it.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// kubectl's title, in capitals.
    pub title: &'static str,
    /// Shown only on demand (`kubectl get -o wide`).
    pub wide: bool,
    /// Where the values stand.
    pub align: Align,
}
