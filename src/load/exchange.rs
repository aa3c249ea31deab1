//! One connection's requests and answers, without I/O: bytes and times in, what they mean out.
//!
//! Times are nanoseconds since the start of the run.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::plan::{ExchangePlan, Statuses};
use super::request::Request;
use super::response::{Eof, Event, Framer, LastHead, Malformed};
use super::verify::{Check, Finding, Verify};
use crate::record::Outcome;

/// A request on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    /// Which of the requests.
    pub request: usize,
    /// When it was due; the time of its first send in a closed loop.
    pub due: u64,
    /// How long its connect took, if it was the first on its connection.
    pub connect_ns: Option<u64>,
    /// When its sending began.
    pub sent: u64,
    /// When its last byte was sent.
    pub written: u64,
}

impl Asked {
    /// When its cycle began: with the connect, or else with the send.
    pub fn begun(&self) -> u64 {
        self.sent.saturating_sub(self.connect_ns.unwrap_or(0))
    }
}

/// A whole answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// What it is the answer to.
    pub asked: Asked,
    /// What the request ended as.
    pub outcome: Outcome,
    /// Its status.
    pub status: u16,
    /// Length of its body.
    pub body_bytes: u64,
    /// When its first byte came.
    pub first_byte: u64,
    /// Whether another request may follow on this connection, as the server says.
    pub keep_alive: bool,
    /// Whether the whole request had been sent: a server may answer before it has read it.
    pub request_is_sent: bool,
    /// Whether `Keep-Alive` stands in its head.
    pub says_keep_alive: bool,
}

/// What became of the received bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// More are needed.
    Wait,
    /// An answer is whole.
    Answered(Answer),
}

/// How a connection broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Break {
    /// The server closed it in order.
    Closed,
    /// It was reset, or failed otherwise.
    Reset,
}

/// What the end of a connection means for the request at its front.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// The end of the connection is the end of the answer.
    Answered(Answer),
    /// The request failed.
    Failed(Outcome),
    /// The server had closed a kept connection before it read the request, which goes again.
    Stale,
    /// No request was on its way.
    Idle,
}

/// What all exchanges of a run have in common.
#[derive(Debug, Clone)]
pub struct Rules {
    requests: Arc<[Request]>,
    expected: Statuses,
    /// Length of the first good answer to each request, over all threads; [`UNKNOWN`] before.
    lengths: Option<Arc<[AtomicU64]>>,
    verify: Option<Verify>,
    /// Answers on this thread, for `Verify::one_in`.
    answers: Cell<u64>,
    /// The head that came last on this thread.
    last_head: RefCell<LastHead>,
}

const UNKNOWN: u64 = u64::MAX;

impl Rules {
    /// From the plan. Clones share what the first good answers were.
    #[must_use]
    pub fn new(requests: &Arc<[Request]>, plan: &ExchangePlan) -> Self {
        let ExchangePlan { keep_alive: _, pipeline: _, timeout: _, expected, same_length, verify } = plan;
        let lengths = same_length.then(|| requests.iter().map(|_| AtomicU64::new(UNKNOWN)).collect());
        Self {
            requests: Arc::clone(requests),
            expected: expected.clone(),
            lengths,
            verify: verify.clone(),
            answers: Cell::new(0),
            last_head: RefCell::default(),
        }
    }

    /// The requests.
    pub fn requests(&self) -> &[Request] {
        &self.requests
    }

    fn count_answer(&self) -> u64 {
        self.answers.replace(self.answers.get() + 1)
    }

    /// Whether this is as long as the first good answer to the request, which it may be itself.
    fn has_expected_length(&self, request: usize, bytes: u64) -> bool {
        let Some(lengths) = &self.lengths else { return true };
        let first = &lengths[request];
        match first.load(Ordering::Relaxed) {
            UNKNOWN => {
                let before = first.compare_exchange(UNKNOWN, bytes, Ordering::Relaxed, Ordering::Relaxed);
                before.map_or_else(|other| other == bytes, |_| true)
            }
            known => known == bytes,
        }
    }
}

