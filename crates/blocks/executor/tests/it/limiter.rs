use std::{cell::RefCell, time::Duration};

use futures::future::join_all;
use neuron_executor::{Admission, RateLimiter};
use neuron_types::{FailureKind, Priority, TokenUsage};
use proptest::prelude::*;
use tokio::time::{Instant, sleep, sleep_until, timeout};

const MILLI: Duration = Duration::from_millis(1); // The clock is paused.
const SECOND: Duration = Duration::from_secs(1); // The clock is paused.
const MINUTE: Duration = Duration::from_secs(60); // The clock is paused.

fn requests(per_minute: u32) -> RateLimiter {
    let limiter = RateLimiter::builder();
    limiter.requests_per_minute(per_minute).build()
}

fn tokens(per_minute: u64) -> RateLimiter {
    let limiter = RateLimiter::builder();
    limiter.tokens_per_minute(per_minute).build()
}

async fn turn(limiter: &RateLimiter, tokens: u64) -> Admission {
    let turn = limiter.admit(tokens, Priority::Interactive, Duration::MAX);
    turn.await.unwrap()
}

fn used(tokens: u64) -> TokenUsage {
    TokenUsage {
        input_tokens: tokens,
        ..TokenUsage::default()
    }
}

/// The most that any stretch of a minute has.
fn most_in_a_minute(starts: &[(Duration, u64)]) -> u64 {
    let within = |begin: Duration| {
        let inside = move |at: Duration| at >= begin && at - begin <= MINUTE;
        let starts = starts.iter().filter(move |(at, _)| inside(*at));
        starts.map(|(_, count)| count).sum()
    };
    let most = starts.iter().map(|(begin, _)| within(*begin)).max();
    most.unwrap_or(0)
}

/// Returns when requests start that come at these times.
async fn starts(
    limiter: &RateLimiter,
    comes: &[(Duration, Priority, u64)],
) -> Vec<(Duration, u64)> {
    let begin = Instant::now();
    let starts = RefCell::new(Vec::new());
    let requests = comes.iter().map(|(at, priority, tokens)| {
        let starts = &starts;
        async move {
            sleep_until(begin + *at).await;
            let turn = limiter.admit(*tokens, *priority, Duration::MAX).await;
            drop(turn.unwrap());
            starts.borrow_mut().push((begin.elapsed(), *tokens));
        }
    });
    join_all(requests).await;
    starts.into_inner()
}

