//! Variables, read one by one.

use std::{env, ffi::OsString, fmt::Display, ops::RangeBounds, str::FromStr};

use crate::error::TelemetryError;

/// Where variables are read from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Environment {
    get: fn(&str) -> Option<OsString>,
}

impl Environment {
    /// Returns the environment of this process.
    pub(crate) fn of_process() -> Self {
        Self {
            get: |variable| env::var_os(variable),
        }
    }

    /// Returns an environment that is made up.
    #[cfg(test)]
    pub(crate) fn made_up(get: fn(&str) -> Option<OsString>) -> Self {
        Self { get }
    }

    /// Returns the value of a variable. An empty one is not set, as OpenTelemetry has it.
    pub(crate) fn text(self, variable: &'static str) -> Result<Option<String>, TelemetryError> {
        let Some(value) = (self.get)(variable) else {
            return Ok(None);
        };
        let value = value
            .into_string()
            .map_err(|_| TelemetryError::of(variable, "it is no UTF-8"))?;
        Ok(Some(value).filter(|value| !value.is_empty()))
    }

    /// Returns the first of these variables that is set, and its value.
    pub(crate) fn first(
        self,
        variables: [&'static str; 2],
    ) -> Result<Option<(&'static str, String)>, TelemetryError> {
        for variable in variables {
            if let Some(value) = self.text(variable)? {
                return Ok(Some((variable, value)));
            }
        }
        Ok(None)
    }

    /// Returns the value of a variable that is a number in a range.
    pub(crate) fn number<T>(
        self,
        variable: &'static str,
        range: impl RangeBounds<T>,
    ) -> Result<Option<T>, TelemetryError>
    where
        T: FromStr + PartialOrd + Display,
    {
        let value = self.text(variable)?;
        value
            .map(|value| number(variable, &value, range))
            .transpose()
    }
}

/// Reads the value of a variable as a number in a range.
pub(crate) fn number<T>(
    variable: &'static str,
    value: &str,
    range: impl RangeBounds<T>,
) -> Result<T, TelemetryError>
where
    T: FromStr + PartialOrd + Display,
{
    let number = value.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| {
        use std::ops::Bound::Included;

        let reason = match (range.start_bound(), range.end_bound()) {
            (Included(from), Included(to)) => format!("it is no number from {from} to {to}"),
            (Included(from), _) => format!("it is no number from {from}"),
            _ => "it is no number".to_owned(),
        };
        TelemetryError::of(variable, reason)
    })
}
