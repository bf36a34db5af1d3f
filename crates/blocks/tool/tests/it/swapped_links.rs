//! Another program that puts a link to the outside in the place of a directory, and back, all the time.

use std::{
    fs,
    os::unix::fs::symlink,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use crate::workspace::{Workspace, text};

const ROUNDS: usize = 150;

/// Exchanges two names until it is dropped.
struct Swapper {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Swapper {
    fn start(one: PathBuf, other: PathBuf) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).unwrap();
            }
        });
        Self {
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for Swapper {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// `src/d` is a directory or a link to `<outside>/home`, and `src/l` is the other one.
fn place() -> (Workspace, Swapper) {
    let place = Workspace::new();
    let home = place.outside().join("home");
    fs::create_dir_all(home.join("deep")).unwrap();
    fs::write(home.join("id"), "secret\n").unwrap();
    fs::write(home.join("outside-only"), "secret\n").unwrap();
    fs::write(home.join("deep/id"), "secret\n").unwrap();
    place.write("src/d/id", "inside\n");
    place.write("src/d/deep/id", "inside\n");
    symlink(&home, place.path("src/l")).unwrap();
    let swapper = Swapper::start(place.path("src/d"), place.path("src/l"));
    (place, swapper)
}

/// Returns what is outside, with the names of the files.
fn outside(place: &Workspace) -> Vec<(String, Option<String>)> {
    let mut found = Vec::new();
    for folder in ["home", "home/deep"] {
        for entry in fs::read_dir(place.outside().join(folder)).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{folder}/{}", entry.file_name().display());
            found.push((name, fs::read_to_string(entry.path()).ok()));
        }
    }
    found.sort_unstable();
    found
}

#[tokio::test]
async fn reading_never_shows_what_is_outside() {
    let (place, _swapper) = place();
    for _ in 0..ROUNDS {
        for (tool, input) in [
            ("read_file", json!({"path": "src/d/id"})),
            ("read_file", json!({"path": "src/d/deep/id"})),
            ("list_files", json!({"path": "src/d"})),
            ("glob", json!({"pattern": "**", "path": "src"})),
            ("glob", json!({"pattern": "**", "path": "src/d"})),
            ("grep", json!({"pattern": "secret", "path": "src"})),
            ("grep", json!({"pattern": "secret", "path": "src/d/id"})),
        ] {
            let Ok(output) = place.call(tool, input).await else {
                continue;
            };
            let text = text(&output);
            assert!(!text.contains("secret"), "{tool}: {text}");
            assert!(!text.contains("outside-only"), "{tool}: {text}");
        }
        let input = json!({"path": "src/d/id", "content": "new\n"});
        if let Ok(Some(preview)) = place.preview("write_file", input).await {
            let diff = preview.diff.unwrap_or_default();
            assert!(!diff.contains("secret"), "{diff}");
        }
    }
}

#[tokio::test]
async fn changing_never_changes_what_is_outside() {
    let (place, swapper) = place();
    let before = outside(&place);
    for round in 0..ROUNDS {
        for (tool, input) in [
            ("write_file", json!({"path": "src/d/id", "content": "x"})),
            (
                "write_file",
                json!({"path": format!("src/d/new{round}/a"), "content": "x"}),
            ),
            (
                "edit_file",
                json!({"path": "src/d/deep/id", "old_string": "secret", "new_string": "y"}),
            ),
            (
                "edit_file",
                json!({"path": "src/d/deep/id", "old_string": "inside", "new_string": "inside "}),
            ),
        ] {
            drop(place.call(tool, input).await);
        }
        assert_eq!(outside(&place), before, "{round}");
    }
    drop(swapper);
    let real = ["src/d", "src/l"].into_iter();
    let real = real.filter(|path| !place.path(path).is_symlink());
    for path in real {
        let input = json!({"path": format!("{path}/id"), "content": "still works"});
        place.ok("write_file", input).await;
        assert_eq!(place.read(&format!("{path}/id")), "still works");
        let names = fs::read_dir(place.path(path)).unwrap();
        let mut names = names.map(|entry| entry.unwrap().file_name());
        assert!(!names.any(|name| name.to_string_lossy().starts_with(".neuron-")));
    }
}
