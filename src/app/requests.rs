//! Asks for what the page wants to know, and hands it the answers.

use std::ops::ControlFlow;

use futures::future::abortable;
use gloo_timers::future::TimeoutFuture;
use js_sys::{Array, Uint8Array};

use kubechurn_client::api::request::Scope;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::status::Failure;
use kubechurn_columns::kinds::namespaces;
use kubechurn_model::navigation::namespaces::Namespaces;
use kubechurn_model::page::LogInput;
use kubechurn_model::page::effect::{Answer, FoundApi, Request, RequestId, Slices, UNREADABLE};

use crate::app::App;
use crate::browser::base::{self, Base, Places};
use crate::browser::clock;
use crate::browser::lister_watcher::{self, ListerWatcher};
use crate::browser::{clipboard, discovery, download, heartbeat, recording, task};

/// Rows of a file that are written between two looks at the clock.
const SLICE: usize = 200;
/// How long is written without a break, in milliseconds: less than half of a frame.
const SHARE: f64 = 6.0;

impl App {
    /// Asks for something.
    pub(super) fn ask(&self, id: RequestId, request: Request) {
        let Some(app) = self.this.upgrade() else { return };
        let (work, handle) = abortable(async move {
            let answer = app.answer(request).await;
            app.requests.borrow_mut().remove(&id);
            if let Some(answer) = answer {
                app.with_live(|page, env| page.answer(id, answer, env));
            }
            app.answered.take();
        });
        self.requests.borrow_mut().insert(id, handle);
        task::spawn(async move {
            // What was given up has nothing more to say.
            let _ = work.await;
        });
    }

    /// Reads a log, and hands on what comes of it.
    pub(super) fn follow(&self, id: RequestId, cluster: &'static str, url: String) {
        let (Some(app), base) = (self.this.upgrade(), self.bases.borrow().get(cluster).cloned()) else { return };
        let (work, handle) = abortable(async move {
            let came = |input: &LogInput<'_>| app.with_live(|page, env| page.logged(id, input, env));
            let ended = match base.filter(|base| base.readable) {
                Some(base) => {
                    lister_watcher::log(cluster, &format!("{}{url}", base.http), |bytes| came(&log_input(bytes))).await
                }
                None => Err(Failure::unreachable(UNREADABLE)),
            };
            app.requests.borrow_mut().remove(&id);
            came(&ended.map_or_else(LogInput::Failed, |()| LogInput::Ended));
        });
        self.requests.borrow_mut().insert(id, handle);
        task::spawn(async move {
            let _ = work.await;
        });
    }

    /// The answer to a request; none where there is no one to ask.
    pub(super) async fn answer(&self, request: Request) -> Option<Answer> {
        let cluster = request.cluster();
        let base = || self.bases.borrow().get(cluster).cloned();
        let at = |resource: ApiResource, scope: Scope| Some(ListerWatcher { base: base()?, resource, scope });
        let request = match request.at(base().filter(|base| !base.readable).map(|_| UNREADABLE)) {
            ControlFlow::Break(answer) => return Some(answer),
            ControlFlow::Continue(request) => request,
        };
        Some(match request {
            Request::Find { places, second, patience, socket } => {
                let of = Places { places: &places, second, patience, watch: socket.as_deref() };
                Answer::Find(base::find(of).await.map(|base| self.found(base)))
            }
            Request::Discovery(mut cached) => {
                discovery::refresh(&mut cached, &base()?).await;
                Answer::Discovery(cached)
            }
            Request::Definition(resource) => Answer::Definition(discovery::definition(&base()?, &resource).await),
            Request::Heartbeat(resource, scope, ask) => {
                Answer::Heartbeat(heartbeat::answer(&at(resource, scope)?, &ask).await)
            }
            Request::Count(resource, scope) => Answer::Count(at(resource, scope)?.count().await),
            Request::ListExactly(resource, scope, request) => {
                let server = at(resource, scope)?;
                Answer::ListExactly(server.metadata(&request.url(&server.resource, &server.scope)).await)
            }
            Request::Get(resource, scope, name) => Answer::Get(at(resource, scope)?.get(&name).await),
            Request::Namespaces(mut known) => {
                let server = at(namespaces::KIND.resource, Scope::default())?;
                known.listed(server.metadata(&Namespaces::request().url(&server.resource, &server.scope)).await);
                Answer::Namespaces(known)
            }
            Request::Copy(text) => Answer::Copy(clipboard::write(&text).await),
            Request::Save { name, media_type, slices } => Answer::Save(save(&name, media_type, *slices).await),
            Request::Pack { lines, file, name } => Answer::Pack(self.pack(&lines, file, name.as_deref()).await),
            Request::Disk(request) => Answer::Disk(self.disk(request).await),
        })
    }

    /// Compresses a block of a recording, and hands the file to the browser when that was its last one. How many bytes it has.
    async fn pack(&self, lines: &[u8], file: u64, name: Option<&str>) -> Option<usize> {
        let block = recording::packed(lines).await;
        let mut all = self.parts.borrow_mut();
        // A file that cannot be written further is given up.
        let parts = all.remove(&file).unwrap_or_default();
        parts.push(&Uint8Array::from(&*block?));
        let bytes = parts.iter().map(|part| Uint8Array::from(part).length() as usize).sum();
        match name {
            Some(name) => download::save(&parts, name, "application/gzip")?,
            None => drop(all.insert(file, parts)),
        }
        Some(bytes)
    }

    fn found(&self, base: Base) -> FoundApi {
        let found = FoundApi { http: base.http.clone(), release: base.release, readable: base.readable };
        self.bases.borrow_mut().insert("", base);
        found
    }
}

fn log_input(bytes: Option<&[u8]>) -> LogInput<'_> {
    bytes.map_or(LogInput::Opened, LogInput::Bytes)
}

/// Writes a file in slices between which the page goes on, and hands it to the browser. How many rows are in it; `None`
/// where the browser keeps no file.
async fn save(name: &str, media_type: &str, mut slices: Slices) -> Option<usize> {
    let (parts, total) = (Array::new(), slices.total());
    let mut began = clock::now();
    // Each slice leaves the program's memory at once: that never shrinks again.
    while let Some(text) = slices.next(SLICE) {
        parts.push(&Uint8Array::from(text.as_bytes()));
        if clock::now() - began >= SHARE {
            TimeoutFuture::new(0).await;
            began = clock::now();
        }
    }
    download::save(&parts, name, media_type).map(|()| total)
}