/// The requests on one connection and the answer that is being received.
#[derive(Debug, Default)]
pub struct Exchange {
    framer: Framer,
    in_flight: VecDeque<Asked>,
    /// How many of `in_flight`, from the front, are sent whole.
    sent_whole: usize,
    /// Bytes of the next one that are sent.
    sent_part: usize,
    answers: u64,
    current: Current,
    check: Option<Check>,
    /// Whether the body that comes is compared with anything.
    is_looked_at: bool,
}

/// The answer that is being received.
#[derive(Debug, Default)]
struct Current {
    status: u16,
    keep_alive: bool,
    says_keep_alive: bool,
    body_bytes: u64,
    first_byte: Option<u64>,
}

impl Exchange {
    /// Forgets everything: the connection is a new one.
    pub fn reset(&mut self) {
        self.in_flight.clear();
        let kept = (std::mem::take(&mut self.in_flight), self.check.take());
        *self = Self { in_flight: kept.0, check: kept.1, ..Self::default() };
    }

    /// Requests on their way, the one that is being answered included.
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// The request that is answered next.
    pub fn front(&self) -> Option<&Asked> {
        self.in_flight.front()
    }

    /// Answers that have come on this connection.
    pub fn answers(&self) -> u64 {
        self.answers
    }

    /// The connect took so long, and the first request is being sent now.
    pub fn connected(&mut self, connect_ns: u64, now: u64) {
        for asked in &mut self.in_flight {
            asked.sent = now;
        }
        if let Some(first) = self.in_flight.front_mut() {
            first.connect_ns = Some(connect_ns);
        }
    }

    /// Puts a request behind the others.
    pub fn ask(&mut self, asked: Asked, rules: &Rules) {
        self.in_flight.push_back(asked);
        if self.in_flight.len() == 1 {
            self.begin(rules);
        }
    }

    /// What is to be sent now: of the next request what is missing, or of several of them, put together in `scratch`.
    pub fn unsent<'a>(&self, rules: &'a Rules, scratch: &'a mut Vec<u8>) -> &'a [u8] {
        let bytes = |asked: &Asked| -> &'a [u8] { &rules.requests[asked.request].bytes };
        let mut waiting = self.in_flight.range(self.sent_whole..);
        let Some(first) = waiting.next() else { return &[] };
        let first = &bytes(first)[self.sent_part..];
        if waiting.len() == 0 {
            return first;
        }
        scratch.clear();
        scratch.extend_from_slice(first);
        waiting.for_each(|asked| scratch.extend_from_slice(bytes(asked)));
        scratch
    }

    /// So many bytes of [`Self::unsent`] were sent.
    pub fn sent(&mut self, mut count: usize, now: u64, rules: &Rules) {
        while count > 0
            && let Some(asked) = self.in_flight.get_mut(self.sent_whole)
        {
            let missing = rules.requests[asked.request].bytes.len() - self.sent_part;
            if count < missing {
                self.sent_part += count;
                return;
            }
            asked.written = now;
            count -= missing;
            self.sent_whole += 1;
            self.sent_part = 0;
        }
    }

    /// Whether bytes wait to be sent.
    pub fn has_unsent(&self) -> bool {
        self.sent_whole < self.in_flight.len()
    }

    /// Body bytes that nobody needs to look at and that are certain to come first; 0 if that is not known.
    pub fn discardable(&self) -> u64 {
        if self.is_looked_at { 0 } else { self.framer.discardable() }
    }

    /// Whether nobody has asked for anything behind them: neither chunk framing nor another answer may follow.
    pub fn nothing_may_follow(&self) -> bool {
        self.in_flight.len() == 1 && self.framer.ends_with_discardable()
    }

    /// So many of them came and were thrown away.
    pub fn discarded(&mut self, bytes: u64) {
        debug_assert!(bytes <= self.framer.discardable(), "only a body is thrown away");
        self.framer.discarded(bytes);
        self.current.body_bytes += bytes;
    }

