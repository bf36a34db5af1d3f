//! The programs that the tests run.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use neuron_harness::HOSTILE_SERVER;
pub(crate) use neuron_harness::{
    EverythingServer as Everything, is_running, mcp_program as program,
};
use neuron_mcp::McpServerSpec;
use neuron_patience::patience;
use neuron_sandbox::{Sandbox, SandboxRules};
use neuron_types::{ContentItem, ToolOutput};

/// For what is to come, however slow the machine is.
pub(crate) const HOUR: Duration = Duration::from_secs(3600); // Passes where the clock is advanced only.

pub(crate) fn everything() -> McpServerSpec {
    McpServerSpec::stdio(
        "everything",
        "node",
        [program("mcp-server-everything"), "stdio".to_owned()],
    )
    .timeout(HOUR)
}

pub(crate) fn filesystem(folder: &Path) -> McpServerSpec {
    let args = [
        program("mcp-server-filesystem"),
        folder.to_str().unwrap().to_owned(),
    ];
    let rules = SandboxRules::new().write([folder.to_owned()]);
    let spec = McpServerSpec::stdio("files", "node", args).timeout(HOUR);
    spec.sandbox(Sandbox::Custom(rules))
}

/// A server that does what `mode` says: see `hostile.mjs`.
pub(crate) fn hostile(mode: &str) -> McpServerSpec {
    // Tests look for its processes by the ids that it says, which are others in a sandbox.
    let spec = McpServerSpec::stdio("hostile", "node", [HOSTILE_SERVER, mode]).timeout(HOUR);
    spec.sandbox(Sandbox::Off)
}

/// The texts of a result, joined.
pub(crate) fn text(output: &ToolOutput) -> String {
    output
        .content
        .iter()
        .filter_map(|item| match item {
            ContentItem::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

/// Waits until something is so.
pub(crate) async fn until(what: &str, mut is: impl FnMut() -> bool) {
    let (start, time) = (Instant::now(), patience());
    while !is() {
        assert!(start.elapsed() < time, "{what} did not come about");
        tokio::time::sleep(Duration::from_millis(10)).await; // Between two looks.
    }
}
