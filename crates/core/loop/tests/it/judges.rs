//! Guards that have models asked: what is put aside for them, and what they use.

use std::collections::BTreeSet;

use neuron_loop::{Action, AgentMachine, Observation};
use neuron_types::{
    AgentSpec, CallState, CompletionResponse, ContentBlock, ContentItem, Effect, ExitReason,
    FailureKind, GuardOutcome, GuardPoint, GuardRequest, GuardSpec, GuardVerdict, Guarded,
    JudgeSpec, Limits, Message, ModelRate, OnHalt, Outcome, PendingCall, PermissionDecision,
    ResponseFormat, RunEvent, RunInput, Spent, Stage, Step, StepFailure, StopReason, TokenUsage,
    ToolOutput,
};
use rust_decimal::Decimal;

use crate::support::*;

fn judging(point: GuardPoint, tokens: Option<u64>) -> AgentSpec {
    AgentSpec {
        limits: Limits {
            tokens,
            ..Limits::default()
        },
        rates: vec![ModelRate {
            model: "judges/small".into(),
            input: Decimal::ONE,
            output: Decimal::TWO,
        }],
        guards: vec![GuardSpec {
            name: "judge".into(),
            at: [point].into(),
            settings: String::new(),
            judge: Some(Box::new(JudgeSpec {
                model: "judges/small".into(),
                max_tokens: 1_000,
                frame: 200,
                tools: BTreeSet::from(["look".into()]),
            })),
        }],
        ..agent()
    }
}

/// The machine of a run whose queued messages were taken.
fn begun(agent: AgentSpec) -> AgentMachine {
    let input = RunInput::new(agent, Message::user("Do it."));
    let mut machine = AgentMachine::new(input, at(0));
    feed(&mut machine, Observation::Messages(Vec::new()));
    machine
}

fn feed(machine: &mut AgentMachine, observation: Observation) {
    machine.feed(observation, at(0)).unwrap();
}

fn next_step(machine: &AgentMachine) -> Step {
    match machine.next() {
        Action::Start(mut steps) => steps.remove(0),
        other => panic!("{other:?}"),
    }
}

fn request(step: &Step) -> &GuardRequest {
    match &step.effect {
        Effect::Guard(request) => request,
        other => panic!("{other:?}"),
    }
}

fn spent(tokens: u64) -> Option<Box<Spent>> {
    let usage = TokenUsage {
        input_tokens: tokens,
        ..TokenUsage::default()
    };
    Some(Box::new(Spent::new(usage, Some(Decimal::ONE))))
}

/// Starts the step of guards that is next, and ends it so.
fn guards_end(machine: &mut AgentMachine, result: Result<GuardOutcome, StepFailure>) {
    let position = next_step(machine).options.step.position;
    feed(machine, Observation::Started);
    let result = result.map(Outcome::Guard);
    feed(machine, Observation::Ended { position, result });
}

fn passed() -> GuardOutcome {
    GuardOutcome::Input(vec![Guarded::default()])
}

fn charged(machine: &mut AgentMachine) -> usize {
    let events = machine.take_events();
    let is_charge = |event: &&RunEvent| matches!(event, RunEvent::CallCharged { .. });
    events.iter().filter(is_charge).count()
}

#[test]
fn what_a_judge_uses_is_what_the_run_uses() {
    let mut machine = begun(judging(GuardPoint::Input, Some(100_000)));
    let step = next_step(&machine);
    let held = step.options.held.expect("something is put aside");
    let judges = request(&step).judges();
    assert_eq!(judges[0].model, "judges/small");
    assert!(judges[0].max_input.unwrap() + 1_000 <= held.amount.tokens);
    assert!(!held.amount.cost_usd.is_zero());
    guards_end(&mut machine, Ok(passed().with_spent(spent(700))));
    assert_eq!(machine.state().usage.total(), 700);
    assert_eq!(machine.state().cost_usd, Some(Decimal::ONE));
    assert_eq!(machine.state().budget.held, None);
    let events = machine.take_events();
    let judged = |event: &RunEvent| matches!(event, RunEvent::Judged { usage, point: GuardPoint::Input, .. } if usage.total() == 700);
    assert!(events.iter().any(judged), "{events:#?}");
    assert!(matches!(machine.next(), Action::Compact { .. }));
}

