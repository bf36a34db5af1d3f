use std::mem;

/// How deep a JSON text is nested at its end.
#[derive(Debug, Clone, Default)]
pub(super) struct Nesting {
    depth: usize,
    has_begun: bool,
    in_string: bool,
    is_escaped: bool,
    first: Option<u8>,
    /// How many bytes are no space.
    ink: usize,
}

impl Nesting {
    pub(super) fn of(text: &str) -> Self {
        let mut nesting = Self::default();
        nesting.read(text);
        nesting
    }

    pub(super) fn read(&mut self, more: &str) {
        for byte in more.bytes() {
            if !byte.is_ascii_whitespace() {
                self.first = self.first.or(Some(byte));
                self.ink += 1;
            }
            match byte {
                _ if mem::take(&mut self.is_escaped) => {}
                b'\\' if self.in_string => self.is_escaped = true,
                b'"' => self.in_string ^= true,
                b'{' | b'[' if !self.in_string => {
                    self.depth += 1;
                    self.has_begun = true;
                }
                b'}' | b']' if !self.in_string => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }

    /// Returns whether an object or list has begun.
    pub(super) const fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Returns whether an object or list has ended.
    pub(super) const fn is_whole(&self) -> bool {
        self.has_begun && self.depth == 0
    }

    /// Returns whether there are but spaces.
    pub(super) const fn is_blank(&self) -> bool {
        self.ink == 0
    }

    /// Returns whether this is an object that holds nothing.
    pub(super) fn is_empty_object(&self) -> bool {
        self.ink == 2 && self.is_whole() && self.first == Some(b'{')
    }
}
