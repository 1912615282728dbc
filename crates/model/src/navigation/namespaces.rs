//! The names of the namespaces, from which the user chooses.

use kubechurn_client::api::list;
use kubechurn_client::api::object::{DecodeError, ResourceVersion, decode_metadata};
use kubechurn_client::api::request::ListRequest;
use kubechurn_client::api::sort::sort;
use kubechurn_client::api::status::Failure;
use kubechurn_client::cache::reflector::PAGE;

/// The namespaces to choose from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Namespaces {
    /// Their names.
    pub names: Vec<String>,
    /// Why names may be missing, if so.
    pub trouble: Option<String>,
    /// Names that the user typed, the newest first.
    pub typed: Vec<String>,
}

/// So many names that were typed are remembered at most.
const REMEMBERED: usize = 32;

impl Namespaces {
    /// The list that has the names: one page of what the server has cached, for which metadata are enough.
    pub fn request() -> ListRequest {
        ListRequest { resource_version: ResourceVersion::new("0"), limit: Some(PAGE), continue_token: None }
    }

    /// The names to choose from while these letters are typed: the chosen ones first, whether or not the server knows them.
    pub fn offered(&self, chosen: &[String], letters: &str) -> Vec<String> {
        let others = self.known().filter(|name| !chosen.contains(name));
        chosen.iter().chain(others.filter(|name| name.contains(letters.trim()))).cloned().collect()
    }

    /// The names that are known: the server's, and those that were typed where the server does not report all.
    pub fn known(&self) -> impl Iterator<Item = &String> {
        let lists_all = self.trouble.is_none() && !self.names.is_empty();
        let typed = self.typed.iter().filter(move |name| !lists_all && !self.names.contains(name));
        self.names.iter().chain(typed)
    }

    /// Remembers a name that the server did not report.
    pub fn remember(&mut self, name: &str) {
        if self.names.iter().all(|known| known != name) {
            self.forget(name);
            self.typed.insert(0, name.to_owned());
            self.typed.truncate(REMEMBERED);
        }
    }

    /// Forgets a name that was typed.
    pub fn forget(&mut self, name: &str) {
        self.typed.retain(|typed| typed != name);
    }

    /// Takes the answer to [`Namespaces::request`]. What was known stays known where no names are reported.
    pub fn listed(&mut self, answer: Result<Vec<u8>, Failure>) {
        self.trouble = None;
        let bytes = match answer {
            Ok(bytes) => bytes,
            Err(Failure { words, .. }) => {
                self.trouble = Some(format!("The server does not list namespaces: {words}. Type a name."));
                return;
            }
        };
        match str::from_utf8(&bytes).map_err(DecodeError::from).and_then(list::page) {
            Ok(page) => {
                let objects = page.items.iter().filter_map(|item| decode_metadata(item).ok());
                self.names = objects.map(|object| object.key.name.to_string()).collect();
                sort(&mut self.names);
                self.trouble = page.meta.continue_token.map(|_| String::from("There are more; type the name."));
            }
            Err(error) => self.trouble = Some(format!("The list of namespaces could not be read: {error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_narrows_the_names() {
        let names = ["default", "kube-system", "shop"].map(String::from).to_vec();
        let known = Namespaces { names, ..Namespaces::default() };
        let chosen = [String::from("shop"), String::from("elsewhere")];
        assert_eq!(known.offered(&chosen, ""), ["shop", "elsewhere", "default", "kube-system"]);
        assert_eq!(known.offered(&chosen, " sys"), ["shop", "elsewhere", "kube-system"]);
        assert_eq!(known.offered(&[], "sho"), ["shop"]);
    }

    #[test]
    fn what_was_typed_is_known_where_the_server_does_not_report_all() {
        let mut known = Namespaces { names: vec![String::from("shop")], ..Namespaces::default() };
        ["shop", "a", "b", "a"].into_iter().for_each(|name| known.remember(name));
        assert_eq!(
            (known.offered(&[], ""), &*known.typed),
            (vec!["shop".to_owned()], &["a", "b"].map(String::from)[..])
        );
        known.trouble = Some("The server does not list namespaces".into());
        assert_eq!(known.offered(&["b".into()], ""), ["b", "shop", "a"]);
        known.forget("a");
        assert_eq!(known.offered(&[], ""), ["shop", "b"]);
        (0..40).for_each(|number| known.remember(&number.to_string()));
        assert_eq!(known.typed.len(), REMEMBERED);
    }

    #[test]
    fn what_is_known_stays_known_where_no_names_are_reported() {
        let mut known = Namespaces::default();
        let list = |token: &str, items: &str| {
            let text = format!(r#"{{"metadata":{{"resourceVersion":"7","continue":"{token}"}},"items":[{items}]}}"#);
            Ok(text.into_bytes())
        };
        let item = |name: &str| format!(r#"{{"metadata":{{"name":"{name}"}}}}"#);
        let ab = ["a", "b"].map(String::from);
        for (answer, names, trouble) in [
            (list("", &[item("b"), item("a"), String::from("7")].join(",")), &ab[..], None),
            (Err(Failure::unreachable("no answer")), &ab, Some("does not list namespaces: no answer. Type a name.")),
            (Ok(vec![0xff]), &ab, Some("could not be read")),
            (Ok(b"<html>".to_vec()), &ab, Some("could not be read")),
            (list("t", &item("a")), &ab[..1], Some("There are more")),
            (list("", ""), &[], None),
        ] {
            known.listed(answer);
            assert_eq!(known.names, names);
            let found = known.trouble.as_deref();
            assert!(
                found.is_some() == trouble.is_some() && found.unwrap_or_default().contains(trouble.unwrap_or_default()),
                "{found:?}"
            );
        }
    }
}
