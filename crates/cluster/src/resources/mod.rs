//! The served resources: their descriptions, their registry, CustomResourceDefinitions, and one object of a resource.

pub mod builtin;
pub mod columns;
pub mod conditions;
pub mod definition;
pub mod fields;
pub mod label_selector;
pub mod object;
pub mod printer_column;
pub mod registry;
pub mod resource;
pub mod selector;
