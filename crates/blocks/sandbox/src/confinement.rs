//! A sandbox that commands are started in.

use std::{
    env,
    ffi::{OsStr, OsString},
    fmt, io,
    path::{Path, PathBuf},
    process::Stdio,
    sync::{Arc, Mutex, PoisonError},
};

use tempfile::TempDir;
use tokio::process::Command;

use crate::{
    backend::{NO_BWRAP, bwrap, prlimit},
    bubblewrap, environment,
    error::SandboxError,
    filter::Filter,
    handed::{self, DESCRIPTOR, Variables},
    helper,
    kind::Backend,
    places::Places,
    plan::{Place, Plan},
    process::Process,
    protect::Protected,
    sandbox::Sandbox,
    spawner, tie,
};

/// A sandbox with what is its own: a temporary directory, which its commands share and which goes with it. Cloning it
/// is cheap and gives the same sandbox.
///
/// # Examples
///
/// ```no_run
/// use neuron_sandbox::{Confinement, Sandbox};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let confinement = Confinement::builder(Sandbox::Workspace).build();
/// confinement.check()?;
/// let mut command = confinement.command("bash", "/workspace".as_ref())?;
/// command.args(["-c", "cargo test"]);
/// let status = command.spawn()?.wait().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Confinement(Arc<Inner>);

struct Inner {
    sandbox: Sandbox,
    protected: Protected,
    environment: Vec<OsString>,
    home: Option<PathBuf>,
    /// Made when it is first needed.
    temp: Mutex<Option<Arc<TempDir>>>,
}

/// Sets a [`Confinement`] up.
#[derive(Debug, Clone)]
#[must_use]
pub struct ConfinementBuilder {
    sandbox: Sandbox,
    protected: Protected,
    environment: Vec<OsString>,
    home: Option<PathBuf>,
}

impl ConfinementBuilder {
    /// Sets what commands leave alone besides what they always do. Default is nothing.
    pub fn protected(mut self, protected: Protected) -> Self {
        self.protected = protected;
        self
    }

    /// Adds variables of this process that commands inherit besides those that are [always
    /// inherited](crate::is_inherited). Default is none.
    pub fn inherit<N: Into<OsString>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.environment.extend(names.into_iter().map(Into::into));
        self
    }

    /// Sets a directory that is `HOME` for commands and that they may write. It is made if it is missing. Default is
    /// the home directory, of which they see nothing.
    pub fn home(mut self, path: impl Into<PathBuf>) -> Self {
        self.home = Some(path.into());
        self
    }

    /// The sandbox. Nothing is checked or made yet: see [`Confinement::check`].
    #[must_use]
    pub fn build(self) -> Confinement {
        let Self {
            sandbox,
            protected,
            environment,
            home,
        } = self;
        Confinement(Arc::new(Inner {
            sandbox,
            protected,
            environment,
            home,
            temp: Mutex::new(None),
        }))
    }
}

impl Confinement {
    /// Begins a confinement for this sandbox.
    pub fn builder(sandbox: Sandbox) -> ConfinementBuilder {
        ConfinementBuilder {
            sandbox,
            protected: Protected::default(),
            environment: Vec::new(),
            home: None,
        }
    }

    /// What it was asked for.
    #[must_use]
    pub fn sandbox(&self) -> &Sandbox {
        &self.0.sandbox
    }

    /// What confines its commands; `None` if nothing does.
    ///
    /// # Errors
    ///
    /// Nothing on this machine can.
    pub fn check(&self) -> Result<Option<Backend>, SandboxError> {
        let Some(rules) = self.0.sandbox.rules() else {
            return Ok(None);
        };
        let backend = Backend::choose(rules.backend)?;
        let limited = rules.memory.is_some() || rules.processes.is_some();
        if limited && backend == Backend::Bubblewrap && prlimit().is_none() {
            return Err(SandboxError::NoPrlimit);
        }
        Ok(Some(backend))
    }

    /// What it is, in a few words: `workspace (bubblewrap)`, `off`.
    ///
    /// # Errors
    ///
    /// As for [`Confinement::check`].
    pub fn describe(&self) -> Result<String, SandboxError> {
        let name = self.0.sandbox.name();
        Ok(match self.check()? {
            None => name.to_owned(),
            Some(backend) => format!("{name} ({backend})"),
        })
    }

