"""Stand-in for bazel_features: what rules_go and gazelle ask of it, answered for Bazel 7.7.

Debian's copy is older than our rules and lacks one of the fields.
"""

bazel_features = struct(
    cc = struct(find_cpp_toolchain_has_mandatory_param = True),
    external_deps = struct(
        extension_metadata_has_reproducible = True,
        is_bzlmod_enabled = True,
        module_extension_has_os_arch_dependent = True,
    ),
    rules = struct(instrumented_files_info_has_baseline_coverage_files = False),
)
