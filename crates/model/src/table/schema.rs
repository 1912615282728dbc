//! The schema of a table of one kind or of several: its columns, and where each kind has them.
//!
//! Columns with the same title are one column. Each kind's columns keep their order among themselves, as long as there
//! is an order that suits all kinds.

use kubechurn_client::api::resource::intern;
use kubechurn_client::api::sort::sort;

use crate::kind_id::{KindId, listed, plain};
use kubechurn_columns::column::{Align, Column};
use kubechurn_columns::kinds::Kind;

/// How many kinds fit into one table.
pub const MOST: usize = 32;

/// So many kinds are named in a title.
const NAMED: usize = 13;

/// The kinds of a table, with their numbers, and the columns of all kinds.
#[derive(Debug, Default)]
pub struct TableSchema {
    kinds: Vec<&'static Kind>,
    columns: Vec<Column>,
    /// For each kind, the place of each of the columns among the kind's own. Empty for a single kind, whose columns are
    /// its own.
    places: Vec<Vec<Option<u16>>>,
    /// What stands under KIND for each kind, and the rank of each kind in the order of that.
    labels: Vec<&'static str>,
    ranks: Vec<u8>,
    /// What the first cluster is called, whose kinds name no cluster.
    home: &'static str,
    /// The rank of each kind in the order of what stands under CLUSTER.
    cluster_ranks: Vec<u8>,
    /// Whether there are kinds of several clusters.
    has_clusters: bool,
}

impl PartialEq for TableSchema {
    fn eq(&self, other: &TableSchema) -> bool {
        self.kinds == other.kinds
    }
}

impl TableSchema {
    /// The schema of these kinds, the first [`MOST`] of them, in their order.
    pub fn of(kinds: &[&'static Kind]) -> TableSchema {
        let kinds = kinds[..kinds.len().min(MOST)].to_vec();
        if let [] | [_] = *kinds {
            let columns = kinds.first().map_or_else(Vec::new, |kind| kind.columns.to_vec());
            return TableSchema { kinds, columns, ..TableSchema::default() };
        }
        let (columns, places) = merged(&kinds);
        let label = |kind: &&'static Kind| -> &'static str {
            let resource = &kind.resource;
            let same =
                |other: &&&Kind| (other.resource.kind, other.resource.cluster) == (resource.kind, resource.cluster);
            let is_one = kinds.iter().filter(same).count() == 1;
            match resource.group {
                group if !is_one && !group.is_empty() => intern(&format!("{}.{group}", resource.kind)),
                _ => resource.kind,
            }
        };
        let labels: Vec<&'static str> = kinds.iter().map(label).collect();
        let rank = |label: &&'static str| labels.iter().filter(|other| *other < label).count() as u8;
        let ranks = labels.iter().map(rank).collect();
        let has_clusters = kinds.iter().any(|kind| kind.resource.cluster != kinds[0].resource.cluster);
        let schema = TableSchema { kinds, columns, places, labels, ranks, has_clusters, ..TableSchema::default() };
        schema.at_home("")
    }

    /// The same schema, where the cluster whose kinds name none is called this.
    pub fn at_home(self, home: &'static str) -> TableSchema {
        let mut schema = TableSchema { home, ..self };
        let names: Vec<&str> = (0..schema.kinds.len() as u8).map(|number| schema.cluster(KindId(number))).collect();
        let rank = |name: &&str| names.iter().filter(|other| *other < name).count() as u8;
        schema.cluster_ranks = names.iter().map(rank).collect();
        schema
    }

    /// The kinds, in the order of their numbers.
    pub fn kinds(&self) -> &[&'static Kind] {
        &self.kinds
    }

    /// The kind with this number.
    pub fn kind(&self, number: KindId) -> Option<&'static Kind> {
        self.kinds.get(number.index()).copied()
    }

    /// The number of a kind.
    pub fn number(&self, kind: &Kind) -> Option<KindId> {
        self.kinds.iter().position(|other| other.resource == kind.resource).map(|at| KindId(at as u8))
    }

    /// Whether there are several kinds.
    pub fn is_several(&self) -> bool {
        !self.places.is_empty()
    }

