//! What is watched, its state and its account, whatever fails.

mod budgets;
mod clocks;
mod health;
mod hidden;
mod outage;
mod overload;
mod proven;
mod resync;
mod sent;
mod sync;
