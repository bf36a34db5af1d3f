//! This program started again, to confine a command with Landlock and to end what it leaves.

use std::{
    env,
    ffi::OsString,
    os::unix::process::ExitStatusExt as _,
    path::{self, Path, PathBuf},
    process::{Command, ExitStatus, Stdio, exit},
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use rustix::process::{
    DumpableBehavior, Pid, Signal, WaitOptions, getpid, getppid, kill_process, set_child_subreaper,
    set_dumpable_behavior, set_parent_process_death_signal, wait,
};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
use serde::{Deserialize, Serialize};
use signal_hook::{consts::SIGTERM, iterator::Signals};

use crate::{
    descendants::descendants,
    descriptors,
    error::SandboxError,
    filter::{Filter, Shared},
    landlock,
    limits::Limits,
    order::Order,
    plan::Plan,
    tie,
};

/// The first argument of the helper. The descriptor of its [`Order`] follows, and the program with its arguments.
pub(crate) const WORD: &str = "--neuron-sandbox-helper";
/// The first argument of a helper that only says that it could be started, and what it says.
const ANSWER: &str = "--neuron-sandbox-answer";
/// The exit code when nothing was started, as shells have it.
const NOT_STARTED: i32 = 126;
/// The exit code after SIGTERM, as shells have it.
const TERMINATED: i32 = 128 + SIGTERM;
/// How often what was killed is looked at.
const POLL: Duration = Duration::from_micros(200);

static DISPATCHES: AtomicBool = AtomicBool::new(false);
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Serves as the sandbox's helper if this process was started for that, and returns otherwise.
///
/// Call it first in `main`, before threads are started and arguments are read. It also keeps other processes of the user
/// from reading this one's memory and environment, which switches core dumps off.
///
/// # Examples
///
/// ```
/// neuron_sandbox::dispatch();
/// // The program goes on as ever.
/// ```
pub fn dispatch() {
    let mut args = env::args_os().skip(1);
    match args.next() {
        Some(word) if word == WORD => exit(serve(args)),
        Some(word) if word == ANSWER => exit(answer()),
        Some(word) if word == tie::WORD => exit(tie::serve(args)),
        _ => {}
    }
    DISPATCHES.store(true, Ordering::Relaxed);
    // A debugger may have forbidden it.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

/// Names a program that calls [`dispatch`], to be the helper of this one. For programs whose `main` is not theirs, such
/// as tests. The first name holds. One that commands may write confines none.
pub fn use_helper(program: impl Into<PathBuf>) {
    let program = program.into();
    // It is started elsewhere.
    let program = path::absolute(&program).unwrap_or(program);
    // The first one holds.
    drop(PROGRAM.set(program));
}

/// Returns the program to start as the helper. That it can be is found out once.
pub(crate) fn program() -> Result<PathBuf, SandboxError> {
    static STARTS: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let program = match PROGRAM.get() {
        Some(program) => program,
        // This very program, though another one may have been put in its place.
        None if DISPATCHES.load(Ordering::Relaxed) => Path::new("/proc/self/exe"),
        None => return Err(SandboxError::NoHelper),
    };
    STARTS
        .get_or_init(|| try_start(program).map(|()| program.to_owned()))
        .clone()
        .map_err(SandboxError::HelperFails)
}

/// Starts the helper as it is for commands. One whose libraries are found by its environment alone does not start.
fn try_start(program: &Path) -> Result<(), String> {
    let tried = Command::new(program)
        .arg(ANSWER)
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    if tried.stdout == ANSWER.as_bytes() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&tried.stderr);
    let said = said.lines().next().unwrap_or("it does not answer");
    Err(format!("{}: {said}", program.display()))
}

fn answer() -> i32 {
    print!("{ANSWER}");
    0
}

/// What the helper is to do.
#[derive(Debug, Serialize, Deserialize)]
struct Task {
    plan: Plan,
    /// The process that it works for.
    parent: i32,
}

/// Returns the task of a helper that confines a command by this plan.
pub(crate) fn task(plan: &Plan) -> Result<String, SandboxError> {
    let task = Task {
        plan: plan.clone(),
        parent: getpid().as_raw_nonzero().get(),
    };
    serde_json::to_string(&task).map_err(|_| SandboxError::NotText)
}

fn serve(mut args: impl Iterator<Item = OsString>) -> i32 {
    let order = args.next().and_then(|number| Order::read(&number).ok());
    let task = order.and_then(|order| {
        let task: Task = serde_json::from_str(&order.task).ok()?;
        Some((task, order))
    });
    let (Some((task, order)), Some(program)) = (task, args.next()) else {
        eprintln!("the sandbox's helper got no task");
        return NOT_STARTED;
    };
    descriptors::hand_down_only(&[]);
    let mut command = Command::new(program);
    command
        .args(args)
        .env_clear()
        .envs(order.environment.iter())
        .current_dir(order.cwd);
    match run(&task, command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("cannot confine the command: {error}");
            NOT_STARTED
        }
    }
}

/// Runs the command, ends what it started, and returns its exit code.
fn run(task: &Task, command: Command) -> Result<i32, String> {
    let text = |error: rustix::io::Errno| error.to_string();
    let mut signals = Signals::new([SIGTERM]).map_err(|error| error.to_string())?;
    set_child_subreaper(Some(getpid())).map_err(text)?;
    set_parent_process_death_signal(Some(Signal::TERM)).map_err(text)?;
    let parent = getppid().map(|parent| parent.as_raw_nonzero().get());
    if parent != Some(task.parent) {
        return Ok(TERMINATED);
    }
    Limits::set_here(&task.plan).map_err(|error| error.to_string())?;
    let command = spawn_confined(task.plan.clone(), command)?;
    thread::spawn(move || {
        if signals.forever().next().is_some() {
            end_descendants();
            exit(TERMINATED);
        }
    });
    let code = loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == command => {
                let status = ExitStatus::from_raw(status.as_raw());
                let signal = status.signal().map(|signal| 128 + signal);
                break status.code().or(signal).unwrap_or(NOT_STARTED);
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            // The other thread has ended it.
            Err(_) => break TERMINATED,
        }
    };
    end_descendants();
    Ok(code)
}

/// Starts the command from a thread that is confined, so that this process is not.
fn spawn_confined(plan: Plan, mut command: Command) -> Result<Pid, String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut confined = || {
            landlock::restrict(&plan)?;
            // Root has them, and Landlock does not know of all that can be done with them. They are not had again, as
            // no new privileges are.
            let none = CapabilitySets {
                effective: CapabilitySet::empty(),
                permitted: CapabilitySet::empty(),
                inheritable: CapabilitySet::empty(),
            };
            set_capabilities(None, none).map_err(|error| error.to_string())?;
            let filter = Filter::of(plan.network);
            filter
                .apply(Shared::Users)
                .map_err(|error| error.to_string())?;
            let program = command.get_program().to_owned();
            let child = command.spawn();
            child.map_err(|error| format!("{}: {error}", program.display()))
        };
        // The other end waits for it.
        drop(sender.send(confined()));
    });
    let child = receiver.recv().map_err(|error| error.to_string())??;
    let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    id.ok_or_else(|| "the command has no process id".to_owned())
}

/// Kills what descends from this process until nothing does. What loses its parent becomes a child of this process,
/// so nothing gets away.
fn end_descendants() {
    loop {
        for process in descendants(getpid()) {
            // It may have ended.
            let _ = kill_process(process, Signal::KILL);
        }
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) => {}
            Ok(None) | Err(rustix::io::Errno::INTR) => thread::sleep(POLL),
            Err(_) => return,
        }
    }
}
