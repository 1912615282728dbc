//! How a page of a list arrives: in pieces, and not always to its end.

use kubechurn_client::api::list::ListReader;
use kubechurn_client::api::status::Failure;
use kubechurn_client::cache::queue::Queue;
use kubechurn_client::cache::reflector::Input;

use super::Play;
use crate::histories::server::Page;
use crate::histories::steps::PageSent;

impl<Q: Queue, O: Queue> Play<Q, O> {
    /// A page arrives in two pieces, of which the second one never comes where the page breaks off.
    pub(super) fn page_arrives(&mut self, page: &Page, sent: PageSent) {
        let text = self.server.page_text(page, sent.flawed);
        let at = (text.len() as f64 * self.random) as usize;
        let (first, second) = text.as_bytes().split_at(at);
        // The item that cannot be read is the first one.
        let (came, flawed) = (items_in(first), usize::from(sent.flawed));
        let flawed_came = flawed.min(came);
        let (early, late) = page.items.split_at(came - flawed_came);
        self.expected.listed(early, flawed_came as u64);
        self.input(Input::Piece(first));
        if sent.broken {
            let says_so = at.is_multiple_of(2);
            return self.input(if says_so { Input::Failed(Failure::unreachable("no more")) } else { Input::PageEnd });
        }
        self.expected.listed(late, (flawed - flawed_came) as u64);
        self.input(Input::Piece(second));
        match page.token {
            None => self.complete(page.revision, Input::PageEnd),
            Some(_) => self.input(Input::PageEnd),
        }
    }
}

/// How many items are complete in the beginning of a page.
fn items_in(mut beginning: &[u8]) -> usize {
    let mut reader = ListReader::default();
    std::iter::from_fn(|| reader.next(&mut beginning).expect("a page").map(drop)).count()
}
