//! The table as a file: CSV (RFC 4180), or JSON with one line for each row. Data that rows do not hold, such as the
//! values of Secrets, cannot get into the file.

use std::fmt::Write;
use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap, Serializer};

use kubechurn_client::api::object::Object;
use kubechurn_client::api::time::Timestamp;

use crate::kind_id::KindId;
use crate::table::layout::{Layout, Source};
use crate::table::schema::TableSchema;

/// The format of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A line of titles, then one line for each row. For spreadsheets; a cell cannot run there as a formula.
    Csv,
    /// An object for each row: `key`, `uid`, `resourceVersion`, and `cells` by title. With several kinds, `kind` comes
    /// first.
    Json,
}

impl Format {
    /// The media type of the file.
    pub fn media_type(self) -> &'static str {
        match self {
            Format::Csv => "text/csv;charset=utf-8",
            Format::Json => "application/x-ndjson;charset=utf-8",
        }
    }

    /// The extension of the file's name.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Json => "ndjson",
        }
    }
}

/// A table that is being written into a file. The rows are those of the moment of the command, and are written slice by
/// slice.
#[derive(Debug)]
pub struct Export {
    format: Format,
    schema: Arc<TableSchema>,
    /// The source and the title of each column.
    columns: Vec<(Source, &'static str)>,
    rows: std::vec::IntoIter<(KindId, Arc<Object>)>,
    total: usize,
    /// The time from which ages are computed, by the kinds' numbers: kinds of several clusters have several clocks.
    times: Vec<Timestamp>,
    begun: bool,
}

impl Export {
    /// `rows` are in the table's order, each with its kind's id. The columns are those of the objects that the table shows:
    /// what this session has seen of an object means nothing elsewhere.
    pub fn new(format: Format, layout: &Layout, rows: Vec<(KindId, Arc<Object>)>, times: Vec<Timestamp>) -> Export {
        let columns = layout.sources.iter().filter(|source| source.is_of_object());
        let columns = columns.map(|source| (*source, layout.title(*source))).collect();
        let schema = layout.schema().clone();
        Export { format, schema, columns, total: rows.len(), rows: rows.into_iter(), times, begun: false }
    }

    /// The number of all rows.
    pub fn total(&self) -> usize {
        self.total
    }

