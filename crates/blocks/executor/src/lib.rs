#![doc = include_str!("../README.md")]

mod agents;
mod awaited;
mod events;
mod executor;
mod executors;
mod input_form;
mod limiter;
mod prices;
mod scope;
mod sessions;
mod watch;

pub use agents::{Agents, UnknownAgent};
pub use awaited::AwaitedAgent;
pub use events::progress::{LatestProgress, ProgressReport, ToolProgress};
pub use events::sink::{EventSink, NoSink};
pub use events::token::{Delta, TokenDelta};
pub use executor::{Executor, ExecutorBuilder, OtherAgents, panic_text};
pub use executors::Executors;
pub use input_form::input_mismatch;
pub(crate) use limiter::wait::longest_answer;
pub use limiter::{
    admission::Admission,
    rate_limiter::{RateLimiter, RateLimiterBuilder},
    turned_away::TurnedAway,
    wait::{longest_attempt, longest_wait},
};
pub use neuron_flow::RetryNotice;
pub use prices::list::{PRICES_AS_OF, PriceList};
pub use prices::model_price::{LongPrompt, ModelPrice};
pub use prices::table::Prices;
pub use scope::StepScope;
pub use sessions::{SessionTaker, Sessions};
pub use watch::{
    client_span::ClientSpan,
    sampling::{record_metrics, record_traces},
};
