//! The workflow service: a run is one of its workflows, keyed by the run's id.

use std::time::Duration;

use chrono::{DateTime, Utc};
use futures::{FutureExt, future::BoxFuture};
use neuron_types::{
    Decision, DurableError, ExitReason, FailureKind, RecordedEvent, RunError, RunEvent, RunId,
    RunInput, RunOutput, RunStatus, UserMessage, Verdict, signal,
};
use restate_sdk::{
    context::{RequestTarget, RunFuture, RunRetryPolicy},
    discovery::{Handler, HandlerType, ServiceType},
    endpoint::{ContextInternal, HandlerOptions, ServiceOptions},
    errors::{HandlerResult, TerminalError},
    serde::Json,
    service::ServiceDefinition,
};
use serde_json::Value;

use crate::{
    RestateDurableContext, ServiceNames, SettingsError, decision,
    dispatch::{self, Handlers, answer, handler, json_handler},
    endpoint::{Settings, restarts, short_handler},
    executors::Acting,
    refusal::Refusal,
    wire::{
        Accepted, Answer, CANCELLED, Delivery, EVENTS, EventsAfter, NamedSignal, Put, STATUS,
        Signal, Stop, signal_key,
    },
};

/// What a run does, generic over nothing: a function that is handed this engine's door.
pub type Workflow = for<'a, 'c> fn(
    &'a RestateDurableContext<'c>,
    RunInput,
) -> BoxFuture<'a, Result<RunOutput, DurableError>>;

struct Agent {
    names: ServiceNames,
    acting: Acting,
    workflow: Workflow,
    watch: Duration,
}

impl Handlers for Agent {
    const KIND: ServiceType = ServiceType::Workflow;

    fn manifest() -> Vec<Handler> {
        let shared = Some(HandlerType::Shared);
        let takes_json = [
            (
                "events",
                "The run's events behind number `after`, in order.",
            ),
            (
                "approve",
                "Approves a ticket: `ticket`, `digest`, and if wanted `args`, `comment`, `approver`.",
            ),
            (
                "deny",
                "Denies a ticket: `ticket`, `digest`, and if wanted `comment`, `approver`.",
            ),
            ("send", "Queues a user message: `text`."),
            ("signal", "Sends a signal: `name`, and if wanted `payload`."),
            ("cancel", "Cancels the run: `{}`, or a `reason`."),
            ("deliver", "Takes a signal from the inbox."),
        ];
        let run = json_handler(
            "run",
            Some(HandlerType::Workflow),
            "Runs an agent to its end.",
        );
        let status = handler("status", shared, "Where the run stands.");
        let others = takes_json
            .into_iter()
            .filter_map(|(name, documentation)| json_handler(name, shared, documentation));
        run.into_iter().chain(status).chain(others).collect()
    }

    fn handle<'a>(&'a self, ctx: &'a ContextInternal, handler: &'a str) -> BoxFuture<'a, bool> {
        async move {
            match handler {
                "run" => answer(ctx, |Json(input), of| self.run(ctx, of.key, input)).await,
                "status" => {
                    answer(ctx, |(), of| async move {
                        Ok(Json(status(ctx, &of.key).await?))
                    })
                    .await
                }
                "events" => {
                    answer(ctx, |Json(wanted): Json<EventsAfter>, of| async move {
                        status(ctx, &of.key).await?;
                        Ok(Json(events(ctx, wanted.after).await?))
                    })
                    .await
                }
                "approve" => self.answer_decision(ctx, Verdict::Approve).await,
                "deny" => self.answer_decision(ctx, Verdict::Deny).await,
                "send" => {
                    answer(ctx, |Json(message): Json<UserMessage>, of| async move {
                        self.send(ctx, &of.key, &message).await?;
                        Ok(Json(Accepted {}))
                    })
                    .await
                }
                "signal" => {
                    answer(ctx, |Json(signal), of| async move {
                        self.signal(ctx, &of.key, signal).await?;
                        Ok(Json(Accepted {}))
                    })
                    .await
                }
                "cancel" => {
                    answer(ctx, |Json(stop), of| async move {
                        cancel(ctx, &of.key, stop).await?;
                        Ok(Json(Accepted {}))
                    })
                    .await
                }
                "deliver" => {
                    answer(ctx, |Json(delivery): Json<Delivery>, _| async move {
                        let Delivery { seq, signal } = delivery;
                        ctx.resolve_promise(&signal_key(seq), Json(signal));
                        Ok(())
                    })
                    .await
                }
                _ => false,
            }
        }
        .boxed()
    }
}

