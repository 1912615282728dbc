//! The addresses of Pods: each node has a subnet with 250 of them.

use std::collections::HashMap;
use std::net::Ipv4Addr;

/// The addresses in use, by node.
#[derive(Debug, Default)]
pub struct Network {
    nodes: HashMap<String, Subnet>,
    /// The number of the next free subnet.
    next: u16,
}

/// The addresses of one node: a host number from 2 to 251 in the node's subnet.
#[derive(Debug)]
struct Subnet {
    number: u16,
    next: u8,
    /// One bit for each address in use.
    used: [u64; 4],
}

const FIRST: u8 = 2;
const LAST: u8 = 251;

impl Network {
    /// A free address on a node; if the node has none left, one that is already in use.
    pub fn allocate(&mut self, node: &str) -> String {
        let subnet = self.nodes.entry(node.to_owned()).or_insert_with(|| {
            self.next = self.next.saturating_add(1);
            Subnet::new(self.next - 1)
        });
        let host = subnet.take();
        let [high, low] = subnet.number.to_be_bytes();
        // The range starts at 10.64; the ranges around it are left to nodes and Services.
        Ipv4Addr::new(10, 64_u8.saturating_add(high), low, host).to_string()
    }

    /// Frees the address of a Pod. An address outside this network is ignored.
    pub fn release(&mut self, node: &str, address: &str) {
        if let (Some(subnet), Some(host)) = (self.nodes.get_mut(node), host(address)) {
            subnet.set(host, false);
        }
    }

    /// Marks an address as in use that a Pod had before this program started.
    pub fn keep(&mut self, node: &str, address: &str) {
        let Some([10, high @ 64..=255, low, host]) = address.parse::<Ipv4Addr>().ok().map(|address| address.octets())
        else {
            return;
        };
        let number = u16::from_be_bytes([high - 64, low]);
        if !self.nodes.contains_key(node) && number >= self.next {
            self.next = number.saturating_add(1);
            self.nodes.insert(node.to_owned(), Subnet::new(number));
        }
        if let Some(subnet) = self.nodes.get_mut(node).filter(|subnet| subnet.number == number) {
            subnet.set(host, true);
        }
    }
}

fn host(address: &str) -> Option<u8> {
    address.parse::<Ipv4Addr>().ok().map(|address| address.octets()[3])
}

impl Subnet {
    fn new(number: u16) -> Self {
        Self { number, next: FIRST, used: [0; 4] }
    }

    fn take(&mut self) -> u8 {
        for _ in FIRST..=LAST {
            let host = self.next;
            self.next = if host >= LAST { FIRST } else { host + 1 };
            if self.used[usize::from(host / 64)] & (1 << (host % 64)) == 0 {
                self.set(host, true);
                return host;
            }
        }
        self.next
    }

    fn set(&mut self, host: u8, used: bool) {
        let bit = 1 << (host % 64);
        let word = &mut self.used[usize::from(host / 64)];
        if used { *word |= bit } else { *word &= !bit }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_pods_of_a_node_have_one_address() {
        let mut network = Network::default();
        let first = network.allocate("a");
        assert_eq!(first, "10.64.0.2");
        assert_eq!(network.allocate("b"), "10.64.1.2");
        let mut seen = HashSet::from([first.clone()]);
        for _ in 0..249 {
            assert!(seen.insert(network.allocate("a")));
        }
        network.release("a", "10.64.0.77");
        assert_eq!(network.allocate("a"), "10.64.0.77");
        network.release("a", &first);
        network.keep("a", &first);
        network.release("a", "10.64.0.9");
        assert_eq!(network.allocate("a"), "10.64.0.9");
    }

    #[test]
    fn what_was_given_before_is_kept() {
        let mut network = Network::default();
        network.keep("a", "10.64.5.2");
        network.keep("a", "192.0.2.1");
        assert_eq!(network.allocate("a"), "10.64.5.3");
    }
}
