//! The sizes of the built page's files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::tools;

/// Prints a row for each kind of file.
pub fn report() {
    let files = walk(&tools::dist());
    println!("\n## Files\n\n| files | raw, KB | gzip -9, KB | brotli 11, KB |\n|---|---:|---:|---:|");
    for extension in ["wasm", "js", "css", "html"] {
        let of_kind: Vec<&PathBuf> =
            files.iter().filter(|file| file.extension().is_some_and(|found| found == extension)).collect();
        let raw: u64 = of_kind.iter().filter_map(|file| Some(fs::metadata(file).ok()?.len())).sum();
        let gzip = compressed("gzip", &["-9", "-c"], &of_kind);
        let brotli = compressed("brotli", &["-q", "11", "-c"], &of_kind);
        println!("| {extension} | {} | {gzip} | {brotli} |", kilobytes(raw));
    }
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the built page can be listed");
    let paths = entries.map(|entry| entry.expect("the built page can be listed").path());
    paths.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

/// The sum of what a compressor writes for each file; a dash if it is not on this machine.
fn compressed(program: &str, arguments: &[&str], files: &[&PathBuf]) -> String {
    let size = |file: &&PathBuf| Some(Command::new(program).args(arguments).arg(file).output().ok()?.stdout.len());
    let sizes: Option<Vec<usize>> = files.iter().map(size).collect();
    sizes.map_or_else(|| "–".to_owned(), |sizes| kilobytes(sizes.iter().sum::<usize>() as u64))
}

fn kilobytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1e3)
}
