//! Which CustomResourceDefinitions the page asks for, and which kinds wait for theirs.

use kubechurn_client::api::definition::{self, may_define};
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::status::{Failure, Verdict};

use crate::navigation::catalog::Catalog;
use kubechurn_columns::kinds::{KINDS, Kind};

/// What is known about the definitions of the kinds in view and of the pinned kinds.
#[derive(Clone, Debug, Default)]
pub struct Definitions {
    /// The kinds that are in view or pinned.
    visits: Vec<Visit>,
    /// The kinds in view.
    in_view: Vec<ApiResource>,
}

#[derive(Clone, Debug)]
struct Visit {
    resource: ApiResource,
    /// Whether its columns are not known yet.
    awaits: bool,
    /// Why NAME and AGE are all that is shown, in the server's words.
    note: Option<String>,
}

/// What to do after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nothing.
    Done,
    /// Ask for the same definition again, later.
    Again,
}

impl Definitions {
    /// Takes which kinds are in view, and which are watched (the kinds in view among them). Returns the resources whose
    /// definitions must be fetched. A kind that was not watched before waits for its definition, so that it never shows
    /// wrong columns. A watched kind that comes into view keeps its present columns meanwhile.
    pub fn visit(&mut self, in_view: &[&'static Kind], watched: &[&'static Kind]) -> Vec<ApiResource> {
        let in_view: Vec<ApiResource> = in_view.iter().map(|kind| kind.resource).collect();
        let mut before = std::mem::take(&mut self.visits);
        let mut asked = Vec::new();
        for kind in watched {
            let resource = kind.resource;
            // The first cluster's definition is that of the others, too.
            if !resource.cluster.is_empty()
                || !may_define(resource.group)
                || KINDS.iter().any(|own| own.resource == resource)
            {
                continue;
            }
            let visit = match before.iter().position(|visit| visit.resource == resource) {
                Some(at) => {
                    let visit = before.swap_remove(at);
                    if in_view.contains(&resource) && !self.in_view.contains(&resource) && !visit.awaits {
                        asked.push(resource);
                    }
                    visit
                }
                None => {
                    asked.push(resource);
                    Visit { resource, awaits: true, note: None }
                }
            };
            self.visits.push(visit);
        }
        self.in_view = in_view;
        asked
    }

