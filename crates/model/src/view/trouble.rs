//! Sentences for the user: why there is no row, and why what is shown may be wrong.

use std::cmp::Reverse;

use kubechurn_client::api::sort::sort_by_key;
use kubechurn_client::api::status::{BY_PROXY, Verdict};
use kubechurn_client::cache::factory::SharedInformerFactory;
use kubechurn_client::cache::reflector::Health;

use crate::kind_id::listed;
use crate::navigation::route::{LeftOut, Route};
use crate::table::schema::TableSchema;
use crate::view::{Trouble, seconds, whole_seconds};
use crate::watches::watched::{Complaint, Watched, rank};

/// A table without rows, and what was asked for.
#[derive(Clone, Copy, Debug)]
pub struct EmptyTable<'a> {
    /// What the table is like.
    pub schema: &'a TableSchema,
    /// What was asked for.
    pub route: &'a Route,
    /// How many objects are known, whether or not they pass the filter.
    pub known: usize,
    /// Whether rows are still being searched.
    pub works: bool,
}

/// Why there is no row; `None` while that is not known yet.
pub fn empty(EmptyTable { schema, route, known, works }: EmptyTable<'_>, health: Health) -> Option<String> {
    let title = schema.title();
    let place = match &*route.namespaces {
        _ if !schema.is_namespaced() => String::new(),
        [] => String::from(" in any namespace"),
        namespaces => format!(" in {}", namespaces.join(", ")),
    };
    match health {
        Health::Connecting => Some(format!("Connecting, to list {title}{place} …")),
        Health::Listing => Some(format!("Listing {title}{place} …")),
        _ if works => None,
        _ if known > 0 => Some(format!("No {title}{place} match “{}”.", route.text)),
        Health::Live if !route.labels.is_empty() || !route.fields.is_empty() => {
            let asked = [("labels", &route.labels), ("fields", &route.fields)];
            let asked = asked.into_iter().filter(|(_, selector)| !selector.is_empty());
            let asked: Vec<String> = asked.map(|(what, selector)| format!("{what} {selector}")).collect();
            Some(format!("No {title}{place} with {}.", asked.join(" and ")))
        }
        Health::Live => Some(format!("There are no {title}{place}.")),
        _ => Some(format!("It is not known whether there are {title}{place}.")),
    }
}

/// What is wrong with a kind, which has this title: for each thing what happened and where, in the server's words, and what
/// comes next. What several namespaces have in common is said once, and names them all. `provisional` says whether rows are
/// shown of a list that is not complete.
pub fn troubles(
    watched: &Watched,
    title: &str,
    provisional: bool,
    informers: &SharedInformerFactory,
    now: f64,
) -> Vec<Trouble> {
    let mut groups: Vec<Vec<Complaint<'_>>> = Vec::new();
    for complaint in watched.complaints(informers) {
        let is_alike = |group: &Vec<Complaint<'_>>| alike(&group[0], &complaint, now);
        match groups.iter_mut().find(|group| is_alike(group)) {
            Some(group) => group.push(complaint),
            None => groups.push(vec![complaint]),
        }
    }
    sort_by_key(&mut groups, |group| Reverse(rank(group[0].informer.health(now))));
    groups.iter().map(|group| trouble(watched, group, title, provisional, now)).collect()
}

/// Whether two informers have failed in the same way, so that one sentence serves both.
fn alike(one: &Complaint<'_>, other: &Complaint<'_>, now: f64) -> bool {
    let of = |complaint: &Complaint<'_>| {
        (complaint.verdict, complaint.code, complaint.has_listed, complaint.informer.health(now))
    };
    of(one) == of(other)
}

