//! The built page in a real Chromium, against the demo cluster, through the real proxies.
//!
//! Each test starts its own cluster, proxy and browser on free ports and takes them down again. What a test
//! may hold on to in the page is written in the README. When one fails, the page's status and console follow
//! the message, and `target/browser-failures/` has a screenshot.

// Random faults, and three seeds of them.
mod fault_seeds;
// The judge itself, by logs made by hand, and all the ways in which they can be wrong.
mod judge_tests;

// The relay with which networks are broken.
mod relay;

// A page that is live on a small cluster.
mod live;

// The page's marks against the cluster's log of writes.
mod history;

// Under load, through `kubectl proxy` and through `trunk serve`, nothing is lost.
mod sync;

// The page's account against the cluster's: every frame that was sent.
mod sent;

// What is called live is proven.
mod proven;

// The clock of the machine moves by hours.
mod clocks;

// The proxy dies, the cluster is replaced, history is compacted, sockets are cut.
mod outage;

// The program panics, traps, finds no memory, or falls silent.
mod death;

// The page's security policy, and a console that is clean.
mod policy;

// Where the data comes from, and who is asked before it comes from elsewhere.
mod source;

// The page checks itself.
mod verify;

// LIST and WATCH are forbidden.
mod permission;

// The tab is in the background.
mod hidden;

// Names and annotations that are markup.
mod markup;

// What is linked in, and under which licence.
mod licences;

// Fifty thousand Pods.
mod size;

// Elements that rows pass on to each other.
mod elements;

// No rows, and why.
mod states;

// A list that lasts, and of about how many.
mod listing;

// More comes than the page may take.
mod overload;

// How long deleted rows stay.
mod lingering;

// How often what is known is told again.
mod resync;

// Kinds, namespaces, sorting, filtering, pausing, reloading.
mod controls;

// What is looked for, and how it is marked.
mod filter;

// The sidebar's arrows and groups.
mod sidebar;

// Reload, back and forward.
mod address;

// Rows, palette, help and columns, without a pointer.
mod keyboard;

// What is copied and exported.
mod copies;

// Who does not know the secret path.
mod guards;

// What a screen reader gets, by axe-core, in every state.
mod accessibility;

// Every kind's cells against what a real server printed.
mod columns;

// Several kinds in one table.
mod several;

// Kinds that come and go with their definitions.
mod kinds;

// What is behind a row, what changed in it, and what is masked.
mod inspector;

// The inspector's width, and its rest.
mod panel;

// What is too much for the page: a frame, a slow list, and its own memory.
mod budgets;
