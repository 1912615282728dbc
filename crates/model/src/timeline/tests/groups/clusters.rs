//! Objects of two clusters: each below the owner, the node and the namespace of its own.

use kubechurn_columns::kinds::Kind;

use super::*;
use crate::navigation::catalog::at;

const WEST_DEPLOYMENT: usize = 1;
const WEST_POD: usize = 4;

/// A Deployment with a Pod in each of two clusters, all of the same names.
fn two(by: LanesBy) -> Fixture {
    let mut fixture = Fixture::new(by);
    let own = |name: &str| kind(name).unwrap();
    let west = |name: &str| at(own(name), "west");
    let kinds = [own("deployments"), west("deployments"), own("pods"), own("nodes"), west("pods")];
    let names = ["deploy east", "deploy west", "po east", "no east", "po west"];
    let named = |(kind, short): (&&'static Kind, &'static str)| KindName { short, long: short, title: kind.title };
    fixture.chart = Chart::of(kinds.iter().zip(names).map(named).collect()).with_groups(&kinds);
    fixture.now = 50_000.0;
    for (deployment, pod) in [(DEPLOYMENT, POD), (WEST_DEPLOYMENT, WEST_POD)] {
        let owner = owned_by("Deployment", "apps/v1", "web", &uid((deployment, "web")));
        fixture.push_with(MarkType::Updated, (deployment, "web"), None, "");
        fixture.now += 1_000.0;
        fixture.push_with(MarkType::Added, (pod, "web-1"), owner, "n-1");
        fixture.now += 1_000.0;
    }
    fixture
}

#[test]
fn an_object_stands_below_what_is_around_it_in_its_cluster() {
    for (by, expected) in [
        (LanesBy::Owner, ["▸ deploy west shop/web 1 added, 1 updated", "▸ deploy east shop/web 1 added, 1 updated"]),
        (LanesBy::Namespace, ["▸ namespace shop of west 1 added, 1 updated", "▸ namespace shop 1 added, 1 updated"]),
        (LanesBy::Kind, ["▸ Pods of west 1 added", "▸ Deployments of west 1 updated"]),
    ] {
        let rows = two(by).rows();
        assert_eq!(rows[..2], expected, "{by:?}");
    }
    let rows = two(LanesBy::Node).rows();
    assert!(rows.contains(&"▸ node n-1 of west 1 added".to_owned()), "{rows:?}");
    assert!(rows.contains(&"▸ node n-1 1 added".to_owned()), "{rows:?}");
}
