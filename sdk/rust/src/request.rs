//! What the host asks. Everything borrows from the bytes of the request, so that contents are never copied.

use crate::{Digest, Error};
use alloc::vec::Vec;

/// One action, with everything that the extension may know.
#[derive(Debug, Clone, PartialEq)]
pub struct Request<'a> {
    /// What to do, as in `install`.
    pub action: &'a str,
    /// The extension that is asked, as the host knows it.
    pub extension: Identity<'a>,
    /// What the plan's root is; `None`: not said, which means the project.
    pub scope: Option<Scope>,
    /// The action's parameters, sorted as on the wire. [`Request::param`] finds one.
    pub params: Vec<(&'a str, Param<'a>)>,
    /// What is installed or scanned; `None` if the action has none.
    pub module: Option<Module<'a>>,
    /// Files of the root that the extension's grant lets it read, sorted bytewise by path.
    pub inputs: Vec<Input<'a>>,
}

impl<'a> Request<'a> {
    /// The module, or an error that says that the action came without one.
    pub fn module(&self) -> Result<&Module<'a>, Error> {
        match &self.module {
            Some(m) => Ok(m),
            None => Err(Error([self.action, ": the request has no module"].concat())),
        }
    }

    /// The parameter of that name.
    pub fn param(&self, name: &str) -> Option<Param<'a>> {
        self.params.iter().find(|(k, _)| *k == name).map(|(_, v)| *v)
    }
}

/// An extension or a module in one version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its version.
    pub version: &'a str,
}

/// What kind of root a plan is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// A project directory.
    Project,
    /// The one assistant folder that the manifest names.
    User,
}

/// The value of one parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Param<'a> {
    /// A text.
    Text(&'a str),
    /// An integer.
    Int(i64),
    /// True or false.
    Bool(bool),
}

/// A package of skills, commands and the like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its version.
    pub version: &'a str,
    /// The digest of the whole package.
    pub digest: Digest,
    /// All its files, sorted bytewise by path.
    pub files: Vec<File<'a>>,
}

impl<'a> Module<'a> {
    /// The file at that path.
    pub fn file(&self, path: &str) -> Option<&File<'a>> {
        self.files.binary_search_by(|f| f.path.as_bytes().cmp(path.as_bytes())).ok().map(|i| &self.files[i])
    }
}

/// One file of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct File<'a> {
    /// Its path, with `/`, relative to the module.
    pub path: &'a str,
    /// Its permission bits.
    pub mode: u16,
    /// Its length in bytes, also when the content is withheld.
    pub size: u64,
    /// The digest of its content.
    pub digest: Digest,
    /// Its bytes; `None` unless the manifest asks for them under `contents` and they are within the limit.
    pub content: Option<&'a [u8]>,
}

impl<'a> File<'a> {
    /// The content as text. It is an error, naming the file, if the content was withheld or is not UTF-8.
    pub fn text(&self) -> Result<&'a str, Error> {
        match self.content {
            None => Err(Error(
                [
                    "reading \"",
                    self.path,
                    "\": its content was withheld, it is over the limit or the manifest does not list it under contents",
                ]
                .concat(),
            )),
            Some(bytes) => core::str::from_utf8(bytes)
                .map_err(|_| Error(["reading \"", self.path, "\": it is not UTF-8 text"].concat())),
        }
    }
}

/// What lies at an input's path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputState {
    /// Nothing.
    Absent,
    /// A regular file.
    File,
}

/// One file of the root, as it was when the request was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Input<'a> {
    /// Its path, relative to the root.
    pub path: &'a str,
    /// Whether it is there.
    pub state: InputState,
    /// Its permission bits, if it is there.
    pub mode: Option<u16>,
    /// Its bytes, unless absent or withheld.
    pub content: Option<&'a [u8]>,
    /// The digest of its bytes, if it is there.
    pub digest: Option<Digest>,
}
