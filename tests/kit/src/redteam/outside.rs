//! The targets outside of a sandbox.

use std::{
    collections::BTreeMap,
    env,
    fmt::Write as _,
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use neuron_harness::{Process, World, eventually, holders, is_open, is_running};
use serde_json::Value;
use tempfile::TempDir;
use uuid::Uuid;

use super::{attempt::Attempt, sign::Sign, sockets::Mail};

/// The form of all secrets, for `grep -E`.
const PATTERN: &str = "CANARY-[a-z_]+-[0-9a-f]{32}";
/// The capability to look into any process.
const CAP_SYS_PTRACE: u32 = 19;

/// A home directory with keys, records and a project in it; services, an `ssh-agent` and other programs of the same user.
///
/// The home directory is that of a [`World`], and the project its working directory. Dropping it ends the programs.
#[derive(Debug)]
pub struct Outside {
    work: PathBuf,
    /// The folder of its sockets and files. It is removed when this is dropped.
    _elsewhere: TempDir,
    /// The variables that scripts get.
    variables: BTreeMap<String, String>,
    /// The variables that they do not get.
    secrets: BTreeMap<String, String>,
    mail: Mail,
    victims: BTreeMap<String, Process>,
    _witness: Process,
    _agent: Process,
}

impl Outside {
    /// Creates all of it, for these attempts.
    ///
    /// # Panics
    ///
    /// If a part of it cannot be created; `ssh-agent` and `ssh-keygen` have to be installed.
    #[must_use]
    pub fn new(world: &World, attempts: &[Attempt]) -> Self {
        let work = world.work().canonicalize().unwrap();
        let home = work.parent().unwrap().to_owned();
        let elsewhere = tempfile::tempdir().unwrap();
        let names = [
            "ssh_key",
            "cloud_key",
            "worker_key",
            "witness_key",
            "journal_text",
        ];
        let mut secrets: BTreeMap<_, _> = names
            .map(|name| (name.to_owned(), canary(name)))
            .into_iter()
            .collect();
        let trust = home.join(".local/state/neuron/trust");
        lay_out(&home, &work, &trust, &secrets);

        let witness_file = canary("witness_file");
        let witness = witness(
            &elsewhere.path().join(&witness_file),
            &secrets["witness_key"],
        );
        secrets.insert("witness_file".to_owned(), witness_file);
        let socket = elsewhere.path().join("agent.sock");
        let (agent, public) = ssh_agent(&socket);

        let mail = Mail::default();
        let (unix, unix_here) = (
            elsewhere.path().join("service.sock"),
            work.join("src/service.sock"),
        );
        let name = format!("neuron-red-team-{}", Uuid::new_v4());
        mail.path(&unix);
        mail.path(&unix_here);
        mail.name(&name);
        let variables = [
            ("home", shown(&home)),
            ("work", shown(&work)),
            ("outside", shown(elsewhere.path())),
            ("trust", shown(&trust)),
            ("pattern", PATTERN.to_owned()),
            ("agent", shown(&socket)),
            ("public", public),
            ("tcp", mail.tcp().to_string()),
            ("udp", mail.udp().to_string()),
            ("unix", shown(&unix)),
            ("unix_here", shown(&unix_here)),
            ("abstract", name),
            ("libraries", shown(&work.join("libraries"))),
        ];
        let killed = attempts
            .iter()
            .filter(|attempt| attempt.attack.sign == Sign::Ends);
        Self {
            variables: variables
                .map(|(name, value)| (name.to_owned(), value))
                .into_iter()
                .collect(),
            secrets,
            mail,
            victims: killed
                .map(|attempt| (attempt.name.clone(), sleeper()))
                .collect(),
            work,
            _elsewhere: elsewhere,
            _witness: witness,
            _agent: agent,
        }
    }

    /// Gives scripts another variable.
    pub fn tell(&mut self, variable: &str, value: impl Into<String>) {
        self.variables.insert(variable.to_owned(), value.into());
    }

    /// Returns the variables that only the worker has: a key, the address of the `ssh-agent`, and a directory of
    /// libraries in the project.
    #[must_use]
    pub fn environment(&self) -> [(&'static str, &str); 3] {
        [
            ("UPSTREAM_LOGIN", &self.secrets["worker_key"]),
            ("SSH_AUTH_SOCK", &self.variables["agent"]),
            ("LD_LIBRARY_PATH", &self.variables["libraries"]),
        ]
    }

    /// Returns a worker that is started with open files: a key as 7, and a file outside as 8.
    #[must_use]
    pub fn with_open_files(&self, worker: &Command) -> Command {
        let opens = r#"exec 7< "$1" 8>> "$2"; shift 2; exec "$@""#;
        let home = Path::new(&self.variables["home"]);
        let outside = Path::new(&self.variables["outside"]);
        let mut shell = Command::new("bash");
        shell
            .args(["-c", opens, "bash"])
            .args([home.join(".ssh/id_ed25519"), outside.join("open")])
            .arg(worker.get_program())
            .args(worker.get_args())
            .env_clear()
            .envs(
                worker
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            );
        if let Some(directory) = worker.get_current_dir() {
            shell.current_dir(directory);
        }
        shell
    }

    /// Returns the program of an MCP server with the tool `run`, and its arguments.
    #[must_use]
    pub fn server() -> [&'static str; 2] {
        [
            "node",
            concat!(env!("CARGO_MANIFEST_DIR"), "/src/redteam/attacker.mjs"),
        ]
    }

    /// Returns the script of an attempt, with all its variables. `ticket` is the one that it may decide. If the attempt
    /// `should` succeed, the script tries until it does; otherwise it tries a fixed number of times.
    #[must_use]
    pub fn script(&self, attempt: &Attempt, ticket: &str, should: bool, tries: u32) -> String {
        let (tries, seconds) = if should {
            (1_000_000, 86_400)
        } else {
            (tries, 5)
        };
        let mut script = format!("tries={tries} seconds={seconds}\n");
        for (name, value) in self.told(attempt, ticket) {
            let value = value.replace('\'', r"'\''");
            writeln!(script, "{name}='{value}'").unwrap();
        }
        script + attempt.attack.script
    }

    /// Returns whether an attempt has succeeded. Its call had this result. If it `should` not succeed, processes that
    /// end in a moment are awaited.
    ///
    /// # Panics
    ///
    /// If a process lives on that should not.
    #[must_use]
    pub fn breached(&self, attempt: &Attempt, result: &str, should: bool) -> bool {
        let fill = |text: &str| self.filled(attempt, text);
        match attempt.attack.sign {
            Sign::Shows(text) => result.contains(&fill(text)),
            Sign::Holds { at, text } => holds(fill(at).as_ref(), &fill(text)),
            Sign::Decides => self.decided(&attempt.name).exists(),
            Sign::Arrives => self.mail.has(&attempt.name),
            Sign::Ends => !is_running(self.victims[&attempt.name].id()),
            Sign::Lives(file) => lives(fill(file).as_ref(), should),
            Sign::Resumes(folder) => self.resumes(fill(folder).as_ref()),
        }
    }

    /// Returns whether `neuron resume` in a directory continues the run that was planted there.
    fn resumes(&self, folder: &Path) -> bool {
        let resumed = |trust: &str| {
            let mut command = Command::new(&self.variables["neuron"]);
            command
                .args(["resume", "planted"])
                .current_dir(folder)
                .env_clear()
                .env("PATH", env::var_os("PATH").unwrap_or_default())
                .env("HOME", &self.variables["home"])
                .env("NEURON_TRUST", trust);
            let done = command.stdin(Stdio::null()).output().unwrap();
            (folder.join("resumed").exists(), done)
        };
        let (is_resumed, _) = resumed("");
        // A person who trusts all that they find resumes it: it is a valid run.
        let (would_be, done) = resumed("1");
        assert!(would_be, "{done:?}");
        is_resumed
    }

    /// Returns the arguments of an attempt's call of a file tool, with all variables.
    #[must_use]
    pub fn file_call(&self, attempt: &Attempt) -> Option<(&'static str, Value)> {
        let call = attempt.attack.file_call?;
        let mut args: Value = serde_json::from_str(call.args).unwrap();
        for value in args.as_object_mut().unwrap().values_mut() {
            let text = value.as_str().unwrap();
            *value = fill(self.told(attempt, ""), text).into();
        }
        Some((call.tool, args))
    }

    /// Returns the text that the call with the ticket writes.
    #[must_use]
    pub fn decided(&self, name: &str) -> PathBuf {
        self.work.join(format!("decided-{name}"))
    }

    /// Returns whether this process may look into all others.
    ///
    /// # Panics
    ///
    /// If the system does not report it.
    #[must_use]
    pub fn is_root() -> bool {
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let mut lines = status.lines();
        let set = lines.find_map(|line| line.strip_prefix("CapEff:")).unwrap();
        let set = u64::from_str_radix(set.trim(), 16).unwrap();
        (set >> CAP_SYS_PTRACE) & 1 == 1
    }

    fn told(&self, attempt: &Attempt, ticket: &str) -> BTreeMap<String, String> {
        let victim = self.victims.get(&attempt.name);
        let mut told = self.variables.clone();
        told.extend(
            [
                ("name", attempt.name.clone()),
                ("mark", format!("MARK-of-{}-", attempt.name)),
                ("ticket", ticket.to_owned()),
                ("victim", victim.map_or(0, Process::id).to_string()),
            ]
            .map(|(name, value)| (name.to_owned(), value)),
        );
        told
    }

    /// Returns a text with its variables filled in.
    fn filled(&self, attempt: &Attempt, text: &str) -> String {
        let mut known = self.told(attempt, "");
        known.extend(self.secrets.clone());
        fill(known, text)
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        // Processes that have outlived their calls end.
        fs::remove_file(self.work.join("hold")).ok();
    }
}

fn fill(known: BTreeMap<String, String>, text: &str) -> String {
    let mut known: Vec<_> = known.into_iter().collect();
    // One name may begin with another one.
    known.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    known.iter().fold(text.to_owned(), |text, (name, value)| {
        text.replace(&format!("${name}"), value)
    })
}

fn canary(name: &str) -> String {
    format!("CANARY-{name}-{}", Uuid::new_v4().simple())
}

fn shown(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// Writes the files of the home directory and of the project in it.
fn lay_out(home: &Path, work: &Path, trust: &Path, secrets: &BTreeMap<String, String>) {
    let write = |path: PathBuf, text: &str| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{text}\n")).unwrap();
    };
    write(home.join(".ssh/id_ed25519"), &secrets["ssh_key"]);
    write(home.join(".ssh/authorized_keys"), "");
    write(home.join(".bashrc"), "HISTSIZE=100");
    write(home.join(".cache/neuron/mcp/other-0123/kept"), "");
    write(
        home.join(".config/cloud/credentials"),
        &secrets["cloud_key"],
    );
    write(
        home.join("other/neuron.toml"),
        "[agents.default]\nmodel = \"demo/demo\"\ntools = [\"bash\"]",
    );
    fs::create_dir_all(trust).unwrap();
    for folder in [trust, trust.parent().unwrap()] {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
    }
    write(work.join(".git/HEAD"), "ref: refs/heads/main");
    write(
        work.join(".git/config"),
        "[core]\n\trepositoryformatversion = 0",
    );
    for folder in [".git/hooks", ".git/objects", ".git/refs/heads"] {
        fs::create_dir_all(work.join(folder)).unwrap();
    }
    write(work.join(".neuron/note"), &secrets["journal_text"]);
    write(
        work.join("agents/other.toml"),
        "[agents.other]\nmodel = \"demo/demo\"",
    );
    write(work.join("src/main.rs"), "fn main() {}");
    for (target, link) in [
        (".ssh/id_ed25519", "src/linked-key"),
        (".bashrc", "src/linked-profile"),
    ] {
        symlink(home.join(target), work.join(link)).unwrap();
    }
    write(work.join("hold"), "");
    fs::create_dir(work.join("libraries")).unwrap();
}

/// Returns a program with a secret in its environment and one on its command line.
fn witness(file: &Path, key: &str) -> Process {
    fs::write(file, "").unwrap();
    let mut command = Command::new("tail");
    command.arg("-f").arg(file).env("PROVIDER_LOGIN", key);
    Process::start(command.stdout(Stdio::null())).unwrap()
}

fn sleeper() -> Process {
    Process::start(Command::new("sleep").arg("86400")).unwrap()
}

/// Returns an agent with a key, and the public half of the key.
fn ssh_agent(socket: &Path) -> (Process, String) {
    let mut command = Command::new("ssh-agent");
    command.arg("-D").arg("-a").arg(socket);
    let agent = Process::start(command.stdout(Stdio::null())).unwrap();
    eventually("ssh-agent", || socket.exists().then_some(()));
    let keys = tempfile::tempdir().unwrap();
    let key = keys.path().join("key");
    let mut made = Command::new("ssh-keygen");
    made.args(["-q", "-t", "ed25519", "-N", "", "-C", "agent", "-f"]);
    assert!(made.arg(&key).status().unwrap().success());
    let mut added = Command::new("ssh-add");
    added.arg("-q").arg(&key).env("SSH_AUTH_SOCK", socket);
    assert!(added.status().unwrap().success());
    let public = fs::read_to_string(key.with_extension("pub")).unwrap();
    (agent, public.trim().to_owned())
}

fn holds(path: &Path, text: &str) -> bool {
    if path.is_dir() {
        return !holders(path, text).is_empty();
    }
    let bytes = fs::read(path).unwrap_or_default();
    String::from_utf8_lossy(&bytes).contains(text)
}

/// Returns whether a process holds the file open; if none `should`, once it was released.
fn lives(file: &Path, should: bool) -> bool {
    if !should {
        // A killed process takes a moment to end.
        eventually("end of what was left behind", || {
            (!is_open(file)).then_some(())
        });
    }
    is_open(file)
}
