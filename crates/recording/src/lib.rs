//! The file of a recording, `.churn`: what was received of a cluster, so that it can be shown again elsewhere.
//!
//! A file is a sequence of gzip members, so `zcat` reads it. Each member is a block: lines of JSON that can be read without the
//! other blocks. A file that breaks off loses what was not yet written of its last block. `docs/guide/file.md` describes every
//! line. [`Writer`] makes the lines, [`Block`] reads them, and [`member`] finds the blocks of a file without unpacking them.
//! Nothing here reads or writes a file, or compresses, but for the feature `native`.

#![warn(missing_docs)]

pub mod edit;
pub mod index;
mod line;
pub mod member;
#[cfg(feature = "native")]
pub mod native;
mod newest;
#[cfg(feature = "native")]
pub mod places;
mod reader;
pub mod redact;
pub mod replace;
mod writer;

pub use line::{Header, Line, Request, Step, Text, Version, Watch};
pub use newest::{Beginning, Newest};
pub use reader::{Block, Part, Refusal};
pub use writer::{FULL, Writer};

/// The version of the format. A reader refuses a newer one.
pub const FORMAT: u32 = 1;
