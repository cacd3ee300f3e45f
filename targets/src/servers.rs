//! The MCP servers of a module: reads `mcps.json`, and says what each assistant's own configuration calls the same.
//!
//! Nothing is filled in here. A placeholder for an environment variable becomes the assistant's own kind of placeholder; where
//! there is none, the server is left out, since half of one would run something that nobody asked for.

use crate::json::{self, Value};
use alloc::string::String;
use alloc::vec::Vec;
use lola_ext::Json;

/// How many servers a module may bring.
const MAX_SERVERS: usize = 100;

/// How long a server's name may be.
const MAX_NAME: usize = 64;

/// Whose configuration it is.
#[derive(Clone, Copy, PartialEq)]
pub enum Dialect {
    ClaudeCode,
    Cursor,
    GeminiCli,
    OpenCode,
    VsCode,
    /// What Copilot reads outside VS Code.
    CopilotCli,
}

/// One server, as the module describes it.
pub struct Server {
    pub name: &'static str,
    how: How,
    /// Fields beside those of every server: the ones that few assistants know, and the ones that none does.
    more: Vec<(&'static str, Value)>,
}

type Pairs = &'static [(&'static str, Value)];

#[derive(Clone, Copy)]
enum How {
    /// A program that the assistant starts. `args` are texts, `env` has texts for values.
    Local { command: &'static str, args: &'static [Value], env: Pairs, cwd: Option<&'static str> },
    /// A URL that it speaks to; `sse` is the older way. `headers` has texts for values.
    Remote { sse: bool, url: &'static str, headers: Pairs },
}

/// What `mcps.json` holds.
pub struct Listed {
    pub servers: Vec<Server>,
    /// Keys beside `mcpServers`.
    pub unknown: Vec<&'static str>,
}

/// The forms of fields.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Text,
    Texts,
    Whole,
}

/// Fields that are passed on as they are, and to whom. `trust`, `autoApprove` and their like are not among them: a module
/// cannot ask that its own tools go unasked.
const EXTRA: [(&str, Form, &[Dialect]); 5] = [
    ("timeout", Form::Whole, &[Dialect::ClaudeCode, Dialect::GeminiCli, Dialect::OpenCode, Dialect::CopilotCli]),
    ("envFile", Form::Text, &[Dialect::Cursor, Dialect::VsCode]),
    ("description", Form::Text, &[Dialect::GeminiCli]),
    ("includeTools", Form::Texts, &[Dialect::GeminiCli]),
    ("excludeTools", Form::Texts, &[Dialect::GeminiCli]),
];

/// Reads `mcps.json`. An error says where it is not as docs/modules.md has it.
pub fn read(text: &str) -> Result<Listed, String> {
    let mut listed = Listed { servers: Vec::new(), unknown: Vec::new() };
    let mut found = false;
    for &(key, value) in object(json::parse(text)?, "it")? {
        if key != "mcpServers" {
            listed.unknown.push(key);
            continue;
        }
        found = true;
        for &(name, value) in object(value, "mcpServers")? {
            check_name(name)?;
            if listed.servers.len() == MAX_SERVERS {
                return Err(String::from("mcpServers has more than 100 servers"));
            }
            listed.servers.push(server(name, value)?);
        }
    }
    if !found {
        return Err(String::from("it has no mcpServers"));
    }
    Ok(listed)
}

/// Names are keys in a file that several programs read, and parts of the names of tools.
fn check_name(name: &str) -> Result<(), String> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b' ' | b'.' | b'_' | b'-' | b'/' | b'~' | b'@' | b':');
    let fits = (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(plain) && name.trim() == name;
    if !fits {
        return Err([
            "the name of server \"",
            short(name),
            "\" is not 1 to 64 letters, digits, spaces within and . _ - / ~ @ :",
        ]
        .concat());
    }
    // JavaScript takes these for something else than a key.
    if matches!(name, "__proto__" | "constructor" | "prototype") {
        return Err(["a server cannot be called \"", name, "\""].concat());
    }
    Ok(())
}

/// As much of a text as a message needs. Names of fields and variables can be as long as the file.
pub fn short(text: &str) -> &str {
    text.char_indices().nth(MAX_NAME).map_or(text, |(end, _)| &text[..end])
}

