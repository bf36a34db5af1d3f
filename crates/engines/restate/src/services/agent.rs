//! The workflow service: a run is one of its workflows, keyed by the run's id.

use std::time::Duration;

use chrono::{DateTime, Utc};
use futures::{FutureExt, future::BoxFuture};
use neuron_engine::{AgentSignal, CancelBody, DecisionBody};
use neuron_types::{
    Decision, RecordedEvent, Refusal, RunStatus, Ticket, UserMessage, Verdict, VerifyOutcome,
    signal,
};
use restate_sdk::{
    context::{RequestTarget, RunFuture, RunRetryPolicy},
    discovery::{Handler, HandlerType, ServiceType},
    endpoint::{ContextInternal, HandlerOptions, ServiceOptions},
    errors::TerminalError,
    serde::Json,
    service::ServiceDefinition,
};
use serde_json::Value;

use crate::{
    door::record::Record,
    services::{
        dispatch::{self, Handlers, answer, handler, json_handler},
        options::{restarts, short_handler},
        refusal::Refused,
        segments::Segments,
    },
    wire::{
        messages::{
            AT, Accepted, Addressee, CONTINUED, CancelRequest, EventsAfter, NamedSignal,
            PutRequest, Signal,
        },
        pages,
        service_names::{ServiceNames, VERSION, VERSION_KEY},
        settings_error::SettingsError,
    },
};

/// How often a run that another run sends something is checked for having begun, over an hour or so.
const LOOKS: u32 = 72;
const SHORTEST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

struct Agent {
    names: ServiceNames,
    segments: Segments,
}

impl Handlers for Agent {
    const KIND: ServiceType = ServiceType::Workflow;

    fn manifest() -> Vec<Handler> {
        let shared = Some(HandlerType::Shared);
        let takes_json = [
            (
                "events",
                "The first of the run's events behind number `after`, in order; none if there are none.",
            ),
            (
                "approve",
                "Approves a ticket: `ticket`, `digest`, and if wanted `args`, `comment`, `approver`.",
            ),
            (
                "deny",
                "Denies a ticket: `ticket`, `digest`, and if wanted `comment`, `approver`.",
            ),
            (
                "answer",
                "Answers a question: `ticket`, `digest`, `text`, or `args` for a form, and if wanted `approver`.",
            ),
            (
                "complete",
                "Delivers a deferred tool's result: `ticket`, `digest`, `token`, and if wanted `output`.",
            ),
            (
                "choose",
                "Chooses one of a ticket's choices: `ticket`, `digest`, `choice`, and if wanted `approver`.",
            ),
            ("send", "Queues a user message: `text`."),
            ("signal", "Sends a signal: `name`, and if wanted `payload`."),
            ("cancel", "Cancels the run: `{}`, or a `reason`."),
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
                "run" => {
                    answer(ctx, |Json(request), of| {
                        let is_again = self.segments.worker.retried.has(&of.invocation_id);
                        self.segments.run(ctx, of, request, is_again)
                    })
                    .await
                }
                "status" => {
                    answer(ctx, |(), of| async move {
                        Ok(Json(self.status(ctx, &of.key).await?))
                    })
                    .await
                }
                "events" => {
                    answer(ctx, |Json(wanted): Json<EventsAfter>, of| async move {
                        Ok(Json(self.events(ctx, &of.key, wanted.after).await?))
                    })
                    .await
                }
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
                    answer(ctx, |Json(body), of| async move {
                        self.cancel(ctx, &of.key, body).await?;
                        Ok(Json(Accepted {}))
                    })
                    .await
                }
                other => match Verdict::parse(other) {
                    Some(verdict) => self.answer_decision(ctx, verdict).await,
                    None => false,
                },
            }
        }
        .boxed()
    }
}

