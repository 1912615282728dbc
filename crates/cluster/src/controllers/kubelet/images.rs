//! Images: their full names, their digests, and which node has which image.

use std::collections::HashSet;
use std::time::Duration;

use super::super::pace::Pace;
use crate::random::Random;

/// Which node has which image, as one set of hashes of node and image.
#[derive(Debug, Default)]
pub struct Images {
    present: HashSet<u64>,
}

impl Images {
    /// Whether a node has an image.
    pub fn is_present(&self, node: &str, image: &str) -> bool {
        self.present.contains(&hash(&[node, image]))
    }

    /// Records that a node has an image.
    pub fn add(&mut self, node: &str, image: &str) {
        self.present.insert(hash(&[node, image]));
    }
}

/// How long it takes to pull an image, scaled: the same image takes about the same time on each pull.
pub fn pull_time(image: &str, pace: f64, random: &mut Random) -> Duration {
    let usual = 600 + hash(&[image]) % 2400;
    let millis = usual as usize + random.below(400);
    Pace::seconds(pace, millis as f64 / 1000.0)
}

/// How large an image is, in bytes.
pub fn size(image: &str) -> u64 {
    2_000_000 + hash(&["size", image]) % 190_000_000
}

/// The full name of an image, as the container runtime shows it: `docker.io/library/nginx:latest`.
pub fn full_name(image: &str) -> String {
    let first = image.split('/').next().unwrap_or_default();
    let has_host = image.contains('/') && (first.contains(['.', ':']) || first == "localhost");
    let name = match (has_host, image.contains('/')) {
        (true, _) => image.to_owned(),
        (false, true) => format!("docker.io/{image}"),
        (false, false) => format!("docker.io/library/{image}"),
    };
    let last = name.rsplit('/').next().unwrap_or_default();
    if last.contains([':', '@']) { name } else { format!("{name}:latest") }
}

/// The image with its digest: `docker.io/library/nginx@sha256:…`.
pub fn id(image: &str) -> String {
    let name = full_name(image);
    let (folder, last) = name.rsplit_once('/').unwrap_or_default();
    let bare = last.split(['@', ':']).next().unwrap_or_default();
    format!("{folder}/{bare}@sha256:{}", digits(&name))
}

/// Sixty-four hexadecimal digits computed from a text.
pub fn digits(text: &str) -> String {
    let mut random = Random::new(hash(&[text]));
    (0..4).map(|_| format!("{:016x}", random.next())).collect()
}

/// A hash of some texts (FNV-1a).
pub fn hash(texts: &[&str]) -> u64 {
    let bytes = texts.iter().flat_map(|text| text.bytes().chain([0xff]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for (image, full) in [
            ("nginx", "docker.io/library/nginx:latest"),
            ("nginx:1.27", "docker.io/library/nginx:1.27"),
            ("grafana/loki:3", "docker.io/grafana/loki:3"),
            ("registry.example/app:1", "registry.example/app:1"),
            ("localhost/app", "localhost/app:latest"),
            ("registry.example:5000/app", "registry.example:5000/app:latest"),
        ] {
            assert_eq!(full_name(image), full);
        }
        let digest = id("nginx:1.27");
        assert!(digest.starts_with("docker.io/library/nginx@sha256:"), "{digest}");
        assert_eq!(digest.len(), "docker.io/library/nginx@sha256:".len() + 64);
        assert_ne!(digest, id("nginx:1.28"));
        assert!(id("registry.example:5000/app").starts_with("registry.example:5000/app@sha256:"));
    }
}
