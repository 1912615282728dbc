//! The built page in a real Chromium, against the demo cluster, through the real proxies.
//!
//! Each test starts its own cluster and proxy on free ports and stops them at its end; its browser may be one that another test
//! has left. docs/guide/handles.md lists which parts of the page tests may rely on. When a test fails, the page's status and console follow the message, and
//! `target/browser-failures/` has a screenshot.

// Random faults, and three seeds of them.
mod fault_seeds;
// Browsers that tests share.
mod tabs;

// A page that is live on a small cluster.
mod live;

// Under load, through `kubectl proxy` and through `trunk serve`, nothing is lost.
mod sync;

// The page's account of the frames that it received, compared with the cluster's account of those that it sent.
mod sent;

// A state is called live only with a proof.
mod proven;

// The machine's clock moves by hours.
mod clocks;

// The proxy dies, the cluster is replaced, history is compacted, sockets are cut.
mod outage;

// The program panics, traps, runs out of memory, or stops responding.
mod death;

// What is asked before the program is there.
mod early;

// What a page does on which nothing happens.
mod idle;

// How often a stream of changes is drawn.
mod pace;

// The page's security policy, and a console that is clean.
mod policy;

// Where the data comes from, and that the user is asked before it comes from elsewhere.
mod source;

// An API of another origin without CORS: only its sockets are of use.
mod cross_origin;

// The page checks itself.
mod verify;

// A recording is saved, and opened in place of the cluster.
mod recording;

// A folder of the page and recordings.
mod site;

// The tab is in the background.
mod hidden;

// Names and annotations that are markup.
mod markup;

// docs/guide/first-minutes.md, step by step.
mod first_minutes;

// The cause of a bad rollout, and its value, at two sizes of the window.
mod glance;

// A window as narrow as a phone's.
mod phone;

// What covers something else at 200 % zoom and on a phone.
mod layout;

// Another moment than now.
mod rewind;

// Fifty thousand Pods.
mod size;

// Elements that rows take over from each other.
mod elements;

// A list that takes long, and of about how many objects.
mod listing;

// More is received than the page can process.
mod overload;

// How long deleted rows stay.
mod lingering;

// What the lanes of the timeline say.
mod words;

// How often the page resyncs.
mod resync;

// Kinds, namespaces, sorting, filtering, pausing, reloading.
mod controls;

// What the filter finds, and how it is marked.
mod filter;

// The sidebar's arrows and groups.
mod sidebar;

// Reload, back and forward.
mod address;

// Rows, palette, help and columns, without a pointer.
mod keyboard;

// What is copied and exported.
mod copies;

// Protection of the secret path.
mod guards;

// `kubectl churn`, as its users have it.
mod plugin;

// The program `kubechurn`, as its users have it.
mod binary;

// What a screen reader gets, by axe-core, in every state.
mod accessibility;

// Cells follow the server's release.
mod columns;

// Several kinds in one table.
mod several;

// A Secret's value is nowhere in the program's memory.
mod canary;

// An object in full, how it changed, and what is masked.
mod comparison;
mod inspector;
mod last_write;

// The inspector's width, and that the inspector does nothing while nothing changes.
mod panel;

// Panels that are dragged to size, and words that are shown whole.
mod frame;

// What is too much for the page: a frame, a slow list, and its own memory.
mod budgets;
mod changes;

// Lanes of the timeline in groups.
mod lanes;
// The timeline's pixels.
mod painting;
// A chosen stretch of time, and filters that are watched.
mod alerts;
mod span;
