//! What a run may still use: what its limits and its lease leave, and what a model call takes of it at most.

use std::collections::BTreeMap;

use neuron_types::{
    Allowance, Amount, CompletionRequest, ContentBlock, ContentItem, ExitReason, FailureKind, Held,
    ImageSource, Message, ModelRate, Pooled, RequestHead, RunEvent, Spent, StepFailure,
    ThinkingConfig, TokenUsage, json_bytes,
};
use rust_decimal::Decimal;

use crate::AgentMachine;

/// How many tokens an answer may have in a run with a budget, where its agent does not say.
const MOST_OUTPUT: u64 = 16_384;

/// For fewer tokens of an answer no call is made.
const LEAST_OUTPUT: u64 = 256;

/// If less is left of what the run above has granted, it is asked for more.
const LEAST_LEASED: u64 = 2_048;

/// For how many attempts at a call something is put aside at most.
const MOST_ATTEMPTS: u32 = 3;

/// Which part of what is free may be put aside for attempts that follow a lost one.
const PLENTY: u32 = 4;

/// What an image takes at most, whatever its bytes.
const MOST_OF_IMAGE: usize = 16_384;

/// The least money that is asked for at once, where the cost of a call is unknown.
const LEAST_MONEY: Decimal = Decimal::from_parts(1, 0, 0, false, 2);

/// Whether there is room for a model call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Room {
    /// Nothing bounds it.
    Unbounded,
    /// The call may take this much.
    For(Held),
    /// There is no room.
    Short(Shortage),
}

/// What a model call lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shortage {
    /// Which limit it meets.
    pub(crate) limit: ExitReason,
    /// Who may have more.
    pub(crate) source: Source,
    /// How much more it takes at least.
    pub(crate) need: Pooled<Amount>,
    /// How much more it may take.
    pub(crate) want: Pooled<Amount>,
}

/// Who may have more for a model call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// The run above.
    Above,
    /// A person, who may raise the limit.
    Limit,
    /// No run, for this pool is used up.
    Pool(String),
}

impl AgentMachine {
    /// Returns what the run's own limits bound.
    pub(crate) fn limited(&self) -> Allowance {
        let limits = &self.state.agent.limits;
        Allowance {
            tokens: limits.tokens,
            cost_usd: limits.cost_usd,
        }
    }

    /// Returns what the run above has granted; no bound where there is no such grant.
    pub(crate) fn granted(&self) -> Allowance {
        let lease = self.state.budget.lease.as_ref();
        lease.map(|lease| lease.granted().own).unwrap_or_default()
    }

    /// Returns what the run and those below it may use at most.
    pub(crate) fn bound(&self) -> Allowance {
        self.limited().and(self.granted())
    }

    /// Returns what model calls have used, and what they are charged, with those of the runs below that have ended. A
    /// cost that is not known fits no budget.
    pub(crate) fn used(&self) -> Amount {
        let (state, tree) = (&self.state, &self.state.tree);
        let cost = neuron_types::cost_sum(state.cost_usd, tree.cost_usd);
        let answered = Amount {
            tokens: state.usage.total().saturating_add(tree.usage.total()),
            cost_usd: cost.unwrap_or(Decimal::MAX),
        };
        answered.plus(state.budget.reserved).plus(tree.reserved)
    }

    /// Returns what is given out: to the model call of the turn, to judges, and to the runs below that are open.
    pub(crate) fn given(&self) -> Amount {
        let held = self.state.budget.held.map(|held| held.all());
        let children = self
            .state
            .tree
            .children
            .iter()
            .map(|child| child.leased.own);
        let judges = self.held_for_calls();
        let given = held.into_iter().chain(judges).chain(children);
        given.fold(Amount::ZERO, Amount::plus)
    }

    /// Returns what is used or given out.
    fn committed(&self) -> Amount {
        self.used().plus(self.given())
    }

    /// Returns what is left of this.
    pub(crate) fn left_of(&self, allowance: Allowance) -> Allowance {
        allowance.without(self.committed())
    }

    /// Returns whether anything bounds what model calls use.
    pub(crate) fn is_bounded(&self) -> bool {
        !self.bound().is_unbounded() || self.pool().is_some()
    }

    /// Returns whether there is room for the model call of the next turn.
    pub(crate) fn room(&self) -> Room {
        match self.is_bounded() {
            true => self.room_for(&self.next_call()),
            false => Room::Unbounded,
        }
    }

