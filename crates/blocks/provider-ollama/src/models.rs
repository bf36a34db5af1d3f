//! Names of models in Ollama's library, for [`RequestHead::new`](neuron_types::RequestHead::new).
//!
//! A server has those that were pulled; any other name of its models can be asked for too, with a tag such as `qwen3:8b` or
//! without.
//!
//! ```
//! use neuron_provider_ollama::models;
//! use neuron_types::RequestHead;
//!
//! assert_eq!(RequestHead::new(models::QWEN3).model, "qwen3");
//! ```

/// Qwen 3, which calls tools and thinks.
pub const QWEN3: &str = "qwen3";
/// gpt-oss, which takes levels of thinking and does not stop thinking.
pub const GPT_OSS: &str = "gpt-oss";