#[test]
fn a_run_without_a_budget_puts_nothing_aside_and_has_its_judges_asked() {
    let machine = begun(judging(GuardPoint::Input, None));
    let step = next_step(&machine);
    assert_eq!(step.options.held, None);
    assert_eq!(request(&step).judges()[0].max_input, None);
}

#[test]
fn a_run_without_room_for_a_judge_of_its_prompt_ends_at_its_limit() {
    let machine = begun(judging(GuardPoint::Input, Some(3_000)));
    assert_eq!(machine.next(), Action::Done);
    let output = machine.output(&"r".parse().unwrap(), "local");
    assert_eq!(output.exit_reason, Some(ExitReason::MaxTokens));
    assert_eq!(output.usage.total(), 0);
}

#[test]
fn a_person_is_asked_where_limits_are_asked_about_and_the_judge_is_asked_then() {
    let asking = AgentSpec {
        on_limit: OnHalt::Ask,
        ..judging(GuardPoint::Input, Some(3_000))
    };
    let mut machine = begun(asking);
    let ticket = machine.state().tickets[0].ticket.clone();
    let chosen = neuron_types::Decision::choose(&ticket, "extend:tokens=100000");
    feed(&mut machine, Observation::DecisionArrived(chosen.clone()));
    let step = next_step(&machine);
    feed(&mut machine, Observation::Started);
    let taken = neuron_types::Verification::unverified(&chosen);
    let position = step.options.step.position;
    let result = Ok(Outcome::Verify(neuron_types::VerifyOutcome::Taken(taken)));
    feed(&mut machine, Observation::Ended { position, result });
    assert_eq!(machine.state().stage, Stage::GuardInput);
    assert!(next_step(&machine).options.held.is_some());
}

#[test]
fn attempts_that_were_lost_are_charged() {
    let mut machine = begun(judging(GuardPoint::Input, Some(100_000)));
    let held = next_step(&machine).options.held.unwrap();
    let said = passed().with_spent(Spent::of_lost(2));
    guards_end(&mut machine, Ok(said));
    let reserved = machine.state().budget.reserved;
    assert_eq!(reserved, held.amount.times(2));
    assert_eq!(charged(&mut machine), 1);
}

#[test]
fn a_step_for_whose_next_attempt_nothing_was_put_aside_is_made_again() {
    let mut machine = begun(judging(GuardPoint::Input, Some(100_000)));
    let failure = StepFailure::new(FailureKind::OutOfBudget, "two were lost");
    let first = next_step(&machine).options.step;
    guards_end(&mut machine, Err(failure.with_spent(Spent::of_lost(1))));
    let again = next_step(&machine).options;
    assert!(again.held.is_some() && again.step != first, "{again:?}");
}

/// The machine of a run whose model asked for a call of this tool.
fn called(agent: AgentSpec, tool: &str) -> AgentMachine {
    let mut machine = begun(agent);
    let kept = Observation::ContextKept {
        tokens: 1,
        estimated: 1,
    };
    feed(&mut machine, kept);
    feed(&mut machine, Observation::Started);
    let result = Ok(Outcome::Model(Box::new(one_call(tool))));
    feed(
        &mut machine,
        Observation::Ended {
            position: 0,
            result,
        },
    );
    machine
}

#[test]
fn a_judge_of_a_call_has_something_put_aside_until_it_has_judged() {
    let mut machine = called(judging(GuardPoint::Call, Some(100_000)), "look");
    let step = next_step(&machine);
    let held = step.options.held.expect("something is put aside");
    assert_eq!(machine.state().calls[0].held, Some(held));
    let before = machine.state().usage.total();
    let said = GuardOutcome::Call(Guarded::default()).with_spent(spent(400));
    guards_end(&mut machine, Ok(said));
    assert_eq!(machine.state().calls[0].held, None);
    assert_eq!(machine.state().usage.total(), before + 400);
    assert_eq!(charged(&mut machine), 0);
}

