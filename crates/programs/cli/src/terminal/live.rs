//! The living picture: lines of what is over, and below them what is in progress.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use neuron_executor::{Delta, RetryNotice, TokenDelta, ToolProgress};
use neuron_types::{RunEvent, StopReason};
use serde_json::{Map, Value};

use crate::{
    terminal::describe, terminal::output::note, terminal::shown, terminal::streamed::Streamed,
};

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
    /// The calls in flight by their ids, with the lines that remain of them.
    calls: BTreeMap<String, (ProgressBar, String)>,
    turn: u32,
    answer: Streamed,
    /// The lines that wait for the end of a question.
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
                answer: Streamed::default(),
                held: None,
            }),
        }
    }

    pub(crate) fn event(&self, event: &RunEvent) {
        let mut state = self.lock();
        state.close();
        if matches!(event, RunEvent::TurnStarted { .. }) {
            state.answer.begin();
        }
        match event {
            // The answer's text was shown while it arrived, and the calls follow.
            RunEvent::ModelResponded {
                stop_reason: StopReason::ToolUse,
                ..
            } if state.answer.has_text() => {}
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
                reason,
                ..
            } => {
                let bar = state.calls.remove(call_id);
                let call = bar.map(|(bar, call)| {
                    bar.finish_and_clear();
                    call
                });
                // A call that was denied was not announced.
                let call = call.unwrap_or_else(|| shown::line(tool).into_owned());
                let line = describe::finished_call(&call, *is_error, *failure, reason.as_deref());
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

    /// Shows more of an answer. The picture is removed while the text arrives.
    pub(crate) fn token(&self, token: &TokenDelta) {
        let mut state = self.lock();
        if token.seq == 0 {
            state.close();
            state.answer.begin();
        }
        match &token.delta {
            Delta::Text(text) => {
                state.answer.push(text);
                state.write();
            }
            Delta::Thinking(_) => state.close(),
            Delta::ToolUseStart { name, .. } => {
                state.close();
                let tool = shown::call(name, &Value::Object(Map::new()));
                let turn = state.turn;
                state
                    .status
                    .set_message(format!("turn {turn}: the model writes a call of {tool}"));
            }
            _ => {}
        }
    }

    /// Shows the progress of a call, beside it.
    pub(crate) fn progress(&self, progress: &ToolProgress) {
        let state = self.lock();
        if let Some((bar, call)) = state.calls.get(&progress.call_id) {
            bar.set_message(format!("{call}  {}", describe::report(&progress.report)));
        }
    }

    pub(crate) fn has_shown(&self, answer: &str) -> bool {
        self.lock().answer.is(answer)
    }

    pub(crate) fn retry(&self, mut line: String, notice: &RetryNotice) {
        let mut state = self.lock();
        state.close();
        if notice.step.position == 0 && state.answer.has_text() {
            line.push_str("; the answer starts again");
            state.answer.begin();
        }
        state.line(line);
        let (turn, delay) = (state.turn, describe::duration(notice.delay));
        state
            .status
            .set_message(format!("turn {turn}: trying again in {delay}"));
    }

    pub(crate) fn line(&self, line: &str) {
        let mut state = self.lock();
        state.close();
        state.line(shown::text(line).into_owned());
    }

    pub(crate) fn pause(&self) {
        let mut state = self.lock();
        state.close();
        state.hide();
        state.held.get_or_insert_default();
    }

    pub(crate) fn resume(&self) {
        let mut state = self.lock();
        for line in state.held.take().unwrap_or_default() {
            note(&line);
        }
        state.show();
        if state.answer.is_behind() {
            let is_over = state.answer.is_over();
            state.write();
            if is_over {
                state.close();
            }
        }
    }

    pub(crate) fn finish(&self) {
        let mut state = self.lock();
        state.close();
        for (bar, _) in std::mem::take(&mut state.calls).into_values() {
            bar.finish_and_clear();
        }
        state.status.finish_and_clear();
        for line in state.held.take().unwrap_or_default() {
            note(&line);
        }
        // A line that follows later is written as it is.
        state.multi.set_draw_target(ProgressDrawTarget::hidden());
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Writes the part of the answer that has arrived, unless a question is open.
    fn write(&mut self) {
        if self.held.is_some() || !self.answer.is_behind() {
            return;
        }
        if !self.answer.is_open() {
            self.hide();
        }
        self.answer.write();
    }

    /// Draws the picture again, below the part of the answer that has arrived.
    fn close(&mut self) {
        let was_open = self.answer.is_open();
        self.answer.close();
        if was_open {
            self.show();
        }
    }

    fn hide(&self) {
        self.status.disable_steady_tick();
        // Writing to the terminal can only fail if no one sees it.
        self.multi.clear().ok();
        self.multi.set_draw_target(ProgressDrawTarget::hidden());
    }

    fn show(&self) {
        self.multi.set_draw_target(ProgressDrawTarget::stderr());
        self.status.enable_steady_tick(TICK);
    }

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

    /// Shows below the lines what is in progress now.
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
    // Every run of the tests parses these constant templates.
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}
