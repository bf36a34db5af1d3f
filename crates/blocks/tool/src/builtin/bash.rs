use std::{
    any::Any, borrow::Cow, io, os::unix::process::ExitStatusExt, path::Path, process::ExitStatus,
    sync::Arc, time::Duration,
};

use neuron_sandbox::{Confine, ConfinedCommand, Confinement, Sandbox, SandboxError};
use neuron_types::{
    ToolAnnotations, ToolContext, ToolDefinition, ToolDyn, ToolError, ToolOutput, WasmBoxedFuture,
};
use serde::Deserialize;
use serde_json::Value;
use tokio::time;

use crate::{
    BuiltinOptions,
    builtin::definition::{annotations, definition},
    builtin::files::error::cannot,
    builtin::shell::running::Running,
};

/// A command can do anything.
const ANNOTATIONS: ToolAnnotations = annotations(false, true, false, true);
/// The variable that a command finds the call's idempotency key in.
const IDEMPOTENCY_KEY: &str = "NEURON_IDEMPOTENCY_KEY";

/// `bash`: runs a shell command in the working directory.
///
/// Answers with what the command printed to both its outputs, in its order, and the exit code. A command
/// that fails is an error result. It gets no input.
///
/// The command is confined to [`BuiltinOptions::sandbox`]; a machine on which nothing can do that gets an error and
/// starts nothing. Its environment is a short list of variables of this process (see
/// [`neuron_sandbox::is_inherited`]), that of the [`ToolContext`], and the call's idempotency key in
/// `NEURON_IDEMPOTENCY_KEY`, to pass on to systems that take one.
///
/// All that a confined command started ends when it ends, and when this process does. When the time is up or the run
/// is cancelled, all of it gets SIGTERM and, a short grace later, SIGKILL; dropping the call kills it at once. With
/// [`Sandbox::Off`](neuron_sandbox::Sandbox::Off) that holds for the command's process group only, and what it leaves
/// in the background lives on once it has ended, but nothing reads its output.
#[derive(Debug, Clone)]
pub struct Bash {
    options: Arc<BuiltinOptions>,
    confinement: Confinement,
}

/// The arguments of [`Bash`].
#[derive(Debug, Clone, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BashArgs {
    /// The command.
    #[schemars(extend("format" = "shell-command"))]
    pub command: String,
    /// How many seconds it may take.
    #[serde(default)]
    pub timeout_seconds: Option<u64>,
}

impl Bash {
    /// The name that the model calls it by.
    pub const NAME: &'static str = "bash";

    /// Makes the tool with these options.
    pub fn new(options: impl Into<Arc<BuiltinOptions>>) -> Self {
        let options = options.into();
        let confinement = confinement(&options);
        Self {
            options,
            confinement,
        }
    }

    async fn run(&self, args: BashArgs, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
        let options = &self.options;
        let timeout = self.timeout(args.timeout_seconds)?;
        if ctx.cancellation_token.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let mut command = self.command(&ctx.cwd).await?;
        command.arg("-c").arg(&args.command);
        if !ctx.idempotency_key.is_empty() {
            command.env(IDEMPOTENCY_KEY, &ctx.idempotency_key);
        }
        command.envs(&ctx.environment);
        let mut running =
            Running::start(command, options.max_output_bytes).map_err(cannot("start", "bash"))?;
        let ended = tokio::select! {
            status = running.wait() => Some(status.map_err(cannot("wait for", "bash"))?),
            () = ctx.cancellation_token.cancelled() => {
                running.stop(options.bash_kill_grace).await;
                return Err(ToolError::Cancelled);
            }
            () = time::sleep(timeout) => None,
        };
        let ending = match ended {
            Some(status) => describe(status),
            None => {
                running.stop(options.bash_kill_grace).await;
                Cow::Owned(format!("stopped after {timeout:?}: the time was up"))
            }
        };
        let mut text = running.into_output();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&format!("[{ending}]\n"));
        Ok(ToolOutput {
            is_error: !ended.is_some_and(|status| status.success()),
            ..ToolOutput::text(text)
        })
    }

    /// Returns the program in its sandbox. Looking at the directory blocks.
    async fn command(&self, cwd: &Path) -> Result<ConfinedCommand, ToolError> {
        let confinement = self.confinement.clone();
        let path = cwd.to_owned();
        let made = tokio::task::spawn_blocking(move || confinement.command("bash", &path)).await;
        match made
            .map_err(io::Error::other)
            .map_err(cannot("start", "bash"))?
        {
            Ok(command) => Ok(command),
            Err(SandboxError::Path { path, source }) if path == cwd => {
                let path = path.display().to_string();
                Err(cannot("use the working directory", &path)(source))
            }
            Err(error) => Err(cannot("confine", "bash")(error.into())),
        }
    }

    fn timeout(&self, seconds: Option<u64>) -> Result<Duration, ToolError> {
        let max = self.options.bash_max_timeout;
        match seconds.map(Duration::from_secs) {
            None => Ok(self.options.bash_timeout.min(max)),
            Some(timeout) if !timeout.is_zero() && timeout <= max => Ok(timeout),
            Some(_) => Err(ToolError::ModelRetry(format!(
                "timeout_seconds must be from 1 to {}",
                max.as_secs()
            ))),
        }
    }
}

