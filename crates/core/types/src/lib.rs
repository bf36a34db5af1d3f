#![doc = include_str!("../README.md")]

mod agent;
mod context;
mod door;
mod effect;
mod error;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod guard;
mod hex;
mod hook;
mod id;
mod json;
mod letters;
mod message;
mod request;
mod run;
mod secret;
mod step;
mod ticket;
mod tool;
mod usage;
mod verdict;
mod wasm;

pub use neuron_policy::{ArgumentKind, CallPattern, Certainty, JudgedCall};

pub use agent::caller_setting::CallerSetting;
pub use agent::current::{CurrentDefinition, DefinitionRequest};
pub use agent::handoff::{HandedConversation, Handoff};
pub use agent::on_halt::OnHalt;
pub use agent::on_loop::OnLoop;
pub use agent::origin::AgentOrigin;
pub use agent::override_rejected::OverrideRejected;
pub use agent::overrides::Overrides;
pub use agent::reminder::{Milestone, Reminder, ReminderTrigger};
pub use agent::run_policy::RunPolicy;
pub use agent::skill::SkillSpec;
pub use agent::spec::{
    AgentSpec, ContextPolicy, ContextRule, DEFAULT_AT_TOKENS, OnUnknownOutcome, ToolSettings,
};
pub use agent::sub_agent::SubAgent;
pub use agent::tool_search::ToolSearch;
pub use context::{ContextStrategy, ModelHandle};
pub use door::{DurableContext, End, Handle, Observed, Signal, Started};
pub use effect::{Effect, EffectKind, Needed, Outcome, Step};
pub use error::context::ContextError;
pub use error::durable::DurableError;
pub use error::failure::{StepFailure, causes, with_causes};
pub use error::hook::HookError;
pub use error::kind::FailureKind;
pub use error::provider::ProviderError;
pub use error::tool::ToolError;
pub use guard::error::GuardError;
pub use guard::guardrail::{
    GuardrailResult, InputGuard, InputGuardrail, OutputGuard, OutputGuardrail,
};
pub use guard::judge::{Judge, JudgeCall, JudgeSpec};
pub use guard::point::GuardPoint;
pub use guard::request::{GuardOutcome, GuardRequest};
pub use guard::spec::GuardSpec;
pub use guard::subject::GuardSubject;
pub use guard::traits::Guard;
pub use hex::hex;
pub use hook::{Hook, HookAction, HookEvent};
pub use id::origin::RunOrigin;
pub use id::place::Place;
pub use id::run_id::{InvalidRunId, RunId};
pub use id::session_name::{InvalidSessionName, SessionName};
pub use id::step_id::StepId;
pub use id::tags::RunTags;
pub use id::trace::{NoTraceContext, RunTrace, TraceContext};
pub use json::bytes::json_bytes;
pub use json::canonical::canonical_json;
pub use json::millis;
pub use json::object_schema::object_schema;
pub use json::read::read_json;
pub use json::version::{STATE_VERSION, StateVersion};
pub use letters::{is_control, is_invisible, shown_json};
pub use message::cache::{CacheControl, CacheTtl};
pub use message::call_id::{MAX_CALL_ID, is_call_id, made_call_id};
pub use message::content::{
    ContentBlock, ContentItem, DocumentSource, ImageSource, Message, Role, ToolResultBlock,
};
pub use message::conversation::Conversation;
pub use request::completion::{
    CompletionRequest, ReasoningEffort, RequestHead, ResponseFormat, SystemBlock, SystemPrompt,
    ThinkingConfig, ToolChoice,
};
pub use request::context_edit::{ContextEdit, ContextManagement};
pub use request::provider::{DynProvider, Provider};
pub use request::response::{CompletionResponse, StopReason};
pub use request::size::{RequestSize, TokenCalibration};
pub use request::stream::{StreamEvent, StreamHandle};
pub use run::beginning::{BeginRequest, Begun, DefinedByCaller};
pub use run::budget::{Budget, Leased};
pub use run::child::{ChildEnd, ChildRequest, RunSignal};
pub use run::event::{RecordedEvent, RunEvent};
pub use run::halt::{Doubted, Halt, HaltReason};
pub use run::handover::{HandedOver, Handover};
pub use run::input::RunInput;
pub use run::lease::{Lease, LeaseGrant, LeaseRequest};
pub use run::lineage::Lineage;
pub use run::loaded::LoadedTools;
pub use run::notice::RunNotice;
pub use run::outcome::{ExitReason, RunError, RunPhase};
pub use run::output::RunOutput;
pub use run::parent::Parent;
pub use run::patches::{LOOP_PATCHES, declared_patches};
pub use run::refusal::Refusal;
pub use run::repeated::RepeatedCalls;
pub use run::request::{AgentRef, RunRequest};
pub use run::scope::RunScope;
pub use run::signals::{UpgradeRequest, UserMessage, signal};
pub use run::start::RunStart;
pub use run::state::{
    CallState, ContextRecord, JudgedAnswer, PendingCall, RawSignals, Reported, ReturnedResult,
    RunOutcome, RunState, Stage,
};
pub use run::status::{Blocked, BlockedKind, ChildStatus, RunStatus};
pub use run::transcript::{Transcript, TranscriptEntry, TranscriptItem};
pub use run::tree::{Child, Tree};
pub use secret::redact;
pub use step::activity::{ActivitySettings, Placement};
pub use step::options::ActivityOptions;
pub use step::priority::Priority;
pub use step::retry::RetryPolicy;
pub use ticket::always::Always;
pub use ticket::approval::{Approval, Covered};
pub use ticket::ask_rule::{AskRule, Asking};
pub use ticket::bounds::Bounds;
pub use ticket::caller_rules::CallerRules;
pub use ticket::choice::Choice;
pub use ticket::decided_at::{DecidedAt, InvalidTime};
pub use ticket::decision::{Decision, Verdict};
pub use ticket::digest::ticket_digest;
pub use ticket::expiry::OnExpiry;
pub use ticket::given::Given;
pub use ticket::kind::TicketKind;
pub use ticket::open::OpenTicket;
pub use ticket::pending::{FormRequest, Pending, Resumed};
pub use ticket::policy::{ApprovalRules, PermissionDecision, PermissionPolicy};
pub use ticket::remembered::{RememberedCalls, RememberedDecision};
pub use ticket::shown::Ticket;
pub use ticket::verification::{NOT_SIGNED, Verification, VerifyOutcome, VerifyRequest};
pub use ticket::verify_decision::VerifyDecision;
pub use tool::ask_person::{ASK_PERSON, AskPerson};
pub use tool::call::ToolCall;
pub use tool::context::{ProgressReporter, ToolContext};
pub use tool::definition::{ToolAnnotations, ToolDefinition, ToolEffects};
pub use tool::find_tools::{FIND_TOOLS, FindTools};
pub use tool::outcome::OutcomeRequest;
pub use tool::output::ToolOutput;
pub use tool::preview::{Preview, PreviewRequest};
pub use tool::traits::{Tool, ToolDyn};
pub use usage::amount::{Allowance, Amount};
pub use usage::extension::Extension;
pub use usage::held::Held;
pub use usage::limit_overrides::LimitOverrides;
pub use usage::limits::Limits;
pub use usage::model_rate::ModelRate;
pub use usage::pooled::Pooled;
pub use usage::spent::Spent;
pub use usage::token_usage::{TokenUsage, UsageIteration, cost_sum};
pub use verdict::guard_verdict::GuardVerdict;
pub use verdict::guarded::{GuardEnd, GuardNote, Guarded, LEFT_UNJUDGED, withheld};
pub use wasm::{WasmBoxedFuture, WasmCompatSend, WasmCompatSync};
