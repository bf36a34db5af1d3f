//! `neuron status`

use crate::{
    CliError, Exit,
    args::StatusArgs,
    runs::{served::Servers, table, tree::Tree, tree_picture},
    session::Session,
    terminal::output::note,
};

pub(crate) async fn status(session: &Session, args: &StatusArgs) -> Result<Exit, CliError> {
    let run = session.run_to_look_at(&args.of.run).await?;
    let mut status = run.status().await?;
    let server = Servers::new(session).of(&mut status).await;
    let output = session.output;
    match (args.tree, output.is_json()) {
        (true, true) => {
            let tree = Tree::below(&run, status.clone()).await?;
            output.counts(&tree_picture::WithTree::new(&status, &tree))?;
        }
        (true, false) => {
            let tree = Tree::below(&run, status).await?;
            output.text(&tree_picture::text(&tree))?;
            if let Some(why) = &tree.incomplete {
                note(why);
            }
        }
        (false, true) => output.counts(&status)?,
        (false, false) => output.text(&table::status(session, &status, &server))?,
    }
    Ok(Exit::Done)
}
