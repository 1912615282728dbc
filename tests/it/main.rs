//! The integration tests, in one binary; what plays in the page itself has its own.

/// Every kind's columns against the tables that a real API server printed, and against damaged objects.
mod columns;
