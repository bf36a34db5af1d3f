//! The model server of a soak, which can be unreachable, hang and fail.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use neuron_harness::{FakeModel, Link, Reply, chat};
use serde_json::Value;

use crate::clock::now;

/// A server that answers each turn of a run by a script. The first word of the prompt is the run's id.
#[derive(Debug)]
pub(crate) struct Model {
    /// The link to the server. It ends before the server.
    pub(crate) link: Link,
    _server: FakeModel,
    ledger: Arc<Ledger>,
}

#[derive(Debug, Default)]
struct Ledger {
    failing: AtomicBool,
    requests: Mutex<Vec<Asked>>,
    answers: Mutex<Vec<Answer>>,
}

/// A request that arrived.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) run: String,
    /// When the request arrived, in seconds since 1970.
    pub(crate) at: f64,
}

/// An answer that was sent.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) run: String,
    pub(crate) turn: usize,
    /// The tokens that the answer reported: of the prompt and of the answer.
    pub(crate) tokens: (u64, u64),
    /// When the answer was sent, in seconds since 1970.
    pub(crate) at: f64,
}

impl Model {
    /// Returns a server whose answer to this turn of this run `script` returns. It may block.
    pub(crate) fn start(script: impl Fn(&str, usize) -> Value + Send + Sync + 'static) -> Self {
        let ledger = Arc::new(Ledger::default());
        let noted = Arc::clone(&ledger);
        let server = FakeModel::forgetful(move |request| {
            let (run, turn) = (run_of(&request.body), chat::turn(&request.body));
            noted.requests.lock().unwrap().push(Asked {
                run: run.clone(),
                at: now(),
            });
            if noted.failing.load(Ordering::SeqCst) {
                return Reply::status(503, chat::error("overloaded", "There is no capacity."));
            }
            let answer = script(&run, turn);
            let used = |key: &str| answer["usage"][key].as_u64().unwrap();
            noted.answers.lock().unwrap().push(Answer {
                run,
                turn,
                tokens: (used("prompt_tokens"), used("completion_tokens")),
                at: now(),
            });
            Reply::ok(answer)
        });
        Self {
            link: Link::to(&server.address()),
            _server: server,
            ledger,
        }
    }

    /// Returns the beginning of an agent file: the provider, with these keys besides.
    pub(crate) fn provider(&self, keys: &str) -> String {
        let address = self.link.address();
        format!(
            "[providers.fake]\nkind = \"openai-chat\"\nbase_url = \"http://{address}/v1\"\n{keys}\n"
        )
    }

    /// Sets whether every request fails from now on.
    pub(crate) fn set_failing(&self, failing: bool) {
        self.ledger.failing.store(failing, Ordering::SeqCst);
    }

    /// Returns when requests arrived, in seconds since 1970.
    pub(crate) fn requests(&self) -> Vec<f64> {
        self.asked().into_iter().map(|asked| asked.at).collect()
    }

    /// Returns every request so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.ledger.requests.lock().unwrap().clone()
    }

    /// Returns how many requests arrived from runs that are chosen by their ids.
    pub(crate) fn count_of(&self, is_chosen: impl Fn(&str) -> bool) -> usize {
        let requests = self.ledger.requests.lock().unwrap();
        let mut chosen = 0;
        for asked in requests.iter() {
            chosen += usize::from(is_chosen(&asked.run));
        }
        chosen
    }

    /// Returns how many requests arrived.
    pub(crate) fn count(&self) -> usize {
        self.ledger.requests.lock().unwrap().len()
    }

    /// Returns every answer so far.
    pub(crate) fn answers(&self) -> Vec<Answer> {
        self.ledger.answers.lock().unwrap().clone()
    }

    /// Returns when this turn of this run was first answered.
    pub(crate) fn answered(&self, run: &str, turn: usize) -> Option<f64> {
        let answers = self.ledger.answers.lock().unwrap();
        let mut of_turn = answers
            .iter()
            .filter(|answer| answer.turn == turn && answer.run == run);
        of_turn.next().map(|answer| answer.at)
    }

    /// Returns how many runs have an answer to this turn.
    pub(crate) fn runs_with_turn(&self, turn: usize) -> usize {
        let answers = self.ledger.answers.lock().unwrap();
        let runs: BTreeSet<&str> = answers
            .iter()
            .filter(|answer| answer.turn == turn)
            .map(|answer| answer.run.as_str())
            .collect();
        runs.len()
    }
}

fn run_of(request: &Value) -> String {
    let mut messages = chat::messages(request).iter();
    let prompt = messages.find(|message| message["role"] == "user").unwrap();
    let prompt = chat::content(prompt);
    prompt.split(' ').next().unwrap_or_default().to_owned()
}
