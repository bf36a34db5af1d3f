//! What a call keeps while a person fills in a form, and the answers that it continues with.

use std::collections::BTreeMap;

use neuron_types::{FormRequest, Resumed};
use rmcp::model::InputResponses;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What a call is handed again that asked a form. It is kept with the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Carried {
    /// How often the server asked, this time included.
    pub(crate) rounds: u32,
    /// What the server is handed back, as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) request_state: Option<String>,
    /// What the person was asked.
    asked: BTreeMap<String, Answered>,
    /// What was asked with it and is answered.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    answers: InputResponses,
}

/// Where something is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answered {
    Here,
    /// On a page: what is said there is not this side's to know.
    Elsewhere,
}

impl Carried {
    pub(crate) fn new(
        rounds: u32,
        request_state: Option<String>,
        forms: &[FormRequest],
        answers: InputResponses,
    ) -> Self {
        let asked = forms.iter().map(|form| match form.url {
            Some(_) => (form.key.clone(), Answered::Elsewhere),
            None => (form.key.clone(), Answered::Here),
        });
        Self {
            rounds,
            request_state,
            asked: asked.collect(),
            answers,
        }
    }

    /// Returns what the server gets: an answer to everything that it asked. A person who declined declined all of it;
    /// null declines one thing, and what has no answer is cancelled.
    pub(crate) fn responses(&self, resumed: &Resumed) -> InputResponses {
        let mut responses = self.answers.clone();
        for (key, kind) in &self.asked {
            let answer = resumed.answers.get(key);
            let response = match (kind, answer) {
                _ if resumed.declined => json!({"action": "decline"}),
                (_, Some(Value::Null | Value::Bool(false))) => json!({"action": "decline"}),
                (Answered::Here, Some(fields @ Value::Object(_))) => {
                    json!({"action": "accept", "content": fields})
                }
                (Answered::Elsewhere, Some(_)) => json!({"action": "accept"}),
                (Answered::Here, _) | (Answered::Elsewhere, None) => json!({"action": "cancel"}),
            };
            responses.insert(key.clone(), response);
        }
        responses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(key: &str, url: Option<&str>) -> FormRequest {
        FormRequest {
            key: key.into(),
            url: url.map(Into::into),
            ..FormRequest::default()
        }
    }

    fn resumed(answers: Value) -> Resumed {
        Resumed {
            answers: serde_json::from_value(answers).unwrap(),
            ..Resumed::default()
        }
    }

    #[test]
    fn everything_that_was_asked_gets_an_answer_and_nothing_else_does() {
        let forms = [
            form("a", None),
            form("b", None),
            form("c", None),
            form("page", Some("https://example.com")),
        ];
        let model = BTreeMap::from([("m".to_owned(), json!(1))]);
        let carried = Carried::new(3, Some("state".into()), &forms, model);
        let kept = serde_json::to_value(&carried).unwrap();
        let carried: Carried = serde_json::from_value(kept).unwrap();
        let answers = json!({"a": {"n": "Ada"}, "b": null, "page": {"secret": 1}, "other": {}});
        assert_eq!(
            json!(carried.responses(&resumed(answers))),
            json!({
                "a": {"action": "accept", "content": {"n": "Ada"}},
                "b": {"action": "decline"},
                "c": {"action": "cancel"},
                "page": {"action": "accept"},
                "m": 1,
            })
        );
        let declined = Resumed {
            declined: true,
            ..resumed(json!({"a": {"n": "Ada"}}))
        };
        let responses = carried.responses(&declined);
        for key in ["a", "b", "c", "page"] {
            assert_eq!(responses[key], json!({"action": "decline"}));
        }
    }
}
