//! The YAML block at the top of a Markdown file, read as far as converting needs it.
//!
//! This is no YAML parser. It finds the top-level keys, and reads the scalars of those that are wanted: plain, quoted, `|`
//! and `>`. What it does not understand it says so about, so that nobody gets a garbled description.

use alloc::string::String;
use alloc::vec::Vec;

/// A Markdown file, taken apart.
pub struct Document<'a> {
    /// `None`: there is no frontmatter.
    pub front: Option<Front<'a>>,
    /// What follows the frontmatter; the whole file if there is none.
    pub body: &'a str,
}

/// The keys of a frontmatter, in order.
pub struct Front<'a> {
    entries: Vec<Entry<'a>>,
    /// A line was not understood; then nothing in it can be relied upon.
    pub malformed: bool,
}

struct Entry<'a> {
    key: &'a str,
    /// What follows the colon on its line.
    first: &'a str,
    /// The lines that belong to it.
    more: Vec<&'a str>,
}

/// What is known of a key's value.
#[derive(Debug, PartialEq)]
pub enum Scalar {
    /// The key is not there, or has no value.
    Absent,
    Text(String),
    /// A list, a map, or a form of scalar that is not read here.
    Other,
}

/// Splits a file. A `---` line at its very start opens the frontmatter, the next such line ends it; without a second one
/// there is no frontmatter. Lines may end in CRLF; a byte order mark is skipped.
pub fn split(text: &str) -> Document<'_> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut rest = text;
    if next_line(&mut rest).map(str::trim_end) != Some("---") {
        return Document { front: None, body: text };
    }
    let mut front = Front { entries: Vec::new(), malformed: false };
    while let Some(line) = next_line(&mut rest) {
        let line = line.trim_end();
        if line == "---" {
            return Document { front: Some(front), body: rest };
        }
        front.line(line);
    }
    Document { front: None, body: text }
}

/// Takes the next line, without its end, off the front of `rest`.
pub fn next_line<'a>(rest: &mut &'a str) -> Option<&'a str> {
    if rest.is_empty() {
        return None;
    }
    let (line, after) = match rest.find('\n') {
        Some(at) => (&rest[..at], &rest[at + 1..]),
        None => (*rest, ""),
    };
    *rest = after;
    Some(line.strip_suffix('\r').unwrap_or(line))
}

impl<'a> Front<'a> {
    fn line(&mut self, line: &'a str) {
        // Indented lines, list items and blank lines belong to the key above them.
        if line.is_empty() || line.starts_with([' ', '\t']) || line == "-" || line.starts_with("- ") {
            match self.entries.last_mut() {
                Some(entry) => entry.more.push(line),
                None => self.malformed |= !line.is_empty(),
            }
            return;
        }
        if line.starts_with('#') {
            return;
        }
        let Some((key, value)) = line.split_once(':') else {
            self.malformed = true;
            return;
        };
        let key = key.trim_end();
        let plain = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        if !plain || !(value.is_empty() || value.starts_with([' ', '\t'])) || self.has(key) {
            self.malformed = true;
            return;
        }
        self.entries.push(Entry { key, first: value.trim(), more: Vec::new() });
    }

    /// Whether the key is there.
    pub fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|e| e.key == key)
    }

    /// The keys, in order.
    pub fn keys(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.entries.iter().map(|e| e.key)
    }

    /// The value of a key as text.
    pub fn scalar(&self, key: &str) -> Scalar {
        if self.malformed {
            return Scalar::Other;
        }
        match self.entries.iter().find(|e| e.key == key) {
            Some(entry) => entry.scalar(),
            None => Scalar::Absent,
        }
    }
}

