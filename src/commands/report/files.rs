//! The files of a report: each is there as a whole, or as it was before.

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A file that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {error}; name another folder by --out", .path.display())]
pub struct Unwritten {
    path: PathBuf,
    error: io::Error,
}

/// Writes a file below a folder, whose folders are made if they are not there.
///
/// # Errors
///
/// [`Unwritten`]; the file is then what it was.
pub fn put(folder: &Path, name: &str, content: &str) -> Result<(), Unwritten> {
    let path = folder.join(name);
    replace(&path, content).map_err(|error| Unwritten { path, error })
}

fn replace(path: &Path, content: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    // As any other file would be made: what of it others may do is the umask's matter.
    let mut builder = tempfile::Builder::new();
    let mut fresh = builder.prefix(".report-").permissions(Permissions::from_mode(0o666)).tempfile_in(folder)?;
    fresh.write_all(content.as_bytes())?;
    fresh.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        put(folder.path(), "charts/a.svg", "one").unwrap();
        put(folder.path(), "charts/a.svg", "two").unwrap();
        let names: Vec<_> =
            fs::read_dir(folder.path().join("charts")).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(names, [folder.path().join("charts/a.svg")]);
        assert_eq!(fs::read_to_string(&names[0]).unwrap(), "two");
        let mode = fs::metadata(&names[0]).unwrap().permissions().mode();
        assert_eq!(mode & 0o400, 0o400, "{mode:o}");
    }

    #[test]
    fn what_cannot_be_written_is_named() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        let said = put(&folder.path().join("file"), "report.html", "").unwrap_err().to_string();
        assert!(said.starts_with("cannot write ") && said.contains("file/report.html: "), "{said}");
        assert!(said.ends_with("; name another folder by --out"), "{said}");
    }
}
