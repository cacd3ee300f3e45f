//! Golden trees: one module with everything a module may have, and what becomes of it for each assistant.

use super::*;
use alloc::format;
use lola_ext::{Content, Identity, Intent, Level};

mod forms;

fn file<'a>(path: &'a str, mode: u16, content: Option<&'a [u8]>) -> File<'a> {
    File { path, mode, size: content.map_or(1 << 20, |c| c.len() as u64), digest: [7; 32], content }
}

fn text_file<'a>(path: &'a str, content: &'a str) -> File<'a> {
    file(path, 0o644, Some(content.as_bytes()))
}

/// Runs one action. Files are sorted here, as a host sorts them.
pub(crate) fn run<'a>(target_name: &'a str, action: &'a str, mut files: Vec<File<'a>>) -> Result<Plan, Error> {
    files.sort_by_key(|f| f.path.as_bytes());
    let request = Request {
        action,
        extension: Identity { name: target_name, version: "0.1.0" },
        scope: None,
        params: Vec::new(),
        module: Some(Module { name: "kit", version: "1.2.0", digest: [9; 32], files }),
        inputs: Vec::new(),
    };
    let mut plan = Plan::default();
    target(&request, &mut plan).map(|()| plan)
}

fn sample() -> Vec<File<'static>> {
    alloc::vec![
        text_file("lola.yaml", "name: kit\nversion: 1.2.0\n"),
        text_file("mcps.json", "{}"),
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

/// A plan as text, one line a file or message, contents indented.
pub(crate) fn show(plan: &Plan) -> String {
    let mut out = String::new();
    for m in &plan.messages {
        assert_eq!(m.level, Level::Warn, "{}", m.text);
        out += &format!("! {}\n", m.text);
    }
    for intent in &plan.intents {
        let Intent::Write(w) = intent else { panic!("{intent:?} is no write") };
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

fn golden(name: &str, want: &str) {
    let got = show(&run(name, "install", sample()).unwrap());
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
    for (name, path, copied) in [
        ("claude-code", ".claude/rules/kit.md", true),
        ("cursor", ".cursor/rules/kit.mdc", false),
        ("copilot", ".github/instructions/kit.instructions.md", false),
    ] {
        let plan = run(name, "install", alloc::vec![text_file("INSTRUCTIONS.md", "Ask first.")]).unwrap();
        let [Intent::Write(w)] = &plan.intents[..] else { panic!("{name}: {plan:?}") };
        assert_eq!(w.path, path);
        assert_eq!(matches!(w.content, Content::Module(_)), copied, "{name}");
        assert_eq!(plan.messages, []);
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
fn the_user_scope_is_refused() {
    let request = Request {
        action: "install",
        extension: Identity { name: "cursor", version: "0.1.0" },
        scope: Some(Scope::User),
        params: Vec::new(),
        module: None,
        inputs: Vec::new(),
    };
    let got = target(&request, &mut Plan::default()).unwrap_err().0;
    assert_eq!(got, "installing for the user: the target \"cursor\" knows projects only");
}

#[test]
fn messages_are_bounded() {
    let paths: Vec<String> = (0..1500).map(|i| format!("commands/{i}.txt")).collect();
    let files = paths.iter().map(|p| text_file(p, "")).collect();
    let plan = run("cursor", "install", files).unwrap();
    assert_eq!(plan.messages.len(), MAX_MESSAGES + 1);
    assert_eq!(plan.messages[MAX_MESSAGES].text, "Cursor: 1300 more messages are not shown");
}
