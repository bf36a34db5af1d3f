//! The names of Claude models, for [`RequestHead::new`](neuron_types::RequestHead::new).
//!
//! They are what this crate knows the [capabilities](crate::ModelCapabilities) of. Any other name can be asked for too: a
//! name with a date holds a model to one snapshot.
//!
//! ```
//! use neuron_provider_anthropic::{ModelCapabilities, models};
//!
//! assert_eq!(ModelCapabilities::of(models::CLAUDE_OPUS_5_5).sampling, Some(false));
//! ```

/// Claude Fable 5.1.
pub const CLAUDE_FABLE_5_1: &str = "claude-fable-5-1";
/// Claude Fable 5.
pub const CLAUDE_FABLE_5: &str = "claude-fable-5";
/// Claude Opus 5.5.
pub const CLAUDE_OPUS_5_5: &str = "claude-opus-5-5";
/// Claude Opus 5.
pub const CLAUDE_OPUS_5: &str = "claude-opus-5";
/// Claude Opus 4.8.
pub const CLAUDE_OPUS_4_8: &str = "claude-opus-4-8";
/// Claude Opus 4.7.
pub const CLAUDE_OPUS_4_7: &str = "claude-opus-4-7";
/// Claude Opus 4.6.
pub const CLAUDE_OPUS_4_6: &str = "claude-opus-4-6";
/// Claude Opus 4.5.
pub const CLAUDE_OPUS_4_5: &str = "claude-opus-4-5";
/// Claude Sonnet 5.5.
pub const CLAUDE_SONNET_5_5: &str = "claude-sonnet-5-5";
/// Claude Sonnet 5.
pub const CLAUDE_SONNET_5: &str = "claude-sonnet-5";
/// Claude Haiku 5.5.
pub const CLAUDE_HAIKU_5_5: &str = "claude-haiku-5-5";
/// Claude Haiku 4.5.
pub const CLAUDE_HAIKU_4_5: &str = "claude-haiku-4-5";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ModelCapabilities;

    #[test]
    fn what_each_model_takes_is_known() {
        for name in [
            CLAUDE_FABLE_5_1,
            CLAUDE_FABLE_5,
            CLAUDE_OPUS_5_5,
            CLAUDE_OPUS_5,
            CLAUDE_OPUS_4_8,
            CLAUDE_OPUS_4_7,
            CLAUDE_OPUS_4_6,
            CLAUDE_OPUS_4_5,
            CLAUDE_SONNET_5_5,
            CLAUDE_SONNET_5,
            CLAUDE_HAIKU_5_5,
            CLAUDE_HAIKU_4_5,
        ] {
            let capabilities = ModelCapabilities::of(name);
            assert!(capabilities.sampling.is_some(), "{name}");
            assert!(capabilities.efforts.is_some(), "{name}");
        }
    }
}