fn paused<T>(work: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().unwrap();
    runtime.block_on(work)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_minute_has_more_requests_or_tokens_than_the_rate(
        per_minute in 1..40_u32,
        tokens_per_minute in 1_000..5_000_u64,
        comes in prop::collection::vec(
            (0..200_000_u32, any::<bool>(), 1..900_u64),
            1..120,
        ),
    ) {
        let comes: Vec<_> = comes
            .into_iter()
            .map(|(at, is_batch, tokens)| {
                let priority = if is_batch { Priority::Batch } else { Priority::Interactive };
                (at * MILLI, priority, tokens)
            })
            .collect();
        let limiter = RateLimiter::builder()
            .requests_per_minute(per_minute)
            .tokens_per_minute(tokens_per_minute)
            .build();
        let starts = paused(starts(&limiter, &comes));
        prop_assert_eq!(starts.len(), comes.len());
        let ones: Vec<_> = starts.iter().map(|(at, _)| (*at, 1)).collect();
        prop_assert!(most_in_a_minute(&ones) <= u64::from(per_minute), "{starts:?}");
        prop_assert!(most_in_a_minute(&starts) <= tokens_per_minute, "{starts:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn lets_through_at_once_what_the_rate_has_room_for() {
    let begin = Instant::now();
    let limiter = requests(10);
    for _ in 0..10 {
        drop(turn(&limiter, 0).await);
    }
    assert_eq!(begin.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn lets_those_who_waited_start_one_by_one() {
    let comes = vec![(Duration::ZERO, Priority::Interactive, 0); 20];
    let starts = starts(&requests(10), &comes).await;
    let late = starts.iter().filter(|(at, _)| !at.is_zero());
    let late: Vec<_> = late.map(|(at, _)| *at).collect();
    assert_eq!(late.len(), 10);
    assert!(
        late.windows(2).all(|two| two[1] - two[0] >= 6 * SECOND),
        "{late:?}"
    );
    assert!(
        late[0] >= MINUTE && late[9] < 2 * MINUTE + 5 * SECOND,
        "{late:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn serves_in_the_order_of_arrival_and_interactive_requests_first() {
    let limiter = requests(60);
    let order = RefCell::new(Vec::new());
    let comes = |name: usize, priority| {
        let (limiter, order) = (&limiter, &order);
        async move {
            drop(limiter.admit(0, priority, Duration::MAX).await.unwrap());
            order.borrow_mut().push((priority, name));
        }
    };
    for _ in 0..60 {
        drop(turn(&limiter, 0).await);
    }
    let batch = join_all((0..4).map(|name| comes(name, Priority::Batch)));
    let interactive = join_all((0..30).map(|name| comes(name, Priority::Interactive)));
    tokio::join!(batch, interactive);
    let order = order.into_inner();
    let at = |priority| {
        let places = order.iter().enumerate();
        let own = places.filter(move |(_, (its, _))| *its == priority);
        own.map(|(place, (_, name))| (place, *name)).unzip()
    };
    let (places, names): (Vec<usize>, Vec<usize>) = at(Priority::Batch);
    assert_eq!(names, [0, 1, 2, 3]);
    // Every tenth turn, and those that no other request wants.
    assert_eq!(places, [9, 19, 29, 33]);
    let (_, names): (Vec<usize>, Vec<usize>) = at(Priority::Interactive);
    assert!(names.is_sorted(), "{names:?}");
}

#[tokio::test(start_paused = true)]
async fn forgets_who_waits_no_longer() {
    let limiter = requests(1);
    drop(turn(&limiter, 0).await);
    let begin = Instant::now();
    {
        let gone = limiter.admit(0, Priority::Interactive, Duration::MAX);
        let next = turn(&limiter, 0);
        let gone = async {
            assert!(timeout(10 * SECOND, gone).await.is_err());
        };
        tokio::join!(gone, async { drop(next.await) });
    }
    // The second turn, and not the third.
    assert!(begin.elapsed() < 70 * SECOND, "{:?}", begin.elapsed());
}

#[tokio::test(start_paused = true)]
async fn counts_what_was_used_in_place_of_the_estimate() {
    let begin = Instant::now();
    let limiter = tokens(1_000);
    // Less was used: there is room for more.
    turn(&limiter, 900).await.answered(&used(100));
    turn(&limiter, 900).await.answered(&used(900));
    assert!(begin.elapsed() < MINUTE, "{:?}", begin.elapsed());
    // All is used.
    let begin = Instant::now();
    drop(turn(&limiter, 100).await);
    assert!(begin.elapsed() > 5 * SECOND, "{:?}", begin.elapsed());

    let limiter = tokens(1_000);
    turn(&limiter, 100).await.answered(&used(1_000));
    let begin = Instant::now();
    drop(turn(&limiter, 1).await);
    assert!(begin.elapsed() >= MINUTE, "{:?}", begin.elapsed());
}

#[tokio::test(start_paused = true)]
async fn an_estimate_counts_where_nobody_says_what_was_used() {
    let limiter = tokens(1_000);
    turn(&limiter, 900).await.answered(&TokenUsage::default());
    let begin = Instant::now();
    drop(turn(&limiter, 900).await);
    assert!(begin.elapsed() >= MINUTE);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_larger_than_the_rate_goes_alone() {
    let limiter = tokens(1_000);
    let begin = Instant::now();
    drop(turn(&limiter, 10).await);
    drop(turn(&limiter, 5_000).await);
    assert!(begin.elapsed() >= MINUTE && begin.elapsed() < 2 * MINUTE);
}

#[tokio::test(start_paused = true)]
async fn pauses_the_key_as_the_server_asks_and_comes_back_one_by_one() {
    let limiter = requests(60);
    let asked = Some(20 * SECOND);
    turn(&limiter, 0)
        .await
        .failed(FailureKind::RateLimited, asked);
    let comes = vec![(Duration::ZERO, Priority::Interactive, 0); 30];
    let starts = starts(&limiter, &comes).await;
    let times: Vec<_> = starts.iter().map(|(at, _)| *at).collect();
    assert!(times[0] >= 20 * SECOND, "{times:?}");
    assert!(
        times.windows(2).all(|two| two[1] - two[0] >= SECOND),
        "{times:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn pauses_where_the_server_does_not_say_how_long_and_never_for_hours() {
    for (kind, asked, longest) in [
        (FailureKind::RateLimited, None, 10 * SECOND),
        (FailureKind::Overloaded, Some(3 * SECOND), 4 * SECOND),
        (FailureKind::RateLimited, Some(86_400 * SECOND), 16 * MINUTE),
    ] {
        let limiter = requests(60);
        turn(&limiter, 0).await.failed(kind, asked);
        let begin = Instant::now();
        drop(turn(&limiter, 0).await);
        assert!(begin.elapsed() >= 3 * SECOND, "{kind}");
        assert!(begin.elapsed() <= longest, "{kind} {:?}", begin.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn other_failures_pause_nothing() {
    let limiter = requests(60);
    turn(&limiter, 0).await.failed(FailureKind::Network, None);
    let begin = Instant::now();
    drop(turn(&limiter, 0).await);
    assert_eq!(begin.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn turns_away_at_once_who_would_wait_too_long_each_to_a_time_of_its_own() {
    let limiter = requests(6);
    for _ in 0..6 {
        drop(turn(&limiter, 0).await);
    }
    let begin = Instant::now();
    let mut waits = Vec::new();
    for _ in 0..5 {
        let turn = limiter.admit(0, Priority::Interactive, 30 * SECOND).await;
        waits.push(turn.unwrap_err().wait);
    }
    assert_eq!(begin.elapsed(), Duration::ZERO);
    assert!(waits[0] >= MINUTE, "{waits:?}");
    assert!(
        waits.windows(2).all(|two| two[1] - two[0] >= 9 * SECOND),
        "{waits:?}"
    );
    // Who comes back then has its turn.
    sleep(waits[0]).await; // The clock is paused.
    let turn = limiter.admit(0, Priority::Interactive, 30 * SECOND).await;
    assert!(turn.is_ok());
}

#[tokio::test(start_paused = true)]
async fn turns_away_who_has_waited_as_long_as_it_can() {
    let limiter = requests(2);
    drop(turn(&limiter, 0).await);
    sleep(50 * SECOND).await; // The clock is paused.
    drop(turn(&limiter, 0).await);
    let first = limiter.admit(0, Priority::Batch, 40 * SECOND);
    // Those that come later and go first.
    let later = async {
        sleep(5 * SECOND).await; // The clock is paused.
        join_all((0..4).map(|_| turn(&limiter, 0))).await.len()
    };
    let begin = Instant::now();
    let (first, _) = tokio::join!(async { (first.await, begin.elapsed()) }, later);
    let (away, waited) = first;
    let away = away.unwrap_err();
    assert_eq!(waited, 40 * SECOND);
    assert!(!away.wait.is_zero());
}

#[tokio::test(start_paused = true)]
async fn a_rate_of_nothing_counts_as_one() {
    let limiter = RateLimiter::builder().requests_per_minute(0).build();
    drop(turn(&limiter, 0).await);
    let begin = Instant::now();
    drop(turn(&limiter, 0).await);
    assert!(begin.elapsed() >= MINUTE);
}
