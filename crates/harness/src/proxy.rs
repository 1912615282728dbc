//! The two ways in which a browser reaches the API: `kubectl proxy`, and `trunk serve` in front of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::ports::free_port;
use super::process::{Process, TemporaryFolder, port_closed};
use super::tools;

/// `kubectl proxy`.
#[derive(Debug)]
pub struct KubectlProxy {
    process: Option<Process>,
    backend: u16,
    port: u16,
    /// The folder of the page that it serves, if any.
    page: Option<PathBuf>,
    /// The path below which page and API are: `/`, or `/SECRET/`.
    prefix: String,
}

impl KubectlProxy {
    /// A proxy to the cluster that listens on `backend`. It serves the built page and the API from one port.
    pub async fn start(backend: u16) -> Self {
        Self::start_serving(backend, tools::dist()).await
    }

    /// A proxy that serves the page of this folder, and the API.
    pub async fn start_serving(backend: u16, page: PathBuf) -> Self {
        Self::start_with(backend, Some(page), "/".to_owned()).await
    }

    /// A proxy that serves page and API below a secret path, as `./dev build` says.
    pub async fn start_below(backend: u16, secret: &str) -> Self {
        Self::start_with(backend, Some(tools::dist()), format!("/{secret}/")).await
    }

    /// A proxy that serves the API alone, as it runs beside `trunk serve`.
    pub async fn start_plain(backend: u16) -> Self {
        Self::start_with(backend, None, "/".to_owned()).await
    }

    /// A proxy that serves the API alone below a secret path, as it runs behind `./dev serve`.
    pub async fn start_plain_below(backend: u16, secret: &str) -> Self {
        Self::start_with(backend, None, format!("/{secret}/")).await
    }

    async fn start_with(backend: u16, page: Option<PathBuf>, prefix: String) -> Self {
        let mut proxy = Self { process: None, backend, port: free_port(), page, prefix };
        proxy.start_again().await;
        proxy
    }

    /// The page's address.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}{}", self.port, self.prefix)
    }

    /// The address at which it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Kills its process, which cuts every connection to it.
    pub async fn kill(&mut self) {
        self.process = None;
        port_closed(self.port).await;
    }

    /// Its process, which can be halted and continued.
    pub fn process(&self) -> &Process {
        self.process.as_ref().expect("the proxy runs")
    }

    /// Starts it on the same port as before.
    pub async fn start_again(&mut self) {
        let backend = format!("http://127.0.0.1:{}", self.backend);
        let mut arguments = vec!["-s".to_owned(), backend, "proxy".to_owned(), format!("--port={}", self.port)];
        let prefix = &self.prefix;
        if let Some(page) = &self.page {
            let www = format!("--www={}", page.display());
            arguments.extend([www, format!("--www-prefix={prefix}"), format!("--api-prefix={prefix}k8s/")]);
        } else {
            arguments.push(format!("--api-prefix={prefix}"));
        }
        let process = Process::start("kubectl proxy", &tools::kubectl(), Path::new("."), &arguments);
        process.line_after("Starting to serve on").await;
        self.process = Some(process);
    }
}

/// `trunk serve` with the project's own proxy prefixes, before a `kubectl proxy`.
///
/// It serves the files that were built already. Their index.html makes them a page without Rust, all of whose files are copied.
/// So nothing is compiled, and the files are byte for byte those of the other tests.
#[derive(Debug)]
pub struct TrunkServe {
    process: Process,
    _folder: TemporaryFolder,
    url: String,
    port: u16,
}

impl TrunkServe {
    /// Serves the page, with the API behind the proxy on `backend`, as `trunk serve` does beside it.
    pub async fn start(backend: u16) -> Self {
        let config = fs::read_to_string(tools::project_file("Trunk.toml")).expect("the project has a Trunk.toml");
        let config = config.replace("127.0.0.1:8001", &format!("127.0.0.1:{backend}"));
        Self::start_with(&config, &format!("127.0.0.1:{backend}/"), "/").await
    }

    /// Serves page and API below a path that is a secret, with the configuration that `./dev serve` makes for it. The
    /// API is below a path of its own at the proxy on `backend`.
    pub async fn start_below(backend: u16, inner: &str, secret: &str) -> Self {
        let backend = format!("127.0.0.1:{backend}/{inner}");
        let made = Command::new("sh").arg(tools::project_file("dev")).args(["config", &backend, secret]).output();
        let made = made.expect("./dev runs");
        assert!(made.status.success(), "./dev config: {}", String::from_utf8_lossy(&made.stderr));
        let config = String::from_utf8(made.stdout).expect("Trunk's configuration is text");
        Self::start_with(&config, &format!("{backend}/"), &format!("/{secret}/")).await
    }

    async fn start_with(config: &str, backend: &str, prefix: &str) -> Self {
        let folder = TemporaryFolder::new("trunk");
        copy_site(&tools::dist(), folder.path());
        let tables = tables(config, &["[serve]", "[[proxy]]"]);
        assert_eq!(tables.matches(&format!("//{backend}\"")).count(), 2, "Trunk.toml's proxies: {tables}");
        fs::write(folder.path().join("Trunk.toml"), tables).expect("the folder can be written");
        let port = free_port();
        let arguments =
            ["serve", "--offline=true", "--skip-version-check", "--no-autoreload=true", "--address=127.0.0.1"]
                .map(str::to_owned)
                .into_iter()
                .chain([format!("--port={port}")])
                .collect::<Vec<_>>();
        let process = Process::start("trunk serve", &tools::trunk(), folder.path(), &arguments);
        let serve = Self { process, _folder: folder, url: format!("http://127.0.0.1:{port}{prefix}"), port };
        serve.process.answers(&serve.url()).await;
        serve
    }

    /// Its process, which can be halted and continued.
    pub fn process(&self) -> &Process {
        &self.process
    }

    /// The page's address.
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// The address at which it listens.
    pub fn port(&self) -> u16 {
        self.port
    }
}

/// The text of the tables of a Trunk.toml that have one of these headers.
fn tables(config: &str, heads: &[&str]) -> String {
    let mut inside = false;
    let mut tables = String::new();
    for line in config.lines() {
        if line.trim_start().starts_with('[') {
            inside = heads.contains(&line.trim());
        }
        if inside {
            tables.push_str(line);
            tables.push('\n');
        }
    }
    tables
}

/// Copies the built page to `to`, with an index.html that makes Trunk copy every file.
fn copy_site(from: &Path, to: &Path) {
    let mut links = String::new();
    for entry in fs::read_dir(from).expect("the built page can be listed") {
        let entry = entry.expect("the built page can be listed");
        let name = entry.file_name().into_string().expect("the built page's names are text");
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &to.join(&name));
            links.push_str(&format!("<link data-trunk rel=\"copy-dir\" href=\"{name}\">\n"));
        } else if name != "index.html" {
            fs::copy(entry.path(), to.join(&name)).expect("the built page can be copied");
            links.push_str(&format!("<link data-trunk rel=\"copy-file\" href=\"{name}\">\n"));
        }
    }
    let index = fs::read_to_string(from.join("index.html")).expect("the built page has an index.html");
    assert!(index.contains("</head>"), "the built index.html has no </head>");
    let index = index.replacen("</head>", &format!("{links}</head>"), 1);
    fs::write(to.join("index.html"), index).expect("the folder can be written");
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the folder can be made");
    for entry in fs::read_dir(from).expect("the built page can be listed") {
        let entry = entry.expect("the built page can be listed");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("the built page can be copied");
        }
    }
}
