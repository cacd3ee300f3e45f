//! Where each assistant wants files: the one table that a new assistant is a row of.
//!
//! docs/targets.md has the same table for people, and says for each cell which page of the assistant's documentation it
//! rests on and when that page was read.

use crate::servers::Dialect;

/// One assistant.
pub struct Layout {
    /// The name of the target, under which the host asks for it.
    pub name: &'static str,
    /// What its makers call it, for messages.
    pub title: &'static str,
    /// Its own folder in a project. Below it everything has the place that it has in the folder of a user, which is the
    /// root of a plan for that one.
    pub folder: &'static str,
    /// The folder of skill folders.
    pub skills: &'static str,
    pub commands: Place,
    pub agents: Place,
    pub instructions: Instructions,
    pub servers: Servers,
}

/// Where files of one kind go, and in which form.
pub struct Place {
    pub folder: &'static str,
    /// What the name ends with there.
    pub suffix: &'static str,
    pub nesting: Nesting,
    pub form: Form,
    /// Whether it is there for a user too.
    pub user: bool,
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

/// The file that holds the instructions of one module, and how the assistant finds it.
pub struct Instructions {
    pub folder: &'static str,
    pub suffix: &'static str,
    /// What stands before the text; `{}` is the module's name. Empty: nothing, and a single file is copied as it is.
    pub head: &'static str,
    pub found: Found,
    /// Whether the assistant takes them for a user too.
    pub user: bool,
}

/// How an assistant finds a file with instructions.
pub enum Found {
    /// It reads the whole folder.
    ByItself,
    /// A line in this file, which others share, names it. `at` stands before the path.
    Import { file: &'static str, at: &'static str },
    /// The file with the servers has a list of such files. In a user's folder paths have to begin with `home`.
    Listed { home: &'static str },
}

/// The file with the servers that the assistant starts.
pub struct Servers {
    pub project: ServerFile,
    /// In a user's folder; `None`: it lies elsewhere.
    pub user: Option<ServerFile>,
}

pub struct ServerFile {
    pub path: &'static str,
    /// Where in the file the servers stand, a JSON pointer.
    pub at: &'static str,
    pub dialect: Dialect,
}

const fn server_file(path: &'static str, at: &'static str, dialect: Dialect) -> ServerFile {
    ServerFile { path, at, dialect }
}

pub const LAYOUTS: [Layout; 5] = [
    Layout {
        name: "claude-code",
        title: "Claude Code",
        folder: ".claude/",
        skills: "skills/",
        commands: Place { folder: "commands/", suffix: ".md", nesting: Nesting::Keep, form: Form::Copy, user: true },
        agents: Place { folder: "agents/", suffix: ".md", nesting: Nesting::Keep, form: Form::Copy, user: true },
        // Not in .claude/rules, which is read without being named: it would be there twice.
        instructions: Instructions {
            folder: "lola/",
            suffix: ".md",
            head: "",
            found: Found::Import { file: "CLAUDE.md", at: "@" },
            user: true,
        },
        // A user's servers are in ~/.claude.json, beside the folder and not in it.
        servers: Servers { project: server_file(".mcp.json", "/mcpServers", Dialect::ClaudeCode), user: None },
    },
    Layout {
        name: "cursor",
        title: "Cursor",
        folder: ".cursor/",
        skills: "skills/",
        commands: Place { folder: "commands/", suffix: ".md", nesting: Nesting::Join, form: Form::Copy, user: true },
        agents: Place { folder: "agents/", suffix: ".md", nesting: Nesting::Join, form: Form::Copy, user: true },
        instructions: Instructions {
            folder: "rules/",
            suffix: ".mdc",
            head: "---\ndescription: Instructions of the module {}\nalwaysApply: true\n---\n\n",
            found: Found::ByItself,
            // A user's rules are in its settings.
            user: false,
        },
        servers: Servers {
            project: server_file(".cursor/mcp.json", "/mcpServers", Dialect::Cursor),
            user: Some(server_file("mcp.json", "/mcpServers", Dialect::Cursor)),
        },
    },
    Layout {
        name: "gemini-cli",
        title: "Gemini CLI",
        folder: ".gemini/",
        skills: "skills/",
        commands: Place {
            folder: "commands/",
            suffix: ".toml",
            nesting: Nesting::Keep,
            form: Form::TomlCommand,
            user: true,
        },
        // Only files directly in the folder are read, so folders have to go.
        agents: Place { folder: "agents/", suffix: ".md", nesting: Nesting::Join, form: Form::GeminiAgent, user: true },
        instructions: Instructions {
            folder: "lola/",
            suffix: ".md",
            head: "",
            found: Found::Import { file: "GEMINI.md", at: "@./" },
            user: true,
        },
        servers: Servers {
            project: server_file(".gemini/settings.json", "/mcpServers", Dialect::GeminiCli),
            user: Some(server_file("settings.json", "/mcpServers", Dialect::GeminiCli)),
        },
    },
    Layout {
        name: "opencode",
        title: "OpenCode",
        folder: ".opencode/",
        skills: "skills/",
        commands: Place { folder: "commands/", suffix: ".md", nesting: Nesting::Keep, form: Form::Copy, user: true },
        agents: Place { folder: "agents/", suffix: ".md", nesting: Nesting::Keep, form: Form::OpenCodeAgent, user: true },
        instructions: Instructions {
            folder: "lola/",
            suffix: ".md",
            head: "",
            found: Found::Listed { home: "~/.config/opencode/" },
            user: true,
        },
        // The form of version 1, which version 2 reads as well.
        servers: Servers {
            project: server_file("opencode.json", "/mcp", Dialect::OpenCode),
            user: Some(server_file("opencode.json", "/mcp", Dialect::OpenCode)),
        },
    },
    Layout {
        name: "copilot",
        title: "GitHub Copilot",
        folder: ".github/",
        skills: "skills/",
        // A user's folder is that of Copilot CLI; prompts are in the profile of VS Code, which is elsewhere on each system.
        commands: Place {
            folder: "prompts/",
            suffix: ".prompt.md",
            nesting: Nesting::Join,
            form: Form::PromptFile,
            user: false,
        },
        agents: Place { folder: "agents/", suffix: ".agent.md", nesting: Nesting::Join, form: Form::Copy, user: true },
        instructions: Instructions {
            folder: "instructions/",
            suffix: ".instructions.md",
            head: "---\napplyTo: \"**\"\n---\n\n",
            found: Found::ByItself,
            user: true,
        },
        servers: Servers {
            project: server_file(".vscode/mcp.json", "/servers", Dialect::VsCode),
            user: Some(server_file("mcp-config.json", "/mcpServers", Dialect::CopilotCli)),
        },
    },
];
