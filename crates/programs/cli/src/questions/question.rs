//! A ticket as a question in the terminal.

use std::{
    env,
    io::{self, Write as _, stderr},
    process::Command,
};

use neuron_types::{ApprovalTicket, RunId};
use serde_json::Value;

use crate::{
    terminal::line_reader::{Line, LineReader},
    terminal::output::note,
    terminal::shown,
    terminal::ticket as shown_ticket,
};

const QUESTION: &str = "[y]es, [a]lways in this run, [n]o, [e]dit arguments, [l]ater: ";
const HELP: &str = "answer y, a, n, e or l; a also answers later calls that are asked about for the same \
                    reason; what you write after y, a or n is your comment";

/// What a person says to a ticket.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    /// Make the call, with these arguments if any are given.
    Approve {
        args: Option<Value>,
        comment: Option<String>,
        /// And every later one for which the run would ask the same.
        always: bool,
    },
    /// Do not make it.
    Deny { comment: Option<String> },
    /// Not now, and not here.
    Later,
    /// The question was taken back.
    TakenBack,
}

/// Puts the question and waits for an answer.
///
/// # Errors
///
/// The terminal's.
pub(crate) fn ask(
    reader: &LineReader,
    run_id: &RunId,
    ticket: &ApprovalTicket,
) -> io::Result<Answer> {
    note(&format!(
        "run {run_id} asks for ticket {}: may it call {}?",
        shown::line(&ticket.ticket),
        shown::line(&ticket.tool)
    ));
    note("  arguments:");
    for line in shown_ticket::subject(ticket) {
        note(&format!("    {line}"));
    }
    note(&shown_ticket::details(ticket));
    reader.forget_typed();
    loop {
        let line = match reader.answer(QUESTION)? {
            Line::Text(line) => line,
            Line::Ended => return Ok(Answer::Later),
            Line::TakenBack => return Ok(Answer::TakenBack),
        };
        let line = line.trim();
        let (word, comment) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let comment = Some(comment.trim())
            .filter(|comment| !comment.is_empty())
            .map(ToOwned::to_owned);
        let approve = |args, always| Answer::Approve {
            args,
            comment: comment.clone(),
            always,
        };
        match word.to_ascii_lowercase().as_str() {
            "y" | "yes" => return Ok(approve(None, false)),
            "a" | "always" => return Ok(approve(None, true)),
            "n" | "no" => return Ok(Answer::Deny { comment }),
            "l" | "later" => return Ok(Answer::Later),
            "e" | "edit" => match edit(reader, &ticket.args)? {
                Edited::Args(args) => return Ok(approve(Some(args), false)),
                Edited::Nothing => {}
                Edited::TakenBack => return Ok(Answer::TakenBack),
            },
            _ => note(HELP),
        }
    }
}

enum Edited {
    Args(Value),
    Nothing,
    TakenBack,
}

fn edit(reader: &LineReader, args: &Value) -> io::Result<Edited> {
    let editor = ["VISUAL", "EDITOR"]
        .iter()
        .filter_map(|name| env::var(name).ok())
        .find(|command| !command.trim().is_empty());
    let question = match &editor {
        Some(_) => "arguments as JSON on one line, or nothing to open your editor: ",
        None => "arguments as JSON on one line, or nothing to go back: ",
    };
    let text = match reader.answer(question)? {
        Line::Text(line) if line.trim().is_empty() => match editor {
            Some(editor) => in_editor(&editor, args)?,
            None => return Ok(Edited::Nothing),
        },
        Line::Text(line) => line,
        Line::Ended => return Ok(Edited::Nothing),
        Line::TakenBack => return Ok(Edited::TakenBack),
    };
    match serde_json::from_str(&text) {
        Ok(args @ Value::Object(_)) => return Ok(Edited::Args(args)),
        Ok(_) => note("that is JSON, but not an object; nothing was sent"),
        Err(error) => note(&format!("that is not JSON ({error}); nothing was sent")),
    }
    Ok(Edited::Nothing)
}

/// Has the person's editor change the arguments in a file that only they can read.
fn in_editor(editor: &str, args: &Value) -> io::Result<String> {
    let mut file = tempfile::Builder::new()
        .prefix("neuron-")
        .suffix(".json")
        .tempfile()?;
    writeln!(file, "{}", pretty(args))?;
    // By the shell, as everyone does it: the variable may hold options.
    let status = Command::new("sh")
        .arg("-c")
        .arg(format!("{editor} \"$1\""))
        .arg("sh")
        .arg(file.path())
        .stdout(stderr_handle()?)
        .status()?;
    if !status.success() {
        note(&format!("the editor ended with {status}"));
        return Ok(String::new());
    }
    std::fs::read_to_string(file.path())
}

/// Standard output is for the answer, also while an editor is open.
fn stderr_handle() -> io::Result<std::process::Stdio> {
    use std::os::fd::AsFd as _;
    Ok(stderr().as_fd().try_clone_to_owned()?.into())
}

/// Arguments as a person reads them.
pub(crate) fn pretty(args: &Value) -> String {
    serde_json::to_string_pretty(args).unwrap_or_else(|_| args.to_string())
}
