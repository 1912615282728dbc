//! kubectl command lines for what is shown, ready to be pasted into a shell.

use std::fmt::Write;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::sort::sort;

use crate::kind_id::plain;

use kubechurn_columns::kinds::Kind;

/// A table, in the terms in which kubectl is asked for it.
#[derive(Clone, Copy, Debug)]
pub struct Listing<'a> {
    /// Its kinds.
    pub kinds: &'a [&'static Kind],
    /// Its namespaces; empty for all.
    pub namespaces: &'a [String],
    /// Its label selector, or nothing.
    pub labels: &'a str,
    /// Its field selector, or nothing.
    pub fields: &'a str,
    /// Whether it has all columns.
    pub wide: bool,
}

impl Listing<'_> {
    /// One line for each cluster and each namespace, because kubectl takes one namespace or all. The words of the filter
    /// belong to the page alone and are in no line.
    pub fn command_line(&self) -> String {
        let places: Vec<String> = match self.namespaces {
            _ if !self.kinds.iter().any(|kind| kind.resource.namespaced) => vec![String::new()],
            [] => vec![String::from(" -A")],
            namespaces => namespaces.iter().map(|namespace| format!(" -n {}", quoted(namespace))).collect(),
        };
        let mut rest = String::new();
        for (option, value) in [("-l", self.labels), ("--field-selector", self.fields)] {
            if !value.is_empty() {
                let _ = write!(rest, " {option} {}", quoted(value));
            }
        }
        if self.wide {
            rest.push_str(" -o wide");
        }
        let mut lines: Vec<String> = Vec::new();
        let mut clusters: Vec<&str> = self.kinds.iter().map(|kind| kind.resource.cluster).collect();
        sort(&mut clusters);
        clusters.dedup();
        for cluster in clusters {
            let own = self.kinds.iter().filter(|kind| kind.resource.cluster == cluster);
            let names = own.map(|kind| plain(kind.name)).collect::<Vec<_>>().join(",");
            lines.extend(places.iter().map(|place| format!("kubectl{} get {names}{place}{rest}", context(cluster))));
        }
        lines.join("\n")
    }
}

/// What kubectl is given for another cluster than the page's own. Whoever serves the pages calls clusters by their contexts.
fn context(cluster: &str) -> String {
    if cluster.is_empty() { String::new() } else { format!(" --context {}", quoted(cluster)) }
}

/// The line that gets the whole of one object.
pub fn object(kind: &Kind, key: &ObjectKey) -> String {
    about("get", kind, key, " -o yaml")
}

/// The line that does something with one object. The options begin with a space, or are empty.
pub fn about(verb: &str, kind: &Kind, key: &ObjectKey, options: &str) -> String {
    let mut word = kind.resource.kind.to_lowercase();
    // The page's name has the group where the kind alone could mean another resource.
    if let Some((_, group)) = plain(kind.name).split_once('.') {
        let _ = write!(word, ".{group}");
    }
    line(verb, &format!("{word} "), (kind, key), options)
}

/// The line that does something with one object, which the verb's own words stand before.
pub fn line(verb: &str, word: &str, (kind, key): (&Kind, &ObjectKey), options: &str) -> String {
    let place = match &*key.namespace {
        "" => String::new(),
        namespace => format!(" -n {}", quoted(namespace)),
    };
    let place = format!("{place}{}", context(kind.resource.cluster));
    match quoted(&key.name) {
        // The name of a ClusterRole may look like an option.
        name if key.name.starts_with('-') => format!("kubectl {verb}{place}{options} -- {word}{name}"),
        name => format!("kubectl {verb} {word}{name}{place}{options}"),
    }
}

/// A word in the form that a POSIX shell reads as exactly this one word.
pub fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:=,@%+".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubechurn_columns::kinds::kind;

    #[test]
    fn the_table_is_asked_for_as_it_is_shown() {
        let pods = ("pods", &[][..], "", "", false);
        for ((name, namespaces, labels, fields, wide), expected) in [
            (pods, "kubectl get pods -A"),
            (("pods", &["shop"][..], "app=web", "", true), "kubectl get pods -n shop -l app=web -o wide"),
            (
                ("pods", &["a", "b"][..], "", "spec.nodeName=n-1", false),
                "kubectl get pods -n a --field-selector spec.nodeName=n-1\n\
                 kubectl get pods -n b --field-selector spec.nodeName=n-1",
            ),
            (("nodes", &["shop"][..], "", "", false), "kubectl get nodes"),
            (("deploy,rs,po", &["shop"][..], "", "", true), "kubectl get deployments,replicasets,pods -n shop -o wide"),
            (("no,po", &[][..], "a=b", "", false), "kubectl get nodes,pods -A -l a=b"),
            (("no,pv", &["shop"][..], "", "", false), "kubectl get nodes,persistentvolumes"),
            (
                ("deploy", &[][..], "tier in (web, api),!old", "metadata.name!=x", false),
                "kubectl get deployments -A -l 'tier in (web, api),!old' --field-selector 'metadata.name!=x'",
            ),
            (("po", &["$(reboot)"][..], "a='b", "", false), r"kubectl get pods -n '$(reboot)' -l 'a='\''b'"),
        ] {
            let namespaces: Vec<String> = namespaces.iter().map(|name| name.to_string()).collect();
            let kinds: Vec<&'static Kind> = name.split(',').map(|name| kind(name).unwrap()).collect();
            let listing = Listing { kinds: &kinds, namespaces: &namespaces, labels, fields, wide };
            assert_eq!(listing.command_line(), expected);
        }
    }

    #[test]
    fn an_object_is_asked_for_by_its_name() {
        for (name, key, expected) in [
            ("pods", ObjectKey::new("shop", "web-1"), "kubectl get pod web-1 -n shop -o yaml"),
            ("nodes", ObjectKey::new("", "n-1"), "kubectl get node n-1 -o yaml"),
            ("nodes", ObjectKey::new("", "system:a;b"), "kubectl get node 'system:a;b' -o yaml"),
            ("nodes", ObjectKey::new("", "--all"), "kubectl get -o yaml -- node --all"),
        ] {
            assert_eq!(object(kind(name).unwrap(), &key), expected);
        }
        let widgets = Kind { name: "pods.example.org", ..*kind("pods").unwrap() };
        let key = ObjectKey::new("a", "b");
        assert_eq!(object(&widgets, &key), "kubectl get pod.example.org b -n a -o yaml");
    }

    #[test]
    fn a_shell_takes_a_quoted_word_for_itself() {
        for (word, expected) in
            [("", "''"), ("a-b_c.d/e:1,2=%+@", "a-b_c.d/e:1,2=%+@"), ("a b", "'a b'"), ("'", r"''\'''"), ("ä", "'ä'")]
        {
            assert_eq!(quoted(word), expected);
        }
        // A real shell reads the words too.
        for word in ["", "a b", "'", "$HOME", "`id`", "a\nb", "!x", "~", "*", "\\", "#a", "a;b", "--", "é"] {
            let script = format!("printf %s {}", quoted(word));
            let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), word);
        }
    }
}
