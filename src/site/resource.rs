//! What stands at a path: looking it up on the disk, and looking whether it is still the same.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use bytes::Bytes;

use super::document::{Document, Loading, Representation, Stamp};
use super::listing;
use super::root::{OpenError, Opened, RootFolder};
use super::target::names_folder;
use super::variants::{self, Coding};

/// What stands at a path below the root.
#[derive(Debug, Clone)]
pub(super) enum Resource {
    /// A file, or the index of a folder.
    Document(Arc<Representations>),
    /// A folder, named without its slash.
    Folder,
    /// The entries of a folder without an index, as a page.
    Listing(Bytes),
    /// Something that this process may not read.
    Forbidden,
    /// Nothing that may be served.
    Nothing,
}

/// A document, as it is and in the codings that its neighbours hold.
#[derive(Debug)]
pub(super) struct Representations {
    plain: Representation,
    /// At the place of its [`Coding`].
    encoded: [Option<Representation>; Coding::ALL.len()],
}

impl Representations {
    /// The representation for a client that sent this Accept-Encoding.
    pub fn select(&self, accept_encoding: Option<&[u8]>) -> &Arc<Document> {
        if !self.plain.document.varies {
            return &self.plain.document;
        }
        let chosen = variants::choose(accept_encoding, |coding| self.encoded[coding as usize].is_some());
        let encoded = chosen.and_then(|coding| self.encoded[coding as usize].as_ref());
        &encoded.unwrap_or(&self.plain).document
    }

    /// The documents, of all codings.
    pub fn documents(&self) -> impl Iterator<Item = &Document> {
        std::iter::once(&self.plain).chain(self.encoded.iter().flatten()).map(|held| &*held.document)
    }
}

/// Finds resources on the disk. It keeps nothing: see [`Cache`](super::cache::Cache).
#[derive(Debug)]
pub(super) struct Finder {
    pub root: RootFolder,
    pub index: Vec<u8>,
    pub hidden: bool,
    pub listing: bool,
    pub precompressed: bool,
    pub loading: Loading,
}

impl Finder {
    /// Looks up a normalised path. What cannot be found out now is an error; the others are answers worth remembering.
    pub fn find(&self, path: &[u8]) -> Result<Resource, OpenError> {
        let found = if names_folder(path) { self.find_index(path) } else { self.find_file(path) };
        match found {
            Err(OpenError::Nothing) => Ok(Resource::Nothing),
            Err(OpenError::Forbidden) => Ok(Resource::Forbidden),
            other => other,
        }
    }

    /// Whether a document that was found at this path would be found again, with the same neighbours.
    pub fn is_current(&self, path: &[u8], known: &Representations) -> Result<bool, OpenError> {
        let path = if names_folder(path) { self.index_path(path) } else { path.to_vec() };
        let is_plain_current = self.open_file(&path)?.is_some_and(|(_, stamp)| known.plain.is_current(&stamp));
        if !is_plain_current || !self.precompressed {
            return Ok(is_plain_current);
        }
        for coding in Coding::ALL {
            let is_current = match (self.open_neighbour(&path, coding)?, &known.encoded[coding as usize]) {
                (Some((_, stamp)), Some(encoded)) => encoded.is_current(&stamp),
                (None, None) => true,
                _ => false,
            };
            if !is_current {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn find_file(&self, path: &[u8]) -> Result<Resource, OpenError> {
        match self.root.open_beneath(path)? {
            Opened::File(file, stamp) => self.load(file, stamp, path),
            Opened::Folder => Ok(Resource::Folder),
        }
    }

    fn find_index(&self, folder: &[u8]) -> Result<Resource, OpenError> {
        let path = self.index_path(folder);
        match self.root.open_beneath(&path) {
            Ok(Opened::File(file, stamp)) => self.load(file, stamp, &path),
            Ok(Opened::Folder) | Err(OpenError::Nothing) if self.listing => self.list(folder),
            Ok(Opened::Folder) => Err(OpenError::Nothing),
            Err(error) => Err(error),
        }
    }

    fn index_path(&self, folder: &[u8]) -> Vec<u8> {
        [folder, &self.index].concat()
    }

    fn list(&self, folder: &[u8]) -> Result<Resource, OpenError> {
        Ok(Resource::Listing(listing::page(&self.root, folder, self.hidden)?))
    }

    /// Loads an opened file and its neighbours. The plain one is looked for first: without it there is no document, and
    /// a request for nothing costs one system call instead of four.
    fn load(&self, file: OwnedFd, stamp: Stamp, path: &[u8]) -> Result<Resource, OpenError> {
        let mut encoded = [const { None }; Coding::ALL.len()];
        if self.precompressed {
            for coding in Coding::ALL {
                if let Some((file, stamp)) = self.open_neighbour(path, coding)? {
                    encoded[coding as usize] =
                        Some(Representation::load(file, stamp, path, Some(coding), true, self.loading)?);
                }
            }
        }
        let varies = encoded.iter().any(Option::is_some);
        let plain = Representation::load(file, stamp, path, None, varies, self.loading)?;
        Ok(Resource::Document(Arc::new(Representations { plain, encoded })))
    }

    fn open_neighbour(&self, path: &[u8], coding: Coding) -> Result<Option<(OwnedFd, Stamp)>, OpenError> {
        self.open_file(&[path, coding.suffix()].concat())
    }

    /// A regular file that may be read, if one stands there.
    fn open_file(&self, path: &[u8]) -> Result<Option<(OwnedFd, Stamp)>, OpenError> {
        match self.root.open_beneath(path) {
            Ok(Opened::File(file, stamp)) => Ok(Some((file, stamp))),
            Ok(Opened::Folder) | Err(OpenError::Nothing | OpenError::Forbidden) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
