//! The audit log of an API server beside a recording: who made the request that led to a version.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kubechurn_changes::audit::{self, Counts, Requests};
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::json;
use kubechurn_recording::{Newest, Request, Text, Version};

/// How many bytes of a log are read at a time, so that other work is not kept waiting.
const PIECE: u64 = 8 << 20;
/// The longest line that is read. A server accepts no object of a third of it, and a line has the object twice.
const LONGEST: usize = 32 << 20;
/// How long the lines of a request are waited for after a version was received, in milliseconds. A server writes them when it
/// has answered, at the latest with the next batch, which it begins after a second (`--audit-log-batch-max-wait`).
const WAITS: f64 = 10_000.0;

/// Names a version: the object's uid, the resourceVersion, and whether it is a deletion.
pub type Key = (Uid, String, bool);

/// The name of a version.
pub fn key_of(version: &Version<'_>) -> Key {
    let named = match version.text {
        Text::Whole(text) => json::value_at(text, &["metadata", "resourceVersion"]).and_then(json::unescaped),
        Text::None | Text::NotKept => None,
    };
    (version.uid.clone(), named.map(Cow::into_owned).unwrap_or_default(), version.delta_type == DeltaType::Deleted)
}

/// Versions and the requests that led to them.
#[derive(Debug, Default)]
pub struct Joined {
    pub requests: Requests,
    next: u64,
    /// The versions that were taken: the watch and the name.
    names: HashMap<u64, (u32, Key)>,
}

impl Joined {
    /// Takes a version before `newest` does. It was received at this time, in milliseconds since 1970, by the server's clock.
    pub fn version(&mut self, newest: &Newest, resource: &ApiResource, version: &Version<'_>, at: f64) {
        let before = newest.before(version).filter(|(uid, _)| *uid == version.uid).and_then(|(_, text)| text);
        let (delta_type, uid) = (version.delta_type, version.uid);
        let new = if let Text::Whole(text) = version.text { Some(text) } else { None };
        let (id, old) = (self.next, before.as_deref());
        self.requests.version(resource, version.key, audit::Version { id, delta_type, uid, old, new, at });
        self.names.insert(id, (version.watch, key_of(version)));
        self.next += 1;
    }

    /// Joins all that has come.
    pub fn settle(&mut self) {
        while self.requests.settle(usize::MAX) {}
    }

    /// What is known of each version.
    pub fn all(&self) -> impl Iterator<Item = (&Key, &Arc<audit::Request>)> {
        self.names.iter().filter_map(|(id, (_, key))| Some((key, self.requests.of(*id)?)))
    }
}

/// A log that is read while it is written.
#[derive(Debug)]
pub struct Followed {
    path: PathBuf,
    file: Option<Open>,
    joined: Joined,
    /// By how many milliseconds the server's clock is ahead.
    ahead: f64,
}

#[derive(Debug)]
struct Open {
    file: File,
    /// The device and the number of the file on it.
    identity: (u64, u64),
    read: u64,
    /// The beginning of a line whose end has not come.
    rest: Vec<u8>,
    /// Whether that line is too long to be read.
    is_passed: bool,
}

impl Open {
    fn new(path: &Path) -> io::Result<Open> {
        let file = File::open(path)?;
        let known = file.metadata()?;
        Ok(Open { file, identity: (known.dev(), known.ino()), read: 0, rest: Vec::new(), is_passed: false })
    }

    /// Hands on lines that have come. Returns whether that was all.
    fn read(&mut self, line: &mut dyn FnMut(&str)) -> io::Result<bool> {
        let mut piece = Vec::new();
        let read = Read::by_ref(&mut self.file).take(PIECE).read_to_end(&mut piece)? as u64;
        self.read += read;
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            if !self.is_passed {
                self.rest.extend_from_slice(part);
            }
            self.is_passed |= self.rest.len() > LONGEST;
            if part.ends_with(b"\n") {
                // What is too long counts as a line that cannot be read.
                let text = String::from_utf8_lossy(&self.rest);
                line(if self.is_passed { "{" } else { &text });
                self.is_passed = false;
                self.rest.clear();
            } else if self.is_passed {
                self.rest.clear();
            }
        }
        Ok(read < PIECE)
    }
}

