//! `neuron run`

use neuron_runtime::ProcessEnvironment;
use neuron_types::{InvalidRunId, Message, RunId, RunInput};
use uuid::Uuid;

use crate::{CliError, Exit, args::RunArgs, execution, input, output::note, session::Session};

/// The engine's name in the run's status.
const ENGINE: &str = "local";

pub(crate) async fn run(session: &Session, args: RunArgs) -> Result<Exit, CliError> {
    // Before the prompt, which may be long in coming.
    let file = session.agent_file()?;
    let agent = file.agent(&session.global.agent)?;
    let executor = file.executor(&agent, session.cwd()?, &ProcessEnvironment)?;
    let prompt = input::prompt(args.prompt)?;
    if file.is_demo(&agent) {
        note(
            "the demo model answers, which is a small program and no language model: set \
             OPENAI_API_KEY or ANTHROPIC_API_KEY for a real one",
        );
    }
    let run_id = args.id.map_or_else(new_id, Ok)?;
    let journal = session.journal().await?;
    let input = RunInput {
        agent,
        prompt: Message::user(prompt),
    };
    journal.create_run(&run_id, &input, ENGINE).await?;
    execution::execute(session, &journal, &run_id, input, executor).await
}

/// An id that no other machine makes: tools hand it on as part of their idempotency keys.
fn new_id() -> Result<RunId, InvalidRunId> {
    RunId::new(Uuid::now_v7().to_string())
}
