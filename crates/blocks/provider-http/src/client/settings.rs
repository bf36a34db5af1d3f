//! What can be set of every provider alike.

/// Writes the methods that the builders of all provider crates have alike, into the `impl` of a builder that has the fields
/// `http` and `has_key`: `base_url`, `api_key`, `header`, `timeout` and `idle_timeout`.
///
/// The documentation of the first two is the provider's own; `api_key` names the header and what stands before the key.
#[macro_export]
macro_rules! http_settings {
    (
        $(#[$base_url:meta])* base_url;
        $(#[$api_key:meta])* api_key($header:literal, $before:literal);
    ) => {
        $(#[$base_url])*
        pub fn base_url(mut self, base_url: impl Into<String>) -> Self {
            self.http = self.http.base_url(base_url);
            self
        }

        $(#[$api_key])*
        pub fn api_key(mut self, key: impl Into<$crate::ApiKey>) -> Self {
            let key = key.into();
            if !key.is_empty() {
                self.http = self.http.secret_header($header, $before, &key);
                self.has_key = true;
            }
            self
        }

        /// Adds a header to every request. Logs and messages do not show it.
        pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
            self.http = self.http.header(name, value);
            self
        }

        /// Sets whether every request states in its headers which run it is of, and whose that is: see
        /// [`HttpClientBuilder::tag_headers`](neuron_provider_http::HttpClientBuilder::tag_headers). Default is no.
        pub fn tag_headers(mut self, sent: bool) -> Self {
            self.http = self.http.tag_headers(sent);
            self
        }

        /// Sets how long a whole attempt may take, from connecting to the last byte. Default is ten minutes. A stream has no
        /// such bound.
        pub fn timeout(mut self, timeout: ::std::time::Duration) -> Self {
            self.http = self.http.timeout(timeout);
            self
        }

        /// Sets how long a stream may be silent, also before its first byte. Default is five minutes.
        pub fn idle_timeout(mut self, timeout: ::std::time::Duration) -> Self {
            self.http = self.http.idle_timeout(timeout);
            self
        }
    };
}
