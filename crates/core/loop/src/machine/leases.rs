//! What runs of a tree grant each other: a run asks the one above for more and answers those below, and each looks now and then
//! whether the others are there.

use std::time::Duration;

use chrono::{DateTime, Utc};
use neuron_types::{
    Amount, Child, ChildEnd, Effect, ExitReason, FailureKind, LeaseGrant, LeaseRequest, Leased,
    Parent, Pooled, RunError, RunEvent, RunId, RunSignal, Stage, Step, SubAgent, TokenUsage,
    signal,
};
use serde::Serialize;

use crate::{
    AgentMachine,
    machine::{
        budget::{Room, Shortage, Source},
        tickets::after,
    },
};

/// What a run ends with whose parent is gone.
const ABANDONED: &str = "the run that started it is gone";

impl AgentMachine {
    /// Takes the room for a model call. Returns whether there is any: if not, the run has ended, waits for a person, or has
    /// asked the run above.
    pub(crate) fn hold_call(&mut self, now: DateTime<Utc>) -> bool {
        self.release_call();
        let room = self.room();
        if matches!(room, Room::Short(_)) && self.state.context.overflowed {
            // The conversation is made smaller once more before the call: no two steps of a run have one id.
            self.skip_turn();
        }
        match room {
            Room::Unbounded => true,
            Room::For(held) => {
                self.state.budget.held = Some(held);
                true
            }
            Room::Short(shortage) => {
                self.fall_short(&shortage, now);
                false
            }
        }
    }

    /// There is no room for a model call.
    pub(crate) fn fall_short(&mut self, shortage: &Shortage, now: DateTime<Utc>) {
        match &shortage.source {
            Source::Above => self.wait_for_grant(shortage, now),
            Source::Limit => self.reach_limit(shortage.limit, now),
            Source::Pool(pool) => {
                let error = self.out_of_pool(pool, shortage.limit);
                self.end(shortage.limit, Some(error));
            }
        }
    }

    /// The run's model call needs more than the run above has granted.
    fn wait_for_grant(&mut self, shortage: &Shortage, now: DateTime<Utc>) {
        if let Some(lease) = &mut self.state.budget.lease {
            lease.is_waiting = true;
        }
        self.ask_above(None, shortage.need.clone(), shortage.want.clone(), now);
    }

    /// Returns whether the run makes no call before the one above has answered.
    pub(crate) fn waits_for_grant(&self) -> bool {
        let lease = self.state.budget.lease.as_ref();
        lease.is_some_and(|lease| lease.is_waiting)
    }

    /// Asks the run above for more, or, of nothing, whether it is there.
    fn ask_above(
        &mut self,
        whose: Option<RunId>,
        need: Pooled<Amount>,
        want: Pooled<Amount>,
        now: DateTime<Utc>,
    ) {
        let Some((run, parent)) = self.state.run.clone().zip(self.state.tree.parent.clone()) else {
            return;
        };
        let Some(lease) = &mut self.state.budget.lease else {
            return;
        };
        lease.requests = lease.requests.saturating_add(1);
        lease.asked_at = Some(now);
        lease.is_pending |= !need.is_zero();
        lease.asked_for = whose;
        let request = LeaseRequest {
            run,
            key: parent.key,
            number: lease.requests,
            need,
            want,
        };
        self.tell(parent.run, signal::LEASE, &request);
    }

    fn tell(&mut self, run: RunId, name: &str, what: &impl Serialize) {
        // There is nothing in it that JSON cannot hold.
        let payload = serde_json::to_value(what).unwrap_or_default();
        self.state.budget.to_tell.push(RunSignal {
            run,
            name: name.to_owned(),
            payload,
        });
    }

