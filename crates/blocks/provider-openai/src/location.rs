use neuron_types::ImageSource;
use serde::{Serialize, Serializer};

/// Where a picture or document is: an address, or a `data:` URL that is put together as it is written.
#[derive(Debug)]
pub(crate) enum Location<'a> {
    Url(&'a str),
    Data { media_type: &'a str, data: &'a str },
}

impl<'a> From<&'a ImageSource> for Location<'a> {
    fn from(source: &'a ImageSource) -> Self {
        match source {
            ImageSource::Base64 { media_type, data } => Self::Data { media_type, data },
            ImageSource::Url { url } => Self::Url(url),
        }
    }
}

impl Serialize for Location<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Url(url) => serializer.serialize_str(url),
            Self::Data { media_type, data } => {
                serializer.collect_str(&format_args!("data:{media_type};base64,{data}"))
            }
        }
    }
}