#[test]
fn a_judge_is_not_asked_about_calls_of_other_tools() {
    let mut agent = judging(GuardPoint::Call, Some(100_000));
    let judge = agent.guards[0].judge.as_mut().unwrap();
    judge.tools = BTreeSet::from(["other".into()]);
    let step = next_step(&called(agent, "look"));
    assert_eq!(step.options.held, None);
    assert!(request(&step).judges().is_empty());
}

#[test]
fn a_judge_of_a_call_that_the_budget_has_no_room_for_may_ask_nothing() {
    let mut agent = judging(GuardPoint::Call, Some(100_000));
    agent.guards[0].judge.as_mut().unwrap().max_tokens = 200_000;
    let step = next_step(&called(agent, "look"));
    assert_eq!(step.options.held, None);
    assert_eq!(request(&step).judges()[0].max_input, Some(0));
}

#[test]
fn a_judge_that_was_asked_when_its_run_was_cancelled_is_charged() {
    let mut machine = called(judging(GuardPoint::Call, Some(100_000)), "look");
    let held = next_step(&machine).options.held.unwrap();
    feed(&mut machine, Observation::Started);
    feed(&mut machine, Observation::Cancelled { reason: None });
    assert_eq!(machine.state().budget.reserved, held.amount);
    assert_eq!(charged(&mut machine), 1);
}

/// The machine of a run whose call of `look` has ended so, where the run may use this many tokens.
fn returned(tokens: Option<u64>, result: Result<ToolOutput, StepFailure>) -> AgentMachine {
    looked(judging(GuardPoint::Result, tokens), result)
}

fn looked(agent: AgentSpec, result: Result<ToolOutput, StepFailure>) -> AgentMachine {
    let mut machine = called(agent, "look");
    authorize(&mut machine, vec![PermissionDecision::Allow]);
    feed(&mut machine, Observation::Started);
    feed(&mut machine, tool_ended(1, result));
    machine
}

fn on_result(verdict: GuardVerdict) -> GuardOutcome {
    let mut said = Guarded::default();
    said.take("judge", verdict);
    GuardOutcome::Result(vec![said])
}

/// What the model reads of the only call.
fn read(machine: &AgentMachine) -> (bool, String) {
    let result = last_results(machine).remove(0);
    let texts = result.content.iter().map(|item| match item {
        ContentItem::Text(text) => text.as_str(),
        other => panic!("{other:?}"),
    });
    (result.is_error, texts.collect())
}

fn reason() -> String {
    "it is Sunday".to_owned()
}

#[test]
fn a_result_is_read_when_its_judge_has_passed_it_and_not_before() {
    let mut machine = returned(Some(100_000), Ok(tool_text("found")));
    let step = next_step(&machine);
    let held = step.options.held.expect("something is put aside");
    assert_eq!(machine.state().calls[0].held, Some(held));
    assert_eq!(step.options.guards, ["judge"]);
    let GuardRequest::Result {
        tool,
        texts,
        judges,
    } = request(&step)
    else {
        panic!("{step:?}");
    };
    assert_eq!(
        (tool.as_str(), texts.as_slice()),
        ("look", &["found".to_owned()][..])
    );
    assert!(judges[0].max_input.unwrap() + 1_000 <= held.amount.tokens);
    assert_eq!(machine.state().tool_calls, 1);
    let before = machine.state().usage.total();
    let said = on_result(GuardVerdict::Pass).with_spent(spent(400));
    guards_end(&mut machine, Ok(said));
    assert_eq!(read(&machine), (false, "found".into()));
    assert_eq!(machine.state().usage.total(), before + 400);
    assert_eq!(machine.state().tool_calls, 1);
    let events = machine.take_events();
    let judged = events.iter().filter(|event| {
        matches!(
            event,
            RunEvent::Judged {
                point: GuardPoint::Result,
                call_id: Some(_),
                ..
            }
        )
    });
    assert_eq!(judged.count(), 1, "{events:#?}");
}

