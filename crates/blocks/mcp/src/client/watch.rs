//! Looking after the servers of a process.

use std::time::Duration;

use futures::future::join_all;
use tokio::{
    task::JoinHandle,
    time::{self, Instant},
};
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::McpClient;

/// How long the end waits for a look that is under way.
const LAST_LOOK: Duration = Duration::from_secs(5);

/// The task that looks after the servers. Dropping it ends the task at once.
pub(crate) struct Watch {
    task: JoinHandle<()>,
    ending: CancellationToken,
}

impl Watch {
    /// Starts the task that looks at each of the servers this often.
    pub(crate) fn over(clients: Vec<McpClient>, every: Duration) -> Self {
        let ending = CancellationToken::new();
        let looks = clients.into_iter().map({
            let ending = ending.clone();
            move |client| look_after(client, every, ending.clone())
        });
        let looks = join_all(looks);
        Self {
            task: tokio::spawn(async move {
                looks.await;
            }),
            ending,
        }
    }

    /// Lets a look that is under way come to its end: a server that it has just started is ended like the
    /// others then.
    pub(crate) async fn end(mut self) {
        self.ending.cancel();
        drop(time::timeout(LAST_LOOK, &mut self.task).await);
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn look_after(client: McpClient, every: Duration, ending: CancellationToken) {
    let mut ticks = time::interval_at(Instant::now() + every, every);
    ticks.set_missed_tick_behavior(time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = ending.cancelled() => return,
            _ = ticks.tick() => {}
        }
        if let Err(error) = client.look().await {
            warn!(server = client.name(), %error, "an MCP server is not there");
        }
    }
}
