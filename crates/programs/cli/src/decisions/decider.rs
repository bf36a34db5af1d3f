//! Names the person behind a decision, and signs decisions if that is wanted.

use std::{env, io, path::PathBuf, sync::Arc};

use chrono::Utc;
use neuron_approvers::{AGENT_SOCKET, Approvers, Signer, Statement};
use neuron_engine::RunHandle;
use neuron_types::{DecidedAt, Decision, Place, RunStatus, Verdict};
use tokio::{sync::OnceCell, task::spawn_blocking};

use crate::{
    CliError, session::Session, terminal::output::note, terminal::passphrase, terminal::shown,
    whoami::whoami,
};

/// The person who decides about a run here. Decisions are signed with the key that the command line names; otherwise,
/// if the agent file has approvers, with a key of theirs that `ssh-agent` has.
#[derive(Debug)]
pub(crate) struct Decider {
    approvers: Approvers,
    /// Whether the approvers are those that the run's executor has.
    is_local: bool,
    place: Place,
    key_file: Option<PathBuf>,
    /// The signer, which is loaded when it is first needed: that may ask for a passphrase.
    signer: OnceCell<Arc<Signer>>,
}

impl Decider {
    /// Returns the decider about this run.
    ///
    /// # Errors
    ///
    /// The errors of [`Session::approvers`].
    pub(crate) fn of(
        session: &Session,
        run: &RunHandle,
        status: &RunStatus,
    ) -> Result<Self, CliError> {
        Ok(Self {
            approvers: session.approvers(status)?,
            is_local: session.is_local(),
            place: run.client().place(),
            key_file: session.key_file().cloned(),
            signer: OnceCell::new(),
        })
    }

    /// Returns whether this decision is signed here. A result that is sent with the token of its ticket needs no
    /// signature.
    pub(crate) fn signs(&self, decision: &Decision) -> bool {
        let has_token = decision.verdict == Verdict::Complete && decision.token.is_some();
        self.key_file.is_some() || !(self.approvers.is_empty() || has_token)
    }

    /// Names the person behind an unsigned decision: the `named` one, otherwise the user of this machine.
    pub(crate) fn unsigned(decision: Decision, named: Option<String>) -> Decision {
        Decision {
            approver: Some(named.unwrap_or_else(whoami)),
            ..decision
        }
    }

    /// Names the person behind a decision about a run with this status: the key's owner if the decision is signed,
    /// otherwise the `named` one, otherwise the user of this machine.
    ///
    /// # Errors
    ///
    /// [`CliError::NoStatement`], [`CliError::NobodySigns`], [`CliError::Stranger`] and [`CliError::Sign`].
    pub(crate) async fn decided(
        &self,
        decision: Decision,
        status: &RunStatus,
        named: Option<String>,
    ) -> Result<Decision, CliError> {
        if !self.signs(&decision) {
            return Ok(Self::unsigned(decision, named));
        }
        let signer = self.signer.get_or_try_init(|| self.take_signer()).await?;
        let owner = self.approvers.owner(signer.key()).map(ToOwned::to_owned);
        let decision = Decision {
            approver: Some(owner.or(named).unwrap_or_else(whoami)),
            // This is the last moment before the signature.
            at: Some(DecidedAt::from(Utc::now())),
            ..decision
        };
        let statement = Statement::of_run(&self.place, status, &decision)?;
        if signer.key().is_hardware() {
            note("touch the key to sign");
        }
        let signer = Arc::clone(signer);
        let signed = spawn_blocking(move || signer.sign(&statement)).await;
        let signature = signed.map_err(lost)??;
        Ok(Decision {
            signature: Some(signature),
            ..decision
        })
    }

    async fn take_signer(&self) -> Result<Arc<Signer>, CliError> {
        let socket = env::var_os(AGENT_SOCKET).filter(|path| !path.is_empty());
        let socket = socket.map(PathBuf::from);
        let signer = match (self.key_file.clone(), socket) {
            (Some(file), socket) => {
                let take = move || {
                    let socket = socket.as_deref();
                    Signer::from_key_file(&file, socket, passphrase::ask)
                };
                spawn_blocking(take).await.map_err(lost)??
            }
            (None, Some(socket)) => {
                let approvers = self.approvers.clone();
                let take = move || Signer::from_agent(&socket, &approvers);
                spawn_blocking(take).await.map_err(lost)??
            }
            (None, None) => {
                return Err(CliError::NobodySigns {
                    approvers: self.names(),
                });
            }
        };
        self.check(&signer)?;
        Ok(Arc::new(signer))
    }

    fn check(&self, signer: &Signer) -> Result<(), CliError> {
        if let Some(file) = self.key_file.as_ref().filter(|_| signer.others_may_read()) {
            let file = file.to_string_lossy();
            note(&format!(
                "others can read the key file: `chmod 600 {}`",
                shown::shell_word(&file)
            ));
        }
        let key = signer.key();
        if self.approvers.is_empty() || self.approvers.owner(key).is_some() {
            return Ok(());
        }
        let stranger = CliError::Stranger {
            key: key.fingerprint(),
            approvers: self.names(),
        };
        if self.is_local {
            return Err(stranger);
        }
        // The approvers of the worker's file count. They may be others.
        note(&format!("the run may reject the decision: {stranger}"));
        Ok(())
    }

    fn names(&self) -> String {
        self.approvers.names().collect::<Vec<_>>().join(", ")
    }
}

/// Returns the error if the thread that signs is gone.
fn lost(error: tokio::task::JoinError) -> CliError {
    CliError::Threads(io::Error::other(error))
}
