/// Returns the value of an environment variable, without blanks around it; `None` if it is not set, empty, or not
/// Unicode.
///
/// # Examples
///
/// ```
/// assert_eq!(neuron_provider_http::variable("A_VARIABLE_THAT_NOBODY_SETS"), None);
/// ```
#[must_use]
pub fn variable(name: &str) -> Option<String> {
    let value = std::env::var(name).ok()?;
    let value = value.trim();
    (!value.is_empty()).then(|| value.to_owned())
}
