use neuron_provider_http::{JsonLines, lenient};
use neuron_types::ProviderError;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Ollama, answer::failure, manage::failure::of_pull};

/// How far a pull has come.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PullProgress {
    /// What the server is doing, in its words, such as `pulling manifest`.
    pub status: String,
    /// The digest of the file that is being fetched, if one is.
    pub digest: Option<String>,
    /// How large that file is, in bytes.
    pub total: Option<u64>,
    /// How much of it is there, in bytes.
    pub completed: Option<u64>,
}

/// A pull under way. Created with [`Ollama::pull`].
///
/// Dropping it makes the server stop. What the server fetched stays there, and another pull continues from it.
#[derive(Debug)]
#[must_use = "the server stops pulling unless its progress is read"]
pub struct Pull {
    lines: JsonLines,
    ollama: Ollama,
    name: String,
    over: bool,
}

#[derive(Debug, Deserialize)]
struct Line {
    #[serde(default, deserialize_with = "lenient")]
    status: String,
    #[serde(default, deserialize_with = "lenient")]
    digest: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    total: Option<u64>,
    #[serde(default, deserialize_with = "lenient")]
    completed: Option<u64>,
    #[serde(default)]
    error: Option<Value>,
}

impl Ollama {
    /// Asks the server to fetch a model from the library, or to update the one that it has.
    ///
    /// ```no_run
    /// use neuron_provider_ollama::{Ollama, models};
    ///
    /// # async fn example() -> Result<(), neuron_types::ProviderError> {
    /// let ollama = Ollama::from_env()?;
    /// let mut pull = ollama.pull(models::QWEN3).await?;
    /// while let Some(progress) = pull.next().await? {
    ///     println!("{}: {:?} of {:?}", progress.status, progress.completed, progress.total);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// It takes as long as it takes: what bounds it is how long the server may be
    /// [silent](crate::OllamaBuilder::idle_timeout), also while it checks a large file.
    ///
    /// # Errors
    ///
    /// As [`Provider::complete_stream`](neuron_types::Provider::complete_stream) where no pull began. A model that does
    /// not exist is an error of the [`Pull`].
    pub async fn pull(&self, name: &str) -> Result<Pull, ProviderError> {
        let http = self.http.at(&["api", "pull"]);
        // Older servers know `name`, newer ones `model`.
        let body = json!({"model": name, "name": name, "stream": true});
        let lines = http
            .lines(&body, |reply| of_pull(failure::read(reply)))
            .await?;
        Ok(Pull {
            lines,
            ollama: self.clone(),
            name: name.to_owned(),
            over: false,
        })
    }
}

impl Pull {
    /// Waits for news; `None` when the model is there.
    ///
    /// # Errors
    ///
    /// [`ModelNotFound`](neuron_types::FailureKind::ModelNotFound) if the library has no such model, a retryable
    /// failure if the server was silent for too long or the connection broke, and what the server reports otherwise.
    /// The pull is over then, and returns `None` from there on.
    pub async fn next(&mut self) -> Result<Option<PullProgress>, ProviderError> {
        if self.over {
            return Ok(None);
        }
        let next = self.read().await;
        self.over |= !matches!(next, Ok(Some(_)));
        next
    }

    /// Waits until the model is there.
    ///
    /// # Errors
    ///
    /// As [`next`](Self::next).
    pub async fn finish(mut self) -> Result<(), ProviderError> {
        while self.next().await?.is_some() {}
        Ok(())
    }

    async fn read(&mut self) -> Result<Option<PullProgress>, ProviderError> {
        let Some(line) = self.lines.next::<Line>().await? else {
            return Err(self.lines.truncated());
        };
        if let Some(error) = &line.error {
            let failure = of_pull(failure::of_line(error));
            return Err(self.lines.failure(failure));
        }
        if line.status == "success" {
            self.ollama.forget(&self.name);
            // What comes behind it is news of nothing.
            return Ok(None);
        }
        Ok(Some(PullProgress {
            status: line.status,
            digest: line.digest,
            total: line.total,
            completed: line.completed,
        }))
    }
}