    /// A command to be started in this directory. A relative program is looked for on PATH.
    ///
    /// It gets no input, and its outputs are those of this process, unless others are set.
    ///
    /// # Errors
    ///
    /// Nothing on this machine can confine it, the directory is missing, or a protected path cannot be protected.
    pub fn command(
        &self,
        program: impl AsRef<OsStr>,
        cwd: &Path,
    ) -> Result<ConfinedCommand, SandboxError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| SandboxError::Path { path, source }
        };
        let cwd = cwd.canonicalize().map_err(failed(cwd))?;
        let program = program.as_ref();
        let backend = self.check()?;
        let inner = &*self.0;
        if let Some(home) = &inner.home {
            std::fs::create_dir_all(home).map_err(failed(home))?;
        }
        let Some((backend, rules)) = backend.zip(inner.sandbox.rules()) else {
            return Ok(self.unconfined(program, &cwd));
        };
        let (made, temp) = self.temp()?;
        let own: Vec<PathBuf> = inner.home.iter().cloned().collect();
        let place = Place {
            cwd: &cwd,
            temp: &temp,
            own: &own,
            protected: &inner.protected,
            open: backend == Backend::Bubblewrap,
        };
        let plan = Plan::new(&rules, &place, Places::get())?;
        let filter = Filter::of(plan.network);
        let (command, filter, seen) = match backend {
            Backend::Bubblewrap => {
                let program_of = |found: Option<&'static PathBuf>, missing: &str| {
                    let found = found.ok_or_else(|| missing.to_owned())?;
                    match plan.write.iter().any(|root| found.starts_with(root)) {
                        true => Err(format!("commands may write {}", found.display())),
                        false => Ok(found),
                    }
                };
                let failed = |reason| SandboxError::Backend { backend, reason };
                let bwrap = program_of(bwrap(), NO_BWRAP).map_err(failed)?;
                let limited = plan.memory.is_some() || plan.processes.is_some();
                let prlimit = match limited {
                    true => {
                        Some(program_of(prlimit(), "there is no program prlimit").map_err(failed)?)
                    }
                    false => None,
                };
                let mut command = Command::new(bwrap);
                command
                    .args(["--args", &DESCRIPTOR.to_string()])
                    .args(bubblewrap::arguments(
                        &plan,
                        &cwd,
                        prlimit.map(PathBuf::as_path),
                    ))
                    .arg(program);
                (command, Some(filter), Path::new("/tmp"))
            }
            Backend::Landlock => {
                let mut command = Command::new(helper::program()?);
                command.args(helper::arguments(&plan, &cwd, program)?);
                (command, None, &*temp)
            }
        };
        let means = Means {
            backend: Some(backend),
            filter,
            temp: Some(made),
            is_tied: true,
        };
        let mut command = self.finish(command, means, &cwd, !exists(program, &cwd));
        command.env("TMPDIR", seen);
        if inner.home.is_none() {
            command.env("XDG_CACHE_HOME", seen.join(".cache"));
        }
        Ok(command)
    }

    /// A command that nothing confines. It ends with this process where this program can be started again.
    fn unconfined(&self, program: &OsStr, cwd: &Path) -> ConfinedCommand {
        let Ok(helper) = helper::program() else {
            return self.finish(Command::new(program), Means::default(), cwd, false);
        };
        let mut command = Command::new(helper);
        command.args(tie::arguments(program));
        let means = Means {
            is_tied: true,
            ..Means::default()
        };
        self.finish(command, means, cwd, !exists(program, cwd))
    }

    fn finish(
        &self,
        mut command: Command,
        means: Means,
        cwd: &Path,
        is_missing: bool,
    ) -> ConfinedCommand {
        let mut variables: Variables = environment::inherited(&self.0.environment).collect();
        if let Some(home) = &self.0.home {
            variables.insert("HOME".into(), home.into());
        }
        // What confines goes by no variable, and finds nothing where it starts.
        let start = match means.backend {
            Some(_) => Path::new("/"),
            None => cwd,
        };
        command
            .env_clear()
            .current_dir(start)
            .stdin(Stdio::null())
            .process_group(0);
        ConfinedCommand {
            command,
            variables,
            means,
            is_missing,
        }
    }

    fn temp(&self) -> Result<(Arc<TempDir>, PathBuf), SandboxError> {
        let mut temp = self.0.temp.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = |source| SandboxError::Path {
            path: env::temp_dir(),
            source,
        };
        let made = match temp.take() {
            Some(made) if made.path().is_dir() => made,
            _ => {
                let made = tempfile::Builder::new().prefix("neuron-").tempdir();
                Arc::new(made.map_err(failed)?)
            }
        };
        let path = made.path().canonicalize().map_err(failed)?;
        *temp = Some(Arc::clone(&made));
        Ok((made, path))
    }
}