#[test]
fn what_a_judge_says_of_a_result_is_what_becomes_of_it() {
    let warn = GuardVerdict::Warn { reason: reason() };
    let replace = GuardVerdict::Replace {
        with: "[gone]".into(),
        reason: reason(),
    };
    let block = GuardVerdict::Block { reason: reason() };
    let cases = [
        (warn, (false, "found")),
        (replace, (false, "[gone]")),
        (block, (true, "[withheld: it is Sunday]")),
    ];
    for (verdict, (is_error, text)) in cases {
        let mut machine = returned(None, Ok(tool_text("found")));
        guards_end(&mut machine, Ok(on_result(verdict.clone())));
        assert_eq!(read(&machine), (is_error, text.into()), "{verdict:?}");
        let events = machine.take_events();
        let said = events.iter().filter(|event| {
            matches!(event, RunEvent::Guarded { point: GuardPoint::Result, guard, .. } if guard == "judge")
        });
        assert_eq!(said.count(), 1, "{events:#?}");
        // A transcript shows what the model has read, and the step of the call holds something else.
        let told = events.iter().find_map(|event| match event {
            RunEvent::ToolFinished { reason, .. } => reason.clone(),
            _ => None,
        });
        assert_eq!(told, (text != "found").then(|| text.to_owned()));
    }
}

#[test]
fn a_judge_that_trips_at_a_result_ends_the_run() {
    let mut machine = returned(None, Ok(tool_text("found")));
    let trip = GuardVerdict::Trip { reason: reason() };
    guards_end(&mut machine, Ok(on_result(trip)));
    assert_eq!(exit(&machine), ExitReason::Guardrail);
    assert_eq!(read(&machine), (true, "[withheld: it is Sunday]".into()));
}

#[test]
fn a_person_is_asked_about_a_result_once_whichever_guards_ask() {
    for (choice, text) in [
        ("release", "found"),
        ("withhold", "[withheld: it is Sunday]"),
    ] {
        let mut output = tool_text("found");
        let mut before = Guarded::default();
        before.take("names", GuardVerdict::Ask { reason: reason() });
        output.guarded = before.into_box();
        let mut machine = returned(None, Ok(output));
        assert!(tickets(&machine).is_empty());
        let asks = GuardVerdict::Ask {
            reason: "it may be".into(),
        };
        guards_end(&mut machine, Ok(on_result(asks)));
        let open = tickets(&machine);
        assert_eq!(open.len(), 1);
        assert_eq!(machine.state().tool_calls, 1);
        let chosen = neuron_types::Decision::choose(&open[0], choice);
        decide(&mut machine, chosen, 1);
        assert_eq!(read(&machine).1, text);
    }
}

#[test]
fn a_released_result_that_a_judge_has_changed_is_shown_as_the_model_reads_it() {
    let mut machine = returned(None, Ok(tool_text("found")));
    let mut said = Guarded::default();
    said.take(
        "judge",
        GuardVerdict::Replace {
            with: "[gone]".into(),
            reason: reason(),
        },
    );
    said.take("other", GuardVerdict::Ask { reason: reason() });
    guards_end(&mut machine, Ok(GuardOutcome::Result(vec![said])));
    let mut machine = reread(&machine);
    let chosen = neuron_types::Decision::choose(&tickets(&machine)[0], "release");
    decide(&mut machine, chosen, 1);
    assert_eq!(read(&machine).1, "[gone]");
    let events = machine.take_events();
    let told = events.iter().find_map(|event| match event {
        RunEvent::ToolFinished { reason, .. } => reason.clone(),
        _ => None,
    });
    assert_eq!(told.as_deref(), Some("[gone]"));
}

#[test]
fn a_result_passes_by_no_failure_of_the_step_of_its_judges() {
    for kind in [
        FailureKind::Unavailable,
        FailureKind::Timeout,
        FailureKind::NoWorker,
        FailureKind::OutOfBudget,
    ] {
        let mut machine = returned(Some(100_000), Ok(tool_text("found")));
        let failure = StepFailure::new(kind, "gone").with_spent(Spent::of_lost(1));
        guards_end(&mut machine, Err(failure));
        let (is_error, text) = read(&machine);
        assert!(is_error && text.contains("could not be checked"), "{text}");
        assert_eq!(charged(&mut machine), 1);
    }
    let mut machine = returned(None, Ok(tool_text("found")));
    guards_end(&mut machine, Ok(GuardOutcome::Result(Vec::new())));
    assert_eq!(exit(&machine), ExitReason::Failed);
    assert!(!read(&machine).1.contains("found"));
}