fn server(name: &'static str, value: Value) -> Result<Server, String> {
    let (mut kind, mut command, mut url, mut cwd) = (None, None, None, None);
    let (mut args, mut env, mut headers) = (None, None, None);
    let mut more = Vec::new();
    let here = ["server \"", name, "\""].concat();
    for &(key, value) in object(value, &here)? {
        let at = [&here, ": ", short(key)].concat();
        match key {
            "type" => kind = Some(text(value, &at)?),
            "command" => command = Some(text(value, &at)?),
            "args" => args = Some(texts(value, &at)?),
            "env" => env = Some(pairs(value, &at)?),
            "cwd" => cwd = Some(text(value, &at)?),
            "url" => url = Some(text(value, &at)?),
            "headers" => headers = Some(pairs(value, &at)?),
            _ => {
                match EXTRA.iter().find(|(k, ..)| *k == key) {
                    None => {}
                    Some((_, Form::Text, _)) => _ = text(value, &at)?,
                    Some((_, Form::Texts, _)) => _ = texts(value, &at)?,
                    Some((_, Form::Whole, _)) if matches!(value, Value::Int(1..)) => {}
                    Some((_, Form::Whole, _)) => return Err([&at, ": want a whole number above 0"].concat()),
                }
                more.push((key, value));
            }
        }
    }
    let local = command.is_some() || args.is_some() || env.is_some() || cwd.is_some();
    let remote = url.is_some() || headers.is_some();
    let how = match (kind.unwrap_or(if url.is_some() { "http" } else { "stdio" }), command, url) {
        ("stdio", ..) if remote => Err(": one that is started has neither url nor headers"),
        ("stdio", Some(command), _) if !command.is_empty() => {
            Ok(How::Local { command, args: args.unwrap_or_default(), env: env.unwrap_or_default(), cwd })
        }
        ("stdio", ..) => Err(": want command or url"),
        ("http" | "streamable-http" | "sse", ..) if local => Err(": one with a url has no command, args, env or cwd"),
        (kind @ ("http" | "streamable-http" | "sse"), _, Some(url)) if !url.is_empty() => {
            Ok(How::Remote { sse: kind == "sse", url, headers: headers.unwrap_or_default() })
        }
        ("http" | "streamable-http" | "sse", ..) => Err(": want url"),
        _ => Err(": type: want \"stdio\", \"http\" or \"sse\""),
    };
    match how {
        Ok(how) => Ok(Server { name, how, more }),
        Err(cause) => Err([&here, cause].concat()),
    }
}

fn object(value: Value, at: &str) -> Result<Pairs, String> {
    match value {
        Value::Object(pairs) => Ok(pairs),
        _ => Err([at, ": want an object"].concat()),
    }
}

fn text(value: Value, at: &str) -> Result<&'static str, String> {
    match value {
        // No program takes one in an argument.
        Value::Text(t) if t.contains('\0') => Err([at, ": it holds a NUL"].concat()),
        Value::Text(t) => Ok(t),
        _ => Err([at, ": want a text"].concat()),
    }
}

fn texts(value: Value, at: &str) -> Result<&'static [Value], String> {
    let Value::Array(items) = value else {
        return Err([at, ": want a list of texts"].concat());
    };
    for item in items {
        text(*item, at)?;
    }
    Ok(items)
}

/// An object of texts. Its keys are names of variables or headers, in which nothing could be mistaken for a placeholder.
fn pairs(value: Value, at: &str) -> Result<Pairs, String> {
    let pairs = object(value, at)?;
    for (key, value) in pairs {
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
        if key.is_empty() || !key.bytes().all(plain) {
            return Err([at, ": a name in it is not of letters, digits and _ - ."].concat());
        }
        text(*value, &[at, ": ", short(key)].concat())?;
    }
    Ok(pairs)
}

