//! A connection that retries requests until the server is back.

use std::time::Duration;

use temporalio_client::{ClientKeepAliveOptions, ConnectionOptions};

/// How long connecting may take. Lost packets are sent again at growing intervals, so another attempt connects sooner.
const CONNECT: Duration = Duration::from_secs(5);

/// The interval of keep-alive pings. The server closes a connection with more than one ping per 10 s.
const ASKED: Duration = Duration::from_secs(12);

/// How long the answer to a ping may take. A request in the SDK has 30 s, and is not retried after that. So a
/// connection on which nothing arrives has to break earlier: a request on a broken connection is retried.
const ANSWERED: Duration = Duration::from_secs(10);

/// Retries requests for this long while the server is away, whatever the form: the server rejects connections, it is
/// silent, or no packet arrives.
pub(super) fn patient(connection: &mut ConnectionOptions, patience: Duration) {
    let retries = &mut connection.retry_options;
    retries.max_elapsed_time = Some(patience);
    retries.max_retries = usize::MAX;
    connection.connect_timeout = Some(CONNECT);
    let asked = ClientKeepAliveOptions::builder().interval(ASKED);
    connection.keep_alive = Some(asked.timeout(ANSWERED).build());
}

#[cfg(test)]
mod tests {
    use temporalio_client::{Connection, Url};
    use tokio::{io::AsyncReadExt as _, net::TcpListener, time::Instant};

    use super::*;

    /// How long a request may take in the SDK.
    const REQUEST: Duration = Duration::from_secs(30); // Of a clock that is paused.

    fn options(port: u16) -> ConnectionOptions {
        let url: Url = format!("http://127.0.0.1:{port}").parse().unwrap();
        let mut options = ConnectionOptions::new(url).build();
        patient(&mut options, Duration::from_secs(90)); // Only set, never waited for.
        options
    }

    /// Reads a connection to its end, and returns the types of its frames.
    async fn frames(listener: &TcpListener) -> Vec<u8> {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut sent = Vec::new();
        // The connection may be reset.
        stream.read_to_end(&mut sent).await.ok();
        let mut left = &sent[b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".len()..];
        let mut types = Vec::new();
        while let [a, b, c, kind, _, _, _, _, _, rest @ ..] = left {
            types.push(*kind);
            let length = usize::from(*a) << 16 | usize::from(*b) << 8 | usize::from(*c);
            left = &rest[length..];
        }
        types
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_on_which_nothing_comes_back_breaks_before_its_requests_time_out() {
        const PING: u8 = 6;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let begun = Instant::now();
        let connecting = Connection::connect(options(listener.local_addr().unwrap().port()));
        let ended = async {
            let failed = connecting.await.err();
            (failed, begun.elapsed())
        };
        let (sent, (failed, after)) = tokio::join!(frames(&listener), ended);
        assert!(sent.contains(&PING), "{sent:?}");
        assert!(failed.is_some());
        assert!((ASKED + ANSWERED..REQUEST).contains(&after), "{after:?}");
    }

    #[test]
    fn a_connection_that_cannot_be_made_is_tried_again_soon() {
        let options = options(7233);
        assert_eq!(options.connect_timeout, Some(CONNECT));
        // The longest delay between two attempts in the SDK.
        assert!(CONNECT <= options.retry_options.max_interval);
    }
}
