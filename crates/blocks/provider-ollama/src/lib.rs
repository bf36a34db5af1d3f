#![doc = include_str!("../README.md")]

mod address;
mod answer;
mod call;
mod client;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod keep_alive;
mod manage;
pub mod models;
mod request;
mod settings;
mod think;

pub use address::base_url_of_host;
pub use client::{DEFAULT_BASE_URL, Ollama, OllamaBuilder};
pub use keep_alive::KeepAlive;
pub use manage::details::ModelDetails;
pub use manage::installed::InstalledModel;
pub use manage::pull::{Pull, PullProgress};
pub use manage::running::RunningModel;
pub use manage::shown::ShownModel;
pub use think::Think;