#[test]
fn a_result_that_the_budget_has_no_room_to_judge_is_judged_by_no_model() {
    let mut agent = judging(GuardPoint::Result, Some(100_000));
    agent.guards[0].judge.as_mut().unwrap().max_tokens = 200_000;
    let step = next_step(&looked(agent, Ok(tool_text("found"))));
    assert_eq!(step.options.held, None);
    assert_eq!(request(&step).judges()[0].max_input, Some(0));
}

#[test]
fn no_step_is_made_for_results_that_no_judge_looks_at() {
    let other_tool = || {
        let mut agent = judging(GuardPoint::Result, None);
        agent.guards[0].judge.as_mut().unwrap().tools = BTreeSet::from(["other".into()]);
        agent
    };
    let no_judge = || {
        let mut agent = judging(GuardPoint::Result, None);
        agent.guards[0].judge = None;
        agent
    };
    let mut blocked = ToolOutput::error("[withheld: no]");
    let mut said = Guarded::default();
    said.take(
        "names",
        GuardVerdict::Block {
            reason: "no".into(),
        },
    );
    blocked.guarded = said.into_box();
    let lost = StepFailure::new(FailureKind::ToolFailed, "it broke");
    for machine in [
        looked(other_tool(), Ok(tool_text("found"))),
        looked(no_judge(), Ok(tool_text("found"))),
        returned(None, Ok(blocked)),
        returned(None, Ok(tool_text(""))),
        returned(None, Err(lost)),
    ] {
        assert!(!machine.state().calls.iter().any(is_screened));
        assert_eq!(last_results(&machine).len(), 1);
    }
}

fn is_screened(slot: &PendingCall) -> bool {
    matches!(slot.state, CallState::Returned(_) | CallState::Screening(_))
}

#[test]
fn a_guard_that_has_become_a_judge_since_the_run_began_passes_no_result_unasked() {
    let mut agent = judging(GuardPoint::Result, None);
    agent.guards[0].judge = None;
    let mut output = tool_text("found");
    let mut said = Guarded::default();
    said.defer("judge");
    output.guarded = said.into_box();
    let (is_error, text) = read(&looked(agent, Ok(output)));
    assert!(is_error && text.contains("was not asked"), "{text}");
}

#[test]
fn a_judge_of_a_result_that_was_asked_when_its_run_was_cancelled_is_charged_and_nothing_is_read() {
    let mut machine = returned(Some(100_000), Ok(tool_text("found")));
    let held = next_step(&machine).options.held.unwrap();
    feed(&mut machine, Observation::Started);
    let mut machine = reread(&machine);
    feed(&mut machine, Observation::Cancelled { reason: None });
    assert_eq!(machine.state().budget.reserved, held.amount);
    assert_eq!(charged(&mut machine), 1);
    let (is_error, text) = read(&machine);
    assert!(is_error && text.contains("withheld"), "{text}");
}

/// The machine of a run whose model has answered so, where the run may use this many tokens.
fn answering(tokens: Option<u64>, answer: &CompletionResponse) -> AgentMachine {
    answered(judging(GuardPoint::Output, tokens), answer.clone())
}

fn says(text: &str) -> CompletionResponse {
    response(StopReason::EndTurn, vec![ContentBlock::Text(text.into())])
}

fn on_answer(verdict: GuardVerdict) -> GuardOutcome {
    let mut said = Guarded::default();
    said.take("judge", verdict);
    GuardOutcome::Output(said)
}

/// The texts that the run says its model answered.
fn shown(events: &[RunEvent]) -> Vec<Option<&str>> {
    let texts = events.iter().filter_map(|event| match event {
        RunEvent::ModelResponded { text, .. } => Some(text.as_deref()),
        _ => None,
    });
    texts.collect()
}

