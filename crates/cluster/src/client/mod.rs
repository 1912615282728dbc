//! An ordinary client of the API within the same process: what client-go is to a controller.
//!
//! [`rest::Client`] sends whole HTTP requests through the server's router without a socket, so that a controller gets
//! the same endpoints, bodies and codes as kubectl. [`informers::Informers`] are the informers of the client crate,
//! driven by tasks of tokio, and [`lister::Lister`] reads their stores.

pub mod api_error;
pub mod discovery;
pub mod informers;
pub mod internal;
pub mod lister;
pub mod lister_watcher;
pub mod resources;
pub mod rest;

#[cfg(test)]
mod tests;
