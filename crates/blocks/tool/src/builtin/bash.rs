use std::{
    borrow::Cow, ffi::OsStr, os::unix::process::ExitStatusExt, process::ExitStatus, sync::Arc,
    time::Duration,
};

use neuron_types::{
    ToolAnnotations, ToolContext, ToolDefinition, ToolDyn, ToolError, ToolOutput, WasmBoxedFuture,
};
use serde::Deserialize;
use serde_json::Value;
use tokio::{process::Command, time};

use crate::{
    BuiltinOptions,
    builtin::files::error::cannot,
    builtin::shell::process_group::ProcessGroup,
    builtin::shell::secret::is_secret_variable,
    definition::{annotations, definition},
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
/// **The command is not confined.** It starts in the working directory and can do whatever this process
/// can; approvals and a container are what holds it. It gets the environment of this process without what
/// looks like a secret (see [`BuiltinOptions::hidden_environment`]), that of the [`ToolContext`], and the
/// call's idempotency key in `NEURON_IDEMPOTENCY_KEY`, to pass on to systems that take one.
///
/// The command and what it starts are one process group. When the time is up or the run is cancelled the
/// whole group gets SIGTERM and, a short grace later, SIGKILL; dropping the call kills it at once. What a
/// command leaves in the background is not waited for and lives on, but nothing reads its output. A command
/// also lives on if this process is killed with SIGKILL.
#[derive(Debug, Clone)]
pub struct Bash {
    options: Arc<BuiltinOptions>,
}

/// The arguments of [`Bash`].
#[derive(Debug, Clone, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BashArgs {
    /// The command.
    pub command: String,
    /// How many seconds it may take.
    #[serde(default)]
    pub timeout_seconds: Option<u64>,
}

impl Bash {
    /// The name that the model calls it by.
    pub const NAME: &'static str = "bash";

    /// The tool with these options.
    pub fn new(options: impl Into<Arc<BuiltinOptions>>) -> Self {
        Self {
            options: options.into(),
        }
    }

    async fn run(&self, args: BashArgs, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
        let options = &self.options;
        let timeout = self.timeout(args.timeout_seconds)?;
        if ctx.cancellation_token.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let cwd = tokio::fs::canonicalize(&ctx.cwd).await.map_err(cannot(
            "use the working directory",
            &ctx.cwd.display().to_string(),
        ))?;
        let mut command = Command::new("bash");
        command.arg("-c").arg(&args.command).current_dir(cwd);
        for (name, _) in std::env::vars_os() {
            if is_hidden(&name, &options.hidden_environment) {
                command.env_remove(&name);
            }
        }
        if !ctx.idempotency_key.is_empty() {
            command.env(IDEMPOTENCY_KEY, &ctx.idempotency_key);
        }
        command.envs(&ctx.environment);
        let mut group = ProcessGroup::spawn(command, options.max_output_bytes)
            .map_err(cannot("start", "bash"))?;
        let ended = tokio::select! {
            status = group.wait() => Some(status.map_err(cannot("wait for", "bash"))?),
            () = ctx.cancellation_token.cancelled() => {
                group.stop(options.bash_kill_grace).await;
                return Err(ToolError::Cancelled);
            }
            () = time::sleep(timeout) => None,
        };
        let ending = match ended {
            Some(status) => describe(status),
            None => {
                group.stop(options.bash_kill_grace).await;
                Cow::Owned(format!("stopped after {timeout:?}: the time was up"))
            }
        };
        let mut text = group.into_output();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&format!("[{ending}]\n"));
        Ok(ToolOutput {
            is_error: !ended.is_some_and(|status| status.success()),
            ..ToolOutput::text(text)
        })
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

fn is_hidden(name: &OsStr, hidden: &[String]) -> bool {
    is_secret_variable(name) || hidden.iter().any(|hidden| name == hidden.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hides_what_looks_like_a_secret_and_what_it_is_told_to() {
        let hidden = ["MY_KEYS".to_owned()];
        for name in [
            "OPENAI_API_KEY",
            "RESTATE_AUTH_TOKEN",
            "OAUTH_CLIENT_SECRET",
            "PGPASSWORD_PASSWORD",
            "TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "MY_KEYS",
        ] {
            assert!(is_hidden(OsStr::new(name), &hidden), "{name}");
        }
        for name in ["PATH", "HOME", "TOKENIZER", "BROKEN", "XTOKEN", "MY_KEYS_2"] {
            assert!(!is_hidden(OsStr::new(name), &hidden), "{name}");
        }
    }

    #[test]
    fn a_time_outside_the_limits_is_for_the_model_to_mend() {
        let bash = Bash::new(BuiltinOptions::default());
        assert_eq!(bash.timeout(None).unwrap(), Duration::from_secs(120));
        assert_eq!(bash.timeout(Some(600)).unwrap(), Duration::from_secs(600));
        for seconds in [0, 601, u64::MAX] {
            let error = bash.timeout(Some(seconds)).unwrap_err();
            assert_eq!(error.to_string(), "timeout_seconds must be from 1 to 600");
        }
    }
}
