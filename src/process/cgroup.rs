//! What control groups leave this process: CPU time and memory, of version 1 and 2 (cgroups(7)).
//!
//! A container's limit is not seen in the number of CPUs nor in the memory of the machine. Nothing here fails: a file that is
//! missing or unreadable limits nothing, because most machines have only some of them.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Component, Path, PathBuf};

/// What this process is held to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Held {
    /// CPU time over wall time: 1.5 is one CPU and a half.
    pub cpus: Option<Limit<f64>>,
    /// Bytes of memory, page cache and kernel buffers included.
    pub memory_bytes: Option<Limit<u64>>,
}

/// The smallest of the limits on the way from the process's own group up to the root: each of them counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit<T> {
    /// How much.
    pub value: T,
    /// The file that says so.
    pub file: PathBuf,
}

impl Held {
    /// Reads the files below `/`, or below the root of a test.
    #[must_use]
    pub fn read(root: &Path) -> Self {
        let mut held = Self::default();
        let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
        for group in groups.lines().filter_map(Group::parse) {
            for folder in group.folders(&root.join("sys/fs/cgroup")) {
                held.take(&folder, &group);
            }
        }
        held
    }

    /// Workers that can run at once: as many as the mask of CPUs and the quota allow, at least one. Part of a CPU is worth a
    /// worker, or the part would be left unused.
    #[must_use]
    pub fn workers(&self, mask: NonZeroUsize) -> NonZeroUsize {
        let quota = self.cpus.as_ref().map_or(usize::MAX, |limit| limit.value.ceil() as usize);
        mask.min(NonZeroUsize::new(quota).unwrap_or(NonZeroUsize::MIN))
    }

    fn take(&mut self, folder: &Path, group: &Group) {
        if group.has("cpu") {
            let (cpu_max, quota) = (folder.join("cpu.max"), folder.join("cpu.cfs_quota_us"));
            lower(&mut self.cpus, cpu_max, |text| {
                let (quota, period) = text.split_once(' ')?;
                share(quota, period)
            });
            lower(&mut self.cpus, quota, |text| share(text, &read(&folder.join("cpu.cfs_period_us"))?));
        }
        if group.has("memory") {
            lower(&mut self.memory_bytes, folder.join("memory.max"), |text| text.parse().ok());
            lower(&mut self.memory_bytes, folder.join("memory.limit_in_bytes"), |text| {
                // "No limit" of version 1 is the largest number of whole pages, whatever the size of a page.
                text.parse().ok().filter(|bytes| *bytes < u64::MAX / 4)
            });
        }
    }
}

/// One line of `/proc/self/cgroup`: `4:cpu,cpuacct:/path`, or `0::/path` of version 2.
struct Group {
    controllers: String,
    path: PathBuf,
}

impl Group {
    fn parse(line: &str) -> Option<Self> {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, Path::new(parts.next()?));
        // What lies above the root of the cgroup namespace is shown as `/../x`, and cannot be reached.
        let reachable = !path.components().any(|part| part == Component::ParentDir);
        let path = if reachable { path.strip_prefix("/").unwrap_or(path).to_owned() } else { PathBuf::new() };
        Some(Self { controllers: controllers.to_owned(), path })
    }

    /// Version 2 names no controllers: all of them are in its one tree.
    fn has(&self, controller: &str) -> bool {
        self.controllers.is_empty() || self.controllers.split(',').any(|name| name == controller)
    }

    /// The group's folder and all above it. Where a container sees the path of its host, only the root is there, and that is
    /// the container's own group.
    fn folders(&self, mounts: &Path) -> Vec<PathBuf> {
        let trees = match self.controllers.as_str() {
            // Alone, or beside the trees of version 1.
            "" => vec![mounts.to_owned(), mounts.join("unified")],
            // The tree has the name of all its controllers; some mount it under each of them alone.
            all => vec![mounts.join(all), mounts.join("cpu"), mounts.join("memory")],
        };
        trees.iter().flat_map(|tree| self.path.ancestors().map(|path| tree.join(path))).collect()
    }
}

fn lower<T: PartialOrd>(limit: &mut Option<Limit<T>>, file: PathBuf, parse: impl FnOnce(&str) -> Option<T>) {
    let Some(value) = read(&file).and_then(|text| parse(&text)) else { return };
    if limit.as_ref().is_none_or(|known| value < known.value) {
        *limit = Some(Limit { value, file });
    }
}

/// "max" and -1 are no quota.
fn share(quota: &str, period: &str) -> Option<f64> {
    let (quota, period) = (quota.parse::<u32>().ok()?, period.parse::<u32>().ok().filter(|period| *period > 0)?);
    Some(f64::from(quota) / f64::from(period))
}

