//! A child process that cannot outlive its test, even if the test panics or is killed.

use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::io::{BufRead, BufReader, ErrorKind};
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Once};
use std::thread;
use std::time::Duration;

use tokio::io::AsyncWriteExt;

use super::tools;
use super::wait::wait_until;

/// The shell leads a process group of its own and kills all of it when its standard input ends. The kernel
/// closes that pipe however the test ends, so no handler can be missed; and only the program holds the output
/// pipe, so its end is the program's end.
///
/// The shell prints the program's process id on its own standard error.
const KEEPER: &str = r#""$@" 2>&1 & echo $! >&2; exec >/dev/null 2>&1; cat; kill -KILL 0"#;

/// How long a program may take to say that it is ready, even a debug build on a busy machine.
const START: Duration = Duration::from_secs(180);

/// How long a program that was killed may take to end.
const END: Duration = Duration::from_secs(30);

/// A time that is longer than any command of kubectl takes on the slowest machine.
const COMMAND: Duration = Duration::from_secs(60);

/// How many lines are kept for the message of a failure.
const OUTPUT_LINES: usize = 200;

/// A running program with its children.
pub struct Process {
    name: String,
    pid: u32,
    keeper: Child,
    /// The shell's standard input, which is open for as long as the program may run.
    lifeline: Option<ChildStdin>,
    output: Arc<Mutex<Said>>,
}

#[derive(Default)]
struct Said {
    lines: Vec<String>,
    ended: bool,
}

impl Process {
    /// Starts `program` in `folder`.
    pub fn start(name: &str, program: &Path, folder: &Path, arguments: &[impl AsRef<OsStr>]) -> Self {
        let mut keeper = Command::new("sh")
            .args(["-c", KEEPER, name])
            .arg(program)
            .args(arguments)
            .current_dir(folder)
            // The program must not use a user's cluster, and must not colour the lines that are read here.
            .env("KUBECONFIG", "/dev/null")
            .env("NO_COLOR", "true")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{name} could not be started with `sh`: {error}"));
        let mut pid = String::new();
        let stderr = keeper.stderr.take().expect("standard error is piped");
        // A line that cannot be read is not the process id.
        let _ = BufReader::new(stderr).read_line(&mut pid);
        let pid = pid.trim().parse().unwrap_or_else(|_| panic!("{name} has the process id `{pid}`"));
        let lifeline = keeper.stdin.take();
        let stdout = keeper.stdout.take().expect("standard output is piped");
        let output = Arc::new(Mutex::new(Said::default()));
        let sink = Arc::clone(&output);
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let mut output = sink.lock().expect("no reader panics");
                if output.lines.len() == OUTPUT_LINES {
                    output.lines.remove(0);
                }
                output.lines.push(line);
            }
            sink.lock().expect("no reader panics").ended = true;
        });
        Self { name: name.to_owned(), pid, keeper, lifeline, output }
    }

    /// Serves a folder by a plain web server. Returns its address, too, which ends with a slash.
    pub async fn web_server(folder: &Path) -> (Self, String) {
        let words = ["-u", "-m", "http.server", "0", "--bind", "127.0.0.1"];
        let server = Self::start("a web server", Path::new("python3"), folder, &words);
        let port = server.line_after("port ").await;
        let url = format!("http://127.0.0.1:{}/", port.split(' ').next().unwrap_or_default());
        (server, url)
    }

    /// The program's process id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Halts the program (SIGSTOP), with all its connections open, until [`Process::go_on`].
    pub fn stop(&self) {
        self.signal("STOP");
    }

    /// Continues the program after [`Process::stop`].
    pub fn go_on(&self) {
        self.signal("CONT");
    }

    /// Asks the program to end (SIGTERM).
    pub fn terminate(&self) {
        self.signal("TERM");
    }

    /// Waits until the program and whatever holds its output have ended, and returns its last lines.
    pub async fn ended(&self) -> String {
        wait_until(&format!("{} ends", self.name), END, async || {
            let output = self.output.lock().expect("no reader panics");
            if output.ended { Ok(output.lines.join("\n")) } else { Err(output.lines.join("\n")) }
        })
        .await
    }

    /// Sends it the signal of this name, such as `INT`.
    pub fn signal(&self, name: &str) {
        let status = Command::new("sh").args(["-c", "kill -s \"$0\" \"$1\"", name, &self.pid.to_string()]).status();
        assert!(status.is_ok_and(|status| status.success()), "{} takes no {name}", self.name);
    }

    /// Waits for a line that contains `marker`, and returns what follows it.
    pub async fn line_after(&self, marker: &str) -> String {
        wait_until(&format!("{} says `{marker}`", self.name), START, async || {
            let output = self.output.lock().expect("no reader panics");
            match output.lines.iter().find_map(|line| line.split_once(marker)) {
                Some((_, rest)) => Ok(rest.trim().to_owned()),
                None if output.ended => panic!("{} ended: {}", self.name, output.lines.join("\n")),
                None => Err(output.lines.join("\n")),
            }
        })
        .await
    }

    /// Its last lines.
    pub fn output(&self) -> String {
        self.output.lock().expect("no reader panics").lines.join("\n")
    }

    /// Waits until `url` answers with success.
    pub async fn answers(&self, url: &str) {
        wait_until(&format!("{} answers {url}", self.name), START, async || {
            let output = self.output();
            match reqwest::get(url).await {
                Ok(response) if response.status().is_success() => Ok(()),
                Ok(response) => Err(format!("{}; it said: {output}", response.status())),
                Err(error) => Err(format!("{error}; it said: {output}")),
            }
        })
        .await;
    }
}