impl Agent {
    async fn answer_decision(&self, ctx: &ContextInternal, verdict: Verdict) -> bool {
        answer(ctx, |Json(given): Json<DecisionBody>, of| async move {
            let decision = given.with_verdict(verdict);
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
        NamedSignal {
            name,
            payload,
            waits,
        }: NamedSignal,
    ) -> Result<(), TerminalError> {
        if waits {
            self.wait_until_begun(ctx).await?;
        }
        match AgentSignal::read(&name, payload).map_err(Refused::from)? {
            AgentSignal::Decision(decision) => self.decide(ctx, run_id, decision).await,
            AgentSignal::Message(message) => self.send(ctx, run_id, &message).await,
            AgentSignal::Cancel(body) => self.cancel(ctx, run_id, body).await,
            AgentSignal::Other(payload) => self.put(ctx, run_id, &name, payload).await,
        }
    }

    /// Waits until the run of this key has begun, because one that was started just now may be about to. If the run
    /// does not begin in time, it counts as one that does not exist.
    async fn wait_until_begun(&self, ctx: &ContextInternal) -> Result<(), TerminalError> {
        let mut pause = SHORTEST_PAUSE;
        for _ in 0..LOOKS {
            let keys = pages::keys(ctx).await?;
            if keys.status(ctx).await?.is_some() {
                break;
            }
            ctx.sleep(pause).await?;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        Ok(())
    }

    async fn decide(
        &self,
        ctx: &ContextInternal,
        run_id: &str,
        decision: Decision,
    ) -> Result<(), TerminalError> {
        let status = self.open_status(ctx, run_id).await?;
        let at = time(ctx).await?;
        if let Err(mut refusal) = status.check_decision(&decision, at) {
            let mut seen = 0;
            loop {
                let events = self.events(ctx, run_id, seen).await?;
                let Some(last) = events.last() else {
                    return Err(Refused::from(refusal).into());
                };
                seen = last.seq;
                refusal = refusal.with_events(&events);
            }
        }
        let judged = self.judge(ctx, &status, &decision).await?;
        let counts = judged.is_some();
        if let Some(VerifyOutcome::Rejected { reason }) = judged {
            let ticket = decision.ticket;
            return Err(Refused::from(Refusal::NotTaken { ticket, reason }).into());
        }
        let mut open = status.approvals.iter();
        let open = open.find(|open| open.ticket == decision.ticket);
        let put = PutRequest {
            most: open.map_or(1, Ticket::most_decisions),
            to: addressee(ctx, &status).await?,
            signal: Signal {
                name: signal::DECISION.to_owned(),
                payload: payload(&decision)?,
                at,
            },
            ticket: counts.then_some(decision.ticket),
        };
        self.pass_on(ctx, run_id, put).await
    }

    /// Verifies a decision, as far as this worker can; returns `None` if it cannot, so that another worker does, as a
    /// step of the run. The result is journaled: the worker's approvers may be different when the handler is retried.
    async fn judge(
        &self,
        ctx: &ContextInternal,
        status: &RunStatus,
        decision: &Decision,
    ) -> Result<Option<VerifyOutcome>, TerminalError> {
        let executors = &self.segments.worker.executors;
        let judge = || async { Ok(Json(executors.judge_decision(status, decision))) };
        let policy = RunRetryPolicy::default().max_attempts(1);
        let judged = ctx.run(judge).retry_policy(policy).name("judge decision");
        let Json(judged) = judged.await?;
        Ok(judged)
    }

    async fn put(
        &self,
        ctx: &ContextInternal,
        run_id: &str,
        name: &str,
        payload: Value,
    ) -> Result<(), TerminalError> {
        let status = self.open_status(ctx, run_id).await?;
        let signal = Signal {
            name: name.to_owned(),
            payload,
            at: time(ctx).await?,
        };
        let put = PutRequest {
            to: addressee(ctx, &status).await?,
            signal,
            ticket: None,
            most: 1,
        };
        self.pass_on(ctx, run_id, put).await
    }

    async fn pass_on(
        &self,
        ctx: &ContextInternal,
        run_id: &str,
        put: PutRequest,
    ) -> Result<(), TerminalError> {
        let target = RequestTarget::object(self.names.inbox(), run_id, "put");
        ctx.request::<_, ()>(target, Json(put)).call().await
    }

    async fn status(
        &self,
        ctx: &ContextInternal,
        run_id: &str,
    ) -> Result<RunStatus, TerminalError> {
        let keys = pages::keys(ctx).await?;
        let Some(own) = keys.status(ctx).await? else {
            return Err(unknown(run_id));
        };
        if !keys.has(CONTINUED) {
            return Ok(own);
        }
        let newer = Record::new(&self.names, run_id).status(ctx).await?;
        Ok(newer.unwrap_or(own))
    }

    async fn open_status(
        &self,
        ctx: &ContextInternal,
        run_id: &str,
    ) -> Result<RunStatus, TerminalError> {
        let status = self.status(ctx, run_id).await?;
        status.check_open().map_err(Refused::from)?;
        Ok(status)
    }

    /// Returns a page of events: the first behind this number.
    async fn events(
        &self,
        ctx: &ContextInternal,
        run_id: &str,
        after: u64,
    ) -> Result<Vec<RecordedEvent>, TerminalError> {
        let keys = pages::keys(ctx).await?;
        if keys.is_empty() {
            return Err(unknown(run_id));
        }
        let own = keys.events(ctx, after).await?;
        // If the record has more, the workflow's own events are complete.
        if own.is_empty() && keys.has(CONTINUED) {
            return Record::new(&self.names, run_id).events(ctx, after).await;
        }
        Ok(own)
    }

    async fn cancel(
        &self,
        ctx: &ContextInternal,
        run_id: &str,
        body: CancelBody,
    ) -> Result<(), TerminalError> {
        let status = self.open_status(ctx, run_id).await?;
        let to = addressee(ctx, &status).await?;
        let target = RequestTarget::object(self.names.inbox(), run_id, "cancel");
        let cancel = Json(CancelRequest { to, body });
        ctx.request::<_, ()>(target, cancel).call().await
    }
}

/// Returns the run of this key.
async fn addressee(ctx: &ContextInternal, status: &RunStatus) -> Result<Addressee, TerminalError> {
    let at = ctx.get::<String>(AT).await?;
    let at = at.ok_or_else(|| unknown(status.run_id.as_str()))?;
    let run = status.started_at;
    Ok(Addressee { run, at })
}

fn unknown(run_id: &str) -> TerminalError {
    let run_id = run_id.to_owned();
    Refused::UnknownRun { run_id }.into()
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

pub(crate) fn definition(segments: Segments) -> Result<ServiceDefinition, SettingsError> {
    let settings = &segments.settings;
    let run = HandlerOptions::new()
        .inactivity_timeout(settings.inactivity)
        .abort_timeout(settings.abort)
        // The results of the run's steps are nowhere else.
        .journal_retention(settings.retention)
        .workflow_retention(settings.retention);
    let mut options = ServiceOptions::new()
        // A run's events are not sent along with every attempt of its invocation.
        .enable_lazy_state(true)
        .metadata(VERSION_KEY, VERSION)
        .handler("run", run);
    let decisions = Verdict::ALL.map(Verdict::as_str);
    let others = ["status", "events", "send", "signal", "cancel"];
    for handler in others.into_iter().chain(decisions) {
        options = options.handler(handler, short_handler());
    }
    let names = segments.names.clone();
    let agent = Agent {
        names: names.clone(),
        segments,
    };
    dispatch::definition(names.agent(), agent, restarts(options))
}