fn read(file: &Path) -> Option<String> {
    fs::read_to_string(file).ok().map(|text| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is read from a folder with these files, without the folder's own path.
    fn held(files: &[(&str, &str)]) -> (Option<f64>, Option<u64>, Vec<String>) {
        let root = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let file = root.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, format!("{content}\n")).unwrap();
        }
        let Held { cpus, memory_bytes } = Held::read(root.path());
        let below = |file: &Path| file.strip_prefix(root.path()).unwrap().display().to_string();
        let sources =
            [cpus.as_ref().map(|limit| below(&limit.file)), memory_bytes.as_ref().map(|limit| below(&limit.file))];
        (cpus.map(|limit| limit.value), memory_bytes.map(|limit| limit.value), sources.into_iter().flatten().collect())
    }

    #[test]
    fn nothing_limits_where_nothing_is_said() {
        assert_eq!(held(&[]), (None, None, vec![]));
        let unlimited = [
            ("proc/self/cgroup", "0::/a"),
            ("sys/fs/cgroup/a/cpu.max", "max 100000"),
            ("sys/fs/cgroup/a/memory.max", "max"),
        ];
        assert_eq!(held(&unlimited), (None, None, vec![]));
    }

    #[test]
    fn the_smallest_on_the_way_to_the_root_counts() {
        let files = [
            ("proc/self/cgroup", "0::/kube/pod/c1"),
            ("sys/fs/cgroup/kube/pod/c1/cpu.max", "400000 100000"),
            ("sys/fs/cgroup/kube/pod/c1/memory.max", "268435456"),
            ("sys/fs/cgroup/kube/pod/cpu.max", "150000 100000"),
            ("sys/fs/cgroup/kube/memory.max", "1073741824"),
            // A neighbour's limit is not ours.
            ("sys/fs/cgroup/kube/pod/c2/cpu.max", "10000 100000"),
        ];
        let sources = ["sys/fs/cgroup/kube/pod/cpu.max", "sys/fs/cgroup/kube/pod/c1/memory.max"].map(str::to_owned);
        assert_eq!(held(&files), (Some(1.5), Some(268_435_456), sources.to_vec()));
    }

    #[test]
    fn a_container_that_sees_the_path_of_its_host() {
        let files = [
            ("proc/self/cgroup", "0::/system.slice/docker-1.scope"),
            ("sys/fs/cgroup/cpu.max", "50000 100000"),
            ("sys/fs/cgroup/memory.max", "67108864"),
        ];
        assert_eq!(
            held(&files),
            (Some(0.5), Some(67_108_864), vec!["sys/fs/cgroup/cpu.max".into(), "sys/fs/cgroup/memory.max".into()])
        );
        let outside = [("proc/self/cgroup", "0::/../other"), ("sys/fs/cgroup/cpu.max", "50000 100000")];
        assert_eq!(held(&outside).0, Some(0.5));
    }

    #[test]
    fn version_1() {
        let files = [
            ("proc/self/cgroup", "9:name=systemd:/x\n5:memory:/docker/1\n4:cpu,cpuacct:/docker/1\n0::/"),
            ("sys/fs/cgroup/cpu,cpuacct/docker/1/cpu.cfs_quota_us", "-1"),
            ("sys/fs/cgroup/cpu,cpuacct/docker/1/cpu.cfs_period_us", "100000"),
            ("sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_quota_us", "250000"),
            ("sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_period_us", "100000"),
            ("sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes", "134217728"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712"),
        ];
        let (cpus, memory, _) = held(&files);
        assert_eq!((cpus, memory), (Some(2.5), Some(134_217_728)));
    }

    #[test]
    fn version_1_mounted_by_single_names_beside_version_2() {
        let files = [
            ("proc/self/cgroup", "4:memory:/a\n1:cpu:/a\n0::/b"),
            ("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "300000"),
            ("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000"),
            ("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712"),
            ("sys/fs/cgroup/unified/b/memory.max", "1000000"),
        ];
        let (cpus, memory, _) = held(&files);
        assert_eq!((cpus, memory), (Some(3.0), Some(1_000_000)));
    }

    #[test]
    fn what_cannot_be_read_limits_nothing() {
        let files = [
            ("proc/self/cgroup", "nonsense\n0::/a"),
            ("sys/fs/cgroup/a/cpu.max", "100000"),
            ("sys/fs/cgroup/cpu.max", "100000 0"),
            ("sys/fs/cgroup/a/memory.max", "-5"),
        ];
        assert_eq!(held(&files), (None, None, vec![]));
    }

    #[test]
    fn workers_of_a_quota() {
        let workers = |quota: Option<f64>, mask| {
            let cpus = quota.map(|value| Limit { value, file: PathBuf::new() });
            Held { cpus, memory_bytes: None }.workers(NonZeroUsize::new(mask).unwrap()).get()
        };
        let rows = [
            (None, 4, 4),
            (Some(1.5), 4, 2),
            (Some(2.0), 4, 2),
            (Some(0.1), 4, 1),
            (Some(0.0), 4, 1),
            (Some(8.0), 2, 2),
        ];
        for (quota, mask, expected) in rows {
            assert_eq!(workers(quota, mask), expected, "{quota:?} of {mask}");
        }
    }
}
