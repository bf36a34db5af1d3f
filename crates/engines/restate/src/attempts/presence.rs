//! Whether the server is present: whether it has a connection to this worker.

use std::{future::pending, sync::Arc, time::Duration};

use tokio::{sync::watch, time::timeout};

/// Counts the server's connections. If they are not counted, the server counts as present.
#[derive(Debug, Default)]
pub(crate) struct Presence(watch::Sender<Seen>);

#[derive(Debug, Default)]
struct Seen {
    /// `None` if connections are not counted.
    connections: Option<usize>,
    /// How often the last connection has ended.
    absences: u64,
}

impl Seen {
    fn is_there(&self) -> bool {
        self.connections != Some(0)
    }
}

impl Presence {
    /// Starts counting: the server is absent until its first connection.
    pub(crate) fn count(&self) {
        self.0.send_modify(|seen| seen.connections = Some(0));
    }

    /// Counts a connection, which lasts until the result is dropped.
    pub(crate) fn connected(self: &Arc<Self>) -> Connected {
        self.0.send_modify(|seen| {
            seen.connections = seen.connections.map(|open| open.saturating_add(1));
        });
        Connected(Arc::clone(self))
    }

    /// Waits until the server has been present for this long without a break.
    pub(crate) async fn there_for(&self, time: Duration) {
        let mut news = self.0.subscribe();
        loop {
            let absences = news.wait_for(Seen::is_there).await;
            let Ok(absences) = absences.map(|seen| seen.absences) else {
                // The sender is part of this value and is not dropped.
                return pending().await;
            };
            let gone = news.wait_for(|seen| seen.absences != absences);
            if timeout(time, gone).await.is_err() {
                return;
            }
        }
    }
}

/// A connection of the server.
#[derive(Debug)]
pub(crate) struct Connected(Arc<Presence>);

impl Drop for Connected {
    fn drop(&mut self) {
        self.0.0.send_modify(|seen| {
            seen.connections = seen.connections.map(|open| open.saturating_sub(1));
            if !seen.is_there() {
                seen.absences = seen.absences.wrapping_add(1);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use tokio::time::{advance, sleep};

    use super::*;

    const TIME: Duration = Duration::from_secs(90); // Of a clock that is paused.
    const MOMENT: Duration = Duration::from_secs(1); // Of a clock that is paused.

    #[tokio::test(start_paused = true)]
    async fn a_break_of_any_length_begins_the_time_anew() {
        let presence = Arc::new(Presence::default());
        presence.count();
        let mut there = Box::pin(presence.there_for(TIME));
        sleep(10 * TIME).await; // Of a clock that is paused.
        assert!((&mut there).now_or_never().is_none());
        let first = presence.connected();
        assert!((&mut there).now_or_never().is_none());
        advance(TIME - MOMENT).await;
        let second = presence.connected();
        drop(first);
        assert!((&mut there).now_or_never().is_none());
        // Nothing looks while the server is away.
        drop(second);
        let _third = presence.connected();
        advance(TIME - MOMENT).await;
        assert!((&mut there).now_or_never().is_none());
        advance(TIME - MOMENT).await;
        assert!((&mut there).now_or_never().is_none());
        advance(MOMENT).await;
        there.await;
    }

    #[tokio::test(start_paused = true)]
    async fn it_is_taken_to_be_there_where_nobody_counts() {
        Presence::default().there_for(TIME).await;
    }
}
