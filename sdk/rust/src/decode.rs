//! Reads a request: strict CBOR (RFC 8949, core deterministic encoding), exactly the keys of the protocol, nothing after.

use crate::request::{File, Identity, Input, InputState, Module, Param, Request, Scope};
use crate::Digest;
use alloc::vec::Vec;

/// Why bytes are no request. The classes have the names that the protocol's vectors use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormError {
    /// The class of refusal, as in `unsorted-key`.
    pub class: &'static str,
    /// Bytes from the start of the request to where it was noticed.
    pub offset: usize,
}

type Result<T> = core::result::Result<T, FormError>;

const UINT: u8 = 0;
const NINT: u8 = 1;
const BYTES: u8 = 2;
const TEXT: u8 = 3;
const ARRAY: u8 = 4;
const MAP: u8 = 5;
const TAG: u8 = 6;
const SIMPLE: u8 = 7;

/// Reads one request, and refuses whatever has another form than the protocol's.
///
/// The result borrows from `bytes`; no content is copied. Memory follows the number of items that are really there.
pub fn decode_request(bytes: &[u8]) -> core::result::Result<Request<'_>, FormError> {
    if bytes.is_empty() {
        return Err(FormError { class: "empty", offset: 0 });
    }
    let mut r = Reader { bytes, at: 0 };
    let request = r.request()?;
    if r.at != bytes.len() {
        return r.fail("trailing");
    }
    Ok(request)
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// The keys of one map as they come by.
struct Keys<'a> {
    left: u64,
    last: &'a [u8],
}

impl<'a> Reader<'a> {
    fn fail<T>(&self, class: &'static str) -> Result<T> {
        Err(FormError { class, offset: self.at })
    }

    fn need<T>(&self, value: Option<T>) -> Result<T> {
        match value {
            Some(v) => Ok(v),
            None => self.fail("missing-key"),
        }
    }

    /// Reads the head of an item: major type and argument. Leaves `at` after it.
    fn head(&mut self) -> Result<(u8, u64)> {
        let Some(&first) = self.bytes.get(self.at) else {
            return self.fail("truncated");
        };
        let (major, info) = (first >> 5, first & 31);
        match major {
            TAG => return self.fail(if info < 28 { "tag" } else { "malformed" }),
            SIMPLE => match info {
                20..=22 => {}
                25..=27 => return self.fail("float"),
                28..=31 => return self.fail("malformed"),
                _ => return self.fail("simple"),
            },
            _ => match info {
                31 if major >= BYTES => return self.fail("indefinite-length"),
                28..=31 => return self.fail("malformed"),
                _ => {}
            },
        }
        if info < 24 {
            self.at += 1;
            return Ok((major, info as u64));
        }
        let width = 1usize << (info - 24);
        let Some(tail) = self.bytes.get(self.at + 1..self.at + 1 + width) else {
            return self.fail("truncated");
        };
        let value = tail.iter().fold(0u64, |v, &b| v << 8 | b as u64);
        // The smallest number that needs this width.
        let least = if width == 1 { 24 } else { 1u64 << (width * 4) };
        if value < least {
            return self.fail("non-minimal");
        }
        self.at += 1 + width;
        Ok((major, value))
    }

    /// Reads a head that must be of one major type.
    fn expect(&mut self, major: u8) -> Result<u64> {
        let start = self.at;
        match self.head()? {
            (m, v) if m == major => Ok(v),
            (SIMPLE, 22) => {
                self.at = start;
                self.fail("null")
            }
            _ => {
                self.at = start;
                self.fail("type")
            }
        }
    }

