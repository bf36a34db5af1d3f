use std::collections::{BTreeMap, BTreeSet, VecDeque};

use chrono::{DateTime, TimeDelta, Utc};
use neuron_types::{
    AgentSpec, Allowance, ChildEnd, ChildRequest, CompletionRequest, CompletionResponse,
    ContentBlock, Decision, Effect, ExitReason, FailureKind, GuardEnd, GuardOutcome, GuardPoint,
    GuardRequest, GuardSpec, Guarded, Held, JudgeCall, JudgeSpec, Limits, Message, ModelRate,
    OnHalt, Outcome, PermissionDecision, RequestHead, RunId, RunInput, RunOutput, RunRequest,
    RunSignal, Spent, Step, StepFailure, StepId, StopReason, SubAgent, TokenUsage, ToolDefinition,
    ToolOutput, Verification, VerifyOutcome, json_bytes, signal,
};
use proptest::prelude::*;
use rust_decimal::Decimal;
use serde_json::json;
use uuid::Uuid;

use super::*;
use crate::{Action, Observation};

/// A source of choices that ends.
struct Choices(VecDeque<u8>);

impl Choices {
    fn one_of(&mut self, many: u8) -> u8 {
        self.0.pop_front().unwrap_or(0) % many
    }

    fn is_one_in(&mut self, many: u8) -> bool {
        self.0.pop_front().is_some_and(|it| it % many == 1)
    }
}

/// A run of the tree.
struct Run {
    machine: AgentMachine,
    going: Vec<Step>,
    /// What has arrived and was not read.
    mail: VecDeque<RunSignal>,
    is_told: bool,
    /// The steps that it has begun.
    begun: BTreeMap<StepId, Effect>,
}

impl Run {
    /// A step that is begun again after the run was moved is the same step.
    fn begin(&mut self, step: &Step) {
        let Step { effect, options } = step;
        let known = self.begun.insert(options.step, effect.clone());
        let kind = known.as_ref().map(Effect::kind);
        let kind = kind.filter(|_| known.as_ref().is_some_and(|known| !is_same(known, effect)));
        let id = options.step;
        assert_eq!(kind, None, "{id} is the step of {effect:?}, too");
    }
}

/// Returns whether one of these is the other, made once more: what may be asked then is of no account.
fn is_same(one: &Effect, other: &Effect) -> bool {
    let same_kind = one.kind() == other.kind();
    same_kind && (one == other || !matches!(one, Effect::Signal(_) | Effect::Verify(_)))
}

/// The pool that runs below share, if there is one.
const POOL: &str = "shared";

/// Runs of a tree, their model, and how much that counted.
struct World {
    runs: BTreeMap<RunId, Run>,
    killed: Vec<RunId>,
    now: DateTime<Utc>,
    choices: Choices,
    /// What the model counted of answers, and of attempts that reported what they used.
    reported: TokenUsage,
    reported_cost: Decimal,
    /// What the model counted of attempts whose results were lost.
    lost: Amount,
    /// What it counted of all that in the runs whose agents share a pool.
    pooled: Amount,
    agent: AgentSpec,
    /// What the model always answers with, if it does.
    always: Option<u8>,
}

fn rate() -> ModelRate {
    ModelRate {
        model: "test/m".into(),
        input: Decimal::new(2, 0),
        output: Decimal::new(10, 0),
    }
}

fn agent(limits: Limits, knows_prices: bool, max_tokens: Option<u64>) -> AgentSpec {
    let kids = ["kid", "aide"].map(|name| SubAgent {
        background: name == "aide",
        // The other one has to ask for all of it.
        pools: (name == "kid")
            .then(|| POOL.to_owned())
            .into_iter()
            .collect(),
        ..SubAgent::new(name)
    });
    let look = ToolDefinition {
        name: "look".into(),
        ..ToolDefinition::default()
    };
    let tools = kids
        .iter()
        .map(SubAgent::definition)
        .chain([look])
        .collect();
    AgentSpec {
        head: RequestHead {
            provider: Some("test".into()),
            model: "m".into(),
            tools,
            max_tokens,
            ..RequestHead::default()
        }
        .into(),
        limits,
        subagents: kids.to_vec(),
        max_depth: 3,
        max_children: 3,
        rates: knows_prices.then(rate).into_iter().collect(),
        ..AgentSpec::default()
    }
}

