//! kubectl: which cluster it reaches, and a `kubectl proxy` at a Unix socket. Credentials, and the plugins that fetch them,
//! stay with kubectl.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::{Child, Command};

use crate::args::Kubectl;

/// The longest path of a socket in bytes, by what all systems take (macOS: 104 with its end).
const LONGEST_PATH: usize = 100;

/// How many of kubectl's last lines are kept to say why it ended.
const LINES: usize = 3;

/// What `kubectl proxy` itself refuses, too, whatever this program would pass on; the same as in `kubectl churn`.
const METHODS: &str = "--reject-methods=^(POST|PUT|PATCH|DELETE)$";
const PATHS: &str = "--reject-paths=^/api/[^/]*/(namespaces/[^/]*/)?(pods|services|nodes)/[^/]*/(exec|attach|portforward|proxy)(/|$),^/api/[^/]*/proxy(/|$)";

/// The names of a context's cluster and namespace.
const NAMES: &str = "jsonpath={.clusters[0].name}{\"\\n\"}{.contexts[0].context.namespace}";

/// What kubectl reaches.
#[derive(Debug)]
pub struct Found {
    pub context: String,
    /// The cluster's name in the kubeconfig.
    pub cluster: String,
    /// The namespace that the context names; empty where it names none.
    pub namespace: String,
    /// Why its API server does not answer as it should, if it does not.
    pub trouble: Option<KubectlError>,
}

