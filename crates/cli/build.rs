//! Puts the page's files into the program: those of the folder that `KUBECHURN_PAGE` names, each compressed with gzip, which
//! every browser takes over plain HTTP (Firefox takes Brotli over TLS alone). Without that variable there are none, so that a
//! native build needs no page.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use flate2::{Compression, GzBuilder};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=KUBECHURN_PAGE");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("Cargo sets OUT_DIR"))?);
    let files = match env::var_os("KUBECHURN_PAGE").filter(|folder| !folder.is_empty()) {
        Some(folder) => pack(Path::new(&folder), &out)?,
        None => String::new(),
    };
    fs::write(out.join("files.rs"), format!("&[{files}]\n"))
}

/// Compresses the folder's files into `out`. Returns the entries of the table that `src/page.rs` includes, in the order of
/// their names, so that the same page gives the same program.
fn pack(folder: &Path, out: &Path) -> io::Result<String> {
    println!("cargo::rerun-if-changed={}", folder.display());
    if !folder.join("index.html").is_file() {
        return Err(io::Error::other(format!("KUBECHURN_PAGE: there is no index.html in {}", folder.display())));
    }
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().into_string().unwrap_or_default();
        // What begins with a dot is Trunk's.
        if entry.file_type()?.is_file() && !name.is_empty() && !name.starts_with('.') {
            names.push(name);
        }
    }
    names.sort();
    let mut entries = String::new();
    for (number, name) in names.iter().enumerate() {
        let text = fs::read(folder.join(name))?;
        // Without a time and a name in the head.
        let mut encoder = GzBuilder::new().write(Vec::new(), Compression::best());
        encoder.write_all(&text)?;
        fs::write(out.join(format!("{number}.gz")), encoder.finish()?)?;
        let bytes = format!("include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{number}.gz\"))");
        entries.push_str(&format!("File {{ name: {name:?}, length: {}, gzip: {bytes} }},", text.len()));
    }
    Ok(entries)
}
