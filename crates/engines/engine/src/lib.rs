#![doc = include_str!("../README.md")]

mod body;
mod client;
mod door;
mod health;
mod ledger;
mod left;
mod segment;
mod transcript;

pub use body::{AgentSignal, BadSignal, CancelBody, DecisionBody};
pub use client::{
    Became, Cause, Cursor, EventPage, OpenTicket, PageRequest, RunClient, RunClientError,
    RunFilter, RunFuture, RunHandle, RunPage, TicketPage,
};
pub use door::end_event;
pub use health::{Health, Life, serve_health};
pub use ledger::{RunClock, RunLedger, Unobserved};
pub use left::{UnreadRequest, cannot_go_on, ends_run, hold_up, read_request};
pub use segment::{Pace, SegmentSize};
pub use transcript::{KnownSteps, SegmentBegin};
