//! How much a page grows by what it receives for a long time.

use allocation_counter::measure;
use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::reflector::Input;
use kubechurn_model::feed::FeedCommand;
use kubechurn_model::history::Budget;
use kubechurn_model::page::command::Command;
use serde_json::json;

use super::Play;

/// So many changes come to so many Pods before recorder and feed keep as much as they may.
const BEFORE: usize = 7_000;
const PODS: usize = 40;
/// So many come after that.
const AFTER: usize = 4_000;
/// What one more change may take then, in bytes: its mark on the timeline.
const EACH: usize = 48;

/// A text that is like no other one, so that the recorder keeps it whole.
fn unlike(seed: usize) -> String {
    let mut number = seed as u64;
    let letter = || {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'a' + (number >> 33) as u8 % 26)
    };
    std::iter::repeat_with(letter).take(3_000).collect()
}

fn receive(play: &mut Play, ids: &[InformerId], changes: std::ops::Range<usize>) {
    for number in changes {
        let id = ids[number % PODS % ids.len()];
        let (pod, version) = (number % PODS, 1_000 + number);
        let kind = if number < PODS { "ADDED" } else { "MODIFIED" };
        let frame = json!({"type": kind, "object": {
            "metadata": {"name": format!("p{pod}"), "namespace": "shop", "uid": format!("p{pod}"),
                "resourceVersion": version.to_string(), "annotations": {"seen": unlike(number)}},
            "spec": {"containers": [{"name": "c", "image": format!("registry.example/shop/cart:{number}")}]},
            "status": {"phase": "Running", "podIP": format!("10.0.0.{}", number % 250)}}});
        play.reflects(id, Input::Frame(&frame.to_string()));
        if number % 64 == 0 {
            play.frame();
            play.effects.clear();
        }
    }
}

#[test]
fn a_page_that_is_full_grows_by_the_marks_of_what_it_receives() {
    for place in ["#/pods?view=changes", "#/pods,deployments,replicasets,jobs?view=changes"] {
        let mut play = Play::found(place);
        play.command(Command::Feed(FeedCommand::Scroll { top: 0.0, height: 600.0, width: 900.0 }));
        let ids: Vec<InformerId> = play.informers.iter().map(|(id, _)| *id).collect();
        ids.iter().for_each(|id| play.lists(*id, &[]));
        play.command(Command::Recorder(Budget::Small));
        receive(&mut play, &ids, 0..BEFORE);
        let grown = measure(|| receive(&mut play, &ids, BEFORE..BEFORE + AFTER)).bytes_current;
        assert!(grown < (AFTER * EACH) as i64, "{place}: {grown} bytes by {AFTER} changes");
    }
}
