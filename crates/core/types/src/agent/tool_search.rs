//! From where on a model finds its tools itself.

use serde::{Deserialize, Serialize};

/// From where on a model is not sent all tools of its agent, and finds them with [`FIND_TOOLS`](crate::FIND_TOOLS).
///
/// Above either bound, tools of servers, whose names are `SERVER__TOOL`, are sent only once they are loaded. Of the others the
/// first ones stay that are within the bounds, and 6,000 bytes together. What the loop answers itself always stays: the
/// question to a person, and the tools that start agents or hand the run over. So does the tool that
/// [must be called](crate::ToolChoice::Specific).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolSearch {
    /// How many tools are sent at most. Default is 40.
    pub above: u32,
    /// Which part they may take of the [size](crate::ContextPolicy::threshold) from which the conversation is compacted, in
    /// percent. Default is 10.
    pub at_percent: u8,
    /// Whether a provider that [searches tools itself](crate::RequestHead::searched_tools) does so in the place of
    /// [`FIND_TOOLS`](crate::FIND_TOOLS). Default is false. Not every model of such a provider can, and one that cannot
    /// answers with an error. For the models of other providers nothing changes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub provider: bool,
}

impl Default for ToolSearch {
    fn default() -> Self {
        Self {
            above: 40,
            at_percent: 10,
            provider: false,
        }
    }
}
