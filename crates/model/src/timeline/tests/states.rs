//! States with their words: what the bands, the hover text and the summary say.

use proptest::prelude::*;

use super::*;
use crate::timeline::store::marks::Detail;
use crate::timeline::store::state::NewState;

/// Marks an object `a` in a state.
fn push(fixture: &mut Fixture, now: f64, mark_type: MarkType, (tone, word): (Tone, &str)) {
    let version = ResourceVersion::new(&format!("{now:.0}"));
    let (key, uid) = (&ObjectKey::new("shop", "a"), &"u".into());
    let new = NewMark { key, uid, mark_type, resource_version: &version, folded: 1, tone };
    fixture.marks.push_with(now, new, Detail { word, ..Detail::default() });
}

/// The bands of a scene: from when to when, how alarming, and the word.
fn bands(scene: &Scene) -> Vec<(f64, f64, Tone, String)> {
    let time = |x: f64| scene.scale.time(x).round();
    scene.bands.iter().map(|band| (time(band.x), time(band.x + band.width), band.tone, band.word.to_string())).collect()
}

#[test]
fn a_band_says_its_state_and_ends_where_word_or_tone_changes() {
    let mut fixture = Fixture::new(BUDGET);
    let running = (Tone::Good, "Running");
    push(&mut fixture, 0.0, MarkType::Added, (Tone::Wait, "Pending"));
    for (at, state) in [
        (70_000.0, (Tone::Wait, "ContainerCreating")),
        (75_000.0, running),
        (78_000.0, running),
        (80_000.0, (Tone::Bad, "CrashLoopBackOff")),
        (86_000.0, (Tone::Plain, "0/0")),
        (92_000.0, (Tone::Plain, "")),
    ] {
        push(&mut fixture, at, MarkType::Updated, state);
    }
    let scene = fixture.scene(100_000.0).clone();
    let expected = [
        (40_000.0, 70_000.0, Tone::Wait, "Pending"),
        (70_000.0, 75_000.0, Tone::Wait, "ContainerCreating"),
        (75_000.0, 80_000.0, Tone::Good, "Running"),
        (80_000.0, 86_000.0, Tone::Bad, "CrashLoopBackOff"),
        (86_000.0, 92_000.0, Tone::Plain, "0/0"),
    ];
    assert_eq!(bands(&scene), expected.map(|(from, to, tone, word)| (from, to, tone, word.to_owned())));
    let labels: Vec<&str> = scene.labels.iter().map(|label| &*label.text).collect();
    // Beside a mark there is room for a part of a long word. Between the marks of the short band there is none.
    assert_eq!(labels, ["Pending", "Conta…", "CrashLo…", "0/0"], "{:?}", scene.labels);
    // Between the marks the hover text shows the state of that time, and at the label the present one.
    let y = scene.layout.row_y(0);
    let words = |at: f64| fixture.hit(scene.scale.x(at), y).unwrap().to_string();
    assert_eq!(words(60_000.0), "shop/a (uid u), Pending");
    assert_eq!(words(83_000.0), "shop/a (uid u), CrashLoopBackOff");
    assert_eq!(words(95_000.0), "shop/a (uid u)");
    assert_eq!(words(80_000.0), "● Updated shop/a (uid u), CrashLoopBackOff, resourceVersion 80000, 20 s ago");
    push(&mut fixture, 101_000.0, MarkType::Updated, running);
    let scene = fixture.scene(101_500.0);
    assert_eq!(summary(scene), "Last 60 s: 7 updated. shop/a Running");
    assert_eq!(fixture.hit(10.0, y).unwrap().to_string(), "shop/a (uid u), Running");
}

#[test]
fn what_is_gone_says_no_state_and_what_is_evicted_leaves_its_word() {
    let mut fixture = Fixture::new(1_400);
    push(&mut fixture, 0.0, MarkType::Added, (Tone::Bad, "Error"));
    for at in 1..20 {
        push(&mut fixture, f64::from(at) * 1_000.0, MarkType::Updated, (Tone::Bad, "Error"));
    }
    assert!(fixture.marks.evicted().total() > 0);
    push(&mut fixture, 30_000.0, MarkType::Deleted, (Tone::Bad, "Error"));
    let scene = fixture.scene(60_000.0).clone();
    assert_eq!(bands(&scene), [(0.0, 30_000.0, Tone::Bad, "Error".to_owned())]);
    assert_eq!(summary(&scene), "Last 60 s: 1 added, 19 updated, 1 deleted. shop/a deleted");
    let words = |at: f64| fixture.hit(scene.scale.x(at), scene.layout.row_y(0)).unwrap().to_string();
    assert_eq!(words(50_000.0), "shop/a (uid u), deleted");
    assert_eq!(words(25_000.0), "shop/a (uid u), Error, deleted");
}

