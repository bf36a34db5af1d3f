//! Threads that start programs for the life of this process.
//!
//! A program that is to end with its parent ends with the thread that started it, and a filter of system calls holds for
//! a thread and what it starts. So there are threads for this that never end, one for each filter.

use std::{
    io,
    sync::{
        OnceLock,
        mpsc::{self, Sender},
    },
    thread,
};

use tokio::{
    process::{Child, Command},
    runtime::Handle,
};

use crate::filter::{Filter, Shared};

type Job = Box<dyn FnOnce() + Send>;

/// Starts a command behind a filter; without one, nothing is filtered. Needs a runtime, as [`Command::spawn`] does.
pub(crate) fn spawn(filter: Option<Filter>, mut command: Command) -> io::Result<Child> {
    static PLAIN: OnceLock<Result<Sender<Job>, String>> = OnceLock::new();
    static CLOSED: OnceLock<Result<Sender<Job>, String>> = OnceLock::new();
    static OPEN: OnceLock<Result<Sender<Job>, String>> = OnceLock::new();
    let runtime = Handle::try_current().map_err(io::Error::other)?;
    let thread = match filter {
        None => &PLAIN,
        Some(Filter::Closed) => &CLOSED,
        Some(Filter::Open) => &OPEN,
    };
    let jobs = thread
        .get_or_init(|| start(filter).map_err(|error| error.to_string()))
        .as_ref()
        .map_err(|error| io::Error::other(error.clone()))?;
    let (sender, receiver) = mpsc::sync_channel(1);
    let job = move || {
        let _runtime = runtime.enter();
        // The caller waits for it.
        drop(sender.send(command.spawn()));
    };
    let gone = |_| io::Error::other("the thread that starts programs has ended");
    jobs.send(Box::new(job))
        .map_err(|_| gone(mpsc::RecvError))?;
    receiver.recv().map_err(gone)?
}

fn start(filter: Option<Filter>) -> io::Result<Sender<Job>> {
    let (jobs, work) = mpsc::channel::<Job>();
    let (sender, ready) = mpsc::sync_channel(1);
    let run = move || {
        let filtered = filter.map_or(Ok(()), |filter| filter.apply(Shared::Own));
        let works = filtered.is_ok();
        // The other end waits for it.
        drop(sender.send(filtered));
        if works {
            work.into_iter().for_each(|job| job());
        }
    };
    thread::Builder::new()
        .name("neuron-spawner".to_owned())
        .spawn(run)?;
    ready.recv().map_err(io::Error::other)??;
    Ok(jobs)
}
