//! The path of a field as a row shows it: without what is the same for all fields of its kind. The whole path stays beside
//! it, in the row's title.

use crate::paths;

/// Where the template of Pods stands.
const TEMPLATES: [&str; 2] = ["spec.jobTemplate.spec.template.", "spec.template."];
/// The lists of containers, and of their statuses.
const CONTAINERS: [&str; 6] = [
    "containers[",
    "initContainers[",
    "ephemeralContainers[",
    "containerStatuses[",
    "initContainerStatuses[",
    "ephemeralContainerStatuses[",
];
/// The letters of the random parts of names (`k8s.io/apimachinery/pkg/util/rand`).
const RANDOM: &str = "bcdfghjklmnpqrstvwxz2456789";

/// The short form of a path of an object with this name: `image`, `image of sidecar`, `replicas`, `Ready`, `label app`.
pub fn short(path: &str, object: &str) -> String {
    if path == paths::POD_STATUS {
        return "status".into();
    }
    if let Some((name, member)) = paths::condition(path).filter(|(name, _)| name.parse::<usize>().is_err()) {
        return match member {
            "" | ".status" => name.into(),
            member => format!("{name} {}", member.trim_start_matches('.')),
        };
    }
    let template = TEMPLATES.iter().find_map(|start| path.strip_prefix(start));
    let rest = template.unwrap_or(path);
    if let Some(name) = named(rest, "metadata.labels") {
        return format!("{}label {name}", if template.is_some() { "template " } else { "" });
    }
    if let Some(name) = named(rest, "metadata.annotations") {
        return format!("{}annotation {name}", if template.is_some() { "template " } else { "" });
    }
    // What is asked for and what there is have the same names.
    let is_both = matches!(rest, "status.replicas" | "status.phase" | "status.capacity");
    let starts = if is_both { &[][..] } else { &["spec.", "status.", "metadata."] };
    let rest = starts.iter().find_map(|start| rest.strip_prefix(start)).unwrap_or(rest);
    let Some(inner) = CONTAINERS.iter().find_map(|list| rest.strip_prefix(list)) else { return rest.into() };
    match inner.split_once("].") {
        Some((container, field)) => {
            let field = field.strip_prefix("resources.").unwrap_or(field);
            let is_variable = field.starts_with("env[");
            let field = field.strip_suffix(".value").filter(|_| is_variable).unwrap_or(field);
            match is_own(container, object) {
                true => field.into(),
                false => format!("{field} of {container}"),
            }
        }
        None => rest.into(),
    }
}

/// The name of a member below this path, without quotes.
fn named<'a>(path: &'a str, parent: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(parent)?;
    let quoted = rest.strip_prefix("[\"").and_then(|rest| rest.strip_suffix("\"]"));
    quoted.or(rest.strip_prefix('.'))
}

/// Whether a container is named as its object is, or as the workload whose Pod, ReplicaSet or Job the object is: such names go
/// on with a number or with random letters.
fn is_own(container: &str, object: &str) -> bool {
    let Some(rest) = object.strip_prefix(container) else { return false };
    let is_made = |part: &str| {
        let is_number = part.bytes().all(|byte| byte.is_ascii_digit());
        !part.is_empty() && (is_number || (part.len() <= 10 && part.chars().all(|letter| RANDOM.contains(letter))))
    };
    rest.is_empty() || (rest.starts_with('-') && rest.split('-').skip(1).all(is_made))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_short_and_says_whose_it_is() {
        let check = |path: &str, object: &str, expected: &str| assert_eq!(short(path, object), expected, "{path}");
        let image = "spec.template.spec.containers[auth].image";
        check(image, "auth", "image");
        check(image, "login", "image of auth");
        check(image, "auth-proxy", "image of auth");
        check("spec.containers[auth].image", "auth-7c9d8f5b64-2bqlm", "image");
        check("spec.containers[db].image", "db-0", "image");
        check("spec.jobTemplate.spec.template.spec.containers[a].image", "a", "image");
        check("spec.template.spec.containers[a].resources.limits.memory", "a", "limits.memory");
        check("spec.template.spec.containers[a].env[LOG].value", "b", "env[LOG] of a");
        check("spec.template.spec.containers[a]", "a", "containers[a]");
        check("status.containerStatuses[a].restartCount", "b", "restartCount of a");
        check("spec.replicas", "a", "replicas");
        check("status.replicas", "a", "status.replicas");
        check("status.readyReplicas", "a", "readyReplicas");
        check("status.conditions[Ready].status", "a", "Ready");
        check("status.conditions[Ready]", "a", "Ready");
        check("status.conditions[Ready].reason", "a", "Ready reason");
        check("status.conditions[1].status", "a", "conditions[1].status");
        check("STATUS", "a", "status");
        check("metadata.labels.app", "a", "label app");
        check(r#"metadata.annotations["example.com/x"]"#, "a", "annotation example.com/x");
        check(
            r#"spec.template.metadata.annotations["kubectl.kubernetes.io/restartedAt"]"#,
            "a",
            "template annotation kubectl.kubernetes.io/restartedAt",
        );
        check(r#"data["a.json"]"#, "a", r#"data["a.json"]"#);
        check("reason", "a", "reason");
    }
}
