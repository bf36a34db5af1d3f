//! `neuron show`

use neuron_engine::RunHandle;
use neuron_types::Transcript;

use crate::{
    CliError, Exit,
    args::ShowArgs,
    runs::tree::{Found, Node, Tree},
    session::Session,
    terminal::{
        output::{Output, note},
        shown,
        transcript::{self, Shown},
    },
};

pub(crate) async fn show(session: &Session, args: &ShowArgs) -> Result<Exit, CliError> {
    let (output, how) = (session.output, how(args));
    let run = session.run_to_look_at(&args.run).await?;
    if args.tree {
        let tree = Tree::of(&run).await?;
        return show_tree(output, &run, &tree, how).await;
    }
    let mut transcript = run.transcript().await?;
    if let Some(turn) = args.turn {
        transcript.entries.retain(|entry| entry.turn == turn);
        if transcript.entries.is_empty() {
            return Err(CliError::NoTurn {
                run_id: args.run.clone(),
                turn,
            });
        }
    }
    if output.is_json() {
        output.value(&transcript)?;
        return Ok(Exit::Done);
    }
    if let Some(why) = &transcript.incomplete {
        note(&format!("the transcript is not complete: {why}"));
    }
    output.text(&transcript::text(&transcript, how))?;
    Ok(Exit::Done)
}

const fn how(args: &ShowArgs) -> Shown {
    Shown {
        full: args.full,
        thinking: args.thinking,
    }
}

/// Shows one transcript after the other, each after that of the run that started it.
async fn show_tree(
    output: Output,
    run: &RunHandle,
    tree: &Tree,
    how: Shown,
) -> Result<Exit, CliError> {
    let mut all = Vec::new();
    for (number, node) in tree.nodes.iter().enumerate() {
        let transcript = of_node(run, node).await?;
        if output.is_json() {
            all.push(transcript);
            continue;
        }
        let gap = if number == 0 { "" } else { "\n" };
        let agent = shown::line(node.agent());
        let mut text = format!("{gap}run {}, agent {agent}", node.run_id());
        if let Some(why) = &transcript.incomplete {
            text.push_str(&format!("\n  [not complete: {}]", shown::line(why)));
        }
        if !transcript.entries.is_empty() {
            text.push('\n');
            text.push_str(&transcript::text(&transcript, how));
        }
        output.text(&text)?;
    }
    if output.is_json() {
        output.value(&all)?;
    }
    if let Some(why) = &tree.incomplete {
        note(why);
    }
    Ok(Exit::Done)
}

/// Returns the transcript of a run of a tree: an empty one if the run cannot be read.
async fn of_node(run: &RunHandle, node: &Node) -> Result<Transcript, CliError> {
    match &node.found {
        Found::Known(status) => Ok(run.client().transcript(&status.run_id).await?),
        Found::Lost { child, why } => Ok(Transcript {
            run_id: child.run_id.clone(),
            entries: Vec::new(),
            incomplete: Some(why.clone()),
        }),
    }
}
