//! Golden trees: one module with everything a module may have, and what becomes of it for each assistant.

use super::*;
use alloc::format;
use lola_ext::{Content, Identity, Intent, Level};

mod forms;
mod json;
mod servers;

fn file<'a>(path: &'a str, mode: u16, content: Option<&'a [u8]>) -> File<'a> {
    File { path, mode, size: content.map_or(1 << 20, |c| c.len() as u64), digest: [7; 32], content }
}

fn text_file<'a>(path: &'a str, content: &'a str) -> File<'a> {
    file(path, 0o644, Some(content.as_bytes()))
}

/// Runs one action on the module `kit` in a project. Files are sorted here, as a host sorts them.
pub(crate) fn run<'a>(target_name: &'a str, action: &'a str, files: Vec<File<'a>>) -> Result<Plan, Error> {
    run_as(target_name, action, None, "kit", files)
}

pub(crate) fn run_as<'a>(
    target_name: &'a str,
    action: &'a str,
    scope: Option<Scope>,
    module: &'a str,
    mut files: Vec<File<'a>>,
) -> Result<Plan, Error> {
    files.sort_by_key(|f| f.path.as_bytes());
    let request = Request {
        action,
        extension: Identity { name: target_name, version: "0.1.0" },
        scope,
        params: Vec::new(),
        module: Some(Module { name: module, version: "1.2.0", digest: [9; 32], files }),
        inputs: Vec::new(),
    };
    let mut plan = Plan::default();
    target(&request, &mut plan).map(|()| plan)
}

const SERVERS: &str = r#"{
  "mcpServers": {
    "thread": {
      "command": "${BIN:-npx}",
      "args": ["-y", "thread-mcp", "--root", "${HOME}/cloth"],
      "env": {"THREAD_TOKEN": "${THREAD_TOKEN}", "MODE": "fine \"silk\""},
      "cwd": "tools",
      "timeout": 30000
    },
    "shop/needle~1": {
      "type": "http",
      "url": "https://needle.example/mcp",
      "headers": {"Authorization": "Bearer ${env:NEEDLE_TOKEN}"},
      "trust": true
    },
    "old": {"type": "sse", "url": "https://old.example/sse"}
  }
}
"#;

fn sample() -> Vec<File<'static>> {
    alloc::vec![
        text_file("lola.yaml", "name: kit\nversion: 1.2.0\n"),
        text_file("mcps.json", SERVERS),
        text_file("AGENTS.md", "# Kit\n\nUse the kit.\n\n\n"),
        text_file("INSTRUCTIONS.md", "\nAsk first.\n"),
        text_file("notes.txt", "mine"),
        text_file("extra/a.md", "what is this"),
        text_file("skills/README.md", "about skills"),
        text_file("skills/sew/SKILL.md", "---\nname: sew\ndescription: Sews\n---\nSew.\n"),
        file("skills/sew/.hidden", 0o600, None),
        file("skills/sew/bin/run.sh", 0o755, None),
        file("skills/sew/data/blob.bin", 0o644, None),
        file("skills/sew/data/empty", 0o644, Some(b"")),
        file("skills/sew/data/höhe 高.md", 0o644, None),
        text_file(
            "commands/mend.md",
            "---\ndescription: \"Mend a \\\"thing\\\"\"\nargument-hint: \"[thing]\"\n---\n\nMend $ARGUMENTS with \"care\" and a \\ stroke.\n",
        ),
        text_file("commands/cloth/cut.md", "Cut $1 from $2.\r\nThen !`date`.\r\n"),
        text_file("commands/cloth/pattern.svg", "<svg/>"),
        text_file(
            "agents/tailor.md",
            "---\nname: tailor\ndescription: Makes clothes. Use it: often\ntools: Read, Grep\nmodel: sonnet\n---\n\nYou sew.\n",
        ),
        text_file("agents/team/Fitter One.md", "---\nname: Fitter One\ndescription: >\n  Fits\n  clothes.\ncolor: red\n---\nYou fit.\n"),
        text_file("agents/diagram.png", "png"),
    ]
}

fn json_text(value: &Json) -> String {
    match value {
        Json::Null => String::from("null"),
        Json::Bool(b) => format!("{b}"),
        Json::Int(n) => format!("{n}"),
        Json::Text(t) => format!("{t:?}"),
        Json::Array(items) => format!("[{}]", items.iter().map(json_text).collect::<Vec<_>>().join(", ")),
        Json::Object(pairs) => {
            let pairs: Vec<String> = pairs.iter().map(|(k, v)| format!("{k:?}: {}", json_text(v))).collect();
            format!("{{{}}}", pairs.join(", "))
        }
    }
}

