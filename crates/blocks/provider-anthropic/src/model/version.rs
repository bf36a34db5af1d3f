/// A version of the Messages API.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApiVersion {
    /// `2026-10-21`: takes no sampling parameters.
    #[default]
    V2026_10_21,
    /// `2023-06-01`: takes `temperature`, `top_p` and `top_k` for models up to 4.6.
    V2023_06_01,
}

impl ApiVersion {
    /// Returns the version as the `anthropic-version` header has it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2026_10_21 => "2026-10-21",
            Self::V2023_06_01 => "2023-06-01",
        }
    }

    pub(crate) const fn takes_sampling(self) -> bool {
        matches!(self, Self::V2023_06_01)
    }
}
