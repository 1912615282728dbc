//! The two ways in which a browser reaches the API: `kubectl proxy`, and `trunk serve` before it.

use std::fs;
use std::path::Path;

use super::ports::free_port;
use super::process::{Process, TemporaryFolder, port_closed};
use super::tools;

/// `kubectl proxy`.
#[derive(Debug)]
pub struct KubectlProxy {
    process: Option<Process>,
    backend: u16,
    port: u16,
    serves_page: bool,
}

impl KubectlProxy {
    /// A proxy before the cluster that listens on `backend`, serving the built page and the API from one port.
    pub async fn start(backend: u16) -> Self {
        let mut proxy = Self { process: None, backend, port: free_port(), serves_page: true };
        proxy.start_again().await;
        proxy
    }

    /// A proxy that serves the API alone, as it runs beside `trunk serve`.
    pub async fn start_plain(backend: u16) -> Self {
        let mut proxy = Self { process: None, backend, port: free_port(), serves_page: false };
        proxy.start_again().await;
        proxy
    }

    /// The page's address.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Kills it; whoever was connected is cut off.
    pub async fn kill(&mut self) {
        self.process = None;
        port_closed(self.port).await;
    }

    /// Its process, which can be stopped and told to go on.
    pub fn process(&self) -> &Process {
        self.process.as_ref().expect("the proxy runs")
    }

    /// Starts it on the same port as before.
    pub async fn start_again(&mut self) {
        let backend = format!("http://127.0.0.1:{}", self.backend);
        let mut arguments = vec!["-s".to_owned(), backend, "proxy".to_owned(), format!("--port={}", self.port)];
        if self.serves_page {
            let www = format!("--www={}", tools::dist().display());
            arguments.extend([www, "--www-prefix=/".to_owned(), "--api-prefix=/k8s/".to_owned()]);
        }
        let process = Process::start("kubectl proxy", &tools::kubectl(), Path::new("."), &arguments);
        process.line_after("Starting to serve on").await;
        self.process = Some(process);
    }
}

/// `trunk serve` with the project's own proxy prefixes, before a `kubectl proxy`.
///
/// It serves the files that were built already: to Trunk they are a page without Rust whose every file is
/// copied, so nothing is compiled, and what is served is byte for byte what the other tests use.
#[derive(Debug)]
pub struct TrunkServe {
    process: Process,
    _folder: TemporaryFolder,
    port: u16,
}

impl TrunkServe {
    /// Serves the page, with the API behind the proxy on `backend`.
    pub async fn start(backend: u16) -> Self {
        let folder = TemporaryFolder::new("trunk");
        copy_site(&tools::dist(), folder.path());
        let config = fs::read_to_string(tools::package_file("Trunk.toml")).expect("the project has a Trunk.toml");
        let proxies = proxy_tables(&config).replace("127.0.0.1:8001", &format!("127.0.0.1:{backend}"));
        assert_eq!(proxies.matches(&format!("127.0.0.1:{backend}")).count(), 2, "Trunk.toml's proxies: {proxies}");
        fs::write(folder.path().join("Trunk.toml"), proxies).expect("the folder can be written");
        let port = free_port();
        let arguments =
            ["serve", "--offline=true", "--skip-version-check", "--no-autoreload=true", "--address=127.0.0.1"]
                .map(str::to_owned)
                .into_iter()
                .chain([format!("--port={port}")])
                .collect::<Vec<_>>();
        let process = Process::start("trunk serve", &tools::trunk(), folder.path(), &arguments);
        let serve = Self { process, _folder: folder, port };
        serve.process.answers(&serve.url()).await;
        serve
    }

    /// Its process, which can be stopped and told to go on.
    pub fn process(&self) -> &Process {
        &self.process
    }

    /// The page's address.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }
}

/// The `[[proxy]]` tables of a Trunk.toml, as they stand.
fn proxy_tables(config: &str) -> String {
    let mut inside = false;
    let mut tables = String::new();
    for line in config.lines() {
        if line.trim_start().starts_with('[') {
            inside = line.trim() == "[[proxy]]";
        }
        if inside {
            tables.push_str(line);
            tables.push('\n');
        }
    }
    tables
}

/// Copies the built page to `to`, and tells Trunk in its index.html to copy every file once more.
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
