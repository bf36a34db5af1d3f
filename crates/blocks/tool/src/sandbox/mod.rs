//! Calls of tools that are confined.
//!
//! A [`Sandbox`] makes a call of a tool with all its processes confined, or does not make it. Where no sandbox works,
//! the call is an error, and so is one of a tool that cannot be confined: nothing is ever done unconfined instead.
//!
//! | Sandbox | Confines by |
//! | --- | --- |
//! | [`ProcessSandbox`] | the first back end that works here, or the one that its rules name |
//! | [`BubblewrapSandbox`] | bubblewrap alone |
//!
//! What can be confined are processes. A tool reports by [`ToolDyn::with_setting`](neuron_types::ToolDyn::with_setting)
//! that all it does is in processes that it starts: it takes a [`neuron_sandbox::Confine`] there.
//! [`Bash`](crate::builtin::Bash) does, and so do the tools of an MCP server that is a program. Code of this process
//! cannot be confined: the file tools, which stay in the working directory by themselves, and tools made of a function.
//!
//! An agent with a sandbox needs none of this: its tools are set to it once, when it is built. This is for a program that
//! makes calls itself, and has to be sure of each. The call is that of the tool alone, without a registry's
//! [layers](crate::middleware).
//!
//! No sandbox of WebAssembly is here: it would run modules that are made for it, and neither commands nor the servers
//! that agents call, and its runtime would be by far the largest dependency. No sandbox for macOS is here: the program
//! that confines there, `sandbox-exec`, is deprecated, and nothing here could be tested with it.
//!
//! ```no_run
//! use neuron_tool::{
//!     BuiltinOptions, ToolContext,
//!     builtin::{Bash, ReadFile},
//!     sandbox::{ProcessSandbox, Sandbox, SandboxError},
//! };
//! use serde_json::json;
//!
//! #[tokio::main]
//! async fn main() -> Result<(), SandboxError> {
//!     // First: this program may have been started again as the sandbox's helper.
//!     neuron_sandbox::dispatch();
//!     let (sandbox, ctx) = (ProcessSandbox::read_only(), ToolContext::default());
//!
//!     let bash = Bash::new(BuiltinOptions::default());
//!     let input = json!({"command": "git log --oneline | head -3"});
//!     println!("{:?}", sandbox.execute_tool(&bash, input, &ctx).await?);
//!
//!     // It reads the file in this process, where nothing confines it.
//!     let read_file = ReadFile::new(BuiltinOptions::default());
//!     let refused = sandbox.execute_tool(&read_file, json!({"path": "README.md"}), &ctx).await;
//!     assert!(matches!(refused, Err(SandboxError::NotConfinable { .. })));
//!     Ok(())
//! }
//! ```

mod bubblewrap;
mod confined;
mod error;
mod execute_tool;
mod process;

pub use self::{
    bubblewrap::BubblewrapSandbox, error::SandboxError, execute_tool::Sandbox,
    process::ProcessSandbox,
};