impl fmt::Debug for Process {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.name)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.lifeline.take());
        // The shell is killed by its own signal. If it cannot be waited for, there is nothing else to do.
        let _ = self.keeper.wait();
    }
}

/// Runs kubectl to its end, with `server` and a text as its input. It gets this home folder and nothing of the user's: neither
/// credentials, nor what was cached of another server at the same port.
pub async fn kubectl(
    program: &Path,
    server: &str,
    home: &Path,
    words: &[impl AsRef<OsStr> + fmt::Debug],
    stdin: &str,
) -> Output {
    let mut child = tokio::process::Command::new(program)
        .args(["-s", server])
        .args(words)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home)
        .env("KUBECONFIG", "/dev/null")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap_or_else(|error| panic!("{} does not start: {error}", program.display()));
    let mut input = child.stdin.take().expect("standard input is piped");
    // A command that ends before it has read everything closes the pipe.
    let _ = input.write_all(stdin.as_bytes()).await;
    drop(input);
    let output = tokio::time::timeout(COMMAND, child.wait_with_output()).await;
    let output = output.unwrap_or_else(|_| panic!("kubectl {words:?}: no end after {COMMAND:?}"));
    output.unwrap_or_else(|error| panic!("kubectl {words:?}: {error}"))
}

/// Waits until no program listens on `port` any more: a program that was killed frees its port a moment later.
pub async fn port_closed(port: u16) {
    wait_until(&format!("port {port} is free"), END, async || match TcpStream::connect((Ipv4Addr::LOCALHOST, port)) {
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;
}

/// A folder that is removed with its content.
#[derive(Debug)]
pub struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    /// An empty folder below Cargo's folder for tests.
    pub fn new(name: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        static SWEPT: Once = Once::new();
        SWEPT.call_once(remove_left_over);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = tools::temporary().join(format!("{name}-{}-{count}", std::process::id()));
        fs::create_dir_all(&path).unwrap_or_else(|error| panic!("{} cannot be made: {error}", path.display()));
        Self(path)
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

/// Removes the folders of processes that have ended. A process that was killed leaves its folders, and so does one that ends
/// with a browser for its next test.
fn remove_left_over() {
    for entry in fs::read_dir(tools::temporary()).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let mut parts = name.to_str().unwrap_or_default().rsplit('-');
        if let (Some(_), Some(process), Some(_)) = (parts.next(), parts.next(), parts.next())
            && process.parse::<u32>().is_ok()
            && !Path::new("/proc").join(process).exists()
        {
            // Another process may remove it at the same time.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // A browser that was just killed may still have a file open. The folder of the next run has another name.
        let _ = fs::remove_dir_all(&self.0);
    }
}