impl Server {
    /// The server in an assistant's own words, and what the user should know of it. An error says why it has to be left out.
    pub fn shape(&self, dialect: Dialect) -> Result<(Json, Vec<String>), String> {
        let name = self.name;
        match dialect {
            Dialect::ClaudeCode | Dialect::CopilotCli
                if name.bytes().any(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))) =>
            {
                return Err(String::from("names there are of letters, digits, - and _"));
            }
            Dialect::ClaudeCode if name == "workspace" => return Err(String::from("the name is taken there")),
            // Version 2 has its servers and its timeouts under these.
            Dialect::OpenCode if matches!(name, "servers" | "timeout") => {
                return Err(String::from("the name means something else there"));
            }
            _ => {}
        }
        let mut s = Shape { dialect, filled: true, out: Vec::new(), notes: Vec::new() };
        let remote = matches!(self.how, How::Remote { .. });
        match self.how {
            How::Local { command, args, env, cwd } => s.local(command, args, env, cwd)?,
            How::Remote { sse, url, headers } => s.remote(sse, url, headers)?,
        }
        // It has a list of the tools that there are, and wants to have it.
        let mut tools = Value::Array(&[Value::Text("*")]);
        for &(key, value) in &self.more {
            if dialect == Dialect::CopilotCli && key == "includeTools" {
                tools = value;
                continue;
            }
            match EXTRA.iter().find(|(k, ..)| *k == key) {
                Some((.., whom)) if whom.contains(&dialect) && !(remote && key == "envFile") => {
                    s.put(key, value)?;
                }
                Some(_) if key.ends_with("Tools") => {
                    s.note(&[key, " is not known there, left out; its tools are not limited there"]);
                }
                Some(_) => s.note(&[key, " is not known there, left out"]),
                None => s.note(&[short(key), " is not known, left out"]),
            }
        }
        if dialect == Dialect::CopilotCli {
            s.put("tools", tools)?;
        }
        Ok((Json::Object(s.out), s.notes))
    }
}

/// A server as it grows.
struct Shape {
    dialect: Dialect,
    /// Whether the assistant fills in placeholders in the field that is being put.
    filled: bool,
    out: Vec<(String, Json)>,
    notes: Vec<String>,
}

