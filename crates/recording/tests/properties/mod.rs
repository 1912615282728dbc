//! What holds of the lines of a block, whatever they are.

use kubechurn_recording::{Block, Header, Line, Writer};

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
