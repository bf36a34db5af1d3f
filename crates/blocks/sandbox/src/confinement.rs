//! A sandbox that commands are started in.

use std::{
    collections::BTreeSet,
    env,
    ffi::{OsStr, OsString},
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use tempfile::TempDir;

use crate::{
    backend::NO_BWRAP,
    command::ConfinedCommand,
    environment::Environment,
    error::SandboxError,
    hard_links::HardLinks,
    helper,
    kind::Backend,
    own_home::OwnHome,
    places::Places,
    plan::{Place, Plan},
    programs::bwrap,
    protect::Protected,
    sandbox::Sandbox,
    start::Means,
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
    home: Option<OwnHome>,
    /// Made when it is first needed.
    temp: Mutex<Option<Arc<TempDir>>>,
    /// Directories in which hard links were looked for.
    looked: Mutex<BTreeSet<PathBuf>>,
}

/// Sets a [`Confinement`] up.
#[derive(Debug, Clone)]
#[must_use]
pub struct ConfinementBuilder {
    sandbox: Sandbox,
    protected: Protected,
    environment: Vec<OsString>,
    home: Option<OwnHome>,
}

impl ConfinementBuilder {
    /// Sets what commands leave alone besides what they always do. Default is nothing.
    pub fn protected(mut self, protected: Protected) -> Self {
        self.protected = protected;
        self
    }

    /// Adds variables of this process that commands inherit besides those that are [always
    /// inherited](crate::is_inherited). Default is no further variables.
    pub fn inherit<N: Into<OsString>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.environment.extend(names.into_iter().map(Into::into));
        self
    }

    /// Sets a directory that is `HOME` for commands and that they may write: `below`, which is relative, in `root`. It
    /// is made if it is missing. It and the directories between it and `root` are this user's alone: of those that
    /// exist others lose their access, and one that is a symbolic link or another user's is an error. `root` itself is
    /// as it is. Default is the home directory, which is hidden from commands.
    pub fn home(mut self, root: impl Into<PathBuf>, below: impl Into<PathBuf>) -> Self {
        self.home = Some(OwnHome::new(root.into(), below.into()));
        self
    }

    /// Builds the sandbox. Nothing is checked or made yet: see [`Confinement::check`].
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
            looked: Mutex::default(),
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

    /// Returns the sandbox that was asked for.
    #[must_use]
    pub fn sandbox(&self) -> &Sandbox {
        &self.0.sandbox
    }

    /// Returns what confines its commands; `None` if nothing does.
    ///
    /// # Errors
    ///
    /// Nothing on this machine can confine them.
    pub fn check(&self) -> Result<Option<Backend>, SandboxError> {
        let Some(rules) = self.0.sandbox.rules() else {
            return Ok(None);
        };
        Backend::choose(rules.backend).map(Some)
    }

    /// Returns what it is, in a few words: `workspace (bubblewrap)`, `off`.
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

    /// Returns a command to be started in this directory. A relative program is looked for on PATH.
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
            home.make()?;
        }
        let Some((backend, rules)) = backend.zip(inner.sandbox.rules()) else {
            return Ok(self.unconfined(program, cwd));
        };
        let (made, temp) = self.temp()?;
        let own: Vec<PathBuf> = inner.home.iter().map(OwnHome::path).collect();
        let place = Place {
            cwd: &cwd,
            temp: &temp,
            own: &own,
            protected: &inner.protected,
            open: backend == Backend::Bubblewrap,
        };
        let plan = Plan::new(&rules, &place, Places::get())?;
        self.look_for_hard_links(&plan);
        let safe = |found: PathBuf| match plan.write.iter().any(|root| found.starts_with(root)) {
            true => {
                let reason = format!("commands may write {}", found.display());
                Err(SandboxError::Backend { backend, reason })
            }
            false => Ok(found),
        };
        let (means, seen) = match backend {
            Backend::Bubblewrap => {
                let reason = NO_BWRAP.to_owned();
                let bwrap = bwrap().ok_or(SandboxError::Backend { backend, reason })?;
                let bwrap = safe(bwrap.clone())?;
                // What commands write does not start what confines them.
                let helper = helper::program().ok().and_then(|helper| safe(helper).ok());
                let means = Means::Bubblewrap {
                    bwrap,
                    plan: Box::new(plan),
                    helper,
                };
                (means, PathBuf::from("/tmp"))
            }
            Backend::Landlock => {
                let means = Means::Landlock {
                    helper: safe(helper::program()?)?,
                    task: helper::task(&plan)?,
                };
                (means, temp)
            }
        };
        let mut environment = self.environment();
        environment.set("TMPDIR", &seen);
        if inner.home.is_none() {
            environment.set("XDG_CACHE_HOME", seen.join(".cache"));
        }
        let made = Some(made);
        Ok(ConfinedCommand::new(program, cwd, environment, means, made))
    }

    /// Warns, once for a directory, of files in what commands write that have names outside of it: those are written, too.
    /// Nothing waits for the look.
    fn look_for_hard_links(&self, plan: &Plan) {
        let mut looked = self.0.looked.lock().unwrap_or_else(PoisonError::into_inner);
        let new = plan
            .write
            .iter()
            .filter(|root| looked.insert((*root).clone()));
        let new: Vec<_> = new.cloned().collect();
        drop(looked);
        if new.is_empty() {
            return;
        }
        let kept = plan.hidden.union(&plan.read_only).cloned();
        let kept: BTreeSet<PathBuf> = kept.collect();
        let look = move || new.iter().for_each(|root| warn_of_hard_links(root, &kept));
        let thread = std::thread::Builder::new().name("hard-links".to_owned());
        // Without a thread there is no warning.
        drop(thread.spawn(look));
    }

    /// Makes a command that nothing confines. It ends with this process where this program can be started again.
    fn unconfined(&self, program: &OsStr, cwd: PathBuf) -> ConfinedCommand {
        let means = match helper::program() {
            Ok(helper) => Means::Tied { helper },
            Err(_) => Means::Alone,
        };
        ConfinedCommand::new(program, cwd, self.environment(), means, None)
    }

    fn environment(&self) -> Environment {
        let mut environment = Environment::inherited(&self.0.environment);
        if let Some(home) = &self.0.home {
            environment.set("HOME", home.path());
        }
        environment
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

fn warn_of_hard_links(root: &Path, kept: &BTreeSet<PathBuf>) {
    let found = HardLinks::find(root, |path| kept.contains(path));
    if let Some(example) = found.example {
        let directory = root.display();
        tracing::warn!(
            files = found.files,
            example = %example.display(),
            is_part = found.is_part,
            "files in {directory} may have other names outside of it (hard links): what a command writes to them is written \
             there, too"
        );
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
