//! Carries out what the page wants done with the recordings that the browser keeps.

use std::rc::Rc;

use js_sys::{Array, Uint8Array};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, File};

use kubechurn_model::kept::{
    ABOUT, DiskAnswer, DiskFailure, DiskRequest, FOLDER, Kept, Listed, Piece, block_name, first_line, part_name, pieces,
};

use crate::app::App;
use crate::browser::private_files::{self, Failure, Folder};
use crate::browser::{download, recording, task};

/// How much of a first line is read, in bytes.
const LINE: i32 = 65_536;

impl App {
    /// What came of a request.
    pub(super) async fn disk(&self, request: DiskRequest) -> Result<DiskAnswer, DiskFailure> {
        let done = match request {
            DiskRequest::Write { id, place, lines, is_last } => self.write(&id, place, &lines, is_last).await,
            DiskRequest::End(id) => {
                let release = self.held.borrow_mut().remove(&id);
                let _ = release.map(|release| release.call0(&release));
                Ok(0.0)
            }
            DiskRequest::List => return Ok(DiskAnswer::Listed(listed().await.map_err(failure)?)),
            DiskRequest::Delete(id) => delete(&id).await.map(|()| 0.0),
            DiskRequest::Download(id, name) => whole(&id).await.and_then(|blob| {
                let saved = download::save(&Array::of1(&blob), &name, "application/gzip");
                saved.map(|()| blob.size()).ok_or_else(|| (String::new(), String::from("it takes no files")))
            }),
        };
        done.map(DiskAnswer::Done).map_err(failure)
    }

    async fn write(&self, id: &str, place: (u32, u32), lines: &[u8], is_last: bool) -> Result<f64, Failure> {
        let is_first = place == (0, 0);
        let folder = Folder::root().await?.folder(FOLDER, is_first).await?.folder(id, is_first).await?;
        if is_first {
            folder.write(ABOUT, first_line(lines)).await?;
            let release = private_files::hold(&name_in_use(id));
            release.into_iter().for_each(|release| drop(self.held.borrow_mut().insert(id.to_owned(), release)));
        }
        let (block, part) = place;
        if !lines.is_empty() {
            folder.write(&part_name(place), lines).await?;
        }
        if !is_last {
            return Ok(lines.len() as f64);
        }
        let parts = (0..part + u32::from(!lines.is_empty())).map(|part| part_name((block, part)));
        let parts: Vec<String> = parts.collect();
        let joined = joined(&folder, &parts).await?;
        // Where the browser cannot compress, the parts stay, and can be read all the same.
        let Some(bytes) = recording::compressed(&joined).await else { return Ok(joined.size()) };
        folder.write(&block_name(block), &bytes).await?;
        for part in &parts {
            // As long as the first one is there, all are read.
            if folder.remove(part).await.is_err() {
                break;
            }
        }
        Ok(bytes.len() as f64)
    }

    /// Opens a recording that is kept.
    pub(super) fn open_kept(self: Rc<App>, id: String, name: String) {
        task::spawn(async move {
            let result = match whole(&id).await {
                Ok(blob) => self.read(&name, &blob, false).await,
                Err(error) => Err(failure(error).reason()),
            };
            self.report(&name, result);
        });
    }
}

fn failure((name, words): Failure) -> DiskFailure {
    DiskFailure { name, words }
}

/// The name by which all tabs see that a recording is being written.
fn name_in_use(id: &str) -> String {
    format!("{FOLDER}/{id}")
}

async fn all() -> Result<Folder, Failure> {
    Folder::root().await?.folder(FOLDER, false).await
}

fn is_missing((name, _): &Failure) -> bool {
    name == "NotFoundError"
}

async fn delete(id: &str) -> Result<(), Failure> {
    match all().await?.remove(id).await {
        Err(error) if is_missing(&error) => Ok(()),
        result => result,
    }
}

/// The recordings that there are.
async fn listed() -> Result<Listed, Failure> {
    let folder = match all().await {
        Err(error) if is_missing(&error) => return Ok(Listed::default()),
        folder => folder?,
    };
    let (mut kept, in_use) = (Vec::new(), private_files::in_use().await);
    for id in folder.names().await? {
        // One that is deleted meanwhile is none.
        let Ok(own) = folder.folder(&id, false).await else { continue };
        let (mut to, mut bytes) = (0.0, 0.0);
        for name in own.names().await.unwrap_or_default() {
            if let Ok(file) = own.file(&name).await {
                (to, bytes) = (file.last_modified().max(to), bytes + file.size());
            }
        }
        let is_in_use = in_use.contains(&name_in_use(&id));
        let about = match own.file(ABOUT).await {
            Ok(file) => text(&file).await.unwrap_or_default(),
            Err(_) => String::new(),
        };
        kept.push(Kept { about, to, bytes, is_in_use, id });
    }
    Ok(Listed { all: kept, room: private_files::room().await })
}

async fn text(file: &File) -> Option<String> {
    let line = file.slice_with_i32_and_i32(0, LINE).ok()?;
    JsFuture::from(line.text()).await.ok()?.as_string()
}

/// These files, one after the other.
async fn joined(folder: &Folder, names: &[String]) -> Result<Blob, Failure> {
    let files = Array::new();
    for name in names {
        files.push(&folder.file(name).await?.into());
    }
    blob(&files)
}

fn blob(parts: &Array) -> Result<Blob, Failure> {
    Blob::new_with_blob_sequence(parts).map_err(|_| (String::new(), String::from("its files cannot be joined")))
}

/// A recording as one file. While it is read, a tab that writes it may have removed the parts of a block that is complete.
async fn whole(id: &str) -> Result<Blob, Failure> {
    match assembled(id).await {
        Err(_) => assembled(id).await,
        blob => blob,
    }
}

/// The blocks of a recording. Those that are not compressed yet are compressed.
async fn assembled(id: &str) -> Result<Blob, Failure> {
    let folder = all().await?.folder(id, false).await?;
    let (names, parts) = (folder.names().await?, Array::new());
    for piece in pieces(names.iter().map(String::as_str)) {
        match piece {
            Piece::Block(name) => parts.push(&folder.file(&name).await?.into()),
            Piece::Parts(names) => {
                let bytes = recording::compressed(&joined(&folder, &names).await?).await;
                let bytes = bytes.ok_or_else(|| (String::new(), String::from("it cannot compress")))?;
                parts.push(&Uint8Array::from(&*bytes))
            }
        };
    }
    blob(&parts)
}