impl Shape {
    fn note(&mut self, parts: &[&str]) {
        let note = parts.concat();
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    fn put(&mut self, key: &str, value: Value) -> Result<(), String> {
        self.filled = self.dialect != Dialect::CopilotCli || matches!(key, "env" | "headers");
        let value = self.value(value)?;
        self.out.push((String::from(key), value));
        Ok(())
    }

    /// Puts what has its place only if there is something in it.
    fn put_some(&mut self, key: &str, value: Value) -> Result<(), String> {
        match value {
            Value::Array([]) | Value::Object([]) => Ok(()),
            _ => self.put(key, value),
        }
    }

    /// A value with the placeholders of its texts.
    fn value(&mut self, value: Value) -> Result<Json, String> {
        Ok(match value {
            Value::Null => Json::Null,
            Value::Bool(b) => Json::Bool(b),
            Value::Int(n) => Json::Int(n),
            Value::Text(t) => Json::Text(self.fill(t)?),
            Value::Array(items) => {
                let mut out = Vec::new();
                for item in items {
                    out.push(self.value(*item)?);
                }
                Json::Array(out)
            }
            Value::Object(pairs) => {
                let mut out = Vec::new();
                for (key, value) in pairs {
                    out.push((String::from(*key), self.value(*value)?));
                }
                Json::Object(out)
            }
        })
    }

    fn local(
        &mut self,
        command: &'static str,
        args: &'static [Value],
        env: Pairs,
        cwd: Option<&'static str>,
    ) -> Result<(), String> {
        if self.dialect == Dialect::OpenCode {
            self.put_some("type", Value::Text("local"))?;
            let mut all = Vec::new();
            all.push(Value::Text(command));
            all.extend_from_slice(args);
            self.put_some("command", Value::Array(all.leak()))?;
            self.put_some("environment", Value::Object(env))?;
        } else {
            if matches!(self.dialect, Dialect::Cursor | Dialect::VsCode | Dialect::CopilotCli) {
                self.put_some("type", Value::Text("stdio"))?;
            }
            self.put_some("command", Value::Text(command))?;
            match self.dialect {
                // It wants to have the list.
                Dialect::CopilotCli => self.put("args", Value::Array(args))?,
                _ => self.put_some("args", Value::Array(args))?,
            }
            self.put_some("env", Value::Object(env))?;
        }
        match (cwd, self.dialect) {
            (None, _) => {}
            (_, Dialect::ClaudeCode | Dialect::Cursor) => self.note(&["cwd is not known there, left out"]),
            (Some(cwd), _) => self.put_some("cwd", Value::Text(cwd))?,
        }
        Ok(())
    }

    fn remote(&mut self, sse: bool, url: &'static str, headers: Pairs) -> Result<(), String> {
        let (kind, key) = match self.dialect {
            // It finds out by itself which way is spoken.
            Dialect::Cursor => (None, "url"),
            Dialect::GeminiCli => (None, if sse { "url" } else { "httpUrl" }),
            Dialect::OpenCode => (Some("remote"), "url"),
            Dialect::ClaudeCode | Dialect::VsCode | Dialect::CopilotCli => (Some(if sse { "sse" } else { "http" }), "url"),
        };
        if sse && self.dialect == Dialect::OpenCode {
            self.note(&["SSE is spoken by version 1 of it alone"]);
        }
        if let Some(kind) = kind {
            self.put_some("type", Value::Text(kind))?;
        }
        self.put_some(key, Value::Text(url))?;
        self.put_some("headers", Value::Object(headers))
    }

    /// Turns the placeholders of a text into the assistant's own.
    fn fill(&mut self, text: &str) -> Result<String, String> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            self.literal(&rest[..at])?;
            out.push_str(&rest[..at]);
            rest = &rest[at + 2..];
            let Some(end) = rest.find('}') else {
                return Err(String::from("a placeholder in it has no end"));
            };
            self.placeholder(&rest[..end], &mut out)?;
            rest = &rest[end + 1..];
        }
        self.literal(rest)?;
        out.push_str(rest);
        Ok(out)
    }

    /// Looks at text that is to stay as it is, for what the assistant would take for a placeholder.
    fn literal(&mut self, text: &str) -> Result<(), String> {
        match self.dialect {
            Dialect::OpenCode => {
                for start in ["{env:", "{file:"] {
                    if text.contains(start) {
                        return Err([start, "...} in it would be filled in there"].concat());
                    }
                }
            }
            Dialect::GeminiCli | Dialect::CopilotCli if self.filled => {
                let named = |(i, _): (usize, &str)| {
                    text.as_bytes().get(i + 1).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_')
                };
                if text.match_indices('$').any(named) {
                    self.note(&["$NAME in it is filled in there from the environment"]);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// `VAR`, `env:VAR`, `VAR:-default`, and the two folders that editors know.
    fn placeholder(&mut self, inner: &str, out: &mut String) -> Result<(), String> {
        let (name, default) = match inner.strip_prefix("env:") {
            Some(name) => (name, None),
            None => match inner.split_once(":-") {
                Some((name, default)) => (name, Some(default)),
                None => (inner, None),
            },
        };
        let is_name = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            && name.bytes().next().is_some_and(|b| !b.is_ascii_digit());
        if !is_name || default.is_some_and(|d| d.contains("${")) {
            return Err(["the placeholder ${", short(inner), "} in it is not understood"].concat());
        }
        let editor = matches!(self.dialect, Dialect::Cursor | Dialect::VsCode);
        if matches!(inner, "workspaceFolder" | "userHome") {
            if !editor {
                return Err(["the placeholder ${", inner, "} in it means nothing there"].concat());
            }
            out.extend(["${", inner, "}"]);
            return Ok(());
        }
        if !self.filled {
            return Err(["the placeholder ${", short(inner), "} stands in it where none is filled in there"].concat());
        }
        match self.dialect {
            Dialect::ClaudeCode | Dialect::GeminiCli | Dialect::CopilotCli => {
                out.extend(["${", name]);
                if let Some(default) = default {
                    self.literal(default)?;
                    out.extend([":-", default]);
                }
                out.push('}');
                return Ok(());
            }
            Dialect::Cursor | Dialect::VsCode => out.extend(["${env:", name, "}"]),
            Dialect::OpenCode => out.extend(["{env:", name, "}"]),
        }
        if default.is_some() {
            self.note(&[short(name), " has a default in it, which placeholders there cannot have, left out"]);
        }
        Ok(())
    }
}

/// Appends one step to a JSON pointer (RFC 6901).
pub fn pointer(parent: &str, key: &str) -> String {
    let mut out = String::from(parent);
    out.push('/');
    for c in key.chars() {
        match c {
            '~' => out.push_str("~0"),
            '/' => out.push_str("~1"),
            c => out.push(c),
        }
    }
    out
}
