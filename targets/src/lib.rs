//! The built-in targets: one module, five assistants, asked for by name.
//!
//! It says where the parts of a module go for the assistant that the request names. Files are copied by name wherever an
//! assistant takes them as they are, so that their contents need not pass through here. Files that the user shares with an
//! assistant are changed without being read: a key is set, a marked line is kept.

#![cfg_attr(target_arch = "wasm32", no_std)]
#![deny(unsafe_op_in_unsafe_fn)]

extern crate alloc;

#[cfg(target_arch = "wasm32")]
mod bare;
mod convert;
mod frontmatter;
mod json;
mod layout;
mod servers;

use alloc::string::String;
use alloc::vec::Vec;
use convert::Converted;
use layout::{Form, Found, Layout, Nesting, Place, ServerFile, LAYOUTS};
use lola_ext::{Error, File, Intent, Json, JsonEdit, Module, Plan, Request, Scope};

lola_ext::export!(target);

/// How many messages are passed on; a host refuses a plan with more than it takes, and a person reads few.
const MAX_MESSAGES: usize = 200;

/// Answers a request of any of the five.
pub fn target(request: &Request, plan: &mut Plan) -> Result<(), Error> {
    let Some(layout) = LAYOUTS.iter().find(|l| l.name == request.extension.name) else {
        let mut known = String::new();
        for l in &LAYOUTS {
            known.push(' ');
            known.push_str(l.name);
        }
        return Err(text(&["looking up target \"", request.extension.name, "\": it is none of", &known]));
    };
    match request.action {
        "install" => {
            let user = request.scope == Some(Scope::User);
            let mut install =
                Install { layout, user, module: request.module()?, plan, placed: Vec::new(), edits: Vec::new(), more: 0 };
            install.all()
        }
        // The host takes back what it installed; there is nothing to add.
        "uninstall" => Ok(()),
        other => Err(text(&["running action \"", other, "\": a target knows install and uninstall"])),
    }
}

fn text(parts: &[&str]) -> Error {
    Error(parts.concat())
}

const NOT_FOR_USERS: &str = "there is no place for it in the assistant's folder of a user, left out";

struct Install<'r, 'p> {
    layout: &'static Layout,
    /// The root is the assistant's folder of a user, not a project.
    user: bool,
    module: &'r Module<'r>,
    plan: &'p mut Plan,
    /// Destination and source of every file so far.
    placed: Vec<(String, &'r str)>,
    /// Changes of the file with the servers.
    edits: Vec<JsonEdit>,
    /// Messages beyond the bound.
    more: usize,
}

impl<'r> Install<'r, '_> {
    fn all(&mut self) -> Result<(), Error> {
        let layout = self.layout;
        let module = self.module;
        for file in &module.files {
            match file.path.split_once('/') {
                None => match file.path {
                    "lola.yaml" | "AGENTS.md" | "INSTRUCTIONS.md" => {}
                    "mcps.json" => self.servers(file)?,
                    _ => self.warn(file.path, "it is no part of a module that is known, left out"),
                },
                Some(("skills", rest)) if rest.contains('/') => self.copy(file, [self.root(), layout.skills, rest].concat()),
                Some(("skills", _)) => self.warn(file.path, "it lies in no skill's folder, left out"),
                Some(("commands", rest)) => self.convert(file, rest, &layout.commands)?,
                Some(("agents", rest)) => self.convert(file, rest, &layout.agents)?,
                Some(_) => self.warn(file.path, "it is no part of a module that is known, left out"),
            }
        }
        self.instructions()?;
        self.edit();
        self.check_distinct()?;
        if self.more > 0 {
            let mut n = String::new();
            push_decimal(&mut n, self.more);
            self.plan.warn([layout.title, ": ", &n, " more messages are not shown"].concat());
        }
        Ok(())
    }

    /// A command or an agent.
    fn convert(&mut self, file: &'r File<'r>, rest: &str, place: &Place) -> Result<(), Error> {
        let Some(stem) = rest.strip_suffix(".md") else {
            self.warn(file.path, "only .md files are taken from here, left out");
            return Ok(());
        };
        if self.user && !place.user {
            self.warn(file.path, NOT_FOR_USERS);
            return Ok(());
        }
        // A file that already has the assistant's own ending keeps one of it.
        let stem = place.suffix.strip_suffix(".md").and_then(|own| stem.strip_suffix(own)).unwrap_or(stem);
        let name = match place.nesting {
            Nesting::Keep => String::from(stem),
            Nesting::Join => stem.replace('/', "-"),
        };
        let dest = [self.root(), place.folder, &name, place.suffix].concat();
        if place.form == Form::Copy {
            self.copy(file, dest);
            return Ok(());
        }
        let content = self.read(file)?;
        let Converted { text, notes } = match place.form {
            Form::TomlCommand => convert::toml_command(content),
            Form::PromptFile => convert::prompt_file(content),
            Form::GeminiAgent => convert::gemini_agent(content, &name),
            _ => convert::opencode_agent(content),
        };
        for note in notes {
            self.warn(file.path, &note);
        }
        match text {
            Some(text) => self.write(file.path, dest, text),
            None => self.copy(file, dest),
        }
        Ok(())
    }

