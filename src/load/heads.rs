//! The heads of answers that somebody wants to see.

use crate::record::FirstAnswer;

/// Most bytes of the first head.
const FIRST_BYTES: usize = 64 << 10;

/// The first head, and as many more as there is room for.
#[derive(Debug, Default)]
pub struct Heads {
    first: Option<Vec<u8>>,
    kept: Vec<u8>,
    room: usize,
}

impl Heads {
    /// Keeps `room` bytes of heads beside the first one.
    #[must_use]
    pub fn new(room: usize) -> Self {
        Self { first: None, kept: Vec::new(), room }
    }

    /// A head has come.
    #[inline]
    pub fn saw(&mut self, head: &[u8]) {
        if self.first.is_some() && self.room == 0 {
            return;
        }
        if self.first.is_none() {
            self.first = Some(head[..head.len().min(FIRST_BYTES)].to_vec());
        }
        if head.len() <= self.room {
            self.kept.extend_from_slice(head);
            self.room -= head.len();
        } else {
            // A head that is too large is not followed by a smaller one: they would seem to be neighbours.
            self.room = 0;
        }
    }

    /// Heads in their order, one behind the other.
    pub fn into_kept(self) -> Vec<u8> {
        self.kept
    }

    /// What the first answer looked like.
    pub fn first_answer(&self, status: u16, body_bytes: u64) -> FirstAnswer {
        let head = String::from_utf8_lossy(self.first.as_deref().unwrap_or_default()).into_owned();
        let server = head.lines().skip(1).find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("server").then(|| value.trim().to_owned())
        });
        FirstAnswer { status, server: server.unwrap_or_default(), body_bytes, head }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_head_tells_the_server() {
        let mut heads = Heads::new(0);
        heads.saw(b"HTTP/1.1 200 OK\r\nX: y\r\nSERVER: nginx/1.22 (x)\r\n\r\n");
        heads.saw(b"HTTP/1.1 200 OK\r\nServer: other\r\n\r\n");
        let answer = heads.first_answer(200, 7);
        assert_eq!((answer.server.as_str(), answer.body_bytes, answer.head.len()), ("nginx/1.22 (x)", 7, 49));
        assert_eq!(Heads::new(0).first_answer(200, 7).server, "");
        assert!(heads.into_kept().is_empty());
    }

    #[test]
    fn as_many_as_there_is_room_for() {
        let mut heads = Heads::new(10);
        for head in ["aaaa", "bbbb", "cccc", "d"] {
            heads.saw(head.as_bytes());
        }
        assert_eq!(heads.into_kept(), b"aaaabbbb");
    }
}
