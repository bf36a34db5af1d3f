//! A request to a server that asks before it answers: each time it is made again with what was asked for.

use std::time::Duration;

use neuron_types::{FormRequest, Resumed};
use rmcp::model::{ClientRequest, InputResponses, ServerResult};
use serde_json::Value;
use tokio::time;

use crate::{
    ElicitationAnswer, ElicitationForm, ElicitationRequest, McpClient, McpError,
    client::connection::How,
    handler::{roots, sampling},
    wire::{
        carried::Carried,
        input::{self, Asked, MAX_STATE_BYTES},
    },
};

/// How often a server may ask before it answers one request.
const MAX_ROUNDS: u32 = 20;
/// How often a model answers it meanwhile.
const MAX_MODEL_ANSWERS: u32 = 20;
/// How long a server is left alone that asks for nothing but to be called again, at first and at most.
const PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// A request, and how far it has come.
pub(crate) struct Rounds {
    request: ClientRequest,
    rounds: u32,
    model_answers: u32,
    pause: Duration,
}

/// The result of a request.
pub(crate) enum Came {
    To(Box<ServerResult>),
    /// The server asks a person. The request continues with the answers.
    ToForm(Vec<FormRequest>, Carried),
}

impl Rounds {
    /// Takes a request of a tool, a prompt or a resource: a server does not ask about others.
    pub(crate) fn new(request: ClientRequest) -> Self {
        Self {
            request,
            rounds: 0,
            model_answers: 0,
            pause: PAUSE,
        }
    }

    /// Continues with a person's answers.
    pub(crate) fn resume(&mut self, carried: Carried, resumed: &Resumed) {
        let responses = carried.responses(resumed);
        self.rounds = carried.rounds;
        self.hand_back(responses, carried.request_state);
    }

    /// Makes the request until the server answers it or asks a person.
    ///
    /// # Errors
    ///
    /// As [`McpClient::ping`], [`McpError::Cancelled`], those of the handler, and [`McpError::Protocol`] for a
    /// server that asks too much or what it was not offered.
    pub(crate) async fn go(&mut self, client: &McpClient, how: &How<'_>) -> Result<Came, McpError> {
        loop {
            let required = match client.ask(self.request.clone(), how).await? {
                ServerResult::InputRequiredResult(required) => required,
                answer => return Ok(Came::To(Box::new(answer))),
            };
            self.rounds += 1;
            if self.rounds > MAX_ROUNDS {
                let reason = format!("it asked {MAX_ROUNDS} times and did not answer");
                return Err(client.nonsense(&reason));
            }
            let asked = input::sort(required).map_err(|reason| client.nonsense(&reason))?;
            if !asked.forms.is_empty() && !client.handler().offers_elicitation() {
                return Err(client.nonsense("it asks a person, which it was not offered"));
            }
            let asks_nothing =
                asked.forms.is_empty() && asked.sampling.is_empty() && asked.roots.is_empty();
            if asks_nothing {
                unless_cancelled(how, self.pause()).await?;
            }
            let Asked {
                forms,
                sampling,
                roots,
                state,
            } = asked;
            let answers = self.answer(client, how, sampling, roots).await?;
            if !forms.is_empty() {
                // The server asks again for what is too much to be kept.
                let answers = match is_small(&answers) {
                    true => answers,
                    false => InputResponses::default(),
                };
                let carried = Carried::new(self.rounds, state, &forms, answers);
                return Ok(Came::ToForm(forms, carried));
            }
            self.hand_back(answers, state);
        }
    }

    /// As [`Rounds::go`] for what no ticket can be opened for: the handler asks the person meanwhile.
    pub(crate) async fn go_to_the_end(
        mut self,
        client: &McpClient,
        how: &How<'_>,
    ) -> Result<ServerResult, McpError> {
        loop {
            let (forms, carried) = match self.go(client, how).await? {
                Came::To(answer) => return Ok(*answer),
                Came::ToForm(forms, carried) => (forms, carried),
            };
            let mut resumed = Resumed::default();
            for form in forms {
                let key = form.key.clone();
                let request = elicitation(client, form);
                let answer = client.handler().handle_elicitation_request(request);
                match unless_cancelled(how, answer).await? {
                    ElicitationAnswer::Accept(fields) => {
                        resumed.answers.insert(key, Value::Object(fields));
                    }
                    ElicitationAnswer::Decline => {
                        resumed.answers.insert(key, Value::Null);
                    }
                    ElicitationAnswer::Cancel => {}
                }
            }
            self.resume(carried, &resumed);
        }
    }

    /// Answers what needs no person.
    async fn answer(
        &mut self,
        client: &McpClient,
        how: &How<'_>,
        asked: Vec<sampling::Asked>,
        folders: Vec<String>,
    ) -> Result<InputResponses, McpError> {
        let mut answers = InputResponses::default();
        let handler = client.handler();
        for (key, asked) in asked {
            if !handler.offers_sampling() {
                return Err(client.nonsense("it asks a model, which it was not offered"));
            }
            self.model_answers += 1;
            if self.model_answers > MAX_MODEL_ANSWERS {
                let reason = format!("a server may ask {MAX_MODEL_ANSWERS} times for a request");
                return Err(McpError::Handler(reason));
            }
            let request = sampling::request(client.name(), asked);
            let response = unless_cancelled(how, handler.handle_sampling_request(request)).await?;
            answers.insert(key, value(&sampling::answer(response)?));
        }
        for key in folders {
            answers.insert(key, value(&roots::answer(handler)));
        }
        Ok(answers)
    }

    fn hand_back(&mut self, responses: InputResponses, state: Option<String>) {
        let responses = (!responses.is_empty()).then_some(responses);
        let (to_responses, to_state) = match &mut self.request {
            ClientRequest::CallToolRequest(request) => (
                &mut request.params.input_responses,
                &mut request.params.request_state,
            ),
            ClientRequest::GetPromptRequest(request) => (
                &mut request.params.input_responses,
                &mut request.params.request_state,
            ),
            ClientRequest::ReadResourceRequest(request) => (
                &mut request.params.input_responses,
                &mut request.params.request_state,
            ),
            _ => return,
        };
        *to_responses = responses;
        *to_state = state;
    }

    async fn pause(&mut self) -> Result<(), McpError> {
        time::sleep(self.pause).await;
        self.pause = self.pause.saturating_mul(2).min(LONGEST_PAUSE);
        Ok(())
    }
}

fn elicitation(client: &McpClient, form: FormRequest) -> ElicitationRequest {
    ElicitationRequest {
        server: client.name().to_owned(),
        message: form.message,
        form: match form.url {
            Some(url) => ElicitationForm::Visit(url),
            None => ElicitationForm::Fields(form.schema.unwrap_or_default()),
        },
    }
}

fn value<T: serde::Serialize>(answer: &T) -> Value {
    serde_json::to_value(answer).unwrap_or_default()
}

fn is_small(answers: &InputResponses) -> bool {
    serde_json::to_vec(answers).is_ok_and(|answers| answers.len() <= MAX_STATE_BYTES)
}

async fn unless_cancelled<T>(
    how: &How<'_>,
    work: impl Future<Output = Result<T, McpError>>,
) -> Result<T, McpError> {
    let Some(token) = how.cancel else {
        return work.await;
    };
    tokio::select! {
        biased;
        done = work => done,
        () = token.cancelled() => Err(McpError::Cancelled),
    }
}
