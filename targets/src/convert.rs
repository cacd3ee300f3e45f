//! Turns commands, agents and instructions into the forms that need more than a copy.

use crate::frontmatter::{split, Document, Scalar};
use alloc::string::String;
use alloc::vec::Vec;

/// A converted file, and what the user should know of it.
pub struct Converted {
    /// `None`: it fits as it is, and is copied.
    pub text: Option<String>,
    /// Each stands behind the names of the assistant, which is "there", and of the file.
    pub notes: Vec<String>,
}

/// A Markdown command as Gemini CLI's TOML.
pub fn toml_command(text: &str) -> Converted {
    let doc = split(text);
    let mut notes = Vec::new();
    let mut out = String::new();
    if let Some(description) = description(&doc, &mut notes) {
        out.push_str("description = ");
        push_toml_line(&mut out, &description);
        out.push('\n');
    }
    out.push_str("prompt = ");
    let body = doc.body.trim_matches(['\r', '\n']).replace("\r\n", "\n");
    push_toml_text(&mut out, &placeholders(&body, "{{args}}", &mut notes));
    out.push('\n');
    if body.contains("!`") {
        notes.push(String::from("!`...` in it stays text, nothing is run there"));
    }
    if body.contains("!{") || body.contains("@{") {
        notes.push(String::from("!{...} and @{...} in it mean commands to run and files to read there"));
    }
    Converted { text: Some(out), notes }
}

/// A Markdown command as Copilot's prompt file, which differs in the placeholder alone.
pub fn prompt_file(text: &str) -> Converted {
    let mut notes = Vec::new();
    let body = split(text).body;
    let head = &text[..text.len() - body.len()];
    let replaced = placeholders(body, "${input:arguments}", &mut notes);
    if body.contains("!`") {
        notes.push(String::from("!`...` in it stays text, nothing is run there"));
    }
    Converted { text: (replaced != body).then(|| [head, &replaced].concat()), notes }
}

/// An agent for Gemini CLI: a name that is a slug, a description, and no key that it does not know.
pub fn gemini_agent(text: &str, stem: &str) -> Converted {
    let doc = split(text);
    let mut notes = Vec::new();
    let name = match doc.front.as_ref().map(|f| f.scalar("name")) {
        Some(Scalar::Text(name)) => name,
        _ => String::from(stem),
    };
    if let Some(front) = &doc.front {
        let fits = |key| matches!(key, "name" | "description");
        let complete = front.has("name") && matches!(front.scalar("description"), Scalar::Text(_));
        // `kind` is Gemini CLI's own key: such a file was written for it.
        if front.has("kind") || complete && is_slug(&name) && front.keys().all(fits) && !front.malformed {
            return Converted { text: None, notes };
        }
        dropped(front.keys().filter(|k| !fits(k)), &mut notes);
    }
    let slug = slug(&name);
    if slug != name {
        notes.push(["renamed to ", &slug, ", since names there are of lower-case letters, digits, - and _"].concat());
    }
    let description = description(&doc, &mut notes).unwrap_or_else(|| {
        notes.push(String::from("given a plain description, since one is demanded there"));
        ["The agent ", &slug].concat()
    });
    let mut out = ["---\nname: ", &slug, "\ndescription: "].concat();
    push_yaml_line(&mut out, &description);
    out.push_str("\n---\n");
    out.push_str(doc.body);
    Converted { text: Some(out), notes }
}

/// An agent for OpenCode, which takes its name from the path and whose mode must be said, or it becomes a primary agent too.
pub fn opencode_agent(text: &str) -> Converted {
    let doc = split(text);
    let mut notes = Vec::new();
    if let Some(front) = &doc.front {
        // `mode` is OpenCode's own key: such a file was written for it.
        if front.has("mode") {
            return Converted { text: None, notes };
        }
        dropped(front.keys().filter(|k| !matches!(*k, "name" | "description")), &mut notes);
    }
    let mut out = String::from("---\n");
    if let Some(description) = description(&doc, &mut notes) {
        out.push_str("description: ");
        push_yaml_line(&mut out, &description);
        out.push('\n');
    }
    out.push_str("mode: subagent\n---\n");
    out.push_str(doc.body);
    Converted { text: Some(out), notes }
}