/// A guard that has the model asked at every point.
fn judge() -> GuardSpec {
    GuardSpec {
        name: "judge".into(),
        at: GuardPoint::ALL.into(),
        settings: String::new(),
        judge: Some(Box::new(JudgeSpec {
            model: "test/m".into(),
            max_tokens: 300,
            frame: 500,
            tools: BTreeSet::default(),
        })),
    }
}

impl World {
    fn new(agent: AgentSpec, choices: Vec<u8>) -> Self {
        let mut world = Self {
            runs: BTreeMap::new(),
            killed: Vec::new(),
            now: DateTime::UNIX_EPOCH,
            choices: Choices(choices.into()),
            reported: TokenUsage::default(),
            reported_cost: Decimal::ZERO,
            lost: Amount::ZERO,
            pooled: Amount::ZERO,
            agent: agent.clone(),
            always: None,
        };
        let request = RunRequest::new("lead", Message::user("Do it."));
        world.start("root".parse().unwrap(), request.with_agent(agent));
        world
    }

    fn start(&mut self, run: RunId, input: RunInput) {
        let mut machine = AgentMachine::new(input, self.now).with_run(run.clone());
        let secret = u128::try_from(self.runs.len()).unwrap();
        machine.state.tree.secret = Some(Uuid::from_u128(secret));
        let run_of = Run {
            machine,
            going: Vec::new(),
            mail: VecDeque::new(),
            is_told: false,
            begun: BTreeMap::new(),
        };
        self.runs.insert(run, run_of);
    }

    /// Does one thing of one run; says whether there was any.
    fn step(&mut self) -> bool {
        self.now += TimeDelta::seconds(1);
        let open: Vec<RunId> = self.runs.keys().cloned().collect();
        let first = usize::from(
            self.choices
                .one_of(u8::try_from(open.len()).unwrap_or(u8::MAX)),
        );
        let mut order = open.iter().cycle().skip(first).take(open.len());
        order.any(|run| self.step_of(run))
    }

    fn step_of(&mut self, id: &RunId) -> bool {
        if self.choices.is_one_in(251) && id.as_str() != "root" {
            // The run is ended from outside.
            self.runs.remove(id);
            self.killed.push(id.clone());
            return true;
        }
        let is_moved = self.choices.is_one_in(11);
        let Some(run) = self.runs.get_mut(id) else {
            return false;
        };
        if is_moved && run.going.is_empty() {
            // The run continues in another process.
            let state = serde_json::to_string(&run.machine).unwrap();
            run.machine = serde_json::from_str(&state).unwrap();
            run.machine.take_up(self.now);
        }
        if let Some((to, step)) = run.machine.next_to_tell() {
            run.begin(&step);
            self.tell(id, &to, step.effect);
            return true;
        }
        if let Some(reason) = run.machine.abandoned() {
            let reason = Some(reason);
            self.feed(id, Observation::Cancelled { reason });
            return true;
        }
        if let Some(mail) = run.mail.pop_front() {
            self.read(id, mail);
            return true;
        }
        match run.machine.next() {
            Action::Done => self.end(id),
            Action::TakeMessages => self.feed(id, Observation::Messages(Vec::new())),
            Action::Compact { .. } => {
                let observation = Observation::ContextKept {
                    tokens: 1,
                    estimated: 1,
                };
                self.feed(id, observation)
            }
            Action::Authorize(calls) => {
                let decisions = vec![PermissionDecision::Allow; calls.len()];
                self.feed(id, Observation::Authorized(decisions))
            }
            Action::Start(steps) => {
                steps.iter().for_each(|step| run.begin(step));
                run.going.extend(steps);
                self.feed(id, Observation::Started)
            }
            Action::Wait { .. } => match run.going.is_empty() {
                true => self.look(id),
                false => {
                    let step = run.going.remove(0);
                    self.make(id, step)
                }
            },
            Action::LeaveCalls => self.feed(id, Observation::CallsLeft),
        }
    }

    fn feed(&mut self, id: &RunId, observation: Observation) -> bool {
        let now = self.now;
        if let Some(run) = self.runs.get_mut(id) {
            run.machine.feed(observation, now).unwrap();
        }
        self.assert_budgets_hold();
        true
    }

    /// Returns whether it is time for a run to look at the others.
    fn look(&mut self, id: &RunId) -> bool {
        let due = self.runs.get(id).and_then(|run| run.machine.lease_due_at());
        due.is_some_and(|due| due <= self.now) && self.feed(id, Observation::LeaseDue)
    }

