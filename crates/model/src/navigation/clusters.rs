//! The clusters between which the user can switch, and whose objects one table can show together: each has a page of its own,
//! and whoever serves them names all in each.

use kubechurn_client::api::resource::intern;

use crate::navigation::address::{Access, Address, access};

/// The most clusters that are read.
const MOST: usize = 200;

/// A cluster with its page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterPage {
    /// The cluster's name.
    pub name: String,
    /// The page's address, without a fragment.
    pub page: String,
    /// Whether that is the present page.
    pub is_own: bool,
    /// Where its API is, unless it is the present page's, or one that the page may not ask unless the user allows it, or another
    /// cluster has its name.
    pub api: Option<Api>,
}

/// Where the API of another cluster is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Api {
    /// The cluster's name.
    pub cluster: &'static str,
    /// The address, with a slash at its end.
    pub http: &'static str,
    /// Whether its answers over HTTP can be read: those of another origin cannot, for `kubectl proxy` allows that to nobody
    /// (CORS).
    pub readable: bool,
}

/// The API of a cluster lies here below its page.
const API: &str = "k8s/";

/// Reads what `<meta name="clusters">` has: for each cluster the page's address, a space and the name, with commas between.
/// What has no name, or is no address of http or https, is left out. `own` is the present page's address.
pub fn read(text: &str, own: &Address, address: impl Fn(&str) -> Option<Address>) -> Vec<ClusterPage> {
    let all = text.split(',').filter_map(|one| {
        let (page, name) = one.trim().split_once(' ')?;
        let at = address(page).filter(|at| matches!(&*at.scheme, "http" | "https"))?;
        let (name, page) = (name.trim().to_owned(), page.to_owned());
        let is_own = at.is_of(own) && folder(&at.path) == folder(&own.path);
        let is_joined =
            !is_own && at.path.ends_with('/') && !page.contains('?') && access(&at, own, None) == Access::Granted;
        let api = is_joined.then(|| Api {
            cluster: intern(&name),
            http: intern(&format!("{page}{API}")),
            readable: at.is_of(own),
        });
        (!page.contains('#') && !name.is_empty()).then_some(ClusterPage { name, page, is_own, api })
    });
    let mut all: Vec<ClusterPage> = all.take(MOST).collect();
    // By its name alone a cluster is distinguished in a table.
    for at in 1..all.len() {
        if all[..at].iter().any(|other| other.name == all[at].name) {
            all[at].api = None;
        }
    }
    all
}

/// What the page's own cluster is called: as among all, or as whoever serves the page calls it.
pub fn home(clusters: &[ClusterPage], named: Option<String>) -> &'static str {
    let own = clusters.iter().find(|cluster| cluster.is_own).map(|own| own.name.clone());
    own.or(named).map_or("this cluster", |name| intern(&name))
}

/// A path without its last part, which may name a file.
fn folder(path: &str) -> &str {
    path.rfind('/').map_or("", |end| &path[..=end])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a browser reads addresses, as far as these tests need it.
    fn address(text: &str) -> Option<Address> {
        let (scheme, rest) = text.split_once(':')?;
        let host = rest.trim_start_matches('/').split('/').next()?.to_owned();
        let name = host.split(':').next()?.to_owned();
        let path =
            rest.trim_start_matches('/').find('/').map_or("/", |at| &rest.trim_start_matches('/')[at..]).to_owned();
        Some(Address { scheme: scheme.to_owned(), name, host, path, has_user: false })
    }

    #[test]
    fn clusters_have_names_and_pages() {
        let own = address("http://127.0.0.1:1/a/index.html").unwrap();
        let read = |text| read(text, &own, address).into_iter().map(|one| (one.name, one.page)).collect::<Vec<_>>();
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

    #[test]
    fn the_others_can_be_shown_beside_the_own_one_as_far_as_the_page_may_ask_them() {
        let own = address("http://127.0.0.1:1/a/index.html").unwrap();
        let text = "http://127.0.0.1:1/a/ own,http://127.0.0.1:1/b/ same,http://127.0.0.1:2/c/ other,http://far.example/ far,\
                    http://127.0.0.1:3/x.html file,http://127.0.0.1:4/d/ other";
        let found: Vec<_> = read(text, &own, address)
            .into_iter()
            .map(|one| (one.name, one.is_own, one.api.map(|api| (api.http, api.readable))))
            .collect();
        let of = |name: &str, is_own, api| (name.to_owned(), is_own, api);
        assert_eq!(
            found,
            [
                of("own", true, None),
                of("same", false, Some(("http://127.0.0.1:1/b/k8s/", true))),
                of("other", false, Some(("http://127.0.0.1:2/c/k8s/", false))),
                of("far", false, None),
                of("file", false, None),
                of("other", false, None),
            ]
        );
    }
}