/// Instructions with what must stand before them; several texts are joined with one empty line between.
pub fn instructions(head: &str, module: &str, texts: &[&str]) -> String {
    let mut out = head.replace("{}", module);
    for (i, text) in texts.iter().enumerate() {
        if i > 0 {
            out.push('\n');
        }
        out.push_str(text.trim_matches(['\r', '\n']));
        out.push('\n');
    }
    out
}

/// Says which keys are left out, and what that means if one of them limited the agent.
fn dropped<'a>(keys: impl Iterator<Item = &'a str>, notes: &mut Vec<String>) {
    let mut list = String::new();
    let mut restricted = false;
    for key in keys {
        restricted |= matches!(key, "tools" | "disallowedTools" | "permissionMode" | "permission");
        if !list.is_empty() {
            list.push_str(", ");
        }
        list.push_str(key);
    }
    if !list.is_empty() {
        let what = if restricted { "; nothing limits the agent's tools there" } else { "" };
        notes.push(["keys that do not fit there are left out of its frontmatter: ", &list, what].concat());
    }
}

fn description(doc: &Document, notes: &mut Vec<String>) -> Option<String> {
    match doc.front.as_ref()?.scalar("description") {
        Scalar::Text(text) => Some(text),
        Scalar::Absent => None,
        Scalar::Other => {
            notes.push(String::from("left without its description, which is in a form that is not understood"));
            None
        }
    }
}

/// Replaces `$ARGUMENTS`. Where this is used nothing stands for a single argument; such placeholders stay, with a note.
fn placeholders(body: &str, arguments: &str, notes: &mut Vec<String>) -> String {
    const ALL: &str = "$ARGUMENTS";
    let mut out = String::with_capacity(body.len());
    let mut rest = body;
    let mut single = false;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let next = |n: usize| rest.as_bytes().get(n).copied().unwrap_or(b' ');
        let whole =
            rest.starts_with(ALL) && !matches!(next(ALL.len()), b'[' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z');
        if whole {
            out.push_str(arguments);
            rest = &rest[ALL.len()..];
            continue;
        }
        single |= rest.starts_with("$ARGUMENTS[") || next(1).is_ascii_digit() && !next(2).is_ascii_digit();
        out.push('$');
        rest = &rest[1..];
    }
    out.push_str(rest);
    if single {
        notes.push(String::from("$1 and the like in it stay as they are, since there are only all arguments at once there"));
    }
    out
}

fn is_slug(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_'))
}

fn slug(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        match c.to_ascii_lowercase() {
            c @ ('a'..='z' | '0'..='9' | '_') => out.push(c),
            _ if out.ends_with('-') || out.is_empty() => {}
            _ => out.push('-'),
        }
    }
    out.truncate(out.trim_end_matches('-').len());
    if out.is_empty() {
        out.push_str("agent");
    }
    out
}

/// Escapes that YAML's double-quoted scalars and TOML's basic strings have in common.
fn push_escaped(out: &mut String, c: char) {
    match c {
        '"' | '\\' => out.extend(['\\', c]),
        '\n' => out.push_str("\\n"),
        '\t' => out.push_str("\\t"),
        '\r' => out.push_str("\\r"),
        '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' => {
            out.push_str("\\u");
            for shift in [12, 8, 4, 0] {
                out.push(char::from_digit(c as u32 >> shift & 15, 16).unwrap_or('0'));
            }
        }
        c => out.push(c),
    }
}

fn push_toml_line(out: &mut String, text: &str) {
    out.push('"');
    text.chars().for_each(|c| push_escaped(out, c));
    out.push('"');
}

/// YAML reads such a string as JSON does, so TOML's form serves here too.
fn push_yaml_line(out: &mut String, text: &str) {
    push_toml_line(out, text);
}

/// A multi-line basic string: readable, and safe for any text. Only the quotes that could end it are escaped.
fn push_toml_text(out: &mut String, text: &str) {
    // TOML drops a line end right after the opening quotes.
    out.push_str("\"\"\"\n");
    let mut quotes = 0;
    for c in text.chars() {
        match c {
            '"' if quotes < 2 => {
                quotes += 1;
                out.push('"');
                continue;
            }
            '\n' | '\t' => out.push(c),
            c => push_escaped(out, c),
        }
        quotes = 0;
    }
    // After quotes at the very end the closing ones would be miscounted; a line end keeps them apart.
    out.push_str("\n\"\"\"");
}
