//! Bytes as text.

/// Returns the bytes in hexadecimal, in small letters: two digits each.
///
/// ```
/// assert_eq!(neuron_types::hex(&[0, 10, 255]), "000aff");
/// ```
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    let mut digits = vec![0; bytes.len().saturating_mul(2)];
    for (byte, pair) in bytes.iter().zip(digits.as_chunks_mut().0) {
        *pair = [digit(byte >> 4), digit(byte & 0xf)];
    }
    // Digits are ASCII.
    String::from_utf8(digits).unwrap_or_default()
}

const fn digit(nibble: u8) -> u8 {
    if nibble < 10 {
        b'0' + nibble
    } else {
        b'a' + nibble - 10
    }
}
