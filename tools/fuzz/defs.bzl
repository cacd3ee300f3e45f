"""Test programs with the counters that a fuzzer steers by."""

_GOOPTS = "@rules_go//go/config:gc_goopts"
_NOGO = "@rules_go//go/private:request_nogo"

def _instrument_impl(_settings, _attr):
    # What `go test -fuzz` compiles with. A transition and not a flag, so that
    # one command builds the fuzzer plain and what it fuzzes instrumented.
    # Without nogo, which has judged these sources where they are built plain:
    # it would be instrumented too, and only a test program can be.
    return {
        _GOOPTS: ["-d=libfuzzer"],
        _NOGO: False,
    }

_instrument = transition(
    implementation = _instrument_impl,
    inputs = [],
    outputs = [
        _GOOPTS,
        _NOGO,
    ],
)

def _fuzz_programs_impl(ctx):
    lines = []
    runfiles = ctx.runfiles()
    for test in ctx.attr.tests:
        program = test[DefaultInfo].files_to_run.executable
        lines.append("%s %s/%s\n" % (test.label.package, ctx.workspace_name, program.short_path))
        runfiles = runfiles.merge(test[DefaultInfo].default_runfiles)
        runfiles = runfiles.merge(ctx.runfiles([program]))
    listing = ctx.actions.declare_file(ctx.label.name + ".txt")
    ctx.actions.write(listing, "".join(lines))
    return [DefaultInfo(
        files = depset([listing]),
        runfiles = runfiles.merge(ctx.runfiles([listing])),
    )]

fuzz_programs = rule(
    doc = "NAME.txt lists the instrumented programs of the tests, a line each: package, place in the runfiles.",
    implementation = _fuzz_programs_impl,
    attrs = {
        "tests": attr.label_list(
            cfg = _instrument,
            mandatory = True,
            doc = "go_test targets that hold Fuzz functions.",
        ),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
)
