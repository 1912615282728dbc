//! Where a recording goes: into one file, into the files of a folder, or, as lines of changes, to the terminal.

use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::SystemTime;

use kubechurn_recording::native::{FileWriter, StateWriter};
use kubechurn_recording::{Beginning, Header, Line, Newest, Step};

use super::folder::Folder;
use crate::args::Limits;

/// How long after a failure it is tried again to write into a folder, in milliseconds.
const AGAIN: f64 = 5_000.0;
/// How often is looked whether files are to be removed, in milliseconds.
const OFTEN: f64 = 10_000.0;
/// A file of a folder has at most one part of so many of all that the folder may have.
const PARTS: u64 = 4;

/// How many lines of the beginning of another file are written at once, between which what comes is received: some ten
/// milliseconds of work.
const SLICE: usize = 400;
/// By how many bytes a single file grows at least before it gets a block with how everything is, from which it can be read without
/// what is before; and by how many times as many bytes as the last such block, or the beginning, had.
const STATE: u64 = 8 << 20;
const STATE_PARTS: u64 = 12;

/// A file that is being written.
struct Writing {
    path: PathBuf,
    writer: FileWriter<File>,
    /// The same file, of which the length is asked.
    length: File,
    /// When it began, in milliseconds since 1970.
    began: f64,
    /// How many bytes its beginning took.
    beginning: u64,
}

impl Writing {
    fn new(path: PathBuf, file: File, header: &Header, began: f64) -> io::Result<Writing> {
        let length = file.try_clone()?;
        Ok(Writing { path, writer: FileWriter::new(header.clone(), file), length, began, beginning: 0 })
    }

    fn bytes(&self) -> u64 {
        self.length.metadata().map_or(0, |known| known.len())
    }
}

/// Another file of a folder that is being begun, while the one before it goes on. What comes meanwhile is written into that one, and
/// in the end belongs to this one.
struct Next {
    file: Writing,
    lines: Beginning,
    /// Where in the file before it stands what came since this one began.
    since: u64,
}

/// A block with how everything is that is being made, while the file goes on.
struct State {
    block: StateWriter,
    lines: Beginning,
    /// When everything was so, in milliseconds since 1970.
    at: f64,
}

/// What is particular to a folder.
struct Rolling {
    folder: Folder,
    limits: Limits,
    /// When is looked for files to be removed, in milliseconds since 1970.
    look_at: f64,
    /// When it is tried again to write.
    again_at: f64,
    /// Whether no other file can be begun while this one goes on, and this was said.
    is_stuck: bool,
    /// Until when everything was written that came, where it is not any more.
    written: Option<f64>,
}

/// A recording that is being written.
pub struct Output {
    header: Header,
    /// `None` once it has ended, or as long as nothing can be written.
    file: Option<Writing>,
    next: Option<Next>,
    state: Option<State>,
    /// At how many bytes of a single file the next such block is due.
    state_at: u64,
    rolling: Option<Rolling>,
    /// Whether something came since the last flush.
    is_new: bool,
    /// Why nothing more is written into this file.
    failure: Option<io::Error>,
    /// When everything was written that came, in milliseconds since 1970.
    written: f64,
    /// The bytes of the files before this one.
    before: u64,
}

