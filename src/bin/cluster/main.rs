//! The demo cluster: a Kubernetes API server for demos and browser tests, with a seeded cluster that changes.
//!
//! ```text
//! scenario ─┐                      ┌─► watch cache (ring per resource) ─► watcher ─┐
//! writes ───┼─► storage ──────────┤                                                ├─► form ─► HTTP or WebSocket frames
//! (HTTP)    │   (one revision)     └─► list (pages at one revision) ────────────────┘   (whole, Table, metadata)
//! collector ┘   registry: which resources there are; CustomResourceDefinitions add to it
//! ```
//!
//! It listens on 127.0.0.1 only and answers only requests whose Host, and Origin if any, is loopback. Behind
//! `kubectl -s http://127.0.0.1:PORT proxy` it looks like a cluster, and kubectl itself takes it for one:
//! `tests/kubectl/`. `--help` lists the options.
//!
//! # Control
//!
//! For tests; JSON answers, a `Status` on mistakes. `RESOURCE` is a plural name such as `pods`.
//!
//! | request | effect |
//! |---|---|
//! | `POST /_control/rate?value=R` | R writes a second from now on; 0 = quiet. Answered, with the newest revision, after the scenario's last write at the old rate |
//! | `POST /_control/compact` | older revisions expire: watches from them and pages at them get 410. Running watches go on |
//! | `POST /_control/forbid?verb=list\|watch\|get&resource=RESOURCE` | 403 from now on; cuts the resource's watches |
//! | `POST /_control/allow?verb=…&resource=RESOURCE` | takes it back |
//! | `POST /_control/cut[?resource=RESOURCE]` | drops the watches' connections, sockets without a close frame |
//! | `POST /_control/stall?on=true\|false` | nothing is sent, no answer and no event, except by `/_control` |
//! | `POST /_control/backlog?events=N` | a live watch that is more than N events behind is closed (default 4096) |
//! | `POST /_control/put` | writes the object in the body, whatever its name; `kind` and `apiVersion` say where |
//! | `GET /_control/log[?resource=RESOURCE]` | the newest 200,000 writes since the start, population included: `[{revision,type,key,uid}]` |
//!
//! # Deliberately absent
//!
//! No compression, no schemas (fields are not validated, OpenAPI names operations only), no admission, no kubelets,
//! no field ownership: a server-side apply is a merge that creates what is missing. Protobuf is read where `kubectl
//! create` and `drain` write it, and never written. Lists of custom resources are merged as one. Nothing is stored on disk. A
//! foreign Origin is refused, which the real server does not do.

#[cfg(not(target_arch = "wasm32"))]
mod native;

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    native::main()
}

#[cfg(target_arch = "wasm32")]
fn main() {}
