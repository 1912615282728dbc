//! The built page in a real Chromium, against the demo cluster, through the real proxies.
//!
//! Each test starts its own cluster and proxy on free ports and stops them at its end; its browser may be one that another test
//! has left. docs/guide/handles.md lists which parts of the page tests may rely on. When a test fails, the page's status and
//! console follow the message, and `target/browser-failures/` has a screenshot.
//!
//! A subject's tests lie in the folder that is named as its folder in `src/ui`. `page` has what concerns the page as a whole,
//! and `program` the ways to serve it.

mod feed;
mod holds;
mod inside;
mod inspector;
mod logs;
mod navigation;
mod page;
mod program;
mod recording;
mod rewind;
mod rollout;
mod shell;
mod table;
mod timeline;
mod verification;
mod watches;
mod why;
mod writers;
