//! Conversations with a running server.
