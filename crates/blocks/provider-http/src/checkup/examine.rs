//! Asks a server, check by check.

use std::{sync::Arc, time::Duration};

use neuron_types::{DynProvider, FailureKind, ProviderError, TokenUsage};

use crate::checkup::{
    Candidate, Check, Finding, Verdict,
    judge::{failed, judged, of_all},
    question::question,
    seen::{Seen, ask},
};

/// The most requests of one [`Checkup`].
pub const MAX_REQUESTS: usize = 12;

/// The longest that is waited where a server says that it is asked too often.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// How long is waited where it does not say how long.
const UNSAID_WAIT: Duration = Duration::from_secs(1);

/// Asks a live server a few small questions and finds out how it differs from what its API says.
///
/// Each check is one request, of at most 1,024 tokens of answer. Where a request is rejected, the
/// [candidates](Candidate) that may help are tried, and those that did are kept for the checks that follow. A request
/// that may be answered later is made once more. All of it is at most [`MAX_REQUESTS`] requests; what is left then was
/// not asked.
///
/// Nothing is changed anywhere. Dropping the future of [`Checkup::examine`] ends it, and closes the connection.
#[derive(Debug, Clone)]
pub struct Checkup {
    /// The model that is asked, as the server names it.
    pub model: String,
    /// Settings that may help, in the order in which they are tried.
    pub candidates: Vec<Candidate>,
    /// How long one answer may take, however it comes. A slower one is a failure.
    pub timeout: Duration,
}

/// What was found of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Examined {
    /// A finding of each check, in their order.
    pub findings: Vec<Finding>,
    /// The settings that helped, each a line of the provider's table in an agent file.
    pub settings: Vec<String>,
    /// How many requests were made.
    pub requests: usize,
    /// What they used, as far as the server said.
    pub usage: TokenUsage,
}

impl Examined {
    /// Returns whether agents work with the server as it is set up.
    #[must_use]
    pub fn is_fine(&self) -> bool {
        let mut findings = self.findings.iter();
        !findings.any(|it| matches!(it.verdict, Verdict::Fails | Verdict::NeedsSettings))
    }
}

impl Checkup {
    /// Asks the server. `client` makes a client with some of the candidates, given by their places in the list, beside
    /// the settings that the server has; `found` is called with each finding as soon as it is there.
    ///
    /// # Errors
    ///
    /// What `client` returns. A server that does not answer is a finding.
    pub async fn examine<E>(
        &self,
        client: impl Fn(&[usize]) -> Result<Arc<dyn DynProvider>, E>,
        mut found: impl FnMut(&Finding),
    ) -> Result<Examined, E> {
        let mut visit = Visit {
            checkup: self,
            provider: client(&[])?,
            client,
            adopted: Vec::new(),
            seen: Vec::new(),
            requests: 0,
            usage: TokenUsage::default(),
            is_over: false,
        };
        let mut findings = Vec::new();
        for check in Check::ASKED {
            let finding = visit.look(check).await?;
            found(&finding);
            findings.push(finding);
        }
        for check in Check::OF_ALL {
            let finding = of_all(check, &visit.seen);
            found(&finding);
            findings.push(finding);
        }
        let adopted = visit.adopted.iter();
        let adopted = adopted.filter_map(|place| self.candidates.get(*place));
        Ok(Examined {
            findings,
            settings: adopted.flat_map(|it| it.lines.clone()).collect(),
            requests: visit.requests,
            usage: visit.usage,
        })
    }
}

/// One pass over all checks.
struct Visit<'a, C> {
    checkup: &'a Checkup,
    client: C,
    /// With what was adopted so far.
    provider: Arc<dyn DynProvider>,
    adopted: Vec<usize>,
    /// What was answered.
    seen: Vec<(Check, Seen)>,
    requests: usize,
    usage: TokenUsage,
    /// Nothing more is asked: the server cannot be reached, or admits no client.
    is_over: bool,
}

