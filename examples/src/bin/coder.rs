//! A coding agent with MCP: the built-in tools, those of an MCP server, and a question before each command.
//!
//! ```console
//! ANTHROPIC_API_KEY=… cargo run -p neuron-examples --bin coder -- "Fix the bug in src/main.rs"
//! ANTHROPIC_API_KEY=… cargo run -p neuron-examples --bin coder -- "Fix issue 7" npx -y @modelcontextprotocol/server-github
//! ```
//!
//! It works in the current directory. The words after the task are the command of the MCP server; without them it is
//! the protocol's own file server, for this directory. Commands and the server run in a sandbox.

use std::{
    env,
    error::Error,
    io::{Write as _, stdin, stdout},
};

use neuron::{
    mcp::McpClient,
    prelude::*,
    types::{ContextPolicy, ContextRule},
};

const FILE_SERVER: [&str; 4] = ["npx", "-y", "@modelcontextprotocol/server-filesystem", "."];

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // This program may have been started again as the sandbox's helper.
    neuron::sandbox::dispatch();
    let mut arguments = env::args().skip(1);
    let task = arguments
        .next()
        .unwrap_or_else(|| "Fix the bug in src/main.rs".into());
    let server: Vec<String> = arguments.collect();
    let mut server: Vec<&str> = server.iter().map(String::as_str).collect();
    if server.is_empty() {
        server.extend(FILE_SERVER);
    }
    let (command, args) = server.split_first().ok_or("no command of a server")?;
    let server = McpClient::connect_stdio(command, args).await?;

    let agent = Agent::builder("coder")
        .model("anthropic/claude-sonnet-5-5")
        .instructions("You are a coding assistant. Use your tools to read, search and edit code.")
        // The server's tools come first: if two have the same name, the built-in one is used.
        .tools(server.discover_tools().await?)
        .tools(builtin::all())
        .ask("bash")
        .context(ContextPolicy {
            rules: vec![
                ContextRule::ClearToolResults { keep: 10 },
                ContextRule::Summarize {
                    keep: 20,
                    model: Some("anthropic/claude-haiku-5-5".into()),
                    summary_prompt: None,
                },
            ],
            ..ContextPolicy::default()
        })
        .limits(Limits::turns(50))
        .build()?;

    let mut run = agent.run_stream(&task).await?;
    while let Some(item) = run.next().await {
        match item? {
            RunItem::Delta(text) => print!("{text}"),
            RunItem::Ticket(ticket) => {
                let args = ticket.question().args.clone().unwrap_or_default();
                print!("\nmay it run {args}? [y/n] ");
                stdout().flush()?;
                let mut line = String::new();
                stdin().read_line(&mut line)?;
                if line.trim() == "y" {
                    ticket.approve().await?;
                } else {
                    ticket.deny("not now").await?;
                }
            }
            _ => {}
        }
        stdout().flush()?;
    }
    println!("\n{}", run.finished()?.into_text()?);
    server.close().await;
    Ok(())
}
