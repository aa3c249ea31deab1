//! Where relative paths begin.

use std::path::{Path, PathBuf};

use super::plan::{AccessLog, Address, LogFile, Root, ServePlan};

impl ServePlan {
    /// Lets relative paths begin at `folder`, so that they mean the same after the process has left its working directory.
    /// An empty folder changes nothing.
    pub fn begin_paths_at(&mut self, folder: &Path) {
        let at = |path: &mut PathBuf| *path = folder.join(&path);
        match &mut self.live.site.root {
            Root::Folder(path) | Root::Bundled(path) => at(path),
        }
        for address in self.listen.addresses.iter_mut().chain(&mut self.admin.listen) {
            if let Address::Unix(path) = address {
                at(path);
            }
        }
        if let AccessLog::File(path) = &mut self.live.log.access {
            at(path);
        }
        if let LogFile::File(path) = &mut self.live.log.file {
            at(path);
        }
        if let Some(path) = &mut self.process.pid_file {
            at(path);
        }
    }
}
