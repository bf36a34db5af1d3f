use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value};

/// Writes the top level of a request body, field by field, from borrowed data.
///
/// The fields of `extra` come last. Where a field of the same name is written too, the one in `extra`
/// replaces it whole: nothing is merged deeper than the top level, and no name is written twice.
///
/// ```
/// use neuron_provider_http::BodyWriter;
/// use serde::{Serialize, Serializer};
/// use serde_json::{Map, Value};
///
/// struct Body<'a> {
///     model: &'a str,
///     extra: Option<&'a Map<String, Value>>,
/// }
///
/// impl Serialize for Body<'_> {
///     fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
///         let mut body = BodyWriter::begin(serializer, self.extra)?;
///         body.field("model", self.model)?;
///         body.field("store", &false)?;
///         body.end()
///     }
/// }
///
/// let extra = Map::from_iter([("store".to_owned(), Value::Bool(true))]);
/// let body = Body { model: "m", extra: Some(&extra) };
/// assert_eq!(serde_json::to_string(&body).unwrap(), r#"{"model":"m","store":true}"#);
/// ```
#[derive(Debug)]
pub struct BodyWriter<'a, M> {
    map: M,
    extra: Option<&'a Map<String, Value>>,
}

impl<'a, M: SerializeMap> BodyWriter<'a, M> {
    /// Starts a body.
    ///
    /// # Errors
    ///
    /// The serialiser's.
    pub fn begin<S>(serializer: S, extra: Option<&'a Map<String, Value>>) -> Result<Self, S::Error>
    where
        S: Serializer<SerializeMap = M>,
    {
        let map = serializer.serialize_map(None)?;
        Ok(Self { map, extra })
    }

    /// Writes one field, unless `extra` has it.
    ///
    /// # Errors
    ///
    /// The serialiser's.
    pub fn field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), M::Error> {
        if self.extra.is_some_and(|extra| extra.contains_key(name)) {
            return Ok(());
        }
        self.map.serialize_entry(name, value)
    }

    /// Writes one field if it has a value and `extra` does not have it.
    ///
    /// # Errors
    ///
    /// The serialiser's.
    pub fn optional<T: Serialize>(
        &mut self,
        name: &str,
        value: Option<&T>,
    ) -> Result<(), M::Error> {
        match value {
            Some(value) => self.field(name, value),
            None => Ok(()),
        }
    }

    /// Writes the fields of `extra` and ends the body.
    ///
    /// # Errors
    ///
    /// The serialiser's.
    pub fn end(mut self) -> Result<M::Ok, M::Error> {
        for (name, value) in self.extra.into_iter().flatten() {
            self.map.serialize_entry(name, value)?;
        }
        self.map.end()
    }
}