/// States that change faster than pixels are one band in the most alarming tone, however many they are, and what lasts
/// on both sides has its word.
#[test]
fn states_that_change_too_fast_are_one_band() {
    let mut fixture = Fixture::new(BUDGET);
    push(&mut fixture, 0.0, MarkType::Added, (Tone::Good, "3/3"));
    for at in 0..400_000_u32 {
        let state = [(Tone::Good, "3/3"), (Tone::Wait, "2/3")][(at % 2) as usize];
        push(&mut fixture, 20_000.0 + f64::from(at) * 0.05, MarkType::Updated, state);
    }
    let scene = fixture.scene(60_000.0).clone();
    let [before, fast, after] = &bands(&scene)[..] else { panic!("{:?}", scene.bands) };
    assert_eq!((before.2, &*before.3, after.2, &*after.3), (Tone::Good, "3/3", Tone::Wait, "2/3"));
    assert_eq!((fast.2, &*fast.3, scene.bands[1].changing), (Tone::Wait, "", true));
    assert!((before.1 - 20_000.0).abs() < 300.0 && (after.0 - 40_000.0).abs() < 300.0, "{before:?} {after:?}");
    let taken = fixture.chart.scratch.spots.len();
    assert!(taken < 2_000, "{taken} blocks and marks were looked at");
    // Each state is there when it is looked at closely.
    fixture.view.window = Window { from: 30_000.0, to: 30_001.0 };
    fixture.chart.draw(&[&fixture.marks], &fixture.view, 60_000.0);
    assert_eq!(fixture.chart.scene.bands.iter().filter(|band| !band.changing).count(), 20);
}