impl Output {
    /// One file, which begins now, in milliseconds since 1970.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn file(path: &Path, header: Header, now: f64) -> io::Result<Output> {
        let file = Some(Writing::new(path.to_owned(), File::create(path)?, &header, now)?);
        Ok(Output { rolling: None, ..Output::new(header, file, now) })
    }

    /// The files of a folder, of which the first begins now, in milliseconds since 1970.
    ///
    /// # Errors
    /// When it cannot be written into.
    pub fn folder(path: &Path, limits: Limits, header: Header, now: f64) -> io::Result<Output> {
        let folder = Folder::open(path)?;
        let (path, file) = folder.create(now)?;
        let file = Some(Writing::new(path, file, &header, now)?);
        let rolling = Some(Rolling { folder, limits, look_at: now, again_at: now, is_stuck: false, written: None });
        Ok(Output { rolling, ..Output::new(header, file, now) })
    }

    fn new(header: Header, file: Option<Writing>, written: f64) -> Output {
        Output {
            header,
            file,
            next: None,
            state: None,
            state_at: STATE,
            rolling: None,
            is_new: false,
            failure: None,
            written,
            before: 0,
        }
    }

    /// The file that is being written.
    pub fn path(&self) -> Option<&Path> {
        self.file.as_ref().map(|file| &*file.path)
    }

    /// The bytes that were written.
    pub fn bytes(&self) -> u64 {
        self.before + self.file.as_ref().map_or(0, Writing::bytes)
    }

    pub fn push(&mut self, at: f64, line: &Line<'_>) {
        if let (Some(file), None) = (&mut self.file, &self.failure) {
            self.failure = file.writer.push(at, line).err();
            self.is_new = true;
        }
    }

    /// Hands all that came to the system, and begins another file of a folder where one is due. `newest` is what is known now, and
    /// `said` gets what is to be said to the user.
    ///
    /// # Errors
    /// When something cannot be written. Into a single file nothing more is written then.
    pub fn flush(&mut self, now: f64, newest: Option<&Newest>, said: &mut Vec<String>) -> io::Result<()> {
        let flushed = self.flush_file();
        if flushed.is_ok() && self.file.is_some() {
            self.written = now;
        }
        if self.rolling.is_none() {
            return flushed.and_then(|()| newest.map_or(Ok(()), |newest| self.begin_state(now, newest)));
        }
        match flushed {
            Ok(()) => self.roll(now, newest, said),
            Err(error) => self.fail(&error, now, said),
        }
        Ok(())
    }

    fn flush_file(&mut self) -> io::Result<()> {
        self.failure.take().map_or(Ok(()), Err)?;
        match &mut self.file {
            // A flush costs some bytes of the file.
            Some(file) if std::mem::take(&mut self.is_new) => file.writer.flush(),
            _ => Ok(()),
        }
    }

    fn roll(&mut self, now: f64, newest: Option<&Newest>, said: &mut Vec<String>) {
        let Some(rolling) = &mut self.rolling else { return };
        let Limits { every, size, keep, max } = rolling.limits;
        let size = max.map_or(size, |max| size.min(max / PARTS));
        // A file that has hardly more than its beginning would be followed by another one at once.
        let is_due = self.file.as_ref().map(|file| {
            let bytes = file.bytes();
            now - file.began >= every.as_secs_f64() * 1e3 || (bytes >= size && bytes >= 2 * file.beginning)
        });
        match is_due {
            Some(true) if self.next.is_none() && now >= rolling.again_at => {
                let begun = newest.map_or(Ok(()), |newest| self.begin_next(now, newest));
                if let Err(error) = begun {
                    self.stuck(&error, now, said);
                }
            }
            None if now >= rolling.again_at => match self.begin(now, newest) {
                Ok(()) => said.push("There is room again: the recording goes on in another file.".to_owned()),
                Err(error) => self.fail(&error, now, said),
            },
            _ => {}
        }
        let Some(rolling) = &mut self.rolling else { return };
        if now >= rolling.look_at {
            rolling.look_at = now + OFTEN;
            let before = keep.and_then(|keep| SystemTime::now().checked_sub(keep));
            match rolling.folder.prune(self.file.as_ref().map(|file| &*file.path), before, max) {
                Ok(0) => {}
                Ok(1) => said.push("The oldest file was removed.".to_owned()),
                Ok(several) => said.push(format!("The oldest {several} files were removed.")),
                Err(error) => said.push(format!("Old files cannot be removed: {error}.")),
            }
        }
    }

    /// Begins a block with how everything is, where one is due, which takes several calls of [`Output::advance`].
    fn begin_state(&mut self, now: f64, newest: &Newest) -> io::Result<()> {
        let Some(file) = self.file.as_mut().filter(|_| self.state.is_none()) else { return Ok(()) };
        if file.bytes() >= self.state_at {
            file.writer.end_block()?;
            let block = StateWriter::new(file.writer.end_of_blocks());
            self.state = Some(State { block, lines: newest.beginning(), at: now });
        }
        Ok(())
    }

    /// Writes more of a block with how everything was. Returns whether there is more to do.
    fn advance_state(&mut self) -> bool {
        let (Some(State { block, lines, at }), Some(file)) = (&mut self.state, &mut self.file) else { return false };
        let written = lines.next(SLICE, |line| block.push(*at, line));
        if matches!(written, Ok(false)) {
            return true;
        }
        let Some(State { block, .. }) = self.state.take() else { return false };
        let before = file.bytes();
        // What fails now fails again with the next flush, and is said then.
        let pushed = written.and_then(|_| file.writer.push_state(block));
        let after = file.bytes();
        self.state_at = after + STATE.max((after - before) * STATE_PARTS);
        self.failure = self.failure.take().or(pushed.err());
        false
    }

    /// Begins another file with what is newest, which takes several calls of [`Output::advance`].
    fn begin_next(&mut self, now: f64, newest: &Newest) -> io::Result<()> {
        let (Some(rolling), Some(file)) = (&self.rolling, &mut self.file) else { return Ok(()) };
        file.writer.end_block()?;
        let since = file.bytes();
        let (path, part) = rolling.folder.begin(now)?;
        let file = Writing::new(path, part, &self.header, now)?;
        self.next = Some(Next { file, lines: newest.beginning(), since });
        Ok(())
    }

    /// Writes more of the beginning of another file, where one is being begun. Returns whether there is more to do.
    pub fn advance(&mut self, now: f64, said: &mut Vec<String>) -> bool {
        let Some(Next { file, lines, .. }) = &mut self.next else { return self.advance_state() };
        let written = lines.next(SLICE, |line| file.writer.push(file.began, line));
        match written.and_then(|is_all| if is_all { self.change_over() } else { Ok(()) }) {
            Ok(()) => self.next.is_some(),
            Err(error) => {
                self.stuck(&error, now, said);
                false
            }
        }
    }

    /// Goes on in the file that has been begun.
    fn change_over(&mut self) -> io::Result<()> {
        let (Some(rolling), Some(file), Some(next)) = (&mut self.rolling, &mut self.file, &mut self.next) else {
            return Ok(());
        };
        next.file.writer.end_block()?;
        next.file.beginning = next.file.bytes();
        // Each block can be read without those before it.
        file.writer.end_block()?;
        let mut blocks = File::open(&file.path)?;
        blocks.seek(SeekFrom::Start(next.since))?;
        io::copy(&mut blocks, &mut next.file.length)?;
        next.file.writer.add_blocks(file.writer.take_blocks(next.since));
        rolling.folder.complete(&next.file.path)?;
        // Killed here, both have what came meanwhile; before, the first one alone.
        let cut = file.length.set_len(next.since);
        rolling.is_stuck = false;
        rolling.look_at = f64::NEG_INFINITY;
        self.before += next.since;
        let next = self.next.take().map(|next| next.file);
        if let Some(Writing { writer, length, .. }) = std::mem::replace(&mut self.file, next) {
            // Without its index it can be read as well.
            let _ = if cut.is_ok() { writer.finish().map(drop) } else { Ok(()) };
            // That takes as long as the disk likes. Where it fails, only a machine without power loses something.
            thread::spawn(move || length.sync_all());
        }
        cut
    }

    /// No other file can be begun, for now. The one before it goes on.
    fn stuck(&mut self, error: &io::Error, now: f64, said: &mut Vec<String>) {
        self.drop_next();
        let Some(rolling) = &mut self.rolling else { return };
        rolling.again_at = now + AGAIN;
        if !std::mem::replace(&mut rolling.is_stuck, true) {
            said.push(format!(
                "No other file can be begun: {error}. The recording goes on in this one, and it is tried again and again."
            ));
        }
    }

    fn drop_next(&mut self) {
        if let (Some(next), Some(rolling)) = (self.next.take(), &self.rolling) {
            // What cannot be removed now is removed when the folder is opened again.
            let _ = rolling.folder.give_up(&next.file.path);
        }
    }

    /// Begins another file of the folder with what is newest, where there is none that goes on.
    fn begin(&mut self, now: f64, newest: Option<&Newest>) -> io::Result<()> {
        let (Some(rolling), Some(newest)) = (&self.rolling, newest) else { return Ok(()) };
        let (path, file) = rolling.folder.create(now)?;
        let begun = Writing::new(path.clone(), file, &self.header, now).and_then(|mut file| {
            newest.beginning().next(usize::MAX, |line| file.writer.push(now, line))?;
            if let Some(since) = rolling.written {
                let gap = || Step::Gap(since, "nothing could be written".to_owned());
                newest.listed().try_for_each(|watch| file.writer.push(now, &Line::Step(watch, gap())))?;
            }
            file.writer.flush()?;
            file.beginning = file.bytes();
            Ok(file)
        });
        match begun {
            Ok(file) => self.file = Some(file),
            Err(error) => {
                // It has nothing that the file before it lacks, and is tried again.
                std::fs::remove_file(&path)?;
                return Err(error);
            }
        }
        if let Some(rolling) = &mut self.rolling {
            rolling.written = None;
        }
        (self.written, self.is_new) = (now, false);
        Ok(())
    }

    /// Nothing can be written into the folder, for now.
    fn fail(&mut self, error: &io::Error, now: f64, said: &mut Vec<String>) {
        self.before = self.bytes();
        self.file = None;
        self.drop_next();
        let Some(rolling) = &mut self.rolling else { return };
        rolling.again_at = now + AGAIN;
        if rolling.written.is_none() {
            rolling.written = Some(self.written);
            said.push(format!(
                "The recording cannot be written further: {error}. What was written can be read; it is tried again and again, and \
                 what is missing will be a gap."
            ));
        }
    }

    fn end_file(&mut self) -> io::Result<()> {
        self.failure.take().map_or(Ok(()), Err)?;
        let Some(Writing { writer, length, .. }) = self.file.take() else { return Ok(()) };
        let ended = writer.finish().and_then(|file| file.sync_all());
        self.before += length.metadata().map_or(0, |known| known.len());
        ended
    }

    /// Ends the recording.
    ///
    /// # Errors
    /// When the rest cannot be written.
    pub fn end(&mut self) -> io::Result<()> {
        let is_lost = self.rolling.as_ref().is_some_and(|rolling| rolling.written.is_some());
        self.drop_next();
        let ended = self.end_file();
        if is_lost { Err(io::Error::other("there was no room for the rest")) } else { ended }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::time::Duration;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use kubechurn_client::api::object::ObjectKey;
    use kubechurn_client::api::request::Scope;
    use kubechurn_client::api::uid::Uid;
    use kubechurn_client::cache::delta::DeltaType;
    use kubechurn_columns::kinds::config::CONFIG_MAPS;
    use kubechurn_recording::places::{Place, Places};
    use kubechurn_recording::{Part, Text, Version, Watch, index, native};

    use super::*;
    use crate::looked;
    use crate::record::folder;

    /// What a file has: names, each with the number of its version, and steps.
    fn read(path: &Path) -> Vec<String> {
        let mut lines = Vec::new();
        let file = fs::read(path).expect("a file");
        native::read(&file, |at, line| match line {
            Line::Version(version) => lines.push(format!("{at} {} {:?}", version.key.name, version.delta_type)),
            Line::Step(_, step) => lines.push(format!("{at} {step:?}")),
            Line::Watch(watch) => lines.push(format!("{at} watch, repeated: {}", watch.is_repeated)),
            _ => {}
        })
        .expect("it is a recording");
        lines
    }

    /// How many blocks the index of a file has, which is right.
    fn indexed(path: &Path) -> usize {
        let bytes = fs::read(path).expect("a file");
        let begins = native::index_begins(&bytes).expect("it has an index");
        let member = &bytes[begins as usize..bytes.len() - native::LAST];
        let entries = index::read(&native::unpacked(member).expect("it is whole"), begins).expect("it is right");
        let looked =
            Places::new(File::open(path).expect("a file")).expect("a file").looked(None, None).expect("a file");
        assert_eq!(looked.why, None);
        assert_eq!(looked.blocks.len(), entries.iter().filter(|entry| entry.state.is_none()).count());
        entries.len()
    }

    #[test]
    fn a_single_file_that_grows_gets_a_state_from_which_it_is_looked_at() {
        let path = std::env::temp_dir().join(format!("kubechurn-state-{}.churn", std::process::id()));
        let header = Header { title: "long".into(), program: "kubechurn".into(), ..Header::default() };
        let mut output = Output::file(&path, header, 0.0).expect("a file");
        let (mut newest, mut said) = (Newest::default(), Vec::new());
        let push = |output: &mut Output, newest: &mut Newest, at: f64, line: Line<'_>| {
            newest.take(&line);
            output.push(at, &line);
        };
        let (resource, scope) = (CONFIG_MAPS.resource, Scope::default());
        push(&mut output, &mut newest, 1.0, Line::Watch(Watch { number: 0, resource, scope, is_repeated: false }));
        let version = |output: &mut Output, newest: &mut Newest, at: f64, name: &str| {
            let (key, uid, text) = (ObjectKey::new("shop", name), Uid::new(name), format!(r#"{{"at":{at}}}"#));
            let text = Text::Whole(&text);
            let version = Version { watch: 0, delta_type: DeltaType::Updated, key: &key, uid: &uid, text };
            push(output, newest, at, Line::Version(version));
        };
        for number in 0..2 * SLICE {
            version(&mut output, &mut newest, 2.0, &format!("a-{number}"));
        }
        push(&mut output, &mut newest, 3.0, Line::Step(0, Step::Listed));
        output.flush(4.0, Some(&newest), &mut said).expect("it is written");
        assert!(!output.advance(4.0, &mut said), "it is too small");
        output.state_at = 1;
        output.flush(5.0, Some(&newest), &mut said).expect("it is written");
        let mut slices = 0;
        while output.advance(5.0, &mut said) {
            slices += 1;
            // What comes meanwhile is in the file, and not in the state.
            version(&mut output, &mut newest, 6.0, &format!("meanwhile-{slices}"));
        }
        assert!(slices >= 2, "{slices}");
        let before = output.bytes();
        version(&mut output, &mut newest, 9.0, "last");
        output.end().expect("it is written");
        assert!(output.state_at > before, "the next one is not due soon");
        assert_eq!(indexed(&path), 4);
        let mut looked = looked::files(vec![path.clone()], Some(7.0), None).expect("a file").remove(0);
        assert!(matches!(looked.looked.before[..], [Place { part: Part::State(_), .. }]), "{:?}", looked.looked);
        let made = looked.beginning().expect("a file").expect("there is something before");
        let mut begins = Vec::new();
        native::read(&made, |at, line| begins.push(format!("{at} {line:?}"))).expect("it is a recording");
        assert!(begins[0].contains("long") && begins.last().is_some_and(|line| line.contains("Listed")), "{begins:?}");
        assert_eq!(begins.iter().filter(|line| line.contains("Replaced")).count(), 2 * SLICE);
        let mut rest = Vec::new();
        looked.lines(&mut |at, line| rest.push(format!("{at} {line:?}"))).expect("a file").expect("it is a recording");
        assert_eq!(rest.iter().filter(|line| line.contains("meanwhile")).count(), slices);
        assert!(rest.last().is_some_and(|line| line.starts_with("9 ") && line.contains("last")));
        fs::remove_file(&path).expect("it goes");
    }

    #[test]
    fn what_comes_while_another_file_is_begun_is_in_that_one_alone_and_at_no_moment_in_none() {
        const COUNT: usize = 2 * SLICE + 7;
        let path = std::env::temp_dir().join(format!("kubechurn-output-{}", std::process::id()));
        let header = Header { program: crate::record::api::PROGRAM.replace('/', " "), ..Header::default() };
        let limits = Limits { every: Duration::from_secs(1), size: u64::MAX, keep: None, max: None };
        let (mut newest, mut said) = (Newest::default(), Vec::new());
        let open = |now| Output::folder(&path, limits, header.clone(), now).expect("a folder");
        let mut output = open(0.0);
        let mut push = |output: &mut Output, at: f64, line: Line<'_>| {
            newest.take(&line);
            output.push(at, &line);
            // Only as long as the test needs it.
            output.flush(at, Some(&newest), &mut said).expect("it is written");
        };
        let (resource, scope) = (CONFIG_MAPS.resource, Scope::default());
        push(&mut output, 1.0, Line::Watch(Watch { number: 0, resource, scope, is_repeated: false }));
        let version = |output: &mut Output, at: f64, name: &str, push: &mut dyn FnMut(&mut Output, f64, Line<'_>)| {
            let (key, uid, text) = (ObjectKey::new("shop", name), Uid::new(name), format!(r#"{{"at":{at}}}"#));
            let text = Text::Whole(&text);
            let version = Version { watch: 0, delta_type: DeltaType::Updated, key: &key, uid: &uid, text };
            push(output, at, Line::Version(version));
        };
        for number in 0..COUNT {
            version(&mut output, 2.0, &format!("a-{number}"), &mut push);
        }
        push(&mut output, 3.0, Line::Step(0, Step::Listed));
        let first = folder::files(&path).expect("a folder").remove(0);
        let before = read(&first);
        // It is time for another file.
        version(&mut output, 1_500.0, "last", &mut push);
        let mut saids = Vec::new();
        assert!(output.advance(1_600.0, &mut saids));
        version(&mut output, 1_601.0, "meanwhile", &mut push);
        assert_eq!(
            folder::files(&path).expect("a folder"),
            std::slice::from_ref(&first),
            "the other one is not complete"
        );
        let so_far = read(&first);
        assert_eq!(so_far.last().map(String::as_str), Some("1601 meanwhile Updated"), "a kill costs nothing");
        while output.advance(1_602.0, &mut saids) {}
        version(&mut output, 1_603.0, "after", &mut push);
        output.end().expect("it is written");
        let files = folder::files(&path).expect("a folder");
        assert_eq!((files.len(), &files[0]), (2, &first));
        assert_eq!(read(&first), [&before[..], &["1500 last Updated".to_owned()]].concat());
        let second = read(&files[1]);
        assert_eq!(second[0], "1500 watch, repeated: true");
        assert_eq!(second.iter().filter(|line| line.contains("Replaced")).count(), COUNT + 1);
        let rest = second.iter().skip_while(|line| !line.contains("Listed")).filter(|line| !line.contains("watch"));
        assert_eq!(rest.collect::<Vec<_>>(), ["1500 Listed", "1601 meanwhile Updated", "1603 after Updated"]);
        assert_eq!(saids, Vec::<String>::new());
        for file in &files {
            assert!(indexed(file) >= 1, "{}", file.display());
        }
        // What somebody was killed over goes, and what is somebody else's stays.
        let part = |name: &str| path.join(format!("2020-01-0{name}T00-00-00.000Z.churn.part"));
        fs::copy(&first, part("1")).expect("a file");
        fs::write(part("2"), "").expect("a file");
        fs::write(part("3"), "somebody's").expect("a file");
        let bytes = fs::read(&first).expect("a file");
        for (name, length) in [("4", 1), ("5", 7), ("6", 40)] {
            fs::write(part(name), &bytes[..length]).expect("a file");
        }
        let mut others = GzEncoder::new(Vec::new(), Compression::fast());
        others.write_all(b"somebody's").expect("memory");
        fs::write(part("7"), others.finish().expect("memory")).expect("a file");
        drop(output);
        drop(open(5_000.0));
        let stays = ["1", "2", "3", "4", "5", "6", "7"].map(|name| part(name).exists());
        assert_eq!(stays, [false, false, true, false, false, false, true]);
        fs::remove_dir_all(&path).expect("it goes");
    }
}
