//! The tools of a model call.

use neuron_types::{CompletionRequest, json_bytes};

/// The tools that were sent to a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SentTools {
    /// Their names.
    pub names: Vec<String>,
    /// The size of the tools as JSON.
    pub bytes: usize,
}

impl SentTools {
    pub(crate) fn of(request: &CompletionRequest) -> Self {
        let names = request.tools.iter().map(|tool| tool.name.clone());
        Self {
            names: names.collect(),
            bytes: json_bytes(&request.tools).expect("a definition"),
        }
    }
}
