//! What is served: resources, their registry, CustomResourceDefinitions, and one object of them.

pub mod builtin;
pub mod columns;
pub mod definition;
pub mod fields;
pub mod label_selector;
pub mod object;
pub mod printer_column;
pub mod registry;
pub mod resource;
pub mod selector;