    fn tell(&mut self, from: &RunId, to: &RunId, what: Effect) {
        let Effect::Signal(signal) = what else {
            panic!("{what:?} is no signal");
        };
        match self.runs.get_mut(to) {
            Some(run) if !run.is_told => run.mail.push_back(*signal),
            _ => {
                self.feed(from, Observation::NotTold { run: to.clone() });
            }
        }
    }

    fn read(&mut self, id: &RunId, mail: RunSignal) {
        let run = self.runs.get_mut(id).unwrap();
        if matches!(run.machine.next(), Action::Done) {
            return;
        }
        let payload = mail.payload;
        let observation = match mail.name.as_str() {
            signal::CHILD => Observation::ChildEnded(serde_json::from_value(payload).unwrap()),
            signal::LEASE => Observation::LeaseAsked(serde_json::from_value(payload).unwrap()),
            signal::GRANT => Observation::LeaseGranted(serde_json::from_value(payload).unwrap()),
            _ => {
                run.going.clear();
                Observation::Cancelled { reason: None }
            }
        };
        self.feed(id, observation);
    }

    /// Reports the end of a run to its parent, and cancels the runs below it.
    fn end(&mut self, id: &RunId) -> bool {
        let run = self.runs.get_mut(id).unwrap();
        if std::mem::replace(&mut run.is_told, true) {
            return false;
        }
        let output = run.machine.output(id, "test");
        let parent = run.machine.state.tree.parent.clone();
        let cancels = run.machine.cancels_of_children();
        cancels.iter().for_each(|step| run.begin(step));
        for cancel in cancels {
            if let Effect::Signal(signal) = cancel.effect
                && let Some(child) = self.runs.get_mut(&signal.run)
            {
                child.mail.push_back(*signal);
            }
        }
        if let Some(parent) = parent
            && let Some(above) = self.runs.get_mut(&parent.run)
        {
            above.mail.push_back(RunSignal {
                run: parent.run.clone(),
                name: signal::CHILD.into(),
                payload: serde_json::to_value(ChildEnd::of(&output, &parent)).unwrap(),
            });
        }
        true
    }

    fn make(&mut self, id: &RunId, step: Step) -> bool {
        let position = step.options.step.position;
        let result = match step.effect {
            Effect::Model(request) => self.answer(id, &request),
            Effect::Verify(asked) => {
                let taken = Verification::unverified(&asked.decision);
                Ok(Outcome::Verify(VerifyOutcome::Taken(taken)))
            }
            Effect::Guard(request) => self.judge(id, &request, step.options.held),
            Effect::Agent(child) => {
                let ChildRequest { run, request } = *child;
                let mut agent = self.agent.clone();
                agent.limits = Limits::default();
                agent.pool = (!agent.pools.is_empty()).then(|| POOL.to_owned());
                // What it has itself does not count.
                agent.pools = BTreeMap::from([(POOL.to_owned(), Allowance::default())]);
                self.start(run, request.with_agent(agent));
                Ok(Outcome::Agent)
            }
            _ => Ok(Outcome::Tool(ToolOutput::text("done"))),
        };
        self.feed(id, Observation::Ended { position, result })
    }

    /// Returns what the model counts, as its provider bills it: a token for four bytes, and a part of what the answer
    /// may have.
    fn bill(&mut self, request: &CompletionRequest, output: u64) -> Spent {
        let input = u64::try_from(json_bytes(request).unwrap() / 4).unwrap();
        let usage = TokenUsage {
            input_tokens: input,
            output_tokens: output,
            ..TokenUsage::default()
        };
        Spent::new(usage, Some(rate().cost(input, output)))
    }

