//! The guard of a world's executors.

use std::time::Duration;

use neuron_types::{Guard, GuardError, GuardPoint, GuardSubject, GuardVerdict, WasmBoxedFuture};

/// A guard whose verdict the text contains: `{{call:block}}` is blocked in the arguments of a call, and passes
/// everywhere else.
///
/// Besides the names of verdicts a text may contain `error`, `panic` and `hang`.
pub(crate) struct WorldGuard;

/// The guard's name.
pub(crate) const NAME: &str = "marker";

impl Guard for WorldGuard {
    fn name(&self) -> &str {
        NAME
    }

    fn timeout(&self) -> Duration {
        Duration::from_millis(50) // What ends one that hangs.
    }

    fn check<'a>(
        &'a self,
        subject: GuardSubject<'a>,
    ) -> WasmBoxedFuture<'a, Result<GuardVerdict, GuardError>> {
        Box::pin(async move {
            let Some((marker, asked)) = marker(subject.point, subject.text) else {
                return Ok(GuardVerdict::Pass);
            };
            let reason = format!("the text asks for {asked}");
            Ok(match asked {
                "warn" => GuardVerdict::Warn { reason },
                "replace" => GuardVerdict::Replace {
                    with: subject.text.replace(&marker, "[gone]"),
                    reason,
                },
                "block" => GuardVerdict::Block { reason },
                "ask" => GuardVerdict::Ask { reason },
                "trip" => GuardVerdict::Trip { reason },
                "hang" => std::future::pending().await,
                "panic" => panic!("the text asks for it"),
                _ => return Err(GuardError::new("the text asks for it")),
            })
        })
    }
}

/// Returns the verdict in a text for this point.
fn marker(point: GuardPoint, text: &str) -> Option<(String, &str)> {
    let start = format!("{{{{{point}:");
    let (_, rest) = text.split_once(&start)?;
    let (asked, _) = rest.split_once("}}")?;
    Some((format!("{start}{asked}}}}}"), asked))
}