impl Agent {
    async fn run(
        &self,
        ctx: &ContextInternal,
        key: String,
        input: RunInput,
    ) -> HandlerResult<Json<RunOutput>> {
        let run_id = RunId::new(key)
            .map_err(|error| TerminalError::new_with_code(400, error.to_string()))?;
        let agent = input.agent.clone();
        let opened = RestateDurableContext::open(
            ctx,
            &self.acting,
            &self.names,
            &run_id,
            &agent,
            self.watch,
        );
        let door = opened.await.map_err(terminal)?;
        let output = match (self.workflow)(&door, input).await {
            Ok(output) => output,
            Err(error) => broken(&door, &error),
        };
        door.finish().await;
        let inbox = RequestTarget::object(self.names.inbox(), run_id.as_str(), "close");
        drop(ctx.request::<_, ()>(inbox, ()).send());
        Ok(Json(output))
    }

    async fn answer_decision(&self, ctx: &ContextInternal, verdict: Verdict) -> bool {
        answer(ctx, |Json(given): Json<Answer>, of| async move {
            let decision = given.into_decision(verdict);
            self.decide(ctx, &of.key, decision).await?;
            Ok(Json(Accepted {}))
        })
        .await
    }

    async fn send(
        &self,
        ctx: &ContextInternal,
        run_id: &str,
        message: &UserMessage,
    ) -> Result<(), TerminalError> {
        self.put(ctx, run_id, signal::USER_MESSAGE, payload(message)?)
            .await
    }

    async fn signal(
        &self,
        ctx: &ContextInternal,
        run_id: &str,
        NamedSignal { name, payload }: NamedSignal,
    ) -> Result<(), TerminalError> {
        match name.as_str() {
            signal::DECISION => self.decide(ctx, run_id, fitting(&name, payload)?).await,
            signal::CANCEL => {
                let reason = payload.get("reason").and_then(Value::as_str);
                let reason = reason.map(ToOwned::to_owned);
                cancel(ctx, run_id, Stop { reason }).await
            }
            signal::USER_MESSAGE => {
                let message: UserMessage = fitting(&name, payload)?;
                self.send(ctx, run_id, &message).await
            }
            _ => self.put(ctx, run_id, &name, payload).await,
        }
    }

    async fn decide(
        &self,
        ctx: &ContextInternal,
        run_id: &str,
        decision: Decision,
    ) -> Result<(), TerminalError> {
        let status = open_status(ctx, run_id).await?;
        let at = time(ctx).await?;
        match decision::check(&status, &decision, at) {
            Ok(()) => {}
            Err(Some(refusal)) => return Err(refusal.into()),
            Err(None) => {
                let events = events(ctx, 0).await?;
                return Err(decision::why_closed(&status, &decision, &events).into());
            }
        }
        let put = Put {
            signal: Signal {
                name: signal::DECISION.to_owned(),
                payload: payload(&decision)?,
                at,
            },
            ticket: Some(decision.ticket),
        };
        self.pass_on(ctx, run_id, put).await
    }

    async fn put(
        &self,
        ctx: &ContextInternal,
        run_id: &str,
        name: &str,
        payload: Value,
    ) -> Result<(), TerminalError> {
        open_status(ctx, run_id).await?;
        let signal = Signal {
            name: name.to_owned(),
            payload,
            at: time(ctx).await?,
        };
        let put = Put {
            signal,
            ticket: None,
        };
        self.pass_on(ctx, run_id, put).await
    }

    async fn pass_on(
        &self,
        ctx: &ContextInternal,
        run_id: &str,
        put: Put,
    ) -> Result<(), TerminalError> {
        let target = RequestTarget::object(self.names.inbox(), run_id, "put");
        ctx.request::<_, ()>(target, Json(put)).call().await
    }
}

async fn status(ctx: &ContextInternal, run_id: &str) -> Result<RunStatus, TerminalError> {
    match ctx.get::<Json<RunStatus>>(STATUS).await? {
        Some(Json(status)) => Ok(status),
        None => Err(Refusal::UnknownRun {
            run_id: run_id.to_owned(),
        }
        .into()),
    }
}

