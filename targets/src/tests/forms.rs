//! Single conversions: frontmatter in its many forms, and escaping.

use super::{run, text_file};
use crate::convert;
use crate::frontmatter::{split, Scalar};
use alloc::format;
use alloc::string::String;
use alloc::vec;

fn description(front: &str) -> Scalar {
    let text = format!("---\n{front}\n---\nbody\n");
    let doc = split(&text);
    assert_eq!(doc.body, "body\n", "{front}");
    doc.front.unwrap().scalar("description")
}

#[test]
fn scalars() {
    let text = |s: &str| Scalar::Text(String::from(s));
    for (front, want) in [
        ("description: plain words", text("plain words")),
        ("description:   plain # comment", text("plain")),
        ("description: C# and a: b", text("C# and a: b")),
        ("description: first\n  second\n  third", text("first second third")),
        ("description:\n  below\n  it", text("below it")),
        ("description: 'it''s' # so", text("it's")),
        ("description: \"a \\\"b\\\" \\\\ \\t\\u00e9\\x41\"", text("a \"b\" \\ \té\x41")),
        ("description: |\n  one\n   two\n\n  three\n\nname: x", text("one\n two\n\nthree")),
        ("description: |-\n  one", text("one")),
        ("description: >\n  one\n  two\n\n  three", text("one two\nthree")),
        ("description: >+\n  one\n\n", text("one")),
        ("name: x", Scalar::Absent),
        ("description:", Scalar::Absent),
        ("description: ~", Scalar::Absent),
        ("description: \"\"", Scalar::Absent),
        ("description: |\nname: x", Scalar::Absent),
        // What is not read here must not come out garbled.
        ("description: [a, b]", Scalar::Other),
        ("description: {a: b}", Scalar::Other),
        ("description:\n  - a\n  - b", Scalar::Other),
        ("description:\n- a", Scalar::Other),
        ("description:\n  key: value", Scalar::Other),
        ("description: &x text", Scalar::Other),
        ("description: *x", Scalar::Other),
        ("description: \"open", Scalar::Other),
        ("description: \"two\n  lines\"", Scalar::Other),
        ("description: 'open", Scalar::Other),
        ("description: \"a\" b", Scalar::Other),
        ("description: \"\\q\"", Scalar::Other),
        ("description: \"\\ud800\"", Scalar::Other),
        ("description: |2\n   two", Scalar::Other),
        ("description: >\n  one\n    two", Scalar::Other),
        ("description: |\n    one\n  two", Scalar::Other),
        // Nothing in a block that is not understood can be relied upon.
        ("description: x\nwhat is this", Scalar::Other),
        ("description: x\ndescription: y", Scalar::Other),
        ("  description: x", Scalar::Other),
        ("description: x\n? y", Scalar::Other),
        ("description:x", Scalar::Other),
    ] {
        assert_eq!(description(front), want, "{front}");
    }
}

#[test]
fn where_frontmatter_is() {
    for (text, body, has) in [
        ("---\na: b\n---\nbody", "body", true),
        ("---\r\na: b\r\n---\r\nbody\r\n", "body\r\n", true),
        ("\u{feff}---\na: b\n---\nbody", "body", true),
        ("--- \na: b\n---  \nbody", "body", true),
        ("---\n---\nbody", "body", true),
        ("---\na: b\n---", "", true),
        ("---\nnever closed\n", "---\nnever closed\n", false),
        ("\n---\na: b\n---\n", "\n---\na: b\n---\n", false),
        ("----\na: b\n----\n", "----\na: b\n----\n", false),
        ("text\n---\n", "text\n---\n", false),
        ("", "", false),
    ] {
        let doc = split(text);
        assert_eq!((doc.body, doc.front.is_some()), (body, has), "{text:?}");
    }
}

#[test]
fn crlf_frontmatter_is_read() {
    let doc = split("---\r\ndescription: |\r\n  one\r\n  two\r\nname: x\r\n---\r\n");
    let front = doc.front.unwrap();
    assert_eq!(front.scalar("description"), Scalar::Text(String::from("one\ntwo")));
    assert_eq!(front.scalar("name"), Scalar::Text(String::from("x")));
}

