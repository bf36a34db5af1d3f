//! The source of keys and addresses: environment variables.

/// Looks up environment variables. Every `Fn(&str) -> Option<String>` is an environment.
pub trait Environment {
    /// Returns the value of a variable; `None` if it is not set or not text.
    fn variable(&self, name: &str) -> Option<String>;
}

impl<F: Fn(&str) -> Option<String>> Environment for F {
    fn variable(&self, name: &str) -> Option<String> {
        self(name)
    }
}

/// The environment of this process.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProcessEnvironment;

impl Environment for ProcessEnvironment {
    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }
}

/// Returns the value of a variable that is set and not empty.
pub(crate) fn set(environment: &dyn Environment, name: &str) -> Option<String> {
    environment
        .variable(name)
        .filter(|value| !value.trim().is_empty())
}
