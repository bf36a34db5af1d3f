//! The engines for tests: how they are found, started and killed.

#[cfg(feature = "docker")]
mod docker;
mod engine;
mod engine_error;
mod engine_settings;
mod launcher;
mod native;
mod time_skipping;

pub use self::{
    engine::EngineServer,
    engine_error::EngineError,
    launcher::{Addresses, Engine, Launcher},
    time_skipping::TimeSkippingServer,
};
