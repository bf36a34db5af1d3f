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

use crate::filter::{Filter, Shared};

type Job = Box<dyn FnOnce() + Send>;

/// Starts something behind a filter; without one, nothing is filtered. Waits until `starts` has returned, which must not
/// take long: others wait for the thread.
pub(crate) fn start<T: Send + 'static>(
    filter: Option<Filter>,
    starts: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    static PLAIN: OnceLock<Result<Sender<Job>, String>> = OnceLock::new();
    static CLOSED: OnceLock<Result<Sender<Job>, String>> = OnceLock::new();
    static OPEN: OnceLock<Result<Sender<Job>, String>> = OnceLock::new();
    let thread = match filter {
        None => &PLAIN,
        Some(Filter::Closed) => &CLOSED,
        Some(Filter::Open) => &OPEN,
    };
    let jobs = thread
        .get_or_init(|| begin(filter).map_err(|error| error.to_string()))
        .as_ref()
        .map_err(|error| io::Error::other(error.clone()))?;
    let (sender, receiver) = mpsc::sync_channel(1);
    let job = move || {
        // The caller waits for it.
        drop(sender.send(starts()));
    };
    let gone = |_| io::Error::other("the thread that starts programs has ended");
    jobs.send(Box::new(job))
        .map_err(|_| gone(mpsc::RecvError))?;
    receiver.recv().map_err(gone)?
}

fn begin(filter: Option<Filter>) -> io::Result<Sender<Job>> {
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
