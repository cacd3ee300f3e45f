//! Where each assistant wants files: the one table that a new assistant is a row of.
//!
//! docs/targets.md has the same table for people, and says for each cell which page of the assistant's documentation it
//! rests on and when that page was read.

/// One assistant.
pub struct Layout {
    /// The name of the target, under which the host asks for it.
    pub name: &'static str,
    /// What its makers call it, for messages.
    pub title: &'static str,
    /// The folder of skill folders.
    pub skills: &'static str,
    pub commands: Place,
    pub agents: Place,
    /// The file of its own that instructions may have; `None` where they would go into a file that others share.
    pub instructions: Option<Instructions>,
}

/// Where files of one kind go, and in which form.
pub struct Place {
    pub folder: &'static str,
    /// What the name ends with there.
    pub suffix: &'static str,
    pub nesting: Nesting,
    pub form: Form,
}

/// What becomes of folders below `commands/` and `agents/`.
#[derive(Clone, Copy, PartialEq)]
pub enum Nesting {
    /// The assistant looks into folders; they are kept.
    Keep,
    /// It does not; the parts of the path are joined with `-`.
    Join,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Form {
    /// Copied as it is.
    Copy,
    /// A command as TOML (Gemini CLI).
    TomlCommand,
    /// A command as a prompt file (Copilot): other placeholders.
    PromptFile,
    /// An agent whose frontmatter Gemini CLI checks strictly.
    GeminiAgent,
    /// An agent whose frontmatter OpenCode checks strictly.
    OpenCodeAgent,
}

/// A file that holds the instructions of one module.
pub struct Instructions {
    pub folder: &'static str,
    pub suffix: &'static str,
    /// What stands before the text; `{}` is the module's name. Empty: nothing, and a single file is copied as it is.
    pub head: &'static str,
}

pub const LAYOUTS: [Layout; 5] = [
    Layout {
        name: "claude-code",
        title: "Claude Code",
        skills: ".claude/skills/",
        commands: Place { folder: ".claude/commands/", suffix: ".md", nesting: Nesting::Keep, form: Form::Copy },
        agents: Place { folder: ".claude/agents/", suffix: ".md", nesting: Nesting::Keep, form: Form::Copy },
        // A rule without `paths` is loaded at the start like CLAUDE.md, which is the user's own file.
        instructions: Some(Instructions { folder: ".claude/rules/", suffix: ".md", head: "" }),
    },
    Layout {
        name: "cursor",
        title: "Cursor",
        skills: ".cursor/skills/",
        commands: Place { folder: ".cursor/commands/", suffix: ".md", nesting: Nesting::Join, form: Form::Copy },
        agents: Place { folder: ".cursor/agents/", suffix: ".md", nesting: Nesting::Join, form: Form::Copy },
        instructions: Some(Instructions {
            folder: ".cursor/rules/",
            suffix: ".mdc",
            head: "---\ndescription: Instructions of the module {}\nalwaysApply: true\n---\n\n",
        }),
    },
    Layout {
        name: "gemini-cli",
        title: "Gemini CLI",
        skills: ".gemini/skills/",
        commands: Place { folder: ".gemini/commands/", suffix: ".toml", nesting: Nesting::Keep, form: Form::TomlCommand },
        // Only files directly in the folder are read, so folders have to go.
        agents: Place { folder: ".gemini/agents/", suffix: ".md", nesting: Nesting::Join, form: Form::GeminiAgent },
        instructions: None,
    },
    Layout {
        name: "opencode",
        title: "OpenCode",
        skills: ".opencode/skills/",
        commands: Place { folder: ".opencode/commands/", suffix: ".md", nesting: Nesting::Keep, form: Form::Copy },
        agents: Place { folder: ".opencode/agents/", suffix: ".md", nesting: Nesting::Keep, form: Form::OpenCodeAgent },
        instructions: None,
    },
    Layout {
        name: "copilot",
        title: "GitHub Copilot",
        skills: ".github/skills/",
        commands: Place { folder: ".github/prompts/", suffix: ".prompt.md", nesting: Nesting::Join, form: Form::PromptFile },
        agents: Place { folder: ".github/agents/", suffix: ".agent.md", nesting: Nesting::Join, form: Form::Copy },
        instructions: Some(Instructions {
            folder: ".github/instructions/",
            suffix: ".instructions.md",
            head: "---\napplyTo: \"**\"\n---\n\n",
        }),
    },
];
