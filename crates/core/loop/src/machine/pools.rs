//! What a run may use of pools that the runs of its tree share.

use std::collections::BTreeMap;

use neuron_types::{Allowance, Amount, ExitReason, FailureKind, Pooled, RunError, TokenUsage};
use rust_decimal::Decimal;

use crate::AgentMachine;

impl AgentMachine {
    /// The pools that the run may use, as far as it may: as its definition says, and as the run above has granted.
    pub(crate) fn pools(&self) -> BTreeMap<String, Allowance> {
        let Some(lease) = &self.state.budget.lease else {
            return self.state.agent.pools.clone();
        };
        let granted = lease.granted().pools.iter();
        granted
            .map(|(pool, granted)| (pool.clone(), self.limit_of(pool).and(*granted)))
            .collect()
    }

    /// Returns what the run's definition lets it take of a pool; no bound if the definition sets none.
    pub(crate) fn limit_of(&self, pool: &str) -> Allowance {
        let own = self.state.agent.pools.get(pool).copied();
        own.unwrap_or_default()
    }

    /// Returns what the run and those below it have taken of pools, if they may use any.
    pub(crate) fn taken_of_pools(&self) -> Option<BTreeMap<String, Amount>> {
        let taken = &self.state.budget.pools;
        (!taken.is_empty() || !self.pools().is_empty()).then(|| taken.clone())
    }

    /// Returns what the run and those below it may use at most, of its budget and of pools.
    pub(crate) fn bounds(&self) -> Pooled<Allowance> {
        Pooled {
            own: self.bound(),
            pools: self.pools(),
        }
    }

    /// Returns what the run may still use or grant, of its budget and of pools.
    pub(crate) fn free(&self) -> Pooled<Allowance> {
        let mut free = self.bounds();
        free.own = self.left_of(free.own);
        for (pool, allowance) in &mut free.pools {
            *allowance = allowance.without(self.committed_of(pool));
        }
        free
    }

    /// Returns what is used of a pool, or given out: to the model call of the turn, and to the runs below that are
    /// open.
    pub(crate) fn committed_of(&self, pool: &str) -> Amount {
        let budget = &self.state.budget;
        let used = budget.pools.get(pool).copied();
        let held = budget.held.filter(|_| self.pool() == Some(pool));
        let children = self.state.tree.children.iter();
        let leased = children.filter_map(|child| child.leased.pools.get(pool).copied());
        let held = held.map(|held| held.all());
        let judges = self.held_for_calls();
        let judges = judges.filter(|_| self.pool() == Some(pool));
        let all = used.into_iter().chain(held).chain(judges).chain(leased);
        all.fold(Amount::ZERO, Amount::plus)
    }

    /// The pool that model calls are charged to.
    pub(crate) fn pool(&self) -> Option<&str> {
        self.state.agent.pool.as_deref()
    }

    /// A model call has used this much of the pool that it is charged to. A cost that is not known fits no pool of
    /// money.
    pub(crate) fn spend_of_pool(&mut self, usage: &TokenUsage, cost_usd: Option<Decimal>) {
        let Some(pool) = self.pool() else {
            return;
        };
        let bound = self.pools().remove(pool);
        let is_priced = bound.is_some_and(|bound| bound.cost_usd.is_some());
        let unknown = match is_priced {
            true => Decimal::MAX,
            false => Decimal::ZERO,
        };
        self.charge_to_pool(Amount {
            tokens: usage.total(),
            cost_usd: cost_usd.unwrap_or(unknown),
        });
    }

    /// A model call is charged this much.
    pub(crate) fn charge_to_pool(&mut self, amount: Amount) {
        if let Some(pool) = self.pool() {
            let pools = BTreeMap::from([(pool.to_owned(), amount)]);
            self.state.budget.take_of_pools(&pools);
        }
    }

    /// Returns why a run ends when no run above can grant more of this pool.
    pub(crate) fn out_of_pool(&self, pool: &str, limit: ExitReason) -> RunError {
        let what = match limit {
            ExitReason::MaxTokens => "tokens",
            _ => "money",
        };
        let is_unknown = self.committed_of(pool).cost_usd == Decimal::MAX;
        let message = match self.pools().contains_key(pool) {
            false => format!(
                "the run that began this tree has no pool {pool:?}: the agent that it began with has to have it among its \
                 pools"
            ),
            true if is_unknown => format!(
                "what the pool {pool:?} has been used for is not known in US dollars: a model call had no price here, or \
                 reported no tokens; set the prices of the models where they are called"
            ),
            true => format!(
                "the pool {pool:?} has no more {what} for a model call; raise it for later runs"
            ),
        };
        RunError {
            kind: FailureKind::OutOfBudget,
            message,
        }
    }
}
