//! Finds the programs and files that a run needs. Whatever is missing ends the test with one line that says
//! how to get it; nothing is ever skipped.

use std::env;
use std::path::{Path, PathBuf};

/// The built page: `KUBECHURN_DIST`, or `dist`.
pub fn dist() -> PathBuf {
    let dist = from_environment("KUBECHURN_DIST", "dist");
    if !dist.join("index.html").is_file() {
        missing(&dist, "the built page", "KUBECHURN_DIST", "make it with `./dev build`");
    }
    dist
}

/// The demo cluster: `KUBECHURN_CLUSTER`, or `target/release/cluster`.
pub fn cluster() -> PathBuf {
    let cluster = from_environment("KUBECHURN_CLUSTER", "target/release/cluster");
    if !cluster.is_file() {
        let how = "make it with `cargo build --release -p kubechurn-cluster`";
        missing(&cluster, "the demo cluster", "KUBECHURN_CLUSTER", how);
    }
    cluster
}

/// The program `kubechurn`, with the built page in it: `KUBECHURN_BINARY`, or `target/release/kubechurn`.
pub fn binary() -> PathBuf {
    let binary = from_environment("KUBECHURN_BINARY", "target/release/kubechurn");
    if !binary.is_file() {
        let how = "make it with `KUBECHURN_PAGE=$PWD/dist cargo build --release -p kubechurn-cli`";
        missing(&binary, "the program with the page", "KUBECHURN_BINARY", how);
    }
    binary
}

/// Chromium or Chrome.
pub fn chrome() -> PathBuf {
    program("CHROME", &["chromium", "google-chrome", "chromium-browser"], "Debian's package is `chromium`")
}

/// The WebDriver server that fits [`chrome`].
pub fn chromedriver() -> PathBuf {
    program("CHROMEDRIVER", &["chromedriver"], "Debian's package is `chromium-driver`")
}

/// `kubectl`.
pub fn kubectl() -> PathBuf {
    program("KUBECTL", &["kubectl"], "see https://kubernetes.io/docs/tasks/tools/")
}

/// `etcd`.
pub fn etcd() -> PathBuf {
    program("ETCD", &["etcd"], "Debian's package is `etcd-server`")
}

/// axe-core's `axe.min.js`: `AXE`, or `target/axe.min.js`.
pub fn axe() -> PathBuf {
    let axe = from_environment("AXE", "target/axe.min.js");
    if !axe.is_file() {
        missing(&axe, "axe-core", "AXE", "`./dev setup` fetches it, or `npm pack axe-core`");
    }
    axe
}

/// Trunk.
pub fn trunk() -> PathBuf {
    program("TRUNK", &["trunk"], "install it with `cargo install --locked trunk`")
}

/// The path of a file of the project, in whichever folder the test runs.
pub fn project_file(name: &str) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).join(name)
}

/// The folder for what tests write, which may be removed.
pub fn temporary() -> PathBuf {
    from_environment("CARGO_TARGET_DIR", "target").join("tmp")
}

fn from_environment(variable: &str, default: &str) -> PathBuf {
    // A relative path counts from the project's folder.
    project_file(&env::var(variable).unwrap_or_else(|_| default.to_owned()))
}

fn program(variable: &str, names: &[&str], how: &str) -> PathBuf {
    let given = env::var(variable).ok();
    let wanted: Vec<&str> = given.as_deref().map_or_else(|| names.to_vec(), |name| vec![name]);
    let path = env::var_os("PATH").unwrap_or_default();
    // `cargo install` puts Trunk into Cargo's own folder, which need not be on the path.
    let cargo = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".cargo")));
    let folders: Vec<PathBuf> = env::split_paths(&path).chain(cargo.map(|home| home.join("bin"))).collect();
    let found = wanted
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|candidate| candidate.is_file());
    match found {
        Some(path) => path,
        None => missing(Path::new(wanted[0]), "a program that these tests need", variable, how),
    }
}

fn missing(path: &Path, what: &str, variable: &str, how: &str) -> ! {
    panic!("missing {what}: {} ({variable} may name another): {how}", path.display())
}
