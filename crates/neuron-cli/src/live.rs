//! The living picture: lines of what is over, and below them what goes on.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use neuron_types::RunEvent;

use crate::{describe, output::note, shown};

const TICK: Duration = Duration::from_millis(100);

/// Draws with indicatif.
#[derive(Debug)]
pub(crate) struct Live {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    multi: MultiProgress,
    status: ProgressBar,
    /// The calls in flight by their ids, with the lines that they leave.
    calls: BTreeMap<String, (ProgressBar, String)>,
    turn: u32,
    /// Lines that wait for the end of a question.
    held: Option<Vec<String>>,
}

impl Live {
    pub(crate) fn new() -> Self {
        let multi = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let status = multi.add(ProgressBar::new_spinner());
        status.set_style(style("{spinner} {wide_msg}"));
        status.enable_steady_tick(TICK);
        Self {
            state: Mutex::new(State {
                multi,
                status,
                calls: BTreeMap::new(),
                turn: 0,
                held: None,
            }),
        }
    }

    pub(crate) fn event(&self, event: &RunEvent) {
        let mut state = self.lock();
        match event {
            RunEvent::ToolCalled {
                call_id,
                tool,
                args,
                ..
            } => state.call(call_id, shown::call(tool, args)),
            RunEvent::ToolFinished {
                call_id,
                tool,
                is_error,
                failure,
                ..
            } => {
                let line = match state.calls.remove(call_id) {
                    Some((bar, call)) => {
                        bar.finish_and_clear();
                        let sign = if *is_error { '✗' } else { '✓' };
                        let kind = failure.map(|kind| format!(" ({kind})")).unwrap_or_default();
                        format!("  {sign} {call}{kind}")
                    }
                    None => format!("  {}", describe::finished(tool, *is_error, *failure)),
                };
                state.line(line);
            }
            event => {
                if let Some(line) = describe::progress(event) {
                    state.line(line);
                }
            }
        }
        state.doing(event);
    }

    pub(crate) fn retry(&self, line: &str, delay: Duration) {
        let mut state = self.lock();
        state.line(line.to_owned());
        let turn = state.turn;
        let message = format!("turn {turn}: trying again in {}", describe::duration(delay));
        state.status.set_message(message);
    }

    pub(crate) fn line(&self, line: &str) {
        self.lock().line(shown::text(line).into_owned());
    }

    pub(crate) fn pause(&self) {
        let mut state = self.lock();
        state.status.disable_steady_tick();
        // Writing to the terminal can only fail where nobody sees it.
        state.multi.clear().ok();
        state.multi.set_draw_target(ProgressDrawTarget::hidden());
        state.held.get_or_insert_default();
    }

    pub(crate) fn resume(&self) {
        let mut state = self.lock();
        for line in state.held.take().unwrap_or_default() {
            note(&line);
        }
        state.multi.set_draw_target(ProgressDrawTarget::stderr());
        state.status.enable_steady_tick(TICK);
    }

    pub(crate) fn finish(&self) {
        let mut state = self.lock();
        for (bar, _) in std::mem::take(&mut state.calls).into_values() {
            bar.finish_and_clear();
        }
        state.status.finish_and_clear();
        for line in state.held.take().unwrap_or_default() {
            note(&line);
        }
        // A line that comes later is written as it is.
        state.multi.set_draw_target(ProgressDrawTarget::hidden());
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn line(&mut self, line: String) {
        if let Some(held) = &mut self.held {
            held.push(line);
        } else if self.multi.is_hidden() {
            note(&line);
        } else {
            self.multi.println(line).ok();
        }
    }

    fn call(&mut self, id: &str, line: String) {
        let bar = self
            .multi
            .insert_before(&self.status, ProgressBar::new_spinner());
        bar.set_style(style("  · {wide_msg}"));
        bar.set_message(line.clone());
        self.calls.insert(id.to_owned(), (bar, line));
    }

    /// Says below the lines what goes on now.
    fn doing(&mut self, event: &RunEvent) {
        let calls = self.calls.len();
        let doing = match event {
            RunEvent::TurnStarted { turn } => {
                self.turn = *turn;
                "the model thinks".to_owned()
            }
            RunEvent::Waiting { state } => describe::waiting(*state).to_owned(),
            RunEvent::ToolCalled { .. } | RunEvent::ToolFinished { .. } => match calls {
                0 => "going on".to_owned(),
                1 => "1 tool call".to_owned(),
                calls => format!("{calls} tool calls"),
            },
            _ => return,
        };
        self.status.reset_elapsed();
        self.status
            .set_message(format!("turn {}: {doing}", self.turn));
    }
}

fn style(template: &str) -> ProgressStyle {
    // The templates are constants that every run of the tests parses.
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}
