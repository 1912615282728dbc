//! The page without a browser, against the demo cluster: what it decides, by the handles that it gives to tests and by its
//! view. What a browser's layout, pointer or sockets have a part in is in `tests/browser`.
//!
//! Each test starts its own cluster on a free port, and stops it at its end. No test waits for the page's longer pauses: it
//! moves the page's clock on.

// The page's shell, and the page as tests use it.
mod page;
mod shell;

// The judge itself, with logs made by hand, and all the ways in which they can be wrong.
mod judge;

// The relay that breaks networks.
mod relay;

// The linked crates and their licences.
mod licences;

// The sizes of the built page's files.
mod files;

// A way that lets no WebSocket through.
mod over_http;

// The manifests that record a cluster from within.
mod deploy;

// The health of the watches is what befell them.
mod health;
mod holds;

// Tables without rows, and the reasons.
mod states;

// LIST and WATCH are forbidden.
mod permission;

// Every kind's cells against what a real server printed.
mod columns;

// What is saved and opened again is as it was.
mod recording;

// Who made the requests, by an audit log.
mod audited;

// The clocks of the page's machine and of the server differ.
mod clocks;

// Kinds that come and go with their definitions.
mod kinds;

// The cluster is replaced, sockets are cut.
mod outage;

// Other moments than now.
mod rewind;

// A rollout, and the life of a Pod.
mod rollout;

// Why something is broken.
mod why;

// Logs of containers.
mod logs;

// What is different between two of them.
mod net;

// Under load, nothing is lost.
mod sync;

// Frames that cannot be read are counted.
mod sent;

// A list that takes long, and of about how many.
mod listing;

// A state is called live only with a proof.
mod proven;

// The page checks itself.
mod verify;

// The recorder, and what reads its files.
mod following;
mod in_cluster;
mod record;
mod rolling;
mod store;
