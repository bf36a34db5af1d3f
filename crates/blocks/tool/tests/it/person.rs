//! A home directory, and tools of a process whose home it is.

use std::{
    env, fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use neuron_sandbox::{Backend, Sandbox};
use serde_json::{Value, json};

/// None is left out where it is missing.
const BACKENDS: [Backend; 2] = [Backend::Bubblewrap, Backend::Landlock];

/// What says where something else than in the home directory is.
const VARIABLES: &[&str] = &[
    "CARGO_HOME",
    "GOPATH",
    "JAVA_HOME",
    "PYENV_ROOT",
    "RUSTUP_HOME",
    "XDG_STATE_HOME",
];

pub(crate) struct Person {
    folder: tempfile::TempDir,
    /// The working directory, in the home directory.
    cwd: &'static str,
    variables: Vec<(&'static str, PathBuf)>,
}

/// Who makes a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caller {
    Command(Backend),
    /// With a sandbox for commands, or with none.
    FileTool(bool),
}

/// All that have to agree.
pub(crate) fn callers() -> impl Iterator<Item = Caller> {
    let tools = [true, false].map(Caller::FileTool);
    BACKENDS.map(Caller::Command).into_iter().chain(tools)
}

impl Person {
    pub(crate) fn new(cwd: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let person = Self {
            folder,
            cwd,
            variables: Vec::new(),
        };
        fs::create_dir_all(person.cwd()).unwrap();
        person
    }

    /// Sets a variable to a path in the home directory.
    pub(crate) fn variable(&mut self, name: &'static str, path: &str) {
        let path = self.home().join(path);
        self.variables.push((name, path));
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("home")
    }

    pub(crate) fn cwd(&self) -> PathBuf {
        self.home().join(self.cwd).components().collect()
    }

    /// Writes a file in the home directory.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.home().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Has the tools make these calls, in their order.
    pub(crate) fn call(&self, sandbox: &Sandbox, calls: &[(&str, Value)]) -> Vec<Value> {
        let path = env::var_os("PATH").unwrap();
        let own = [".local/bin"].map(|path| self.home().join(path));
        let path = env::join_paths(own.into_iter().chain(env::split_paths(&path))).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_tool-probe"));
        command.arg(serde_json::to_string(sandbox).unwrap());
        for name in VARIABLES {
            command.env_remove(name);
        }
        command.envs(self.variables.iter().map(|(name, path)| (name, path)));
        command.env("HOME", self.home()).env("PATH", path);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.current_dir(self.cwd()).spawn().unwrap();
        let lines: Vec<_> = calls.iter().map(|call| json!(call).to_string()).collect();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(lines.join("\n").as_bytes()).unwrap();
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let answers: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(answers.len(), calls.len(), "{text}");
        answers
    }

    /// Returns which of these paths the caller can read: what is answered holds the text.
    pub(crate) fn reads(&self, caller: Caller, paths: &[&str], text: &str) -> Vec<bool> {
        let answers = match caller {
            Caller::Command(backend) => {
                let script = |path: &&str| ("bash", json!({"command": format!("cat '{path}'")}));
                let calls: Vec<_> = paths.iter().map(script).collect();
                self.call(&Sandbox::Workspace.with_backend(backend), &calls)
            }
            Caller::FileTool(sandboxed) => {
                let read = |path: &&str| ("read_file", json!({"path": path}));
                let calls: Vec<_> = paths.iter().map(read).collect();
                self.call(&sandbox(sandboxed), &calls)
            }
        };
        let holds = |answer: &Value| answer.to_string().contains(text);
        answers.iter().map(holds).collect()
    }

    /// Returns which of these paths the caller can write, as the machine has it afterwards. What was there is there
    /// again then.
    pub(crate) fn writes(&self, caller: Caller, paths: &[&str]) -> Vec<bool> {
        let before: Vec<_> = paths
            .iter()
            .map(|path| fs::read(self.cwd().join(path)).ok())
            .collect();
        let written = "written\n";
        match caller {
            Caller::Command(backend) => {
                let script = |path: &&str| {
                    let folder = Path::new(path).parent().unwrap().display().to_string();
                    let folder = if folder.is_empty() { "." } else { &folder };
                    let command = format!("mkdir -p '{folder}'; echo written > '{path}'");
                    ("bash", json!({"command": command}))
                };
                let calls: Vec<_> = paths.iter().map(script).collect();
                self.call(&Sandbox::Workspace.with_backend(backend), &calls)
            }
            Caller::FileTool(sandboxed) => {
                let write = |path: &&str| ("write_file", json!({"path": path, "content": written}));
                let calls: Vec<_> = paths.iter().map(write).collect();
                self.call(&sandbox(sandboxed), &calls)
            }
        };
        let now =
            |path: &&str| fs::read(self.cwd().join(path)).unwrap_or_default() == written.as_bytes();
        let found = paths.iter().map(now).collect();
        for (path, before) in paths.iter().zip(before) {
            let path = self.cwd().join(path);
            match before {
                Some(before) => fs::write(path, before).unwrap(),
                None => drop(fs::remove_file(path)),
            }
        }
        found
    }
}

fn sandbox(sandboxed: bool) -> Sandbox {
    match sandboxed {
        true => Sandbox::Workspace,
        false => Sandbox::Off,
    }
}