/// Words are kept for as long as a mark or a lane has them: the same as if they were counted from the marks and lanes.
#[test]
fn words_go_with_the_marks_and_lanes_that_have_them() {
    let mut marks = Marks::new(3_000);
    for at in 0..4_000_u32 {
        let (key, uid) = (&ObjectKey::new("shop", &format!("pod-{}", at % 7 * at % 11)), &"u".into());
        let (resource_version, tone) = (&ResourceVersion::new(&at.to_string()), Tone::Good);
        let mark_type = if at % 13 == 0 { MarkType::Deleted } else { MarkType::Updated };
        let new = NewMark { key, uid, mark_type, resource_version, folded: 1, tone };
        let word = &*format!("{}/9", at / 5 % 40);
        if at % 17 == 0 {
            marks.attend(&ObjectKey::new("shop", &format!("quiet-{}", at % 3)), uid, NewState { tone, word });
        }
        marks.push_with(f64::from(at), new, Detail { word, ..Detail::default() });
        let held = marks.iter().filter(|mark| mark.mark_type != MarkType::Deleted);
        let mut held: Vec<String> = held.map(|mark| mark.word.to_owned()).collect();
        let worn = marks.lanes.newest_first().filter_map(|(_, lane)| lane.worn);
        held.extend(worn.map(|state| marks.words.text(state).to_owned()));
        held.sort_unstable();
        held.dedup();
        assert!(held.iter().all(|word| word.ends_with("/9")), "{held:?}");
        assert_eq!(held.len(), marks.words.len(), "after {at}");
    }
    let newest = marks.iter().last().map(|mark| mark.word.to_owned());
    assert_eq!(newest.as_deref(), Some("39/9"));
    marks.limit(0);
    assert_eq!(marks.words.len(), marks.lanes.len(), "only the lane that is looked at is left");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// Against the plain way: the states are listed mark by mark.
    #[test]
    fn every_state_that_lasts_has_its_word(
        budget in 800usize..60_000,
        steps in proptest::collection::vec((0.0f64..900.0, 0usize..12), 1..400),
        (pace, words) in prop_oneof![Just((1.0, 4)), Just((0.05, 2)), Just((0.2, 3)), Just((0.01, 4))],
        // After how many marks the state changes.
        steady in prop_oneof![Just(1usize), Just(5), Just(40)],
    ) {
        let states = [(Tone::Good, "Running"), (Tone::Plain, "0/0"), (Tone::Good, "Ready"), (Tone::Bad, "Error")];
        let (mut fixture, mut at) = (Fixture::new(budget), 1_000.0);
        for (index, (step, number)) in steps.iter().enumerate() {
            at += step * pace + if *step > 870.0 { 3_000.0 } else { 0.0 };
            let mark_type = if *number == 11 { MarkType::Deleted } else { MarkType::Updated };
            push(&mut fixture, at, mark_type, states[(number / 11 + index / steady) % words]);
        }
        let scene = fixture.scene(at + 5_000.0).clone();
        let own = fixture.marks.iter().map(|mark| {
            let is_live = mark.mark_type != MarkType::Deleted;
            (scene.scale.x(mark.at), is_live.then(|| (mark.tone, mark.word.to_owned())))
        });
        let mut all: Vec<_> = own.chain([(scene.scale.x(scene.now), None)]).collect();
        all.dedup_by(|next, before| next.1.is_some() && next.1 == before.1);
        for pair in all.windows(2) {
            let [(left, state), (right, _)] = [&pair[0], &pair[1]];
            let left = left.max(scene.scale.left);
            let middle = (left + right) / 2.0;
            let band = scene.bands.iter().find(|band| band.x <= middle && middle <= band.x + band.width);
            let shown = band.map(|band| (band.tone, band.word.to_string()));
            prop_assert!(right - left < 5.0 || shown == *state, "{:?} for {:?} from {} to {}", band, state, left, right);
        }
        for pair in scene.bands.windows(2) {
            prop_assert!(pair[0].x + pair[0].width <= pair[1].x + 1.0, "{:?}", pair);
        }
        for label in &scene.labels {
            let end = label.x + label.text.chars().count() as f64 * 6.6;
            let band = scene.bands.iter().find(|band| band.x <= label.x && end <= band.x + band.width);
            prop_assert!(band.is_some_and(|band| band.word.starts_with(label.text.trim_end_matches('…'))), "{:?}", label);
            let is_under = |from: f64, to: f64| label.x < to && from < end;
            prop_assert!(!scene.pills.iter().any(|pill| is_under(pill.x, pill.x + pill.width)));
            prop_assert!(!scene.glyphs.iter().any(|glyph| is_under(glyph.x - 4.0, glyph.x + 4.0)));
        }
    }
}

/// The shape of a mark says what was done, and its colour what it means.
#[test]
fn a_mark_has_the_tone_of_the_state_that_it_leads_to_unless_nothing_changes() {
    let mut fixture = Fixture::new(BUDGET);
    for (at, mark_type, tone) in [
        (1_000.0, MarkType::Replaced, Tone::Good),
        (5_000.0, MarkType::Updated, Tone::Good),
        (10_000.0, MarkType::Updated, Tone::Wait),
        (15_000.0, MarkType::Updated, Tone::Good),
        (20_000.0, MarkType::Updated, Tone::Bad),
        (25_000.0, MarkType::Updated, Tone::Bad),
        (30_000.0, MarkType::Updated, Tone::Good),
        (35_000.0, MarkType::Deleted, Tone::Good),
    ] {
        fixture.push(at, mark_type, "a", "u", tone);
    }
    let own = |scene: &Scene| scene.glyphs.iter().map(|glyph| glyph.tone).collect::<Vec<_>>();
    use Tone::{Bad, Good, Plain, Wait};
    assert_eq!(own(fixture.scene(60_000.0)), [Plain, Plain, Wait, Good, Bad, Bad, Good, Plain]);
    // Of marks that are drawn as one, a failure decides, or else the last one.
    for at in 0..8 {
        let tone = if at == 3 { Bad } else { Good };
        fixture.push(40_000.0 + f64::from(at), MarkType::Updated, "b", "u", tone);
        fixture.push(50_000.0 + f64::from(at), MarkType::Updated, "c", "u", if at < 7 { Wait } else { Good });
    }
    let tones: Vec<Tone> = fixture.scene(60_000.0).pills.iter().map(|pill| pill.tone).collect();
    assert_eq!(tones.len(), 2);
    assert!(tones.contains(&Bad) && tones.contains(&Good), "{tones:?}");
}
