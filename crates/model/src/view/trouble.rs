//! Sentences for the user: why there is no row, and why what is shown may be wrong.

use kubechurn_client::cache::factory::SharedInformerFactory;
use kubechurn_client::cache::reflector::Health;

use crate::navigation::route::{LeftOut, Route};
use crate::table::schema::TableSchema;
use crate::view::{Trouble, seconds};
use crate::watches::watched::Watched;

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

/// What is wrong with a kind, which has this title, in words for the user: what happened, to which resource, and what comes
/// next. `provisional` says whether rows are shown of a list that is not complete.
pub fn trouble(
    watched: &Watched,
    title: &str,
    provisional: bool,
    informers: &SharedInformerFactory,
    now: f64,
) -> Option<Trouble> {
    let complaint = watched.complaint(informers)?;
    let health = watched.health(informers, now);
    let scope = if complaint.namespace.is_empty() { String::new() } else { format!(" in {}", complaint.namespace) };
    let what = match health {
        Health::Forbidden if watched.items(informers) > 0 => format!("{title}{scope}: as listed, but not watched"),
        Health::Forbidden => format!("{title}{scope}: not allowed"),
        Health::Stopped if complaint.code == 0 => format!("{title}{scope}: stopped"),
        Health::Stopped => format!("{title}{scope}: refused"),
        Health::Stale => format!("{title}{scope}: stale"),
        _ if provisional => format!("{title}{scope}: the list broke off, and its rows are provisional"),
        _ => format!("{title}{scope}: waiting"),
    };
    let next = match complaint.retry_at {
        Some(at) if at > now => format!("next try in {}", seconds(at - now)),
        _ if health == Health::Stopped => String::from("not tried again by itself"),
        _ => String::from("trying now"),
    };
    Some(Trouble { state: health.word(), what, words: complaint.words.to_owned(), next })
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
}
