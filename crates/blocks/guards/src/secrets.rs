//! What the keys of vendors look like.

/// What keys and tokens look like that tell what they are, as their vendors document it. Each stands at the edge of a word.
pub(crate) const PATTERNS: [&str; 13] = [
    // Anthropic and OpenAI, project and service keys too.
    r"\bsk-ant-[A-Za-z0-9_-]{20,}",
    r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{32,}",
    // AWS: ids of long-lived and of temporary keys.
    r"\b(?:AKIA|ASIA)[A-Z2-7]{16}\b",
    // GitHub: personal, OAuth, app and refresh tokens, and fine-grained ones.
    r"\bgh[pousr]_[A-Za-z0-9]{36,}\b",
    r"\bgithub_pat_[A-Za-z0-9_]{60,}\b",
    // GitLab.
    r"\bglpat-[A-Za-z0-9_-]{20,}",
    // Google API keys.
    r"\bAIza[A-Za-z0-9_-]{35}",
    // Slack.
    r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
    // Stripe, secret and restricted keys.
    r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}",
    // npm.
    r"\bnpm_[A-Za-z0-9]{36}\b",
    // JSON Web Tokens.
    r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    // Passwords in addresses.
    r"\b[a-z][a-z0-9+.-]*://[^\s/:@]+:[^\s/@]{3,}@",
    // Private keys, whole or cut.
    r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----(?:[\s\S]*?-----END (?:[A-Z]+ )*PRIVATE KEY-----|[\s\S]*)",
];
