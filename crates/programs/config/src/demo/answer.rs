//! The demo model's answer: the results of its calls, in the order of the prompt.

use neuron_types::ToolResultBlock;

use super::{
    plan::Ask,
    task::{Task, text_of},
};

/// How many lines of a result are quoted.
const MAX_LINES: usize = 20;

const HELP: &str = "I am neuron's demo model: a small program without a language model behind it, so I \
    cannot answer this. I can list files and crates, read, search and write files and run commands, \
    as far as this agent has the tools: try \"list the crates of this workspace\" or \"read README.md\". \
    For a real model set OPENAI_API_KEY or ANTHROPIC_API_KEY.";

/// Returns the answer to a task whose calls are made.
pub(super) fn compose(task: &Task<'_>, offered: impl Fn(&Ask) -> bool) -> String {
    let parts: Vec<String> = task
        .asks()
        .map(|(turn, place, ask)| match task.result(turn, place) {
            Some(result) if result.is_error => {
                format!("I could not {}: {}", ask.deed(), text_of(result).trim())
            }
            Some(result) => report(ask, result),
            None if offered(ask) => format!(
                "I asked to {}, and the result is no longer in the conversation.",
                ask.deed()
            ),
            None => format!(
                "I could not {}: this agent has no {} tool.",
                ask.deed(),
                ask.tool()
            ),
        })
        .collect();
    if parts.is_empty() {
        HELP.to_owned()
    } else {
        parts.join("\n\n")
    }
}

fn report(ask: &Ask, result: &ToolResultBlock) -> String {
    let text = text_of(result);
    match ask {
        Ask::Crates => crates(&text),
        Ask::Directory(path) => {
            let place = path.as_deref().unwrap_or("The working directory");
            quote(&format!("{place} holds"), &text)
        }
        Ask::Files(pattern) => quote(&format!("Files that match {pattern}"), &text),
        Ask::Read(path) => quote(path, &text),
        Ask::Search { pattern, .. } => quote(&format!("Lines that match {pattern:?}"), &text),
        Ask::Run(command) => quote(&format!("`{command}` printed"), &text),
        Ask::Write { .. } => format!("Done: {}.", text.trim().trim_end_matches('.')),
    }
}

/// Names the crates after their directories. The top directory's manifest counts if it is the only one: in a workspace
/// it is usually no crate.
fn crates(text: &str) -> String {
    let manifests = || text.lines().filter(|line| line.ends_with("Cargo.toml"));
    let mut names: Vec<&str> = manifests()
        .filter_map(|path| path.strip_suffix("/Cargo.toml"))
        .collect();
    if names.is_empty() && manifests().next().is_some() {
        names.push(".");
    }
    match names.as_slice() {
        [] => "I found no crates: there is no Cargo.toml here.".to_owned(),
        ["."] => "I found one crate: the working directory itself.".to_owned(),
        [name] => format!("I found one crate: {name}."),
        names => {
            let list: Vec<String> = names.iter().map(|name| format!("- {name}")).collect();
            format!("I found {} crates:\n{}", names.len(), list.join("\n"))
        }
    }
}

fn quote(title: &str, text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    match lines.as_slice() {
        [] => format!("{title}: nothing."),
        [line] => format!("{title}: {line}"),
        lines if lines.len() <= MAX_LINES => format!("{title}:\n{}", lines.join("\n")),
        lines => {
            let shown = lines.get(..MAX_LINES).unwrap_or_default().join("\n");
            let more = lines.len() - MAX_LINES;
            format!("{title}:\n{shown}\n({more} more lines)")
        }
    }
}
