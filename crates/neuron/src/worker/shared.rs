//! What a worker has on every engine.

use std::{sync::Arc, time::Duration};

use neuron_engine::Life;
use neuron_executor::{EventSink, Sessions};

use crate::agent::Parts;

/// The agents of a worker, and the settings that it has on every engine.
#[derive(Default)]
pub(crate) struct Shared {
    pub(crate) agents: Vec<Arc<Parts>>,
    pub(crate) sessions: Option<Arc<dyn Sessions>>,
    pub(crate) sink: Option<Arc<dyn EventSink>>,
    pub(crate) grace: Option<Duration>,
    pub(crate) accept_definitions: bool,
    /// Shows whether the worker lives, and whether it is stopping.
    pub(crate) life: Life,
}
