//! Finalizers, and who usually takes them off.

use kubechurn_client::json;

/// The finalizers of an object's metadata.
pub fn finalizers(object: &str) -> Vec<String> {
    let list = json::value_at(object, &["metadata", "finalizers"]).and_then(json::items);
    list.into_iter().flatten().filter_map(json::unescaped).map(std::borrow::Cow::into_owned).collect()
}

/// Who usually takes off a finalizer, and when; `None` if that is not generally known.
pub fn who_takes_off(finalizer: &str) -> Option<&'static str> {
    Some(match finalizer {
        "kubernetes.io/pvc-protection" => "the controller manager takes it off when no Pod uses the claim any more",
        "kubernetes.io/pv-protection" => {
            "the controller manager takes it off when the volume is bound to no claim any more"
        }
        "foregroundDeletion" => {
            "the garbage collector takes it off when no object is left that it owns and that blocks it"
        }
        "orphan" => "the garbage collector takes it off when what it owns has no owner any more",
        "service.kubernetes.io/load-balancer-cleanup" => {
            "the service controller, mostly of the cloud provider, takes it off when the load balancer is gone"
        }
        "batch.kubernetes.io/job-tracking" => "the Job controller takes it off when it has counted how the Pod ended",
        "kubernetes" => "the namespace controller takes it off when nothing is left in the namespace",
        "external-provisioner.volume.kubernetes.io/finalizer" => {
            "the driver's provisioner takes it off when it has deleted the volume"
        }
        "resource.kubernetes.io/delete-protection" => {
            "the controller manager takes it off when no Pod uses it any more"
        }
        _ if finalizer.starts_with("external-attacher/") => {
            "the driver's attacher takes it off when the volume is attached to no node any more"
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_finalizers_have_who_takes_them_off_and_others_have_nobody() {
        assert!(who_takes_off("kubernetes.io/pvc-protection").is_some_and(|words| words.contains("Pod")));
        assert!(who_takes_off("external-attacher/ebs-csi-aws-com").is_some());
        for odd in ["", "example.com/archive", "external-attacher", "kubernetes.io/pvc-protectionx"] {
            assert_eq!(who_takes_off(odd), None, "{odd}");
        }
        assert_eq!(finalizers(r#"{"metadata":{"finalizers":["a",7,"b"]}}"#), ["a", "b"]);
        assert!(finalizers(r#"{"metadata":{"finalizers":7}}"#).is_empty());
    }
}
