//! Requests to one of a server's two ports, the ingress and the admin API.

use std::time::Duration;

use reqwest::{
    Method, Response, StatusCode,
    header::{ACCEPT, AUTHORIZATION},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use super::{fault::HttpFault, token::Token};

/// The largest answer that is read, in bytes: larger than any page of a list, and than what Restate keeps of a run.
const MAX_ANSWER: usize = 64 * 1024 * 1024;
/// The most bytes of an error that are read.
const MAX_ERROR: usize = 64 * 1024;

/// One of a server's two ports. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct HttpEndpoint {
    http: reqwest::Client,
    url: String,
    token: Option<Token>,
}

/// A request to a port.
pub(super) struct Question<'a> {
    pub(super) method: Method,
    /// The path behind the port's URL.
    pub(super) path: &'a str,
    pub(super) body: Option<&'a Value>,
    /// The server accepts a request with the same key once, and repeats its answer.
    pub(super) idempotency_key: Option<&'a str>,
    /// How long the answer may take. `None` is no limit.
    pub(super) limit: Option<Duration>,
}

/// An answer, and the URL that it came from.
pub(super) struct Reply {
    url: String,
    response: Response,
}

impl HttpEndpoint {
    /// Returns the port at this URL, with a token for whatever demands one in front of it.
    pub(super) fn new(http: reqwest::Client, mut url: String, token: Option<Token>) -> Self {
        url.truncate(url.trim_end_matches('/').len());
        Self { http, url, token }
    }

    /// Sends the request, and repeats it with the token if that is demanded.
    pub(super) async fn ask(&self, question: Question<'_>) -> Result<Reply, HttpFault> {
        let url = format!("{}{}", self.url, question.path);
        let shown = self.token.as_ref();
        let shown = shown.filter(|token| token.is_demanded());
        let mut response = self.send(&url, &question, shown).await?;
        if let (None, Some(token)) = (shown, &self.token)
            && demands_token(&response)
        {
            response = self.send(&url, &question, Some(token)).await?;
            token.was_shown(!demands_token(&response));
        }
        Ok(Reply { url, response })
    }

    async fn send(
        &self,
        url: &str,
        question: &Question<'_>,
        token: Option<&Token>,
    ) -> Result<Response, HttpFault> {
        let mut request = self.http.request(question.method.clone(), url);
        request = request.header(ACCEPT, "application/json");
        if let Some(token) = token {
            request = request.header(AUTHORIZATION, token.header());
        }
        if let Some(body) = question.body {
            request = request.json(body);
        }
        if let Some(key) = question.idempotency_key {
            request = request.header("idempotency-key", key);
        }
        if let Some(limit) = question.limit {
            request = request.timeout(limit);
        }
        request.send().await.map_err(|source| failed(url, source))
    }
}

impl Reply {
    pub(super) fn status(&self) -> StatusCode {
        self.response.status()
    }

    /// Returns the value in a successful answer, or the error in another.
    pub(super) async fn read<T: DeserializeOwned>(self) -> Result<T, HttpFault> {
        let Self { url, mut response } = self;
        let status = response.status();
        let most = match status.is_success() {
            true => MAX_ANSWER,
            false => MAX_ERROR,
        };
        let mut body = Vec::new();
        while let Some(chunk) = response
            .chunk()
            .await
            .map_err(|source| failed(&url, source))?
        {
            let room = most.saturating_sub(body.len());
            body.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
            if chunk.len() > room && status.is_success() {
                return Err(HttpFault::TooLarge { url, most });
            }
            if chunk.len() > room {
                break;
            }
        }
        if !status.is_success() {
            return Err(fault_in(&body, status));
        }
        serde_json::from_slice(&body).map_err(|source| HttpFault::Unreadable { url, source })
    }
}

fn demands_token(response: &Response) -> bool {
    matches!(
        response.status(),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN
    )
}

fn failed(url: &str, source: reqwest::Error) -> HttpFault {
    let url = url.to_owned();
    // The error has the URL once, without what a proxy might have put into it.
    let source = source.without_url();
    if source.is_timeout() {
        HttpFault::NoAnswer { url, source }
    } else {
        HttpFault::Unreachable { url, source }
    }
}

/// Reads an error of the server: that of a handler, or its own.
fn fault_in(body: &[u8], status: StatusCode) -> HttpFault {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Said {
        message: String,
        source: String,
    }
    let said: Said = serde_json::from_slice(body).unwrap_or_default();
    HttpFault::Answered {
        status: status.as_u16(),
        message: if said.message.is_empty() {
            format!("Restate answered {status}")
        } else {
            said.message
        },
        is_of_run: said.source == "invocation",
    }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
    };

    use super::*;

    /// Returns the address of a server that answers without end.
    async fn endless(status: &'static str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut request = [0; 4096];
            let _begun = socket.read(&mut request).await.unwrap();
            let head = format!("HTTP/1.1 {status}\r\nconnection: close\r\n\r\n\"");
            socket.write_all(head.as_bytes()).await.unwrap();
            while socket.write_all(&[b'x'; 64 * 1024]).await.is_ok() {}
        });
        format!("http://{address}")
    }

    async fn read(status: &'static str) -> HttpFault {
        let url = endless(status).await;
        let http = neuron_tls::client_builder().unwrap().build().unwrap();
        let question = Question {
            method: Method::GET,
            path: "/",
            body: None,
            idempotency_key: None,
            limit: None,
        };
        let asked = HttpEndpoint::new(http, url, None).ask(question).await;
        asked.unwrap().read::<Value>().await.unwrap_err()
    }

    #[tokio::test]
    async fn an_answer_without_end_is_an_error_at_its_bound() {
        let fault = read("200 OK").await;
        assert!(matches!(fault, HttpFault::TooLarge { .. }), "{fault:?}");
        let fault = read("500 Oops").await;
        let status = match fault {
            HttpFault::Answered { status, .. } => status,
            other => panic!("{other:?}"),
        };
        assert_eq!(status, 500);
    }
}