    /// The resources in view whose definitions are known: they may be others by now.
    pub fn in_view(&self) -> impl Iterator<Item = ApiResource> + '_ {
        let known = self.visits.iter().filter(|visit| !visit.awaits && visit.note.is_none());
        let known = known.filter(|visit| self.in_view.contains(&visit.resource));
        known.map(|visit| visit.resource)
    }

    /// Whether a kind's columns are not known yet.
    pub fn awaits(&self, kind: &Kind) -> bool {
        self.of(&kind.resource.at("")).is_some_and(|visit| visit.awaits)
    }

    /// Whether the columns of a kind in view are not known yet.
    pub fn awaits_in_view(&self) -> bool {
        self.visits.iter().any(|visit| visit.awaits && self.in_view.contains(&visit.resource))
    }

    /// Why NAME and AGE are all that is shown of a kind.
    pub fn note(&self, kind: &Kind) -> Option<&str> {
        self.of(&kind.resource.at(""))?.note.as_deref()
    }

    /// Handles the server's answer about a definition. If the definition can be read, the catalog gets its columns.
    pub fn heard(&mut self, resource: &ApiResource, answer: Result<&str, &Failure>, catalog: &mut Catalog) -> Next {
        let Some(visit) = self.visits.iter_mut().find(|visit| visit.resource == *resource) else { return Next::Done };
        let read = match answer {
            Ok(text) => definition::read(text, resource.version).map_err(|error| error.to_string()),
            // A resource without a definition is served by an aggregated API server. And not every user may read
            // definitions.
            Err(failure)
                if matches!(failure.verdict, Verdict::Forbidden | Verdict::Unauthorized | Verdict::Refused) =>
            {
                Err(failure.words.clone())
            }
            Err(_) => {
                // What was known on an earlier visit is better than nothing.
                let known = catalog.kinds().find(|kind| kind.resource == *resource);
                let was_defined = |kind: &Kind| kind.columns.iter().any(|column| !column.source.is_empty());
                visit.awaits &= !known.is_some_and(was_defined);
                return Next::Again;
            }
        };
        visit.awaits = false;
        catalog.define(resource, read.as_deref().ok());
        visit.note = read.err();
        Next::Done
    }

    fn of(&self, resource: &ApiResource) -> Option<&Visit> {
        self.visits.iter().find(|visit| visit.resource == *resource)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubechurn_client::api::discovery::{self, Answer};

    const DEFINITION: &str = r#"{"kind":"CustomResourceDefinition","spec":{"versions":[{"name":"v1",
        "additionalPrinterColumns":[{"name":"Size","type":"integer","jsonPath":".spec.size"}]}]}}"#;

    fn catalog() -> Catalog {
        let text = include_str!("../../../../tests/fixtures/discovery/discovery-apis.json");
        let Answer::Aggregated { resources, .. } = discovery::read(text).unwrap() else { panic!("{text}") };
        Catalog::of(&resources, &Catalog::default())
    }

    fn titles(catalog: &Catalog) -> Vec<&'static str> {
        catalog.find("widgets").unwrap().columns.iter().map(|column| column.title).collect()
    }

    #[test]
    fn a_kind_waits_for_its_columns_and_then_goes_on_with_them() {
        let (mut catalog, mut definitions) = (catalog(), Definitions::default());
        let [widgets, deployments, leases] =
            ["widgets", "deployments", "leases"].map(|name| catalog.find(name).unwrap());
        // Resources that the server serves itself have no definition.
        assert_eq!(definitions.visit(&[deployments], &[deployments, leases]), []);
        assert!(!definitions.awaits(leases) && !definitions.awaits(widgets));
        assert_eq!(definitions.visit(&[widgets], &[widgets, deployments]), [widgets.resource]);
        assert!(definitions.awaits(widgets));
        assert_eq!(definitions.visit(&[widgets], &[widgets]), [], "it was asked already");
        assert_eq!(definitions.heard(&widgets.resource, Ok(DEFINITION), &mut catalog), Next::Done);
        assert!(!definitions.awaits(widgets) && titles(&catalog) == ["SIZE"]);
        // A pinned kind goes on. When it comes into view again, its definition is fetched again, but the kind does not
        // wait.
        assert_eq!(definitions.visit(&[deployments], &[deployments, widgets]), []);
        assert_eq!(definitions.visit(&[widgets], &[widgets]), [widgets.resource]);
        assert!(!definitions.awaits(widgets));
        // A kind that is no longer watched waits again next time, because its definition may have changed meanwhile.
        definitions.visit(&[deployments], &[deployments]);
        assert_eq!(definitions.visit(&[deployments], &[deployments, widgets]), [widgets.resource]);
        assert!(definitions.awaits(widgets));
        let changed = DEFINITION.replace("Size", "Width");
        definitions.heard(&widgets.resource, Ok(&changed), &mut catalog);
        assert_eq!(titles(&catalog), ["WIDTH"]);
    }

    #[test]
    fn without_a_definition_there_is_the_age() {
        for (code, words) in [(401, "not for you"), (404, "no such definition")] {
            let (mut catalog, mut definitions) = (catalog(), Definitions::default());
            let widgets = catalog.find("widgets").unwrap();
            definitions.visit(&[widgets], &[widgets]);
            let failure = Failure::from_response(code, None, words);
            assert_eq!(definitions.heard(&widgets.resource, Err(&failure), &mut catalog), Next::Done);
            assert!(!definitions.awaits(widgets) && titles(&catalog) == ["AGE"]);
            assert_eq!(definitions.note(widgets), Some(words));
        }
        let (mut catalog, mut definitions) = (catalog(), Definitions::default());
        let widgets = catalog.find("widgets").unwrap();
        definitions.visit(&[widgets], &[widgets]);
        definitions.heard(&widgets.resource, Ok("<html>"), &mut catalog);
        assert!(!definitions.awaits(widgets) && definitions.note(widgets).is_some() && titles(&catalog) == ["AGE"]);
    }

    #[test]
    fn what_passes_is_waited_for_unless_something_is_known() {
        let (mut catalog, mut definitions) = (catalog(), Definitions::default());
        let widgets = catalog.find("widgets").unwrap();
        let failures = [Failure::unreachable("no answer"), Failure::from_response(429, None, "slowly")];
        definitions.visit(&[widgets], &[widgets]);
        for failure in &failures {
            assert_eq!(definitions.heard(&widgets.resource, Err(failure), &mut catalog), Next::Again);
            assert!(definitions.awaits(widgets));
        }
        definitions.heard(&widgets.resource, Ok(DEFINITION), &mut catalog);
        definitions.visit(&[], &[]);
        definitions.visit(&[widgets], &[widgets]);
        assert_eq!(definitions.heard(&widgets.resource, Err(&failures[0]), &mut catalog), Next::Again);
        assert!(!definitions.awaits(widgets) && titles(&catalog) == ["SIZE"]);
        // Nothing is done with the answer for a kind that is no longer watched.
        definitions.visit(&[], &[]);
        assert_eq!(definitions.heard(&widgets.resource, Err(&failures[0]), &mut catalog), Next::Done);
    }
}
