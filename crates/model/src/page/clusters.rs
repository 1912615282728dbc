//! The clusters between which the user can switch: each has a page of its own, and whoever serves them names all in each.

use crate::page::address::Address;

/// The most clusters that are read.
const MOST: usize = 200;

/// A cluster with its page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterPage {
    /// The cluster's name.
    pub name: String,
    /// The page's address, without a fragment.
    pub page: String,
}

/// Reads what `<meta name="clusters">` has: for each cluster the page's address, a space and the name, with commas between.
/// What has no name, or is no address of http or https, is left out.
pub fn read(text: &str, address: impl Fn(&str) -> Option<Address>) -> Vec<ClusterPage> {
    let all = text.split(',').filter_map(|one| {
        let (page, name) = one.trim().split_once(' ')?;
        let is_page = address(page).is_some_and(|page| matches!(&*page.scheme, "http" | "https"));
        let is_whole = is_page && !page.contains('#') && !name.trim().is_empty();
        is_whole.then(|| ClusterPage { name: name.trim().to_owned(), page: page.to_owned() })
    });
    all.take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a browser reads addresses, as far as these tests need it.
    fn address(text: &str) -> Option<Address> {
        let (scheme, rest) = text.split_once(':')?;
        let host = rest.trim_start_matches('/').split('/').next()?.to_owned();
        let (name, path) = (host.clone(), String::from("/"));
        Some(Address { scheme: scheme.to_owned(), name, host, path, has_user: false })
    }

    #[test]
    fn clusters_have_names_and_pages() {
        let read = |text| read(text, address).into_iter().map(|one| (one.name, one.page)).collect::<Vec<_>>();
        let of = |name: &str, page: &str| (name.to_owned(), page.to_owned());
        assert_eq!(
            read("http://127.0.0.1:1/a/ east,http://127.0.0.1:2/b/ the west: 2"),
            [of("east", "http://127.0.0.1:1/a/"), of("the west: 2", "http://127.0.0.1:2/b/")]
        );
        assert_eq!(read(""), []);
        assert_eq!(
            read("javascript:alert(1) bad,http://x/ ,http://x/#y z,plain,,http://x/ good"),
            [of("good", "http://x/")]
        );
    }
}