    fn answer(&mut self, id: &RunId, request: &CompletionRequest) -> Result<Outcome, StepFailure> {
        let run = &self.runs[id].machine;
        let attempts = run.state.budget.held.map_or(u32::MAX, |held| held.attempts);
        let most = request.max_tokens.unwrap_or(100_000);
        let lost = match self.choices.is_one_in(9) {
            true => u32::from(self.choices.one_of(3)).min(attempts),
            false => 0,
        };
        for _ in 0..lost {
            let spent = self.bill(request, most);
            let lost = Amount {
                tokens: spent.usage.total(),
                cost_usd: spent.cost_usd.unwrap(),
            };
            self.lost = self.lost.plus(lost);
            self.take_of_pool(id, lost);
        }
        let before = (lost > 0).then(|| {
            Box::new(Spent {
                lost,
                ..Spent::default()
            })
        });
        if lost == attempts {
            let failure = StepFailure::new(FailureKind::OutOfBudget, "too many were lost");
            return Err(failure.with_spent(before));
        }
        let answer = self.choices.one_of(6);
        let (text, calls) = match self.always.unwrap_or(answer) {
            0 | 1 => (300, vec![]),
            2 => (40, vec!["agent_kid"; 2]),
            3 => (40, vec!["agent_aide", "agent_kid"]),
            4 => (40, vec!["agent_kid", "agent_kid", "agent_kid"]),
            _ => (40, vec!["agent_nobody", "look"]),
        };
        let mut content = vec![ContentBlock::Text("x".repeat(text))];
        let calls = calls.into_iter().zip(1..).map(|(tool, n)| {
            ContentBlock::tool_use(format!("c{n}"), tool, json!({"prompt": "Do a part."}))
        });
        content.extend(calls);
        let message = Message::answer(content);
        let thought = u64::from(self.choices.one_of(200)) * 20;
        let said = u64::try_from(json_bytes(&message).unwrap()).unwrap();
        let (message, stop_reason, output) = match said <= most {
            true => (message, StopReason::EndTurn, (said + thought).min(most)),
            false => {
                let cut = ContentBlock::Text("x".into());
                (Message::answer(vec![cut]), StopReason::MaxTokens, most)
            }
        };
        let Spent {
            usage, cost_usd, ..
        } = self.bill(request, output);
        if self.choices.is_one_in(17) {
            let failure = StepFailure::new(FailureKind::InvalidRequest, "no");
            return Err(failure.with_spent(before));
        }
        self.reported.add(&usage);
        self.reported_cost += cost_usd.unwrap();
        let amount = Amount {
            tokens: usage.total(),
            cost_usd: cost_usd.unwrap(),
        };
        self.take_of_pool(id, amount);
        Ok(Outcome::Model(Box::new(CompletionResponse {
            left_out: Vec::new(),
            id: "r".into(),
            model: "m".into(),
            message,
            usage,
            stop_reason,
            cost_usd,
            extra: None,
            mismatch: None,
            guarded: None,
            spent_before: before,
        })))
    }

    /// Has the judges of a step ask the model, as far as they may, and lets most things pass.
    fn judge(
        &mut self,
        id: &RunId,
        request: &GuardRequest,
        held: Option<Held>,
    ) -> Result<Outcome, StepFailure> {
        let attempts = held.map_or(u32::MAX, |held| held.attempts);
        let asked = request.judges().iter();
        let asked: Vec<_> = asked.filter(|judge| judge.max_input != Some(0)).collect();
        let texts = match request {
            GuardRequest::Input { texts, .. } | GuardRequest::Result { texts, .. } => {
                u64::try_from(texts.len()).unwrap()
            }
            GuardRequest::Call { .. } | GuardRequest::Output { .. } => 1,
        };
        let bill = |judge: &JudgeCall, output: u64| {
            let input = judge.max_input.unwrap_or(1_000);
            let usage = TokenUsage {
                input_tokens: input,
                output_tokens: output,
                ..TokenUsage::default()
            };
            Spent::new(usage, Some(rate().cost(input, output)))
        };
        let lost = match self.choices.is_one_in(9) && !asked.is_empty() {
            true => u32::from(self.choices.one_of(3)).min(attempts),
            false => 0,
        };
        for _ in 0..lost {
            for judge in &asked {
                let spent = bill(judge, judge.max_tokens * texts);
                let lost = Amount {
                    tokens: spent.usage.total(),
                    cost_usd: spent.cost_usd.unwrap(),
                };
                self.lost = self.lost.plus(lost);
                self.take_of_pool(id, lost);
            }
        }
        let before = Spent::of_lost(lost);
        if lost == attempts {
            let failure = StepFailure::new(FailureKind::OutOfBudget, "too many were lost");
            return Err(failure.with_spent(before));
        }
        let mut spent = before;
        for judge in &asked {
            let output = (judge.max_tokens * texts).min(u64::from(self.choices.one_of(200)) * 2);
            let used = bill(judge, output);
            let amount = Amount {
                tokens: used.usage.total(),
                cost_usd: used.cost_usd.unwrap(),
            };
            self.reported.add(&used.usage);
            self.reported_cost += amount.cost_usd;
            self.take_of_pool(id, amount);
            spent = Spent::sum(spent, Some(Box::new(used)));
        }
        if self.choices.is_one_in(17) {
            let failure = StepFailure::new(FailureKind::Unavailable, "no");
            return Err(failure.with_spent(spent));
        }
        let mut said = || {
            let end = match self.choices.one_of(12) {
                1 => GuardEnd::Block("no".into()),
                2 => GuardEnd::Trip("no".into()),
                _ => GuardEnd::Pass,
            };
            Guarded {
                end,
                ..Guarded::default()
            }
        };
        let said = match request {
            GuardRequest::Input { texts, .. } => {
                GuardOutcome::Input(texts.iter().map(|_| said()).collect())
            }
            GuardRequest::Call { .. } => GuardOutcome::Call(said()),
            GuardRequest::Output { .. } => GuardOutcome::Output(said()),
            GuardRequest::Result { texts, .. } => {
                GuardOutcome::Result(texts.iter().map(|_| said()).collect())
            }
        };
        Ok(Outcome::Guard(said.with_spent(spent)))
    }

