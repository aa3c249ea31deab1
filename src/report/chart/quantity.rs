//! What is drawn over concurrency.

use super::scale::Dimension;
use crate::analysis::{Metric, Point, Spread};

/// A figure of each cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::report) enum Quantity {
    /// Answered requests per second.
    Requests,
    /// CPU of the server for each request.
    ServerCpu,
    /// Half of the requests took less.
    Median,
    /// All but one of a hundred took less.
    P99,
    /// Peak of the server's resident memory.
    Memory,
    /// Its threads.
    Threads,
    /// Its context switches for each request.
    Switches,
}

impl Quantity {
    /// All of them, in the order in which reports show them.
    pub(in crate::report) const ALL: [Self; 7] =
        [Self::Requests, Self::ServerCpu, Self::Median, Self::P99, Self::Memory, Self::Threads, Self::Switches];

    /// The chart's heading.
    pub(in crate::report) const fn name(self) -> &'static str {
        match self {
            Self::Requests => "Requests per second",
            Self::ServerCpu => "Server CPU per request",
            Self::Median => "Latency, median",
            Self::P99 => "Latency, 99th percentile",
            Self::Memory => "Server memory, peak",
            Self::Threads => "Server threads",
            Self::Switches => "Context switches per request",
        }
    }

    /// Part of a file's name.
    pub(in crate::report) const fn slug(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::ServerCpu => "server-cpu",
            Self::Median => "latency-median",
            Self::P99 => "latency-p99",
            Self::Memory => "memory",
            Self::Threads => "threads",
            Self::Switches => "switches",
        }
    }

    /// What it counts.
    pub(in crate::report) const fn dimension(self) -> Dimension {
        match self {
            Self::Requests => Dimension::Rate,
            Self::ServerCpu | Self::Median | Self::P99 => Dimension::Time,
            Self::Memory => Dimension::Bytes,
            Self::Threads => Dimension::Count,
            Self::Switches => Dimension::Share,
        }
    }

    /// What stands after a figure in a sentence, where its unit does not say it.
    pub(super) const fn noun(self) -> &'static str {
        match self {
            Self::Requests => " requests/s",
            Self::ServerCpu => " per request",
            Self::Threads => " threads",
            Self::Switches => " switches",
            Self::Median | Self::P99 | Self::Memory => "",
        }
    }

    /// Why a point takes no part in a verdict on it; empty where it does.
    pub(super) fn faults(self, point: &Point) -> Vec<&str> {
        let metric = match self {
            Self::Requests | Self::Median | Self::P99 => Metric::RequestsPerSecond,
            Self::ServerCpu | Self::Memory | Self::Threads | Self::Switches => Metric::ServerCpu,
        };
        point.faults_of(metric).map(|fault| fault.words.as_str()).collect()
    }

    /// Lowest, median and highest of a point, in the unit of [`Dimension`]; `None` if it was not measured.
    pub(super) fn of(self, point: &Point) -> Option<[f64; 3]> {
        const NS_PER_US: f64 = 1e3;
        const NS_PER_MS: f64 = 1e6;
        let (spread, one) = match self {
            Self::Requests => (Some(&point.requests_per_s), 1.0),
            Self::ServerCpu => (point.server_cpu_us.as_ref(), NS_PER_US),
            Self::Median => (point.latency_ms.p50.as_ref(), NS_PER_MS),
            Self::P99 => (point.latency_ms.p99.as_ref(), NS_PER_MS),
            Self::Memory => (point.resident_bytes.as_ref(), 1.0),
            Self::Threads => (point.threads.as_ref(), 1.0),
            Self::Switches => (point.switches.as_ref(), 1.0),
        };
        spread.map(|Spread { min, median, max, .. }| [*min, *median, *max].map(|figure| figure * one))
    }
}
