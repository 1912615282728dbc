//! The wire: what the API server says and how it is asked. Nothing here keeps state.

pub mod text;
pub mod time;
pub mod object;
pub mod cell;
pub mod event;
pub mod list;
pub mod status;
pub mod resource;
pub mod request;
