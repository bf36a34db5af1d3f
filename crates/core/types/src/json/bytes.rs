//! How long values are.

use std::io;

use serde::Serialize;

/// Returns the length of a value's JSON, which is not kept.
///
/// # Errors
///
/// What keeps the value from being written as JSON.
pub fn json_bytes(value: &(impl Serialize + ?Sized)) -> Result<usize, serde_json::Error> {
    struct Count(usize);

    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.saturating_add(bytes.len());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    let mut count = Count(0);
    serde_json::to_writer(&mut count, value)?;
    Ok(count.0)
}