#[test]
fn an_answer_is_shown_when_its_judge_has_passed_it_and_not_before() {
    let mut machine = answering(Some(100_000), &says("Forty-two."));
    assert_eq!(shown(&machine.take_events()), [None::<&str>; 0]);
    let step = next_step(&machine);
    let held = step.options.held.expect("something is put aside");
    assert_eq!(step.options.guards, ["judge"]);
    let GuardRequest::Output { text, judges, .. } = request(&step) else {
        panic!("{step:?}");
    };
    assert_eq!(text, "Forty-two.");
    assert!(judges[0].max_input.unwrap() + 1_000 <= held.amount.tokens);
    assert_eq!(machine.state().last_text, None);
    let before = machine.state().usage.total();
    let mut machine = reread(&machine);
    let said = on_answer(GuardVerdict::Pass).with_spent(spent(400));
    guards_end(&mut machine, Ok(said));
    assert_eq!(machine.state().usage.total(), before + 400);
    assert_eq!(machine.state().budget.held, None);
    assert_eq!(machine.state().last_text.as_deref(), Some("Forty-two."));
    let events = machine.take_events();
    assert_eq!(shown(&events), [Some("Forty-two.")]);
    let is_judged = |event: &&RunEvent| {
        matches!(
            event,
            RunEvent::Judged {
                point: GuardPoint::Output,
                ..
            }
        )
    };
    assert_eq!(events.iter().filter(is_judged).count(), 1, "{events:#?}");
}

#[test]
fn what_a_judge_says_of_an_answer_is_what_becomes_of_it() {
    let warn = GuardVerdict::Warn { reason: reason() };
    let replace = GuardVerdict::Replace {
        with: "[gone]".into(),
        reason: reason(),
    };
    for (verdict, text) in [(warn, "Forty-two."), (replace, "[gone]")] {
        let mut machine = answering(None, &says("Forty-two."));
        guards_end(&mut machine, Ok(on_answer(verdict)));
        assert_eq!(shown(&machine.take_events()), [Some(text)]);
        feed(&mut machine, Observation::Messages(Vec::new()));
        assert_eq!(exit(&machine), ExitReason::Complete);
        assert_eq!(machine.state().last_text.as_deref(), Some(text));
        assert_eq!(machine.messages().last().unwrap().text(), text);
    }
}

/// An agent whose answers are JSON objects, and a judge looks at them.
fn answering_in_form(answer: &CompletionResponse) -> AgentMachine {
    let mut agent = judging(GuardPoint::Output, None);
    agent.head_mut().response_format = Some(ResponseFormat::JsonObject);
    let mut machine = begun(agent);
    to_model_call(&mut machine);
    model_ended(&mut machine, Ok(answer.clone()), 1);
    machine
}

#[test]
fn what_a_judge_puts_in_the_place_of_an_answer_has_to_fit_the_form_of_answers() {
    let replaced = |with: &str, mismatch: Option<&str>| {
        let mut said = Guarded::default();
        let with = with.to_owned();
        let reason = reason();
        said.take("judge", GuardVerdict::Replace { with, reason });
        said.mismatch = mismatch.map(str::to_owned);
        GuardOutcome::Output(said)
    };
    let mut machine = answering_in_form(&says("{}"));
    let step = next_step(&machine);
    let GuardRequest::Output { form, .. } = request(&step) else {
        panic!("{step:?}");
    };
    assert_eq!(form.as_deref(), Some(&ResponseFormat::JsonObject));
    guards_end(&mut machine, Ok(replaced("[gone]", Some("it is no JSON"))));
    let events = machine.take_events();
    let is_rejected = |event: &RunEvent| matches!(event, RunEvent::AnswerRejected { reason, .. } if reason == "it is no JSON");
    assert!(events.iter().any(is_rejected), "{events:#?}");
    to_model_call(&mut machine);
    model_ended(&mut machine, Ok(says("{}")), 2);
    let again = replaced("[gone]", Some("it is no JSON"));
    guards_end(&mut machine, Ok(again));
    assert_eq!(exit(&machine), ExitReason::Failed);

    // What the judge leaves of an answer that did not fit may fit.
    let mut answer = says("{} ");
    answer.mismatch = Some("it has too much".into());
    let mut machine = answering_in_form(&answer);
    guards_end(&mut machine, Ok(replaced("{}", None)));
    feed(&mut machine, Observation::Messages(Vec::new()));
    assert_eq!(exit(&machine), ExitReason::Complete);
    assert_eq!(machine.state().last_text.as_deref(), Some("{}"));
}