    /// No run has used and given out more than it may, and all together have not cost more than the first may.
    fn assert_budgets_hold(&self) {
        for (id, run) in &self.runs {
            let machine = &run.machine;
            let bound = machine.limited().and(machine.granted());
            let committed = machine.used().plus(machine.given());
            assert!(bound.covers(committed), "{id}: {committed:?} of {bound:?}");
            for (pool, bound) in machine.pools() {
                let pool = &pool;
                let committed = machine.committed_of(pool);
                assert!(bound.covers(committed), "{id}: {committed:?} of {bound:?}");
            }
        }
        if let Some(bound) = self.runs[&root()].machine.pools().get(POOL) {
            let pooled = self.pooled;
            assert!(bound.covers(pooled), "{pooled:?} of the pool's {bound:?}");
        }
        let billed = self.billed();
        let bound = self.runs[&root()].machine.limited();
        assert!(bound.covers(billed), "{billed:?} of {bound:?}");
    }

    fn take_of_pool(&mut self, id: &RunId, amount: Amount) {
        if self.runs[id].machine.pool().is_some() {
            self.pooled = self.pooled.plus(amount);
        }
    }

    fn billed(&self) -> Amount {
        let reported = Amount {
            tokens: self.reported.total(),
            cost_usd: self.reported_cost,
        };
        reported.plus(self.lost)
    }

    /// Has a person decide about one of the open tickets; says whether there was any.
    fn decide(&mut self) -> bool {
        let mut asked = self.runs.iter().filter(|(_, run)| !run.is_told);
        let asked = asked.find_map(|(id, run)| {
            let open = run.machine.state.tickets.first()?;
            Some((id.clone(), open.ticket.clone()))
        });
        let Some((id, ticket)) = asked else {
            return false;
        };
        let key = match ticket
            .text
            .as_deref()
            .unwrap_or_default()
            .contains("tokens")
        {
            true => "tokens=30000",
            false => "cost_usd=0.20",
        };
        let choice = match self.choices.one_of(3) {
            0 => "end".to_owned(),
            _ => format!("extend:{key}"),
        };
        self.feed(
            &id,
            Observation::DecisionArrived(Decision::choose(&ticket, choice)),
        )
    }

    /// Continues until nothing does, and returns the result of the first run.
    fn run(mut self) -> (Self, RunOutput) {
        for _ in 0..20_000 {
            if self.step() || self.decide() {
                continue;
            }
            let due = self
                .runs
                .values()
                .filter_map(|run| run.machine.lease_due_at());
            match due.min() {
                Some(due) => self.now = self.now.max(due),
                None => {
                    let output = self.runs[&root()].machine.output(&root(), "test");
                    return (self, output);
                }
            }
        }
        let stages = self.runs.iter();
        let stages: Vec<_> = stages
            .map(|(id, run)| (id, run.machine.phase(), &run.machine.state.budget))
            .collect();
        panic!("it goes on for ever: {stages:#?}");
    }
}

fn root() -> RunId {
    "root".parse().unwrap()
}

