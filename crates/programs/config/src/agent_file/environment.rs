//! Where keys and addresses come from.

/// Looks up environment variables. Every `Fn(&str) -> Option<String>` does.
pub trait Environment {
    /// The value of a variable; `None` where it is not set or not text.
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

/// A variable that is set to something.
pub(crate) fn set(environment: &dyn Environment, name: &str) -> Option<String> {
    environment
        .variable(name)
        .filter(|value| !value.trim().is_empty())
}
