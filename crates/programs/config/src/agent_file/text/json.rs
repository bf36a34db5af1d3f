//! TOML as JSON, for values that are passed on uninterpreted.

use serde_json::{Map, Number, Value};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// Returns the table as a JSON object. The error is the offset of the first value that JSON cannot express.
pub(crate) fn object(table: &DeTable<'_>) -> Result<Value, usize> {
    let fields = table.iter().map(|(name, entry)| {
        let name = name.get_ref().clone().into_owned();
        Ok((name, value(entry)?))
    });
    fields.collect::<Result<Map<_, _>, _>>().map(Value::Object)
}

fn value(entry: &Spanned<DeValue<'_>>) -> Result<Value, usize> {
    let value = match entry.get_ref() {
        DeValue::String(text) => Some(Value::from(text.as_ref())),
        DeValue::Boolean(value) => Some(Value::from(*value)),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .ok()
            .map(Value::from),
        DeValue::Float(number) => {
            let number = number.as_str().parse().ok();
            number.and_then(Number::from_f64).map(Value::Number)
        }
        DeValue::Array(items) => Some(items.iter().map(self::value).collect::<Result<_, _>>()?),
        DeValue::Table(table) => Some(object(table)?),
        DeValue::Datetime(_) => None,
    };
    value.ok_or_else(|| entry.span().start)
}
