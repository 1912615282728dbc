//! Which columns the Table of a resource has.

use super::printer_column::PrinterColumn;

/// The columns of a resource's Table.
#[derive(Debug, Clone)]
pub enum Columns {
    /// The page's columns, if `kubechurn_columns::kinds` has the resource; otherwise name and age.
    Page,
    /// The columns of ComponentStatuses. The page does not know these, because they cannot be watched.
    Component,
    /// The columns of a CustomResourceDefinition.
    Custom(Vec<PrinterColumn>),
}
