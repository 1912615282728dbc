//! A column: its title, when it is shown, and how its values are aligned.
//!
//! How a value is printed and sorted is decided by the cell itself: [`kubechurn_client::api::cell::Cell`].

/// How a column aligns its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Align {
    /// Words.
    Start,
    /// Numbers and ages.
    End,
}

/// What a column says of the state that an object is in, which a timeline writes in a band.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum StatePart {
    /// Nothing.
    #[default]
    None,
    /// The cell is the state: `Running`, `2/3`.
    Word,
    /// The cell is the number before the slash of `2/3`.
    Part,
    /// The cell is the number after the slash of `2/3`.
    Whole,
}

/// One column after NAMESPACE and NAME, as `kubectl get` prints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Column {
    /// kubectl's title, in capitals.
    pub title: &'static str,
    /// Whether the column is shown only on demand (`kubectl get -o wide`).
    pub wide: bool,
    /// How the values are aligned.
    pub align: Align,
    /// Where a definition finds the values, and of which type they are: `integer .spec.size`. Empty for the columns of
    /// built-in kinds.
    pub source: &'static str,
    /// What the column says of the object's state: see [`crate::state`].
    pub state: StatePart,
}

impl Column {
    /// A column of words that is always shown.
    pub const fn words(title: &'static str) -> Column {
        Column { title, wide: false, align: Align::Start, source: "", state: StatePart::None }
    }

    /// A column of numbers, ages or durations that is always shown.
    pub const fn figures(title: &'static str) -> Column {
        Column { title, wide: false, align: Align::End, source: "", state: StatePart::None }
    }

    /// The same column, shown only on demand: in the server's tables its priority is above 0.
    pub const fn on_demand(self) -> Column {
        Column { wide: true, ..self }
    }

    /// The same column, which says this of the object's state.
    pub const fn of_state(self, state: StatePart) -> Column {
        Column { state, ..self }
    }
}
