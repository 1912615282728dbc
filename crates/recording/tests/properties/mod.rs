//! What holds of the lines of a block, whatever they are.

use std::io::{Cursor, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use kubechurn_recording::native::{self, FileWriter};
use kubechurn_recording::places::Places;
use kubechurn_recording::{Block, Header, Line, Writer, index, member};

/// Reads these bytes as the lines of a block. Nothing panics, and what was read is the same when it is written and read again.
pub fn block(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (mut block, mut said, mut writer) = (Block::default(), Vec::new(), None);
    while let Ok(Some((at, line))) = block.next(&text) {
        match &line {
            Line::Header(header) => writer = Some(Writer::new(Header::clone(header))),
            line => {
                said.push(format!("{line:?}"));
                writer.iter_mut().for_each(|writer: &mut Writer| writer.push(at, line));
            }
        }
    }
    let Some(mut writer) = writer.filter(|_| !said.is_empty()) else { return };
    let lines = String::from_utf8(writer.take()).expect("lines are text");
    let (mut again, mut block) = (Vec::new(), Block::default());
    while let Some((_, line)) = block.next(&lines).expect("what was written can be read") {
        again.push(format!("{line:?}"));
    }
    assert_eq!(again[1..], said);
}

/// When the second block of the file begins that an index is put to, in milliseconds since 1970.
const SECOND: f64 = 2_000.0;

/// A file of three blocks, of a second each, without an index.
fn blocks() -> Vec<u8> {
    let mut file = FileWriter::new(Header::default(), Cursor::default());
    for block in 1..4 {
        for note in ["one", "two"] {
            file.push(f64::from(block) * 1_000.0, &Line::Note(note)).expect("memory can be written");
        }
        file.end_block().expect("memory can be written");
    }
    file.finish_blocks().expect("memory can be written").into_inner()
}

/// Has these bytes be the lines of the index of a file. Nothing panics, and whatever the index says, the blocks that are looked at are
/// those that are looked at without it. Returns whether it is one.
pub fn index(bytes: &[u8]) -> bool {
    let mut file = blocks();
    let begins = file.len() as u64;
    // What comes after the last end of a line is not read.
    let lines = bytes.iter().rposition(|byte| *byte == b'\n').map_or(&[][..], |end| &bytes[..=end]);
    let read = index::read(&String::from_utf8_lossy(lines), begins);
    let is_index = read.is_ok();
    if let Ok(entries) = read {
        let mut end = 0;
        for entry in entries {
            assert_eq!(entry.at, end);
            end = entry.end();
        }
        assert_eq!(end, begins);
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory can be written");
    let member = member::framed(&encoder.finish().expect("memory can be written")).expect("it is a member");
    file.extend_from_slice(&member);
    let without = file.clone();
    file.extend_from_slice(&native::last_member(begins, SECOND));
    for (from, to) in
        [(None, None), (Some(SECOND + 1.0), Some(SECOND + 2.0)), (Some(0.0), Some(SECOND)), (Some(1e9), None)]
    {
        let looked = |file: &[u8]| {
            let mut places = Places::new(Cursor::new(file.to_vec())).expect("memory can be read");
            places.looked(from, to).expect("memory can be read")
        };
        let found = looked(&file);
        // What is no index is a block that cannot be read, or one of the recording.
        let expected =
            if is_index && found.why.is_none() { looked(&file[..begins as usize]) } else { looked(&without) };
        assert_eq!((found.before, found.blocks), (expected.before, expected.blocks), "{from:?} {to:?}");
    }
    // A file that is nothing else.
    let mut places = Places::new(Cursor::new(bytes)).expect("memory can be read");
    let looked = places.looked(Some(SECOND), Some(SECOND)).expect("memory can be read");
    assert!(looked.blocks.iter().all(|place| place.at < place.end && place.end <= bytes.len() as u64));
    is_index
}
