//! Where a run that another one started sends its end.

use neuron_types::RunId;
use restate_sdk::context::HeaderMap;
use serde::{Deserialize, Serialize};

/// The header of a request for a run that contains an [`EndAddress`].
pub(crate) const HEADER: &str = "neuron-end-address";

/// The beginning of the names of these signals. A request from outside can name no other signal of an invocation.
pub(crate) const PREFIX: &str = "end-";

/// The signal by which a run's end reaches the invocation that started it, without the inbox between them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EndAddress {
    /// The run that started it.
    pub(crate) run: RunId,
    /// The first invocation of that run, which is in progress as long as the run is.
    pub(crate) invocation: String,
    pub(crate) signal: String,
}

impl EndAddress {
    /// Reads the address from the headers of a request. Without one that this build can read, the end takes the way by
    /// the inbox.
    pub(crate) fn of_headers(headers: &HeaderMap) -> Option<Self> {
        let address: Self = serde_json::from_str(headers.get(HEADER)?).ok()?;
        let id = address.invocation.strip_prefix("inv_")?;
        // The server fails the sender of a signal to what is no invocation.
        let is_id = !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric());
        (is_id && address.signal.starts_with(PREFIX)).then_some(address)
    }

    /// Returns the content of the header.
    pub(crate) fn to_header(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_it_was_written_and_another_header_is_no_address() {
        let to = |signal: &str| EndAddress {
            run: RunId::new("lead").unwrap(),
            invocation: "inv_1a".to_owned(),
            signal: signal.to_owned(),
        };
        let address = to("end-1");
        let mut headers = HeaderMap::default();
        assert_eq!(EndAddress::of_headers(&headers), None);
        drop(headers.insert(HEADER, address.to_header().unwrap()));
        assert_eq!(EndAddress::of_headers(&headers), Some(address));
        let nowhere = EndAddress {
            invocation: "nowhere".to_owned(),
            ..to("end-1")
        };
        let wrong = [nowhere, to("cancelled")].map(|to| to.to_header().unwrap());
        for other in wrong.into_iter().chain(["inv_1a".to_owned()]) {
            drop(headers.insert(HEADER, other));
            assert_eq!(EndAddress::of_headers(&headers), None);
        }
    }
}
