//! An etcd for one test: on a free port, with a folder of its own that is removed, and killed however the test ends.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Waits for a word. If the test dies, the pipe is closed, and that ends the wait.
const KEEPER: &str = r#"folder=$1; shift; "$@" >"$folder/log" 2>&1 & read -r word; kill -KILL $!; wait
    [ "$word" = keep ] || rm -rf "$folder""#;
/// How long a start may take, on the slowest machine.
const START: Duration = Duration::from_secs(15);

/// A running etcd, or a stopped one.
pub struct TestEtcd {
    keeper: Option<Child>,
    folder: PathBuf,
    port: u16,
}

impl TestEtcd {
    /// Starts an empty one.
    pub async fn start() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let folder = std::env::temp_dir().join(format!("kubechurn-etcd-{}-{count}", std::process::id()));
            std::fs::create_dir_all(&folder).unwrap();
            let port = kubechurn_harness::ports::free_port();
            let mut etcd = Self { keeper: None, folder, port };
            // The port may have been taken by another process.
            if etcd.begin().await {
                return etcd;
            }
            assert!(count < 1000, "etcd does not start: {}", etcd.log());
        }
    }

    /// Starts it again with its data.
    pub async fn restart(&mut self) {
        assert!(self.begin().await, "etcd does not start again: {}", self.log());
    }

    /// Kills it; its data stays.
    pub fn stop(&mut self) {
        self.end("keep\n");
    }

    /// The address on which it listens.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    async fn begin(&mut self) -> bool {
        let address = self.address();
        let program = std::env::var("ETCD").unwrap_or_else(|_| "etcd".to_owned());
        let found = Command::new(&program).arg("--version").stdout(Stdio::null()).status();
        assert!(found.is_ok(), "there is no etcd: ./dev setup installs it, or says what to type; ETCD names another");
        let keeper = Command::new("sh")
            .args(["-c", KEEPER, "etcd"])
            .arg(&self.folder)
            .arg(program)
            .args(["--name", "test", "--log-outputs", "stderr", "--logger", "zap"])
            .args(["--listen-client-urls", &address, "--advertise-client-urls", &address])
            .args(["--listen-peer-urls", "http://127.0.0.1:0"])
            // A single member has no other members to wait for.
            .args(["--heartbeat-interval", "20", "--election-timeout", "200", "--data-dir"])
            .arg(self.folder.join("data"))
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        self.keeper = Some(keeper);
        let until = Instant::now() + START;
        while Instant::now() < until {
            if let Ok(answer) = reqwest::get(format!("{address}/health")).await
                && answer.text().await.is_ok_and(|text| text.contains("true"))
            {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        false
    }

    fn end(&mut self, word: &str) {
        let Some(mut keeper) = self.keeper.take() else { return };
        if let Some(mut lifeline) = keeper.stdin.take() {
            // Otherwise it has ended by itself.
            let _ = lifeline.write_all(word.as_bytes());
        }
        let _ = keeper.wait();
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }
}

impl Drop for TestEtcd {
    fn drop(&mut self) {
        self.end("");
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
