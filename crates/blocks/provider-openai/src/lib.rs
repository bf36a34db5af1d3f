#![doc = include_str!("../README.md")]

mod arguments;
mod builder;
mod chat;
mod failure;
mod form;
mod format;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod location;
mod model;
pub mod models;
mod reasoning;
mod responses;
mod schema;
mod tools;

pub use builder::{DEFAULT_BASE_URL, OpenAiBuilder};
pub use chat::dialect::{ChatSettings, SystemRole, TokenLimitField};
pub use chat::provider::OpenAiChat;
pub use responses::compact::Compacted;
pub use responses::provider::OpenAiResponses;
pub use responses::settings::ResponsesSettings;
