//! Which columns a resource's Table has.

use super::printer_column::PrinterColumn;

/// The columns of a resource's Table.
#[derive(Debug, Clone)]
pub enum Columns {
    /// The page's own, where `kubechurn_model::table::kinds` has the resource; else name and age.
    Page,
    /// Of ComponentStatuses, which nobody can watch, so that the page does not know them.
    Component,
    /// What a CustomResourceDefinition asks for.
    Custom(Vec<PrinterColumn>),
}
