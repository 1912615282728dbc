//! What a Pod's spec refers to by name, and when its containers take what stands there.

use std::borrow::Cow;

use kubechurn_client::json;

/// So many letters of a name are kept in the names that the server makes of it.
const LONGEST: usize = 58;

/// When a container takes what an object holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Taken {
    /// When the container starts: a variable, or a file that is mounted alone (`subPath`).
    AtStart,
    /// The kubelet renews the files of the volume.
    Renewed,
    /// Nothing is read from it: the Pod names it.
    Named,
}

/// A reference to an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference<'a> {
    /// The object's kind.
    pub kind: &'static str,
    /// Its name.
    pub name: Cow<'a, str>,
    /// When what it holds is taken.
    pub taken: Taken,
    /// The container that takes it; empty for the Pod as a whole.
    pub container: Cow<'a, str>,
}

/// The text at a path of JSON.
pub fn text<'a>(object: &'a str, path: &[&str]) -> Option<Cow<'a, str>> {
    json::value_at(object, path).and_then(json::unescaped)
}

/// The items of a member that is a list.
pub fn list<'a>(of: &'a str, name: &str) -> Vec<&'a str> {
    json::member(of, name).and_then(json::items).map(|items| items.into_iter().collect()).unwrap_or_default()
}

/// The spec of the Pods that an object makes, or that it is.
pub fn spec_of<'a>(kind: &str, object: &'a str) -> Option<&'a str> {
    let path: &[&str] = match kind {
        "Pod" => &["spec"],
        "CronJob" => &["spec", "jobTemplate", "spec", "template", "spec"],
        "ReplicaSet" | "Deployment" | "StatefulSet" | "DaemonSet" | "Job" => &["spec", "template", "spec"],
        _ => return None,
    };
    json::value_at(object, path)
}

/// The claims that a StatefulSet makes for each of its Pods: the beginning of their names, up to the Pod's number, and their class,
/// which is empty where none is named (kubernetes `pkg/controller/statefulset/stateful_set_utils.go`, `getPersistentVolumeClaimName`).
pub fn claims_of(set: &str) -> Vec<(String, String)> {
    let name = text(set, &["metadata", "name"]).unwrap_or_default();
    let templates = list(json::member(set, "spec").unwrap_or("{}"), "volumeClaimTemplates");
    let claim = |template: &str| {
        let own = text(template, &["metadata", "name"])?;
        let class = text(template, &["spec", "storageClassName"]).unwrap_or_default();
        Some((format!("{own}-{name}-"), class.into_owned()))
    };
    templates.into_iter().filter_map(claim).collect()
}

/// The lists of a spec that have containers.
pub const CONTAINERS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];

/// Calls `each` with everything that a Pod's spec refers to.
pub fn references<'a>(spec: &'a str, each: &mut dyn FnMut(Reference<'a>)) {
    let mut add = |kind: &'static str, name: Option<Cow<'a, str>>, taken: Taken, container: &Cow<'a, str>| {
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            each(Reference { kind, name, taken, container: container.clone() });
        }
    };
    let pod = Cow::Borrowed("");
    add("ServiceAccount", text(spec, &["serviceAccountName"]), Taken::Named, &pod);
    add("PriorityClass", text(spec, &["priorityClassName"]), Taken::Named, &pod);
    for secret in list(spec, "imagePullSecrets") {
        add("Secret", text(secret, &["name"]), Taken::Named, &pod);
    }
    let containers: Vec<&str> = CONTAINERS.into_iter().flat_map(|name| list(spec, name)).collect();
    for volume in list(spec, "volumes") {
        add("PersistentVolumeClaim", text(volume, &["persistentVolumeClaim", "claimName"]), Taken::Named, &pod);
        let of_class = ["ephemeral", "volumeClaimTemplate", "spec", "storageClassName"];
        add("StorageClass", text(volume, &of_class), Taken::Named, &pod);
        let mut files = vec![
            ("ConfigMap", text(volume, &["configMap", "name"])),
            ("Secret", text(volume, &["secret", "secretName"])),
        ];
        for source in list(json::member(volume, "projected").unwrap_or("{}"), "sources") {
            files.push(("ConfigMap", text(source, &["configMap", "name"])));
            files.push(("Secret", text(source, &["secret", "name"])));
        }
        files.retain(|(_, name)| name.is_some());
        if files.is_empty() {
            continue;
        }
        let volume_name = text(volume, &["name"]);
        for (kind, name) in files {
            let mut is_renewed = true;
            for container in &containers {
                let mounts = list(container, "volumeMounts");
                let mut mounts = mounts.iter().filter(|mount| text(mount, &["name"]) == volume_name);
                let is_alone = |mount: &&str| ["subPath", "subPathExpr"].iter().any(|of| text(mount, &[of]).is_some());
                if mounts.any(is_alone) {
                    is_renewed = false;
                    add(kind, name.clone(), Taken::AtStart, &text(container, &["name"]).unwrap_or_default());
                }
            }
            if is_renewed {
                add(kind, name, Taken::Renewed, &pod);
            }
        }
    }
    for container in containers {
        let own = text(container, &["name"]).unwrap_or_default();
        for from in list(container, "envFrom") {
            add("ConfigMap", text(from, &["configMapRef", "name"]), Taken::AtStart, &own);
            add("Secret", text(from, &["secretRef", "name"]), Taken::AtStart, &own);
        }
        for variable in list(container, "env") {
            add("ConfigMap", text(variable, &["valueFrom", "configMapKeyRef", "name"]), Taken::AtStart, &own);
            add("Secret", text(variable, &["valueFrom", "secretKeyRef", "name"]), Taken::AtStart, &own);
        }
    }
}