    /// Whether there is more than one word under KIND: the same kind of several clusters is one word.
    pub fn has_labels(&self) -> bool {
        self.labels.iter().any(|label| *label != self.labels[0])
    }

    /// Whether there are kinds of several clusters.
    pub fn has_clusters(&self) -> bool {
        self.has_clusters
    }

    /// What stands under CLUSTER.
    pub fn cluster(&self, number: KindId) -> &'static str {
        self.kind(number)
            .map_or("", |kind| if kind.resource.cluster.is_empty() { self.home } else { kind.resource.cluster })
    }

    /// The rank of a kind when rows are sorted by what stands under CLUSTER.
    pub fn cluster_rank(&self, number: KindId) -> u8 {
        self.cluster_ranks.get(number.index()).copied().unwrap_or(0)
    }

    /// Whether objects of any kind live in namespaces.
    pub fn is_namespaced(&self) -> bool {
        self.kinds.iter().any(|kind| kind.resource.namespaced)
    }

    /// Whether a row begins with the object's name, as it always does among several kinds.
    pub fn leads_with_name(&self) -> bool {
        self.is_several() || self.kinds.first().is_some_and(|kind| kind.leads_with_name())
    }

    /// The columns after KIND, NAMESPACE and NAME.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The place of a column among a kind's own columns; `None` where the kind does not have the column.
    pub fn cell(&self, number: KindId, column: usize) -> Option<usize> {
        if self.places.is_empty() {
            return Some(column);
        }
        self.places.get(number.index())?.get(column)?.map(usize::from)
    }

    /// What stands under KIND: `Pod`. Empty for a single kind, which has no such column.
    pub fn label(&self, number: KindId) -> &'static str {
        self.labels.get(number.index()).copied().unwrap_or("")
    }

    /// What a kind is called where there is little room: `po`, and `po west` where there are several clusters.
    pub fn short(&self, number: KindId) -> &'static str {
        self.kind(number).map_or("", |kind| {
            let short = kind.short_names.iter().filter(|name| !kind.resource.kind.eq_ignore_ascii_case(name));
            self.with_cluster(number, short.min_by_key(|name| name.len()).copied().unwrap_or(kind.resource.kind), " ")
        })
    }

    /// What a kind is called in words: what stands under KIND, and its cluster where there are several.
    pub fn long(&self, number: KindId) -> &'static str {
        self.with_cluster(number, self.label(number), " of ")
    }

    fn with_cluster(&self, number: KindId, word: &'static str, between: &str) -> &'static str {
        if self.has_clusters() { intern(&format!("{word}{between}{}", self.cluster(number))) } else { word }
    }

    /// The rank of a kind when rows are sorted by what stands under KIND.
    pub fn rank(&self, number: KindId) -> u8 {
        self.ranks.get(number.index()).copied().unwrap_or(0)
    }

    /// The title of the table: `Deployments, ReplicaSets and Pods`, and `Pods of east and west`.
    pub fn title(&self) -> String {
        let titles = |cluster: &str| {
            let own = self.kinds.iter().filter(|kind| kind.resource.cluster == cluster);
            own.map(|kind| kind.title).collect::<Vec<_>>()
        };
        let mut clusters: Vec<&'static str> = Vec::new();
        for number in (0..self.kinds.len() as u8).map(KindId) {
            if !clusters.contains(&self.cluster(number)) {
                clusters.push(self.cluster(number));
            }
        }
        let home = titles("");
        if self.has_clusters() && !self.home.is_empty() && home.len() * clusters.len() == self.kinds.len() {
            return format!("{} of {}", listed(&home), listed(&clusters));
        }
        let all: Vec<&str> = self.kinds.iter().map(|kind| kind.title).collect();
        match all.len() {
            ..=NAMED => listed(&all),
            count => format!("{} and {} other kinds", all[..3].join(", "), count - 3),
        }
    }

    /// A kind in words, in a sentence: `Pods`, and `Pods of east` where there are several clusters.
    pub fn subject(&self, number: KindId) -> String {
        let Some(kind) = self.kind(number) else { return String::new() };
        match kind.resource.cluster {
            "" if self.has_clusters() => format!("{} of {}", kind.title, self.home),
            _ => kind.title.to_owned(),
        }
    }

    /// The name under which settings of the table are kept. Neither the order of the kinds matters nor their clusters.
    pub fn name(&self) -> String {
        let mut names: Vec<&str> = self.kinds.iter().map(|kind| plain(kind.name)).collect();
        sort(&mut names);
        names.dedup();
        names.join(",")
    }
}

