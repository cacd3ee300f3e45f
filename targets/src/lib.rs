//! The built-in targets: one module, five assistants, asked for by name.
//!
//! It says where the parts of a module go for the assistant that the request names. Files are copied by name wherever an
//! assistant takes them as they are, so that their contents need not pass through here.

#![cfg_attr(target_arch = "wasm32", no_std)]
#![deny(unsafe_op_in_unsafe_fn)]

extern crate alloc;

#[cfg(target_arch = "wasm32")]
mod bare;
mod convert;
mod frontmatter;
mod layout;

use alloc::string::String;
use alloc::vec::Vec;
use convert::Converted;
use layout::{Form, Layout, Nesting, Place, LAYOUTS};
use lola_ext::{Error, File, Module, Plan, Request, Scope};

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
        "install" if request.scope == Some(Scope::User) => {
            Err(text(&["installing for the user: the target \"", layout.name, "\" knows projects only"]))
        }
        "install" => {
            let mut install = Install { layout, module: request.module()?, plan, placed: Vec::new(), more: 0 };
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

struct Install<'r, 'p> {
    layout: &'static Layout,
    module: &'r Module<'r>,
    plan: &'p mut Plan,
    /// Destination and source of every file so far.
    placed: Vec<(String, &'r str)>,
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
                    "mcps.json" => self.warn(file.path, "MCP servers are not handled yet"),
                    _ => self.warn(file.path, "it is no part of a module that is known, left out"),
                },
                Some(("skills", rest)) if rest.contains('/') => self.copy(file, [layout.skills, rest].concat()),
                Some(("skills", _)) => self.warn(file.path, "it lies in no skill's folder, left out"),
                Some(("commands", rest)) => self.convert(file, rest, &layout.commands)?,
                Some(("agents", rest)) => self.convert(file, rest, &layout.agents)?,
                Some(_) => self.warn(file.path, "it is no part of a module that is known, left out"),
            }
        }
        self.instructions()?;
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
        // A file that already has the assistant's own ending keeps one of it.
        let stem = place.suffix.strip_suffix(".md").and_then(|own| stem.strip_suffix(own)).unwrap_or(stem);
        let name = match place.nesting {
            Nesting::Keep => String::from(stem),
            Nesting::Join => stem.replace('/', "-"),
        };
        let dest = [place.folder, &name, place.suffix].concat();
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

    fn instructions(&mut self) -> Result<(), Error> {
        let layout = self.layout;
        let module = self.module;
        let files: Vec<&'r File<'r>> = ["AGENTS.md", "INSTRUCTIONS.md"].iter().filter_map(|p| module.file(p)).collect();
        let Some(own) = &layout.instructions else {
            for file in files {
                self.warn(file.path, "its instructions go into a file that others share, which is not handled yet");
            }
            return Ok(());
        };
        let dest = [own.folder, module.name, own.suffix].concat();
        match files[..] {
            [] => {}
            [only] if own.head.is_empty() => self.copy(only, dest),
            [first, ..] => {
                let mut texts = Vec::new();
                for file in &files {
                    texts.push(self.read(file)?);
                }
                self.write(first.path, dest, convert::instructions(own.head, module.name, &texts));
            }
        }
        Ok(())
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
        self.placed.sort_unstable();
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

fn push_decimal(out: &mut String, n: usize) {
    if n >= 10 {
        push_decimal(out, n / 10);
    }
    out.push((b'0' + (n % 10) as u8) as char);
}

#[cfg(test)]
mod tests;
