//! Which CPU a thread may run on.

use std::num::NonZeroUsize;

use rustix::thread::{CpuSet, Pid, sched_getaffinity, sched_setaffinity};

/// How many CPUs this process may run on: those of its mask, at least one.
#[must_use]
pub fn allowed() -> NonZeroUsize {
    // A machine with more CPUs than the set has room for refuses to tell; the standard library asks in another way.
    let all = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    NonZeroUsize::new(Pins::allowed().0.len()).unwrap_or_else(all)
}

/// The CPUs that threads are pinned to, in turn; empty is no pinning.
#[derive(Debug, Clone)]
pub struct Pins(Vec<usize>);

impl Pins {
    /// No pinning: the scheduler decides.
    #[must_use]
    pub fn none() -> Self {
        Self(Vec::new())
    }

    /// Every CPU that this process may run on.
    #[must_use]
    pub fn allowed() -> Self {
        sched_getaffinity(None).map_or(Self::none(), |set| Self::in_set(&set))
    }

    /// Every CPU that another process may run on, by its first thread; nothing if it is gone.
    #[must_use]
    pub fn of_process(pid: u32) -> Option<Self> {
        let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
        sched_getaffinity(Some(pid)).ok().map(|set| Self::in_set(&set))
    }

    fn in_set(set: &CpuSet) -> Self {
        Self((0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect())
    }

    /// These CPUs.
    #[must_use]
    pub fn to(cpus: Vec<usize>) -> Self {
        Self(cpus)
    }

    /// The CPUs, by number.
    #[must_use]
    pub fn cpus(&self) -> &[usize] {
        &self.0
    }

    /// The first of these CPUs on which this process may not run.
    #[must_use]
    pub fn not_allowed(&self) -> Option<usize> {
        let Ok(allowed) = sched_getaffinity(None) else { return None };
        self.0.iter().copied().find(|cpu| *cpu >= CpuSet::MAX_CPU || !allowed.is_set(*cpu))
    }

    /// The pin of the thread with this number.
    #[must_use]
    pub fn of(&self, thread: usize) -> Pin {
        Pin((!self.0.is_empty()).then(|| self.0[thread % self.0.len()]))
    }
}

/// One thread's CPU, or none in particular.
#[derive(Debug, Clone, Copy)]
pub struct Pin(Option<usize>);

impl Pin {
    /// Pins the calling thread. A CPU that is not there is reported, and the thread runs anywhere.
    pub fn apply(self) {
        let Some(cpu) = self.0 else { return };
        let mut set = CpuSet::new();
        if cpu < CpuSet::MAX_CPU {
            set.set(cpu);
        }
        if let Err(error) = sched_setaffinity(None, &set) {
            tracing::warn!("cannot pin a thread to CPU {cpu}: {error}; see server.affinity");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_take_turns() {
        let pins = Pins::to(vec![3, 5]);
        assert_eq!([0, 1, 2].map(|thread| pins.of(thread).0), [Some(3), Some(5), Some(3)]);
        assert_eq!(Pins::none().of(0).0, None);
        assert!(!Pins::allowed().0.is_empty());
        assert_eq!(Pins::allowed().not_allowed(), None);
        assert_eq!(Pins::of_process(std::process::id()).map(|pins| pins.0), Some(Pins::allowed().0));
        assert!(Pins::of_process(0).is_none() && Pins::of_process(u32::MAX).is_none());
        assert_eq!(Pins::to(vec![CpuSet::MAX_CPU]).not_allowed(), Some(CpuSet::MAX_CPU));
    }
}
