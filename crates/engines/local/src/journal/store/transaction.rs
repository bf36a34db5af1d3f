//! Transactions that write.

use std::ops::Deref;

use rusqlite::Connection;

use crate::journal::store::error::JournalError;

/// A transaction that writes. If it is dropped before it is committed, it is rolled back.
///
/// Unlike rusqlite's own, it is begun and committed by statements that are prepared once for each connection.
pub(crate) struct Transaction<'a> {
    connection: &'a Connection,
}

impl<'a> Transaction<'a> {
    /// Begins the transaction as a writer, so that it waits for the lock at once, when waiting is still possible.
    pub(crate) fn begin(connection: &'a mut Connection) -> Result<Self, JournalError> {
        connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        Ok(Self { connection })
    }

    pub(crate) fn commit(self) -> Result<(), JournalError> {
        self.connection.prepare_cached("COMMIT")?.execute([])?;
        Ok(())
    }
}

impl Deref for Transaction<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        // Some errors have rolled it back.
        if !self.connection.is_autocommit() {
            drop(self.connection.execute_batch("ROLLBACK"));
        }
    }
}
