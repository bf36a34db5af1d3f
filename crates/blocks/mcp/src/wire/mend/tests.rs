use serde_json::json;

use super::*;

fn mended(asked: Asked, result: Value) -> Value {
    serde_json::to_value(mend(asked, result).unwrap()).unwrap()
}

#[test]
fn a_call_keeps_what_fits_and_has_the_rest_as_text() {
    let read = mended(
        Asked::Call,
        json!({"content": [{"type": "text", "text": "a"}, {"type": "x"}]}),
    );
    assert_eq!(read["content"][0]["text"], "a");
    assert_eq!(read["content"][1]["text"], r#"{"type":"x"}"#);
}
