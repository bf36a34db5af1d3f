//! A worker in a home directory of its own.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

use neuron_patience::patience;
use neuron_sandbox::{Backend, Sandbox, SandboxRules};
use tempfile::TempDir;

/// Both are tested, and none is left out where it is missing.
pub(crate) const BACKENDS: [Backend; 2] = [Backend::Bubblewrap, Backend::Landlock];
pub(crate) const PROBE: &str = env!("CARGO_BIN_EXE_sandbox-probe");

pub(crate) struct Place {
    temp: TempDir,
    backend: Backend,
}

/// What a command printed, and its exit code.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) text: String,
}

impl Done {
    #[track_caller]
    pub(crate) fn ok(&self) -> &str {
        assert_eq!(self.code, Some(0), "{}", self.text);
        &self.text
    }

    #[track_caller]
    pub(crate) fn fails(&self) -> &str {
        assert!(self.code.is_some_and(|code| code != 0), "{}", self.text);
        &self.text
    }
}

impl Place {
    /// A home directory with a key in it, and a working directory under it.
    pub(crate) fn new(backend: Backend) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let place = Self { temp, backend };
        fs::create_dir_all(place.work()).unwrap();
        fs::create_dir(place.home().join(".ssh")).unwrap();
        fs::write(place.home().join(".ssh/id"), "the key").unwrap();
        place
    }

    pub(crate) fn backend(&self) -> Backend {
        self.backend
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.temp.path().canonicalize().unwrap().join("home")
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.home().join("work")
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.work().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.work().join(name)).unwrap_or_default()
    }

    /// The sandbox with this place's back end; the probe can be started in it.
    pub(crate) fn sandbox(&self, sandbox: &Sandbox) -> Sandbox {
        let Some(rules) = sandbox.rules() else {
            return Sandbox::Off;
        };
        let probe = Path::new(PROBE).parent().unwrap();
        Sandbox::Custom(rules.read(probe).backend(self.backend))
    }

    /// A worker that runs this script with `bash`.
    pub(crate) fn worker(&self, sandbox: &Sandbox, script: &str) -> Command {
        let sandbox = serde_json::to_string(&self.sandbox(sandbox)).unwrap();
        let mut command = Command::new(PROBE);
        command
            .args(["run", &sandbox, script])
            .current_dir(self.work())
            .env("HOME", self.home())
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run_in(&self, sandbox: &Sandbox, script: &str) -> Done {
        let script = format!("exec 2>&1; {script}");
        let output = self.worker(sandbox, &script).output().unwrap();
        let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
        text += &String::from_utf8_lossy(&output.stderr);
        Done {
            code: output.status.code(),
            text,
        }
    }

    pub(crate) fn run(&self, script: &str) -> Done {
        self.run_in(&Sandbox::Workspace, script)
    }

    pub(crate) fn with(&self, rules: SandboxRules, script: &str) -> Done {
        self.run_in(&Sandbox::Custom(rules), script)
    }
}

/// A place for each back end.
pub(crate) fn places() -> impl Iterator<Item = Place> {
    BACKENDS.into_iter().map(Place::new)
}

#[track_caller]
pub(crate) fn eventually(what: &str, is: impl Fn() -> bool) {
    let started = Instant::now();
    while !is() {
        assert!(started.elapsed() < patience(), "never: {what}");
        std::thread::sleep(std::time::Duration::from_millis(5)); // Between two looks.
    }
}