    /// Takes the next message to another run, and the step that sends it.
    pub(crate) fn next_to_tell(&mut self) -> Option<(RunId, Step)> {
        let is_over = matches!(self.state.stage, Stage::Ended(_));
        let to_tell = &mut self.state.budget.to_tell;
        if is_over || to_tell.is_empty() {
            return None;
        }
        let signal = to_tell.remove(0);
        let run = signal.run.clone();
        let position = self.take_own_call();
        let step = self.to_another(Effect::Signal(Box::new(signal)), position);
        Some((run, step))
    }

    /// A message could not be delivered to another run: that run is not there any more. Its end may be on its way, if
    /// it is a run below.
    pub(crate) fn not_told(&mut self, run: &RunId, now: DateTime<Utc>) {
        let parent = self.state.tree.parent.as_ref();
        if parent.is_some_and(|parent| parent.run == *run) {
            return self.abandon();
        }
        if let Some(child) = self.child_mut(run) {
            child.looked_at.get_or_insert(now);
        }
    }

    fn abandon(&mut self) {
        if let Some(lease) = &mut self.state.budget.lease {
            lease.is_over = true;
        }
    }

    /// Returns why the run is to end, if the run that started it is gone.
    pub(crate) fn abandoned(&self) -> Option<String> {
        let lease = self.state.budget.lease.as_ref();
        let is_over = lease.is_some_and(|lease| lease.is_over);
        let is_ended = matches!(self.state.stage, Stage::Ended(_));
        (is_over && !is_ended).then(|| ABANDONED.to_owned())
    }

    /// A child is gone that has said nothing of its end: it is charged what it was granted.
    fn lose_child(&mut self, run: &RunId, now: DateTime<Utc>) {
        let Some(child) = self.child(run) else {
            return;
        };
        let Pooled {
            own: reserved,
            pools,
        } = child.leased.clone();
        let message = "it was ended from outside, and nobody knows what it came to";
        let error = RunError {
            kind: FailureKind::Terminated,
            message: message.to_owned(),
        };
        let end = ChildEnd {
            run: run.clone(),
            key: self.state.tree.key_of(run),
            exit_reason: ExitReason::Terminated,
            output: None,
            error: Some(error),
            usage: TokenUsage::default(),
            cost_usd: self.cost_of_lost(),
            reserved,
            pools: Some(pools),
        };
        self.child_ended(&end, now);
        // If the run is there after all, it does not continue beside one that is started in its place.
        let cancel = RunSignal::cancel(run.clone(), "the run that started it heard nothing of it");
        self.state.budget.to_tell.push(cancel);
    }

    /// A run below asks for more, or whether this one is there.
    pub(crate) fn lease_asked(&mut self, request: LeaseRequest, now: DateTime<Utc>) {
        let key = self.state.tree.key_of(&request.run);
        let child = self.child_mut(&request.run);
        let Some(child) = child.filter(|_| request.key == key) else {
            if self.state.tree.was_child(&request.run, request.key) {
                // It has ended since it asked.
                return;
            }
            let reason = format!("it is not of an open run of this one: {}", request.run);
            let name = signal::LEASE.to_owned();
            return self.emit(RunEvent::SignalIgnored { name, reason });
        };
        child.heard_at = Some(now);
        child.looked_at = None;
        if request.number <= child.answered {
            return;
        }
        child.answered = request.number;
        let requests = &mut self.state.budget.requests;
        requests.retain(|known| known.run != request.run);
        if request.need.is_zero() {
            return self.answer_lease(&request, None);
        }
        let run = request.run.clone();
        requests.push(request);
        self.serve(now);
        let mut waiting = self.state.budget.requests.iter();
        if let Some(request) = waiting.find(|request| request.run == run).cloned() {
            // It is not answered yet: so much that it was read.
            let read = LeaseRequest {
                number: 0,
                ..request
            };
            self.answer_lease(&read, None);
        }
    }

    /// Sends a run below what it may use in all.
    fn answer_lease(&mut self, request: &LeaseRequest, refused: Option<String>) {
        let Some(child) = self.child(&request.run) else {
            return;
        };
        let grant = LeaseGrant {
            run: child.run.clone(),
            key: request.key,
            number: request.number,
            granted: self.bounds().bounding(&child.leased),
            refused,
        };
        self.tell(request.run.clone(), signal::GRANT, &grant);
    }

