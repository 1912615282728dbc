//! The clocks of the API servers: the page says where this machine's clock differs from one of them.

use kubechurn_client::api::time::write_human_duration;

use crate::page::context::Context;
use crate::watches::notices::{NoticeKind, PageNotice};

/// The clusters of whose clocks it was said that they differ.
#[derive(Debug, Default)]
pub(super) struct Clocks {
    said: Vec<&'static str>,
}

impl Clocks {
    /// Says of each watched cluster once that its clock differs, and again if it differs after it has agreed.
    pub(super) fn look(&mut self, cx: &mut Context<'_>) {
        let mut clusters: Vec<&'static str> =
            cx.watching.watches.members().iter().map(|watched| watched.kind().resource.cluster).collect();
        clusters.dedup();
        for cluster in clusters {
            let difference = cx.env.server_clock(cluster).difference();
            match (difference, self.said.contains(&cluster)) {
                (Some(seconds), false) => {
                    self.said.push(cluster);
                    let words = words(seconds, cluster);
                    cx.show_message(&words);
                    let kind = NoticeKind::Clock { at: cx.now, words };
                    cx.publish(PageNotice { resource: "", namespace: String::new(), kind });
                }
                (None, true) => self.said.retain(|said| *said != cluster),
                _ => {}
            }
        }
    }
}

/// `ahead` is by how many seconds the server's clock is ahead.
fn words(ahead: i64, cluster: &str) -> String {
    let mut by = String::new();
    write_human_duration(ahead.abs(), &mut by);
    let side = if ahead > 0 { "behind" } else { "ahead of" };
    let server = if cluster.is_empty() { String::from("the server's") } else { format!("that of {cluster}'s server") };
    format!("Your clock is {by} {side} {server}: ages are by the server's clock.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_says_whose_clock_is_behind() {
        let said = "Your clock is 6h behind the server's: ages are by the server's clock.";
        assert_eq!(words(21_600, ""), said);
        let said = "Your clock is 72s ahead of that of west's server: ages are by the server's clock.";
        assert_eq!(words(-72, "west"), said);
    }
}
