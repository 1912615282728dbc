//! The page of kubechurn, which shows a Kubernetes cluster changing: `browser` has the IO, `ui` draws what
//! `kubechurn_model` has decided, and `app` joins the two.
//!
//! `ARCHITECTURE.md` has the flow of the data, the map of the code and the invariants.

#[cfg(target_arch = "wasm32")]
pub mod app;
#[cfg(target_arch = "wasm32")]
pub mod browser;
#[cfg(target_arch = "wasm32")]
pub mod ui;
