//! The commands.

use crate::{
    CliError, Exit,
    args::{Cli, Command},
    session::Session,
};

mod agents;
mod approvals;
mod cancel;
mod costs;
mod decide;
mod dev;
mod doctor;
#[cfg(any(feature = "temporal", feature = "restate"))]
pub(crate) mod engine_worker;
mod events;
mod mcp;
mod replay;
mod resume;
mod rm;
mod run;
mod runs;
mod send;
mod sessions;
mod show;
mod status;
mod submit;
mod trust;
mod upgrade;
mod wait;
mod worker;

/// Executes the command of the command line.
pub(crate) async fn dispatch(cli: Cli) -> Result<Exit, CliError> {
    let session = Session::new(cli.global);
    match cli.command {
        Command::Run(args) => run::run(&session, args).await,
        Command::Resume(args) => resume::resume(&session, &args).await,
        Command::Submit(args) => submit::submit(&session, args).await,
        Command::Wait(args) => wait::wait(&session, &args).await,
        Command::Status(args) => status::status(&session, &args).await,
        Command::Runs(args) => runs::runs(&session, &args).await,
        Command::Show(args) => show::show(&session, &args).await,
        Command::Costs(args) => costs::costs(&session, args).await,
        Command::Events(args) => events::events(&session, &args).await,
        Command::Approvals(args) => approvals::approvals(&session, args.run.as_ref()).await,
        Command::Approve(args) => decide::approve(&session, args).await,
        Command::Deny(args) => decide::deny(&session, args.decision).await,
        Command::Answer(args) => decide::answer(&session, args).await,
        Command::Complete(args) => decide::complete(&session, args).await,
        Command::Decide(args) => decide::choose(&session, args).await,
        Command::Send(args) => send::send(&session, args).await,
        Command::Signal(args) => send::signal(&session, args).await,
        Command::Cancel(args) => cancel::cancel(&session, args).await,
        Command::Upgrade(args) => upgrade::upgrade(&session, &args).await,
        Command::Worker(args) => worker::worker(&session, args).await,
        Command::Rm(args) => rm::rm(&session, args).await,
        Command::Sessions(args) => {
            let session = session.with_sessions_at(args.at);
            sessions::sessions(&session, args.command).await
        }
        Command::Agents(args) => agents::agents(&session, &args),
        Command::Doctor(args) => doctor::doctor(&session, &args).await,
        Command::Trust(args) => trust::trust(&session, &args.folder).await,
        Command::Mcp(args) => mcp::mcp(&session, args).await,
        Command::Replay(args) => replay::replay(&session, &args.file).await,
        Command::Dev => dev::dev(&session).await,
    }
}