proptest! {
    #[test]
    fn runs_of_a_tree_never_use_more_than_the_first_may(
        tokens in prop::option::of(1_000_u64..400_000),
        cents in prop::option::of(1_i64..400),
        max_tokens in prop::option::of(100_u64..5_000),
        (asks, judges) in any::<(bool, bool)>(),
        pool in prop::option::of((prop::option::of(1_000_u64..200_000), prop::option::of(1_i64..200))),
        choices in prop::collection::vec(any::<u8>(), 0..1_500),
    ) {
        let limits = Limits {
            tokens,
            cost_usd: cents.map(|cents| Decimal::new(cents, 2)),
            turns: Some(20),
            ..Limits::default()
        };
        let mut agent = agent(limits, true, max_tokens);
        if judges {
            agent.guards.push(judge());
        }
        if asks {
            agent.on_limit = OnHalt::Ask;
            // No person is asked about these in this test.
            agent.limits.turns = None;
        }
        if let Some((tokens, cents)) = pool {
            let cost_usd = cents.map(|cents| Decimal::new(cents, 2));
            let allowance = Allowance { tokens, cost_usd };
            agent.pools.insert(POOL.to_owned(), allowance);
        }
        let (world, output) = World::new(agent, choices).run();
        let charged_to_pool = output.pools.clone().unwrap_or_default().remove(POOL).unwrap_or_default();
        prop_assert!(output.exit_reason.is_some(), "{:?}", output);
        let open = world.runs.values().filter(|run| run.machine.phase() != crate::machine::phase::Phase::Over);
        prop_assert_eq!(open.count(), 0, "runs are left");
        let (usage, cost_usd) = output.tree();
        // A run that ends before the runs that it started does not learn what those used, though they may have ended by
        // themselves.
        let is_left = |run: &Run| {
            let exit_reason = run.machine.output(&root(), "test").exit_reason;
            exit_reason == Some(ExitReason::Cancelled) || !run.machine.state.tree.children.is_empty()
        };
        if world.killed.is_empty() && !world.runs.values().any(is_left) {
            // Each answer is counted once.
            prop_assert_eq!(usage.total(), world.reported.total());
            prop_assert_eq!(cost_usd, Some(world.reported_cost));
            if pool.is_some() && world.lost.is_zero() {
                // A judge that is left when another ends its run is charged what was put aside for it. The first run uses none of
                // the pool.
                let below = world.runs.iter().filter(|(id, _)| **id != root());
                let left = below.fold(Amount::ZERO, |left, (_, run)| left.plus(run.machine.state.budget.reserved));
                prop_assert_eq!(charged_to_pool, world.pooled.plus(left));
            }
        }
        // For runs whose usage was not learned, the charge is no less than what they used.
        let charged = usage.total() + output.reserved.tokens;
        prop_assert!(tokens.is_none() || charged >= world.billed().tokens);
    }
}

#[test]
fn a_tree_that_is_always_started_anew_ends_at_its_budget() {
    let limits = Limits {
        tokens: Some(60_000),
        ..Limits::default()
    };
    let mut world = World::new(agent(limits, false, Some(500)), Vec::new());
    // Two more agents are started in every turn.
    world.always = Some(2);
    let (world, output) = world.run();
    assert_eq!(
        output.exit_reason,
        Some(ExitReason::MaxTokens),
        "{output:?}"
    );
    assert!(world.billed().tokens <= 60_000);
    assert!(world.runs.len() > 3, "it has started others");
}

/// A run with a child, whose guards look at a message that has just come, and the step in which they do.
fn guarding_beside_a_child() -> (AgentMachine, Step, RunId) {
    let mut agent = agent(Limits::default(), false, None);
    agent.guards.push(GuardSpec {
        at: [GuardPoint::Input].into(),
        ..judge()
    });
    let input = RunInput::new(agent, Message::user("Do it."));
    let mut machine = AgentMachine::new(input, DateTime::UNIX_EPOCH).with_run(root());
    machine.state.tree.secret = Some(Uuid::nil());
    let child: RunId = "root.1-1".parse().unwrap();
    machine
        .state
        .tree
        .children
        .push(open_child(&child, Pooled::default()));
    let now = DateTime::UNIX_EPOCH;
    machine
        .feed(Observation::Messages(Vec::new()), now)
        .unwrap();
    let Action::Start(mut steps) = machine.next() else {
        panic!("{:?}", machine.next());
    };
    machine.feed(Observation::Started, now).unwrap();
    (machine, steps.remove(0), child)
}

#[test]
fn what_another_run_is_told_beside_a_judge_is_another_step() {
    let (mut machine, judging, child) = guarding_beside_a_child();
    let request = LeaseRequest {
        key: machine.state.tree.key_of(&child),
        run: child,
        number: 1,
        need: of_pool(POOL, 1),
        want: of_pool(POOL, 1),
    };
    let now = DateTime::UNIX_EPOCH;
    machine.feed(Observation::LeaseAsked(request), now).unwrap();
    let (_, telling) = machine.next_to_tell().expect("the child is answered");
    assert_ne!(telling.options.step, judging.options.step);
    let position = judging.options.step.position;
    assert!(machine.wants(position));
    let result = Ok(Outcome::Guard(GuardOutcome::Input(
        vec![Guarded::default()],
    )));
    let ended = Observation::Ended { position, result };
    machine.feed(ended, now).unwrap();
    assert!(machine.next_own_call() > telling.options.step.position);
}

