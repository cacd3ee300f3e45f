//! Echo answers with a plan that shows the whole request: a message for what it asks, one for each parameter and input, and
//! a write for each file of the module. The guest in Go answers the same request with the same bytes.

use lola_ext::{Content, Error, Expect, InputState, Intent, Param, Plan, Request, Scope, Write};

lola_ext::export!(echo);

fn echo(request: &Request, plan: &mut Plan) -> Result<(), Error> {
    let scope = match request.scope {
        None => "",
        Some(Scope::Project) => "project",
        Some(Scope::User) => "user",
    };
    let extension = request.extension;
    plan.info(format!("action {} of {} {} scope {scope}", request.action, extension.name, extension.version));
    let mut params = request.params.clone();
    params.sort_by_key(|(name, _)| *name);
    for (name, value) in params {
        plan.info(match value {
            Param::Text(s) => format!("param {name} text {s}"),
            Param::Int(n) => format!("param {name} int {n}"),
            Param::Bool(b) => format!("param {name} bool {b}"),
        });
    }
    for input in &request.inputs {
        let state = match input.state {
            InputState::Absent => "absent",
            InputState::File => "file",
        };
        plan.info(format!("input {} {state} {}", input.path, input.content.map_or(0, <[u8]>::len)));
    }
    let Some(module) = &request.module else { return Ok(()) };
    plan.info(format!("module {} {}", module.name, module.version));
    for file in &module.files {
        plan.intents.push(Intent::Write(Write {
            path: format!("echo/{}", file.path),
            mode: file.mode,
            content: match file.content {
                Some(bytes) => Content::Bytes(bytes.to_vec()),
                None => Content::Module(file.path.into()),
            },
            expect: Expect::Anything,
            replace_symlink: false,
        }));
    }
    Ok(())
}
