//! The image of `config.toml`: each setting with its type, its range and its default.
//!
//! The defaults are these lines and not an embedded config.toml, so that a binary without any file behaves the same; a test
//! holds the two together.

use std::borrow::Cow;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use http::HeaderValue;
use toml::Value;
use tracing::level_filters::LevelFilter;

use super::plan::{
    AccessFormat, AccessLog, Address, Affinity, FilesMode, HeadStyle, LogFile, LogFormat, Model, Profile, TransferPath,
    UserName,
};
use super::units::{Count, G, HOUR, K, M, Period, SECOND, Size};
use super::words::{Congestion, Connections, FileName, HeaderLines};
use super::written::{Auto, Empty, Off, Or, System, Written};

/// From one table of settings: the sections as structs, the defaults, and access by key. serde's derive was tried for this: its
/// errors name neither the setting nor what it takes, and each field needed an attribute to say so.
macro_rules! settings {
    ($([$section:ident] $Section:ident { $($key:ident: $Type:ty = $default:expr;)+ })+) => {
        /// Every setting, section by section.
        #[derive(Debug, Clone, PartialEq)]
        pub struct Settings {
            $(pub $section: $Section,)+
        }

        $(
            #[doc = concat!("The section `[", stringify!($section), "]`.")]
            #[derive(Debug, Clone, PartialEq)]
            pub struct $Section {
                $(pub $key: $Type,)+
            }
        )+

        impl Default for Settings {
            fn default() -> Self {
                Settings { $($section: $Section { $($key: $default,)+ },)+ }
            }
        }

        impl Settings {
            /// The sections, in the order of config.toml.
            pub const SECTIONS: &'static [&'static str] = &[$(stringify!($section),)+];

            /// The name of each setting, in the order of config.toml.
            pub const KEYS: &'static [&'static str] =
                &[$($(concat!(stringify!($section), ".", stringify!($key)),)+)+];

            /// Reads a value into the setting of that name; where that fails the setting keeps what it has.
            pub fn set(&mut self, key: &str, value: &Value) -> Result<(), Refused> {
                match key.split_once('.') {
                    $($(Some((stringify!($section), stringify!($key))) => {
                        self.$section.$key = read(value)?;
                    })+)+
                    _ => return Err(Refused::Unknown),
                }
                Ok(())
            }

            /// The value of each setting, in the order of [`KEYS`](Self::KEYS).
            pub fn values(&self) -> Vec<Value> {
                vec![$($(self.$section.$key.write(),)+)+]
            }
        }
    };
}

impl Settings {
    /// The keys of a section; none if there is no such section.
    pub fn keys_of(section: &str) -> impl Iterator<Item = &'static str> {
        let named = Self::KEYS.iter().filter_map(|name| name.split_once('.'));
        named.filter(move |(of, _)| *of == section).map(|(_, key)| key)
    }
}

/// Why a setting did not take a value.
#[derive(Debug, PartialEq)]
pub enum Refused {
    /// There is no setting of that name.
    Unknown,
    /// It takes something else.
    Expected {
        /// Completes "expected ...".
        expected: String,
        /// The word that was probably meant.
        meant: Option<Cow<'static, str>>,
        /// What is wrong with one of its parts.
        wrong_part: Option<String>,
    },
}

fn read<T: Written>(value: &Value) -> Result<T, Refused> {
    T::read(value).ok_or_else(|| Refused::Expected {
        expected: T::expected(),
        meant: T::meant(value),
        wrong_part: T::wrong_part(value),
    })
}

/// A wait that must be able to end and must not end at once.
type Timeout = Period<1, { 24 * HOUR }>;

const fn seconds<const MIN: u64, const MAX: u64>(seconds: u64) -> Period<MIN, MAX> {
    Period(Duration::from_secs(seconds))
}

