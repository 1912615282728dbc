//! Everything that is linked into the built page is listed beside it, with its licence.

use std::collections::BTreeSet;
use std::fs;

use kubechurn_harness::tools;

/// The crates whose source files the program names, because a panic would name the line: `serde_json-1.0.1`.
fn linked(program: &[u8]) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(program);
    let crates = text.split("/registry/src/").skip(1).filter_map(|rest| {
        let mut folders = rest.splitn(3, '/').skip(1);
        Some(folders.next()?.to_owned())
    });
    crates.collect()
}

#[test]
fn what_is_linked_in_is_named_with_its_licence() {
    let file = tools::dist().join("licences.txt");
    let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}: ./dev build", file.display()));
    let files = fs::read_dir(tools::dist()).expect("the built page can be listed");
    let programs = files.map(|file| file.expect("the built page can be listed").path());
    let program = programs.into_iter().find(|file| file.extension().is_some_and(|it| it == "wasm")).expect("a program");
    let linked = linked(&fs::read(program).expect("the program can be read"));
    assert!(linked.len() > 20, "the program names its crates: {linked:?}");
    for name in &linked {
        let line = text.lines().find(|line| line.starts_with(&format!("{name}: ")));
        assert!(line.is_some_and(|line| line.contains(", https://")), "{name} is not named: {line:?}");
        let texts = text.lines().filter(|line| line.split(' ').any(|word| word == name)).count();
        assert!(texts > 0, "the text of {name}'s licence is not there");
    }
    for words in ["Apache License", "Permission is hereby granted, free of charge", "UNICODE LICENSE V3"] {
        assert!(text.contains(words), "{words}");
    }
}