#[test]
fn toml_is_escaped() {
    for (text, want) in [
        ("", "prompt = \"\"\"\n\n\"\"\"\n"),
        ("a \\ b", "prompt = \"\"\"\na \\\\ b\n\"\"\"\n"),
        ("q \" \"\" \"\"\" \"\"\"\"\"\"\"", "prompt = \"\"\"\nq \" \"\" \"\"\\\" \"\"\\\"\"\"\\\"\"\n\"\"\"\n"),
        ("tab\there\0\u{1b}\u{7f}", "prompt = \"\"\"\ntab\there\\u0000\\u001b\\u007f\n\"\"\"\n"),
        ("a\r\nb\rc", "prompt = \"\"\"\na\nb\\rc\n\"\"\"\n"),
        ("---\ndescription: 'a \"b\" \\ ü'\n---\nx", "description = \"a \\\"b\\\" \\\\ ü\"\nprompt = \"\"\"\nx\n\"\"\"\n"),
        ("---\ndescription: |\n  a\n  b\n---\nx", "description = \"a\\nb\"\nprompt = \"\"\"\nx\n\"\"\"\n"),
    ] {
        assert_eq!(convert::toml_command(text).text.unwrap(), want, "{text:?}");
    }
}

#[test]
fn placeholders() {
    for (text, want, notes) in [
        ("$ARGUMENTS and $ARGUMENTS.", "{{args}} and {{args}}.", 0),
        ("$ARGUMENTS_X $ARGUMENT $$ARGUMENTS", "$ARGUMENTS_X $ARGUMENT ${{args}}", 0),
        ("$1 or $ARGUMENTS[0]", "$1 or $ARGUMENTS[0]", 1),
        ("costs $100", "costs $100", 0),
        ("!`date`", "!`date`", 1),
        ("!{date}", "!{date}", 1),
    ] {
        let got = convert::toml_command(text);
        assert_eq!(got.text.unwrap(), format!("prompt = \"\"\"\n{want}\n\"\"\"\n"));
        assert_eq!(got.notes.len(), notes, "{text:?}: {:?}", got.notes);
    }
}

#[test]
fn prompts_change_in_the_body_alone() {
    let got = convert::prompt_file("---\r\ndescription: $ARGUMENTS\r\n---\r\nDo $ARGUMENTS.\r\n");
    assert_eq!(got.text.unwrap(), "---\r\ndescription: $ARGUMENTS\r\n---\r\nDo ${input:arguments}.\r\n");
    assert!(convert::prompt_file("\u{feff}---\na: b\n---\nNothing to replace.\n").text.is_none());
}

#[test]
fn agents_that_fit_are_copied() {
    assert!(convert::gemini_agent("---\nname: a-b_1\ndescription: x\n---\nBody", "f").text.is_none());
    assert!(convert::gemini_agent("---\nkind: local\nname: a\ndescription: x\ntools:\n  - read_file\n---\nBody", "f")
        .text
        .is_none());
    assert!(convert::opencode_agent("---\ndescription: x\nmode: primary\npermission:\n  edit: deny\n---\nBody")
        .text
        .is_none());
}

#[test]
fn gemini_agents() {
    for (text, want, notes) in [
        ("Body\n", "---\nname: f\ndescription: \"The agent f\"\n---\nBody\n", 1),
        ("---\nname: Über Größe!\ndescription: \"x\"\n---\nB\n", "---\nname: ber-gr-e\ndescription: \"x\"\n---\nB\n", 1),
        ("---\ndescription: [x]\ntools: Read\n---\nB\n", "---\nname: f\ndescription: \"The agent f\"\n---\nB\n", 3),
        ("---\nname: 高\ndescription: x\n---\nB\n", "---\nname: agent\ndescription: \"x\"\n---\nB\n", 1),
    ] {
        let got = convert::gemini_agent(text, "f");
        assert_eq!(got.text.unwrap(), want);
        assert_eq!(got.notes.len(), notes, "{text:?}: {:?}", got.notes);
    }
}

#[test]
fn a_lifted_restriction_is_said() {
    let got = convert::opencode_agent("---\ndescription: x\ntools: Read\ncolor: red\n---\nB");
    assert_eq!(
        got.notes,
        ["keys that do not fit there are left out of its frontmatter: tools, color; nothing limits the agent's tools there"]
    );
    let got = convert::opencode_agent("---\ncolor: red\n---\nB");
    assert_eq!(got.notes, ["keys that do not fit there are left out of its frontmatter: color"]);
}

#[test]
fn own_endings_are_not_doubled() {
    let plan = run("copilot", "install", vec![text_file("agents/a.agent.md", "x"), text_file("commands/b.prompt.md", "x")])
        .unwrap();
    assert_eq!(
        super::show(&plan),
        "0644 .github/agents/a.agent.md <- agents/a.agent.md\n0644 .github/prompts/b.prompt.md <- commands/b.prompt.md\n"
    );
}
