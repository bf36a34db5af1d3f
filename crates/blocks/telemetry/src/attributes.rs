//! Typed attributes, made of fields.

use std::fmt;

use opentelemetry::{KeyValue, Value};

use crate::names;

/// The attributes of a span or of a measurement. The last value of a name counts.
#[derive(Debug)]
pub(crate) struct Attributes {
    all: Vec<KeyValue>,
    most: usize,
    dropped: u32,
}

impl Attributes {
    /// Returns attributes that are empty yet, and have at most this number.
    pub(crate) fn of_at_most(most: usize) -> Self {
        Self {
            all: Vec::new(),
            most,
            dropped: 0,
        }
    }

    /// Sets the attribute of this field. An empty text sets nothing.
    pub(crate) fn set(&mut self, field: &'static str, value: Value) {
        if matches!(&value, Value::String(text) if text.as_str().is_empty()) {
            return;
        }
        let name = names::attribute(field);
        let mut all = self.all.iter_mut();
        if let Some(known) = all.find(|known| known.key.as_str() == name) {
            known.value = value;
        } else if self.all.len() < self.most {
            self.all.push(KeyValue::new(name, value));
        } else {
            self.dropped = self.dropped.saturating_add(1);
        }
    }

    /// Returns them, and how many there was no room for.
    pub(crate) fn into_parts(self) -> (Vec<KeyValue>, u32) {
        (self.all, self.dropped)
    }
}

/// Returns the value of a number that OpenTelemetry may have no type for.
pub(crate) fn of_u64(number: u64) -> Value {
    i64::try_from(number).map_or_else(|_| Value::from(number.to_string()), Value::from)
}

/// Returns what a value is written as.
pub(crate) fn written(value: &dyn fmt::Debug) -> String {
    format!("{value:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_counts_and_empty_texts_do_not() {
        let mut attributes = Attributes::of_at_most(9);
        attributes.set("turn", 1_i64.into());
        attributes.set("turn", 2_i64.into());
        attributes.set("server.address", "".into());

        let (all, dropped) = attributes.into_parts();

        assert_eq!(all, [KeyValue::new("neuron.turn", 2_i64)]);
        assert_eq!(dropped, 0);
    }

    #[test]
    fn what_there_is_no_room_for_is_counted() {
        let mut attributes = Attributes::of_at_most(1);
        attributes.set("a", true.into());
        attributes.set("b", true.into());
        attributes.set("a", 0.5.into());

        let (all, dropped) = attributes.into_parts();

        assert_eq!(all, [KeyValue::new("a", 0.5)]);
        assert_eq!(dropped, 1);
    }

    #[test]
    fn a_number_that_is_too_large_is_a_text() {
        assert_eq!(of_u64(7), Value::from(7_i64));
        assert_eq!(of_u64(u64::MAX), Value::from(u64::MAX.to_string()));
    }
}
