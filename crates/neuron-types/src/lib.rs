//! The vocabulary of neuron: the data that its crates exchange and the traits that they implement.
//!
//! Nothing here acts. A crate that implements a provider, a tool or an engine adapter depends on this
//! crate alone, and everything that is serialised (histories, journals, `--json` output) is defined here.
//!
//! # Where to start
//!
//! | You want to | Read |
//! | --- | --- |
//! | build or read a conversation | [`Message`], [`ContentBlock`], [`CompletionRequest`], [`CompletionResponse`] |
//! | connect a model | [`Provider`], [`ProviderError`] |
//! | write a tool | [`Tool`], [`ToolContext`], [`ToolOutput`], [`ToolError`] |
//! | describe an agent and its run | [`AgentSpec`], [`RunInput`], [`RunStatus`], [`RunOutput`], [`RunEvent`] |
//! | ask a person | [`ApprovalTicket`], [`Decision`], [`Refusal`], [`PermissionPolicy`] |
//! | put the loop on an engine | [`DurableContext`], [`ActivityOptions`], [`StepFailure`] |
//! | keep the context small | [`ContextStrategy`], [`ModelHandle`] |
//! | watch or veto effects | [`ObservabilityHook`], [`HookEvent`] |
//!
//! # Two rooms and a door
//!
//! The loop decides and may be replayed; the executor acts, at least once per step. Everything that passes
//! between them goes through [`DurableContext`]. Types that cross it are `Serialize + Deserialize`, are
//! ordered the same way every time, and hold no secret.
//!
//! ```
//! use neuron_types::{CompletionRequest, Message};
//!
//! let request = CompletionRequest {
//!     model: "gpt-6.1-terra".into(),
//!     messages: vec![Message::user("Which crates are in this workspace?")],
//!     ..CompletionRequest::default()
//! };
//! assert_eq!(request.messages[0].text(), "Which crates are in this workspace?");
//! ```

mod activity;
mod agent;
mod call_pattern;
mod context;
mod context_size;
mod durable;
mod error;
mod event;
mod failure;
mod hook;
mod limits;
mod message;
mod millis;
mod permission;
mod provider;
mod refusal;
mod reminder;
mod request;
mod response;
mod run;
mod run_state;
mod status;
mod stream;
mod ticket;
mod tool;
mod tool_context;
mod usage;
mod wasm;

pub use activity::{ActivitySettings, Placement};
pub use agent::{
    AgentSpec, ContextPolicy, ContextRule, OnUnknownOutcome, RunInput, RunStart, ToolSettings,
};
pub use call_pattern::CallPattern;
pub use context::{ContextStrategy, ModelHandle};
pub use context_size::{RequestSize, TokenCalibration};
pub use durable::{ActivityOptions, DurableContext, DurableError, RetryPolicy, StepId};
pub use error::{ContextError, HookError, InvalidRunId, ProviderError, ToolError};
pub use event::{RecordedEvent, RunEvent};
pub use failure::{FailureKind, StepFailure, with_causes};
pub use hook::{HookAction, HookEvent, ObservabilityHook};
pub use limits::Limits;
pub use message::{
    ContentBlock, ContentItem, DocumentSource, ImageSource, Message, Role, ToolResultBlock,
};
pub use permission::{ApprovalRules, PermissionDecision, PermissionPolicy};
pub use provider::{DynProvider, Provider};
pub use refusal::Refusal;
pub use reminder::{Milestone, Reminder, ReminderTrigger};
pub use request::{
    CacheControl, CacheTtl, CompletionRequest, ContextEdit, ContextManagement, ReasoningEffort,
    ResponseFormat, SystemBlock, SystemPrompt, ThinkingConfig, ToolChoice,
};
pub use response::{CompletionResponse, StopReason};
pub use run::{ExitReason, RunError, RunId, RunOutput, RunPhase, UserMessage, signal};
pub use run_state::{CallState, ContextRecord, PendingCall, RunOutcome, RunState, Stage};
pub use status::RunStatus;
pub use stream::{StreamEvent, StreamHandle};
pub use ticket::{ApprovalTicket, Decision, OnExpiry, RememberedDecision, Verdict};
pub use tool::{Tool, ToolAnnotations, ToolCall, ToolDefinition, ToolDyn, ToolEffects, ToolOutput};
pub use tool_context::{ProgressReporter, ToolContext};
pub use usage::{TokenUsage, UsageIteration, cost_sum};
pub use wasm::{WasmBoxedFuture, WasmCompatSend, WasmCompatSync};