    /// Takes the bytes of a string whose head was just read.
    fn take(&mut self, len: u64) -> Result<&'a [u8]> {
        let rest = &self.bytes[self.at..];
        if len > rest.len() as u64 {
            return self.fail("length-over-rest");
        }
        self.at += len as usize;
        Ok(&rest[..len as usize])
    }

    fn data(&mut self) -> Result<&'a [u8]> {
        let len = self.expect(BYTES)?;
        self.take(len)
    }

    fn text(&mut self) -> Result<&'a str> {
        let len = self.expect(TEXT)?;
        let bytes = self.take(len)?;
        core::str::from_utf8(bytes).or_else(|_| self.fail("invalid-utf8"))
    }

    fn uint(&mut self) -> Result<u64> {
        let start = self.at;
        match self.head()? {
            (UINT, v) => Ok(v),
            (NINT, _) => {
                self.at = start;
                self.fail("value")
            }
            (major, v) => {
                self.at = start;
                self.fail(if major == SIMPLE && v == 22 { "null" } else { "type" })
            }
        }
    }

    fn digest(&mut self) -> Result<Digest> {
        let bytes = self.data()?;
        Digest::try_from(bytes).or_else(|_| self.fail("value"))
    }

    fn mode(&mut self) -> Result<u16> {
        match self.uint()? {
            m if m <= 0o777 => Ok(m as u16),
            _ => self.fail("value"),
        }
    }

    fn map(&mut self) -> Result<Keys<'a>> {
        let left = self.expect(MAP)?;
        // Every pair takes two bytes at the least.
        if left > (self.bytes.len() - self.at) as u64 / 2 {
            return self.fail("length-over-rest");
        }
        Ok(Keys { left, last: &[] })
    }

    fn array(&mut self) -> Result<u64> {
        let left = self.expect(ARRAY)?;
        if left > (self.bytes.len() - self.at) as u64 {
            return self.fail("length-over-rest");
        }
        Ok(left)
    }

    /// Reads the next key of a map; `None` at its end. Keys must ascend by their encodings.
    fn key(&mut self, keys: &mut Keys<'a>) -> Result<Option<&'a str>> {
        if keys.left == 0 {
            return Ok(None);
        }
        keys.left -= 1;
        let start = self.at;
        let (major, len) = self.head()?;
        if major != TEXT {
            self.at = start;
            return self.fail("key-type");
        }
        let bytes = self.take(len)?;
        let Ok(key) = core::str::from_utf8(bytes) else {
            return self.fail("invalid-utf8");
        };
        let encoded = &self.bytes[start..self.at];
        if encoded == keys.last {
            return self.fail("duplicate-key");
        }
        if encoded < keys.last {
            return self.fail("unsorted-key");
        }
        keys.last = encoded;
        Ok(Some(key))
    }

    fn request(&mut self) -> Result<Request<'a>> {
        let (mut abi, mut action, mut extension, mut scope) = (None, None, None, None);
        let (mut params, mut module, mut inputs) = (Vec::new(), None, Vec::new());
        let mut keys = self.map()?;
        while let Some(key) = self.key(&mut keys)? {
            match key {
                "abi" => match self.uint()? {
                    1 => abi = Some(1),
                    _ => return self.fail("version"),
                },
                "action" => action = Some(self.text()?),
                "extension" => extension = Some(self.identity()?),
                "scope" => {
                    scope = Some(match self.text()? {
                        "project" => Scope::Project,
                        "user" => Scope::User,
                        _ => return self.fail("value"),
                    })
                }
                "params" => params = self.params()?,
                "module" => module = Some(self.module()?),
                "inputs" => inputs = self.list(Self::input, |i| i.path)?,
                _ => return self.fail("unknown-key"),
            }
        }
        self.need(abi)?;
        Ok(Request { action: self.need(action)?, extension: self.need(extension)?, scope, params, module, inputs })
    }

    fn identity(&mut self) -> Result<Identity<'a>> {
        let (mut name, mut version) = (None, None);
        let mut keys = self.map()?;
        while let Some(key) = self.key(&mut keys)? {
            match key {
                "name" => name = Some(self.text()?),
                "version" => version = Some(self.text()?),
                _ => return self.fail("unknown-key"),
            }
        }
        Ok(Identity { name: self.need(name)?, version: self.need(version)? })
    }

    fn params(&mut self) -> Result<Vec<(&'a str, Param<'a>)>> {
        let mut params = Vec::new();
        let mut keys = self.map()?;
        while let Some(key) = self.key(&mut keys)? {
            let value = self.param()?;
            params.push((key, value));
        }
        Ok(params)
    }

    fn param(&mut self) -> Result<Param<'a>> {
        let start = self.at;
        let (major, v) = self.head()?;
        match (major, v) {
            (UINT, _) | (NINT, _) => match i64::try_from(v) {
                Ok(n) => Ok(Param::Int(if major == UINT { n } else { -1 - n })),
                Err(_) => self.fail("value"),
            },
            (TEXT, _) => {
                self.at = start;
                Ok(Param::Text(self.text()?))
            }
            (SIMPLE, 20) => Ok(Param::Bool(false)),
            (SIMPLE, 21) => Ok(Param::Bool(true)),
            (SIMPLE, _) => self.fail("null"),
            _ => self.fail("type"),
        }
    }

    /// Reads an array of maps that ascends bytewise by path.
    fn list<T>(&mut self, item: fn(&mut Self) -> Result<T>, path: fn(&T) -> &'a str) -> Result<Vec<T>> {
        let mut items: Vec<T> = Vec::new();
        for _ in 0..self.array()? {
            let next = item(self)?;
            if let Some(last) = items.last() {
                if path(last).as_bytes() >= path(&next).as_bytes() {
                    return self.fail("order");
                }
            }
            items.push(next);
        }
        Ok(items)
    }

    fn module(&mut self) -> Result<Module<'a>> {
        let (mut name, mut version, mut digest, mut files) = (None, None, None, None);
        let mut keys = self.map()?;
        while let Some(key) = self.key(&mut keys)? {
            match key {
                "name" => name = Some(self.text()?),
                "version" => version = Some(self.text()?),
                "digest" => digest = Some(self.digest()?),
                "files" => files = Some(self.list(Self::file, |f| f.path)?),
                _ => return self.fail("unknown-key"),
            }
        }
        Ok(Module {
            name: self.need(name)?,
            version: self.need(version)?,
            digest: self.need(digest)?,
            files: self.need(files)?,
        })
    }

    fn file(&mut self) -> Result<File<'a>> {
        let (mut path, mut mode, mut size, mut digest, mut content) = (None, None, None, None, None);
        let mut keys = self.map()?;
        while let Some(key) = self.key(&mut keys)? {
            match key {
                "path" => path = Some(self.text()?),
                "mode" => mode = Some(self.mode()?),
                "size" => match self.uint()? {
                    n if n <= i64::MAX as u64 => size = Some(n),
                    _ => return self.fail("value"),
                },
                "digest" => digest = Some(self.digest()?),
                "content" => content = Some(self.data()?),
                _ => return self.fail("unknown-key"),
            }
        }
        Ok(File {
            path: self.need(path)?,
            mode: self.need(mode)?,
            size: self.need(size)?,
            digest: self.need(digest)?,
            content,
        })
    }

    fn input(&mut self) -> Result<Input<'a>> {
        let (mut path, mut state, mut mode, mut content, mut digest) = (None, None, None, None, None);
        let mut keys = self.map()?;
        while let Some(key) = self.key(&mut keys)? {
            match key {
                "path" => path = Some(self.text()?),
                "state" => {
                    state = Some(match self.text()? {
                        "absent" => InputState::Absent,
                        "file" => InputState::File,
                        _ => return self.fail("value"),
                    })
                }
                "mode" => mode = Some(self.mode()?),
                "content" => content = Some(self.data()?),
                "digest" => digest = Some(self.digest()?),
                _ => return self.fail("unknown-key"),
            }
        }
        let input = Input { path: self.need(path)?, state: self.need(state)?, mode, content, digest };
        if input.state == InputState::Absent && (mode.is_some() || content.is_some() || digest.is_some()) {
            return self.fail("exclusive");
        }
        Ok(input)
    }
}
