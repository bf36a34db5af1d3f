use std::{
    fs::{self, File, OpenOptions},
    io::{ErrorKind, Read as _, Write as _},
    os::unix::{
        fs::{MetadataExt as _, OpenOptionsExt as _},
        process::ExitStatusExt as _,
    },
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use neuron_harness::{PipeGate, eventually};
use neuron_patience::Dice;
use rustix::fs::OFlags;

/// The moment at which a process is killed.
#[derive(Debug, Clone, Copy)]
enum Event {
    /// A call has begun.
    Begun,
    /// A call was noted. Its result may be in the journal, and may not.
    Noted,
    /// A call was noted, and the one after it has begun.
    Followed,
}

const EVENTS: [Event; 3] = [Event::Begun, Event::Noted, Event::Followed];
/// How many calls the run makes: more than the killed processes allow, which is two each.
const CALLS: u32 = 30;
const KILLS: usize = 14;

struct Place(tempfile::TempDir);

impl Place {
    fn home(&self) -> PathBuf {
        self.0.path().join("home")
    }

    fn log(&self) -> PathBuf {
        self.0.path().join("numbers.log")
    }

    fn survivor(&self) -> Child {
        Command::new(env!("CARGO_BIN_EXE_survive"))
            .args([self.home(), self.log()])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Makes the log a full pipe, which blocks the next call in the middle.
    fn hold(&self) -> FullPipe {
        let path = self.0.path().join("next.log");
        let pipe = FullPipe::at(&path);
        fs::rename(path, self.log()).unwrap();
        pipe
    }

    /// Starts the process and kills it at the event. `held` blocks its first call, and is replaced by the pipe that
    /// blocks the next one afterwards. Returns what was noted.
    fn kill_at(&self, event: Event, held: &mut FullPipe) -> Vec<u32> {
        let mut process = self.survivor();
        let mut logs = Vec::new();
        // The call after it is blocked before it continues.
        let mut call = || {
            held.reached_by(&process);
            logs.push(std::mem::replace(held, self.hold()));
            logs.last_mut().unwrap().empty();
        };
        call();
        if matches!(event, Event::Followed) {
            call();
        }
        if matches!(event, Event::Noted) {
            eventually("a call is noted", || {
                logs[0].empty();
                (!numbers(&logs[0].noted).is_empty()).then_some(())
            });
        }
        process.kill().unwrap();
        let ended = process.wait().unwrap();
        assert_eq!(ended.signal(), Some(9), "it lived until {event:?}: {ended}");
        let read = logs.iter_mut().flat_map(|log| {
            log.empty();
            numbers(&log.noted)
        });
        read.collect()
    }
}

/// A pipe that accepts nothing more until it is read.
struct FullPipe {
    pipe: File,
    noted: String,
}

impl FullPipe {
    fn at(path: &std::path::Path) -> Self {
        drop(PipeGate::at(path));
        let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap();
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).custom_flags(flags);
        let mut pipe = options.open(path).unwrap();
        // The remainder is less than a page, and all of it is no number.
        for size in [4096, 1] {
            while pipe.write(&vec![b'\n'; size]).is_ok() {}
        }
        Self {
            pipe,
            noted: String::new(),
        }
    }

    /// Waits until the process has the pipe open for writing.
    fn reached_by(&self, process: &Child) {
        let own = self.pipe.metadata().unwrap();
        let folder = format!("/proc/{}/fd", process.id());
        eventually("a call", || {
            let descriptors = fs::read_dir(&folder).unwrap().flatten();
            let mut opened = descriptors.filter_map(|entry| fs::metadata(entry.path()).ok());
            let is_own = |found: fs::Metadata| (found.dev(), found.ino()) == (own.dev(), own.ino());
            opened.any(is_own).then_some(())
        });
    }

    /// Reads the content of the pipe.
    fn empty(&mut self) {
        let mut bytes = [0; 4096];
        loop {
            match self.pipe.read(&mut bytes) {
                Ok(read) => self
                    .noted
                    .push_str(std::str::from_utf8(&bytes[..read]).unwrap()),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) => panic!("{error}"),
            }
        }
    }
}

fn numbers(log: &str) -> Vec<u32> {
    let lines = log.lines().filter(|line| !line.is_empty());
    lines.map(|line| line.parse().unwrap()).collect()
}

#[test]
fn finishes_however_often_it_is_killed() {
    let place = Place(tempfile::tempdir().unwrap());
    let mut held = place.hold();
    let mut dice = Dice::of_test("finishes_however_often_it_is_killed");
    let mut noted = Vec::new();
    for _ in 0..KILLS {
        noted.extend(place.kill_at(EVENTS[dice.below(EVENTS.len())], &mut held));
    }
    // The rest is noted in a file.
    fs::remove_file(place.log()).unwrap();
    let output = place.survivor().wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "All are noted.\n");
    noted.extend(numbers(&fs::read_to_string(place.log()).unwrap()));

    // Every call was made, in order; a call that was in flight when its process was killed may have been made twice.
    assert!(noted.is_sorted(), "{noted:?}");
    assert!(noted.len() <= CALLS as usize + KILLS, "{noted:?}");
    noted.dedup();
    assert_eq!(noted, (1..=CALLS).collect::<Vec<_>>());
}
