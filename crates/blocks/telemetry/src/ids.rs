//! Ids as W3C's trace context writes them.

use opentelemetry::trace::{SpanId, TraceId};

/// Reads 32 hex digits that are not all zero.
pub(crate) fn trace_id(text: &str) -> Option<TraceId> {
    if !is_hex(text, 32) {
        return None;
    }
    TraceId::from_hex(text)
        .ok()
        .filter(|id| *id != TraceId::INVALID)
}

/// Reads 16 hex digits that are not all zero.
pub(crate) fn span_id(text: &str) -> Option<SpanId> {
    if !is_hex(text, 16) {
        return None;
    }
    SpanId::from_hex(text)
        .ok()
        .filter(|id| *id != SpanId::INVALID)
}

/// Returns whether a text is this number of hex digits. The SDK takes shorter ones and signs, too.
fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_short_signed_or_zero_is_no_id() {
        let whole = "0af7651916cd43dd8448eb211c80319c";
        assert_eq!(trace_id(whole).unwrap().to_string(), whole);
        let signed = format!("+{}", &whole[1..]);
        for text in ["", "42", &whole[1..], &signed, &"0".repeat(32)] {
            assert_eq!(trace_id(text), None, "{text}");
        }
        assert_eq!(
            span_id("b7ad6b7169203331").unwrap().to_string(),
            "b7ad6b7169203331"
        );
        for text in ["", "42", "-7ad6b7169203331", &"0".repeat(16), whole] {
            assert_eq!(span_id(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_an_id_or_none(text in "\\PC{0,40}") {
            let hex = text.chars().all(|c| c.is_ascii_hexdigit()) && text.contains(|c| c != '0');
            prop_assert_eq!(trace_id(&text).is_some(), hex && text.len() == 32);
            prop_assert_eq!(span_id(&text).is_some(), hex && text.len() == 16);
        }

        #[test]
        fn every_id_comes_back(trace in 1_u128.., span in 1_u64..) {
            prop_assert_eq!(trace_id(&format!("{trace:032x}")), Some(TraceId::from(trace)));
            prop_assert_eq!(span_id(&format!("{span:016X}")), Some(SpanId::from(span)));
        }
    }
}
