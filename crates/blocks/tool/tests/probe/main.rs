//! What the tests start: a process whose home directory is not that of the tests, and which makes calls of built-in tools.

use std::{
    env,
    io::{self, BufRead as _, Write as _},
};

use neuron_sandbox::Sandbox;
use neuron_tool::{BuiltinOptions, ToolContext, ToolRegistry, builtin_tools};
use serde_json::{Value, json};

fn main() -> io::Result<()> {
    neuron_sandbox::dispatch();
    make_calls()
}

/// Reads calls, each a line `[tool, arguments]`, and writes a line for each: `{"output": …}` or `{"error": …}`.
#[tokio::main(flavor = "current_thread")]
async fn make_calls() -> io::Result<()> {
    let sandbox = env::args().nth(1).unwrap_or_default();
    let sandbox: Sandbox = serde_json::from_str(&sandbox)?;
    let options = BuiltinOptions {
        sandbox,
        confine: env::var_os("PROBE_GOES_ANYWHERE").is_none(),
        ..BuiltinOptions::default()
    };
    let registry = ToolRegistry::from_iter(builtin_tools(&options));
    let ctx = ToolContext {
        cwd: env::current_dir()?,
        ..ToolContext::default()
    };
    for line in io::stdin().lock().lines() {
        let (tool, args): (String, Value) = serde_json::from_str(&line?)?;
        let done = match registry.execute(&tool, args, &ctx).await {
            Ok(output) => json!({"output": output.content}),
            Err(error) => json!({"error": format!("{error:?}")}),
        };
        writeln!(io::stdout(), "{done}")?;
    }
    Ok(())
}
