//! How often a run was lost with its process at its present place.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, AtomicU32, Ordering},
};

use crate::journal::{
    store::{journal::blocking, lock::RunLock},
    tables::recording::Reached,
};

/// How many processes in a row were lost with a run at its present place.
///
/// The record of this is a note in the run's lock file, and not in the journal: it is written once when a run is taken
/// up, in a few microseconds, and if the note gets lost, only the count is lost. The note has how far the journal was,
/// and how many processes have begun to act there. A process that releases the run in order empties the note; one that
/// is killed leaves it.
#[derive(Debug)]
pub(crate) struct Losses {
    lock: Arc<RunLock>,
    /// How far the journal was when the run was taken up.
    reached: Reached,
    /// How many processes were lost there by then, one after another.
    before: AtomicU32,
    /// The first wait that the journal did not answer.
    live_from: OnceLock<i64>,
    /// Whether this process has written its note.
    is_noted: AtomicBool,
    /// Whether there is a note, of this process or of one before it.
    is_there: AtomicBool,
}

impl Losses {
    /// Reads what the processes before this one left.
    pub(crate) fn read(lock: Arc<RunLock>, reached: Reached) -> Self {
        let note = lock.read_note();
        Self {
            lock,
            reached,
            before: AtomicU32::new(lost_by(&note, reached)),
            live_from: OnceLock::new(),
            is_noted: AtomicBool::new(false),
            is_there: AtomicBool::new(!note.is_empty()),
        }
    }

    /// Records that the journal has no answer to this wait: what was started before it was in flight when the run was
    /// taken up.
    pub(crate) fn goes_live(&self, wait: i64) {
        self.live_from.get_or_init(|| wait);
    }

    /// Returns how many processes in a row were lost with this operation in flight.
    pub(crate) fn of(&self, op: i64) -> u32 {
        let was_in_flight = self.live_from.get().is_some_and(|live| op < *live);
        if was_in_flight {
            self.before.load(Ordering::Relaxed)
        } else {
            0
        }
    }

    /// Writes the note that this process acts from here on. Only the first call does.
    pub(crate) async fn note(self: &Arc<Self>) {
        if self.is_noted.swap(true, Ordering::Relaxed) {
            return;
        }
        self.is_there.store(true, Ordering::Relaxed);
        let times = self.before.load(Ordering::Relaxed).saturating_add(1);
        self.write(note_of(self.reached, times)).await;
    }

    /// Records that the process releases the run in order: the run is not lost.
    pub(crate) async fn let_go(self: &Arc<Self>) {
        if !self.is_there.swap(false, Ordering::Relaxed) {
            return;
        }
        self.is_noted.store(false, Ordering::Relaxed);
        self.before.store(0, Ordering::Relaxed);
        self.write(String::new()).await;
    }

    async fn write(self: &Arc<Self>, note: String) {
        let this = Arc::clone(self);
        let written = blocking(move || {
            if let Err(error) = this.lock.write_note(&note) {
                tracing::debug!(%error, "that a run is under way cannot be noted");
            }
            Ok(())
        });
        // This only fails when the runtime ends, and with it the run here.
        drop(written.await);
    }
}

fn note_of(Reached { place, attempts }: Reached, times: u32) -> String {
    format!("{place} {attempts} {times}\n")
}

/// Returns how many processes in a row were lost while the journal was here, according to the note of the last one.
fn lost_by(note: &str, reached: Reached) -> u32 {
    let mut words = note.split_whitespace();
    let (Some(place), Some(attempts), Some(Ok(times))) = (
        words.next(),
        words.next(),
        words.next().map(str::parse::<u32>),
    ) else {
        return 0;
    };
    let was_here = place == reached.place.to_string() && attempts == reached.attempts.to_string();
    // A process that got further was lost here once.
    if was_here { times } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_counts_with_those_before_it_where_the_journal_got_no_further() {
        let here = Reached {
            place: 7,
            attempts: 3,
        };
        let further = Reached { place: 8, ..here };
        let tried = Reached {
            attempts: 6,
            ..here
        };
        let note = note_of(here, 4);
        assert_eq!(lost_by(&note, here), 4);
        assert_eq!(lost_by(&note, further), 1);
        assert_eq!(lost_by(&note, tried), 1);
        for none in ["", "\n", "7 3", "7 3 many"] {
            assert_eq!(lost_by(none, here), 0, "{none:?}");
        }
    }
}
