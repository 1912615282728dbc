//! Three seeds of the fault matrix. `./dev faults` plays any number of seeds.

use futures::future::join_all;

use kubechurn_harness::faults::seed::play;
use kubechurn_harness::turn;

#[tokio::test]
async fn three_seeds_of_faults_leave_nothing_unaccounted() {
    let seeds = (0..3).map(async |seed| {
        let _turn = turn::shared().await;
        let outcome = play(seed).await;
        println!("seed {seed}: {:.1?}; too late: {:?}", outcome.faults, outcome.slow);
        let complaints = &outcome.verdict.complaints;
        assert!(complaints.is_empty(), "seed {seed}: {complaints:#?}\nagain: ./dev faults --from {seed} --seeds 1");
        assert!(outcome.verdict.lives > 20, "seed {seed} saw {} lives only", outcome.verdict.lives);
    });
    join_all(seeds).await;
}
