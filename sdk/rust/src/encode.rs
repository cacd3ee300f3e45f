//! Writes a plan: a header, then each intent, in core deterministic CBOR.

use crate::plan::{Content, Expect, Intent, Json, Level, Outcome, Plan, Verdict};
use crate::Error;
use alloc::string::String;
use alloc::vec::Vec;

/// How deep arrays and maps may nest within one item, the item counted.
const MAX_DEPTH: usize = 8;

/// Turns a plan into the bytes that the host reads.
///
/// A plan that no host would decode is an error that names the intent: a mode beyond 0o777, an edit without changes, a JSON
/// value that nests too deep or has a key twice. Whether a path or an op is allowed is not judged here.
pub fn encode_plan(plan: &Plan) -> Result<Vec<u8>, Error> {
    let mut w = Writer { out: Vec::new() };
    w.header(plan);
    for intent in &plan.intents {
        w.intent(intent)?;
    }
    Ok(w.out)
}

struct Writer {
    out: Vec<u8>,
}

/// Keys of a map come in the order of their encodings: the shorter first, then bytewise. The functions below write them in
/// that order by hand; the vectors hold them to it.
impl Writer {
    fn head(&mut self, major: u8, value: u64) {
        let major = major << 5;
        let (info, width) = match value {
            0..=23 => (value as u8, 0),
            24..=0xff => (24, 1),
            0x100..=0xffff => (25, 2),
            0x1_0000..=0xffff_ffff => (26, 4),
            _ => (27, 8),
        };
        self.out.push(major | info);
        self.out.extend_from_slice(&value.to_be_bytes()[8 - width..]);
    }

    fn uint(&mut self, v: u64) {
        self.head(0, v);
    }

    fn int(&mut self, v: i64) {
        if v < 0 {
            self.head(1, (-1 - v) as u64);
        } else {
            self.head(0, v as u64);
        }
    }

    fn bytes(&mut self, b: &[u8]) {
        self.head(2, b.len() as u64);
        self.out.extend_from_slice(b);
    }

    fn text(&mut self, s: &str) {
        self.head(3, s.len() as u64);
        self.out.extend_from_slice(s.as_bytes());
    }

    fn array(&mut self, len: usize) {
        self.head(4, len as u64);
    }

    fn map(&mut self, len: usize) {
        self.head(5, len as u64);
    }

    fn bool(&mut self, b: bool) {
        self.out.push(if b { 0xf5 } else { 0xf4 });
    }

    /// A key and a text.
    fn pair(&mut self, key: &str, value: &str) {
        self.text(key);
        self.text(value);
    }

    /// A key and a text, if there is one.
    fn pair_if(&mut self, key: &str, value: &Option<String>) {
        if let Some(v) = value {
            self.pair(key, v);
        }
    }

    fn header(&mut self, plan: &Plan) {
        self.map(2 + plan.outcome.is_some() as usize + !plan.messages.is_empty() as usize);
        self.text("abi");
        self.uint(crate::ABI_VERSION as u64);
        self.text("count");
        self.uint(plan.intents.len() as u64);
        if let Some(outcome) = &plan.outcome {
            self.text("result");
            self.outcome(outcome);
        }
        if !plan.messages.is_empty() {
            self.text("messages");
            self.array(plan.messages.len());
            for m in &plan.messages {
                self.map(2);
                self.pair("text", &m.text);
                self.pair(
                    "level",
                    match m.level {
                        Level::Debug => "debug",
                        Level::Info => "info",
                        Level::Warn => "warn",
                        Level::Error => "error",
                    },
                );
            }
        }
    }

