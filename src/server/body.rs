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
use super::wire::Wire;
use crate::site::{Content, Document};

/// The body of an answer.
#[derive(Debug)]
pub enum Body {
    /// Nothing, or nothing more.
    Empty,
    /// One run of bytes: by far the most frequent.
    One(Piece),
    /// The parts of a multipart/byteranges answer and what stands between them.
    Many { pieces: VecDeque<Piece>, left: u64, end: Ending },
    /// A file, read in chunks while it is sent.
    Stream { chunks: Chunks, left: u64, end: Ending },
}

/// Whom to tell that the last frame of a body is on its way.
#[derive(Debug, Default)]
pub struct Ending(Option<Arc<Wire>>);

impl Ending {
    fn note(&self, left: u64) {
        if let (Self(Some(wire)), 0) = (self, left) {
            wire.set_several_frames(false);
        }
    }
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
        Self::Many { pieces, left, end: Ending::default() }
    }

    /// A body of `length` bytes that are read while they are sent.
    pub fn stream(chunks: Chunks, length: u64) -> Self {
        Self::Stream { chunks, left: length, end: Ending::default() }
    }

    /// Tells the wire whether a flush is the end of this body, now and when its last frame is on its way.
    pub fn announce(&mut self, wire: &Arc<Wire>) {
        match self {
            Self::Empty | Self::One(_) => wire.set_several_frames(false),
            Self::Many { end, .. } | Self::Stream { end, .. } => {
                wire.set_several_frames(true);
                *end = Ending(Some(Arc::clone(wire)));
            }
        }
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
            Self::Stream { chunks, left, end } => {
                let chunk = ready!(chunks.poll_next(cx))?;
                *left -= chunk.len() as u64;
                end.note(*left);
                Some(Piece::Bytes(chunk))
            }
            Self::Many { pieces, left, end } => pieces.pop_front().inspect(|piece| {
                *left -= piece.length();
                end.note(*left);
            }),
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
    /// The document whose content this is a part of.
    pub fn document(&self) -> Option<&Arc<Document>> {
        match self {
            Self::Bytes(_) => None,
            Self::Range(document, _) => Some(document),
        }
    }

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
