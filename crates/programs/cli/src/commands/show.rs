//! `neuron show`

use crate::{
    CliError, Exit,
    args::ShowArgs,
    session::Session,
    terminal::{
        output::note,
        transcript::{self, Shown},
    },
};

pub(crate) async fn show(session: &Session, args: &ShowArgs) -> Result<Exit, CliError> {
    let run = session.run_to_look_at(&args.run).await?;
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
    if session.output.is_json() {
        session.output.value(&transcript)?;
        return Ok(Exit::Done);
    }
    if let Some(why) = &transcript.incomplete {
        note(&format!("the transcript is not complete: {why}"));
    }
    let shown = Shown {
        full: args.full,
        thinking: args.thinking,
    };
    session.output.text(&transcript::text(&transcript, shown))?;
    Ok(Exit::Done)
}
