//! The results of many seeds, as the table of `docs/reliability.md`.

use std::collections::BTreeMap;

use crate::faults::matrix::{FAULTS, SOCKET};
use crate::faults::seed::Outcome;
use crate::judge::Verdict;
use crate::judge::honesty::API;

/// Prints what became of each fault, and then the sums.
pub fn print(outcomes: &[Outcome]) {
    print_faults(outcomes);
    print_sums(outcomes);
}

/// Prints of each fault how often it struck, and the worst.
pub fn print_faults(outcomes: &[Outcome]) {
    println!("\n| fault | times | whole again: median, worst | longest false `live` |");
    println!("|---|---:|---:|---:|");
    for fault in FAULTS {
        let mut heals: Vec<f64> = outcomes
            .iter()
            .flat_map(|outcome| &outcome.faults)
            .filter(|(struck, _)| *struck == Some(fault))
            .map(|(_, heal)| *heal)
            .collect();
        heals.sort_by(f64::total_cmp);
        let live = outcomes.iter().flat_map(|outcome| &outcome.live).filter(|(name, _)| *name == fault.name());
        let live = live.map(|(_, live)| *live).reduce(f64::max);
        let live = live.map_or_else(|| "–".to_owned(), seconds);
        let heal = match (heals.get(heals.len() / 2), heals.last()) {
            (Some(median), Some(worst)) => format!("{}, {}", seconds(*median), seconds(*worst)),
            _ => "–".to_owned(),
        };
        println!("| {} | {} | {heal} | {live} |", fault.name(), heals.len());
    }
}

fn print_sums(outcomes: &[Outcome]) {
    let mut sum = Verdict::default();
    let (mut writes, mut faults, mut good, mut heals) = (0, 0, 0, Vec::new());
    for outcome in outcomes {
        sum.add(outcome.verdict.clone());
        writes += outcome.writes;
        faults += outcome.faults.len();
        good += usize::from(outcome.complaints().next().is_none());
        heals.extend(outcome.faults.iter().map(|(_, heal)| *heal));
    }
    let streams = outcomes.iter().filter(|outcome| outcome.streams).count();
    heals.sort_by(f64::total_cmp);
    let late = heals.get(heals.len() * 95 / 100).copied().unwrap_or_default();
    println!(
        "\n{} seeds ({streams} of them with streamed lists), {faults} faults, {writes} writes, {} lives: {} shown, {} folded, {} in marked gaps or before the \
         first list, **{} unaccounted**; {} versions in the recordings; residual **{}**; {}/{} digests equal; 95 of 100 faults healed within {}; \
         **{good} of {} seeds without a complaint**. False `live` may last {} where the API is gone, {} over one dead \
         socket of three.",
        outcomes.len(),
        sum.lives,
        sum.shown,
        sum.coalesced,
        sum.unobservable,
        sum.unaccounted,
        sum.recorded,
        sum.residual,
        sum.digests.0,
        sum.digests.1,
        seconds(late),
        outcomes.len(),
        seconds(API),
        seconds(SOCKET),
    );
    let mut kinds = BTreeMap::<&str, Vec<u64>>::new();
    for outcome in outcomes {
        for complaint in outcome.complaints() {
            kinds.entry(complaint.split(':').next().unwrap_or_default()).or_default().push(outcome.seed);
        }
    }
    for (kind, seeds) in kinds {
        println!("- {kind}: {} complaints, seeds {seeds:?}", seeds.len());
    }
}

fn seconds(milliseconds: f64) -> String {
    format!("{:.1} s", milliseconds / 1000.0)
}
