"""One program for many platforms, from one command."""

def _each_platform_impl(_settings, attr):
    return {
        name: {"//command_line_option:platforms": "//platforms:" + name}
        for name in attr.platforms
    }

_each_platform = transition(
    implementation = _each_platform_impl,
    inputs = [],
    outputs = ["//command_line_option:platforms"],
)

def _binaries_impl(ctx):
    outs = []
    for name, binary in ctx.split_attr.binary.items():
        program = binary[DefaultInfo].files_to_run.executable
        suffix = ".exe" if program.extension == "exe" else ""

        # Beside each other, under names that say what they are for: as they are
        # built they lie in a folder for each configuration.
        out = ctx.actions.declare_file("%s/%s_%s%s" % (ctx.label.name, ctx.attr.program, name, suffix))
        ctx.actions.symlink(output = out, target_file = program, is_executable = True)
        outs.append(out)
    return [DefaultInfo(files = depset(outs))]

binaries = rule(
    doc = "NAME/PROGRAM_PLATFORM for each platform. Make it manual: each compiles the standard library anew.",
    implementation = _binaries_impl,
    attrs = {
        "binary": attr.label(
            cfg = _each_platform,
            mandatory = True,
        ),
        "platforms": attr.string_list(
            doc = "Names of platforms in //platforms.",
            mandatory = True,
        ),
        "program": attr.string(mandatory = True),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
)
