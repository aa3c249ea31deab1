//! The chunked transfer coding (RFC 9112 section 7.1), read in pieces of any length.

use super::{Malformed, take};

/// Longest line with the size of a chunk, its extensions included.
const MOST_LINE_BYTES: usize = 8 << 10;

/// Most bytes of trailers.
const MOST_TRAILER_BYTES: usize = 64 << 10;

/// A chunked body that is being read.
#[derive(Debug)]
pub(super) struct Chunks {
    at: At,
    /// While its line is read, the size of the chunk; from then on, what of it has not come.
    size: u64,
    /// Bytes of the line of the present chunk, or of the trailers.
    seen: usize,
}

/// Where the next byte belongs. A lone LF ends a line too (RFC 9112 section 2.2).
#[derive(Debug, Clone, Copy)]
enum At {
    /// The first digit of a size.
    Size,
    /// Another digit, or what follows the last.
    MoreSize,
    /// White space between the size and an extension.
    Blank,
    /// An extension; unknown ones must be ignored, and all are unknown here.
    Extension,
    /// The LF that belongs to the CR of the line with the size.
    SizeLf,
    /// The data.
    Data,
    /// The line end after the data.
    DataEnd,
    /// The LF that belongs to the CR after the data.
    DataLf,
    /// The first byte of a trailer, or the empty line after the last.
    Trailer,
    /// Another byte of a trailer. Trailers may be ignored (RFC 9110 section 6.5.1).
    TrailerLine,
    /// The LF that belongs to the CR of the empty line at the end.
    EndLf,
}

/// What was found.
#[derive(Debug)]
pub(super) enum Step<'a> {
    /// The input is used up.
    More,
    /// A piece of data; not empty.
    Data(&'a [u8]),
    /// The body is whole.
    End,
}

impl Chunks {
    pub(super) const fn new() -> Self {
        Self { at: At::Size, size: 0, seen: 0 }
    }

    /// Data that is still to come in the present chunk.
    #[inline]
    pub(super) fn data_left(&self) -> u64 {
        if matches!(self.at, At::Data) { self.size } else { 0 }
    }

    /// So much of [`data_left`](Self::data_left) needs no look.
    #[inline]
    pub(super) fn discarded(&mut self, bytes: u64) {
        if matches!(self.at, At::Data) {
            self.size = self.size.saturating_sub(bytes);
            if self.size == 0 {
                self.at = At::DataEnd;
            }
        }
    }

    /// Reads up to the next piece of data, or to the end.
    pub(super) fn next<'a>(&mut self, input: &mut &'a [u8]) -> Result<Step<'a>, Malformed> {
        // Each turn takes at least one byte.
        while let Some(&byte) = input.first() {
            match self.at {
                At::Data => {
                    let piece = take(input, self.size);
                    self.discarded(piece.len() as u64);
                    return Ok(Step::Data(piece));
                }
                At::Extension | At::TrailerLine => self.skip_line(input)?,
                _ => {
                    *input = &input[1..];
                    self.count(1)?;
                    let Some(at) = self.after(byte)? else { return Ok(Step::End) };
                    self.at = at;
                }
            }
        }
        Ok(Step::More)
    }

    /// Where the byte after this one belongs; `None` after the last.
    fn after(&mut self, byte: u8) -> Result<Option<At>, Malformed> {
        Ok(Some(match (self.at, byte) {
            (At::Size | At::MoreSize, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                self.add_digit(byte)?;
                At::MoreSize
            }
            (At::MoreSize | At::Blank, b' ' | b'\t') => At::Blank,
            (At::MoreSize | At::Blank, b';') => At::Extension,
            (At::MoreSize | At::Blank, b'\r') => At::SizeLf,
            (At::MoreSize | At::Blank | At::SizeLf, b'\n') => self.after_size(),
            (At::DataEnd, b'\r') => At::DataLf,
            (At::DataEnd | At::DataLf, b'\n') => {
                self.seen = 0;
                At::Size
            }
            (At::Trailer, b'\r') => At::EndLf,
            (At::Trailer | At::EndLf, b'\n') => return Ok(None),
            (At::Trailer, _) => At::TrailerLine,
            _ => return Err(Malformed),
        }))
    }

    fn add_digit(&mut self, digit: u8) -> Result<(), Malformed> {
        let digit = char::from(digit).to_digit(16).ok_or(Malformed)?;
        self.size = self.size.checked_mul(16).ok_or(Malformed)? + u64::from(digit);
        Ok(())
    }

    /// The chunk without data is the last (RFC 9112 section 7.1).
    fn after_size(&mut self) -> At {
        self.seen = 0;
        if self.size == 0 { At::Trailer } else { At::Data }
    }

    /// Passes over the rest of a line.
    fn skip_line(&mut self, input: &mut &[u8]) -> Result<(), Malformed> {
        let line_end = memchr::memchr(b'\n', input);
        let skipped = take(input, line_end.map_or(u64::MAX, |at| at as u64 + 1));
        self.count(skipped.len())?;
        if line_end.is_some() {
            self.at = if matches!(self.at, At::Extension) { self.after_size() } else { At::Trailer };
        }
        Ok(())
    }

    fn count(&mut self, bytes: usize) -> Result<(), Malformed> {
        let most = match self.at {
            At::Trailer | At::TrailerLine | At::EndLf => MOST_TRAILER_BYTES,
            _ => MOST_LINE_BYTES,
        };
        self.seen += bytes;
        if self.seen > most { Err(Malformed) } else { Ok(()) }
    }
}
