//! A column: its title, when it is shown, and where its values stand.
//!
//! How values print and sort is theirs to say: [`kubechurn_client::api::cell::Cell`].

/// How a column's values sit in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Align {
    /// Words.
    Start,
    /// Numbers and ages.
    End,
}

/// One column after NAMESPACE and NAME, as `kubectl get` prints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Column {
    /// kubectl's title, in capitals.
    pub title: &'static str,
    /// Shown only on demand (`kubectl get -o wide`).
    pub wide: bool,
    /// Where the values stand.
    pub align: Align,
    /// Where a definition finds the values, and as what: `integer .spec.size`. Empty for columns of the page's own.
    pub source: &'static str,
}

impl Column {
    /// A column of words that is always shown.
    pub const fn words(title: &'static str) -> Column {
        Column { title, wide: false, align: Align::Start, source: "" }
    }

    /// A column of numbers, ages or durations that is always shown.
    pub const fn figures(title: &'static str) -> Column {
        Column { title, wide: false, align: Align::End, source: "" }
    }

    /// The same column, shown on demand only: the server's tables give it a priority above 0.
    pub const fn on_demand(self) -> Column {
        Column { wide: true, ..self }
    }
}