    /// The next `count` rows as text; `None` at the end.
    pub fn slice(&mut self, count: usize) -> Option<String> {
        let mut text = String::new();
        if !std::mem::replace(&mut self.begun, true) && self.format == Format::Csv {
            let titles = self.columns.iter().map(|(_, title)| *title);
            write_line(titles, &mut text);
        }
        let mut cell = String::new();
        for (kind, object) in self.rows.by_ref().take(count) {
            let at = self.times.get(kind.index()).copied().unwrap_or_default();
            let cells = RowCells { schema: &self.schema, kind, object: &object, at };
            match self.format {
                Format::Csv => {
                    let mut first = true;
                    for (source, _) in &self.columns {
                        write_separator(&mut first, &mut text);
                        cells.write(*source, &mut cell);
                        write_field(&cell, &mut text);
                    }
                    text.push_str("\r\n");
                }
                Format::Json => {
                    let row = Row { cells, columns: &self.columns };
                    // Texts and maps of texts can always be written as JSON.
                    text.push_str(&serde_json::to_string(&row).unwrap_or_default());
                    text.push('\n');
                }
            }
        }
        (!text.is_empty()).then_some(text)
    }
}

/// The file's name: the kinds, the namespaces and the time, in characters that every file system allows. `time` is in
/// ISO 8601's basic format.
pub fn file_name(kind: &str, namespaces: &[String], time: &str, format: Format) -> String {
    plain_name(kind, namespaces, time, format.extension())
}

/// The same for a file with another extension.
pub fn plain_name(kind: &str, namespaces: &[String], time: &str, extension: &str) -> String {
    let mut name = kind.to_owned();
    for namespace in namespaces.iter().take(3) {
        let _ = write!(name, "-{namespace}");
    }
    if namespaces.len() > 3 {
        let _ = write!(name, "-and-{}-more", namespaces.len() - 3);
    }
    let _ = write!(name, "-{time}");
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '.';
    let name: String = name.chars().map(|letter| if is_plain(letter) { letter } else { '-' }).take(120).collect();
    format!("{}.{extension}", name.trim_start_matches(['.', '-']))
}

/// The cells of a row for the clipboard, with tabs between them. No cell contains a tab or a line break. As in CSV, no
/// cell is a formula in a spreadsheet. There are no quotes between tabs, but a spreadsheet removes quotes around a
/// pasted cell and may run the content as a formula: a cell that begins with a quote is marked as text too.
pub fn tab_separated(layout: &Layout, kind: KindId, object: &Object, at: Timestamp) -> String {
    let row = RowCells { schema: layout.schema(), kind, object, at };
    let mut cell = String::new();
    let sources = layout.sources.iter().filter(|source| source.is_of_object());
    let cells = sources.map(|source| {
        row.write(*source, &mut cell);
        let text = cell.replace(['\t', '\n', '\r'], " ");
        if is_formula(&cell) || cell.starts_with('"') { format!("'{text}") } else { text }
    });
    cells.collect::<Vec<_>>().join("\t")
}

/// An object whose cells are written as texts.
#[derive(Clone, Copy, Debug)]
pub struct RowCells<'a> {
    /// The schema of the table.
    pub schema: &'a TableSchema,
    /// The object's kind, by its id in the schema.
    pub kind: KindId,
    pub object: &'a Object,
    /// The time from which ages are computed.
    pub at: Timestamp,
}

impl RowCells<'_> {
    /// Replaces the content of `out` with the text of the cell of one column.
    pub fn write(self, source: Source, out: &mut String) {
        let RowCells { schema, kind, object, at } = self;
        out.clear();
        match source {
            Source::Cluster => out.push_str(schema.cluster(kind)),
            Source::Kind => out.push_str(schema.label(kind)),
            Source::Namespace => out.push_str(&object.key.namespace),
            Source::Name => out.push_str(&object.key.name),
            Source::Cell(cell) => {
                if let Some(value) = schema.cell(kind, cell).and_then(|cell| object.cells.get(cell)) {
                    value.write(at, out);
                }
            }
            Source::Changed | Source::Next => {}
        }
    }
}

fn write_line<'a>(fields: impl Iterator<Item = &'a str>, out: &mut String) {
    let mut first = true;
    for field in fields {
        write_separator(&mut first, out);
        write_field(field, out);
    }
    out.push_str("\r\n");
}

fn write_separator(first: &mut bool, out: &mut String) {
    if !std::mem::replace(first, false) {
        out.push(',');
    }
}

/// Whether a spreadsheet would run the text as a formula, by the sign that the text begins with. Some spreadsheets
/// accept the full-width forms of the signs too (OWASP, "CSV Injection"). Such a text is written after an apostrophe.
fn is_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'])
}

/// Writes a field of CSV.
fn write_field(field: &str, out: &mut String) {
    let is_formula = is_formula(field);
    let must_quote =
        is_formula || field.contains([',', '"', '\n', '\r']) || field.starts_with(' ') || field.ends_with(' ');
    if !must_quote {
        return out.push_str(field);
    }
    out.push('"');
    if is_formula {
        out.push('\'');
    }
    out.push_str(&field.replace('"', "\"\""));
    out.push('"');
}

