//! Free ports of this machine.

use std::{
    env,
    fs::{self, File},
    io,
    net::TcpListener,
    process,
    sync::{
        Mutex,
        atomic::{AtomicU16, Ordering},
    },
};

/// Below the ports that systems give to connections, so that no connection takes one.
const FIRST: u16 = 15_000;
const MANY: u16 = 15_000;

/// The locks of this process's ports, held as long as it lives. Tests of several processes run side by side.
static HELD: Mutex<Vec<File>> = Mutex::new(Vec::new());

/// Returns a free address of this machine, as `host:port`. No other test gets it while this process lives.
///
/// # Panics
///
/// If no port is free.
#[must_use]
pub fn free_address() -> String {
    format!("127.0.0.1:{}", free_port().unwrap())
}

pub(crate) fn free_ports() -> io::Result<[u16; 3]> {
    Ok([free_port()?, free_port()?, free_port()?])
}

fn free_port() -> io::Result<u16> {
    // Processes begin at different places, since they would take the same way otherwise.
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let user = env::var("USER").unwrap_or_default();
    let folder = env::temp_dir().join(format!("neuron-test-ports-{user}"));
    fs::create_dir_all(&folder)?;
    let begin = (process::id() % 1_000 * 15) as u16;
    for _ in 0..MANY {
        let step = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = FIRST + begin.wrapping_add(step) % MANY;
        let file = File::create(folder.join(port.to_string()))?;
        // A process that is not a test may listen there, too.
        if file.try_lock().is_ok() && TcpListener::bind(("127.0.0.1", port)).is_ok() {
            HELD.lock().unwrap().push(file);
            return Ok(port);
        }
    }
    Err(io::Error::other("every port is taken"))
}

#[cfg(test)]
mod tests {
    use super::free_ports;

    #[test]
    fn no_port_is_given_twice() {
        let [a, b, c] = free_ports().unwrap();
        assert!(a != b && b != c && a != c);
        assert!(!free_ports().unwrap().contains(&a));
    }
}