#[test]
fn an_answer_that_asks_for_calls_has_no_form_that_a_judge_must_keep_to() {
    let mut answer = one_call("look");
    answer
        .message
        .content
        .push(ContentBlock::Text("I look.".into()));
    let step = next_step(&answering_in_form(&answer));
    assert!(matches!(
        request(&step),
        GuardRequest::Output { form: None, .. }
    ));
}

#[test]
fn an_answer_that_a_judge_blocks_is_given_once_more_and_then_the_run_ends() {
    let block = || on_answer(GuardVerdict::Block { reason: reason() });
    let mut machine = answering(None, &says("Forty-two."));
    guards_end(&mut machine, Ok(block()));
    let texts: Vec<String> = machine.messages().iter().map(Message::text).collect();
    assert!(
        !texts.iter().any(|text| text.contains("Forty")),
        "{texts:?}"
    );
    to_model_call(&mut machine);
    model_ended(&mut machine, Ok(says("Forty-three.")), 2);
    guards_end(&mut machine, Ok(block()));
    assert_eq!(exit(&machine), ExitReason::Guardrail);
    let events = machine.take_events();
    let withheld = Some("[withheld: it is Sunday]");
    assert_eq!(shown(&events), [withheld, withheld]);
    assert_eq!(machine.state().last_text, None);
}

#[test]
fn a_judge_that_trips_at_an_answer_ends_the_run() {
    let mut machine = answering(None, &says("Forty-two."));
    let trip = GuardVerdict::Trip { reason: reason() };
    guards_end(&mut machine, Ok(on_answer(trip)));
    assert_eq!(exit(&machine), ExitReason::Guardrail);
    let events = machine.take_events();
    assert_eq!(shown(&events), [Some("[withheld: it is Sunday]")]);
}

#[test]
fn a_person_is_asked_about_an_answer_that_the_run_would_end_with() {
    for (choice, output) in [("release", Some("Forty-two.")), ("end", None)] {
        let mut machine = answering(None, &says("Forty-two."));
        let asks = GuardVerdict::Ask { reason: reason() };
        guards_end(&mut machine, Ok(on_answer(asks)));
        assert_eq!(shown(&machine.take_events()), [None]);
        let open = tickets(&machine);
        assert_eq!(open.len(), 1);
        let chosen = neuron_types::Decision::choose(&open[0], choice);
        decide(&mut machine, chosen, 1);
        if output.is_some() {
            feed(&mut machine, Observation::Messages(Vec::new()));
        }
        let end = if output.is_some() {
            ExitReason::Complete
        } else {
            ExitReason::Guardrail
        };
        assert_eq!(exit(&machine), end);
        assert_eq!(machine.state().last_text.as_deref(), output);
    }
}

fn asked_about_answer() -> AgentMachine {
    let mut machine = answering(None, &says("Forty-two."));
    let asks = GuardVerdict::Ask { reason: reason() };
    guards_end(&mut machine, Ok(on_answer(asks)));
    machine
}

#[test]
fn an_answer_that_no_person_has_released_stays_in_no_conversation() {
    let end = |machine: &mut AgentMachine| {
        let chosen = neuron_types::Decision::choose(&tickets(machine)[0], "end");
        decide(machine, chosen, 1);
    };
    let cancel = |machine: &mut AgentMachine| {
        feed(machine, Observation::Cancelled { reason: None });
    };
    let ways: [&dyn Fn(&mut AgentMachine); 2] = [&end, &cancel];
    for ends in ways {
        let mut machine = asked_about_answer();
        ends(&mut machine);
        let last = machine.messages().last().unwrap().text();
        assert_eq!(last, "[withheld: it is Sunday]");
    }
}

