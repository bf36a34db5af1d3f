//! What every HTTP provider does the same: one attempt, timeouts, retry-after, bounded error bodies, redacted keys.