/// One row of JSON.
struct Row<'a> {
    cells: RowCells<'a>,
    columns: &'a [(Source, &'static str)],
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let RowCells { schema, kind, object, .. } = self.cells;
        let cluster = schema.has_clusters().then(|| schema.cluster(kind));
        let kind = schema.is_several().then(|| schema.label(kind));
        let mut map = serializer.serialize_map(None)?;
        if let Some(cluster) = cluster {
            map.serialize_entry("cluster", cluster)?;
        }
        if let Some(kind) = kind {
            map.serialize_entry("kind", kind)?;
        }
        map.serialize_entry("key", &object.key.to_string())?;
        map.serialize_entry("uid", &object.uid)?;
        map.serialize_entry("resourceVersion", object.resource_version.as_str())?;
        map.serialize_entry("cells", &Cells(self))?;
        map.end()
    }
}

struct Cells<'a>(&'a Row<'a>);

impl Serialize for Cells<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Row { cells, columns } = self.0;
        let mut map = serializer.serialize_map(Some(columns.len()))?;
        let mut text = String::new();
        for (source, title) in *columns {
            cells.write(*source, &mut text);
            map.serialize_entry(title, &text)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::layout::Arrangement;
    use kubechurn_client::api::cell::Cell;
    use kubechurn_client::api::object::{ObjectKey, ResourceVersion};
    use kubechurn_columns::kinds::kind;

    fn object(name: &str, status: &str) -> Arc<Object> {
        Arc::new(Object {
            key: ObjectKey::new("shop", name),
            uid: "u-1".into(),
            resource_version: ResourceVersion::new("7"),
            owners: None,
            cells: [Cell::Ratio(1, 2), Cell::Text(status.into()), Cell::Number(-3), Cell::Age(Some(Timestamp(40)))]
                .into(),
            flaw: None,
            extra: None,
        })
    }

    fn layout() -> Layout {
        Layout::of(Arc::new(TableSchema::of(&[kind("pods").unwrap()])), false, &Arrangement::default())
    }

    fn whole(format: Format, rows: Vec<Arc<Object>>, slice: usize) -> String {
        let rows = rows.into_iter().map(|object| (KindId::ONLY, object)).collect();
        let mut export = Export::new(format, &layout(), rows, vec![Timestamp(100)]);
        std::iter::from_fn(|| export.slice(slice)).collect()
    }

    #[test]
    fn csv_is_as_the_rfc_says_and_runs_nothing() {
        for (status, expected) in [
            ("Running", "Running"),
            ("a,b", "\"a,b\""),
            ("say \"no\"", "\"say \"\"no\"\"\""),
            ("=1+1", "\"'=1+1\""),
            ("+1", "\"'+1\""),
            ("-1", "\"'-1\""),
            ("@SUM(A1)", "\"'@SUM(A1)\""),
            ("\tx", "\"'\tx\""),
            ("=a\",b", "\"'=a\"\",b\""),
            ("＝1+1", "\"'＝1+1\""),
            ("＠x", "\"'＠x\""),
            (" x", "\" x\""),
            ("x=1", "x=1"),
            ("", ""),
        ] {
            let mut out = String::new();
            write_field(status, &mut out);
            assert_eq!(out, expected, "{status:?}");
        }
        let text = whole(Format::Csv, vec![object("a", "=x"), object("b", "Running")], 1);
        let expected = "NAMESPACE,NAME,READY,STATUS,RESTARTS,AGE\r\n\
                        shop,a,1/2,\"'=x\",\"'-3\",60s\r\nshop,b,1/2,Running,\"'-3\",60s\r\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn json_has_a_line_for_each_row() {
        let text = whole(Format::Json, vec![object("a", "say \"no\"\n"), object("b", "Running")], 5);
        let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let cells = serde_json::json!({ "NAMESPACE": "shop", "NAME": "b", "READY": "1/2", "STATUS": "Running",
            "RESTARTS": "-3", "AGE": "60s" });
        let expected = serde_json::json!({ "key": "shop/b", "uid": "u-1", "resourceVersion": "7", "cells": cells });
        assert_eq!((lines.len(), &lines[1]), (2, &expected));
    }

    #[test]
    fn slices_are_the_whole_however_they_are_cut() {
        let rows: Vec<_> = (0..10).map(|at| object(&format!("pod-{at}"), "Running")).collect();
        for format in [Format::Csv, Format::Json] {
            let all = whole(format, rows.clone(), 100);
            for slice in [1, 3, 10] {
                assert_eq!(whole(format, rows.clone(), slice), all);
            }
            assert_eq!(all.lines().count(), 10 + usize::from(format == Format::Csv));
        }
        // Even without a row, CSV says what its columns are.
        assert_eq!(whole(Format::Csv, Vec::new(), 5).lines().count(), 1);
        assert_eq!(whole(Format::Json, Vec::new(), 5), "");
    }

    #[test]
    fn a_row_for_the_clipboard_has_tabs_between_its_cells() {
        let text = tab_separated(&layout(), KindId::ONLY, &object("a", "Running"), Timestamp(100));
        assert_eq!(text, "shop\ta\t1/2\tRunning\t'-3\t60s");
    }

    #[test]
    fn a_row_for_the_clipboard_runs_nothing() {
        for (status, expected) in [
            ("Running", "Running"),
            ("x=1", "x=1"),
            ("=1+1", "'=1+1"),
            ("＝1+1", "'＝1+1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\"=1+1\"", "'\"=1+1\""),
            ("\t=1+1", "' =1+1"),
            ("a\t=1+1", "a =1+1"),
            ("", ""),
        ] {
            let text = tab_separated(&layout(), KindId::ONLY, &object("a", status), Timestamp(100));
            assert_eq!(text, format!("shop\ta\t1/2\t{expected}\t'-3\t60s"), "{status:?}");
        }
    }

    #[test]
    fn rows_of_several_kinds_say_which_they_are_of() {
        let schema = TableSchema::of(&[kind("deployments").unwrap(), kind("pods").unwrap()]);
        let layout = Layout::of(Arc::new(schema), false, &Arrangement::default());
        let deployment = Object {
            cells: [Cell::Ratio(1, 2), Cell::Number(2), Cell::Number(1), Cell::Age(Some(Timestamp(40)))].into(),
            ..(*object("web", "")).clone()
        };
        let rows = vec![(KindId(0), Arc::new(deployment)), (KindId(1), object("web", "Running"))];
        let all = |format| Export::new(format, &layout, rows.clone(), vec![Timestamp(100); 2]).slice(9).unwrap();
        let expected = "KIND,NAMESPACE,NAME,READY,UP-TO-DATE,AVAILABLE,STATUS,RESTARTS,AGE\r\n\
                        Deployment,shop,web,1/2,2,1,,,60s\r\nPod,shop,web,1/2,,,Running,\"'-3\",60s\r\n";
        assert_eq!(all(Format::Csv), expected);
        let lines: Vec<serde_json::Value> =
            all(Format::Json).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let kinds =
            lines.iter().map(|line| (line["kind"].as_str(), line["cells"]["KIND"].as_str())).collect::<Vec<_>>();
        assert_eq!(kinds, [(Some("Deployment"), Some("Deployment")), (Some("Pod"), Some("Pod"))]);
        assert_eq!((&lines[0]["key"], &lines[0]["cells"]["STATUS"]), (&lines[1]["key"], &"".into()));
        assert_eq!(
            tab_separated(&layout, KindId(1), &rows[1].1, Timestamp(100)),
            "Pod\tshop\tweb\t1/2\t\t\tRunning\t'-3\t60s"
        );
    }

    #[test]
    fn a_file_s_name_has_no_sign_that_means_something() {
        let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
        for (kind, namespaces, expected) in [
            ("pods", &["shop"][..], "pods-shop-T.csv"),
            ("../etc", &[], "etc-T.csv"),
            ("pods", &["a/b", "c", "d", "e", "f"], "pods-a-b-c-d-and-2-more-T.csv"),
        ] {
            assert_eq!(file_name(kind, &names(namespaces), "T", Format::Csv), expected);
        }
    }
}
