//! The sizes of the built page's files.

use std::fs;

use kubechurn_harness::tools;

/// The most bytes that the program may have: about 2 % more than when this was set. Whoever raises it says in
/// docs/measurements.md what the bytes are for.
const MOST: u64 = 4_290_000;

#[test]
fn the_program_does_not_grow_unseen() {
    let files = fs::read_dir(tools::dist()).expect("the built page can be listed");
    let programs = files.map(|file| file.expect("the built page can be listed").path());
    let programs: Vec<_> = programs.filter(|file| file.extension().is_some_and(|it| it == "wasm")).collect();
    let [program] = &programs[..] else { panic!("one program: {programs:?}") };
    let size = fs::metadata(program).expect("the program is a file").len();
    assert!(size <= MOST, "the program has {size} bytes, and may have {MOST}");
    // A build that is not one of the page's profile would say nothing of the page.
    assert!(size > MOST / 2, "the program has only {size} bytes");
}