async fn open_status(ctx: &ContextInternal, run_id: &str) -> Result<RunStatus, TerminalError> {
    let status = status(ctx, run_id).await?;
    if status.state.is_final() {
        return Err(Refusal::run_over(&status).into());
    }
    Ok(status)
}

async fn events(ctx: &ContextInternal, after: u64) -> Result<Vec<RecordedEvent>, TerminalError> {
    let mut keys = ctx.get_keys().await?;
    keys.retain(|key| key.starts_with(EVENTS));
    keys.sort_unstable();
    let first_seq = |key: &String| {
        let digits = key.strip_prefix(EVENTS).unwrap_or_default();
        digits.parse().unwrap_or(0)
    };
    // The last chunk that starts at or before the first wanted event may hold it.
    let wanted = after.saturating_add(1);
    let skipped = keys.partition_point(|key| first_seq(key) <= wanted);
    let mut events = Vec::new();
    for key in keys.iter().skip(skipped.saturating_sub(1)) {
        if let Some(Json(chunk)) = ctx.get::<Json<Vec<RecordedEvent>>>(key).await? {
            events.extend(chunk.into_iter().filter(|event| event.seq > after));
        }
    }
    Ok(events)
}

async fn cancel(ctx: &ContextInternal, run_id: &str, stop: Stop) -> Result<(), TerminalError> {
    open_status(ctx, run_id).await?;
    ctx.resolve_promise(CANCELLED, Json(stop));
    Ok(())
}

async fn time(ctx: &ContextInternal) -> Result<DateTime<Utc>, TerminalError> {
    let run = ctx.run(|| async { Ok(Json(Utc::now())) });
    let policy = RunRetryPolicy::default().max_attempts(1);
    let Json(now) = run.retry_policy(policy).name("time").await?;
    Ok(now)
}

fn payload(value: &impl serde::Serialize) -> Result<Value, TerminalError> {
    serde_json::to_value(value).map_err(TerminalError::from_error)
}

fn fitting<T: serde::de::DeserializeOwned>(name: &str, payload: Value) -> Result<T, TerminalError> {
    serde_json::from_value(payload).map_err(|error| {
        let refusal = Refusal::BadSignal {
            name: name.to_owned(),
            reason: error.to_string(),
        };
        refusal.into()
    })
}

fn terminal(error: DurableError) -> TerminalError {
    match error {
        DurableError::Cancelled { .. } => TerminalError::new_with_code(409, "cancelled"),
        other => TerminalError::new(other.to_string()),
    }
}

/// A run that could not go on has an output too, and a status that says so.
fn broken(door: &RestateDurableContext<'_>, error: &DurableError) -> RunOutput {
    let mut message = error.to_string();
    if let Some(cause) = std::error::Error::source(error) {
        message = format!("{message}: {cause}");
    }
    let (exit_reason, kind) = match error {
        DurableError::Cancelled { .. } => (ExitReason::Cancelled, FailureKind::Cancelled),
        DurableError::Step(failure) => (ExitReason::Failed, failure.kind),
        _ => (ExitReason::Failed, FailureKind::Internal),
    };
    let mut log = door.log();
    let output = log.status.last_message.clone();
    let error = Some(RunError { kind, message });
    log.emit(RunEvent::RunEnded {
        exit_reason,
        output,
        error,
    });
    log.status.output(Some(exit_reason))
}

pub(crate) fn definition(
    names: &ServiceNames,
    acting: Acting,
    workflow: Workflow,
    settings: &Settings,
) -> Result<ServiceDefinition, SettingsError> {
    let run = HandlerOptions::new()
        .inactivity_timeout(settings.inactivity)
        .abort_timeout(settings.abort)
        .workflow_retention(settings.retention);
    let mut options = ServiceOptions::new()
        // A run's events are not sent along with every step.
        .enable_lazy_state(true)
        .handler("run", run)
        .handler("deliver", short_handler().ingress_private(true));
    for handler in [
        "status", "events", "approve", "deny", "send", "signal", "cancel",
    ] {
        options = options.handler(handler, short_handler());
    }
    let agent = Agent {
        names: names.clone(),
        acting,
        workflow,
        watch: settings.watch(),
    };
    dispatch::definition(names.agent(), agent, restarts(options))
}
