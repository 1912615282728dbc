//! The writers of the cluster, as they are shown.

/// All writers, and the one that is looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WritersModel {
    /// What was looked at, in words.
    pub span: String,
    /// The writers, those that wrote most first.
    pub rows: Vec<WriterRow>,
    /// The last writes of the one that is looked at, the newest first.
    pub writes: Vec<WriteRow>,
    /// Whose writes these are; empty for nobody's.
    pub chosen: String,
    /// What is asked for of each kind, and when it is there.
    pub kinds: Vec<KindRow>,
}

/// A writer. What is not known is empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WriterRow {
    /// Its name.
    pub name: String,
    /// From what it is known: `inferred`, or `user`.
    pub how: &'static str,
    /// How often it wrote.
    pub writes: String,
    /// How often it wrote in a minute.
    pub a_minute: String,
    /// How many objects it wrote to.
    pub objects: String,
    /// How many of its writes changed nothing.
    pub nothing: String,
    /// How many of its requests met a conflict.
    pub conflicts: String,
    /// The object that it wrote to most often, and how often in a minute.
    pub busiest: String,
    /// How long after what it answers it writes, and how many writes answer nothing that is known.
    pub after: String,
}

/// A write.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WriteRow {
    /// When it was received; the same in milliseconds.
    pub time: String,
    pub at: f64,
    /// The object.
    pub what: String,
    /// What was written.
    pub words: String,
    /// Where it is looked at.
    pub href: String,
    /// What it answers, and how long after that it came.
    pub answer: String,
    /// Where that is looked at.
    pub answer_href: String,
}

/// A kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KindRow {
    /// Its name.
    pub kind: String,
    /// How often something else was asked for.
    pub asked: String,
    /// How long it took to be seen.
    pub seen: String,
    /// How long it took to be ready.
    pub ready: String,
    /// What waits.
    pub waits: String,
}