    /// Returns whether there is room for a model call of this size.
    pub(crate) fn room_for(&self, call: &CallSize) -> Room {
        if !self.is_bounded() {
            return Room::Unbounded;
        }
        let (own, leased, pool) = (self.limited(), self.granted(), self.pool());
        let committed = self.committed();
        if let Some(lack) = call.short_of(own, committed, call.least) {
            return Room::Short(lack.of_own(Source::Limit));
        }
        let has_lease = self.state.budget.lease.is_some();
        let least = call.least_of(has_lease);
        let free = own.and(leased).without(committed);
        let of_lease = call.short_of(leased, committed, least);
        let of_lease = of_lease.map(|lack| lack.of_own(Source::Above));
        let Some(pool) = pool else {
            return of_lease.map_or_else(|| Room::For(call.held_in(free)), Room::Short);
        };
        let (bound, committed) = (self.bounds().of_pool(pool), self.committed_of(pool));
        let used_up = || Source::Pool(pool.to_owned());
        if let Some(lack) = call.short_of(self.limit_of(pool), committed, call.least) {
            return Room::Short(lack.of_pool(pool, used_up()));
        }
        let of_pool = call.short_of(bound, committed, least).map(|lack| {
            let source = match has_lease {
                true => Source::Above,
                false => used_up(),
            };
            lack.of_pool(pool, source)
        });
        match (of_lease, of_pool) {
            (None, None) => Room::For(call.held_in(free.and(bound.without(committed)))),
            (Some(of_lease), Some(of_pool)) => Room::Short(of_lease.and(&of_pool)),
            (Some(shortage), None) | (None, Some(shortage)) => Room::Short(shortage),
        }
    }

    /// Returns what may be put aside for a model call of a context strategy, after such calls used this much: nothing
    /// in a run without a budget.
    ///
    /// # Errors
    ///
    /// There is no room for it.
    pub(crate) fn hold_for_summary(
        &self,
        request: &CompletionRequest,
        spent: &Spent,
    ) -> Result<Option<Held>, StepFailure> {
        let (bounds, pool) = (self.bounds(), self.pool());
        if bounds.own.is_unbounded() && pool.is_none() {
            return Ok(None);
        }
        let bytes = json_bytes(request).unwrap_or_default();
        let most = request.max_tokens.unwrap_or(MOST_OUTPUT);
        let call = CallSize {
            input: u64::try_from(bytes).unwrap_or(u64::MAX),
            least: LEAST_OUTPUT.min(most),
            most,
            rate: self.rate_of(&request.head),
        };
        let spent = Amount {
            tokens: spent.usage.total(),
            // Where the cost is unknown, nothing is left if money is bounded.
            cost_usd: spent.cost_usd.unwrap_or(Decimal::MAX),
        };
        let mut free = self.left_of(bounds.own);
        if let Some(pool) = pool {
            free = free.and(bounds.of_pool(pool).without(self.committed_of(pool)));
        }
        let free = free.without(spent);
        match call.short_of(free, Amount::ZERO, call.least) {
            Some(_) => {
                let message = "the budget has no room for the call";
                Err(StepFailure::new(FailureKind::InvalidRequest, message))
            }
            None => Ok(Some(call.held_in(free))),
        }
    }

    /// Returns what the next model call takes at most and at least.
    fn next_call(&self) -> CallSize {
        let (least, most) = self.output_bounds();
        CallSize {
            input: self.most_input(),
            least,
            most,
            rate: self.rate_of(&self.state.agent.head),
        }
    }

    /// Returns how many tokens an answer has to have to be worth a call, and how many it may have.
    fn output_bounds(&self) -> (u64, u64) {
        let head = &self.state.agent.head;
        let thinking = match head.thinking {
            Some(ThinkingConfig::Enabled { budget_tokens }) => budget_tokens,
            _ => 0,
        };
        let least = thinking.saturating_add(LEAST_OUTPUT);
        let most = head.max_tokens.unwrap_or_else(|| MOST_OUTPUT.max(least));
        (least.min(most), most)
    }

