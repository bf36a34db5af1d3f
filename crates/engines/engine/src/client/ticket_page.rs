use serde::{Deserialize, Serialize};

use super::{Cursor, OpenTicket, RunPage};

/// The open tickets of some runs, the newest run first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TicketPage {
    /// The tickets: all tickets of each of these runs.
    pub tickets: Vec<OpenTicket>,
    /// Where the next page begins; `None` if this is the last.
    pub next: Option<Cursor>,
    /// One sentence about the runs whose tickets are missing here, and why; `None` if the page is complete.
    pub incomplete: Option<String>,
}

impl From<RunPage> for TicketPage {
    fn from(page: RunPage) -> Self {
        let tickets = page.runs.into_iter().flat_map(|run| {
            let run_id = run.run_id;
            run.approvals.into_iter().map(move |ticket| OpenTicket {
                run_id: run_id.clone(),
                ticket,
            })
        });
        Self {
            tickets: tickets.collect(),
            next: page.next,
            incomplete: page.incomplete,
        }
    }
}
