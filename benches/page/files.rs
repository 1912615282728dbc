//! The sizes of the built page's files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use kubechurn_harness::tools;

/// Prints a row for each kind of file, and their sum.
pub fn report() {
    let files = walk(&tools::dist());
    println!("\n## Files\n\n| files | raw, KB | gzip -9, KB |\n|---|---:|---:|");
    let (mut all_raw, mut all_gzip) = (0, Some(0));
    for extension in ["wasm", "js", "css", "html"] {
        let of_kind: Vec<&PathBuf> =
            files.iter().filter(|file| file.extension().is_some_and(|found| found == extension)).collect();
        let raw: u64 = of_kind.iter().filter_map(|file| Some(fs::metadata(file).ok()?.len())).sum();
        let gzip: Option<u64> = of_kind.iter().map(|file| compressed(file)).sum();
        let count = if of_kind.len() > 1 { format!(", {} files", of_kind.len()) } else { String::new() };
        row(&format!("{extension}{count}"), raw, gzip);
        all_raw += raw;
        all_gzip = all_gzip.zip(gzip).map(|(all, gzip)| all + gzip);
    }
    row("all", all_raw, all_gzip);
}

/// Prints a row; an unknown size is a dash.
fn row(what: &str, raw: u64, gzip: Option<u64>) {
    println!("| {what} | {} | {} |", kilobytes(raw), gzip.map_or_else(|| "–".to_owned(), kilobytes));
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the built page can be listed");
    let paths = entries.map(|entry| entry.expect("the built page can be listed").path());
    paths.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

/// The size of a file after gzip in bytes, if the machine has gzip.
fn compressed(file: &Path) -> Option<u64> {
    Some(Command::new("gzip").args(["-9", "-c"]).arg(file).output().ok()?.stdout.len() as u64)
}

/// Thousands of bytes, with a separator for the thousands of those.
fn kilobytes(bytes: u64) -> String {
    let tenths = (bytes + 50) / 100;
    let (thousands, rest) = (tenths / 10_000, tenths % 10_000);
    if thousands > 0 {
        format!("{thousands},{:03}.{}", rest / 10, rest % 10)
    } else {
        format!("{}.{}", rest / 10, rest % 10)
    }
}