#[test]
fn nothing_is_said_after_an_answer_that_a_person_is_asked_about() {
    let mut machine = asked_about_answer();
    assert!(machine.inject_message(Message::user("And?")).is_err());
    let chosen = neuron_types::Decision::choose(&tickets(&machine)[0], "withhold");
    decide(&mut machine, chosen, 1);
    let texts: Vec<String> = machine.messages().iter().map(Message::text).collect();
    assert!(
        !texts.iter().any(|text| text.contains("Forty")),
        "{texts:?}"
    );
}

#[test]
fn calls_wait_for_the_judge_of_the_answer_that_asks_for_them() {
    let mut answer = one_call("look");
    answer
        .message
        .content
        .insert(0, ContentBlock::Text("I look.".into()));
    let mut machine = answering(None, &answer);
    assert!(machine.state().calls.is_empty());
    let block = GuardVerdict::Block { reason: reason() };
    guards_end(&mut machine, Ok(on_answer(block)));
    assert_eq!(machine.state().calls.len(), 1);
    let last = machine.messages().last().unwrap();
    assert_eq!(last.text(), "[withheld: it is Sunday]");
}

#[test]
fn an_answer_passes_by_no_failure_of_the_step_of_its_judges() {
    for kind in [
        FailureKind::Unavailable,
        FailureKind::Timeout,
        FailureKind::NoWorker,
    ] {
        let mut machine = answering(Some(100_000), &says("Forty-two."));
        let failure = StepFailure::new(kind, "gone").with_spent(Spent::of_lost(1));
        guards_end(&mut machine, Err(failure));
        let events = machine.take_events();
        let text = shown(&events).remove(0).unwrap_or_default();
        assert!(text.contains("could not be checked"), "{text}");
        let is_charge = |event: &&RunEvent| matches!(event, RunEvent::CallCharged { .. });
        assert_eq!(events.iter().filter(is_charge).count(), 1);
    }
}

#[test]
fn an_answer_that_the_budget_has_no_room_to_judge_is_judged_by_no_model() {
    let mut agent = judging(GuardPoint::Output, Some(100_000));
    agent.guards[0].judge.as_mut().unwrap().max_tokens = 200_000;
    let step = next_step(&answered(agent, says("Forty-two.")));
    assert_eq!(step.options.held, None);
    assert_eq!(request(&step).judges()[0].max_input, Some(0));
}

#[test]
fn a_step_of_judges_of_an_answer_for_whose_next_attempt_nothing_was_put_aside_is_made_again() {
    let mut machine = answering(Some(100_000), &says("Forty-two."));
    let failure = StepFailure::new(FailureKind::OutOfBudget, "two were lost");
    let first = next_step(&machine).options.step;
    guards_end(&mut machine, Err(failure.with_spent(Spent::of_lost(1))));
    let again = next_step(&machine).options;
    assert!(again.held.is_some() && again.step != first, "{again:?}");
    guards_end(&mut machine, Ok(on_answer(GuardVerdict::Pass)));
    assert_eq!(shown(&machine.take_events()), [Some("Forty-two.")]);
}

#[test]
fn an_answer_whose_judge_was_asked_when_its_run_was_cancelled_is_charged_and_never_shown() {
    let mut machine = answering(Some(100_000), &says("Forty-two."));
    let held = next_step(&machine).options.held.unwrap();
    feed(&mut machine, Observation::Started);
    feed(&mut machine, Observation::Cancelled { reason: None });
    assert_eq!(machine.state().budget.reserved, held.amount);
    let events = machine.take_events();
    let text = shown(&events).remove(0).unwrap_or_default();
    assert!(text.starts_with("[withheld:"), "{text}");
    assert_eq!(exit(&machine), ExitReason::Cancelled);
    assert_eq!(machine.state().last_text, None);
}

#[test]
fn a_guard_that_has_become_a_judge_since_the_run_began_passes_no_answer_unasked() {
    let mut agent = judging(GuardPoint::Output, None);
    agent.guards[0].judge = None;
    let mut answer = says("Forty-two.");
    let mut said = Guarded::default();
    said.defer("judge");
    answer.guarded = said.into_box();
    let mut machine = answered(agent, answer);
    let events = machine.take_events();
    let text = shown(&events).remove(0).unwrap_or_default();
    assert!(text.contains("was not asked"), "{text}");
}
