//! What a tool call is handed beside its arguments.

use std::{collections::BTreeMap, fmt, path::PathBuf, sync::Arc};

use tokio_util::sync::CancellationToken;

use crate::{Resumed, RunOrigin, RunTags, StepId, TraceContext, WasmCompatSend, WasmCompatSync};

/// The surroundings of one tool call. Made by the executor for each attempt.
///
/// ```
/// use neuron_types::ToolContext;
///
/// let ctx = ToolContext::default();
/// assert_eq!(ctx.cwd, std::env::current_dir()?);
/// assert!(ctx.run_id.is_empty() && ctx.environment.is_empty());
/// assert!(!ctx.cancellation_token.is_cancelled() && ctx.progress_reporter.is_none());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
pub struct ToolContext {
    /// The working directory. Built-in tools do not leave it unless the agent file allows that.
    pub cwd: PathBuf,
    /// The run that the call belongs to. Empty outside a run.
    pub run_id: String,
    /// The run at the top of the tree that the run is in: the run itself where no other started it. Empty outside a run.
    pub root: String,
    /// Whose run it is: what its caller said, or that of the run at the top of the tree.
    pub tags: RunTags,
    /// What the call is in a distributed trace: what the tool asks others for is a part of it. `None` where nothing is
    /// traced.
    pub trace: Option<TraceContext>,
    /// The call's place in the run.
    pub step: StepId,
    /// Variables for processes that the tool starts, beside those it inherits.
    pub environment: BTreeMap<String, String>,
    /// Cancelled when the run is: stop and return [`ToolError::Cancelled`](crate::ToolError::Cancelled).
    pub cancellation_token: CancellationToken,
    /// Where to report progress.
    pub progress_reporter: Option<Arc<dyn ProgressReporter>>,
    /// The same for every attempt of one call, and different for every other call, also for one of a run of the same
    /// name. It says nothing of the run. Pass it on to systems that take one. Empty outside a run.
    pub idempotency_key: String,
    /// The [fingerprint](crate::Preview::fingerprint) of the preview that was shown to the person who approved the
    /// call: a call that finds something else changes nothing and returns an error. `None` where no preview was shown.
    pub preview: Option<String>,
    /// The token with which the result of a [deferred](crate::ToolDefinition::deferred) tool is delivered later: a
    /// secret, made for this attempt and handed to no other tool. `None` for any other tool.
    pub completion_token: Option<String>,
    /// The digests of the skills that the run's definition has, by name, where the call is one of the tool that
    /// [reads them](crate::SkillSpec::TOOL). Empty for any other tool, and outside a run.
    pub skills: BTreeMap<String, String>,
    /// What the call is made again with, if it [asked a form](crate::Pending::Form) before.
    pub resumed: Option<Resumed>,
}

impl ToolContext {
    /// Returns which run the call belongs to and whose it is; `None` outside a run.
    #[must_use]
    pub fn origin(&self) -> Option<RunOrigin<'_>> {
        (!self.run_id.is_empty()).then_some(RunOrigin {
            run: &self.run_id,
            root: match self.root.is_empty() {
                true => &self.run_id,
                false => &self.root,
            },
            tags: &self.tags,
            trace: self.trace.as_ref(),
        })
    }
}

impl Default for ToolContext {
    /// The process's working directory, no run, an empty environment and a fresh token.
    #[expect(
        clippy::disallowed_methods,
        reason = "it is the executor that makes one, which is not replayed"
    )]
    fn default() -> Self {
        Self {
            cwd: std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")),
            run_id: String::new(),
            root: String::new(),
            tags: RunTags::default(),
            trace: None,
            step: StepId::default(),
            environment: BTreeMap::new(),
            cancellation_token: CancellationToken::new(),
            progress_reporter: None,
            idempotency_key: String::new(),
            preview: None,
            completion_token: None,
            skills: BTreeMap::new(),
            resumed: None,
        }
    }
}

impl fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The environment may hold secrets: its names are shown, its values are not.
        f.debug_struct("ToolContext")
            .field("cwd", &self.cwd)
            .field("run_id", &self.run_id)
            .field("step", &self.step)
            .field("environment", &self.environment.keys())
            .field("idempotency_key", &self.idempotency_key)
            .finish_non_exhaustive()
    }
}

/// Where a long call reports how far it is.
pub trait ProgressReporter: WasmCompatSend + WasmCompatSync {
    /// Reports progress. Must not block; reports may be dropped.
    fn report(&self, progress: f64, total: Option<f64>, message: Option<&str>);
}