/// Whether a word stands in a text by itself.
pub fn names(text: &str, word: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    word.len() > 2
        && text.match_indices(word).any(|(at, _)| {
            let (before, after) = (&text[..at], &text[at + word.len()..]);
            !before.ends_with(is_part) && !after.starts_with(is_part)
        })
}

/// Whether an object has the name of another one, or one that was made of it: with a dash, or with a point in the name of an Event.
/// Of a long name the server takes the first letters.
pub fn is_of(name: &str, of: &str) -> bool {
    match of.len() {
        LONGEST.. => name.starts_with(&of[..of.floor_char_boundary(LONGEST)]),
        _ => name.strip_prefix(of).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.'])),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_name_is_made_of_another_one() {
        for (name, of, expected) in
            [("web", "web", true), ("web-7f", "web", true), ("web.17", "web", true), ("web2-7f", "web", false)]
        {
            assert_eq!(is_of(name, of), expected, "{name}");
        }
        let long = "a".repeat(60);
        assert!(is_of(&format!("{}x2k4p", &long[..58]), &long), "the server has cut it");
    }

    #[test]
    fn everything_that_a_pod_names_is_found_with_when_it_is_taken() {
        let spec = json!({
            "serviceAccountName": "robot", "priorityClassName": "urgent", "imagePullSecrets": [{"name": "pull"}],
            "volumes": [
                {"name": "files", "configMap": {"name": "files"}},
                {"name": "one", "secret": {"secretName": "one"}},
                {"name": "all", "projected": {"sources": [{"configMap": {"name": "all"}}, {"serviceAccountToken": {}}]}},
                {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
                {"name": "odd", "configMap": 7}],
            "initContainers": [{"name": "first", "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "key"}}}]}],
            "containers": [{"name": "main", "envFrom": [{"configMapRef": {"name": "settings"}}, 7],
                "volumeMounts": [{"name": "one", "mountPath": "/one", "subPath": "a"}, {"name": "files", "mountPath": "/f"}]}],
        })
        .to_string();
        let mut found = Vec::new();
        references(&spec, &mut |one| {
            found.push(format!("{} {} {:?} {}", one.kind, one.name, one.taken, one.container))
        });
        let expected = [
            "ServiceAccount robot Named ",
            "PriorityClass urgent Named ",
            "Secret pull Named ",
            "ConfigMap files Renewed ",
            "Secret one AtStart main",
            "ConfigMap all Renewed ",
            "PersistentVolumeClaim data Named ",
            "Secret key AtStart first",
            "ConfigMap settings AtStart main",
        ];
        assert_eq!(found, expected);
        for odd in ["", "7", "[]", r#"{"volumes":7,"containers":[7,{"env":{}}]}"#] {
            references(odd, &mut |one| panic!("{odd}: {one:?}"));
        }
    }

    #[test]
    fn a_stateful_set_makes_claims_of_its_templates() {
        let set = json!({"metadata": {"name": "store"}, "spec": {"volumeClaimTemplates": [
            {"metadata": {"name": "data"}, "spec": {"storageClassName": "fast"}}, {"metadata": {"name": "log"}}, {"spec": {}}, 7]}});
        let claim = |name: &str, class: &str| (String::from(name), String::from(class));
        assert_eq!(claims_of(&set.to_string()), [claim("data-store-", "fast"), claim("log-store-", "")]);
        assert!(claims_of("7").is_empty() && claims_of(r#"{"spec":{"volumeClaimTemplates":7}}"#).is_empty());
    }

    #[test]
    fn a_name_stands_by_itself() {
        assert!(names("exceeded quota: pods-of-shop, requested", "pods-of-shop"));
        assert!(!names("exceeded quota: pods-of-shop, requested", "pods"));
        assert!(names("cannot pull web:1.4-typo", "web:1.4-typo") && !names("web:1.4-typo", "web:1.4"));
        assert!(!names("a to b", "to"), "a word of two letters is no name");
    }
}
