//! The logs of containers, as the API server sends them: bytes become lines with the server's times, which stand in the order
//! of time, whichever container wrote them. What the lines say is not read. They are kept in a budget of their own, and go into a file
//! only when the user saves them.

pub mod command;
pub mod containers;
pub mod followed;
pub mod lines;
pub mod reader;
pub mod refusal;
pub mod resumed;
pub mod source;
pub mod stamp;
