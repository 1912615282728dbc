//! What is served: resources, their registry, CustomResourceDefinitions, and one object of them.

pub mod builtin;
pub mod definition;
pub mod discovery_controller;
pub mod object;
pub mod registry;
pub mod resource;
pub mod selector;
