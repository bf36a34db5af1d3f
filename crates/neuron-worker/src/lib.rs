//! What worker programs share, whichever engine they serve.
//!
//! | You want to | Use |
//! | --- | --- |
//! | take the settings that every worker has | [`Settings`], flattened into the program's own |
//! | start, stop at SIGTERM or Ctrl-C, and end with the right exit code | [`run`] |
//! | serve the agents of an agent file | [`ServedAgents`] |
//! | answer `/healthz`, `/readyz` and `/metrics` | [`Health`], [`serve_health`] |
//!
//! A worker program is its settings, and a function that serves until it is told to stop:
//!
//! ```no_run
//! use neuron_worker::{ServedAgents, Settings, WorkerError, run};
//!
//! async fn serve(
//!     settings: Settings,
//!     stop: impl Future<Output = ()>,
//! ) -> Result<(), WorkerError> {
//!     let agents = ServedAgents::load(&settings).await?;
//!     println!("serving {}", agents.names().join(", "));
//!     // Here an engine hands out work.
//!     stop.await;
//!     agents.stop().await;
//!     Ok(())
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     let settings = Settings::default();
//!     run(settings.log_format, |stop| serve(settings, stop))
//! }
//! ```

mod agents;
mod error;
mod health;
mod interruption;
mod logging;
mod program;
mod settings;

pub use agents::ServedAgents;
pub use error::WorkerError;
pub use health::{Health, serve_health};
pub use program::{Stop, listen, run, say};
pub use settings::{LogFormat, Settings};