/// Why kubectl shows no cluster, with what to do.
#[derive(Debug, thiserror::Error)]
pub enum KubectlError {
    /// There is no such program.
    #[error("there is no kubectl here. Install it: https://kubernetes.io/docs/tasks/tools/")]
    Missing,
    /// kubectl could not be run.
    #[error("kubectl cannot be started: {0}")]
    Start(#[source] io::Error),
    /// No context is named, neither here nor in the kubeconfig.
    #[error("kubectl has no current context. Choose one: kubectl config use-context NAME, or kubechurn --context NAME")]
    NoContext,
    /// The kubeconfig has no such context.
    #[error("kubectl knows no context {context}. Those that it knows: {known}")]
    UnknownContext {
        /// The one that was asked for.
        context: String,
        /// The names of all, with spaces between.
        known: String,
    },
    /// The API server refuses the credentials, or there are none any more.
    #[error("the API server does not take the credentials of context {context}. Log in again. It said: {said}")]
    Credentials {
        context: String,
        /// kubectl's words.
        said: String,
    },
    /// The API server gives no answer.
    #[error("the API server of context {context} does not answer. kubectl said: {said}")]
    NoAnswer {
        context: String,
        /// kubectl's words.
        said: String,
    },
    /// There is no folder for the socket.
    #[error("there is no place for temporary files: {0}")]
    Folder(#[source] io::Error),
    /// The proxy ended before it listened.
    #[error("kubectl proxy did not start: {0}")]
    Proxy(String),
}

/// How kubectl ended.
struct Ran {
    succeeded: bool,
    out: String,
    err: String,
}

impl Kubectl {
    /// The names of all contexts.
    ///
    /// # Errors
    /// When there is no kubectl, or no context.
    pub async fn contexts(&self) -> Result<Vec<OsString>, KubectlError> {
        let all = self.run(&["config", "get-contexts", "-o", "name"]).await?.out;
        let all: Vec<OsString> = all.lines().filter(|name| !name.is_empty()).map(OsString::from).collect();
        if all.is_empty() { Err(KubectlError::NoContext) } else { Ok(all) }
    }

    /// Which cluster kubectl reaches, and whether that answers.
    ///
    /// # Errors
    /// When there is no kubectl or no such context.
    pub async fn find(&self) -> Result<Found, KubectlError> {
        let context = match &self.context {
            Some(context) => context.to_string_lossy().into_owned(),
            None => {
                let current = self.run(&["config", "current-context"]).await?;
                let name = current.out.trim().to_owned();
                if !current.succeeded || name.is_empty() {
                    return Err(KubectlError::NoContext);
                }
                name
            }
        };
        let view = ["config", "view", "--minify", "-o", NAMES];
        let names = self.run(&view).await?;
        if !names.succeeded {
            let known = self.run(&["config", "get-contexts", "-o", "name"]).await?.out;
            let known = known.split_whitespace().collect::<Vec<_>>().join(" ");
            return Err(KubectlError::UnknownContext { context, known });
        }
        let mut trouble = None;
        let version = self.run(&["get", "--raw", "/version", "--request-timeout=10s"]).await?;
        if !version.succeeded {
            let said = version.err.trim().to_owned();
            match Answer::of(&said) {
                // Whoever may not ask for the version may still watch.
                Answer::Forbidden => {}
                Answer::Credentials => trouble = Some(KubectlError::Credentials { context: context.clone(), said }),
                Answer::None => trouble = Some(KubectlError::NoAnswer { context: context.clone(), said }),
            }
        }
        let (cluster, namespace) = names.out.split_once('\n').unwrap_or((&names.out, ""));
        let [cluster, namespace] = [cluster, namespace].map(|name| name.trim().to_owned());
        Ok(Found { context, cluster, namespace, trouble })
    }

    /// Starts `kubectl proxy` at a socket in a folder that only this user can enter.
    ///
    /// # Errors
    /// When there is no place for the folder, or the proxy ends before it listens.
    pub async fn proxy(&self) -> Result<Proxy, KubectlError> {
        let folder = Folder::new().map_err(KubectlError::Folder)?;
        let socket = folder.0.join("socket");
        let mut at = OsString::from("--unix-socket=");
        at.push(&socket);
        let mut child = self
            .command()
            .arg("proxy")
            .arg(at)
            // The server of a kubeconfig may have a path, which kubectl leaves out by itself.
            .args(["--api-prefix=/", "--append-server-path", METHODS, PATHS])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C reaches this program alone, which ends kubectl.
            .process_group(0)
            .spawn()
            .map_err(not_started)?;
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let said = tokio::spawn(async move { last_lines(err).await });
        let mut out = BufReader::new(out.ok_or_else(|| KubectlError::Proxy("its output is not here".to_owned()))?);
        let mut line = String::new();
        // It says so once it listens; its end is the end of its output.
        while !line.starts_with("Starting to serve on ") {
            line.clear();
            if !out.read_line(&mut line).await.is_ok_and(|read| read > 0) {
                return Err(KubectlError::Proxy(said.await.unwrap_or_default()));
            }
        }
        // What else it says there is read, so that it never waits for a reader.
        tokio::spawn(async move { last_lines(Some(out)).await });
        Ok(Proxy { child, said, socket, _folder: folder })
    }

    fn command(&self) -> Command {
        let mut command = Command::new("kubectl");
        let flags = [("--kubeconfig=", &self.kubeconfig), ("--context=", &self.context)];
        for (flag, value) in flags.into_iter().filter_map(|(flag, value)| Some((flag, value.as_ref()?))) {
            let mut word = OsString::from(flag);
            word.push(value);
            command.arg(word);
        }
        command.stdin(Stdio::null()).kill_on_drop(true);
        command
    }

    async fn run(&self, words: &[&str]) -> Result<Ran, KubectlError> {
        let output = self.command().args(words).output().await.map_err(not_started)?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok(Ran { succeeded: output.status.success(), out: text(output.stdout), err: text(output.stderr) })
    }
}

fn not_started(error: io::Error) -> KubectlError {
    match error.kind() {
        ErrorKind::NotFound => KubectlError::Missing,
        _ => KubectlError::Start(error),
    }
}

/// What kubectl's words say of an answer that is not the version.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Forbidden,
    Credentials,
    None,
}

impl Answer {
    fn of(said: &str) -> Self {
        let has = |words: &[&str]| words.iter().any(|word| said.contains(word));
        if has(&["Unauthorized", "credentials", "must be logged in", "exec plugin", "expired"]) {
            Self::Credentials
        } else if has(&["orbidden"]) {
            Self::Forbidden
        } else {
            Self::None
        }
    }
}

/// A `kubectl proxy`. It is killed, and its folder removed, when this is dropped.
#[derive(Debug)]
pub struct Proxy {
    // Dropped first, so that nobody writes into the folder that is removed.
    child: Child,
    said: tokio::task::JoinHandle<String>,
    socket: PathBuf,
    _folder: Folder,
}

impl Proxy {
    /// Where it listens.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Waits until it ends, and returns its last words.
    pub async fn ended(&mut self) -> String {
        // However it ended, it is gone.
        let _ = self.child.wait().await;
        (&mut self.said).await.unwrap_or_default()
    }
}

/// The last lines of a program's output, at its end.
async fn last_lines(output: Option<impl AsyncRead + Unpin>) -> String {
    let Some(output) = output else { return String::new() };
    let mut lines = BufReader::new(output).lines();
    let mut last = VecDeque::new();
    while let Ok(Some(line)) = lines.next_line().await {
        if last.len() == LINES {
            last.pop_front();
        }
        last.push_back(line);
    }
    Vec::from(last).join("\n")
}

/// A folder that only this user can enter, and that is removed with what is in it.
#[derive(Debug)]
struct Folder(PathBuf);

impl Folder {
    fn new() -> io::Result<Self> {
        let name = format!("kubechurn-{}", super::token()?);
        let places = [std::env::temp_dir(), PathBuf::from("/tmp")];
        let paths = places.into_iter().map(|place| place.join(&name));
        let path = paths
            .into_iter()
            .find(|path| path.join("socket").as_os_str().as_bytes().len() <= LONGEST_PATH)
            .ok_or_else(|| io::Error::other("the path of a socket would be too long"))?;
        // Fails where there is one of this name already.
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Somebody else may have removed it.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_kubectl_says_of_the_api_server() {
        for (said, expected) in [
            ("error: You must be logged in to the server (Unauthorized)", Answer::Credentials),
            (
                "Unable to connect to the server: getting credentials: exec: executable aws not found",
                Answer::Credentials,
            ),
            ("Error from server (Forbidden): forbidden: User \"a\" cannot get path \"/version\"", Answer::Forbidden),
            ("The connection to the server 127.0.0.1:9 was refused", Answer::None),
        ] {
            assert_eq!(Answer::of(said), expected, "{said}");
        }
    }

    #[test]
    fn a_folder_is_its_user_s_own_and_is_removed() {
        let folder = Folder::new().unwrap();
        let path = folder.0.clone();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        fs::write(path.join("socket"), "").unwrap();
        drop(folder);
        assert!(!path.exists());
    }
}
