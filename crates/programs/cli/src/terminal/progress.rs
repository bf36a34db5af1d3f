//! The progress of a run for a person, on standard error.

use std::{
    env, fmt,
    io::{self, IsTerminal as _},
    sync::Arc,
};

use neuron_executor::{EventSink, RetryNotice, TokenDelta, ToolProgress};
use neuron_types::{RecordedEvent, RunEvent, Ticket};
use tokio::sync::mpsc::UnboundedSender;

use crate::{
    terminal::describe,
    terminal::live::Live,
    terminal::output::{Output, note},
};

/// Shows what happens, as a living picture in a terminal and as plain lines elsewhere.
#[derive(Debug)]
pub(crate) enum Progress {
    /// One line an event, plain text.
    Lines,
    /// Lines of what is over, and below them what is in progress.
    Live(Live),
}

impl Progress {
    /// Returns the picture that fits standard error. A log of `verbose` would tear a living picture apart.
    pub(crate) fn new(verbose: bool) -> Self {
        let dumb = env::var_os("TERM").is_none_or(|term| term == "dumb");
        if io::stderr().is_terminal() && !dumb && !verbose && env::var_os("RUST_LOG").is_none() {
            Self::Live(Live::new())
        } else {
            Self::Lines
        }
    }

    /// Returns whether answers are shown here while they arrive: on standard output, between the lines.
    pub(crate) const fn takes_tokens(&self, output: Output) -> bool {
        matches!(self, Self::Live(_)) && output.is_watched()
    }

    /// Shows more of an answer.
    pub(crate) fn token(&self, token: &TokenDelta) {
        if let Self::Live(live) = self {
            live.token(token);
        }
    }

    /// Shows the progress of a tool call, if the picture has room for it.
    pub(crate) fn tool_progress(&self, progress: &ToolProgress) {
        if let Self::Live(live) = self {
            live.progress(progress);
        }
    }

    /// Returns whether this was the newest answer and was shown to its end while it arrived.
    pub(crate) fn has_shown(&self, answer: &str) -> bool {
        match self {
            Self::Lines => false,
            Self::Live(live) => live.has_shown(answer),
        }
    }

    /// Shows an event.
    pub(crate) fn event(&self, event: &RunEvent) {
        match self {
            Self::Lines => {
                if let Some(line) = describe::progress(event) {
                    note(&line);
                }
            }
            Self::Live(live) => live.event(event),
        }
    }

    /// Shows that an attempt failed and another follows.
    pub(crate) fn retry(&self, notice: &RetryNotice) {
        let line = format!("  {}", describe::retry(notice));
        match self {
            Self::Lines => note(&line),
            Self::Live(live) => live.retry(line, notice),
        }
    }

    /// Shows a line of the command itself.
    pub(crate) fn note(&self, line: &str) {
        match self {
            Self::Lines => note(line),
            Self::Live(live) => live.line(line),
        }
    }

    /// Makes room for a question: nothing is drawn until [`Progress::resume`], and lines are kept until then.
    pub(crate) fn pause(&self) {
        if let Self::Live(live) = self {
            live.pause();
        }
    }

    /// Resumes after a question.
    pub(crate) fn resume(&self) {
        if let Self::Live(live) = self {
            live.resume();
        }
    }

    /// Removes the picture; the lines stay.
    pub(crate) fn finish(&self) {
        if let Self::Live(live) = self {
            live.finish();
        }
    }
}

/// Passes the events of a run to the picture, and to the asker of the person.
pub(crate) struct Watch {
    /// The picture.
    pub(crate) progress: Arc<Progress>,
    /// The channel to the asker.
    pub(crate) asker: Option<UnboundedSender<RunEvent>>,
    /// Returns what to type about a ticket, if the person is not asked and the run keeps waiting.
    pub(crate) commands: Option<Commands>,
    /// Whether the picture shows answers while they arrive.
    pub(crate) tokens: bool,
}

/// What to type about a ticket.
pub(crate) type Commands = Box<dyn Fn(&Ticket) -> String + Send + Sync>;

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}

impl EventSink for Watch {
    fn event(&self, recorded: &RecordedEvent) {
        self.progress.event(&recorded.event);
        if let (Some(commands), RunEvent::ApprovalRequested { ticket, .. }) =
            (&self.commands, &recorded.event)
        {
            self.progress.note(&commands(ticket));
        }
        if let Some(asker) = &self.asker {
            // The asker is gone when there is nothing left to ask.
            asker.send(recorded.event.clone()).ok();
        }
    }

    fn retry(&self, notice: &RetryNotice) {
        self.progress.retry(notice);
    }

    fn wants_tokens(&self) -> bool {
        self.tokens
    }

    fn token(&self, token: &TokenDelta) {
        self.progress.token(token);
    }

    fn progress(&self, progress: &ToolProgress) {
        self.progress.tool_progress(progress);
    }

    fn stalled(&self, why: &str) {
        self.progress.note(why);
    }
}