fn trouble(watched: &Watched, group: &[Complaint<'_>], title: &str, provisional: bool, now: f64) -> Trouble {
    let complaint = &group[0];
    let health = complaint.informer.health(now);
    let namespaces: Vec<&str> = group.iter().map(|one| one.namespace).filter(|name| !name.is_empty()).collect();
    let place = if namespaces.is_empty() { String::new() } else { format!(" in {}", namespaces.join(", ")) };
    // The oldest of them: what is shown is at least as new.
    let heard = group.iter().filter_map(|one| one.heard).reduce(f64::min);
    let as_of = heard.map(|heard| whole_seconds((now - heard).max(0.0))).filter(|_| complaint.has_listed);
    let what = match (health, complaint.verdict, as_of) {
        (Health::Forbidden, _, age) if complaint.words.starts_with(BY_PROXY) => {
            let age = age.map(|age| format!("as of {age} ago, and ")).unwrap_or_default();
            format!("{title}{place}: {age}refused between page and server, and not by the cluster")
        }
        (Health::Forbidden, _, Some(age)) => {
            format!(
                "{title}{place}: as of {age} ago, for they may not be watched. Ask for {}",
                asked("watch", watched, &namespaces)
            )
        }
        (Health::Forbidden, ..) => {
            let asked = asked("list and watch", watched, &namespaces);
            format!("{title}{place}: forbidden. Ask for {asked}")
        }
        (Health::Unauthorized, _, Some(age)) => format!(
            "{title}{place}: as of {age} ago, for the server does not take your credential: it is being renewed, or you \
             have to log in again"
        ),
        (Health::Unauthorized, ..) => {
            format!("{title}{place}: the server does not take your credential. Log in again, and the page goes on")
        }
        (Health::Stopped, ..) if complaint.code == 0 => format!("{title}{place}: stopped"),
        (Health::Stopped, ..) => format!("{title}{place}: refused"),
        (_, Verdict::NotReady, _) => format!("{title}{place}: the server is starting"),
        (Health::Stale, ..) => format!("{title}{place}: stale"),
        _ if provisional => format!("{title}{place}: the list broke off, and its rows are provisional"),
        _ => format!("{title}{place}: waiting"),
    };
    let next = match group.iter().filter_map(|one| one.retry_at).reduce(f64::min) {
        Some(at) if at > now => format!("next try in {}", seconds(at - now)),
        _ if health == Health::Stopped => String::from("not tried again by itself"),
        _ => String::from("trying now"),
    };
    Trouble { state: health.word(), what, words: complaint.words.to_owned(), next }
}

/// The permissions to ask for, as one asks an administrator.
fn asked(verbs: &str, watched: &Watched, namespaces: &[&str]) -> String {
    let resource = &watched.kind().resource;
    let name = match resource.group {
        "" => resource.plural.to_owned(),
        group => format!("{}.{group}", resource.plural),
    };
    match namespaces {
        _ if !resource.namespaced => format!("{verbs} of {name}"),
        [] => format!("{verbs} of {name} in all namespaces"),
        [one] => format!("{verbs} of {name} in namespace {one}"),
        several => format!("{verbs} of {name} in the namespaces {}", several.join(", ")),
    }
}

/// What stands between the title of a kind that may be neither listed nor watched, and what to ask for.
const FORBIDDEN: &str = ": forbidden. Ask for list and watch of ";

/// From so many kinds on, that all fail alike is one thing to be said.
const ALIKE: usize = 3;

/// Says once what several kinds have in common, such as that their server is gone. The next try is that of the first.
pub fn united(troubles: Vec<Trouble>) -> Vec<Trouble> {
    let cause = |trouble: &Trouble| match refused(trouble) {
        // The server's words name the kind.
        Some((_, _, place)) => (trouble.state, place.to_owned(), String::new()),
        None => {
            let what = trouble.what.split_once(": ").map_or("", |(_, what)| what).to_owned();
            (trouble.state, what, of_server(&trouble.words).to_owned())
        }
    };
    let mut groups: Vec<Vec<Trouble>> = Vec::new();
    for trouble in troubles {
        match groups.iter_mut().find(|group| cause(&group[0]) == cause(&trouble)) {
            Some(group) => group.push(trouble),
            None => groups.push(vec![trouble]),
        }
    }
    let said = |group: Vec<Trouble>| match group.len() {
        ..ALIKE => group,
        count => {
            let parts: Option<Vec<_>> = group.iter().map(refused).collect();
            let all = parts.map(|parts| {
                let titles: Vec<&str> = parts.iter().map(|(title, ..)| *title).collect();
                let names: Vec<&str> = parts.iter().map(|(_, name, _)| *name).collect();
                format!("{}{FORBIDDEN}{} {}", listed(&titles), listed(&names), parts[0].2)
            });
            let first = group.into_iter().next();
            if let (Some(first), Some(all)) = (&first, all) {
                return vec![Trouble { what: all.trim_end().to_owned(), ..first.clone() }];
            }
            let named = |trouble: Trouble| {
                let (title, what) = trouble.what.split_once(": ").unwrap_or((&trouble.what, ""));
                let words = of_server(&trouble.words).to_owned();
                Trouble { what: format!("{title} and {} more kinds: {what}", count - 1), words, ..trouble }
            };
            first.map(named).into_iter().collect()
        }
    };
    groups.into_iter().flat_map(said).collect()
}

/// Words that end with an address, without its path: what a kind is asked for at is another one for each.
fn of_server(words: &str) -> &str {
    let address = words.rsplit(' ').next().unwrap_or(words);
    let host = address.find("://").map(|at| at + 3);
    let path = host.and_then(|host| Some(host + address.get(host..)?.find('/')?));
    path.map_or(words, |path| &words[..words.len() - (address.len() - path)])
}

/// Of a kind that may be neither listed nor watched: its title, the name to ask for, and where.
fn refused(trouble: &Trouble) -> Option<(&str, &str, &str)> {
    let (title, asked) = trouble.what.split_once(FORBIDDEN)?;
    let title = title.split_once(" in ").map_or(title, |(title, _)| title);
    let (name, place) = asked.split_once(' ').unwrap_or((asked, ""));
    Some((title, name, place))
}

/// A resource that the user asked for and that cannot be shown.
pub fn left_out(LeftOut { what, why }: LeftOut) -> Trouble {
    Trouble { state: "stopped", what: format!("{what}: left out"), words: why, next: String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::navigation::catalog::Catalog;

    #[test]
    fn a_table_without_rows_says_why() {
        let said = |fragment: &str, health, known, works| {
            let route = Route::parse(fragment);
            let schema = TableSchema::of(&route.kinds(&Catalog::default()));
            empty(EmptyTable { schema: &schema, route: &route, known, works }, health).unwrap_or_default()
        };
        assert_eq!(said("#/pods", Health::Live, 0, false), "There are no Pods in any namespace.");
        assert_eq!(said("#/nodes", Health::Live, 0, false), "There are no Nodes.");
        assert_eq!(said("#/pods?ns=shop", Health::Connecting, 0, false), "Connecting, to list Pods in shop …");
        assert_eq!(said("#/pods?ns=a,b", Health::Listing, 0, false), "Listing Pods in a, b …");
        assert_eq!(said("#/pods?q=web", Health::Live, 7, false), "No Pods in any namespace match “web”.");
        assert_eq!(said("#/pods?q=web", Health::Live, 7, true), "", "rows are still being sought");
        assert_eq!(
            said("#/pods?labels=app%3Dweb", Health::Live, 0, false),
            "No Pods in any namespace with labels app=web."
        );
        let unknown = "It is not known whether there are Pods in any namespace.";
        for health in [Health::Stale, Health::Forbidden, Health::Stopped] {
            assert_eq!(said("#/pods", health, 0, false), unknown, "{health:?}");
        }
    }

    fn stale(title: &str, words: &str) -> Trouble {
        let next = format!("next try of {title}");
        Trouble { state: "stale", what: format!("{title}: stale"), words: words.to_owned(), next }
    }

    #[test]
    fn one_cause_is_said_once() {
        let said = |troubles: &[Trouble]| -> Vec<String> {
            united(troubles.to_vec()).iter().map(|trouble| format!("{}, {}", trouble.what, trouble.words)).collect()
        };
        let [pods, nodes, jobs, other] =
            [stale("Pods", "a"), stale("Nodes", "a"), stale("Jobs", "a"), stale("Events", "b")];
        assert_eq!(said(&[]), [""; 0]);
        assert_eq!(said(&[pods.clone(), nodes.clone()]), ["Pods: stale, a", "Nodes: stale, a"]);
        let all = [pods.clone(), other, nodes, jobs];
        assert_eq!(said(&all), ["Pods and 2 more kinds: stale, a", "Events: stale, b"]);
        // What must be asked for is another thing for each kind.
        let asks =
            |title: &str| Trouble { what: format!("{title}: forbidden. Ask for list of {title}"), ..pods.clone() };
        assert_eq!(said(&[asks("A"), asks("B"), asks("C")]).len(), 3);
        // The address of each is another one, and the server is the same.
        let at = |path: &str| Trouble { words: format!("no answer from http://h:8001/k8s/{path}"), ..pods.clone() };
        let lost = said(&[at("api/v1/pods"), at("api/v1/nodes"), at("apis/apps/v1/deployments")]);
        assert!(lost.len() == 1 && lost[0].ends_with(", no answer from http://h:8001"), "{lost:?}");
        assert_eq!(of_server("no answer from http://h, http://h/x y"), "no answer from http://h, http://h/x y");
        // Of many kinds that may not be read in a namespace all are named in one sentence.
        let refused = |title: &str, name: &str| Trouble {
            what: format!("{title} in shop{FORBIDDEN}{name} in namespace shop"),
            words: format!("{name} is forbidden"),
            ..pods.clone()
        };
        let all = [refused("Secrets", "secrets"), refused("Roles", "roles.rbac"), refused("Leases", "leases.x")];
        assert_eq!(
            said(&all),
            ["Secrets, Roles and Leases: forbidden. Ask for list and watch of secrets, roles.rbac and leases.x in \
              namespace shop, secrets is forbidden"]
        );
    }
}
