//! Workflows of a program: functions over the door in which agents take turns.
//!
//! A workflow is written once, and runs in memory, in a journal, on Temporal and on Restate. With agents it is an
//! [`Agent`] like any other: it works on every engine, and its runs are started by its name.
//!
//! ```
//! use neuron::{prelude::*, workflow::{Door, DurableContext, Served as _, WorkflowError}};
//!
//! /// Asks one agent, and another about its answer.
//! #[neuron::workflow(name = "review")]
//! async fn review<D: DurableContext>(door: &Door<D>, topic: String) -> Result<Vec<String>, WorkflowError> {
//!     let mut writer = door.scoped("writer")?;
//!     let mut critic = door.scoped("critic")?;
//!     let text = writer.ask(topic).await?;
//!     let remark = critic.ask(&text).await?;
//!     Ok(vec![text, remark])
//! }
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let writer = Agent::builder("writer").model("anthropic/claude-sonnet-5-5").build()?;
//! let critic = Agent::builder("critic").model("openai/gpt-5.4").build()?;
//! let review = Review::with(&[&writer, &critic])?;
//! let local = Local::open(".neuron").await?;
//! let texts: Vec<String> = review.on(&local).start("r1", &"Rust".to_owned()).await?.result().await?;
//! # Ok(())
//! # }
//! ```
//!
//! # What is replayed
//!
//! After a crash the function is called again from its start, and the door answers from the journal what it answered
//! before. So a workflow uses nothing but its input and the answers of the door: no clock, no randomness, no files, no
//! `HashMap`'s order.
//!
//! # Several agents at once
//!
//! Agents of one run take turns. Agents that are to work at the same time have [runs of their own](Door::start_agent),
//! and the workflow waits for them. [`team`] has the forms of most teams: a pipeline, a writer and a critic, several
//! agents and a judge.
//!
//! # Limits
//!
//! Agents of one run take turns: asking one while another is answering returns [`WorkflowError::NotItsTurn`]. A
//! workflow of a program does not continue as new, so its history ends at the engine's limit: an agent that is asked
//! after that fails with [`WorkflowError::HistoryFull`].

use std::{collections::BTreeSet, sync::Arc};

use neuron_executor::Executor;
use neuron_types::AgentSpec;
pub use neuron_types::DurableContext;
pub use neuron_workflows::{
    AgentAnswer, CarriedOut, ChildRun, Door, EFFECT_SIGNAL, ScopedAgent, Workflow, WorkflowError,
    run, run_of_tree, team,
};

pub use crate::agent::Serving;
use crate::{
    Agent, AgentError, AnyAgent,
    agent::{Parts, check_names},
};

/// A [`Workflow`] that the engines of this build can serve. `#[neuron::workflow]` implements it.
pub trait Served: Workflow {
    /// Returns how each engine runs it.
    fn serving() -> Serving;

    /// Returns the workflow with the agents that take turns in it, as an agent that works on every engine.
    ///
    /// If one of the agents has [approvers](crate::AgentBuilder::approvers), decisions about the whole run have to be
    /// signed: by the approvers of the ticket's agent, or, if that agent has no approvers, by those of the others.
    ///
    /// A run records the definitions of its agents when it starts. Their order is that of their
    /// [scopes](neuron_types::StepId::scope), so it should not change while runs are in flight.
    ///
    /// # Errors
    ///
    /// [`AgentError::SameName`] if two agents have the same name.
    fn with(agents: &[&dyn AnyAgent]) -> Result<Agent<Self::Input, Self::Output>, AgentError> {
        let mut names = BTreeSet::new();
        let mut team = Vec::new();
        let mut executor = Executor::builder();
        for agent in agents {
            let parts = agent.parts();
            if !names.insert(parts.spec.name.clone()) {
                return Err(AgentError::SameName {
                    agent: Self::NAME.to_owned(),
                    twice: parts.spec.name.clone(),
                });
            }
            if parts.spec.pool.is_some() || !parts.spec.pools.is_empty() {
                return Err(AgentError::PoolInWorkflow {
                    workflow: Self::NAME.to_owned(),
                    agent: parts.spec.name.clone(),
                });
            }
            team.push(parts.spec.clone());
            executor = executor.member(parts.spec.name.clone(), parts.executor.clone());
        }
        let others: Vec<_> = agents
            .iter()
            .flat_map(|agent| agent.parts().others.clone())
            .collect();
        check_names(Self::NAME, &others)?;
        let alive: Vec<_> = agents.iter().map(|agent| agent.parts().clone()).collect();
        Ok(Agent::new(Parts {
            spec: AgentSpec {
                name: Self::NAME.to_owned(),
                team: Some(team),
                ..AgentSpec::default()
            },
            executor: executor.build(),
            serving: Some(Self::serving()),
            description: None,
            others,
            file: None,
            alive: Some(Arc::new(alive)),
        }))
    }
}

#[doc(hidden)]
#[macro_export]
macro_rules! __served {
    ($workflow:ident) => {
        impl $crate::workflow::Served for $workflow {
            fn serving() -> $crate::workflow::Serving {
                $crate::__serving!(Self)
            }
        }
    };
}
