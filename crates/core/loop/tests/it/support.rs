//! Short ways to say what a model answers and what an agent is.

use std::iter;

use chrono::{DateTime, TimeDelta, Utc};
use neuron_loop::{Action, AgentMachine, Observation};
use neuron_types::{
    ActivityOptions, AgentSpec, ArgumentKind, CompletionResponse, ContentBlock, CurrentDefinition,
    Decision, Effect, EffectKind, ExitReason, Message, Outcome, PermissionDecision, Preview,
    RequestHead, RunInput, RunState, Stage, StepFailure, StopReason, Ticket, TokenUsage,
    ToolAnnotations, ToolCall, ToolDefinition, ToolOutput, ToolResultBlock, Verification,
    VerifyOutcome,
};
use rust_decimal::Decimal;
use serde_json::{Value, json};

pub(crate) fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds)
}

/// An agent with a tool that reads, `look`, one that writes, `push`, and those that a test door knows. Its writes have no
/// order.
pub(crate) fn agent() -> AgentSpec {
    let look = ToolDefinition {
        name: "look".into(),
        annotations: Some(ToolAnnotations {
            read_only_hint: Some(true),
            ..ToolAnnotations::default()
        }),
        ..ToolDefinition::default()
    };
    let others = ["push", "cancel", "hold", "suspend"].map(|name| ToolDefinition {
        name: name.into(),
        ..ToolDefinition::default()
    });
    AgentSpec {
        head: RequestHead {
            provider: Some("test".into()),
            model: "m".into(),
            tools: iter::once(look).chain(others).collect(),
            ..RequestHead::default()
        }
        .into(),
        parallel_writes: true,
        ..AgentSpec::default()
    }
}

/// The same, where it can be said what became of a call of `push`.
pub(crate) fn knowing_agent() -> AgentSpec {
    let mut spec = agent();
    let tools = &mut spec.head_mut().tools;
    let push = tools.iter_mut().find(|tool| tool.name == "push").unwrap();
    push.outcomes = true;
    spec
}

/// The same, where it can be said what a call of `push` would do.
pub(crate) fn previewing_agent() -> AgentSpec {
    let mut spec = agent();
    let tools = &mut spec.head_mut().tools;
    let push = tools.iter_mut().find(|tool| tool.name == "push").unwrap();
    push.previews = true;
    push.arguments = [("path".to_owned(), ArgumentKind::Path)].into();
    spec
}

pub(crate) fn input(agent: AgentSpec) -> RunInput {
    RunInput::new(agent, Message::user("do it"))
}

pub(crate) fn response(stop_reason: StopReason, content: Vec<ContentBlock>) -> CompletionResponse {
    CompletionResponse {
        left_out: Vec::new(),
        id: "r".into(),
        model: "m".into(),
        message: Message::answer(content),
        usage: TokenUsage {
            input_tokens: 10,
            output_tokens: 5,
            ..TokenUsage::default()
        },
        stop_reason,
        cost_usd: Some(Decimal::new(1, 2)),
        extra: None,
        mismatch: None,
        guarded: None,
        spent_before: None,
    }
}

pub(crate) fn says(text: &str) -> CompletionResponse {
    response(StopReason::EndTurn, vec![ContentBlock::Text(text.into())])
}

/// An answer that asks for calls, each a tool and its arguments; their ids are `c1`, `c2`, …
pub(crate) fn calls(wanted: &[(&str, Value)]) -> CompletionResponse {
    let content = wanted
        .iter()
        .zip(1..)
        .map(|((name, input), n)| ContentBlock::tool_use(format!("c{n}"), *name, input.clone()));
    response(StopReason::ToolUse, content.collect())
}

pub(crate) fn one_call(tool: &str) -> CompletionResponse {
    calls(&[(tool, json!({"path": "a"}))])
}

