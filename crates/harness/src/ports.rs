//! A port for a program that must be given one to listen on.

use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::process;
use std::sync::Mutex;

/// The ports to choose from. They lie below those that the system gives to programs by itself (from 32768 on), and no browser
/// refuses to ask one of them.
const FIRST: u16 = 20_000;
const COUNT: u32 = 10_000;

/// The ports that this process has claimed. The claim is a UDP socket of the same number, which is open until the process
/// ends.
static CLAIMED: Mutex<Vec<UdpSocket>> = Mutex::new(Vec::new());

/// A loopback port on which no program listens, for this process alone. A program may end and be started there again. In the
/// meantime no other test gets the port, in this process or another one, and no outgoing connection does, as could happen to
/// a port that the system chose.
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
