//! The folder that the tests serve. The rows of `tests/tables` name its files.

use std::fs::{self, File, FileTimes};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{CWD, Mode, mkfifoat};
use tempfile::TempDir;

/// The content of `ten.txt`, which most rows ask for.
pub const TEN: &str = "0123456789";

/// Stands in every file that must never be sent.
pub const SECRET: &str = "SECRET";

/// 2020-01-01T00:00:00Z.
const NEW_YEAR_2020: u64 = 1_577_836_800;

/// A folder in a temporary folder of its own, with things beside it that must stay there.
pub struct Site {
    outer: TempDir,
    root: PathBuf,
}

impl Site {
    /// An empty folder.
    pub fn empty() -> Self {
        let outer = tempfile::tempdir().expect("a temporary folder");
        let root = outer.path().join("site");
        fs::create_dir(&root).expect("a folder for the site");
        Self { outer, root }
    }

    /// A folder with `ten.txt` only.
    pub fn small() -> Self {
        let site = Self::empty();
        site.write("ten.txt", TEN);
        site
    }

    /// The folder of the tables.
    pub fn full() -> Self {
        let site = Self::small();
        site.set_modified("ten.txt", UNIX_EPOCH + Duration::new(NEW_YEAR_2020, 500_000_000));
        site.write_plain_files();
        site.write_names();
        site.write_folders();
        site.write_variants();
        site.write_times();
        site.make_links();
        site.make_special_files();
        site
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder around the root.
    pub fn outer(&self) -> &Path {
        self.outer.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Writes a file in place, with the folders above it.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a name below the root")).expect("folders");
        fs::write(&path, content).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    }

    /// Replaces a file as careful programs do: a new file, renamed over the old one.
    pub fn replace(&self, name: &str, content: impl AsRef<[u8]>) {
        let fresh = self.outer.path().join("fresh");
        fs::write(&fresh, content).expect("a new file");
        fs::rename(&fresh, self.path(name)).expect("rename over the old file");
    }

    /// A file of that length that takes no room on the disk and reads as zeros.
    pub fn write_sparse(&self, name: &str, length: u64) -> File {
        let file = File::create(self.path(name)).expect("a new file");
        file.set_len(length).expect("a sparse file");
        file
    }

    pub fn set_modified(&self, name: &str, time: SystemTime) {
        let file = File::options().write(true).open(self.path(name)).expect("the file is there");
        file.set_times(FileTimes::new().set_modified(time)).unwrap_or_else(|error| panic!("{name}: {error}"));
    }

    fn write_plain_files(&self) {
        self.write("index.html", "<p>index of the root</p>\n");
        self.write("empty.txt", "");
        let thousand: String = (0..100).map(|n| format!("line {n:04}\n")).collect();
        self.write("thousand.txt", thousand);
        self.write("big.bin", (0..300_000u32).map(|n| (n % 251) as u8).collect::<Vec<_>>());
        for name in [
            "style.css",
            "app.js",
            "module.mjs",
            "data.json",
            "image.png",
            "image.svg",
            "font.woff2",
            "code.wasm",
            "paper.pdf",
            "feed.xml",
            "README",
            "thing.unheard-of",
            "UPPER.HTML",
            "photo.jpeg",
            "archive.tar.gz",
        ] {
            self.write(name, format!("content of {name}\n"));
        }
    }

    fn write_names(&self) {
        for name in [
            "A.txt",
            "é.txt",
            "日本.txt",
            "a b.txt",
            "a+b.txt",
            "a%62c.txt",
            "quo\"te.txt",
            "new\nline.txt",
            "semi;colon.txt",
            "back\\slash.txt",
            "tilde~.txt",
            "colon:.txt",
            "a&b.txt",
            "what?.txt",
            "hash#.txt",
            "...",
            "..dots",
        ] {
            self.write(name, format!("file {name:?}"));
        }
    }

    fn write_folders(&self) {
        self.write("dir/index.html", "<p>index of dir</p>\n");
        self.write("dir/inner.txt", "inner");
        self.write("dir/home.html", "<p>home of dir</p>\n");
        self.write("deep/a/b/c/leaf.txt", "leaf");
        self.write("bare/<b>&amp;\".txt", "a name that is markup");
        self.write("bare/plain.txt", "plain");
        self.write("bare/.hidden.txt", "hidden");
        self.write("bare/sub/leaf.txt", "leaf");
        self.write("sp ace/index.html", "<p>space</p>\n");
        self.write("é/index.html", "<p>accent</p>\n");
        self.write("nl\r\nX-Injected: yes/index.html", "<p>line break</p>\n");
        self.write("evil.com/index.html", "<p>evil</p>\n");
        self.write(".hidden", "hidden file");
        self.write(".git/config", "hidden below a folder");
        self.write("dir/.env", "hidden in a folder");
        self.write(".well-known/acme.txt", "well known");
        self.write(".well-known/.inner", "hidden in well-known");
        // The index of this folder is itself a folder.
        self.write("nested/index.html/leaf.txt", "leaf");
    }

    fn write_variants(&self) {
        self.write("page.html", "<p>the page as it is</p>\n");
        self.write("page.html.br", "brotli form");
        self.write("page.html.gz", "gzip form of it");
        self.write("page.html.zst", "zstd form");
        self.write("only-gz.txt", "plain text, longer than its gzip form");
        self.write("only-gz.txt.gz", "gz");
        self.write("orphan.css.gz", "a variant without its document");
        // A variant that is longer than its document must not be cut to the document's length.
        self.write("longer.js", "x".repeat(39));
        self.write("longer.js.br", "y".repeat(43));
        // A folder is no variant.
        self.write("odd.txt", "odd");
        self.write("odd.txt.gz/leaf.txt", "leaf");
        self.write("indexed/index.html", "<p>identity index</p>\n");
        self.write("indexed/index.html.gz", "gzip index");
    }

    fn write_times(&self) {
        self.write("1960.txt", "before the epoch");
        // 1960-01-01 is 3,653 days before 1970-01-01.
        self.set_modified("1960.txt", UNIX_EPOCH - Duration::from_secs(3653 * 86_400));
        self.write("2100.txt", "a clock that was wrong");
        self.set_modified("2100.txt", UNIX_EPOCH + Duration::from_secs(4_102_444_800));
        self.write("epoch.txt", "the epoch itself");
        self.set_modified("epoch.txt", UNIX_EPOCH);
    }

    fn make_links(&self) {
        let outside = self.outer.path().join("outside.txt");
        fs::write(&outside, format!("{SECRET} beside the root")).expect("a file beside the root");
        // A sibling whose name begins with the root's.
        let sibling = self.outer.path().join("site-private");
        fs::create_dir(&sibling).expect("a sibling folder");
        fs::write(sibling.join("leak.txt"), format!("{SECRET} in a sibling")).expect("a file in the sibling");
        for (name, target) in [
            ("link-in.txt", "ten.txt"),
            ("link-twice.txt", "link-in.txt"),
            ("link-dir", "dir"),
            ("dir/link-up.txt", "../ten.txt"),
            ("link-out.txt", "../outside.txt"),
            ("link-out-dir", "../site-private"),
            ("link-far-out.txt", "/etc/hostname"),
            ("link-out-and-in.txt", "../site/ten.txt"),
            ("dangling.txt", "nowhere.txt"),
            ("loop.txt", "loop.txt"),
            ("link-to-fifo", "fifo"),
        ] {
            symlink(target, self.path(name)).expect("a symbolic link");
        }
        symlink(&outside, self.path("link-out-absolute.txt")).expect("a symbolic link");
    }

    fn make_special_files(&self) {
        mkfifoat(CWD, self.path("fifo"), Mode::RUSR | Mode::WUSR).expect("a FIFO");
        // The listener goes at once; the socket file stays.
        drop(UnixListener::bind(self.path("socket")).expect("a socket file"));
        self.write("private.txt", "nobody may read this");
        fs::set_permissions(self.path("private.txt"), fs::Permissions::from_mode(0o000)).expect("mode 0");
        self.write("private/leaf.txt", "nobody may reach this");
        fs::set_permissions(self.path("private"), fs::Permissions::from_mode(0o000)).expect("mode 0");
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        // Otherwise the folder cannot be emptied by an ordinary user.
        let _ = fs::set_permissions(self.path("private"), fs::Permissions::from_mode(0o700));
    }
}