    /// Answers what runs below have asked for, as far as it can be answered now.
    pub(crate) fn serve(&mut self, now: DateTime<Utc>) {
        self.serve_unless(None, now);
    }

    /// As [`serve`](Self::serve). The run above has just rejected a request of this run below for more, for this
    /// reason, if it has.
    fn serve_unless(&mut self, refused: Option<(&RunId, &str)>, now: DateTime<Utc>) {
        for request in std::mem::take(&mut self.state.budget.requests) {
            let open = u32::try_from(self.state.tree.children.len()).unwrap_or(u32::MAX);
            let free = self.free();
            let Some(child) = self.child_mut(&request.run) else {
                continue;
            };
            if free.covers(&request.need) {
                let part = free.part(open.saturating_add(1));
                let more = request.need.clone().raised_to(&part);
                child.leased = std::mem::take(&mut child.leased).plus(&more);
                self.answer_lease(&request, None);
                continue;
            }
            let refused = refused.filter(|(run, _)| **run == request.run);
            match (self.how_to_get(&request.need), refused) {
                (More::Above, Some((_, reason))) => {
                    self.answer_lease(&request, Some(reason.to_owned()));
                }
                (More::Above, None) => {
                    let short = free.lacking(&request.need);
                    let is_asked = self.is_asking();
                    let want = free.lacking(&request.want);
                    let run = request.run.clone();
                    self.state.budget.requests.push(request);
                    if !is_asked {
                        self.ask_above(Some(run), short, want, now);
                    }
                }
                (More::Person(limit), _) => {
                    self.state.budget.requests.push(request);
                    if self.may_halt() {
                        self.reach_limit(limit, now);
                        self.state.budget.asks_person = self.state.halt.is_some();
                    }
                }
                (More::None(reason), _) => self.answer_lease(&request, Some(reason)),
            }
        }
    }

    /// Answers what can be answered now. What a person was asked about is withdrawn if nothing needs it any more.
    pub(crate) fn serve_or_withdraw(&mut self, now: DateTime<Utc>) {
        self.serve(now);
        if self.state.budget.asks_person && self.state.budget.requests.is_empty() {
            self.state.budget.asks_person = false;
            self.withdraw_halt(now);
        }
    }

    /// Returns whether a person can be asked now, so that nothing continues before they decide.
    fn may_halt(&self) -> bool {
        let is_between = matches!(self.state.stage, Stage::Tools) || self.waits_for_children();
        is_between && self.state.halt.is_none() && self.state.overdue.is_none()
    }

    fn is_asking(&self) -> bool {
        let lease = self.state.budget.lease.as_ref();
        lease.is_some_and(|lease| lease.is_pending)
    }

    /// Returns where to get more than is free.
    fn how_to_get(&self, need: &Pooled<Amount>) -> More {
        let own = self.left_of(self.limited());
        if own.covers(need.own) {
            return self.how_to_get_of_pools(need);
        }
        let has_tokens = own.tokens.is_none_or(|left| need.own.tokens <= left);
        let limit = match has_tokens {
            true => ExitReason::MaxCost,
            false => ExitReason::MaxTokens,
        };
        if self.asks_about_limits() {
            return More::Person(limit);
        }
        let run = self.own_name();
        More::None(match has_tokens {
            true => format!("the budget of {run} has no more money for it"),
            false => format!("the budget of {run} has no more tokens for it"),
        })
    }

