//! The corpus of the fuzz targets in `fuzz/`, replayed through the same functions on every test run.

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

/// The functions themselves, which the fuzz targets include too.
mod properties;

/// A target, and its function.
const TARGETS: [(&str, fn(&[u8])); 3] =
    [("frame", properties::frame), ("list", properties::list), ("selector", properties::selector)];

/// Small enough to be read, and to be kept in the repository for ever.
const LONGEST_FILE: usize = 4096;
const MOST_FILES: usize = 300;
const MOST_BYTES: usize = 600_000;

#[test]
fn fuzz_corpus() {
    let (mut files, mut bytes) = (0, 0);
    for (target, property) in TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
        let before = files;
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let data = fs::read(&path).unwrap();
            assert!(data.len() <= LONGEST_FILE, "{} is too long to keep", path.display());
            assert!(catch_unwind(|| property(&data)).is_ok(), "{} breaks a promise", path.display());
            files += 1;
            bytes += data.len();
        }
        assert!(files > before, "{target} has a corpus");
    }
    assert!(files <= MOST_FILES && bytes <= MOST_BYTES, "{files} files of {bytes} bytes: minimise the corpus");
}
