//! The demo cluster: a Kubernetes API server for demos and tests, with controllers, kubelets, and users who change it.
//!
//! ```text
//! kubectl, the page ─┐                           ┌─► cacher (one per resource) ─► watcher ─► form ─► frames
//! scenario (users)  ─┼─► endpoints ─► store ─► storage (memory, etcd)     │      HTTP, WebSocket
//! controllers       ─┤   faults ↑       │        └─► ledger               │
//! scheduler, kubelets┘                  └────────────── lists ◄───────────┘
//! ```
//!
//! In reading order: `storage/` keeps keys under one revision; `resources/` is what is served; `store.rs` and `cacher/`
//! write and read it; `endpoints/`, `printers/` and `write/` are the API; `client/` is client-go to what runs inside;
//! `controllers/` brings the cluster to where it should be; `scenario/` is what happens in it; `faults/` breaks it, and
//! writes down what was really sent.
//!
//! It listens on 127.0.0.1 only and answers only requests whose Host, and Origin if any, is loopback. Behind
//! `kubectl -s http://127.0.0.1:PORT proxy` it looks like a cluster, and kubectl itself takes it for one:
//! `tests/kubectl/`. `--help` lists the options.
//!
//! # Control
//!
//! For tests; JSON answers, a `Status` on mistakes. `RESOURCE` is a plural name such as `pods`.
//!
//! | request | effect |
//! |---|---|
//! | `POST /_control/rate?value=R` | a storm writes R times a second from now on; at 0 users rest as well. Answered, with the newest revision, after the storm's last write at the old rate |
//! | `GET /_control/scenario`, `POST /_control/scenario?name=NAME&on=true\|false` | what users play now; starts and ends a scenario |
//! | `POST /_control/compact` | older revisions expire: watches from them and pages at them get 410. Running watches go on |
//! | `POST /_control/forbid?verb=list\|watch\|get&resource=RESOURCE` | 403 from now on; cuts the resource's watches |
//! | `POST /_control/allow?verb=…&resource=RESOURCE` | takes it back |
//! | `POST /_control/cut[?resource=RESOURCE]` | drops the watches' connections, sockets without a close frame |
//! | `POST /_control/stall?on=true\|false` | nothing is sent, no answer and no event, except by `/_control`. Watches that fall behind meanwhile end when it is over |
//! | `POST /_control/watchlist?on=true\|false` | the feature gate WatchList: without it `sendInitialEvents` is 422, as before Kubernetes 1.34 |
//! | `GET /_control/watches?resource=RESOURCE` | how many watches of it there are |
//! | `POST /_control/node?name=NAME&down=true\|false` | a node's kubelet falls silent, while its containers run on; and comes back |
//! | `POST /_control/put` | writes the object in the body, whatever its name; `kind` and `apiVersion` say where |
//! | `GET /_control/log[?resource=RESOURCE]` | the newest 200,000 writes since the start, population included: `[{revision,type,key,uid,resource,verb,hash}]` |
//! | `GET /_control/frames[?connection=N&resource=RESOURCE]` | the newest 100,000 frames that were sent: `[{time,connection,transport,resource,path,frame,type,key,uid,resourceVersion,bytes,hash,fault}]` |
//! | `GET /_control/connections[?connection=N&resource=RESOURCE]` | the newest 10,000 watches' connections: `[{connection,transport,resource,path,userAgent,opened,closed,reason,frames,bytes}]` |
//! | `POST /_control/fault?WORDS` | a fault, such as `status=429&verb=list&resource=pods&times=3`; the words below |
//! | `GET /_control/faults` | the faults: `{rules: [{id,fault,matched,struck,over}], orders: {cut: 3}}`, with how often each has struck |
//! | `DELETE /_control/faults[?id=N]`, `POST /_control/clear[?id=N]` | takes one fault back, or all |
//! | `POST /_control/restart?revision=N` | the server begins anew: connections drop, caches are empty, the objects stay and get the revisions after N |
//!
//! The words of a fault, on the command line with commas between: `--fault status=429,verb=list,times=3`. Exactly one
//! row says what happens; the cluster's own controllers are spared.
//!
//! | words | effect |
//! |---|---|
//! | `status=CODE [retry-after=SECONDS] [body=text]` | refused, with a `Status` or plain text; 429 and 503 say `Retry-After: 1` by themselves |
//! | `delay-ms=N`, `drip=BYTES [pause-ms=N]` | answered late; the body so many bytes at a time |
//! | `stall=true` | not answered, and running watches bring nothing, until it is taken back |
//! | `watch-list=off` | 422 for `sendInitialEvents` |
//! | `frame=delay [delay-ms=N]`, `duplicate`, `reorder`, `lose`, `truncate`, `not-json`, `wrong-type`, `unknown-type`, `huge`, `no-end-bookmark` | what happens to a watch's frame |
//! | `end=close\|drop` | a watch ends with 1000, or without a word |
//! | `skew=SECONDS` | the clock is wrong: timestamps, ages, `Date` |
//! | `resource=` `verb=` `namespace=` `user-agent=`, for frames `event=` | whom it strikes |
//! | `times=N` `after=N` `probability=P [seed=S]` | how often: at most N times, not the first N requests or frames of a connection, by dice |
//!
//! # Containers
//!
//! No container runs anything. What one does is told by its Pod, so that kubectl can make it fail:
//!
//! | told by | effect |
//! |---|---|
//! | an image tag with `typo`, `nosuch` or `missing` in it | `ErrImagePull`, `ImagePullBackOff` |
//! | a command of `sleep`, `true`, `false`, `echo`, `exit`, alone or as `sh -c 'sleep 5; exit 3'` | it ends so, and is restarted, or not, as its Pod says; any other command runs on, but a Job's Pod succeeds after some seconds |
//! | `demo.kubechurn.dev/run-for: 30s`, with `…/exit-code: "3"` | the first container ends after that |
//! | `demo.kubechurn.dev/oom-after: 20s` | it is killed for its memory: 137, `OOMKilled` |
//! | `demo.kubechurn.dev/fail-ready: always`, or `10s` | it is never ready; or not for so long, and then for so long, in turns |
//! | `demo.kubechurn.dev/fail-live: 20s` | its liveness probe fails then, and it is restarted |
//!
//! The last four are annotations of the Pod. `--pace` scales back-offs and what follows when a node fails.
//!
//! # Deliberately absent
//!
//! No compression, no schemas (fields are not validated, OpenAPI names operations only), no admission but defaults,
//! no field ownership: a server-side apply is a merge that creates what is missing. Protobuf is read where `kubectl
//! create` and `drain` write it, and never written. Lists of custom resources are merged as one. Only with `--etcd`
//! does anything outlive the process. A foreign Origin is refused, which the real server does not do.
//! `docs/differences.md` lists what else is different from what a real server was recorded to say; a test holds that
//! list.

#[cfg(not(target_arch = "wasm32"))]
mod native;

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    native::main()
}

#[cfg(target_arch = "wasm32")]
fn main() {}