/// Feeds what leads from the start of a turn to its model call.
pub(crate) fn to_model_call(machine: &mut AgentMachine) {
    while model_call(machine).is_none() {
        let observation = match machine.next() {
            Action::TakeMessages => Observation::Messages(vec![]),
            Action::Compact { required: false } => Observation::ContextKept {
                tokens: 1,
                estimated: 1,
            },
            other => panic!("no model call is coming: {other:?}"),
        };
        machine.feed(observation, at(0)).unwrap();
    }
}

/// A machine whose model has just answered.
pub(crate) fn answered(agent: AgentSpec, response: CompletionResponse) -> AgentMachine {
    let mut machine = AgentMachine::new(input(agent), at(0));
    to_model_call(&mut machine);
    model_ended(&mut machine, Ok(response), 1);
    machine
}

/// How the model's call that starts next is made; `None` if something else is to be done.
pub(crate) fn model_call(machine: &AgentMachine) -> Option<ActivityOptions> {
    match machine.next() {
        Action::Start(mut steps) if starts(machine.next(), EffectKind::Model) => {
            steps.pop().map(|step| step.options)
        }
        _ => None,
    }
}

/// Starts the model's call, which comes to this.
pub(crate) fn model_ended(
    machine: &mut AgentMachine,
    result: Result<CompletionResponse, StepFailure>,
    seconds: i64,
) {
    assert!(starts(machine.next(), EffectKind::Model));
    machine.feed(Observation::Started, at(seconds)).unwrap();
    let ended = model_answer(result);
    machine.feed(ended, at(seconds)).unwrap();
}

/// The end of the model's call.
pub(crate) fn model_answer(result: Result<CompletionResponse, StepFailure>) -> Observation {
    let result = result.map(Outcome::from);
    let position = 0;
    Observation::Ended { position, result }
}

/// Starts looking for the current definition, which comes to this.
pub(crate) fn definition_ended(
    machine: &mut AgentMachine,
    result: Result<CurrentDefinition, StepFailure>,
    seconds: i64,
) {
    let Action::Start(steps) = machine.next() else {
        panic!("no definition is looked for: {:?}", machine.next());
    };
    assert_eq!(steps[0].effect.kind(), EffectKind::Definition);
    let position = steps[0].options.step.position;
    machine.feed(Observation::Started, at(seconds)).unwrap();
    let result = result.map(Outcome::Definition);
    let ended = Observation::Ended { position, result };
    machine.feed(ended, at(seconds)).unwrap();
}

pub(crate) fn authorize(machine: &mut AgentMachine, decisions: Vec<PermissionDecision>) {
    machine
        .feed(Observation::Authorized(decisions), at(2))
        .unwrap();
}

pub(crate) fn tool_text(text: &str) -> ToolOutput {
    ToolOutput::text(text)
}

/// The tool results of the conversation's last message.
pub(crate) fn last_results(machine: &AgentMachine) -> Vec<ToolResultBlock> {
    let last = machine.messages().last().unwrap();
    last.content
        .iter()
        .filter_map(|block| match block {
            ContentBlock::ToolResult(result) => Some(result.clone()),
            _ => None,
        })
        .collect()
}

/// The machine as another process would read it.
pub(crate) fn reread(machine: &AgentMachine) -> AgentMachine {
    let text = serde_json::to_string(machine).unwrap();
    let state: RunState = serde_json::from_str(&text).unwrap();
    AgentMachine::from(state)
}

/// Why the run ended.
pub(crate) fn exit(machine: &AgentMachine) -> ExitReason {
    match &machine.state().stage {
        Stage::Ended(outcome) => outcome.exit_reason,
        other => panic!("the run goes on with {other:?}"),
    }
}

pub(crate) fn ask() -> PermissionDecision {
    PermissionDecision::Ask("look first".into())
}

/// Starts the calls that are ready, and answers them one after the other.
pub(crate) fn make(
    machine: &mut AgentMachine,
    results: Vec<Result<ToolOutput, StepFailure>>,
    seconds: i64,
) {
    let positions = start(machine, seconds);
    assert_eq!(positions.len(), results.len());
    for (position, result) in positions.into_iter().zip(results) {
        let answered = tool_ended(position, result);
        machine.feed(answered, at(seconds)).unwrap();
    }
}