    /// The same where no limit is in the way.
    fn how_to_get_of_pools(&self, need: &Pooled<Amount>) -> More {
        let has_lease = self.state.budget.lease.is_some();
        let free = self.free();
        let mut pools = need.pools.iter();
        let short = pools.find(|(pool, need)| {
            let left = match has_lease {
                true => self.limit_of(pool).without(self.committed_of(pool)),
                false => free.of_pool(pool),
            };
            !left.covers(**need)
        });
        if has_lease && short.is_none() {
            return More::Above;
        }
        let pool = short.map(|(pool, _)| pool.as_str()).unwrap_or_default();
        let run = self.own_name();
        More::None(match self.pools().contains_key(pool) {
            true => format!("the pool {pool:?} of {run} has no more for it"),
            false => format!("{run} has no pool {pool:?}"),
        })
    }

    fn own_name(&self) -> &str {
        let run = self.state.run.as_ref().map(RunId::as_str);
        run.unwrap_or_default()
    }

    /// The run above has answered, or asks for a word.
    pub(crate) fn lease_granted(&mut self, grant: LeaseGrant, now: DateTime<Utc>) {
        let key = self.state.tree.parent.as_ref().map(|parent| parent.key);
        let is_own = self.state.run.as_ref() == Some(&grant.run) && key == Some(grant.key);
        let lease = self.state.budget.lease.as_mut().filter(|_| is_own);
        let Some(lease) = lease else {
            let reason = "it is not of the run that started this one".to_owned();
            let name = signal::GRANT.to_owned();
            return self.emit(RunEvent::SignalIgnored { name, reason });
        };
        lease.heard_at = now;
        lease.lease.granted = lease.lease.granted.then(&grant.granted);
        if grant.number == 0 {
            // It was read, and is not answered; or there was nothing to answer, and the run above wants a word.
            if lease.asked_at.take().is_none() {
                self.ask_above(None, Pooled::default(), Pooled::default(), now);
            }
            return;
        }
        if grant.number < lease.requests {
            return;
        }
        lease.asked_at = None;
        lease.is_pending = false;
        let is_waiting = std::mem::take(&mut lease.is_waiting);
        let asked_for = lease.asked_for.take();
        let of_child = asked_for.as_ref().zip(grant.refused.as_deref());
        self.serve_unless(of_child, now);
        if is_waiting {
            self.take_grant(grant.refused.filter(|_| asked_for.is_none()), now);
        }
    }

    /// Continues with the model call that waited for more.
    fn take_grant(&mut self, refused: Option<String>, now: DateTime<Utc>) {
        match (refused, self.next_room()) {
            (Some(reason), Room::Short(shortage)) if shortage.source == Source::Above => {
                let error = RunError {
                    kind: FailureKind::OutOfBudget,
                    message: format!("the run that started it grants no more: {reason}"),
                };
                self.end(shortage.limit, Some(error));
            }
            _ => self.begin_turn(now),
        }
    }

    /// Returns when something is due between this run and the others of its tree, if nothing is heard of them before.
    pub(crate) fn lease_due_at(&self) -> Option<DateTime<Utc>> {
        if matches!(self.state.stage, Stage::Ended(_)) {
            return None;
        }
        let within = self.state.agent.lease;
        let children = self.state.tree.children.iter();
        let children = children.filter_map(|child| child_due_at(child, within));
        let own = self.state.budget.lease.as_ref();
        let own = own.and_then(|lease| own_due_at(lease));
        children.chain(own).min()
    }

    /// Looks whether the run above and those below are there, as far as that is due.
    pub(crate) fn lease_due(&mut self, now: DateTime<Utc>) {
        let is_due = |at: Option<DateTime<Utc>>| at.is_some_and(|at| at <= now);
        if let Some(lease) = self
            .state
            .budget
            .lease
            .clone()
            .filter(|it| is_due(own_due_at(it)))
        {
            let is_late = is_late(own_due_at(&lease), lease.lease.within, now);
            match lease.asked_at {
                Some(_) if !is_late => self.abandon(),
                _ => self.ask_again(now),
            }
        }
        let within = self.state.agent.lease;
        let due = self.state.tree.children.iter();
        let due: Vec<Child> = due
            .filter(|child| is_due(child_due_at(child, within)))
            .cloned()
            .collect();
        for child in due {
            let is_late = is_late(child_due_at(&child, within), within, now);
            match child.looked_at {
                Some(_) if !is_late => self.lose_child(&child.run, now),
                _ => self.look_at(&child.run, now),
            }
        }
    }

