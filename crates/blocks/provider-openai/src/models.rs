//! The names of OpenAI's models, for [`RequestHead::new`](neuron_types::RequestHead::new).
//!
//! They are what this crate [checks requests](crate::OpenAiBuilder::check_models) for. Any other name can be asked for too: a
//! name with a date holds a model to one snapshot.
//!
//! ```
//! use neuron_provider_openai::models;
//! use neuron_types::RequestHead;
//!
//! let head = RequestHead::new(models::GPT_6_1_TERRA);
//! assert_eq!(head.model, "gpt-6.1-terra");
//! ```

/// GPT-6.2 sol.
pub const GPT_6_2_SOL: &str = "gpt-6.2-sol";
/// GPT-6.2 astra.
pub const GPT_6_2_ASTRA: &str = "gpt-6.2-astra";
/// GPT-6.1 sol.
pub const GPT_6_1_SOL: &str = "gpt-6.1-sol";
/// GPT-6.1 terra.
pub const GPT_6_1_TERRA: &str = "gpt-6.1-terra";
/// GPT-6 astra.
pub const GPT_6_ASTRA: &str = "gpt-6-astra";
/// GPT-6 sol.
pub const GPT_6_SOL: &str = "gpt-6-sol";
/// GPT-6 luna.
pub const GPT_6_LUNA: &str = "gpt-6-luna";
/// GPT-5.6.
pub const GPT_5_6: &str = "gpt-5.6";
/// GPT-5.6 sol.
pub const GPT_5_6_SOL: &str = "gpt-5.6-sol";
/// GPT-5.6 terra.
pub const GPT_5_6_TERRA: &str = "gpt-5.6-terra";
/// GPT-5.6 luna.
pub const GPT_5_6_LUNA: &str = "gpt-5.6-luna";
/// GPT-5.5.
pub const GPT_5_5: &str = "gpt-5.5";
/// GPT-5.4.
pub const GPT_5_4: &str = "gpt-5.4";
/// GPT-5.4 mini.
pub const GPT_5_4_MINI: &str = "gpt-5.4-mini";
/// GPT-5.4 nano.
pub const GPT_5_4_NANO: &str = "gpt-5.4-nano";
/// GPT-5.2.
pub const GPT_5_2: &str = "gpt-5.2";
/// GPT-5.1.
pub const GPT_5_1: &str = "gpt-5.1";
/// GPT-5.
pub const GPT_5: &str = "gpt-5";
/// GPT-5 mini.
pub const GPT_5_MINI: &str = "gpt-5-mini";
/// GPT-5 nano.
pub const GPT_5_NANO: &str = "gpt-5-nano";
/// o3.
pub const O3: &str = "o3";
/// o4-mini.
pub const O4_MINI: &str = "o4-mini";
/// GPT-4.1.
pub const GPT_4_1: &str = "gpt-4.1";
/// GPT-4.1 mini.
pub const GPT_4_1_MINI: &str = "gpt-4.1-mini";
/// GPT-4.1 nano.
pub const GPT_4_1_NANO: &str = "gpt-4.1-nano";
/// GPT-4o.
pub const GPT_4O: &str = "gpt-4o";
/// GPT-4o mini.
pub const GPT_4O_MINI: &str = "gpt-4o-mini";
