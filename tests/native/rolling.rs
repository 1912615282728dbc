//! `kubechurn record` into a folder, of which each file can be opened by itself and all of them as one recording; and
//! `kubechurn changes` on the folder.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use serde_json::json;

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::tools;
use kubechurn_harness::wait::{holds, wait_until};
use kubechurn_recording::Step;

use crate::record::{NAMES, Recorded, Recorder, SOON, blocks, changes, listed, text};
use crate::recording::Opened;

/// The files of a folder whose beginnings are complete, in the order of their names.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .map(|entries| entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect())
        .unwrap_or_default();
    files.retain(|file| file.extension().is_none_or(|end| end != "part"));
    files.sort();
    files
}

/// A recorder into a folder, that is being run.
struct Roller {
    recorder: Recorder,
    folder: PathBuf,
}

impl Roller {
    fn new() -> Roller {
        let recorder = Recorder::new();
        let folder = recorder.path("files");
        Roller { recorder, folder }
    }

    fn start(&mut self, cluster: &Cluster, words: &[&str]) {
        let folder = format!("{}/", self.folder.display());
        self.recorder.run(cluster.port(), &[&["record", "-o", &folder][..], &NAMES, words].concat());
    }

    async fn end(&mut self) {
        self.recorder.signal("INT");
        assert_eq!(self.recorder.ended().await, Some(0), "{}", self.recorder.said());
    }

    /// Waits until there are so many files.
    async fn until_files(&self, count: usize) {
        wait_until("there are more files", SOON, async || {
            let found = files(&self.folder).len();
            holds(found >= count, || format!("{found} files; it said: {}", self.recorder.said()))
        })
        .await;
    }

    /// Waits until the newest file has what the cluster has.
    async fn until_all_of(&self, cluster: &Cluster) {
        wait_until("the newest file has what the cluster has", SOON, async || {
            let expected = listed(cluster).await;
            let newest = files(&self.folder).pop().ok_or("no file")?;
            let found = Recorded::read(&newest)?.newest;
            holds(found == expected, || format!("{} objects of {}", found.len(), expected.len()))
        })
        .await;
    }

    /// The page that has opened all files as one.
    fn opened(&self) -> Opened {
        let all: Vec<Vec<u8>> = files(&self.folder).iter().flat_map(|file| blocks(file)).collect();
        Opened::of(&all, "#/pods,nodes")
    }

    /// Waits until a page that opens all files has what the cluster has.
    async fn until_opened_as(&self, cluster: &Cluster) {
        wait_until("all files have what the cluster has", SOON, async || {
            let (opened, expected) = (digests_of(&self.opened()), digests(cluster).await);
            holds(opened == expected, || format!("{opened:?}; it said: {}", self.recorder.said()))
        })
        .await;
    }

    async fn until_all_listed(&self) {
        wait_until("everything is listed", SOON, async || {
            let newest = files(&self.folder).pop().ok_or("no file")?;
            let recorded = Recorded::read(&newest)?;
            let is_listed = ["Pod", "Node"].iter().all(|kind| recorded.has(kind, |step| *step == Step::Listed));
            holds(is_listed, || format!("{:?}", recorded.steps))
        })
        .await;
    }

    async fn changes(&self, words: &[&str]) -> String {
        let printed = changes(&self.folder, words).await;
        assert!(printed.status.success(), "{}", text(&printed.stderr));
        text(&printed.stdout)
    }
}

async fn digests(cluster: &Cluster) -> [Option<String>; 2] {
    [Some(cluster.list("/api/v1/pods").await.digest()), Some(cluster.list("/api/v1/nodes").await.digest())]
}

fn digests_of(opened: &Opened) -> [Option<String>; 2] {
    opened.look(|page, _| [page.reports().digest_of("pods"), page.reports().digest_of("nodes")])
}