    /// Asks once more for what is missing, if anything is, or else whether the run above is there.
    fn ask_again(&mut self, now: DateTime<Utc>) {
        if let Some(lease) = &mut self.state.budget.lease {
            lease.is_pending = false;
            // What was asked before is not waited for any more: it would be due at once.
            lease.asked_at = None;
        }
        match self.next_room() {
            Room::Short(shortage) if self.waits_for_grant() => {
                self.ask_above(None, shortage.need, shortage.want, now);
            }
            _ => self.serve(now),
        }
        let lease = self.state.budget.lease.as_ref();
        if lease.is_some_and(|lease| lease.asked_at.is_none()) {
            self.ask_above(None, Pooled::default(), Pooled::default(), now);
        }
    }

    fn look_at(&mut self, run: &RunId, now: DateTime<Utc>) {
        if let Some(child) = self.child_mut(run) {
            child.looked_at = Some(now);
        }
        let word = LeaseRequest {
            run: run.clone(),
            key: self.state.tree.key_of(run),
            number: 0,
            need: Pooled::default(),
            want: Pooled::default(),
        };
        self.answer_lease(&word, None);
    }

    /// Returns what each of this number of runs that start together is granted: an equal part, and one part stays here.
    pub(crate) fn first_lease(&self, starting: usize) -> Pooled<Amount> {
        let starting = u32::try_from(starting).unwrap_or(u32::MAX);
        self.free().part(starting.saturating_add(1))
    }

    /// Returns the lease that a run below gets when it starts with this part of the budget.
    pub(crate) fn lease_of(&self, leased: &Pooled<Amount>) -> neuron_types::Lease {
        neuron_types::Lease {
            granted: self.bounds().bounding(leased),
            within: self.state.agent.lease,
        }
    }

    /// The lease that a run begins with.
    pub(crate) fn begin_lease(parent: Option<&Parent>, now: DateTime<Utc>) -> Option<Box<Leased>> {
        let lease = parent?.lease.clone()?;
        Some(Box::new(Leased::new(lease, now)))
    }
}

/// Returns what a run of this agent is granted where runs of any agent are granted this much: of pools only those that
/// it uses.
pub(crate) fn part_for(agent: &SubAgent, mut leased: Pooled<Amount>) -> Pooled<Amount> {
    leased.pools.retain(|pool, _| agent.pools.contains(pool));
    leased
}

/// Where more comes from than is free.
enum More {
    /// The run above may grant it.
    Above,
    /// A person may raise this limit.
    Person(ExitReason),
    /// Nowhere, for this reason.
    None(String),
}

/// A run asks when half of its lease is over, and gives up half of a lease later.
fn own_due_at(lease: &Leased) -> Option<DateTime<Utc>> {
    let half = lease.lease.within / 2;
    let since = lease.asked_at.unwrap_or(lease.heard_at);
    match lease.is_over {
        true => None,
        false => after(since, Some(half)),
    }
}

/// A run looks at a child that has been silent for a whole lease, and gives it up half a lease later.
fn child_due_at(child: &Child, within: Duration) -> Option<DateTime<Utc>> {
    match child.looked_at {
        Some(looked) => after(looked, Some(within / 2)),
        None => after(child.heard_at?, Some(within)),
    }
}

/// Returns whether no worker was there to look when it was time: then the run looks once more, and gives up no child.
fn is_late(due: Option<DateTime<Utc>>, within: Duration, now: DateTime<Utc>) -> bool {
    due.and_then(|due| after(due, Some(within / 4)))
        .is_some_and(|late| late <= now)
}

#[cfg(test)]
mod tests;