    /// The servers of `mcps.json`, each as one change of the assistant's own file.
    fn servers(&mut self, file: &'r File<'r>) -> Result<(), Error> {
        let listed = servers::read(self.read(file)?)
            .map_err(|cause| text(&["converting for ", self.layout.title, ": reading \"", file.path, "\": ", &cause]))?;
        let Some(place) = self.server_file() else {
            if !listed.servers.is_empty() {
                self.warn(file.path, NOT_FOR_USERS);
            }
            return Ok(());
        };
        for key in &listed.unknown {
            self.warn(file.path, &[servers::short(key), " is not known, left out"].concat());
        }
        for server in &listed.servers {
            let here = ["server \"", server.name, "\": "].concat();
            match server.shape(place.dialect) {
                Ok((value, notes)) => {
                    for note in notes {
                        self.warn(file.path, &[&here, note.as_str()].concat());
                    }
                    self.edits.push(JsonEdit { at: servers::pointer(place.at, server.name), value: Some(value) });
                }
                Err(why) => self.warn(file.path, &[&here, "left out: ", &why].concat()),
            }
        }
        Ok(())
    }

    fn instructions(&mut self) -> Result<(), Error> {
        let own = &self.layout.instructions;
        let module = self.module;
        let files: Vec<&'r File<'r>> = ["AGENTS.md", "INSTRUCTIONS.md"].iter().filter_map(|p| module.file(p)).collect();
        let Some(first) = files.first() else { return Ok(()) };
        if self.user && !own.user {
            for file in files {
                self.warn(file.path, NOT_FOR_USERS);
            }
            return Ok(());
        }
        let dest = [self.root(), own.folder, module.name, own.suffix].concat();
        match &own.found {
            Found::ByItself => {}
            Found::Import { file, at } => {
                let Some(id) = block_id(module.name) else {
                    let why = ["the module's name is too long for a mark in ", file, ", left out"].concat();
                    self.warn(first.path, &why);
                    return Ok(());
                };
                if *file == "CLAUDE.md" && !self.user {
                    self.warn(
                        first.path,
                        "CLAUDE.md imports it; if that file is new, AGENTS.md is not read beside it unless it is imported too",
                    );
                }
                let line = [at, dest.as_str()].concat();
                self.plan.intents.push(Intent::EditBlock { path: String::from(*file), id, text: Some(line) });
            }
            Found::Listed { home } => {
                self.warn(first.path, "it is listed in opencode.json, which version 1 alone reads for this");
                let path = if self.user { [home, dest.as_str()].concat() } else { dest.clone() };
                self.edits.push(JsonEdit { at: String::from("/instructions/-"), value: Some(Json::Text(path)) });
            }
        }
        match files[..] {
            [only] if own.head.is_empty() => self.copy(only, dest),
            _ => {
                let mut texts = Vec::new();
                for file in &files {
                    texts.push(self.read(file)?);
                }
                self.write(first.path, dest, convert::instructions(own.head, module.name, &texts));
            }
        }
        Ok(())
    }

    /// Changes the file with the servers, if there is anything to change.
    fn edit(&mut self) {
        let edits = core::mem::take(&mut self.edits);
        if let (Some(file), false) = (self.server_file(), edits.is_empty()) {
            self.plan.intents.push(Intent::EditJson { path: String::from(file.path), edits });
        }
    }

    fn server_file(&self) -> Option<&'static ServerFile> {
        let servers = &self.layout.servers;
        if self.user {
            servers.user.as_ref()
        } else {
            Some(&servers.project)
        }
    }

    /// What stands before the path of every file of the assistant's own.
    fn root(&self) -> &'static str {
        if self.user {
            ""
        } else {
            self.layout.folder
        }
    }

    fn read(&self, file: &'r File<'r>) -> Result<&'r str, Error> {
        file.text().map_err(|e| text(&["converting for ", self.layout.title, ": ", &e.0]))
    }

    fn copy(&mut self, file: &'r File<'r>, dest: String) {
        self.plan.copy(file, &dest);
        self.placed.push((dest, file.path));
    }

    fn write(&mut self, source: &'r str, dest: String, content: String) {
        self.plan.write(&dest, content);
        self.placed.push((dest, source));
    }

    fn warn(&mut self, path: &str, what: &str) {
        if self.plan.messages.len() < MAX_MESSAGES {
            self.plan.warn([self.layout.title, ": \"", path, "\": ", what].concat());
        } else {
            self.more += 1;
        }
    }

    /// Joined names can meet. Neither file is better than the other, so the module's author has to decide.
    fn check_distinct(&mut self) -> Result<(), Error> {
        lola_ext::sort(&mut self.placed, |a, b| a < b);
        for pair in self.placed.windows(2) {
            if pair[0].0 == pair[1].0 {
                return Err(text(&[
                    "placing \"",
                    pair[0].1,
                    "\" and \"",
                    pair[1].1,
                    "\" for ",
                    self.layout.title,
                    ": both would be \"",
                    &pair[0].0,
                    "\"",
                ]));
            }
        }
        Ok(())
    }
}

/// A module's name as the name of a block, which knows no capitals and no `_`: a dot stands before what takes their places.
/// No two names have one block. `None`: it would be too long.
fn block_id(module: &str) -> Option<String> {
    let mut id = String::new();
    for b in module.bytes() {
        match b {
            b'a'..=b'z' | b'0'..=b'9' | b'-' => id.push(b as char),
            b'.' => id.push_str(".."),
            b'_' => id.push_str(".-"),
            b'A'..=b'Z' => id.extend(['.', b.to_ascii_lowercase() as char]),
            // No host lets such a name be.
            _ => return None,
        }
    }
    (1..=64).contains(&id.len()).then_some(id)
}

pub(crate) fn push_decimal(out: &mut String, n: usize) {
    if n >= 10 {
        push_decimal(out, n / 10);
    }
    out.push((b'0' + (n % 10) as u8) as char);
}

#[cfg(test)]
mod tests;
