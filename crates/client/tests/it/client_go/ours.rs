//! The queues that informers here have, on the same scripts: they have synced when client-go's have, and what they end with is
//! the same store. On the way, tombstones and resyncs come in another order, and their handlers are called as
//! `docs/client-go.md` says.

use kubechurn_client::cache::delta_fifo::DeltaFifo;
use kubechurn_client::cache::pipeline::Pipeline;
use kubechurn_client::cache::queue::Queue;
use kubechurn_client::cache::real_fifo::RealFifo;

use super::compare;
use super::deltas::{Step, written};

/// Plays one run. What is not compared is taken as it is in the recording.
fn play<Q: Queue>(steps: &[Step]) -> Vec<Step> {
    let mut pipeline: Pipeline<Q> = Pipeline::default();
    let mut here = steps.to_vec();
    for step in &mut here {
        match (&*step.did.op, step.did.event()) {
            (_, Some((delta_type, object))) => _ = pipeline.event(delta_type, object),
            ("replace", _) => drop(pipeline.replace(step.did.list())),
            ("resync", _) => _ = pipeline.resync(),
            _ => _ = pipeline.pop(|_| ()),
        }
        step.synced = pipeline.queue().has_synced();
        assert!(pipeline.is_balanced());
    }
    // Where the recording was taken to its end, the store after its last pop is that of an empty queue.
    if steps.last().is_some_and(|last| last.empty) {
        while pipeline.pop(|_| ()) {}
        let last = here.iter_mut().rfind(|step| step.did.op == "pop" && !step.empty);
        last.into_iter().for_each(|step| step.store = written(pipeline.store()));
    }
    here
}

#[test]
fn the_folding_delta_fifo_ends_with_client_go_s_store() {
    compare("DeltaFIFO", play::<DeltaFifo>);
}

#[test]
fn the_real_fifo_of_informers_ends_with_client_go_s_store() {
    compare("RealFIFO", play::<RealFifo>);
}