    /// Returns how many tokens the next request has at most: as many as the model said of what it has read, and one for
    /// each byte of the rest. Tokens of all models have a byte or more.
    ///
    /// Tools that the provider searches itself count whole with every call, since the call may load any of them and bill
    /// what it loads.
    fn most_input(&self) -> u64 {
        let known = self.state.context.reported;
        let messages = self.messages().get(known.messages..).unwrap_or_default();
        let new = messages
            .iter()
            .map(bytes_of)
            .fold(0_usize, usize::saturating_add);
        let head = self.state.head();
        let tools = match known.messages {
            0 => {
                let parts = (&head.system, &head.tools, &head.response_format);
                json_bytes(&parts).unwrap_or_default()
            }
            _ => {
                let loaded = self.newest_loaded(known.tools_since);
                let bytes = loaded.map(|tool| json_bytes(tool).unwrap_or_default());
                bytes.fold(0_usize, usize::saturating_add)
            }
        };
        let searched = match head.searched_tools.is_empty() {
            true => 0,
            false => json_bytes(&head.searched_tools).unwrap_or_default(),
        };
        let bytes = new.saturating_add(tools).saturating_add(searched);
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        known.tokens.saturating_add(bytes)
    }

    /// Returns what the dearest of the models of a request costs; `None` where one's price is not known.
    fn rate_of(&self, head: &RequestHead) -> Option<ModelRate> {
        self.dearest_of(head.models())
    }

    /// Returns what the dearest of these models costs; `None` where one's price is not known.
    pub(crate) fn dearest_of(
        &self,
        models: impl Iterator<Item = impl AsRef<str>>,
    ) -> Option<ModelRate> {
        let agent = &self.state.agent;
        let rates = models.map(|model| {
            let mut known = agent.rates.iter();
            known.find(|rate| rate.model == model.as_ref())
        });
        rates
            .collect::<Option<Vec<_>>>()?
            .into_iter()
            .cloned()
            .reduce(|one, other| ModelRate {
                model: one.model,
                input: one.input.max(other.input),
                output: one.output.max(other.output),
            })
    }

    /// More is said to the model than something was put aside for.
    pub(crate) fn hold_again(&mut self) {
        if let Some(before) = self.state.budget.held.take() {
            self.state.budget.held = match self.room() {
                Room::For(held) => Some(held),
                _ => Some(before),
            };
        }
    }

    /// The model call has ended, and used this much: nothing is put aside for it any more. Returns how many tokens its
    /// answer might have, if it might have had more with a larger budget.
    pub(crate) fn settle_call(
        &mut self,
        usage: &TokenUsage,
        cost_usd: Option<Decimal>,
    ) -> Option<u64> {
        let Held {
            amount: held,
            output,
            ..
        } = self.state.budget.held.take()?;
        let used = Amount {
            tokens: usage.total(),
            cost_usd: cost_usd.unwrap_or_default(),
        };
        let is_known = !held.cost_usd.is_zero();
        if used.tokens > held.tokens || is_known && used.cost_usd > held.cost_usd {
            let turn = self.state.turn;
            self.emit(RunEvent::CallExceeded { turn, held, used });
        }
        let (_, most) = self.output_bounds();
        (output < most).then_some(output)
    }

    /// The model call was given up while it was under way: it is charged what was put aside for an attempt at it.
    pub(crate) fn charge_call(&mut self) {
        if let Some(Held { amount, .. }) = self.state.budget.held.take() {
            self.charge(1, amount);
        }
    }

    /// No model call is made for which something was put aside.
    pub(crate) fn release_call(&mut self) {
        self.state.budget.held = None;
    }

    /// So many attempts at the model call were lost, before the one that ended: each is charged what was put aside for one.
    pub(crate) fn charge_lost(&mut self, spent: Option<&Spent>) {
        let attempts = spent.map_or(0, |spent| spent.lost);
        let held = self.state.budget.held.filter(|_| attempts > 0);
        if let Some(Held { amount, .. }) = held {
            self.charge(attempts, amount.times(attempts));
        }
    }

    pub(crate) fn charge(&mut self, attempts: u32, charged: Amount) {
        let turn = self.state.turn;
        self.state.budget.reserved = self.state.budget.reserved.plus(charged);
        self.charge_to_pool(charged);
        self.emit(RunEvent::CallCharged {
            turn,
            attempts,
            charged,
        });
    }
}

/// How large a model call may be.
pub(crate) struct CallSize {
    /// The most tokens that its request has.
    pub(crate) input: u64,
    /// The fewest tokens of an answer that it is worth.
    pub(crate) least: u64,
    /// The most tokens that its answer may have.
    pub(crate) most: u64,
    /// What they cost, where that is known.
    pub(crate) rate: Option<ModelRate>,
}

impl CallSize {
    fn amount(&self, output: u64) -> Amount {
        let rate = self.rate.as_ref();
        Amount {
            tokens: self.input.saturating_add(output),
            cost_usd: rate.map_or(Decimal::ZERO, |rate| rate.cost(self.input, output)),
        }
    }

