//! Whatever a server sends: how its bytes are cut into reads makes no difference to the answers that are found in them,
//! and every step either takes something or asks for more.
//!
//! An input is one byte that says whether the requests were HEAD, three lengths of reads that are used in turn, and the
//! bytes of a connection.

#![no_main]

use libfuzzer_sys::fuzz_target;
use quintain::load::response::{Eof, Event, Framer, Head, LastHead};

fuzz_target!(|input: &[u8]| {
    let Some((&[is_head, ref lengths @ ..], bytes)) = input.split_first_chunk::<4>() else { return };
    let to_head = is_head % 2 == 1;
    // Shared: which head came before must make no difference.
    let last = &mut LastHead::default();
    let whole = read(last, to_head, [bytes].into_iter(), false);
    let cut: Vec<_> = pieces(bytes, lengths).collect();
    assert_eq!(read(last, to_head, cut.iter().copied(), false), whole, "cut by {lengths:?}");
    assert_eq!(read(last, to_head, cut.iter().copied(), true), whole, "cut by {lengths:?}, bodies discarded");
});

/// What was found on a connection: the answers in it, and how the last one ended.
#[derive(Debug, PartialEq)]
struct Found {
    answers: Vec<Answer>,
    /// `None`: malformed.
    end: Option<Eof>,
}

#[derive(Debug, Default, PartialEq)]
struct Answer {
    head: Option<Head>,
    head_bytes: Vec<u8>,
    body: Vec<u8>,
}

fn pieces<'a>(mut bytes: &'a [u8], lengths: &[u8]) -> impl Iterator<Item = &'a [u8]> {
    lengths.iter().cycle().map_while(move |&length| {
        // A read that brings nothing is the end of a connection, so there is none.
        let (piece, rest) = bytes.split_at_checked(usize::from(length).max(1)).unwrap_or((bytes, &[]));
        bytes = rest;
        (!piece.is_empty()).then_some(piece)
    })
}

/// Asks for one answer after the other, as long as there are bytes.
fn read<'a>(last: &mut LastHead, to_head: bool, pieces: impl Iterator<Item = &'a [u8]>, discards: bool) -> Found {
    let mut framer = Framer::new();
    framer.begin(to_head);
    let mut answers = vec![Answer::default()];
    for mut input in pieces {
        loop {
            let before = input.len();
            let answer = answers.last_mut().expect("one from the beginning");
            if discards {
                let length = framer.discardable().min(input.len() as u64);
                answer.body.extend_from_slice(&input[..length as usize]);
                input = &input[length as usize..];
                framer.discarded(length);
            }
            match framer.next(&mut input, last, |bytes| answer.head_bytes.extend_from_slice(bytes)) {
                Ok(Some(Event::Head(head))) => {
                    assert!(input.len() < before, "a head takes bytes");
                    assert!(answer.head.replace(head).is_none());
                }
                Ok(Some(Event::Body(piece))) => {
                    assert!(input.len() < before && !piece.is_empty() && answer.head.is_some());
                    answer.body.extend_from_slice(piece);
                }
                // An answer has a head, so that its end without bytes is progress too.
                Ok(Some(Event::End)) => {
                    assert!(answer.head.is_some());
                    framer.begin(to_head);
                    answers.push(Answer::default());
                }
                Ok(None) => {
                    assert!(input.is_empty(), "more is asked for, and {} bytes are left", input.len());
                    break;
                }
                Err(_) => return Found { answers, end: None },
            }
        }
    }
    Found { answers, end: Some(framer.eof()) }
}