#[test]
fn a_child_is_cancelled_in_another_step_than_that_of_a_judge_that_was_left() {
    let (mut machine, judging, _) = guarding_beside_a_child();
    machine.leave_answer();
    let cancelled = Observation::Cancelled { reason: None };
    machine.feed(cancelled, DateTime::UNIX_EPOCH).unwrap();
    let tree = &machine.state.tree;
    assert_eq!(tree.children.len(), 1, "it has not ended");
    let cancels = machine.cancels_of_children();
    assert_ne!(cancels[0].options.step, judging.options.step);
}

const MINUTE: Duration = Duration::from_secs(60); // Only counted, never waited for.

/// A run that another one started and granted this.
fn below(granted: Pooled<Allowance>, within: Duration, agent: AgentSpec) -> AgentMachine {
    let parent = Parent {
        run: root(),
        root: root(),
        key: Uuid::nil(),
        levels: 2,
        bounds: Vec::new(),
        signed: false,
        lease: Some(neuron_types::Lease { granted, within }),
    };
    let input = RunInput {
        parent: Some(Box::new(parent)),
        ..RunInput::new(agent, Message::user("Do it."))
    };
    AgentMachine::new(input, DateTime::UNIX_EPOCH).with_run("root.1-1".parse().unwrap())
}

/// So many tokens of a pool.
fn of_pool(pool: &str, tokens: u64) -> Pooled<Amount> {
    let amount = Amount {
        tokens,
        ..Amount::ZERO
    };
    Pooled {
        own: Amount::ZERO,
        pools: BTreeMap::from([(pool.to_owned(), amount)]),
    }
}

fn tokens(tokens: u64) -> Allowance {
    Allowance {
        tokens: Some(tokens),
        cost_usd: None,
    }
}

/// Takes the messages that a run has for others.
fn told(machine: &mut AgentMachine) -> Vec<RunSignal> {
    std::mem::take(&mut machine.state.budget.to_tell)
}

/// A run below that is open, and was granted this.
fn open_child(run: &RunId, leased: Pooled<Amount>) -> Child {
    Child {
        run: run.clone(),
        agent: "kid".into(),
        position: None,
        leased,
        answered: 0,
        heard_at: Some(DateTime::UNIX_EPOCH),
        looked_at: None,
    }
}

#[test]
fn a_refusal_is_for_the_run_that_was_asked_for_and_for_no_other() {
    let granted = Pooled {
        own: Allowance::default(),
        pools: [("a", tokens(10)), ("b", tokens(10))]
            .map(|(pool, all)| (pool.to_owned(), all))
            .into(),
    };
    let mut machine = below(granted, MINUTE, AgentSpec::default());
    let now = machine.state.started_at;
    let ids: [RunId; 2] = ["root.1-1.1-1", "root.1-1.1-2"].map(|id| id.parse().unwrap());
    for run in &ids {
        machine
            .state
            .tree
            .children
            .push(open_child(run, Pooled::default()));
    }
    for (run, pool) in ids.iter().zip(["a", "b"]) {
        let request = LeaseRequest {
            run: run.clone(),
            key: machine.state.tree.key_of(run),
            number: 1,
            need: of_pool(pool, 1_000),
            want: of_pool(pool, 1_000),
        };
        machine.lease_asked(request, now);
    }
    let asked: Vec<_> = told(&mut machine)
        .into_iter()
        .filter(|signal| signal.name == signal::LEASE)
        .collect();
    assert_eq!(asked.len(), 1, "one need at a time");
    assert_eq!(asked[0].payload["need"]["pools"]["a"]["tokens"], 990);
    let refusal = LeaseGrant {
        run: "root.1-1".parse().unwrap(),
        key: Uuid::nil(),
        number: 1,
        granted: machine
            .state
            .budget
            .lease
            .as_ref()
            .unwrap()
            .granted()
            .clone(),
        refused: Some("the pool is used up".into()),
    };
    machine.lease_granted(refusal, now);
    let answers = told(&mut machine);
    let refused: Vec<&RunId> = answers
        .iter()
        .filter(|signal| !signal.payload["refused"].is_null())
        .map(|signal| &signal.run)
        .collect();
    assert_eq!(refused, [&ids[0]]);
    let mut asks = answers.iter().filter(|signal| signal.name == signal::LEASE);
    let asks = asks.next().expect("the other need is asked for");
    assert_eq!(asks.payload["need"]["pools"]["b"]["tokens"], 990);
}

