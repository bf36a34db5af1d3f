//! The questions of an MCP server to the person, in the terminal.

use std::io;

use neuron_mcp::{ElicitationAnswer, ElicitationForm, ElicitationRequest};
use serde_json::{Map, Value};

use crate::{
    questions::form_field::Field,
    questions::question::pretty,
    terminal::line_reader::{Line, LineReader},
    terminal::output::note,
    terminal::shown,
};

/// How much of a server's message is shown.
const MAX_LINES: usize = 20;
const MAX_LINE_CHARS: usize = 400;
/// The most fields of a form.
const MAX_FIELDS: usize = 50;

/// Puts the questions and waits for the answers. A question that was taken back is cancelled.
///
/// # Errors
///
/// The terminal's.
pub(crate) fn ask(
    reader: &LineReader,
    request: &ElicitationRequest,
) -> io::Result<ElicitationAnswer> {
    note(&format!(
        "the MCP server {} asks:",
        shown::line(&request.server)
    ));
    for line in request.message.lines().take(MAX_LINES) {
        note(&format!("    {}", shown::short_line(line, MAX_LINE_CHARS)));
    }
    match &request.form {
        ElicitationForm::Visit(address) => visit(reader, address),
        ElicitationForm::Fields(schema) => match fields(schema) {
            Some(fields) => fill_in(reader, &fields),
            None => {
                note("  its question cannot be answered here and is declined");
                Ok(ElicitationAnswer::Decline)
            }
        },
        _ => Ok(ElicitationAnswer::Decline),
    }
}

/// Returns the fields, the required ones first.
fn fields(schema: &Value) -> Option<Vec<Field<'_>>> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Some(Vec::new());
    };
    if properties.len() > MAX_FIELDS {
        return None;
    }
    let needed = schema.get("required").and_then(Value::as_array);
    let is_needed = |name: &str| needed.is_some_and(|needed| needed.iter().any(|it| it == name));
    let mut fields = Vec::new();
    for needed in [true, false] {
        for (name, schema) in properties {
            if is_needed(name) == needed {
                fields.push(Field::read(name, schema, needed)?);
            }
        }
    }
    Some(fields)
}

fn visit(reader: &LineReader, address: &str) -> io::Result<ElicitationAnswer> {
    note("  it asks you to open this address and continue there:");
    note(&format!("    {}", shown::line(address)));
    reader.forget_typed();
    Ok(
        match choose(reader, "[y]es, I open it; [n]o: ", &["yes", "no"])? {
            Some("yes") => ElicitationAnswer::Accept(Map::new()),
            Some(_) => ElicitationAnswer::Decline,
            None => ElicitationAnswer::Cancel,
        },
    )
}

fn fill_in(reader: &LineReader, fields: &[Field<'_>]) -> io::Result<ElicitationAnswer> {
    reader.forget_typed();
    match choose(reader, "[a]nswer, [n]o: ", &["answer", "no"])? {
        Some("answer") => {}
        Some(_) => return Ok(ElicitationAnswer::Decline),
        None => return Ok(ElicitationAnswer::Cancel),
    }
    loop {
        let mut answer = Map::new();
        for field in fields {
            match one(reader, field)? {
                Some(Some(value)) => drop(answer.insert(field.name.to_owned(), value)),
                Some(None) => {}
                None => return Ok(ElicitationAnswer::Cancel),
            }
        }
        let answer = Value::Object(answer);
        note("  your answer:");
        for line in pretty(&answer).lines() {
            note(&format!("    {}", shown::line(line)));
        }
        match choose(reader, "[s]end it, [e]dit, [n]o: ", &["send", "edit", "no"])? {
            Some("send") => {
                let Value::Object(answer) = answer else {
                    return Ok(ElicitationAnswer::Cancel);
                };
                return Ok(ElicitationAnswer::Accept(answer));
            }
            Some("edit") => {}
            Some(_) => return Ok(ElicitationAnswer::Decline),
            None => return Ok(ElicitationAnswer::Cancel),
        }
    }
}

/// Returns what is typed for a field. `None` if nothing more will be typed.
fn one(reader: &LineReader, field: &Field<'_>) -> io::Result<Option<Option<Value>>> {
    for line in field.introduction() {
        note(&line);
    }
    let question = field.question();
    loop {
        let Line::Text(line) = reader.answer(&question)? else {
            return Ok(None);
        };
        match field.parse(&line) {
            Ok(value) => return Ok(Some(value)),
            Err(wanted) => note(&format!("  {wanted}")),
        }
    }
}

/// Returns the word whose beginning is typed. `None` if nothing more will be typed.
fn choose(
    reader: &LineReader,
    question: &str,
    words: &[&'static str],
) -> io::Result<Option<&'static str>> {
    loop {
        let Line::Text(line) = reader.answer(question)? else {
            return Ok(None);
        };
        let typed = line.trim().to_ascii_lowercase();
        let meant = words.iter().find(|word| word.starts_with(&typed));
        if let Some(word) = meant.filter(|_| !typed.is_empty()) {
            return Ok(Some(word));
        }
    }
}
