//! Takes the files of a folder into an object store: each when it is complete, after which it is not needed here, and the one that
//! is being written as far as it goes.

use std::cell::RefCell;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::folder;
use super::tape::Tape;
use crate::store::{Store, StoreError};

/// The shortest and the longest time after which a store that failed is tried again.
const AGAIN: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));
/// How long it may take at the end of a recording.
const LAST: Duration = Duration::from_secs(120);

/// Why a file is not in the store.
#[derive(Debug, thiserror::Error)]
pub enum UploadError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0} cannot be read, or not be removed: {1}")]
    File(PathBuf, #[source] io::Error),
    #[error("{0} takes too long")]
    Slow(String),
}

/// What takes the files there.
#[derive(Debug)]
pub struct Uploader {
    store: Store,
    folder: PathBuf,
    every: Duration,
    /// Which file was being written when it was last uploaded, and how many bytes it had.
    newest: RefCell<Option<(PathBuf, usize)>>,
}

impl Uploader {
    /// Takes the files of this folder into this store so often.
    pub fn new(store: Store, folder: &Path, every: Duration) -> Uploader {
        Uploader { store, folder: folder.to_owned(), every, newest: RefCell::default() }
    }

    /// Goes on until it is dropped.
    pub async fn run(self: Rc<Self>, tape: Rc<RefCell<Tape>>) {
        let mut failed = None;
        loop {
            let wait = failed.unwrap_or(self.every);
            sleep(wait).await;
            let newest = tape.borrow().file();
            let (store, folder) = (self.store.address.clone(), self.folder.clone());
            match self.upload(newest.as_deref()).await {
                Ok(()) if failed.take().is_some() => tape.borrow_mut().say(format!("{store} has what was recorded.")),
                Ok(()) => {}
                Err(error) => {
                    if failed.is_none() {
                        tape.borrow_mut().say(format!(
                            "Nothing can be written into {error}. The files stay in {}, and it is tried again and again.",
                            folder.display()
                        ));
                    }
                    failed = Some(failed.map_or(AGAIN.0, |wait| (2 * wait).min(AGAIN.1)));
                }
            }
        }
    }

    /// Takes what is left there after the end of a recording.
    ///
    /// # Errors
    /// When something is still here. It is taken by the next recording that goes the same way.
    pub async fn finish(&self) -> Result<(), UploadError> {
        let done = timeout(LAST, self.upload(None)).await;
        done.unwrap_or_else(|_| Err(UploadError::Slow(self.store.address.clone())))
    }

    /// Takes the files there; `newest` is being written.
    async fn upload(&self, newest: Option<&Path>) -> Result<(), UploadError> {
        let of = |path: &Path| {
            let path = path.to_owned();
            move |error| UploadError::File(path, error)
        };
        for file in folder::files(&self.folder).map_err(of(&self.folder))? {
            let path = file.clone();
            let read = tokio::task::spawn_blocking(move || fs::read(path)).await;
            let bytes = read.unwrap_or_else(|error| Err(io::Error::other(error))).map_err(of(&file))?;
            let state = (file.clone(), bytes.len());
            let is_newest = newest == Some(&file);
            if is_newest && (bytes.is_empty() || self.newest.borrow().as_ref() == Some(&state)) {
                continue;
            }
            let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            // One that was begun when the program was killed.
            if !bytes.is_empty() {
                self.store.put(&name, bytes).await?;
            }
            match is_newest {
                true => drop(self.newest.replace(Some(state))),
                false => fs::remove_file(&file).map_err(of(&file))?,
            }
        }
        Ok(())
    }
}
