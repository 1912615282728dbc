//! What a rollout waits for, and until when.

use kubechurn_client::json;

use crate::life::pod::Life;
use crate::life::seen::Known;
use crate::rollout::own::{Counts, condition};
use crate::why::references::text;

/// What a Deployment says that has no deadline.
const NEVER: i64 = i32::MAX as i64;

/// Something that is waited for.
#[derive(Clone, Debug, PartialEq)]
pub struct Wait {
    /// What, in words.
    pub words: String,
    /// What comes then: `given up`, `the next try`; empty where no time is known.
    pub then: &'static str,
    /// When that is, in milliseconds.
    pub until: Option<f64>,
}

fn plain(words: impl Into<String>) -> Wait {
    Wait { words: words.into(), then: "", until: None }
}

fn number(object: &str, path: &[&str]) -> Option<i64> {
    json::value_at(object, path).and_then(json::integer)
}

/// What a workload that is not complete waits for.
pub fn waits(kind: &str, object: &str, counts: Counts, lives: &[(String, Life)], known: &Known<'_>) -> Vec<Wait> {
    let mut all = Vec::new();
    let is = |path: &[&str], value: &str| json::value_at(object, path) == Some(value);
    if is(&["spec", "paused"], "true") {
        all.push(plain("paused: it goes on when somebody sets spec.paused to false"));
    }
    if is(&["spec", "suspend"], "true") {
        all.push(plain("suspended: it goes on when somebody sets spec.suspend to false"));
    }
    if is(&["spec", "updateStrategy", "type"], "\"OnDelete\"") && counts.updated < counts.desired {
        all.push(plain("a Pod is updated when somebody deletes it (strategy OnDelete)"));
    }
    let partition = number(object, &["spec", "updateStrategy", "rollingUpdate", "partition"]).unwrap_or(0);
    if kind == "StatefulSet" && partition > 0 {
        all.push(plain(format!("Pods with a number below {partition} stay as they are (partition)")));
    }
    if let Some(failure) =
        condition(object, "ReplicaFailure").filter(|one| json::member(one, "status") == Some("\"True\""))
    {
        all.push(plain(text(failure, &["message"]).unwrap_or_default()));
    }
    for (name, life) in lives {
        let Some(trouble) = &life.trouble else { continue };
        // A time that has been is none to wait for: the kubelet tries when it comes to it.
        if let Some(again) = trouble.again.filter(|again| *again > known.at) {
            let words = format!("the kubelet starts {name} again");
            all.push(Wait { words, then: "the next try", until: Some(again) });
            break;
        }
        if matches!(&*trouble.word, "ErrImagePull" | "ImagePullBackOff") {
            all.push(plain("the kubelet pulls again after a pause that grows; when, is written nowhere"));
            break;
        }
    }
    let ready = lives.iter().filter(|(_, life)| life.is_ready && life.end.asked.is_none()).count();
    if let Some(least) = number(object, &["spec", "minReadySeconds"]).filter(|least| *least > 0 && ready > 0) {
        all.push(plain(format!("a Pod counts when it has been ready for {least} s (minReadySeconds)")));
    }
    if kind == "Deployment" {
        all.extend(deadline(object, known));
    }
    if kind == "Job" {
        let limit = number(object, &["spec", "backoffLimit"]).unwrap_or(6);
        let failed = number(object, &["status", "failed"]).unwrap_or(0);
        if failed > 0 {
            all.push(plain(format!("{failed} of its Pods failed; it is given up after {limit} (backoffLimit)")));
        }
        let active = number(object, &["spec", "activeDeadlineSeconds"]);
        let started = known.time(object, &["status", "startTime"]);
        if let (Some(active), Some(started)) = (active, started) {
            let until = Some(started + active as f64 * 1_000.0);
            all.push(Wait { words: String::from("activeDeadlineSeconds"), then: "given up", until });
        }
    }
    all
}

/// When a Deployment is said not to progress.
fn deadline(object: &str, known: &Known<'_>) -> Option<Wait> {
    let progressing = condition(object, "Progressing")?;
    let reason = text(progressing, &["reason"]).unwrap_or_default();
    if reason == "ProgressDeadlineExceeded" {
        return Some(plain("its deadline is over, and its controller goes on trying (ProgressDeadlineExceeded)"));
    }
    let seconds = number(object, &["spec", "progressDeadlineSeconds"]).filter(|seconds| *seconds < NEVER)?;
    // The controller counts from the last progress, whose time this is.
    let since = known.time(progressing, &["lastUpdateTime"])?;
    let until = Some(since + seconds as f64 * 1_000.0);
    Some(Wait { words: format!("progressDeadlineSeconds {seconds}"), then: "given up", until })
}
