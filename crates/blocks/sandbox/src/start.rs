//! How commands are started: what confines them begins with nothing of theirs, nor of this process's environment.

use std::{
    ffi::{OsStr, OsString},
    io,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    bubblewrap, descriptors,
    environment::Environment,
    filter::Filter,
    helper,
    limits::{Limits, Waiting},
    order::{self, Order},
    plan::Plan,
    spawner, tie,
};

/// Where what confines begins: where no command leaves anything for it.
const ROOT: &str = "/";

/// A command, by its own words.
#[derive(Debug)]
pub(crate) struct Words {
    pub(crate) program: OsString,
    pub(crate) args: Vec<OsString>,
    pub(crate) environment: Environment,
    pub(crate) cwd: PathBuf,
}

/// What a command is started with.
#[derive(Debug)]
pub(crate) enum Means {
    /// Nothing.
    Alone,
    /// A helper that becomes the command, which then ends with the thread that starts it.
    Tied { helper: PathBuf },
    Bubblewrap {
        bwrap: PathBuf,
        plan: Box<Plan>,
        /// Becomes `bwrap`, where this program can be started again.
        helper: Option<PathBuf>,
    },
    /// A helper that confines the command; its task.
    Landlock { helper: PathBuf, task: String },
}

impl Means {
    /// Starts a command from a thread that lives on. `starts` is handed what is to be started, without input and
    /// outputs.
    ///
    /// # Errors
    ///
    /// Those of `starts`; a variable has a name or a value that is not allowed.
    pub(crate) fn start<T: Send + 'static>(
        self,
        words: &Words,
        starts: impl FnOnce(Command) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        words.environment.check()?;
        let (mut command, waiting) = self.command(words)?;
        command.process_group(0);
        if !self.closes() {
            descriptors::hand_down_only(&[]);
        }
        match &self {
            Self::Alone => starts(command),
            Self::Tied { .. } | Self::Landlock { .. } => {
                spawner::start(None, move || starts(command))
            }
            Self::Bubblewrap { plan, .. } => {
                let filter = Filter::of(plan.network);
                let started = spawner::start(Some(filter), move || starts(command))?;
                waiting.map_or(Ok(()), Waiting::set)?;
                Ok(started)
            }
        }
    }

    /// Returns whether a helper closes the descriptors that are not the command's.
    fn closes(&self) -> bool {
        match self {
            Self::Alone => false,
            Self::Bubblewrap { helper, .. } => helper.is_some(),
            Self::Tied { .. } | Self::Landlock { .. } => true,
        }
    }

    /// Returns what is to be started, and what waits for its limits then.
    fn command(&self, words: &Words) -> io::Result<(Command, Option<Waiting>)> {
        let Words {
            program,
            args,
            environment,
            cwd,
        } = words;
        match self {
            Self::Alone => {
                let mut command = Command::new(program);
                command
                    .args(args)
                    .env_clear()
                    .envs(environment.iter())
                    .current_dir(cwd);
                Ok((command, None))
            }
            Self::Tied { helper } => {
                let order = Order {
                    task: tie::task(&[]),
                    cwd: cwd.clone(),
                    environment: environment.clone(),
                };
                let mut command = ordered(helper, tie::WORD, &order, program, Vec::new())?;
                command.args(args);
                Ok((command, None))
            }
            Self::Landlock { helper, task } => {
                let order = Order {
                    task: task.clone(),
                    cwd: cwd.clone(),
                    environment: environment.clone(),
                };
                let mut command = ordered(helper, helper::WORD, &order, program, Vec::new())?;
                command.args(args);
                Ok((command, None))
            }
            Self::Bubblewrap {
                bwrap,
                plan,
                helper,
            } => {
                let options = order::sealed(bubblewrap::options(plan, cwd, environment))?;
                let number = descriptors::number(&options);
                let (waiting, told, further) = match Limits::of(plan).map(Waiting::new) {
                    None => (None, None, None),
                    Some(made) => {
                        let (waiting, told, further) = made?;
                        (Some(waiting), Some(told), Some(further))
                    }
                };
                let inherited: Vec<_> = [options]
                    .into_iter()
                    .chain(further.into_iter().flatten())
                    .collect();
                let mut command = match helper {
                    Some(helper) => {
                        let numbers: Vec<_> = inherited.iter().map(descriptors::number).collect();
                        let order = Order {
                            task: tie::task(&numbers),
                            cwd: ROOT.into(),
                            environment: Environment::default(),
                        };
                        ordered(helper, tie::WORD, &order, bwrap.as_os_str(), inherited)?
                    }
                    None => {
                        let mut command = clean(bwrap);
                        descriptors::hand_down(&mut command, inherited);
                        command
                    }
                };
                command
                    .args(bubblewrap::arguments(number, told))
                    .arg(program)
                    .args(args);
                Ok((command, waiting))
            }
        }
    }
}

/// Returns a program with no environment, in no directory that a command writes.
fn clean(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().current_dir(ROOT);
    command
}

/// Returns a helper that has an order for a program, whose arguments follow. These descriptors are handed down, too.
fn ordered(
    helper: &Path,
    word: &str,
    order: &Order,
    program: &OsStr,
    mut descriptors: Vec<std::os::fd::OwnedFd>,
) -> io::Result<Command> {
    let order = order.sealed()?;
    let number = descriptors::number(&order).to_string();
    descriptors.push(order);
    let mut command = clean(helper);
    command.args([OsStr::new(word), OsStr::new(&number), program]);
    descriptors::hand_down(&mut command, descriptors);
    Ok(command)
}