/// Starts the calls that are ready, and returns their positions in the turn.
pub(crate) fn start(machine: &mut AgentMachine, seconds: i64) -> Vec<u32> {
    let Some((_, options)) = calls_of(machine.next()) else {
        panic!("no call is ready: {:?}", machine.next());
    };
    machine.feed(Observation::Started, at(seconds)).unwrap();
    options
        .iter()
        .map(|options| options.step.position)
        .collect()
}

/// The tickets that are open.
pub(crate) fn tickets(machine: &AgentMachine) -> Vec<Ticket> {
    machine.output(&"r".parse().unwrap(), "local").approvals
}

/// Has a decision verified and taken as a decision of the person whom it names.
pub(crate) fn decide(machine: &mut AgentMachine, decision: Decision, seconds: i64) {
    let taken = VerifyOutcome::Taken(Verification::unverified(&decision));
    decide_as(machine, decision, taken, seconds);
}

/// Has a decision verified with this outcome.
#[allow(clippy::needless_pass_by_value, reason = "callers make it on the spot")]
pub(crate) fn decide_as(
    machine: &mut AgentMachine,
    decision: Decision,
    outcome: VerifyOutcome,
    seconds: i64,
) {
    let arrived = Observation::DecisionArrived(decision);
    machine.feed(arrived, at(seconds)).unwrap();
    for position in verify(machine, seconds) {
        let decided = verified(position, outcome.clone());
        machine.feed(decided, at(seconds)).unwrap();
    }
}

/// The calls of tools that are to be made, and how; `None` if something else is to be done.
pub(crate) fn calls_of(action: Action) -> Option<(Vec<ToolCall>, Vec<ActivityOptions>)> {
    let Action::Start(steps) = action else {
        return None;
    };
    let calls = steps.into_iter().map(|step| match step.effect {
        Effect::Tool(call) => (call, step.options),
        other => panic!("{other:?}"),
    });
    Some(calls.unzip())
}

/// The end of a call of a tool.
pub(crate) fn tool_ended(position: u32, result: Result<ToolOutput, StepFailure>) -> Observation {
    let result = result.map(Outcome::from);
    Observation::Ended { position, result }
}

/// It is known whose a decision is.
pub(crate) fn verified(position: u32, outcome: VerifyOutcome) -> Observation {
    let result = Ok(Outcome::Verify(outcome));
    Observation::Ended { position, result }
}

/// It is known what a call would do.
pub(crate) fn preview_ended(position: u32, preview: Option<Preview>) -> Observation {
    let result = Ok(Outcome::Preview(preview));
    Observation::Ended { position, result }
}

/// A tool was asked what became of a call.
pub(crate) fn outcome_told(
    position: u32,
    result: Result<Option<ToolOutput>, StepFailure>,
) -> Observation {
    let result = result.map(Outcome::AskOutcome);
    Observation::Ended { position, result }
}

/// Whether steps of this kind are to be started.
pub(crate) fn starts(action: Action, kind: EffectKind) -> bool {
    matches!(action, Action::Start(steps) if steps.iter().any(|step| step.effect.kind() == kind))
}

/// Starts the verifications that are due, and what else is due then, and returns the positions of the verifications in the
/// turn.
pub(crate) fn verify(machine: &mut AgentMachine, seconds: i64) -> Vec<u32> {
    let Action::Start(steps) = machine.next() else {
        return Vec::new();
    };
    let due = steps
        .iter()
        .filter(|step| step.effect.kind() == EffectKind::Verify);
    let due: Vec<u32> = due.map(|step| step.options.step.position).collect();
    if !due.is_empty() {
        machine.feed(Observation::Started, at(seconds)).unwrap();
    }
    due
}