/// A plan as text, one line a file or message, contents indented.
pub(crate) fn show(plan: &Plan) -> String {
    let mut out = String::new();
    for m in &plan.messages {
        assert_eq!(m.level, Level::Warn, "{}", m.text);
        out += &format!("! {}\n", m.text);
    }
    for intent in &plan.intents {
        let w = match intent {
            Intent::Write(w) => w,
            Intent::EditJson { path, edits } => {
                out += &format!("edit {path}\n");
                for e in edits {
                    out += &format!("    {} = {}\n", e.at, json_text(e.value.as_ref().unwrap()));
                }
                continue;
            }
            Intent::EditBlock { path, id, text } => {
                out += &format!("edit {path} block {id}\n    |{}\n", text.as_ref().unwrap());
                continue;
            }
            other => panic!("{other:?} is not what a target does"),
        };
        match &w.content {
            Content::Module(from) => out += &format!("{:04o} {} <- {from}\n", w.mode, w.path),
            Content::Bytes(b) => {
                out += &format!("{:04o} {} =\n", w.mode, w.path);
                for line in core::str::from_utf8(b).unwrap().split_inclusive('\n') {
                    out += &format!("    |{}", line.replace('\r', "\\r"));
                }
                assert!(b.ends_with(b"\n"), "{} does not end with a line end", w.path);
            }
        }
    }
    out
}

/// Holds what becomes of the sample, first in a project, then in a user's folder, and that a host decodes it.
fn golden(name: &str, want: &str) {
    let project = run(name, "install", sample()).unwrap();
    let user = run_as(name, "install", Some(Scope::User), "kit", sample()).unwrap();
    for plan in [&project, &user] {
        lola_ext::encode_plan(plan).unwrap();
    }
    let got = format!("{}\n--- for a user ---\n\n{}", show(&project), show(&user));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let dir = option_env!("CARGO_MANIFEST_DIR").expect("golden files are updated with cargo test");
        std::fs::write(format!("{dir}/testdata/{name}.txt"), &got).unwrap();
        return;
    }
    assert!(got == want, "the plan for {name} is not as testdata/{name}.txt says; got:\n{got}");
}

#[test]
fn claude_code() {
    golden("claude-code", include_str!("../testdata/claude-code.txt"));
}

#[test]
fn cursor() {
    golden("cursor", include_str!("../testdata/cursor.txt"));
}

#[test]
fn gemini_cli() {
    golden("gemini-cli", include_str!("../testdata/gemini-cli.txt"));
}

#[test]
fn opencode() {
    golden("opencode", include_str!("../testdata/opencode.txt"));
}

#[test]
fn copilot() {
    golden("copilot", include_str!("../testdata/copilot.txt"));
}

#[test]
fn one_file_of_instructions() {
    for (name, path, copied, edit) in [
        ("claude-code", ".claude/lola/kit.md", true, "edit CLAUDE.md block kit\n    |@.claude/lola/kit.md\n"),
        ("cursor", ".cursor/rules/kit.mdc", false, ""),
        ("gemini-cli", ".gemini/lola/kit.md", true, "edit GEMINI.md block kit\n    |@./.gemini/lola/kit.md\n"),
        ("opencode", ".opencode/lola/kit.md", true, "edit opencode.json\n    /instructions/- = \".opencode/lola/kit.md\"\n"),
        ("copilot", ".github/instructions/kit.instructions.md", false, ""),
    ] {
        let mut plan = run(name, "install", alloc::vec![text_file("INSTRUCTIONS.md", "Ask first.")]).unwrap();
        let at = plan.intents.iter().position(|i| matches!(i, Intent::Write(_))).unwrap();
        let Intent::Write(w) = plan.intents.remove(at) else { unreachable!() };
        assert_eq!(w.path, path);
        assert_eq!(matches!(w.content, Content::Module(_)), copied, "{name}");
        plan.messages.clear();
        assert_eq!(show(&plan), edit, "{name}");
    }
}