    /// Looks at received bytes, up to the end of an answer. `on_head` sees heads.
    #[inline]
    pub fn next(
        &mut self,
        input: &mut &[u8],
        now: u64,
        rules: &Rules,
        mut on_head: impl FnMut(&[u8]),
    ) -> Result<Step, Malformed> {
        if self.in_flight.is_empty() {
            return if input.is_empty() { Ok(Step::Wait) } else { Err(Malformed) };
        }
        if !input.is_empty() {
            self.current.first_byte.get_or_insert(now);
        }
        while let Some(event) = self.framer.next(input, &mut rules.last_head.borrow_mut(), &mut on_head)? {
            match event {
                Event::Head(head) => {
                    self.current.status = head.status;
                    self.current.keep_alive = head.keep_alive;
                    self.current.says_keep_alive = head.says_keep_alive;
                }
                Event::Body(bytes) => {
                    self.current.body_bytes += bytes.len() as u64;
                    if let Some(check) = &mut self.check {
                        check.feed(bytes);
                    }
                }
                Event::End => return Ok(Step::Answered(self.end(now, rules))),
            }
        }
        Ok(Step::Wait)
    }

    /// The connection broke: what that means for the request at the front. The others were not answered and go again.
    pub fn lost(&mut self, how: Break, now: u64, rules: &Rules) -> Loss {
        if self.in_flight.is_empty() {
            return Loss::Idle;
        }
        let stale = self.answers > 0;
        match (self.framer.eof(), how) {
            (Eof::Whole, Break::Closed) => Loss::Answered(self.end(now, rules)),
            (Eof::Nothing, _) if stale => Loss::Stale,
            (Eof::Nothing, Break::Closed) => Loss::Failed(Outcome::SentNothing),
            (_, Break::Reset) => Loss::Failed(Outcome::Reset),
            (Eof::Early, Break::Closed) => Loss::Failed(Outcome::ClosedEarly),
        }
    }

    /// Takes the request out that would be answered next: it has failed.
    pub fn take_front(&mut self) -> Option<Asked> {
        self.in_flight.pop_front()
    }

    /// The requests that are on their way, from the front.
    pub fn waiting(&self) -> impl Iterator<Item = &Asked> {
        self.in_flight.iter()
    }

    /// Takes the requests that are still on their way out, from the front.
    pub fn take_in_flight(&mut self) -> impl Iterator<Item = Asked> + '_ {
        self.sent_whole = 0;
        self.sent_part = 0;
        self.in_flight.drain(..)
    }

    fn begin(&mut self, rules: &Rules) {
        let Some(asked) = self.in_flight.front() else { return };
        self.framer.begin(rules.requests[asked.request].is_head());
        self.current = Current::default();
        if let Some(verify) = &rules.verify {
            let check = self.check.get_or_insert_with(|| Check::new(verify));
            self.is_looked_at = check.begin(rules.count_answer());
        }
    }

    fn end(&mut self, now: u64, rules: &Rules) -> Answer {
        let asked = self.in_flight.pop_front().expect("an answer is framed only for a request");
        self.answers += 1;
        let outcome = self.judge(asked.request, rules);
        let Current { status, keep_alive, says_keep_alive, body_bytes, first_byte } = self.current;
        let request_is_sent = self.sent_whole > 0;
        self.sent_whole = self.sent_whole.saturating_sub(1);
        let first_byte = first_byte.unwrap_or(now);
        self.begin(rules);
        Answer { asked, outcome, status, body_bytes, first_byte, keep_alive, request_is_sent, says_keep_alive }
    }

    fn judge(&mut self, request: usize, rules: &Rules) -> Outcome {
        if !rules.expected.holds(self.current.status) {
            return Outcome::StatusRefused;
        }
        match self.check.as_mut().map(Check::finish) {
            None | Some(Finding::Same) => {}
            Some(Finding::LengthDiffers) => return Outcome::LengthDiffers,
            Some(Finding::ContentDiffers) => return Outcome::ContentDiffers,
        }
        if rules.has_expected_length(request, self.current.body_bytes) { Outcome::Ok } else { Outcome::LengthDiffers }
    }
}
