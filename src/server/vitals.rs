//! Whether the threads that serve still get to their tasks: what a watchdog wants to know.
//!
//! A thread that waits in `epoll_wait` because nobody asks for anything looks from outside like one that hangs in a disk
//! which does not answer. So each shows again and again that a timer of its own was served. Only where a watchdog is
//! (`WATCHDOG_USEC`): otherwise an idle server has no timer at all.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

/// The signs of life of all threads. Clones belong together.
#[derive(Debug, Clone, Default)]
pub struct Vitals {
    every: Option<Duration>,
    threads: Arc<Mutex<Vec<Thread>>>,
}

/// One thread as it was seen the last time.
#[derive(Debug)]
struct Thread {
    /// Held by the thread alone, so that one that has ended is not missed.
    beats: Weak<AtomicU32>,
    seen: u32,
}

impl Vitals {
    /// Threads show themselves that often; `None`: nobody looks.
    pub fn new(every: Option<Duration>) -> Self {
        Self { every, threads: Arc::default() }
    }

    /// The task of one thread that shows that the thread is alive; it goes on until the thread's runtime ends.
    pub async fn keep_beating(self) {
        let Some(every) = self.every else { return };
        // One more than what `all_are_alive` begins with: a thread that has just started is alive.
        let beats = Arc::new(AtomicU32::new(1));
        self.lock().push(Thread { beats: Arc::downgrade(&beats), seen: 0 });
        loop {
            tokio::time::sleep(every).await;
            beats.fetch_add(1, Relaxed);
        }
    }

    /// Whether each thread has shown itself since this was asked the last time.
    pub fn all_are_alive(&self) -> bool {
        let mut alive = true;
        self.lock().retain_mut(|thread| {
            let Some(beats) = thread.beats.upgrade() else { return false };
            let now = beats.load(Relaxed);
            alive &= now != thread.seen;
            thread.seen = now;
            true
        });
        alive
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Thread>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
    }

    #[test]
    fn a_thread_that_does_not_get_to_its_tasks_is_noticed() {
        let every = Duration::from_millis(1);
        let vitals = Vitals::new(Some(every));
        runtime().block_on(async {
            let task = tokio::spawn(vitals.clone().keep_beating());
            tokio::task::yield_now().await;
            assert!(vitals.all_are_alive(), "it has just started");
            // Nobody polls the task between these two.
            assert!(!vitals.all_are_alive());
            tokio::time::sleep(every * 20).await;
            assert!(vitals.all_are_alive());
            task.abort();
            let _ = task.await;
            assert!(vitals.all_are_alive(), "one that has ended is not missed");
        });
    }

    #[test]
    fn nobody_beats_where_nobody_looks() {
        runtime().block_on(Vitals::new(None).keep_beating());
    }
}