impl Followed {
    /// Follows a log from its start.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(path: &Path, ahead: f64) -> io::Result<Followed> {
        let (path, file) = (path.to_owned(), Some(Open::new(path)?));
        Ok(Followed { path, file, joined: Joined::default(), ahead })
    }

    /// Takes a version before `newest` does, which was received at this time by the clock of this machine.
    pub fn version(&mut self, newest: &Newest, version: &Version<'_>, at: f64) {
        if let Some(resource) = newest.resource(version.watch) {
            self.joined.version(newest, &resource, version, at + self.ahead);
        }
    }

    /// Reads what has come of the log, and hands on who made the requests of versions that were received some time ago; of all, if
    /// it `ends`.
    pub fn turn(&mut self, now: f64, ends: bool, each: &mut dyn FnMut(&Request<'_>)) {
        while !self.read() && ends {}
        self.joined.settle();
        if self.has_more() && !ends {
            return;
        }
        let before = if ends { f64::INFINITY } else { now + self.ahead - WAITS };
        for audit::Found { id, request } in self.joined.requests.take_before(before) {
            let Some((watch, (uid, version, is_deletion))) = self.joined.names.remove(&id) else { continue };
            each(&Request {
                watch,
                uid,
                version: Cow::Owned(version),
                is_deletion,
                user: Cow::Borrowed(&request.user),
                impersonated: Cow::Borrowed(&request.impersonated),
                agent: Cow::Borrowed(&request.agent),
                address: Cow::Borrowed(&request.address),
                verb: Cow::Borrowed(&request.verb),
                at: request.at,
                id: Cow::Borrowed(&request.id),
            });
        }
        let requests = &self.joined.requests;
        self.joined.names.retain(|id, _| requests.holds(*id));
    }

    fn has_more(&self) -> bool {
        let length = self.file.as_ref().and_then(|open| Some((open.file.metadata().ok()?.len(), open.read)));
        length.is_some_and(|(length, read)| read + PIECE < length)
    }

    /// Reads what has come. Returns whether that was all.
    fn read(&mut self) -> bool {
        let requests = &mut self.joined.requests;
        let mut line = |text: &str| requests.line(text);
        if let Some(open) = &mut self.file {
            match open.read(&mut line) {
                Ok(true) => {}
                Ok(false) => return false,
                Err(_) => self.file = None,
            }
        }
        // A log that is full is renamed, and another one begins under its name; or the same file begins anew.
        let known = fs::metadata(&self.path).ok().map(|known| ((known.dev(), known.ino()), known.len()));
        let is_same = match (&self.file, known) {
            (Some(open), Some((identity, length))) => open.identity == identity && open.read <= length,
            (_, None) => true,
            (None, Some(_)) => false,
        };
        if is_same {
            return true;
        }
        self.file = Open::new(&self.path).ok();
        self.file.is_none()
    }

    /// What became of the lines.
    pub fn counts(&self) -> Counts {
        self.joined.requests.counts()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_log_is_read_from_its_start_followed_and_found_again_when_it_was_renamed_or_begins_anew() {
        let path = std::env::temp_dir().join(format!("kubechurn-followed-{}.log", std::process::id()));
        let other = path.with_extension("1");
        let line = |id: u32| {
            format!(r#"{{"kind":"Event","apiVersion":"audit.k8s.io/v1","stage":"RequestReceived","auditID":"{id}"}}"#)
        };
        fs::write(&path, format!("{}\n{}\n", line(1), &line(2)[..20])).expect("a file");
        let mut followed = Followed::open(&path, 0.0).expect("it is there");
        let lines = |followed: &mut Followed| {
            followed.turn(0.0, false, &mut |_| {});
            followed.counts().lines
        };
        assert_eq!(lines(&mut followed), 2);
        let mut file = File::options().append(true).open(&path).expect("it is there");
        file.write_all(line(3).as_bytes()).expect("it is written");
        assert_eq!(lines(&mut followed), 2, "the line has no end yet");
        file.write_all(b"\n").expect("it is written");
        assert_eq!(lines(&mut followed), 3);
        fs::rename(&path, &other).expect("it is renamed");
        file.write_all(format!("{}\n", line(4)).as_bytes()).expect("it is written");
        assert_eq!(lines(&mut followed), 4, "what is written last is in the renamed file");
        fs::write(&path, format!("{}\n", line(5))).expect("a file");
        assert_eq!(lines(&mut followed), 4);
        assert_eq!(lines(&mut followed), 5);
        fs::write(&path, "x\n").expect("it begins anew");
        lines(&mut followed);
        assert_eq!((lines(&mut followed), followed.counts().unreadable), (6, 2));
        fs::remove_file(&path).expect("it goes");
        fs::remove_file(&other).expect("it goes");
        assert_eq!(lines(&mut followed), 6);
    }
}
