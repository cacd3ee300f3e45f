"""Stand-in for buildozer, which Bazel's own `mod tidy` runs and nothing in our build does."""

_SCRIPT = """\
#!/bin/sh
echo "bazel mod tidy needs the real buildozer: run it on a machine with the internet" >&2
exit 1
"""

def _repo_impl(rctx):
    rctx.file("BUILD.bazel", 'exports_files(["buildozer.exe"])\n')
    rctx.file("buildozer.exe", _SCRIPT)

_repo = repository_rule(implementation = _repo_impl)

def _buildozer_binary_impl(mctx):
    _repo(name = "buildozer_binary")
    return mctx.extension_metadata(
        root_module_direct_deps = [],
        root_module_direct_dev_deps = [],
    )

buildozer_binary = module_extension(implementation = _buildozer_binary_impl)
