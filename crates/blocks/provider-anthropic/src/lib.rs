#![doc = include_str!("../README.md")]

mod answer;
mod client;
mod container;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod model;
pub mod models;
mod refusal;
mod request;
mod settings;

pub use client::anthropic::Anthropic;
pub use client::builder::{AnthropicBuilder, DEFAULT_BASE_URL, DEFAULT_MAX_TOKENS};
pub use client::compact::Summary;
pub use client::count::TokenCount;
pub use client::models::ModelInfo;
pub use model::capabilities::ModelCapabilities;
pub use model::display::ThinkingDisplay;
pub use model::version::ApiVersion;
pub use refusal::UNSUPPORTED;
