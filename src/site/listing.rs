//! A folder without an index, as a page.

use bytes::Bytes;
use rustix::fs::{Dir, FileType};

use super::root::{OpenError, RootFolder};
use super::target::escape;

/// Entries of one page. The page says so when a folder has more.
const MAX_ENTRIES: usize = 10_000;

/// Entries of a folder that are looked at, shown or not: a worker serves nobody else meanwhile.
const MAX_EXAMINED: usize = 20_000;

/// Makes the page of a folder, given by its normalised path.
///
/// It lists what a request for it would serve: regular files and folders, and links to such within the root.
pub(super) fn page(root: &RootFolder, folder: &[u8], hidden: bool) -> Result<Bytes, OpenError> {
    let (mut names, is_cut) = read_names(root, folder, hidden, MAX_ENTRIES)?;
    names.sort_unstable();
    Ok(render(folder, &names, is_cut).into())
}

/// The names of the entries, folders with a slash at the end, in no order; and whether there were more than `max`.
fn read_names(root: &RootFolder, folder: &[u8], hidden: bool, max: usize) -> Result<(Vec<Vec<u8>>, bool), OpenError> {
    let mut names = Vec::new();
    for (examined, entry) in Dir::new(root.open_folder(folder)?)?.enumerate() {
        if examined == MAX_EXAMINED {
            return Ok((names, true));
        }
        let entry = entry?;
        let mut name = entry.file_name().to_bytes().to_vec();
        if matches!(name.as_slice(), b"." | b"..") || (name.starts_with(b".") && !hidden) {
            continue;
        }
        // Where a link leads, and what a file system that does not say in its listing holds, has to be looked at.
        let kind = match entry.file_type() {
            FileType::Symlink | FileType::Unknown => root.file_type(&[folder, &name].concat()).ok(),
            kind => Some(kind),
        };
        match kind {
            Some(FileType::RegularFile) => {}
            Some(FileType::Directory) => name.push(b'/'),
            _ => continue,
        }
        if names.len() == max {
            return Ok((names, true));
        }
        names.push(name);
    }
    Ok((names, false))
}

fn render(folder: &[u8], names: &[Vec<u8>], is_cut: bool) -> String {
    let title = format!("Index of /{}", text(folder));
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n</head>\n\
         <body>\n<h1>{title}</h1>\n<ul>\n"
    );
    if !folder.is_empty() {
        page.push_str("<li><a href=\"../\">../</a></li>\n");
    }
    for name in names {
        // `./` keeps a name with a colon from being read as a scheme.
        page.push_str(&format!("<li><a href=\"./{}\">{}</a></li>\n", text(escape(name).as_bytes()), text(name)));
    }
    page.push_str("</ul>\n");
    if is_cut {
        page.push_str("<p>Not all entries are shown; the folder holds more.</p>\n");
    }
    page.push_str("</body>\n</html>\n");
    page
}

/// A name as HTML text, also within quotes. What HTML has no character for becomes U+FFFD, as invalid UTF-8 does.
fn text(name: &[u8]) -> String {
    let mut text = String::with_capacity(name.len());
    for character in String::from_utf8_lossy(name).chars() {
        match character {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '"' => text.push_str("&quot;"),
            '\'' => text.push_str("&#39;"),
            control if control.is_control() => text.push(char::REPLACEMENT_CHARACTER),
            other => text.push(other),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use rustix::fs::{CWD, Mode, mknodat};

    use super::*;

    fn listed(path: &Path, folder: &str, hidden: bool) -> String {
        let page = page(&RootFolder::open(path).unwrap(), folder.as_bytes(), hidden).unwrap();
        String::from_utf8(page.to_vec()).unwrap()
    }

    /// The hrefs and texts, in their order.
    fn entries(page: &str) -> Vec<(&str, &str)> {
        let links = page.lines().filter_map(|line| line.strip_prefix("<li><a href=\"")?.strip_suffix("</a></li>"));
        links.map(|link| link.split_once("\">").unwrap()).collect()
    }

    #[test]
    fn what_would_be_served_is_listed_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("dir/sub")).unwrap();
        for name in ["b", "a", "dir/in", ".hidden"] {
            fs::write(root.join(name), "").unwrap();
        }
        symlink("../a", root.join("dir/link")).unwrap();
        symlink("sub", root.join("dir/link-folder")).unwrap();
        symlink("gone", root.join("link-dangling")).unwrap();
        symlink("/etc/passwd", root.join("link-outside")).unwrap();
        mknodat(CWD, root.join("fifo"), FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
        assert_eq!(entries(&listed(root, "", false)), [("./a", "a"), ("./b", "b"), ("./dir/", "dir/")]);
        let hidden = listed(root, "", true);
        assert_eq!(entries(&hidden)[0], ("./.hidden", ".hidden"));
        let below = listed(root, "dir/", false);
        assert_eq!(
            entries(&below),
            [
                ("../", "../"),
                ("./in", "in"),
                ("./link", "link"),
                ("./link-folder/", "link-folder/"),
                ("./sub/", "sub/")
            ]
        );
    }

    #[test]
    fn names_cannot_leave_their_place_in_the_page() {
        let folder = tempfile::tempdir().unwrap();
        let table: &[(&[u8], &str, &str)] = &[
            (b"<script>alert(1)<", "./%3Cscript%3Ealert(1)%3C", "&lt;script&gt;alert(1)&lt;"),
            (b"\"quote'", "./%22quote&#39;", "&quot;quote&#39;"),
            (b"a&b;", "./a&amp;b;", "a&amp;b;"),
            (b"a\nb", "./a%0Ab", "a\u{fffd}b"),
            (b"a%20b", "./a%2520b", "a%20b"),
            (b"a?b#c", "./a%3Fb%23c", "a?b#c"),
            (b"javascript:alert(1)", "./javascript:alert(1)", "javascript:alert(1)"),
            (b"\\\\evil.com", "./%5C%5Cevil.com", "\\\\evil.com"),
            ("😀".as_bytes(), "./%F0%9F%98%80", "😀"),
            (b"\xff", "./%FF", "\u{fffd}"),
        ];
        for (name, href, text) in table {
            let path = folder.path().join(OsStr::from_bytes(name));
            fs::write(&path, "").unwrap();
            let page = listed(folder.path(), "", false);
            assert_eq!(entries(&page), [(*href, *text)], "{name:?}");
            fs::remove_file(path).unwrap();
        }
    }

    #[test]
    fn the_title_is_text_as_well() {
        let page = render("</title><b>/".as_bytes(), &[], false);
        assert!(page.contains("<title>Index of /&lt;/title&gt;&lt;b&gt;/</title>"), "{page}");
        assert!(page.starts_with("<!DOCTYPE html>"));
    }

    #[test]
    fn a_page_says_when_it_was_cut() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..4 {
            fs::write(folder.path().join(number.to_string()), "").unwrap();
        }
        let root = RootFolder::open(folder.path()).unwrap();
        let (names, is_cut) = read_names(&root, b"", false, 4).unwrap();
        assert_eq!((names.len(), is_cut), (4, false));
        let (names, is_cut) = read_names(&root, b"", false, 3).unwrap();
        assert_eq!((names.len(), is_cut), (3, true));
        assert!(render(b"", &names, true).contains("Not all entries are shown"));
        assert!(!render(b"", &names, false).contains("entries are shown"));
    }
}
