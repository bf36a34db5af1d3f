//! Models, tools and servers that stand in for real ones.

mod broken_off;
mod crowd;
mod noted;
mod noted_model;
mod noted_tool;
mod streaming;
mod stubborn_server;

pub use self::{
    broken_off::BrokenOffAnswer,
    crowd::Crowd,
    noted::{input_of, noted_agent, run_locally},
    noted_model::NotedModel,
    noted_tool::NotedTool,
    streaming::{Pieces, StreamingModel, Watcher},
    stubborn_server::StubbornServer,
};