    fn outcome(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Entries(entries) => {
                self.map(1);
                self.text("entries");
                self.array(entries.len());
                for e in entries {
                    self.map(2 + e.version.is_some() as usize + e.description.is_some() as usize);
                    self.pair("name", &e.name);
                    self.pair("source", &e.source);
                    self.pair_if("version", &e.version);
                    self.pair_if("description", &e.description);
                }
            }
            Outcome::Resolved { source, version, digest } => {
                self.map(1 + version.is_some() as usize + digest.is_some() as usize);
                if let Some(d) = digest {
                    self.text("digest");
                    self.bytes(d);
                }
                self.pair("source", source);
                self.pair_if("version", version);
            }
            Outcome::Scan { verdict, findings } => {
                self.map(2);
                self.pair(
                    "verdict",
                    match verdict {
                        Verdict::Pass => "pass",
                        Verdict::Warn => "warn",
                        Verdict::Fail => "fail",
                    },
                );
                self.text("findings");
                self.array(findings.len());
                for f in findings {
                    self.map(3 + f.path.is_some() as usize);
                    self.pair_if("path", &f.path);
                    self.pair("rule", &f.rule);
                    self.pair("text", &f.text);
                    self.pair("severity", &f.severity);
                }
            }
        }
    }

    fn intent(&mut self, intent: &Intent) -> Result<(), Error> {
        match intent {
            Intent::Write(w) => {
                if w.mode > 0o777 {
                    return refuse("write", &w.path, "its mode has more than permission bits");
                }
                self.map(4 + (w.expect != Expect::Anything) as usize + w.replace_symlink as usize);
                self.pair("op", "write");
                self.text("mode");
                self.uint(w.mode as u64);
                self.pair("path", &w.path);
                match &w.expect {
                    Expect::Anything => {}
                    Expect::Absent => self.pair("expect", "absent"),
                    Expect::Digest(d) => {
                        self.text("expect");
                        self.bytes(d);
                    }
                }
                match &w.content {
                    Content::Module(path) => self.pair("module", path),
                    Content::Bytes(b) => {
                        self.text("content");
                        self.bytes(b);
                    }
                }
                if w.replace_symlink {
                    self.text("replace_symlink");
                    self.bool(true);
                }
            }
            Intent::EditJson { path, edits } => {
                if edits.is_empty() {
                    return refuse("edit", path, "it has no changes");
                }
                self.map(4);
                self.pair("op", "edit");
                self.pair("path", path);
                self.text("edits");
                self.array(edits.len());
                for e in edits {
                    self.map(1 + e.value.is_some() as usize);
                    self.pair("at", &e.at);
                    if let Some(v) = &e.value {
                        self.text("value");
                        // The intent, its edits and this edit lie around the value.
                        if let Err(cause) = self.json(v, 4) {
                            return refuse("edit", path, cause);
                        }
                    }
                }
                self.pair("format", "json");
            }
            Intent::EditBlock { path, id, text } => {
                self.map(4 + text.is_some() as usize);
                self.pair("id", id);
                self.pair("op", "edit");
                self.pair("path", path);
                self.pair_if("text", text);
                self.pair("format", "block");
            }
            Intent::Delete { path } => {
                self.map(2);
                self.pair("op", "delete");
                self.pair("path", path);
            }
            Intent::Rename { from, to } => {
                self.map(3);
                self.pair("op", "rename");
                self.pair("to", to);
                self.pair("from", from);
            }
            Intent::Fetch { url, method, headers, dest, digest } => {
                self.map(4 + !headers.is_empty() as usize + digest.is_some() as usize);
                self.pair("op", "fetch");
                self.pair("url", url);
                self.pair("dest", dest);
                if let Some(d) = digest {
                    self.text("digest");
                    self.bytes(d);
                }
                self.pair("method", method);
                if !headers.is_empty() {
                    self.text("headers");
                    self.array(headers.len());
                    for (name, value) in headers {
                        self.array(2);
                        self.text(name);
                        self.text(value);
                    }
                }
            }
            Intent::Clone { repo, refname, depth, dest, commit } => {
                self.map(4 + depth.is_some() as usize + commit.is_some() as usize);
                self.pair("op", "clone");
                self.pair("ref", refname);
                self.pair("dest", dest);
                self.pair("repo", repo);
                if let Some(n) = depth {
                    self.text("depth");
                    self.uint(*n as u64);
                }
                self.pair_if("commit", commit);
            }
        }
        Ok(())
    }

    /// Writes a JSON value. `depth` is what it would be if it were an array or a map.
    fn json(&mut self, value: &Json, depth: usize) -> Result<(), &'static str> {
        match value {
            Json::Null => self.out.push(0xf6),
            Json::Bool(b) => self.bool(*b),
            Json::Int(n) => self.int(*n),
            Json::Text(s) => self.text(s),
            Json::Array(_) | Json::Object(_) if depth > MAX_DEPTH => return Err("a value nests too deep"),
            Json::Array(items) => {
                self.array(items.len());
                for item in items {
                    self.json(item, depth + 1)?;
                }
            }
            Json::Object(pairs) => {
                let mut sorted: Vec<&(String, Json)> = pairs.iter().collect();
                crate::sort(&mut sorted, |(a, _), (b, _)| (a.len(), a.as_bytes()) < (b.len(), b.as_bytes()));
                if sorted.windows(2).any(|w| w[0].0 == w[1].0) {
                    return Err("a value has a key twice");
                }
                self.map(sorted.len());
                for (key, v) in sorted {
                    self.text(key);
                    self.json(v, depth + 1)?;
                }
            }
        }
        Ok(())
    }
}

fn refuse(op: &str, path: &str, cause: &str) -> Result<(), Error> {
    Err(Error([op, " \"", path, "\": ", cause].concat()))
}
