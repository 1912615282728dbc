//! A port for a program that must be told where to listen.

use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::process;
use std::sync::Mutex;

/// Below those that the system gives away by itself (from 32768 on), and none that a browser refuses to ask.
const FIRST: u16 = 20_000;
const COUNT: u32 = 10_000;

/// What this process has claimed: the UDP ports of the same numbers, which are its own until it ends.
static CLAIMED: Mutex<Vec<UdpSocket>> = Mutex::new(Vec::new());

/// A loopback port that nobody listens on, for this process alone. A program may end and be started there again:
/// meanwhile no other test gets the port, whichever process it is in, and no connection does, as it might where the
/// system chooses.
pub fn free_port() -> u16 {
    let mut claimed = CLAIMED.lock().expect("no holder panics");
    let start = process::id().wrapping_mul(7) % COUNT;
    let candidates = (0..COUNT).map(|step| FIRST + u16::try_from((start + step) % COUNT).expect("below 10,000"));
    let found = candidates.into_iter().find_map(|port| {
        let claim = UdpSocket::bind((Ipv4Addr::LOCALHOST, port)).ok()?;
        TcpListener::bind((Ipv4Addr::LOCALHOST, port)).ok()?;
        Some((claim, port))
    });
    let (claim, port) = found.expect("a loopback port can be bound");
    claimed.push(claim);
    port
}
