//! The client that every engine implements.

mod became;
mod cursor;
mod event_page;
mod open_ticket;
mod page_request;
mod run_client;
mod run_client_error;
mod run_filter;
mod run_handle;
mod run_page;
mod ticket_page;

pub use self::{
    became::Became,
    cursor::Cursor,
    event_page::EventPage,
    open_ticket::OpenTicket,
    page_request::PageRequest,
    run_client::{RunClient, RunFuture},
    run_client_error::{Cause, RunClientError},
    run_filter::RunFilter,
    run_handle::RunHandle,
    run_page::RunPage,
    ticket_page::TicketPage,
};