#[tokio::test]
async fn each_file_of_a_folder_can_be_opened_alone_and_all_as_one() {
    let cluster = Cluster::start(&Options { pods: 40, rate: 100, ..Options::default() }).await;
    let mut roller = Roller::new();
    roller.start(&cluster, &["--every", "1s"]);
    roller.until_files(4).await;
    cluster.rate(0).await;
    let count = files(&roller.folder).len();
    roller.until_files(count + 1).await;
    roller.until_all_of(&cluster).await;
    // Nobody else writes into the folder meanwhile.
    let mut other = Recorder::new();
    let folder = format!("{}/", roller.folder.display());
    other.run(cluster.port(), &["record", "-o", &folder]);
    assert_eq!(other.ended().await, Some(1));
    assert!(other.said().contains("another kubechurn records into it"), "{}", other.said());
    roller.end().await;
    let expected = digests(&cluster).await;
    let all = files(&roller.folder);
    assert_eq!(digests_of(&Opened::of(&blocks(all.last().expect("files")), "#/pods,nodes")), expected);
    let opened = roller.opened();
    assert_eq!(digests_of(&opened), expected);
    // The first file breaks off within its first list.
    let first = blocks(&all[0]).remove(0);
    let is_before = |line: &&[u8]| !text(line).contains(r#""step":"listed""#);
    let torn = first.split_inclusive(|byte| *byte == b'\n').take_while(is_before).collect::<Vec<_>>().concat();
    assert!(torn.len() < first.len() && text(&torn).contains(r#""type":"LISTED""#));
    let with_torn = [vec![torn], blocks(all.last().expect("files"))].concat();
    assert_eq!(digests_of(&Opened::of(&with_torn, "#/pods,nodes")), expected);
    let (notices, shown) = opened.look(|page, _| {
        let notices = &page.view().footer.notices;
        (notices.total, format!("{notices:?}"))
    });
    // A machine that is so busy that the cluster does not answer makes a gap of its own.
    let said = roller.recorder.said();
    assert!(
        notices == 0 || said.contains("not heard"),
        "nothing was missed between two files: {shown}; it said: {said}"
    );
    // As one file had it at its end, so the next one has it at its beginning, and no change is printed twice or missed.
    let printed = roller.changes(&["--all"]).await;
    assert!(!printed.contains('◆') && printed.contains('●'), "{printed}");
    let alone: usize = {
        let mut lines = 0;
        for file in &all {
            lines += text(&changes(file, &["--all"]).await.stdout).lines().count();
        }
        lines
    };
    assert_eq!(printed.lines().count(), alone);
    let names: Vec<String> = all.iter().map(|file| file.file_name().expect("a name").display().to_string()).collect();
    assert!(names.iter().all(|name| name.len() == 30 && name.ends_with("Z.churn")), "{names:?}");
}

#[tokio::test]
async fn an_interrupted_recording_goes_on_in_the_same_folder() {
    let cluster = Cluster::start(&Options { pods: 40, ..Options::default() }).await;
    let mut roller = Roller::new();
    for signal in ["KILL", "INT"] {
        roller.start(&cluster, &[]);
        roller.until_all_of(&cluster).await;
        roller.recorder.signal(signal);
        roller.recorder.ended().await;
        let pods = cluster.get("/api/v1/pods").await;
        let word = |name: &str| pods["items"][0]["metadata"][name].as_str().unwrap_or_default().to_owned();
        let (namespace, name) = (word("namespace"), word("name"));
        cluster.delete(&format!("/api/v1/namespaces/{namespace}/pods/{name}")).await;
        let before = files(&roller.folder);
        let contents: Vec<Vec<u8>> = before.iter().map(|file| fs::read(file).expect("a file")).collect();
        roller.start(&cluster, &[]);
        wait_until("another file is there", SOON, async || {
            holds(files(&roller.folder).len() > before.len(), || roller.recorder.said())
        })
        .await;
        wait_until("the Pod is gone", SOON, async || {
            let found = cluster.find(&format!("/api/v1/namespaces/{namespace}/pods/{name}")).await;
            holds(found.is_none(), || format!("{found:?}"))
        })
        .await;
        roller.until_opened_as(&cluster).await;
        roller.end().await;
        let total = roller.opened().look(|page, _| page.view().footer.notices.total);
        assert!(total > 0, "nothing is said of the time between two files");
        for (file, content) in before.iter().zip(contents) {
            assert_eq!(fs::read(file).expect("a file"), content, "{file:?} was written over");
        }
        let printed = roller.changes(&["kind:Pod", "type:deleted", &format!("name:{name}")]).await;
        assert!(printed.contains(&format!("✕ Pod {namespace}/{name}: deleted")), "{printed}");
        // Between two files there is a line for the time of which nothing is known.
        let gaps = printed.lines().filter(|line| line.contains(" ░ nothing was recorded for ")).count();
        let count = files(&roller.folder).len();
        assert_eq!((gaps, printed.lines().count()), (count - 1, count), "{printed}");
    }
}

#[tokio::test]
async fn old_files_are_removed_and_nothing_that_others_have_written() {
    let cluster = Cluster::start(&Options { pods: 20, rate: 200, ..Options::default() }).await;
    let mut roller = Roller::new();
    roller.start(&cluster, &[]);
    roller.until_files(1).await;
    roller.until_all_listed().await;
    roller.end().await;
    let own = files(&roller.folder).remove(0);
    let long_ago = SystemTime::now() - Duration::from_secs(8 * 86_400);
    let place = |name: &str, content: &[u8]| {
        let path = roller.folder.join(name);
        fs::write(&path, content).expect("a file");
        File::options().write(true).open(&path).and_then(|file| file.set_modified(long_ago)).expect("a time");
        path
    };
    let recorded = fs::read(&own).expect("a file");
    let old = place("2020-01-01T00-00-00.000Z.churn", &recorded);
    let mut others = vec![
        place("2020-01-02T00-00-00.000Z.churn", b"somebody's"),
        place("2020-01-03T00-00-00.000Z.churn", b""),
        place("run.churn", &recorded),
        place("notes.txt", b"somebody's"),
    ];
    let elsewhere = roller.recorder.path("elsewhere.churn");
    fs::write(&elsewhere, &recorded).expect("a file");
    let link = roller.folder.join("2020-01-04T00-00-00.000Z.churn");
    std::os::unix::fs::symlink(&elsewhere, &link).expect("a link");
    others.extend([elsewhere, link]);
    roller.start(&cluster, &["--keep", "7d"]);
    wait_until("the old file is removed", SOON, async || holds(!old.exists(), || roller.recorder.said())).await;
    roller.end().await;
    assert!(own.exists(), "it is not old");
    let most = 100_000_u64;
    roller.start(&cluster, &["--every", "1s", "--max", &most.to_string()]);
    wait_until("the oldest files are removed", SOON, async || {
        let removed = roller.recorder.said().matches("removed").count();
        let left =
            files(&roller.folder).iter().filter_map(|file| fs::metadata(file).ok()).map(|known| known.len()).sum();
        holds(removed >= 3 && !own.exists() && (0..=2 * most).contains(&left), || {
            format!("{left} bytes; it said: {}", roller.recorder.said())
        })
    })
    .await;
    roller.end().await;
    for other in others {
        assert!(fs::symlink_metadata(&other).is_ok(), "{other:?} is somebody else's");
    }
}

#[tokio::test]
async fn a_disk_that_is_full_ends_nothing_and_what_is_missing_is_a_gap() {
    let cluster = Cluster::start(&Options { pods: 40, rate: 200, ..Options::default() }).await;
    let mut roller = Roller::new();
    let folder = format!("{}/", roller.folder.display());
    // A file may have 48 KB, or half of it where a shell counts in blocks of 512 bytes.
    let limited = "trap '' XFSZ; ulimit -S -f 48; exec \"$0\" record -o \"$1\" pods nodes deploy rs";
    let binary = tools::binary().display().to_string();
    roller.recorder.config(&crate::record::kubeconfig(
        &format!("http://127.0.0.1:{}", cluster.port()),
        None,
        &json!({}),
    ));
    let mut command = roller.recorder.command(Path::new("sh"), &["-c", limited, &binary, &folder]);
    roller.recorder.child = Some(command.spawn().expect("the program starts"));
    let said = async |words: &str| {
        wait_until(words, SOON, async || {
            let said = roller.recorder.said();
            holds(said.contains(words), || said.clone())
        })
        .await;
    };
    said("The recording cannot be written further: File too large").await;
    let before = files(&roller.folder);
    let written = Recorded::read(&before[0]).expect("what was written can be read");
    assert!(!written.newest.is_empty());
    // There is room again.
    let pid = roller.recorder.child.as_ref().and_then(|child| child.id()).expect("it runs");
    let freed = Command::new("prlimit").args(["--pid", &pid.to_string(), "--fsize=unlimited"]).status();
    assert!(freed.is_ok_and(|status| status.success()), "prlimit raises the limit");
    said("There is room again: the recording goes on in another file.").await;
    cluster.rate(0).await;
    roller.until_all_of(&cluster).await;
    let newest = files(&roller.folder).pop().expect("a file");
    let recorded = Recorded::read(&newest).expect("a recording");
    for kind in ["Pod", "Node", "Deployment", "ReplicaSet"] {
        let is_gap = |step: &Step| matches!(step, Step::Gap(_, reason) if reason == "nothing could be written");
        assert!(recorded.has(kind, is_gap), "{:?}", recorded.steps);
    }
    roller.until_opened_as(&cluster).await;
    roller.recorder.signal("TERM");
    assert_eq!(roller.recorder.ended().await, Some(0), "{}", roller.recorder.said());
}
