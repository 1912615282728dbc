//! An ordinary client of the API inside its own process: what client-go is to a controller.
//!
//! [`rest::Client`] sends whole HTTP requests through the server's router, so that a controller meets the endpoints,
//! bodies and codes that kubectl meets, without a socket. [`informers::Informers`] are the crate's own sans-IO
//! informers, kept going by tasks of tokio, and [`lister::Lister`] reads what they know.

pub mod api_error;
pub mod discovery;
pub mod informers;
pub mod insider;
pub mod lister;
pub mod lister_watcher;
pub mod resources;
pub mod rest;

#[cfg(test)]
mod tests;
