//! Bodies whose length is known before the first byte: never chunked.

use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use http_body::{Frame, SizeHint};

use super::transfer::Chunks;
use crate::site::{Content, Document};

/// The body of an answer.
#[derive(Debug)]
pub enum Body {
    /// Nothing, or nothing more.
    Empty,
    /// One run of bytes: by far the most frequent.
    One(Piece),
    /// The parts of a multipart/byteranges answer and what stands between them.
    Many { pieces: VecDeque<Piece>, left: u64 },
    /// A file, read in chunks while it is sent.
    Stream { chunks: Chunks, left: u64 },
}

/// One run of bytes, in memory or in an open file.
#[derive(Debug)]
pub enum Piece {
    Bytes(Bytes),
    /// A range of the document's content. Its `chunk` may be a slice of the file's mapping, which the transport
    /// recognises and nobody reads.
    Range(Arc<Document>, Range<u64>),
}

impl Body {
    /// A body of these bytes.
    pub fn bytes(bytes: Bytes) -> Self {
        if bytes.is_empty() { Self::Empty } else { Self::One(Piece::Bytes(bytes)) }
    }

    /// A body of this range of a document.
    pub fn range(document: Arc<Document>, range: Range<u64>) -> Self {
        if range.is_empty() { Self::Empty } else { Self::One(Piece::Range(document, range)) }
    }

    /// A body of several pieces.
    pub fn many(pieces: VecDeque<Piece>) -> Self {
        let left = pieces.iter().map(Piece::length).sum();
        Self::Many { pieces, left }
    }

    /// A body of `length` bytes that are read while they are sent.
    pub fn stream(chunks: Chunks, length: u64) -> Self {
        Self::Stream { chunks, left: length }
    }

    /// Whether a flush in the middle is not the end of it.
    pub fn has_several_frames(&self) -> bool {
        matches!(self, Self::Many { .. } | Self::Stream { .. })
    }

    /// How many bytes are still to come.
    pub fn length(&self) -> u64 {
        match self {
            Self::Empty => 0,
            Self::One(piece) => piece.length(),
            Self::Many { left, .. } | Self::Stream { left, .. } => *left,
        }
    }
}

impl http_body::Body for Body {
    type Data = Piece;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Piece>>>> {
        let this = self.get_mut();
        let piece = match this {
            Self::Empty => None,
            Self::One(_) => match std::mem::replace(this, Self::Empty) {
                Self::One(piece) => Some(piece),
                _ => None,
            },
            Self::Stream { left: 0, .. } => None,
            Self::Stream { chunks, left } => {
                let chunk = ready!(chunks.poll_next(cx))?;
                *left -= chunk.len() as u64;
                Some(Piece::Bytes(chunk))
            }
            Self::Many { pieces, left } => pieces.pop_front().inspect(|piece| *left -= piece.length()),
        };
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    /// True right after the last piece: hyper then ends the message without asking again.
    fn is_end_stream(&self) -> bool {
        self.length() == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.length())
    }
}

impl Piece {
    fn length(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Range(_, range) => range.end - range.start,
        }
    }
}

/// One slice per piece: hyper may reorder bodies that expose several (hyper #4132).
impl Buf for Piece {
    fn remaining(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Range(_, range) => (range.end - range.start) as usize,
        }
    }

    fn chunk(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Range(document, range) => match &document.content {
                Content::Memory(bytes) => &bytes[range.start as usize..range.end as usize],
                Content::Open(file) => file.slice(range.clone()),
            },
        }
    }

    fn advance(&mut self, count: usize) {
        match self {
            Self::Bytes(bytes) => bytes.advance(count),
            Self::Range(_, range) => {
                assert!(count as u64 <= range.end - range.start, "advanced past the end of a body");
                range.start += count as u64;
            }
        }
    }
}
