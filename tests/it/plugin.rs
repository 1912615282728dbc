//! What is given to those who have kubectl and no Rust: krew's manifest, by krew's own rules
//! (`internal/index/validation/validate.go` of kubernetes-sigs/krew).

use std::fs;
use std::path::Path;

use serde_json::Value;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The manifest as `./dev release` fills it in.
fn manifest() -> Value {
    let text = fs::read_to_string(Path::new(ROOT).join("plugin/churn.yaml")).unwrap();
    let sum = "0123456789abcdef".repeat(4);
    let mut filled = text;
    for (name, value) in
        [("VERSION", "0.1.0"), ("HOMEPAGE", "https://a.example"), ("URL/", "https://a.example/"), ("SHA256", &sum)]
    {
        assert!(filled.contains(name), "there is no {name} in it");
        filled = filled.replace(name, value);
    }
    serde_saphyr::from_str(&filled).unwrap()
}

#[test]
fn krew_takes_the_manifest() {
    let manifest = manifest();
    assert_eq!(manifest["apiVersion"], "krew.googlecontainertools.github.com/v1alpha2");
    assert_eq!(manifest["kind"], "Plugin");
    let name = manifest["metadata"]["name"].as_str().unwrap();
    assert!(name.chars().all(|one| one.is_ascii_alphanumeric() || matches!(one, '-' | '_')), "{name}");
    let spec = &manifest["spec"];
    let version: Vec<&str> = spec["version"].as_str().unwrap().strip_prefix('v').unwrap().split('.').collect();
    assert!(version.len() == 3 && version.iter().all(|part| part.parse::<u32>().is_ok()), "{version:?}");
    let short = spec["shortDescription"].as_str().unwrap();
    assert!(!short.is_empty() && !short.contains(['\n', '\r']), "one line: {short}");
    for platform in spec["platforms"].as_array().unwrap() {
        let text = |name: &str| platform[name].as_str().unwrap_or_else(|| panic!("{name} is missing: {platform}"));
        assert!(text("uri").starts_with("https://") && text("uri").ends_with(".tar.gz"), "{platform}");
        let sum = text("sha256");
        assert!(sum.len() == 64 && sum.chars().all(|one| matches!(one, '0'..='9' | 'a'..='f')), "{sum}");
        let is_outside = |path: &str| Path::new(path).is_absolute() || path.split('/').any(|part| part == "..");
        assert!(!is_outside(text("bin")), "{platform}");
        for file in platform["files"].as_array().unwrap() {
            assert!(!is_outside(file["from"].as_str().unwrap()) && !is_outside(file["to"].as_str().unwrap()), "{file}");
        }
        // What krew calls is what the archive has.
        assert!(Path::new(ROOT).join("plugin").join(text("bin")).is_file(), "{platform}");
        // A plugin's program is called `kubectl-NAME`.
        assert_eq!(text("bin"), format!("kubectl-{name}"));
        let oses = platform["selector"]["matchExpressions"][0]["values"].as_array().unwrap();
        assert_eq!(oses, &["linux", "darwin"]);
    }
}