impl Entry<'_> {
    fn scalar(&self) -> Scalar {
        let quiet = self.more.iter().all(|l| l.is_empty());
        match self.first.as_bytes().first() {
            Some(b'|' | b'>') => self.block(),
            Some(b'"') if quiet => read(double_quoted(self.first)),
            Some(b'\'') if quiet => read(single_quoted(self.first)),
            Some(b'"' | b'\'') => Scalar::Other,
            Some(b'[' | b'{' | b'&' | b'*' | b'!' | b'%' | b'@' | b'`') => Scalar::Other,
            None if quiet => Scalar::Absent,
            _ => self.plain(),
        }
    }

    /// A plain scalar, possibly over several indented lines, which fold into one.
    fn plain(&self) -> Scalar {
        let mut text = String::from(uncomment(self.first));
        for line in &self.more {
            let part = uncomment(line.trim());
            // Below an empty first line these would be a list or a map.
            let nested = self.first.is_empty() && (part.contains(": ") || part.ends_with(':'));
            if nested || part == "-" || part.starts_with("- ") || part.starts_with(['[', '{', '"', '\'']) {
                return Scalar::Other;
            }
            if !text.is_empty() && !part.is_empty() {
                text.push(' ');
            }
            text.push_str(part);
        }
        match text.as_str() {
            "" | "~" | "null" => Scalar::Absent,
            _ => Scalar::Text(text),
        }
    }

    /// A block scalar. Trailing line ends are dropped whatever the indicator says: a description has no use for them.
    fn block(&self) -> Scalar {
        let folded = self.first.starts_with('>');
        // An indentation indicator is rare and would change what the lines mean.
        if !matches!(uncomment(&self.first[1..]), "" | "-" | "+") {
            return Scalar::Other;
        }
        let indent = match self.more.iter().find(|l| !l.is_empty()) {
            Some(line) => line.len() - line.trim_start_matches(' ').len(),
            None => return Scalar::Absent,
        };
        let mut text = String::new();
        let mut blanks = 0;
        for line in &self.more {
            if line.is_empty() {
                blanks += 1;
                continue;
            }
            let Some(part) = line.get(indent..) else { return Scalar::Other };
            if indent == 0 || !line[..indent].bytes().all(|b| b == b' ') {
                return Scalar::Other;
            }
            // Folding leaves lines alone that are indented further; to tell them apart here is not worth it.
            if folded && part.starts_with([' ', '\t']) {
                return Scalar::Other;
            }
            if !text.is_empty() {
                match (folded, blanks) {
                    (true, 0) => text.push(' '),
                    (true, n) => (0..n).for_each(|_| text.push('\n')),
                    (false, n) => (0..=n).for_each(|_| text.push('\n')),
                }
            }
            blanks = 0;
            text.push_str(part);
        }
        Scalar::Text(text)
    }
}

fn read(text: Option<String>) -> Scalar {
    match text {
        Some(t) if t.is_empty() => Scalar::Absent,
        Some(t) => Scalar::Text(t),
        None => Scalar::Other,
    }
}

/// Cuts off a comment: `#` at the start or after a blank.
fn uncomment(text: &str) -> &str {
    let bytes = text.as_bytes();
    for (i, &b) in bytes.iter().enumerate() {
        if b == b'#' && (i == 0 || bytes[i - 1] == b' ' || bytes[i - 1] == b'\t') {
            return text[..i].trim();
        }
    }
    text.trim()
}

fn single_quoted(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut chars = text[1..].char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c != '\'' {
            out.push(c);
        } else if chars.peek().map(|&(_, c)| c) == Some('\'') {
            out.push('\'');
            chars.next();
        } else {
            return uncomment(&text[1 + at + 1..]).is_empty().then_some(out);
        }
    }
    None
}

fn double_quoted(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut chars = text[1..].char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return uncomment(&text[1 + at + 1..]).is_empty().then_some(out),
            '\\' => out.push(match chars.next()?.1 {
                c @ ('"' | '\\' | '/' | ' ') => c,
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                'x' => escaped(&mut chars, 2)?,
                'u' => escaped(&mut chars, 4)?,
                'U' => escaped(&mut chars, 8)?,
                _ => return None,
            }),
            c => out.push(c),
        }
    }
    None
}

fn escaped(chars: &mut core::str::CharIndices, digits: usize) -> Option<char> {
    let mut value = 0;
    for _ in 0..digits {
        value = value << 4 | chars.next()?.1.to_digit(16)?;
    }
    char::from_u32(value)
}
