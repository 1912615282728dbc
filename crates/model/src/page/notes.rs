//! Notes of the user's own: the field in which one is written, and what comes of it.

use crate::page::context::Context;
use crate::recording::{NoteCommand, NoteModel};

/// Carries out a command. The field is open while the view shows it.
pub(super) fn handle(command: NoteCommand, cx: &mut Context<'_>) {
    let open = (*cx.view.dialogs.note).clone();
    let closes = !matches!(command, NoteCommand::Begin | NoteCommand::Change(_));
    match (command, open) {
        (NoteCommand::Begin, _) => show(None, cx.shown_at().min(cx.newest()), "", cx),
        (NoteCommand::Change(id), _) => change(id, cx),
        (NoteCommand::Keep(text), Some(NoteModel { id: Some(id), .. })) => {
            cx.watching.history.notes.change(id, &text);
        }
        (NoteCommand::Keep(text), Some(NoteModel { at, time, .. })) => {
            let is_kept = cx.watching.history.notes.add(at, &text);
            match (is_kept, text.trim().is_empty()) {
                (true, _) => cx.show_message(&format!("Noted at {time}.")),
                (false, false) => cx.show_message("Nothing more can be noted: there are very many notes."),
                (false, true) => {}
            }
        }
        (NoteCommand::Remove, Some(NoteModel { id: Some(id), .. })) => cx.watching.history.notes.change(id, ""),
        (NoteCommand::Keep(_) | NoteCommand::Remove | NoteCommand::Leave, _) => {}
    }
    if closes {
        cx.view.dialogs.note.put(None);
    }
    *cx.repaints = true;
}

/// Opens the field with what was noted.
pub(super) fn change(id: u64, cx: &mut Context<'_>) {
    if let Some(note) = cx.watching.history.notes.get(id).cloned() {
        show(Some(id), note.at, &note.text, cx);
    }
}

fn show(id: Option<u64>, at: f64, text: &str, cx: &mut Context<'_>) {
    let (time, text) = (cx.words().time_of_day(at), text.to_owned());
    cx.view.dialogs.note.put(Some(NoteModel { id, at, time, text }));
}