impl<C, E> Visit<'_, C>
where
    C: Fn(&[usize]) -> Result<Arc<dyn DynProvider>, E>,
{
    async fn look(&mut self, check: Check) -> Result<Finding, E> {
        if self.is_over {
            return Ok(not_asked(check, "what came before failed"));
        }
        let provider = Arc::clone(&self.provider);
        let error = match self.ask(check, &*provider).await {
            Asked::Answer(finding) => return Ok(finding),
            Asked::Not(why) => return Ok(not_asked(check, why)),
            Asked::Error(error) => error,
        };
        let found = self.cured(check, &error).await?;
        // Without an answer to a plain question no other question has one.
        self.is_over = self.seen.is_empty();
        Ok(found.unwrap_or_else(|| failed(check, &error)))
    }

    /// Tries the candidates that may help. A candidate after which the server complains of something else helped that
    /// far: it is kept while those against that are tried.
    async fn cured(&mut self, check: Check, first: &ProviderError) -> Result<Option<Finding>, E> {
        let mut with = self.adopted.clone();
        let mut cure = self.next_cure(0, check, first, &with);
        while let Some((place, candidate)) = cure {
            with.push(place);
            let provider = (self.client)(&with)?;
            match self.ask(check, &*provider).await {
                Asked::Answer(finding) => {
                    let new = with.iter().skip(self.adopted.len());
                    let new = new.filter_map(|place| self.checkup.candidates.get(*place));
                    let lines: Vec<&str> = new
                        .flat_map(|candidate| &candidate.lines)
                        .map(String::as_str)
                        .collect();
                    let says = format!(
                        "{} with {}; without: {first}",
                        finding.says,
                        lines.join(", ")
                    );
                    self.adopted = with;
                    self.provider = provider;
                    return Ok(Some(Finding {
                        verdict: needing_settings(finding.verdict),
                        says,
                        ..finding
                    }));
                }
                Asked::Not(_) => return Ok(None),
                Asked::Error(error) if !candidate.cure.fits(check, &error) => {
                    cure = self.next_cure(0, check, &error, &with);
                }
                Asked::Error(error) => {
                    with.pop();
                    cure = self.next_cure(place + 1, check, &error, &with);
                }
            }
        }
        Ok(None)
    }

    /// Returns the first candidate from this place on that may help and is not tried already.
    fn next_cure(
        &self,
        from: usize,
        check: Check,
        error: &ProviderError,
        with: &[usize],
    ) -> Option<(usize, Candidate)> {
        let candidates = self.checkup.candidates.iter().enumerate().skip(from);
        let mut fitting = candidates.filter(|(place, candidate)| {
            !with.contains(place) && candidate.cure.fits(check, error)
        });
        fitting
            .next()
            .map(|(place, candidate)| (place, candidate.clone()))
    }

    /// Asks, and once more where that may help.
    async fn ask(&mut self, check: Check, provider: &dyn DynProvider) -> Asked {
        let Some(request) = question(check, &self.checkup.model, &self.seen) else {
            return Asked::Not("there was no call");
        };
        let mut is_again = false;
        loop {
            if self.requests >= MAX_REQUESTS {
                return Asked::Not("all requests are used up");
            }
            self.requests += 1;
            let asked = ask(provider, &request, check.is_streamed());
            let limit = self.checkup.timeout;
            let asked = tokio::time::timeout(limit, asked).await;
            match asked.unwrap_or_else(|_| Err(too_slow(limit))) {
                Ok(seen) => {
                    self.usage.add(&seen.answer.usage);
                    let finding = judged(check, &seen);
                    self.seen.push((check, seen));
                    return Asked::Answer(finding);
                }
                Err(error) => {
                    if let Some(usage) = error.usage() {
                        self.usage.add(usage);
                    }
                    let wait = wait(&error).filter(|_| !is_again);
                    let Some(wait) = wait else {
                        return Asked::Error(error);
                    };
                    tokio::time::sleep(wait).await;
                    is_again = true;
                }
            }
        }
    }
}

fn too_slow(limit: Duration) -> ProviderError {
    let message = format!("the answer was not whole within {limit:?}");
    ProviderError::new(FailureKind::Timeout, message)
}

enum Asked {
    Answer(Finding),
    Error(ProviderError),
    Not(&'static str),
}

/// Returns how long to wait before a request is made once more, where that may help.
fn wait(error: &ProviderError) -> Option<Duration> {
    let may_help = matches!(
        error.kind(),
        FailureKind::RateLimited | FailureKind::Overloaded | FailureKind::ModelLoading
    );
    let asked = error.retry_after().unwrap_or(UNSAID_WAIT);
    (may_help && error.is_retryable() && asked <= MAX_WAIT).then_some(asked)
}

/// Returns the verdict about a server that did so with other settings.
const fn needing_settings(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Fails => Verdict::Fails,
        _ => Verdict::NeedsSettings,
    }
}

fn not_asked(check: Check, why: &str) -> Finding {
    Finding {
        check,
        verdict: Verdict::NotAsked,
        says: why.to_owned(),
    }
}
