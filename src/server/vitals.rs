//! Whether the threads that serve have begun to, which whoever started the server waits for, and whether they still get to
//! their tasks: what a watchdog wants to know.
//!
//! A thread that waits in `epoll_wait` because nobody asks for anything looks from outside like one that hangs in a disk
//! which does not answer. So each shows again and again that a timer of its own was served. Only where a watchdog is
//! (`WATCHDOG_USEC`): otherwise an idle server has no timer at all.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::Semaphore;

/// The signs of life of all threads. Clones belong together.
#[derive(Debug, Clone)]
pub struct Vitals {
    every: Option<Duration>,
    /// A permit from each thread that has begun to serve.
    begun: Arc<Semaphore>,
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
        Self { every, begun: Arc::new(Semaphore::new(0)), threads: Arc::default() }
    }

    /// Waits until that many threads have begun to serve.
    pub async fn have_begun(&self, threads: usize) {
        let all = u32::try_from(threads).unwrap_or(u32::MAX);
        // Nobody closes it.
        let _ = self.begun.acquire_many(all).await;
    }

    /// The task of one thread that shows that the thread serves and is alive; it goes on until the thread's runtime ends.
    /// Whoever starts it has registered its listeners.
    pub async fn keep_beating(self) {
        self.begun.add_permits(1);
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

    /// A start in the background said 0 before any thread had got its epoll set, and the server died of the want of it.
    #[test]
    fn the_wait_ends_with_the_last_thread_that_begins() {
        let vitals = Vitals::new(None);
        runtime().block_on(async {
            let wait = |threads| tokio::time::timeout(Duration::ZERO, vitals.have_begun(threads));
            vitals.clone().keep_beating().await;
            assert!(wait(2).await.is_err());
            vitals.clone().keep_beating().await;
            assert!(wait(2).await.is_ok());
        });
    }

    #[test]
    fn nobody_beats_where_nobody_looks() {
        runtime().block_on(Vitals::new(None).keep_beating());
    }
}
