//! `http://host:port/path?query`, taken apart.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};

use http::Uri;

/// A URL that can be asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    /// As it was typed.
    pub text: String,
    /// `user:password` before the host.
    pub credentials: Option<String>,
    /// Host, without brackets.
    pub host: String,
    /// Port, 80 if none was typed.
    pub port: u16,
    /// Path and query, `/` if none was typed; never a fragment.
    pub path: String,
}

/// Why a text is no URL that can be asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// Not a URL.
    #[error("'{0}' is not a URL; write it as http://HOST[:PORT]/PATH")]
    NotAUrl(String),
    /// Another scheme.
    #[error("'{url}' begins with {scheme}://, which is not supported; only http:// is (there is no TLS)")]
    Scheme {
        /// The whole text.
        url: String,
        /// Its scheme.
        scheme: String,
    },
}

impl Url {
    /// Takes a URL apart.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        let wrong = || UrlError::NotAUrl(without_credentials(text));
        let uri: Uri = text.parse().map_err(|_| wrong())?;
        let parts = uri.into_parts();
        let (Some(scheme), Some(authority)) = (parts.scheme, parts.authority) else { return Err(wrong()) };
        if scheme != http::uri::Scheme::HTTP {
            return Err(UrlError::Scheme { url: without_credentials(text), scheme: scheme.to_string() });
        }
        let credentials = authority.as_str().rsplit_once('@').map(|(before, _)| before.to_owned());
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let after_host = authority.as_str().rsplit_once('@').map_or(authority.as_str(), |(_, after)| after);
        let port = match after_host.get(authority.host().len()..) {
            Some("") => 80,
            // Zero is no port to connect to, and `http` lets numbers pass that are too large.
            rest => {
                rest.and_then(|rest| rest.strip_prefix(':')?.parse().ok()).filter(|port| *port > 0).ok_or_else(wrong)?
            }
        };
        if host.is_empty() {
            return Err(wrong());
        }
        let path = match parts.path_and_query {
            // `http` writes a path before a query that had none.
            Some(path) => path.to_string(),
            None => "/".to_owned(),
        };
        Ok(Self { text: text.to_owned(), credentials, host, port, path })
    }

    /// As it may be shown: what is printed is kept and passed on, and a password is not for that.
    #[must_use]
    pub fn shown(&self) -> String {
        without_credentials(&self.text)
    }

    /// What stands in a `Host` line: with brackets around IPv6, and with the port where it is not the default.
    #[must_use]
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if self.port == 80 { host } else { format!("{host}:{}", self.port) }
    }

    /// Every address of the host, in the order of the resolver.
    pub fn resolve(&self) -> io::Result<Vec<SocketAddr>> {
        Ok((self.host.as_str(), self.port).to_socket_addrs()?.collect())
    }
}

/// A text that need not be a URL, without what stands between `//` and the last `@` before the path.
fn without_credentials(text: &str) -> String {
    let begin = text.find("//").map_or(0, |slashes| slashes + 2);
    let (scheme, rest) = text.split_at(begin);
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_not_shown() {
        let rows = [
            ("http://u:p@h:8080/x@y", "http://h:8080/x@y"),
            ("http://u:p@@h", "http://h"),
            ("https://u:p@h/", "https://h/"),
            ("http://u:p@h:0/", "http://h:0/"),
            ("http://h/?mail=a@b", "http://h/?mail=a@b"),
            ("u:p@h/", "h/"),
        ];
        for (text, shown) in rows {
            match Url::parse(text) {
                Ok(url) => assert_eq!(url.shown(), shown),
                Err(error) => assert!(error.to_string().starts_with(&format!("'{shown}'")), "{error}"),
            }
        }
    }

    #[test]
    fn taken_apart() {
        let rows = [
            ("http://h", None, "h", 80, "/", "h"),
            ("http://h/", None, "h", 80, "/", "h"),
            ("http://h:80/a/b?c=d#e", None, "h", 80, "/a/b?c=d", "h"),
            ("http://u:p@h:8080/x", Some("u:p"), "h", 8080, "/x", "h:8080"),
            ("http://[::1]:81/x", None, "::1", 81, "/x", "[::1]:81"),
            ("http://h?q", None, "h", 80, "/?q", "h"),
        ];
        for (text, credentials, host, port, path, authority) in rows {
            let url = Url::parse(text).unwrap();
            let found = (url.credentials.as_deref(), url.host.as_str(), url.port, url.path.as_str(), url.authority());
            assert_eq!(found, (credentials, host, port, path, authority.to_owned()), "{text}");
        }
    }

    #[test]
    fn what_is_no_url() {
        for text in
            ["", "h", "/x", "http://", "http:///x", "http://h:/", "http://h:70000/", "http://h:0/", "http://h/ b"]
        {
            assert_eq!(Url::parse(text), Err(UrlError::NotAUrl(text.to_owned())), "{text}");
        }
        let error = Url::parse("https://h/").unwrap_err().to_string();
        assert_eq!(
            error,
            "'https://h/' begins with https://, which is not supported; only http:// is (there is no TLS)"
        );
    }

    #[test]
    fn an_address_resolves_to_itself() {
        let addresses = Url::parse("http://127.0.0.1:8080/").unwrap().resolve().unwrap();
        assert_eq!(addresses, ["127.0.0.1:8080".parse().unwrap()]);
    }
}