    /// Returns how many tokens of an answer there have to be: the run above is asked for more before there are as few
    /// as a call is worth.
    fn least_of(&self, has_lease: bool) -> u64 {
        match has_lease {
            true => self.least.max(LEAST_LEASED.min(self.most)),
            false => self.least,
        }
    }

    /// Returns what the call lacks for an answer of this number of tokens, where the bound may be used and the
    /// committed part of it is given away.
    fn short_of(&self, bound: Allowance, committed: Amount, least: u64) -> Option<Lack> {
        let free = bound.without(committed);
        let (least, most) = (self.amount(least), self.amount(self.most));
        let has_tokens = free.tokens.is_none_or(|free| least.tokens <= free);
        // Where the cost of a call is unknown, the call is made as long as there is money.
        let has_money = free
            .cost_usd
            .is_none_or(|free| least.cost_usd <= free && (self.rate.is_some() || !free.is_zero()));
        let limit = match (has_tokens, has_money) {
            (true, true) => return None,
            (false, _) => ExitReason::MaxTokens,
            (true, false) => ExitReason::MaxCost,
        };
        let more = |amount: Amount| {
            let cost_usd = match self.rate {
                Some(_) => amount.cost_usd,
                None => LEAST_MONEY,
            };
            bound.lacking(committed.plus(Amount { cost_usd, ..amount }))
        };
        Some(Lack {
            limit,
            need: more(least),
            want: more(most),
        })
    }

    /// Returns what is put aside for the call where this much is free, which is enough.
    fn held_in(&self, free: Allowance) -> Held {
        let tokens = free.tokens.map(|free| free.saturating_sub(self.input));
        let money = self
            .rate
            .as_ref()
            .zip(free.cost_usd)
            .map(|(rate, free)| rate.output_for(free.saturating_sub(rate.cost(self.input, 0))));
        let bounds = [Some(self.most), tokens, money];
        let output = bounds.into_iter().flatten().min().unwrap_or(self.most);
        let amount = self.amount(output);
        // Attempts that may be lost are provided for as far as there is plenty.
        let mut attempts = (2..=MOST_ATTEMPTS).rev();
        let attempts = attempts.find(|times| free.part(PLENTY).covers(amount.times(*times)));
        Held {
            output,
            amount,
            attempts: attempts.unwrap_or(1),
        }
    }
}

/// What a model call lacks of one bound.
struct Lack {
    limit: ExitReason,
    need: Amount,
    want: Amount,
}

impl Lack {
    fn of_own(self, source: Source) -> Shortage {
        Shortage {
            limit: self.limit,
            source,
            need: self.need.into(),
            want: self.want.into(),
        }
    }

    fn of_pool(self, pool: &str, source: Source) -> Shortage {
        let of_pool = |amount| Pooled {
            own: Amount::ZERO,
            pools: BTreeMap::from([(pool.to_owned(), amount)]),
        };
        Shortage {
            limit: self.limit,
            source,
            need: of_pool(self.need),
            want: of_pool(self.want),
        }
    }
}

impl Shortage {
    /// Both together.
    fn and(self, other: &Self) -> Self {
        Self {
            need: self.need.plus(&other.need),
            want: self.want.plus(&other.want),
            ..self
        }
    }
}

/// Returns how many tokens a message has at most.
fn bytes_of(message: &Message) -> usize {
    let blocks = message.content.iter().map(|block| match block {
        ContentBlock::Image { source, .. } => bytes_of_image(source),
        ContentBlock::ToolResult(result) => {
            let items = result.content.iter().map(|item| match item {
                ContentItem::Image { source, .. } => bytes_of_image(source),
                other => json_bytes(other).unwrap_or_default(),
            });
            let frame = result.tool_use_id.len().saturating_add(result.name.len());
            items.fold(frame.saturating_add(FRAME), usize::saturating_add)
        }
        other => json_bytes(other).unwrap_or_default(),
    });
    blocks.fold(FRAME, usize::saturating_add)
}

/// What holds the parts of a message together.
const FRAME: usize = 64;

fn bytes_of_image(source: &ImageSource) -> usize {
    let bytes = json_bytes(source).unwrap_or_default();
    match source {
        ImageSource::Url { .. } => MOST_OF_IMAGE,
        _ => bytes.min(MOST_OF_IMAGE),
    }
}
