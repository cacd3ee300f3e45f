//! Servers: the shape for each assistant, placeholders, names, and what is wrong with `mcps.json`.

use super::{json_text, run, run_as, show, text_file};
use crate::servers::{pointer, read, Dialect};
use crate::LAYOUTS;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use lola_ext::{Intent, Scope};

const ALL: [Dialect; 5] = [Dialect::ClaudeCode, Dialect::Cursor, Dialect::GeminiCli, Dialect::OpenCode, Dialect::VsCode];

/// What becomes of one server; an error begins with `!`.
fn shape(dialect: Dialect, server: &str) -> (String, Vec<String>) {
    let listed = read(&format!("{{\"mcpServers\": {{\"x\": {server}}}}}")).unwrap();
    match listed.servers[0].shape(dialect) {
        Ok((value, notes)) => (json_text(&value), notes),
        Err(why) => (format!("! {why}"), vec![]),
    }
}

#[test]
fn shapes() {
    for (server, want) in [
        (
            r#"{"command": "c"}"#,
            [
                r#"{"command": "c"}"#,
                r#"{"type": "stdio", "command": "c"}"#,
                r#"{"command": "c"}"#,
                r#"{"type": "local", "command": ["c"]}"#,
                r#"{"type": "stdio", "command": "c"}"#,
            ],
        ),
        (
            r#"{"env": {"B": "2", "A": "1"}, "args": ["a", ""], "command": "c", "type": "stdio"}"#,
            [
                r#"{"command": "c", "args": ["a", ""], "env": {"B": "2", "A": "1"}}"#,
                r#"{"type": "stdio", "command": "c", "args": ["a", ""], "env": {"B": "2", "A": "1"}}"#,
                r#"{"command": "c", "args": ["a", ""], "env": {"B": "2", "A": "1"}}"#,
                r#"{"type": "local", "command": ["c", "a", ""], "environment": {"B": "2", "A": "1"}}"#,
                r#"{"type": "stdio", "command": "c", "args": ["a", ""], "env": {"B": "2", "A": "1"}}"#,
            ],
        ),
        (
            r#"{"url": "https://e/mcp", "headers": {"X-Key": "k"}}"#,
            [
                r#"{"type": "http", "url": "https://e/mcp", "headers": {"X-Key": "k"}}"#,
                r#"{"url": "https://e/mcp", "headers": {"X-Key": "k"}}"#,
                r#"{"httpUrl": "https://e/mcp", "headers": {"X-Key": "k"}}"#,
                r#"{"type": "remote", "url": "https://e/mcp", "headers": {"X-Key": "k"}}"#,
                r#"{"type": "http", "url": "https://e/mcp", "headers": {"X-Key": "k"}}"#,
            ],
        ),
        (
            r#"{"type": "sse", "url": "https://e/sse"}"#,
            [
                r#"{"type": "sse", "url": "https://e/sse"}"#,
                r#"{"url": "https://e/sse"}"#,
                r#"{"url": "https://e/sse"}"#,
                r#"{"type": "remote", "url": "https://e/sse"}"#,
                r#"{"type": "sse", "url": "https://e/sse"}"#,
            ],
        ),
    ] {
        for (dialect, want) in ALL.iter().zip(want) {
            assert_eq!(shape(*dialect, server).0, want);
        }
    }
    assert_eq!(
        shape(Dialect::ClaudeCode, r#"{"type": "streamable-http", "url": "https://e"}"#).0,
        r#"{"type": "http", "url": "https://e"}"#
    );
    assert_eq!(shape(Dialect::OpenCode, r#"{"type": "sse", "url": "u"}"#).1, ["SSE is spoken by version 1 of it alone"]);
}

#[test]
fn placeholders() {
    for (text, want) in [
        ("plain $ and } {", ["plain $ and } {"; 5]),
        ("${A}", ["${A}", "${env:A}", "${A}", "{env:A}", "${env:A}"]),
        ("${env:A_1}", ["${A_1}", "${env:A_1}", "${A_1}", "{env:A_1}", "${env:A_1}"]),
        ("a${A}${B}c", ["a${A}${B}c", "a${env:A}${env:B}c", "a${A}${B}c", "a{env:A}{env:B}c", "a${env:A}${env:B}c"]),
        ("${A:-d e}!", ["${A:-d e}!", "${env:A}!", "${A:-d e}!", "{env:A}!", "${env:A}!"]),
    ] {
        for (dialect, want) in ALL.iter().zip(want) {
            let server = format!("{{\"command\": {text:?}}}");
            let (got, _) = shape(*dialect, &server);
            let want = if *dialect == Dialect::OpenCode { format!("[{want:?}]") } else { format!("{want:?}") };
            assert!(got.contains(&format!("\"command\": {want}")), "{text}: {got}");
        }
    }
}

/// Each field of text is filled, not the command alone.
#[test]
fn placeholders_are_everywhere() {
    let local = r#"{"command": "${A}", "args": ["${B}"], "env": {"C": "${C}"}, "cwd": "${D}"}"#;
    assert_eq!(
        shape(Dialect::VsCode, local).0,
        r#"{"type": "stdio", "command": "${env:A}", "args": ["${env:B}"], "env": {"C": "${env:C}"}, "cwd": "${env:D}"}"#
    );
    assert_eq!(
        shape(Dialect::OpenCode, local).0,
        r#"{"type": "local", "command": ["{env:A}", "{env:B}"], "environment": {"C": "{env:C}"}, "cwd": "{env:D}"}"#
    );
    assert_eq!(
        shape(Dialect::Cursor, r#"{"url": "https://${A}/", "headers": {"X": "${B}"}}"#).0,
        r#"{"url": "https://${env:A}/", "headers": {"X": "${env:B}"}}"#
    );
    assert_eq!(
        shape(Dialect::Cursor, r#"{"command": "c", "envFile": "${A}/.env"}"#).0,
        r#"{"type": "stdio", "command": "c", "envFile": "${env:A}/.env"}"#
    );
}

#[test]
fn a_default_that_is_lost_is_said_once() {
    let server = r#"{"command": "${A:-x}", "args": ["${A:-y}", "${B:-z}"]}"#;
    for dialect in ALL {
        let (_, notes) = shape(dialect, server);
        let want: &[&str] = match dialect {
            Dialect::ClaudeCode | Dialect::GeminiCli => &[],
            _ => &[
                "A has a default in it, which placeholders there cannot have, left out",
                "B has a default in it, which placeholders there cannot have, left out",
            ],
        };
        assert_eq!(notes, want);
    }
}

#[test]
fn what_cannot_be_a_placeholder_leaves_the_server_out() {
    for text in
        ["${", "${A", "${}", "${1}", "${A B}", "${input:token}", "${command:x}", "${config:y}", "${A:-${B}}", "${env:}"]
    {
        for dialect in ALL {
            let (got, _) = shape(dialect, &format!("{{\"command\": \"c\", \"args\": [{text:?}]}}"));
            assert!(got.starts_with("! "), "{text}: {got}");
        }
    }
    for (dialect, text, want) in [
        (Dialect::ClaudeCode, "${input:token}", "! the placeholder ${input:token} in it is not understood"),
        (Dialect::ClaudeCode, "${A", "! a placeholder in it has no end"),
        // They have no way to say it, and it would be read or filled in.
        (Dialect::OpenCode, "{file:~/.netrc}", "! {file:...} in it would be filled in there"),
        (Dialect::OpenCode, "{env:HOME}", "! {env:...} in it would be filled in there"),
        (Dialect::OpenCode, "${workspaceFolder}", "! the placeholder ${workspaceFolder} in it means nothing there"),
    ] {
        assert_eq!(shape(dialect, &format!("{{\"command\": \"c\", \"args\": [{text:?}]}}")).0, want);
        assert_eq!(shape(dialect, &format!("{{\"url\": \"u\", \"headers\": {{\"X\": {text:?}}}}}")).0, want);
    }
    assert_eq!(
        shape(Dialect::Cursor, r#"{"command": "${userHome}/c"}"#).0,
        r#"{"type": "stdio", "command": "${userHome}/c"}"#
    );
}

#[test]
fn dollars_are_filled_in_by_gemini() {
    for (text, noted) in
        [("$HOME", true), ("${A:-$B}", true), ("cost $5", true), ("a$ b", false), ("$", false), ("${A}", false)]
    {
        let (_, notes) = shape(Dialect::GeminiCli, &format!("{{\"command\": {text:?}}}"));
        assert_eq!(notes.len(), noted as usize, "{text}: {notes:?}");
        assert_eq!(shape(Dialect::ClaudeCode, &format!("{{\"command\": {text:?}}}")).1.len(), 0);
    }
}

#[test]
fn fields_go_to_whom_they_mean_something() {
    let server = r#"{"command": "c", "cwd": "d", "timeout": 5, "envFile": ".env", "description": "D",
        "includeTools": ["a"], "excludeTools": ["b"], "trust": true}"#;
    let got: Vec<String> = ALL.iter().map(|d| shape(*d, server).0).collect();
    assert_eq!(
        got,
        [
            r#"{"command": "c", "timeout": 5}"#,
            r#"{"type": "stdio", "command": "c", "envFile": ".env"}"#,
            r#"{"command": "c", "cwd": "d", "timeout": 5, "description": "D", "includeTools": ["a"], "excludeTools": ["b"]}"#,
            r#"{"type": "local", "command": ["c"], "cwd": "d", "timeout": 5}"#,
            r#"{"type": "stdio", "command": "c", "cwd": "d", "envFile": ".env"}"#,
        ]
    );
    assert_eq!(
        shape(Dialect::ClaudeCode, server).1,
        [
            "cwd is not known there, left out",
            "envFile is not known there, left out",
            "description is not known there, left out",
            "includeTools is not known there, left out; its tools are not limited there",
            "excludeTools is not known there, left out; its tools are not limited there",
            "trust is not known, left out",
        ]
    );
    // No tools is another thing than nothing said.
    let none = r#"{"command": "c", "includeTools": []}"#;
    assert_eq!(shape(Dialect::GeminiCli, none).0, r#"{"command": "c", "includeTools": []}"#);
    assert_eq!(
        shape(Dialect::VsCode, r#"{"url": "u", "envFile": ".env"}"#),
        (String::from(r#"{"type": "http", "url": "u"}"#), vec![String::from("envFile is not known there, left out")])
    );
}

#[test]
fn copilot_outside_vs_code() {
    for (server, want) in [
        (r#"{"command": "c"}"#, r#"{"type": "stdio", "command": "c", "args": [], "tools": ["*"]}"#),
        (
            r#"{"command": "c", "args": ["a"], "env": {"A": "${env:A}", "B": "${B:-b}"}, "cwd": "d", "timeout": 5, "includeTools": ["x"]}"#,
            r#"{"type": "stdio", "command": "c", "args": ["a"], "env": {"A": "${A}", "B": "${B:-b}"}, "cwd": "d", "timeout": 5, "tools": ["x"]}"#,
        ),
        (
            r#"{"type": "sse", "url": "u", "headers": {"X": "${A}"}}"#,
            r#"{"type": "sse", "url": "u", "headers": {"X": "${A}"}, "tools": ["*"]}"#,
        ),
        (r#"{"command": "$HOME"}"#, r#"{"type": "stdio", "command": "$HOME", "args": [], "tools": ["*"]}"#),
        (r#"{"command": "${A}"}"#, "! the placeholder ${A} stands in it where none is filled in there"),
        (r#"{"url": "https://${A:-e}/"}"#, "! the placeholder ${A:-e} stands in it where none is filled in there"),
    ] {
        let (got, notes) = shape(Dialect::CopilotCli, server);
        assert_eq!(got, want);
        assert_eq!(notes, [""; 0]);
    }
    let (_, notes) = shape(Dialect::CopilotCli, r#"{"command": "c", "env": {"A": "$B"}, "excludeTools": ["x"]}"#);
    assert_eq!(
        notes,
        [
            "$NAME in it is filled in there from the environment",
            "excludeTools is not known there, left out; its tools are not limited there",
        ]
    );
}

#[test]
fn names() {
    let listed = |name: &str| read(&format!("{{\"mcpServers\": {{{name:?}: {{\"command\": \"c\"}}}}}}"));
    let long = "n".repeat(64);
    for (name, left_out) in [
        ("git", &[][..]),
        ("Git_Hub-2", &[]),
        (&long, &[]),
        ("context 7", &[Dialect::ClaudeCode]),
        ("io.example/x~y@1:2", &[Dialect::ClaudeCode]),
        ("workspace", &[Dialect::ClaudeCode]),
        ("servers", &[Dialect::OpenCode]),
        ("timeout", &[Dialect::OpenCode]),
    ] {
        let listed = listed(name).unwrap();
        for dialect in ALL {
            assert_eq!(listed.servers[0].shape(dialect).is_err(), left_out.contains(&dialect), "{name}");
        }
    }
    for name in ["", " x", "x ", "a\tb", "a\"b", "a{b", "ü", "a\\b", &"n".repeat(65)] {
        let got = listed(name).err().unwrap();
        assert!(got.ends_with("is not 1 to 64 letters, digits, spaces within and . _ - / ~ @ :"), "{got}");
    }
    assert_eq!(listed("__proto__").err().unwrap(), "a server cannot be called \"__proto__\"");
}

#[test]
fn pointers_are_escaped() {
    for (key, want) in [("a", "/p/a"), ("a/b", "/p/a~1b"), ("~1", "/p/~01"), ("~/", "/p/~0~1"), ("", "/p/")] {
        assert_eq!(pointer("/p", key), want);
    }
}

#[test]
fn malformed() {
    for (text, want) in [
        ("[]", "it: want an object"),
        ("{}", "it has no mcpServers"),
        (r#"{"servers": {}}"#, "it has no mcpServers"),
        (r#"{"mcpServers": []}"#, "mcpServers: want an object"),
        (r#"{"mcpServers": {"x": 1}}"#, "server \"x\": want an object"),
        (r#"{"mcpServers": {"x": {}}}"#, "server \"x\": want command or url"),
        (r#"{"mcpServers": {"x": {"command": ""}}}"#, "server \"x\": want command or url"),
        (r#"{"mcpServers": {"x": {"command": ["c"]}}}"#, "server \"x\": command: want a text"),
        (r#"{"mcpServers": {"x": {"command": "a\u0000"}}}"#, "server \"x\": command: it holds a NUL"),
        (r#"{"mcpServers": {"x": {"command": "c", "args": "a"}}}"#, "server \"x\": args: want a list of texts"),
        (r#"{"mcpServers": {"x": {"command": "c", "args": [1]}}}"#, "server \"x\": args: want a text"),
        (r#"{"mcpServers": {"x": {"command": "c", "env": {"A": 1}}}}"#, "server \"x\": env: A: want a text"),
        (r#"{"mcpServers": {"x": {"command": "c", "env": ["A"]}}}"#, "server \"x\": env: want an object"),
        (
            r#"{"mcpServers": {"x": {"command": "c", "env": {"${A}": "1"}}}}"#,
            "server \"x\": env: a name in it is not of letters, digits and _ - .",
        ),
        (
            r#"{"mcpServers": {"x": {"url": "u", "headers": {"": "1"}}}}"#,
            "server \"x\": headers: a name in it is not of letters, digits and _ - .",
        ),
        (r#"{"mcpServers": {"x": {"type": "ws", "url": "u"}}}"#, "server \"x\": type: want \"stdio\", \"http\" or \"sse\""),
        (
            r#"{"mcpServers": {"x": {"type": "http", "command": "c"}}}"#,
            "server \"x\": one with a url has no command, args, env or cwd",
        ),
        (
            r#"{"mcpServers": {"x": {"url": "u", "command": "c"}}}"#,
            "server \"x\": one with a url has no command, args, env or cwd",
        ),
        (
            r#"{"mcpServers": {"x": {"type": "stdio", "url": "u"}}}"#,
            "server \"x\": one that is started has neither url nor headers",
        ),
        (r#"{"mcpServers": {"x": {"type": "http", "url": ""}}}"#, "server \"x\": want url"),
        (r#"{"mcpServers": {"x": {"command": "c", "timeout": 0}}}"#, "server \"x\": timeout: want a whole number above 0"),
        (r#"{"mcpServers": {"x": {"command": "c", "timeout": "5"}}}"#, "server \"x\": timeout: want a whole number above 0"),
        (r#"{"mcpServers": {"x": {"command": "c", "timeout": 1.5}}}"#, "line 1: a number has a fraction or an exponent"),
        ("{\"mcpServers\": {\n\"x\": {\"command\": \"c\"},\n\"x\": {\"command\": \"c\"}}}", "line 3: a key is there twice"),
    ] {
        assert_eq!(read(text).err().unwrap(), want, "{text}");
    }
    let many = |n: usize| {
        let all: Vec<String> = (0..n).map(|i| format!("\"s{i}\": {{\"command\": \"c\"}}")).collect();
        format!("{{\"mcpServers\": {{{}}}}}", all.join(","))
    };
    assert_eq!(read(&many(100)).unwrap().servers.len(), 100);
    assert_eq!(read(&many(101)).err().unwrap(), "mcpServers has more than 100 servers");
}

#[test]
fn messages_are_short() {
    let long = "x".repeat(10_000);
    let (_, notes) = shape(Dialect::VsCode, &format!("{{\"command\": \"${{{long}:-1}}\", \"{long}\": 1}}"));
    let (left_out, _) = shape(Dialect::VsCode, &format!("{{\"command\": \"${{input:{long}}}\"}}"));
    let plan = run("copilot", "install", vec![text_file("mcps.json", &format!("{{\"mcpServers\": {{}}, \"{long}\": 1}}"))])
        .unwrap();
    let unknown = [plan.messages[0].text.clone()];
    let errors = [format!("\"{long}\": 1"), format!("\"x\": {{\"command\": \"c\", \"env\": {{\"{long}\": 1}}}}")];
    let errors = errors.map(|e| read(&format!("{{\"mcpServers\": {{{e}}}}}")).err().unwrap());
    assert_eq!(notes.len(), 2);
    for text in notes.iter().chain([&left_out]).chain(&unknown).chain(&errors) {
        assert!(text.len() < 200, "{text}");
    }
}

/// One intent for the file, one edit for each server, and none for those that are left out.
#[test]
fn servers_of_one_file_are_one_edit() {
    let source =
        r#"{"$schema": "s", "mcpServers": {"b": {"command": "c"}, "a/b": {"command": "c"}, "z": {"command": "${x:y}"}}}"#;
    let plan = run("cursor", "install", vec![text_file("mcps.json", source)]).unwrap();
    assert_eq!(
        show(&plan),
        "! Cursor: \"mcps.json\": $schema is not known, left out\n\
         ! Cursor: \"mcps.json\": server \"z\": left out: the placeholder ${x:y} in it is not understood\n\
         edit .cursor/mcp.json\n    \
         /mcpServers/b = {\"type\": \"stdio\", \"command\": \"c\"}\n    \
         /mcpServers/a~1b = {\"type\": \"stdio\", \"command\": \"c\"}\n"
    );
    for l in &LAYOUTS {
        let plan = run(l.name, "install", vec![text_file("mcps.json", r#"{"mcpServers": {}}"#)]).unwrap();
        assert_eq!((plan.intents, plan.messages), (vec![], vec![]));
    }
}

/// OpenCode keeps servers and instructions in one file, and two intents may not touch one path unless they are edits that
/// do not overlap; one is simpler to read.
#[test]
fn opencode_has_one_edit() {
    let files = vec![text_file("AGENTS.md", "x"), text_file("mcps.json", r#"{"mcpServers": {"a": {"command": "c"}}}"#)];
    for (scope, path) in [(Scope::Project, ".opencode/lola/kit.md"), (Scope::User, "~/.config/opencode/lola/kit.md")] {
        let plan = run_as("opencode", "install", Some(scope), "kit", files.clone()).unwrap();
        let edits: Vec<_> = plan.intents.iter().filter(|i| matches!(i, Intent::EditJson { .. })).collect();
        let [Intent::EditJson { path: file, edits }] = &edits[..] else { panic!("{plan:?}") };
        assert_eq!(file, "opencode.json");
        let shown: Vec<String> =
            edits.iter().map(|e| format!("{} {}", e.at, json_text(e.value.as_ref().unwrap()))).collect();
        assert_eq!(
            shown,
            [r#"/mcp/a {"type": "local", "command": ["c"]}"#.to_string(), format!("/instructions/- {path:?}"),]
        );
    }
}
