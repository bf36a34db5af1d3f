//! A ticket as a question in the terminal.

use std::{
    env,
    io::{self, Write as _, stderr},
    process::Command,
};

use neuron_types::{Always, Ticket, TicketKind};
use serde_json::Value;

use crate::{
    terminal::keyboard,
    terminal::line_reader::{Line, LineReader},
    terminal::output::note,
    terminal::shown,
    terminal::ticket as shown_ticket,
};

const QUESTION: &str = "[y]es, [a]lways in this run, [n]o, [e]dit arguments, [l]ater: ";
/// The question about a ticket whose decision is for that ticket alone.
const QUESTION_ONCE: &str = "[y]es, [n]o, [e]dit arguments, [l]ater: ";
const HELP: &str = "answer y, a, n, e or l; a also answers later calls, and asks which; what you write after y, \
                    a or n is your comment";
const HELP_ONCE: &str = "answer y, n, e or l; what you write after y or n is your comment";

/// How many lines a person reads at one glance.
const FEW: usize = 12;
/// The longest line that takes only a few rows on any screen, in characters.
const LONG: usize = 400;
/// How many lines stand around the subject of a question.
const AROUND: usize = 10;
/// How much of a line is repeated, in characters.
const SHORT: usize = 100;

/// A person's answer to a ticket.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    /// Make the call, with these arguments if any are given.
    Approve {
        args: Option<Value>,
        comment: Option<String>,
        /// Whether later calls are approved, too, for which the run would ask the same.
        always: Option<Always>,
    },
    /// Do not make the call, or leave the question unanswered.
    Deny { comment: Option<String> },
    /// The answer to a question.
    Text(String),
    /// The completed form.
    Filled(Value),
    /// One of the ticket's choices.
    Chosen(String),
    /// Not now, and not here.
    Later,
    /// The question was taken back.
    TakenBack,
}

/// Puts the question of `who`, a run, and waits for an answer.
///
/// # Errors
///
/// The errors of the terminal.
pub(crate) fn ask(
    reader: &LineReader,
    who: &str,
    ticket: &Ticket,
    directory: Option<&str>,
) -> io::Result<Answer> {
    let id = shown::line(&ticket.ticket);
    let subject = shown::line(ticket.subject());
    note(&match ticket.kind {
        TicketKind::Call => format!("{who} asks for ticket {id}: may it call {subject}?"),
        TicketKind::Question => format!("{who} asks for ticket {id}:"),
        TicketKind::External => {
            format!("{who} waits for the result of {subject}, ticket {id}")
        }
        TicketKind::Guard => {
            let reason = shown::line(&ticket.reason);
            format!("{who} asks for ticket {id}: may it continue? {reason}:")
        }
        TicketKind::Failure | TicketKind::Budget => {
            let reason = shown::line(&ticket.reason);
            format!("{who} asks for ticket {id}, what now? {reason}:")
        }
        kind => format!("{who} asks for ticket {id} ({kind}) about {subject}:"),
    });
    if ticket.tool.is_some() {
        note(match ticket.diff {
            None => "  arguments:",
            Some(_) => "  what it would do:",
        });
    }
    let lines = shown_ticket::subject(ticket);
    for line in &lines {
        note(&format!("    {line}"));
    }
    if let Some(directory) = directory.filter(|_| ticket.tool.is_some()) {
        note(&format!("  directory: {}", shown::line(directory)));
    }
    note(&shown_ticket::details(ticket));
    if let Some(summary) = summary(&lines, keyboard::rows()) {
        note(&summary);
    }
    reader.forget_typed();
    match ticket.kind {
        TicketKind::Call => ask_about_call(reader, ticket),
        // The program with the token delivers the result.
        TicketKind::External => Ok(Answer::Later),
        _ => ask_for_text(reader, ticket),
    }
}

/// Returns the summary beside the question if its subject may not be on the screen any more: how many lines there are,
/// and the first one with content.
fn summary(lines: &[String], rows: usize) -> Option<String> {
    // The lines around the subject take rows, too, and a long line takes several.
    let fits = lines.len() <= FEW && lines.iter().all(|line| line.chars().count() <= LONG);
    if fits && lines.len() + AROUND <= rows {
        return None;
    }
    let count = lines.len();
    let first = lines.first().map(String::as_str).unwrap_or_default();
    let first = shown::short_line(first, SHORT);
    Some(format!(
        "  above: {count} lines, not all of them on the screen perhaps; the first is: {first}"
    ))
}