#[test]
fn a_person_reads_what_was_used_and_who_needs_how_much_more() {
    let agent = AgentSpec {
        limits: Limits {
            tokens: Some(1_000),
            ..Limits::default()
        },
        on_limit: OnHalt::Ask,
        ..AgentSpec::default()
    };
    let input = RunInput::new(agent, Message::user("Do it."));
    let now = DateTime::UNIX_EPOCH;
    let mut machine = AgentMachine::new(input, now).with_run(root());
    let run: RunId = "root.1-1".parse().unwrap();
    let of = |tokens| Amount {
        tokens,
        ..Amount::ZERO
    };
    machine
        .state
        .tree
        .children
        .push(open_child(&run, of(600).into()));
    machine.state.tree.started = 1;
    machine.state.tree.is_waiting = true;
    machine.state.tree.usage.input_tokens = 300;
    let request = LeaseRequest {
        key: machine.state.tree.key_of(&run),
        run,
        number: 1,
        need: of(250).into(),
        want: of(250).into(),
    };
    machine.lease_asked(request, now);
    let ticket = &machine
        .state
        .tickets
        .first()
        .expect("a person is asked")
        .ticket;
    assert_eq!(
        ticket.text.as_deref(),
        Some(
            "the run and those below it have used 300 of 1000 tokens, and runs below it may use 600 more; the run root.1-1 \
             needs 150 tokens more than there are"
        )
    );
}

#[test]
fn what_a_run_was_granted_of_a_pool_is_no_more_than_its_definition_has() {
    let everything = Pooled {
        own: Allowance::default(),
        pools: BTreeMap::from([("shared".to_owned(), Allowance::default())]),
    };
    let agent = AgentSpec {
        pool: Some(POOL.into()),
        pools: BTreeMap::from([(POOL.to_owned(), tokens(100))]),
        ..AgentSpec::default()
    };
    let mut machine = below(everything, MINUTE, agent);
    let now = machine.state.started_at;
    assert!(!machine.hold_call(now));
    assert!(told(&mut machine).is_empty(), "nobody is asked for more");
    let output = machine.output(&root(), "test");
    assert_eq!(output.exit_reason, Some(ExitReason::MaxTokens));
    let error = output.error.expect("it says why");
    assert!(error.message.contains("pool \"shared\""), "{error:?}");
}

#[test]
fn a_run_of_which_nobody_knows_what_it_took_of_a_pool_is_charged_its_part() {
    let mut machine = below(Pooled::default(), MINUTE, AgentSpec::default());
    let now = machine.state.started_at;
    let run: RunId = "root.1-1.1-1".parse().unwrap();
    machine
        .state
        .tree
        .children
        .push(open_child(&run, of_pool(POOL, 700)));
    let parent = Parent {
        key: machine.state.tree.key_of(&run),
        ..machine.state.tree.parent.as_deref().unwrap().clone()
    };
    let error = RunError {
        kind: FailureKind::Cancelled,
        message: "nobody executed it".into(),
    };
    let end = ChildEnd::failed(run, &parent, ExitReason::Cancelled, &error);
    machine.child_ended(&end, now);
    assert_eq!(machine.state.budget.pools[POOL].tokens, 700);
}

#[test]
fn a_run_that_comes_back_late_asks_again_and_waits_for_the_answer() {
    let within = Duration::from_secs(4); // Only counted, never waited for.
    let mut machine = below(Pooled::default(), within, AgentSpec::default());
    let mut now;
    for asked in 1..=3 {
        // No process executed the run when it was time.
        now = after(machine.lease_due_at().unwrap(), Some(within)).unwrap();
        machine.lease_due(now);
        assert_eq!(machine.state.budget.to_tell.len(), asked);
        assert_eq!(machine.lease_due_at(), after(now, Some(within / 2)));
        assert_eq!(machine.abandoned(), None);
    }
    now = machine.lease_due_at().unwrap();
    machine.lease_due(now);
    assert_eq!(machine.abandoned(), Some(ABANDONED.to_owned()));
}
