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
}

impl Namespaces {
    /// The list that tells the names: one page of what the server has cached, for which metadata are enough.
    pub fn request() -> ListRequest {
        ListRequest { resource_version: ResourceVersion::new("0"), limit: Some(PAGE), continue_token: None }
    }

    /// The names to choose from while these letters are typed: the chosen ones first, whether or not the server knows them.
    pub fn offered(&self, chosen: &[String], letters: &str) -> Vec<String> {
        let others = self.names.iter().filter(|name| !chosen.contains(name));
        chosen.iter().chain(others.filter(|name| name.contains(letters.trim()))).cloned().collect()
    }

    /// Takes the answer to [`Namespaces::request`]. What was known stays known where no names are told.
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
        let known = Namespaces { names, trouble: None };
        let chosen = [String::from("shop"), String::from("elsewhere")];
        assert_eq!(known.offered(&chosen, ""), ["shop", "elsewhere", "default", "kube-system"]);
        assert_eq!(known.offered(&chosen, " sys"), ["shop", "elsewhere", "kube-system"]);
        assert_eq!(known.offered(&[], "sho"), ["shop"]);
    }

    #[test]
    fn what_is_known_stays_known_where_no_names_are_told() {
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
            let told = known.trouble.as_deref();
            assert!(
                told.is_some() == trouble.is_some() && told.unwrap_or_default().contains(trouble.unwrap_or_default()),
                "{told:?}"
            );
        }
    }
}