impl fmt::Debug for Confinement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Confinement")
            .field("sandbox", &self.0.sandbox)
            .field("home", &self.0.home)
            .finish_non_exhaustive()
    }
}

/// Whether there is such a program on PATH, or at this path.
fn exists(program: &OsStr, cwd: &Path) -> bool {
    match program.as_encoded_bytes().contains(&b'/') {
        true => cwd.join(program).exists(),
        false => {
            let path = env::var_os("PATH").unwrap_or_default();
            env::split_paths(&path).any(|directory| directory.join(program).is_file())
        }
    }
}

/// A command that is not started yet.
#[derive(Debug)]
pub struct ConfinedCommand {
    command: Command,
    /// Those of the command itself.
    variables: Variables,
    means: Means,
    /// The program is not there.
    is_missing: bool,
}

/// What confines a command.
#[derive(Debug, Default)]
struct Means {
    backend: Option<Backend>,
    filter: Option<Filter>,
    temp: Option<Arc<TempDir>>,
    /// It ends with the thread that starts it.
    is_tied: bool,
}

impl ConfinedCommand {
    /// Adds an argument.
    pub fn arg(&mut self, arg: impl AsRef<OsStr>) -> &mut Self {
        self.command.arg(arg);
        self
    }

    /// Adds arguments.
    pub fn args<A: AsRef<OsStr>>(&mut self, args: impl IntoIterator<Item = A>) -> &mut Self {
        self.command.args(args);
        self
    }

    /// Sets a variable, whether it is on the list or not.
    pub fn env(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> &mut Self {
        let (name, value) = (name.as_ref().to_owned(), value.as_ref().to_owned());
        self.variables.insert(name, value);
        self
    }

    /// Sets variables, whether they are on the list or not.
    pub fn envs<N: AsRef<OsStr>, V: AsRef<OsStr>>(
        &mut self,
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> &mut Self {
        for (name, value) in variables {
            self.env(name, value);
        }
        self
    }

    /// Sets where input comes from. Default is nowhere.
    pub fn stdin(&mut self, from: impl Into<Stdio>) -> &mut Self {
        self.command.stdin(from);
        self
    }

    /// Sets where output goes. Default is where this process's goes.
    pub fn stdout(&mut self, to: impl Into<Stdio>) -> &mut Self {
        self.command.stdout(to);
        self
    }

    /// Sets where error output goes. Default is where this process's goes.
    pub fn stderr(&mut self, to: impl Into<Stdio>) -> &mut Self {
        self.command.stderr(to);
        self
    }

    /// Starts it. Must be called within a runtime.
    ///
    /// # Errors
    ///
    /// What keeps it from being started, such as a program that is not there. One that is there and cannot be reached in
    /// the sandbox ends with an exit code other than 0 and says so.
    pub fn spawn(self) -> io::Result<Process> {
        let Self {
            mut command,
            variables,
            means,
            is_missing,
        } = self;
        if is_missing {
            return Err(rustix::io::Errno::NOENT.into());
        }
        check(&variables)?;
        match means.backend {
            None => {
                command.envs(variables);
            }
            Some(Backend::Bubblewrap) => {
                let words = bubblewrap::setting(&variables);
                handed::hand(&mut command, words)?;
            }
            Some(Backend::Landlock) => handed::hand(&mut command, handed::words(&variables))?,
        }
        handed::keep_descriptors();
        let child = match means.is_tied {
            false => command.spawn(),
            true => spawner::spawn(means.filter, command),
        };
        Ok(Process::new(child?, means.backend, means.temp))
    }
}

/// Checks that variables are such as a process can have.
fn check(variables: &Variables) -> io::Result<()> {
    let has = |text: &OsStr, byte| text.as_encoded_bytes().contains(&byte);
    let mut wrong = variables.iter().filter(|(name, value)| {
        name.is_empty() || has(name, b'=') || has(name, 0) || has(value, 0)
    });
    match wrong.next() {
        None => Ok(()),
        Some((name, _)) => {
            let name = name.display();
            let message = format!("there is no such variable as {name:?} with its value");
            Err(io::Error::new(io::ErrorKind::InvalidInput, message))
        }
    }
}
