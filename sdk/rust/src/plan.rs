//! What an extension answers.

use crate::request::File;
use crate::Digest;
use alloc::string::String;
use alloc::vec::Vec;

/// The whole answer. A set, not a script: the order of intents means nothing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Plan {
    /// What catalogs and scans answer; targets and sources leave it out.
    pub outcome: Option<Outcome>,
    /// Text for the user. Messages never fail a run.
    pub messages: Vec<Message>,
    /// What is to be done.
    pub intents: Vec<Intent>,
}

impl Plan {
    /// Writes a file with mode 0644.
    pub fn write(&mut self, path: &str, content: impl Into<Vec<u8>>) {
        self.intents.push(Intent::Write(Write {
            path: String::from(path),
            mode: 0o644,
            content: Content::Bytes(content.into()),
            expect: Expect::Anything,
            replace_symlink: false,
        }));
    }

    /// Copies a file of the module, with its mode. Its content does not pass through the extension.
    pub fn copy(&mut self, file: &File, path: &str) {
        self.intents.push(Intent::Write(Write {
            path: String::from(path),
            mode: file.mode,
            content: Content::Module(String::from(file.path)),
            expect: Expect::Anything,
            replace_symlink: false,
        }));
    }

    /// Tells the user something.
    pub fn info(&mut self, text: impl Into<String>) {
        self.messages.push(Message { level: Level::Info, text: text.into() });
    }

    /// Tells the user that something was left out or is not as it may be expected.
    pub fn warn(&mut self, text: impl Into<String>) {
        self.messages.push(Message { level: Level::Warn, text: text.into() });
    }
}

/// How loud a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Level {
    Debug,
    Info,
    Warn,
    Error,
}

/// Text for the user. The host shows it as foreign text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// How loud.
    pub level: Level,
    /// The text.
    pub text: String,
}

/// One effect that the extension asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Intent {
    /// Make a file or replace it.
    Write(Write),
    /// Change values of a JSON file without reading it. At least one edit.
    EditJson {
        /// The file.
        path: String,
        /// The changes.
        edits: Vec<JsonEdit>,
    },
    /// Keep one marked block in a text file.
    EditBlock {
        /// The file.
        path: String,
        /// The block's name, `[a-z0-9.-]{1,64}`.
        id: String,
        /// What stands between the markers; `None` removes the block.
        text: Option<String>,
    },
    /// Remove a file or a directory. Removing what is absent is no error.
    Delete {
        /// What to remove.
        path: String,
    },
    /// Move a file or a directory within the root.
    Rename {
        /// From here.
        from: String,
        /// To here.
        to: String,
    },
    /// Ask the host to get a URL into a file.
    Fetch {
        /// The `https` URL.
        url: String,
        /// `GET` or `HEAD`.
        method: String,
        /// Names and values, in order.
        headers: Vec<(String, String)>,
        /// The file.
        dest: String,
        /// What the bytes must be, if known.
        digest: Option<Digest>,
    },
    /// Ask the host to clone a repository into a directory.
    Clone {
        /// Its URL.
        repo: String,
        /// Branch, tag or commit.
        refname: String,
        /// How many commits; `None`: not said.
        depth: Option<u32>,
        /// The directory.
        dest: String,
        /// The commit that it must be, in lower-case hexadecimal, if known.
        commit: Option<String>,
    },
}

/// A file to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    /// Where.
    pub path: String,
    /// Its permission bits, at most 0o777.
    pub mode: u16,
    /// What.
    pub content: Content,
    /// What must lie there now.
    pub expect: Expect,
    /// Replace a symbolic link at the path, never what it points to. Needs the grant `symlink:replace`.
    pub replace_symlink: bool,
}

/// What a written file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// These bytes.
    Bytes(Vec<u8>),
    /// A copy of the module's file at this path.
    Module(String),
}

/// A precondition on what lies at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// None.
    Anything,
    /// Nothing may be there.
    Absent,
    /// A file with this digest must be there.
    Digest(Digest),
}

/// One change of a JSON file.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonEdit {
    /// A JSON pointer (RFC 6901).
    pub at: String,
    /// What to set; `None` removes what is there.
    pub value: Option<Json>,
}

/// A JSON value. There are no floating-point numbers on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Json {
    Null,
    Bool(bool),
    Int(i64),
    Text(String),
    Array(Vec<Json>),
    /// Any order; the encoder sorts. The same key twice is an error.
    Object(Vec<(String, Json)>),
}

/// What catalogs and scans answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// To the actions `search` and `list`.
    Entries(Vec<Entry>),
    /// To the action `resolve`.
    Resolved {
        /// Where the module is.
        source: String,
        /// In which version, if known.
        version: Option<String>,
        /// The package digest, if known.
        digest: Option<Digest>,
    },
    /// To the action `scan`.
    Scan {
        /// The conclusion.
        verdict: Verdict,
        /// What was seen.
        findings: Vec<Finding>,
    },
}

/// One module that a catalog knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub source: String,
    /// In which version, if known.
    pub version: Option<String>,
    /// What it is, if known.
    pub description: Option<String>,
}

/// A scan's conclusion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Verdict {
    Pass,
    Warn,
    Fail,
}

/// One thing that a scan saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// A stable name of the rule.
    pub rule: String,
    /// How bad.
    pub severity: String,
    /// What, in words.
    pub text: String,
    /// In which file; `None`: the whole module.
    pub path: Option<String>,
}
