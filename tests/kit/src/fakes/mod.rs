//! Models, tools and servers that stand in for real ones.

mod broken_off;
mod crowd;
mod noted;
mod noted_model;
mod noted_tool;
mod streaming;
mod stubborn_server;
mod turnstile;

pub(crate) use self::turnstile::Passed;
pub use self::{
    broken_off::BrokenOffAnswer,
    crowd::Crowd,
    noted::{input_of, noted_agent, parked_tree, run_locally},
    noted_model::NotedModel,
    noted_tool::NotedTool,
    streaming::{Pieces, StreamingModel, Watcher},
    stubborn_server::StubbornServer,
    turnstile::{Moment, Turnstile},
};

/// Delays an answer of a fake: not at all, unless tests are to be disturbed.
pub(crate) async fn lags() {
    let lag = neuron_patience::lag();
    if !lag.is_zero() {
        tokio::time::sleep(lag).await; // It disturbs, and no test waits for it.
    }
}