settings! {
    [server] Server {
        profile: Profile = Profile::None;
        listen: Vec<Address> = vec![Address::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)))];
        root: PathBuf = PathBuf::from("fixtures");
        model: Model = Model::EventLoop;
        workers: Or<Auto, Count<1, 1024>> = Or::WORD;
        max_threads: Count<1, 32_768> = Count(200);
        stack_size: Or<Auto, Size<{ 64 * K }, { 64 * M }>> = Or::WORD;
        affinity: Affinity = Affinity::None;
        backlog: Count<1, 1_000_000> = Count(4096);
        share_port: bool = false;
        max_connections: Or<Auto, Connections> = Or::WORD;
    }
    [keep_alive] KeepAlive {
        enabled: bool = true;
        timeout: Timeout = seconds(75);
        max_requests: Count<0, 1_000_000_000> = Count(0);
    }
    [timeouts] Timeouts {
        header: Timeout = seconds(60);
        write_stall: Timeout = seconds(60);
        shutdown: Period<0, HOUR> = seconds(10);
    }
    [limits] Limits {
        // hyper refuses a buffer below 8 KiB, and a URI of 64 KiB or more.
        head_bytes: Size<{ 8 * K }, M> = Size(16 * K);
        target_bytes: Size<64, { 63 * K }> = Size(8 * K);
    }
    [files] Files {
        mode: FilesMode = FilesMode::Cached;
        cache_bytes: Size<{ 64 * K }, { 1024 * G }> = Size(64 * M);
        cache_file_max: Size<0, G> = Size(M);
        revalidate: Period<0, HOUR> = seconds(1);
    }
    [transfer] Transfer {
        path: TransferPath = TransferPath::Auto;
        sendfile_min: Size<0, { 1024 * G }> = Size(24 * K);
        chunk: Size<K, { 16 * M }> = Size(64 * K);
    }
    [socket] Socket {
        nodelay: bool = true;
        defer_accept: Or<Off, Period<SECOND, { 60 * SECOND }>> = Or::value(seconds(1));
        send_buffer: Or<Auto, Size<{ 4 * K }, { 512 * M }>> = Or::WORD;
        congestion: Or<System, Congestion> = Or::WORD;
    }
    [site] Site {
        index: FileName = FileName("index.html".into());
        hidden: bool = false;
        listing: bool = false;
        precompressed: bool = true;
        cache_control: Or<Empty, HeaderValue> = Or::WORD;
    }
    [headers] Headers {
        style: HeadStyle = HeadStyle::Quintain;
        server: Or<Empty, HeaderValue> = Or::value(HeaderValue::from_static("quintain"));
        extra: HeaderLines = HeaderLines(vec![]);
    }
    [log] Log {
        level: LevelFilter = LevelFilter::INFO;
        format: LogFormat = LogFormat::Text;
        file: LogFile = LogFile::Stderr;
        access: AccessLog = AccessLog::Off;
        access_format: AccessFormat = AccessFormat::Combined;
    }
    [process] Process {
        pid_file: Or<Off, PathBuf> = Or::WORD;
        user: Or<Off, UserName> = Or::WORD;
    }
    [admin] Admin {
        listen: Or<Off, Address> = Or::WORD;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_takes_back_the_value_that_it_writes() {
        let mut settings = Settings::default();
        let values = settings.values();
        assert_eq!(values.len(), Settings::KEYS.len());
        for (key, value) in Settings::KEYS.iter().zip(&values) {
            assert_eq!(settings.set(key, value), Ok(()), "{key}");
        }
        assert_eq!(settings, Settings::default());
    }

    #[test]
    fn a_refused_value_leaves_the_setting_as_it_was() {
        let mut settings = Settings::default();
        let refused = settings.set("server.workers", &"many".into());
        let expected = r#""auto" or a number from 1 to 1024"#.into();
        assert_eq!(refused, Err(Refused::Expected { expected, meant: None, wrong_part: None }));
        assert_eq!(settings.set("server.wokers", &2.into()), Err(Refused::Unknown));
        assert_eq!(settings.set("server", &2.into()), Err(Refused::Unknown));
        assert_eq!(settings, Settings::default());
    }
}
