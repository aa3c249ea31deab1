//! A folder without an index, as a page.

use bytes::Bytes;
use rustix::fs::{Dir, FileType};

use super::root::{OpenError, RootFolder};
use super::target::escape;

/// Entries of one page. The page says so when a folder has more.
const MAX_ENTRIES: usize = 10_000;

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
    for entry in Dir::new(root.open_folder(folder)?)? {
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
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n</head>\n<body>\n<h1>{title}</h1>\n<ul>\n"
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
        page.push_str(&format!("<p>Only {MAX_ENTRIES} entries are shown; the folder holds more.</p>\n"));
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
