#![doc = include_str!("../README.md")]

mod injector;
mod persistent;
mod strategies;
mod token_counter;

pub use injector::{Injected, InjectionRule, InjectionTrigger, SystemInjector};
pub use persistent::{ContextSection, PersistentContext};
pub use strategies::composite::Composite;
pub use strategies::no_compaction::NoCompaction;
pub use strategies::sliding_window::SlidingWindow;
pub use strategies::strategy::Strategy;
pub use strategies::summarization::Summarization;
pub use strategies::tool_result_clearing::ToolResultClearing;
pub use token_counter::TokenCounter;

pub use neuron_types::DEFAULT_AT_TOKENS;
