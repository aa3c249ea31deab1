//! What is said of a run beside ab's report: the heads that `-v 2` shows, and our own doubts.

use std::io;

use crate::load::request::Request;
use crate::record::{Doubt, Verdict};
use crate::report::ab_chatter;

/// The request's head, of `-v 2`.
pub fn request(request: &Request) -> String {
    let head = &request.bytes[..request.bytes.len() - request.body_bytes];
    text(|out| ab_chatter::request_head(out, &request.method, head))
}

/// The heads of answers, of `-v 2` and more. They lie one behind the other, each up to its empty line.
pub fn heads(heads: &[u8], verbosity: u32) -> String {
    const END: &[u8] = b"\r\n\r\n";
    let mut rest = heads;
    text(|out| {
        while let Some(end) = memchr::memmem::find(rest, END) {
            let (head, others) = rest.split_at(end + END.len());
            ab_chatter::answer_head(out, head, verbosity)?;
            rest = others;
        }
        Ok(())
    })
}

fn text(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
    let mut bytes = Vec::new();
    write(&mut bytes).expect("writing into memory");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Our own word on the figures, for stderr: only on what ab's report cannot show, which is the client, and only after a run
/// that was long enough to say something of it.
pub fn doubts(verdict: &Verdict) -> String {
    if verdict.doubts.contains(&Doubt::Short) {
        return String::new();
    }
    let is_about_the_client = |doubt: &Doubt| match doubt {
        Doubt::ClientMayBeTheLimit | Doubt::ClientWasTheLimit | Doubt::ConcurrencyNotAchieved | Doubt::LoopLag => true,
        Doubt::RateNotAchieved | Doubt::SentLate | Doubt::ConnectionsRetried | Doubt::Failures | Doubt::Short => false,
    };
    let said = verdict.doubts.iter().zip(&verdict.warnings).filter(|(doubt, _)| is_about_the_client(doubt));
    said.map(|(_, warning)| format!("quintain: {warning}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::url::Url;
    use crate::record::Limit;

    #[test]
    fn the_request_is_shown_without_its_body() {
        let url = Url::parse("http://h/").unwrap();
        let shown = request(&Request::new(&url, "POST", "/", "1.0", &[], b"secret"));
        assert_eq!(shown, "INFO: POST header == \n---\nPOST / HTTP/1.0\r\n\r\n\n---\n");
    }

    #[test]
    fn heads_with_their_statuses() {
        let two = b"HTTP/1.0 200 OK\r\nA: b\r\n\r\nHTTP/1.1 404 Not Found\r\n\r\n";
        let shown = "LOG: header received:\nHTTP/1.0 200 OK\r\nA: b\r\n\r\n\n\
                     LOG: header received:\nHTTP/1.1 404 Not Found\r\n\r\n\nWARNING: Response code not 2xx (404)\n";
        assert_eq!(heads(two, 2), shown);
        assert!(heads(two, 3).contains("A: b\r\n\r\n\nLOG: Response code = 200\nLOG: header received:\n"));
        assert_eq!(heads(b"", 3), "");
    }

    #[test]
    fn of_the_doubts_those_about_the_client() {
        let verdict = |first| Verdict {
            limit: Limit::ClientCpu,
            words: String::new(),
            doubts: vec![first, Doubt::ClientWasTheLimit],
            warnings: vec!["other".to_owned(), "busy".to_owned()],
        };
        assert_eq!(doubts(&verdict(Doubt::Failures)), "quintain: busy\n");
        assert_eq!(doubts(&verdict(Doubt::Short)), "");
    }
}
