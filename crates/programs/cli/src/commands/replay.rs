//! `neuron replay`

use std::path::Path;

use crate::{CliError, Exit, session::Session};

#[cfg(not(feature = "temporal"))]
pub(crate) async fn replay(_: &Session, _: &Path) -> Result<Exit, CliError> {
    Err(CliError::NotBuilt {
        engine: crate::args::EngineName::Temporal,
    })
}

#[cfg(feature = "temporal")]
pub(crate) async fn replay(session: &Session, file: &Path) -> Result<Exit, CliError> {
    use serde_json::json;

    use crate::{replay, terminal::output::note};

    let difference = replay::difference(file).await?;
    if session.output.is_json() {
        let ok = difference.is_none();
        session
            .output
            .value(&json!({ "file": file, "ok": ok, "difference": difference }))?;
    }
    match difference {
        None => {
            if !session.output.is_json() {
                let file = file.display();
                session.output.text(&format!("{file} replays: ok"))?;
            }
            Ok(Exit::Done)
        }
        Some(difference) => {
            note(&format!(
                "error: this build decides differently from {}: finish such runs with the build that \
                 started them\n  because {difference}",
                file.display()
            ));
            Ok(Exit::RunFailed)
        }
    }
}
