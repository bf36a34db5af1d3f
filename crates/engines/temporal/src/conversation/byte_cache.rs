//! A cache that is bounded in bytes.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Values of known sizes. The least recently used ones are dropped first.
#[derive(Debug)]
pub(crate) struct ByteCache<K, V> {
    max_bytes: usize,
    entries: Mutex<Entries<K, V>>,
}

#[derive(Debug)]
struct Entries<K, V> {
    by_key: HashMap<K, Entry<V>>,
    bytes: usize,
    uses: u64,
}

#[derive(Debug)]
struct Entry<V> {
    value: V,
    bytes: usize,
    used: u64,
}

impl<K: Hash + Eq + Clone, V> ByteCache<K, V> {
    /// Returns a cache of so many bytes. With 0 nothing is remembered.
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self {
            max_bytes,
            entries: Mutex::new(Entries {
                by_key: HashMap::new(),
                bytes: 0,
                uses: 0,
            }),
        }
    }

    /// Takes a value out, so that it has one user.
    pub(crate) fn take(&self, key: &K) -> Option<V> {
        let mut entries = self.entries();
        let entry = entries.by_key.remove(key)?;
        entries.bytes -= entry.bytes;
        Some(entry.value)
    }

    /// Returns a copy of a value.
    pub(crate) fn get(&self, key: &K) -> Option<V>
    where
        V: Clone,
    {
        let mut entries = self.entries();
        entries.uses += 1;
        let used = entries.uses;
        let entry = entries.by_key.get_mut(key)?;
        entry.used = used;
        Some(entry.value.clone())
    }

    /// Adds a value of so many bytes, unless it is larger than the cache.
    pub(crate) fn put(&self, key: K, value: V, bytes: usize) {
        if bytes > self.max_bytes || self.max_bytes == 0 {
            return;
        }
        let mut entries = self.entries();
        entries.uses += 1;
        let used = entries.uses;
        let entry = Entry { value, bytes, used };
        entries.bytes += bytes;
        if let Some(replaced) = entries.by_key.insert(key, entry) {
            entries.bytes -= replaced.bytes;
        }
        while entries.bytes > self.max_bytes {
            let oldest = entries.by_key.iter().min_by_key(|(_, entry)| entry.used);
            let Some(key) = oldest.map(|(key, _)| key.clone()) else {
                return;
            };
            if let Some(evicted) = entries.by_key.remove(&key) {
                entries.bytes -= evicted.bytes;
            }
        }
    }

    fn entries(&self) -> MutexGuard<'_, Entries<K, V>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forgets_what_was_used_longest_ago() {
        let cache = ByteCache::new(1_000);
        cache.put("a", 1, 400);
        cache.put("b", 2, 400);
        assert_eq!(cache.get(&"a"), Some(1));
        cache.put("c", 3, 400);
        assert_eq!(cache.take(&"b"), None);
        assert_eq!(cache.take(&"a"), Some(1));
        assert_eq!(cache.take(&"c"), Some(3));
        assert_eq!(cache.entries().bytes, 0);
    }

    #[test]
    fn a_value_in_the_place_of_another_counts_once() {
        let cache = ByteCache::new(1_000);
        cache.put("a", 1, 900);
        cache.put("a", 2, 100);
        cache.put("b", 3, 900);
        assert_eq!((cache.get(&"a"), cache.get(&"b")), (Some(2), Some(3)));
    }

    #[test]
    fn remembers_nothing_that_is_larger_than_it_is() {
        let cache = ByteCache::new(100);
        cache.put("a", 1, 400);
        assert_eq!(cache.take(&"a"), None);
        let none = ByteCache::new(0);
        none.put("a", 1, 0);
        assert_eq!(none.take(&"a"), None);
    }
}