impl ToolDyn for Bash {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn definition(&self) -> ToolDefinition {
        let description = format!(
            "Runs a bash command in the working directory and answers with its output and exit code. It \
             gets no input and has {} seconds; timeout_seconds may give it up to {}. Of longer output than \
             {} bytes the middle is cut. Send the output of a background process to a file.",
            self.options.bash_timeout.as_secs(),
            self.options.bash_max_timeout.as_secs(),
            self.options.max_output_bytes
        );
        definition::<BashArgs>(Self::NAME, "Run command", description, ANNOTATIONS)
    }

    /// Checks whether the tool's commands can be confined: see [`check_sandbox`].
    fn ready(&self) -> Result<(), ToolError> {
        match self.confinement.check() {
            Ok(_) => Ok(()),
            Err(error) => Err(cannot("confine", Self::NAME)(error.into())),
        }
    }

    /// Takes a [`Sandbox`], and the demand for one: [`Confine`].
    fn with_setting(&self, setting: &dyn Any) -> Option<Arc<dyn ToolDyn>> {
        let sandbox = match setting.downcast_ref::<Confine>() {
            Some(confine) => confine.narrowed(&self.options.sandbox),
            None => setting.downcast_ref::<Sandbox>()?.clone(),
        };
        let options = BuiltinOptions {
            sandbox,
            ..BuiltinOptions::clone(&self.options)
        };
        Some(Arc::new(Self::new(options)))
    }

    fn call_dyn<'a>(
        &'a self,
        input: Value,
        ctx: &'a ToolContext,
    ) -> WasmBoxedFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let args = serde_json::from_value(input).map_err(|error| {
                ToolError::ModelRetry(format!("the arguments do not fit the schema: {error}"))
            })?;
            self.run(args, ctx).await
        })
    }
}

fn describe(status: ExitStatus) -> Cow<'static, str> {
    match (status.code(), status.signal()) {
        (Some(code), _) => Cow::Owned(format!("exit code {code}")),
        (None, Some(signal)) => Cow::Owned(format!("killed by signal {signal}")),
        (None, None) => Cow::Borrowed("ended without an exit code"),
    }
}

/// Returns what confines the commands of `bash` with these options, in a few words: `workspace (bubblewrap)`, `off`.
///
/// # Errors
///
/// Nothing on this machine can confine the commands, or this program cannot be started as the helper that the back end
/// needs: see [`neuron_sandbox::dispatch`]. No command would be started.
pub fn check_sandbox(options: &BuiltinOptions) -> Result<String, SandboxError> {
    confinement(options).describe()
}

fn confinement(options: &BuiltinOptions) -> Confinement {
    Confinement::builder(options.sandbox.clone())
        .protected(options.protected.clone())
        .inherit(options.inherited_environment.iter().cloned())
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_outside_the_limits_is_for_the_model_to_mend() {
        let bash = Bash::new(BuiltinOptions::default());
        let second = Duration::from_secs(1); // Only compared, never waited for.
        assert_eq!(bash.timeout(None).unwrap(), 120 * second);
        assert_eq!(bash.timeout(Some(600)).unwrap(), 600 * second);
        for seconds in [0, 601, u64::MAX] {
            let error = bash.timeout(Some(seconds)).unwrap_err();
            assert_eq!(error.to_string(), "timeout_seconds must be from 1 to 600");
        }
    }
}
