use std::{
    fs::{self, File},
    io::{BufRead as _, BufReader, Read as _},
    os::unix::process::ExitStatusExt as _,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
};

use neuron_harness::PipeGate;
use neuron_patience::{Dice, patience};

/// When a process is killed.
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
/// How many calls the run makes: more than processes that are killed let through.
const CALLS: u32 = 30;
const KILLS: usize = 15;

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

    /// Makes the log a named pipe, at which the next call is held until somebody reads it.
    fn hold(&self) {
        let pipe = self.0.path().join("next.log");
        drop(PipeGate::at(&pipe));
        fs::rename(pipe, self.log()).unwrap();
    }

    /// Waits until a call is made, lets it go on, and holds the one after it. What it notes is to be read.
    fn call(&self) -> BufReader<File> {
        let (log, (has_begun, begins)) = (self.log(), mpsc::channel());
        let next = self.0.path().join("next.log");
        drop(PipeGate::at(&next));
        thread::spawn(move || {
            // It is open when the other side opens it, too. What comes next is held from here on.
            let noted = File::open(&log);
            fs::rename(next, log).unwrap();
            has_begun.send(noted).ok();
        });
        let noted = begins.recv_timeout(patience());
        BufReader::new(noted.expect("a call is made in time").unwrap())
    }

    /// Starts the process and kills it at the event. Returns what it noted.
    fn kill_at(&self, event: Event) -> Vec<u32> {
        let mut process = self.survivor();
        let mut noted = String::new();
        let mut logs = vec![self.call()];
        match event {
            Event::Begun => {}
            Event::Noted => drop(logs[0].read_line(&mut noted).unwrap()),
            Event::Followed => logs.push(self.call()),
        }
        process.kill().unwrap();
        let ended = process.wait().unwrap();
        assert_eq!(ended.signal(), Some(9), "it lived until {event:?}: {ended}");
        for mut log in logs {
            log.read_to_string(&mut noted).unwrap();
            // It may have been killed in the middle of a line.
            noted.push('\n');
        }
        numbers(&noted)
    }
}

fn numbers(log: &str) -> Vec<u32> {
    let lines = log.lines().filter(|line| !line.is_empty());
    lines.map(|line| line.parse().unwrap()).collect()
}

#[test]
fn finishes_however_often_it_is_killed() {
    let place = Place(tempfile::tempdir().unwrap());
    place.hold();
    let mut dice = Dice::of_test("finishes_however_often_it_is_killed");
    let mut noted = Vec::new();
    for _ in 0..KILLS {
        noted.extend(place.kill_at(EVENTS[dice.below(EVENTS.len())]));
    }
    // The rest is noted in a file.
    fs::remove_file(place.log()).unwrap();
    let output = place.survivor().wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "All are noted.\n");
    noted.extend(numbers(&fs::read_to_string(place.log()).unwrap()));

    // Every call was made, in order; one that was in flight when its process was killed may have been made twice.
    assert!(noted.is_sorted(), "{noted:?}");
    assert!(noted.len() <= CALLS as usize + KILLS, "{noted:?}");
    noted.dedup();
    assert_eq!(noted, (1..=CALLS).collect::<Vec<_>>());
}
