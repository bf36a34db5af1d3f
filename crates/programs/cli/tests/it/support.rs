//! A directory of its own for each test, and the command in it.

use std::{
    fs,
    io::{ErrorKind, Write as _},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use neuron_patience::patience;
use serde_json::Value;
use tempfile::TempDir;

const BETWEEN_LOOKS: Duration = Duration::from_millis(10); // Between two looks.

/// A working directory with its own runs.
pub(crate) struct Home {
    dir: TempDir,
    /// The home directory of the user of the command.
    person: TempDir,
    variables: Vec<(String, String)>,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            person: tempfile::tempdir().unwrap(),
            // The files of the tests are trusted. A later value replaces this one.
            variables: vec![("NEURON_TRUST".into(), "1".into())],
        }
    }

    /// Returns a home whose agent `default` follows a script, with the tools that `agent` names.
    pub(crate) fn with_script(turns: &Value, agent: &str) -> Self {
        let home = Self::new();
        home.script(turns);
        home.write(
            "neuron.toml",
            &format!(
                "[providers.script]\nkind = \"script\"\nfile = \"script.json\"\n\n\
                 [agents.default]\nmodel = \"script/test\"\n{agent}\n"
            ),
        );
        home
    }

    /// Sets a variable for the commands that are started from now on.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.variables.push((name.to_owned(), value.to_owned()));
    }

    pub(crate) fn variables(&self) -> impl Iterator<Item = (&String, &String)> {
        self.variables.iter().map(|(name, value)| (name, value))
    }

    pub(crate) fn script(&self, turns: &Value) {
        let script = serde_json::json!({ "turns": turns });
        self.write("script.json", &script.to_string());
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn person(&self) -> &Path {
        self.person.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// Returns the command, with none of the settings of the user who runs the tests.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_neuron"));
        command
            .args(args)
            .current_dir(self.dir.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.person())
            .envs(self.variables())
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn neuron(&self, args: &[&str]) -> Done {
        Done::from(self.command(args).output().unwrap())
    }

    /// Does the same as `neuron`, with a program that is where it was installed, and not where it was built.
    pub(crate) fn installed(&self, args: &[&str]) -> Done {
        let program = self.person().join("neuron");
        fs::copy(env!("CARGO_BIN_EXE_neuron"), &program).unwrap();
        let built = self.command(args);
        let variables = built.get_envs();
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(self.dir.path())
            .env_clear()
            .envs(variables.filter_map(|(name, value)| Some((name, value?))))
            .stdin(Stdio::null());
        Done::from(command.output().unwrap())
    }

    /// Does the same as `neuron`, with a text on standard input.
    pub(crate) fn neuron_with_input(&self, args: &[&str], input: &str) -> Done {
        let mut child = self
            .command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        match stdin.write_all(input.as_bytes()) {
            // The command may have ended without reading: its output counts.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            written => written.unwrap(),
        }
        drop(stdin);
        Done::from(child.wait_with_output().unwrap())
    }

    /// Starts the command and leaves it alone.
    pub(crate) fn start(&self, args: &[&str]) -> Started {
        let child = self
            .command(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Started { child: Some(child) }
    }

    /// Starts the command, and returns once this text is on its standard error, which goes to this file.
    pub(crate) fn start_until_it_says(&self, args: &[&str], file: &str, text: &str) -> Started {
        let child = self
            .command(args)
            .stdout(Stdio::piped())
            .stderr(fs::File::create(self.path(file)).unwrap())
            .spawn()
            .unwrap();
        let started = Started { child: Some(child) };
        eventually(text, || self.read(file).contains(text));
        started
    }

    pub(crate) fn status(&self, run: &str) -> Value {
        self.neuron(&["status", run, "--json"]).json()
    }

    /// Waits until the run has an event of this type.
    pub(crate) fn await_event(&self, run: &str, event: &str) {
        eventually(&format!("{event} of {run}"), || {
            let events = self.neuron(&["events", run, "--json"]).stdout;
            events.contains(&format!("\"type\":\"{event}\""))
        });
    }

    pub(crate) fn await_file(&self, name: &str) {
        eventually(name, || self.exists(name));
    }

    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }
}

/// A process in the background, which is killed with the test.
pub(crate) struct Started {
    child: Option<Child>,
}

impl Started {
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.as_ref().unwrap().id().to_string();
        let sent = Command::new("kill")
            .args([&format!("-{name}"), &pid])
            .status();
        assert!(sent.unwrap().success());
    }

    pub(crate) fn is_over(&mut self) -> bool {
        self.child.as_mut().unwrap().try_wait().unwrap().is_some()
    }

    pub(crate) fn done(mut self) -> Done {
        eventually("the end of the process", || self.is_over());
        Done::from(self.child.take().unwrap().wait_with_output().unwrap())
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            child.kill().ok();
            child.wait().ok();
        }
    }
}

/// A process that has ended.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Done {
    /// Checks the exit code.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// Checks that standard error contains this text.
    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        assert!(self.stderr.contains(text), "not said: {text}\n{self:#?}");
        self
    }

    /// Checks that standard output is this text.
    #[track_caller]
    pub(crate) fn prints(self, text: &str) -> Self {
        assert_eq!(self.stdout, text, "{self:#?}");
        self
    }

    /// Returns standard output as the one JSON value that it must be.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("not one JSON value: {error}\n{self:#?}"))
    }

    /// Returns standard output as JSON lines.
    #[track_caller]
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        let lines = self.stdout.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

/// Waits for a condition that must become true.
#[track_caller]
pub(crate) fn eventually(what: &str, mut is_true: impl FnMut() -> bool) {
    let deadline = Instant::now() + patience();
    while !is_true() {
        assert!(Instant::now() < deadline, "did not happen in time: {what}");
        thread::sleep(BETWEEN_LOOKS); // Between two looks.
    }
}

/// Tries something that only works if it is done before a time-out of its own, with longer and longer time-outs: which
/// one is long enough depends on the machine.
#[track_caller]
pub(crate) fn with_time_enough<T>(mut attempt: impl FnMut(Duration) -> Option<T>) -> T {
    const SHORTEST: Duration = Duration::from_millis(300); // It grows until it is enough.
    let mut time = SHORTEST;
    loop {
        if let Some(done) = attempt(time) {
            return done;
        }
        assert!(time < patience(), "{time:?} were not enough");
        time *= 4;
    }
}

/// Returns script turns: one that calls a tool, and one that says "Done.".
pub(crate) fn one_call(tool: &str, input: &Value) -> Value {
    serde_json::json!([
        {
            "text": "Let me see.",
            "tool_calls": [{ "name": tool, "input": input }],
            "usage": { "input_tokens": 100, "output_tokens": 20 },
            "cost_usd": "0.0010"
        },
        {
            "text": "Done.",
            "usage": { "input_tokens": 130, "output_tokens": 5 },
            "cost_usd": "0.0012"
        }
    ])
}

/// Returns script turns: a shell command, and "Done.".
pub(crate) fn one_command(command: &str) -> Value {
    one_call("bash", &serde_json::json!({ "command": command }))
}

/// A shell command that shows that it began, and continues when the file `go` exists.
pub(crate) const HELD_UP: &str =
    "touch begun; while [ ! -e go ]; do sleep 0.02; done; echo through"; // Between two looks.

/// Replaces what differs between two runs of one script: their ids and times, and what follows from them.
pub(crate) fn of_no_run(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                match key.as_str() {
                    "nonce" | "directory" | "digest" | "opened_at" | "since" => *value = "…".into(),
                    _ => of_no_run(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(of_no_run),
        _ => {}
    }
}