/// The columns of all kinds, and where each kind has each of them. A kind's own column NAME is the one that every table
/// has.
fn merged(kinds: &[&'static Kind]) -> (Vec<Column>, Vec<Vec<Option<u16>>>) {
    let mut columns: Vec<Column> = Vec::new();
    // For each kind, its columns: the place in `columns`, and the place among the kind's own.
    let mut own: Vec<Vec<(usize, usize)>> = Vec::new();
    for kind in kinds {
        let mut places: Vec<(usize, usize)> = Vec::new();
        let is_name = |column: &Column| column.title == "NAME" && column.source.is_empty();
        for (place, column) in kind.columns.iter().enumerate().filter(|(_, column)| !is_name(column)) {
            // A definition may give two columns one title.
            let before = places.iter().filter(|(at, _)| columns[*at].title == column.title).count();
            let mut known = (0..columns.len()).filter(|at| columns[*at].title == column.title);
            let at = known.nth(before).unwrap_or_else(|| {
                columns.push(Column { source: "", ..*column });
                columns.len() - 1
            });
            let shared = &mut columns[at];
            shared.wide &= column.wide;
            if column.align == Align::Start {
                shared.align = Align::Start;
            }
            places.push((at, place));
        }
        own.push(places);
    }
    let order = ordered(&columns, &own);
    let places = own.iter().map(|places| {
        let place = |at: &usize| places.iter().find(|(other, _)| other == at).map(|(_, place)| *place as u16);
        order.iter().map(place).collect()
    });
    let places = places.collect();
    (order.into_iter().map(|at| columns[at]).collect(), places)
}

/// An order in which each kind's columns stand as in the kind itself. Where the kinds do not decide, AGE comes last.
/// Where kinds contradict each other, the first of them decides.
fn ordered(columns: &[Column], own: &[Vec<(usize, usize)>]) -> Vec<usize> {
    let mut order: Vec<usize> = Vec::new();
    let (age, mut left): (Vec<usize>, Vec<usize>) = (0..columns.len()).partition(|at| columns[*at].title == "AGE");
    left.extend(age);
    while !left.is_empty() {
        let waits = |at: &usize| {
            own.iter().any(|places| {
                let next = places.iter().map(|(other, _)| other).find(|other| left.contains(other));
                next != Some(at) && places.iter().any(|(other, _)| other == at)
            })
        };
        let first = (0..left.len()).min_by_key(|place| left[*place]).unwrap_or(0);
        let next = left.iter().position(|at| !waits(at)).unwrap_or(first);
        order.push(left.remove(next));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubechurn_columns::kinds::{KINDS, kind};
    use proptest::prelude::*;

    fn schema(names: &[&str]) -> TableSchema {
        let kinds: Vec<&'static Kind> = names.iter().map(|name| kind(name).unwrap()).collect();
        TableSchema::of(&kinds)
    }

    fn titles(schema: &TableSchema) -> Vec<&'static str> {
        schema.columns().iter().filter(|column| !column.wide).map(|column| column.title).collect()
    }

    #[test]
    fn columns_of_one_title_are_one_and_age_stays_last() {
        for (names, expected) in [
            (&["po"][..], "READY STATUS RESTARTS AGE"),
            (&["deploy", "rs", "po"], "DESIRED CURRENT READY UP-TO-DATE AVAILABLE STATUS RESTARTS AGE"),
            (&["po", "deploy"], "READY STATUS RESTARTS UP-TO-DATE AVAILABLE AGE"),
            (&["svc", "no"], "TYPE CLUSTER-IP STATUS ROLES EXTERNAL-IP PORT(S) AGE VERSION"),
            (&["po", "ev"], "READY STATUS RESTARTS LAST SEEN TYPE REASON OBJECT MESSAGE AGE"),
            (
                &["ev", "sc"],
                "LAST SEEN TYPE REASON OBJECT MESSAGE PROVISIONER RECLAIMPOLICY VOLUMEBINDINGMODE \
                             ALLOWVOLUMEEXPANSION AGE",
            ),
        ] {
            assert_eq!(titles(&schema(names)).join(" "), expected, "{names:?}");
        }
        // A column that one kind always shows and another on demand is always shown.
        let schema = schema(&["deploy", "ds"]);
        assert!(titles(&schema).contains(&"NODE SELECTOR") && !titles(&schema).contains(&"IMAGES"));
    }

    #[test]
    fn every_cell_is_found_under_its_title_and_no_other() {
        let schema = schema(&["deploy", "rs", "po"]);
        for (number, kind) in schema.kinds().iter().enumerate() {
            let mut found = Vec::new();
            for (at, column) in schema.columns().iter().enumerate() {
                let place = schema.cell(KindId(number as u8), at);
                assert_eq!(place.map(|place| kind.columns[place].title), place.map(|_| column.title));
                found.extend(place);
            }
            // All of the kind's columns are found, in the kind's own order.
            assert_eq!(found, (0..kind.columns.len()).collect::<Vec<_>>(), "{}", kind.name);
        }
        assert_eq!((schema.cell(KindId(9), 0), schema.cell(KindId(0), 99)), (None, None));
        let one = TableSchema::of(&[kind("po").unwrap()]);
        assert!(
            (0..4).all(|at| one.cell(KindId::ONLY, at) == Some(at))
                && !one.is_several()
                && one.label(KindId::ONLY).is_empty()
        );
    }

    #[test]
    fn kinds_are_distinguished_by_what_stands_under_kind() {
        let schema = schema(&["po", "deploy", "rs"]);
        let labels: Vec<&str> = (0..3).map(|number| schema.label(KindId(number))).collect();
        assert_eq!(
            (labels, schema.title()),
            (vec!["Pod", "Deployment", "ReplicaSet"], "Pods, Deployments and ReplicaSets".into())
        );
        assert_eq!([0, 1, 2].map(|number| schema.rank(KindId(number))), [1, 0, 2]);
        assert_eq!(schema.name(), "deployments,pods,replicasets");
        assert_eq!(schema.number(kind("rs").unwrap()), Some(KindId(2)));
        let events = KINDS.iter().filter(|kind| kind.resource.kind == "Event").collect::<Vec<_>>();
        let schema = TableSchema::of(&events);
        assert_eq!([schema.label(KindId(0)), schema.label(KindId(1))], ["Event", "Event.events.k8s.io"]);
        let all = KINDS.iter().collect::<Vec<_>>();
        assert_eq!(TableSchema::of(&all).kinds().len(), MOST);
    }

    proptest! {
        /// If there is an order that suits all kinds, it is found.
        #[test]
        fn each_kind_keeps_its_order_wherever_that_can_be(kinds in proptest::collection::vec(any::<u16>(), 2..5)) {
            const TITLES: [&str; 16] =
                ["A", "B", "C", "D", "E", "F", "AGE", "H", "I", "J", "K", "L", "M", "N", "O", "P"];
            let kinds: Vec<&'static Kind> = kinds.iter().map(|which| {
                let titles = (0..16).filter(|at| which & (1 << at) != 0).map(|at| Column::words(TITLES[at]));
                let columns: &'static [Column] = Vec::leak(titles.collect());
                &*Box::leak(Box::new(Kind { columns, ..*kind("po").unwrap() }))
            }).collect();
            let schema = TableSchema::of(&kinds);
            for (number, kind) in kinds.iter().enumerate() {
                let places: Vec<usize> =
                    (0..schema.columns().len()).filter_map(|at| schema.cell(KindId(number as u8), at)).collect();
                prop_assert_eq!(&places, &(0..kind.columns.len()).collect::<Vec<_>>(), "{:?}", schema.columns());
            }
            let mut titles: Vec<&str> = schema.columns().iter().map(|column| column.title).collect();
            titles.sort_unstable();
            let count = titles.len();
            titles.dedup();
            prop_assert_eq!(titles.len(), count, "each title once");
        }
    }
}
