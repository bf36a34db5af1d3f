//! What servers say of a request that is longer than the model's context.

/// The words that mean it, in small letters, each with its servers. Two in one entry must both be there.
///
/// From the vendors' documentation and from public reports about their APIs.
const WORDS: &[(&[&str], &str)] = &[
    (
        &["context length"],
        "OpenAI, DeepSeek, OpenRouter, vLLM, SGLang, LM Studio, Fireworks",
    ),
    (&["context window"], "OpenAI, MiniMax, Ollama"),
    (&["context size"], "llama.cpp"),
    (
        &["context limit"],
        "Anthropic, of input and max_tokens together",
    ),
    (&["exceeds the context"], "Ollama"),
    (&["prompt is too long"], "Anthropic, Fireworks"),
    (&["prompt too long"], "Ollama"),
    (&["input is too long"], "Bedrock"),
    (&["input too long"], "DashScope"),
    (&["range of input length"], "DashScope"),
    (&["exceeded model token limit"], "Kimi"),
    (&["maximum prompt length"], "xAI"),
    (&["prompt exceeds max length"], "GLM"),
    (
        &["token count", "exceeds the maximum number of tokens"],
        "Gemini",
    ),
    (&["contextwindowexceeded"], "LiteLLM"),
    (&["reduce the length of the messages"], "Groq, Cerebras"),
    (&["too large for model", "context length"], "Mistral"),
    (&["exceeds the maximum", "input length"], "Poolside"),
    (&["number of tokens", "exceeds the limit"], "Cohere"),
    (&["max_new_tokens", "must be <="], "Together, TGI"),
    (&["inputs", "tokens", "must have less than"], "TGI"),
];

/// Codes that mean it whatever the words, each with its servers.
const CODES: &[(&str, &str)] = &[
    ("context_length_exceeded", "OpenAI, Groq"),
    ("exceed_context_size_error", "llama.cpp"),
    ("request_too_large", "Anthropic"),
    ("ContextWindowExceededError", "LiteLLM"),
    ("1261", "GLM"),
];

/// Returns whether a message says that the request is longer than the model's context.
#[must_use]
pub fn says_too_long(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().all(|word| message.contains(word));
    WORDS.iter().any(|(words, _)| says(words))
}

/// Returns whether an error's code says that the request is longer than the model's context.
#[must_use]
pub fn is_too_long(code: &str) -> bool {
    CODES.iter().any(|(known, _)| *known == code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_each_server_are_known() {
        for message in [
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001.",
            "prompt is too long: 209210 tokens > 200000 maximum",
            "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
            "Your request exceeded model token limit: 262144 (requested: 300000)",
            "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
            "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
            "litellm.ContextWindowExceededError: litellm.BadRequestError: …",
            "Prompt exceeds max length",
            "the request exceeds the available context size (4096 tokens), try increasing it",
            "context window exceeds limit (2013)",
            "prompt too long; exceeded max context length by 3 tokens",
            "Input is too long for requested model.",
            "Input length 131393 exceeds the maximum allowed input length of 131040 tokens.",
            "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]",
            "Please reduce the length of the messages or completion.",
            "`inputs` tokens + `max_new_tokens` must be <= 4097. Given: 5000",
        ] {
            assert!(says_too_long(message), "{message}");
        }
        for code in [
            "context_length_exceeded",
            "1261",
            "exceed_context_size_error",
        ] {
            assert!(is_too_long(code), "{code}");
        }
    }

    #[test]
    fn what_is_wrong_otherwise_is_not_too_long() {
        for message in [
            "",
            "Too many tokens, please wait before trying again.",
            "messages: text content blocks must be non-empty",
            "max_tokens: 200000 > 128000, which is the maximum allowed number of output tokens",
            "Request too large for model on tokens per minute (TPM): Limit 6000, Requested 7000",
        ] {
            assert!(!says_too_long(message), "{message}");
        }
    }
}
