//! What the beginning of a body shows, whatever its type says.

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// What a body is, as far as its first letter shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// There is nothing but blanks so far.
    Blank,
    /// JSON, or lines of it.
    Json,
    /// A page for people.
    Page,
    /// Events, or anything else.
    Other,
}

impl Shape {
    pub(crate) fn of(body: &[u8]) -> Self {
        let body = body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(body);
        match body.trim_ascii_start().first() {
            None => Self::Blank,
            Some(b'{' | b'[') => Self::Json,
            Some(b'<') => Self::Page,
            Some(_) => Self::Other,
        }
    }
}
