//! Whether a worker lives and can take work, and what it measures, over HTTP.

mod endpoints;
mod life;

pub use endpoints::{Health, serve_health};
pub use life::Life;
