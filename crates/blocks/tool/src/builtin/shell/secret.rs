//! Which environment variables are none of a started program's business.

use std::ffi::OsStr;

/// What the names of variables that hold secrets end in, alone or after an underscore.
const SECRET_NAMES: [&str; 8] = [
    "API_KEY",
    "ACCESS_KEY",
    "PRIVATE_KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSPHRASE",
    "CREDENTIALS",
];

/// Whether a variable of this name looks as if it held a secret: its name is, or ends behind an underscore in,
/// `API_KEY`, `ACCESS_KEY`, `PRIVATE_KEY`, `TOKEN`, `SECRET`, `PASSWORD`, `PASSPHRASE` or `CREDENTIALS`.
/// Programs that a model makes this process start do not inherit it.
#[must_use]
pub fn is_secret_variable(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    SECRET_NAMES.iter().any(|secret| {
        name.strip_suffix(secret)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('_'))
    })
}