#[test]
fn every_name_has_a_block_of_its_own() {
    for (name, want) in [
        ("kit", Some("kit")),
        ("a-1", Some("a-1")),
        ("Kit", Some(".kit")),
        ("k.it", Some("k..it")),
        ("k_it", Some("k.-it")),
        ("k-it", Some("k-it")),
        ("kI.T_", Some("k.i...t.-")),
        (&"a".repeat(64), Some(&*"a".repeat(64))),
        (&"A".repeat(32), Some(&*".a".repeat(32))),
        (&"A".repeat(33), None),
        ("", None),
        ("ü", None),
        ("a b", None),
    ] {
        assert_eq!(block_id(name).as_deref(), want, "{name}");
    }
    // All names of up to three letters of an alphabet that has each kind of letter.
    let mut names = alloc::vec![String::new()];
    for from in 0.. {
        if names[from].len() == 3 {
            break;
        }
        for c in ["a", "A", "1", ".", "_", "-", "b"] {
            let longer = [names[from].as_str(), c].concat();
            names.push(longer);
        }
    }
    let mut ids: Vec<String> = names.iter().filter_map(|n| block_id(n)).collect();
    let all = ids.len();
    assert!(ids.iter().flat_map(|id| id.bytes()).all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-')));
    ids.sort_unstable();
    ids.dedup();
    assert_eq!((all, ids.len()), (7 + 49 + 343, 7 + 49 + 343));
}

#[test]
fn a_name_without_a_block_is_said() {
    let name = "A".repeat(40);
    for (target, file) in [("claude-code", "CLAUDE.md"), ("gemini-cli", "GEMINI.md")] {
        let plan = run_as(target, "install", None, &name, alloc::vec![text_file("AGENTS.md", "x")]).unwrap();
        assert_eq!(plan.intents, []);
        assert!(plan.messages[0].text.ends_with(&format!("the module's name is too long for a mark in {file}, left out")));
    }
}

#[test]
fn uninstall_is_the_hosts() {
    for l in &LAYOUTS {
        assert_eq!(run(l.name, "uninstall", sample()).unwrap(), Plan::default());
    }
}

#[test]
fn an_empty_module_is_an_empty_plan() {
    for l in &LAYOUTS {
        assert_eq!(run(l.name, "install", Vec::new()).unwrap(), Plan::default());
    }
}

#[test]
fn errors() {
    let cases: &[(&str, &str, Vec<File>, &str)] = &[
        ("emacs", "install", Vec::new(), "looking up target \"emacs\": it is none of claude-code cursor gemini-cli opencode copilot"),
        ("cursor", "search", Vec::new(), "running action \"search\": a target knows install and uninstall"),
        (
            "cursor",
            "install",
            alloc::vec![text_file("commands/a-b.md", "1"), text_file("commands/a/b.md", "2")],
            "placing \"commands/a-b.md\" and \"commands/a/b.md\" for Cursor: both would be \".cursor/commands/a-b.md\"",
        ),
        (
            "copilot",
            "install",
            alloc::vec![text_file("agents/a.md", "1"), text_file("agents/a.agent.md", "2")],
            "placing \"agents/a.agent.md\" and \"agents/a.md\" for GitHub Copilot: both would be \".github/agents/a.agent.md\"",
        ),
        (
            "gemini-cli",
            "install",
            alloc::vec![file("commands/big.md", 0o644, None)],
            "converting for Gemini CLI: reading \"commands/big.md\": its content was withheld, it is over the limit or the manifest does not list it under contents",
        ),
        (
            "claude-code",
            "install",
            alloc::vec![file("mcps.json", 0o644, None)],
            "converting for Claude Code: reading \"mcps.json\": its content was withheld, it is over the limit or the manifest does not list it under contents",
        ),
        (
            "copilot",
            "install",
            alloc::vec![text_file("mcps.json", "{\n  \"mcpServers\": {},\n}")],
            "converting for GitHub Copilot: reading \"mcps.json\": line 3: a key was expected",
        ),
        (
            "opencode",
            "install",
            alloc::vec![file("agents/bin.md", 0o644, Some(b"\xff\xfe"))],
            "converting for OpenCode: reading \"agents/bin.md\": it is not UTF-8 text",
        ),
    ];
    for (name, action, files, want) in cases {
        assert_eq!(run(name, action, files.clone()).unwrap_err().0, *want);
    }
}

#[test]
fn messages_are_bounded() {
    let paths: Vec<String> = (0..1500).map(|i| format!("commands/{i}.txt")).collect();
    let files = paths.iter().map(|p| text_file(p, "")).collect();
    let plan = run("cursor", "install", files).unwrap();
    assert_eq!(plan.messages.len(), MAX_MESSAGES + 1);
    assert_eq!(plan.messages[MAX_MESSAGES].text, "Cursor: 1300 more messages are not shown");
}
