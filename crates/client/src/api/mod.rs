//! What is sent to the API server and what comes from it. Nothing here keeps state.

pub mod cell;
pub mod cells;
pub mod definition;
pub mod discovery;
pub mod event;
pub mod extra;
pub mod float;
pub mod list;
pub mod meaning;
pub mod object;
pub mod owner;
pub mod release;
pub mod request;
pub mod resource;
pub mod secret;
pub mod selector;
pub mod sort;
pub mod status;
pub mod time;
pub mod uid;
pub mod weight;