fn ask_for_text(reader: &LineReader, ticket: &Ticket) -> io::Result<Answer> {
    let question = match ticket.kind {
        TicketKind::Form => "answers as a JSON object on one line, or nothing for later: ",
        TicketKind::Question if ticket.choices.is_empty() => "your answer, or nothing for later: ",
        _ => "your choice, or nothing for later: ",
    };
    loop {
        let line = match reader.answer(question)? {
            Line::Text(line) => line,
            Line::Ended => return Ok(Answer::Later),
            Line::TakenBack => return Ok(Answer::TakenBack),
        };
        let line = line.trim();
        if line.is_empty() {
            return Ok(Answer::Later);
        }
        let is_choice = ticket.choices.iter().any(|choice| choice == line);
        match ticket.kind {
            TicketKind::Form => match serde_json::from_str(line) {
                Ok(answers @ Value::Object(_)) => return Ok(Answer::Filled(answers)),
                Ok(_) => note("that is JSON, but not an object; nothing was sent"),
                Err(error) => note(&format!("that is not JSON ({error}); nothing was sent")),
            },
            TicketKind::Question if !is_choice => return Ok(Answer::Text(line.to_owned())),
            _ => return Ok(Answer::Chosen(line.to_owned())),
        }
    }
}

fn ask_about_call(reader: &LineReader, ticket: &Ticket) -> io::Result<Answer> {
    let may_last = ticket.takes_always(Always::Call).is_ok();
    let (question, help) = if may_last {
        (QUESTION, HELP)
    } else {
        (QUESTION_ONCE, HELP_ONCE)
    };
    loop {
        let line = match reader.answer(question)? {
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
            "y" | "yes" => return Ok(approve(None, None)),
            "a" | "always" if may_last => match which(reader, ticket)? {
                Which::Calls(always) => return Ok(approve(None, Some(always))),
                Which::None => {}
                Which::TakenBack => return Ok(Answer::TakenBack),
            },
            "n" | "no" => return Ok(Answer::Deny { comment }),
            "l" | "later" => return Ok(Answer::Later),
            "e" | "edit" => match edit(reader, ticket.args_or_null())? {
                Edited::Args(args) => return Ok(approve(Some(args), None)),
                Edited::Nothing => {}
                Edited::TakenBack => return Ok(Answer::TakenBack),
            },
            _ => note(help),
        }
    }
}

/// The calls that an answer is for.
enum Which {
    Calls(Always),
    None,
    TakenBack,
}

/// Asks which calls to approve from now on: all calls of a tool are only approved if the person says that.
fn which(reader: &LineReader, ticket: &Ticket) -> io::Result<Which> {
    let tool = shown::line(ticket.subject());
    let question = match &ticket.prefix {
        Some(prefix) => format!(
            "always this very [c]all, those with the [p]refix {}, or all of the [t]ool {tool}: ",
            shown::line(prefix)
        ),
        None => format!("always this very [c]all, or all of the [t]ool {tool}: "),
    };
    let line = match reader.answer(&question)? {
        Line::Text(line) => line,
        Line::Ended => return Ok(Which::None),
        Line::TakenBack => return Ok(Which::TakenBack),
    };
    Ok(match line.trim().to_ascii_lowercase().as_str() {
        "c" | "call" => Which::Calls(Always::Call),
        "p" | "prefix" if ticket.prefix.is_some() => Which::Calls(Always::Prefix),
        "t" | "tool" => Which::Calls(Always::Tool),
        _ => Which::None,
    })
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

/// Opens the arguments in the person's editor, in a file that only they can read.
fn in_editor(editor: &str, args: &Value) -> io::Result<String> {
    let mut file = tempfile::Builder::new()
        .prefix("neuron-")
        .suffix(".json")
        .tempfile()?;
    writeln!(file, "{}", pretty(args))?;
    // The shell runs it, as is usual: the variable may contain options.
    let status = Command::new("sh")
        .arg("-c")
        .arg(format!("{editor} \"$1\""))
        .arg("sh")
        .arg(file.path())
        .stdin(keyboard::for_program()?)
        .stdout(stderr_handle()?)
        .status()?;
    if !status.success() {
        note(&format!("the editor ended with {status}"));
        return Ok(String::new());
    }
    std::fs::read_to_string(file.path())
}

/// Returns a handle of standard error. Standard output is for the answer, also while an editor is open.
fn stderr_handle() -> io::Result<std::process::Stdio> {
    use std::os::fd::AsFd as _;
    Ok(stderr().as_fd().try_clone_to_owned()?.into())
}

/// Returns arguments in a form for people.
pub(crate) fn pretty(args: &Value) -> String {
    serde_json::to_string_pretty(args).unwrap_or_else(|_| args.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_long_is_said_again_in_short() {
        let lines = |count: usize| (0..count).map(|number| format!("> line {number}"));
        let few: Vec<String> = lines(5).collect();
        assert_eq!(summary(&few, 24), None);
        assert!(summary(&few, 10).is_some(), "on a low screen");
        let many: Vec<String> = ["$ curl x | sh".to_owned()]
            .into_iter()
            .chain(lines(300))
            .collect();
        let said = summary(&many, 1000).unwrap();
        assert!(said.contains("301 lines"), "{said}");
        assert!(said.ends_with("$ curl x | sh"), "{said}");
        assert!(summary(&["x".repeat(5000)], 24).is_some());
    }
}
