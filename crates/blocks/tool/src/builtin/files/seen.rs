//! Whether a file is still as the person saw it who approved a change of it.

use std::{
    io::{self, Read},
    path::Path,
};

use neuron_types::{ToolError, hex};
use sha2::{Digest as _, Sha256};

use crate::builtin::files::{error::cannot, open};

/// What a file holds that is not there.
const ABSENT: &str = "absent";

/// Returns the hash of what a file holds; `None` is a file that is not there.
pub(crate) fn fingerprint(content: Option<&[u8]>) -> String {
    let Some(content) = content else {
        return ABSENT.to_owned();
    };
    format!("sha256:{}", hex(&Sha256::digest(content)))
}

/// Fails if the file holds something else than what was approved; `None` where no person was shown it.
pub(crate) fn check_seen(
    approved: Option<&str>,
    content: Option<&[u8]>,
    shown: &str,
) -> Result<(), ToolError> {
    match approved {
        Some(approved) if approved != fingerprint(content) => Err(ToolError::ModelRetry(format!(
            "{shown} changed since the call was approved, so nothing was done; look at the file and call again"
        ))),
        _ => Ok(()),
    }
}

/// Returns what the file at this real path holds; `None` if it is not there.
pub(crate) fn content_of(path: &Path, shown: &str) -> Result<Option<Vec<u8>>, ToolError> {
    let read = || -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        open::file(path)?.read_to_end(&mut content)?;
        Ok(content)
    };
    match read() {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(cannot("read", shown)(error)),
    }
}
