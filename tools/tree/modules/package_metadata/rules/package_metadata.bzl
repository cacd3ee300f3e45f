"""Stand-in for package_metadata: targets that say nothing, since nothing of ours collects it."""

load("//providers:package_metadata_info.bzl", "PackageMetadataInfo")

def _package_metadata_impl(ctx):
    return [
        DefaultInfo(),
        PackageMetadataInfo(
            attributes = {},
            metadata = None,
            purl = ctx.attr.purl,
        ),
    ]

_package_metadata = rule(
    implementation = _package_metadata_impl,
    attrs = {"purl": attr.string()},
)

def package_metadata(name, purl = "", attributes = [], visibility = None, **_):
    """Takes what the real one takes and drops the attributes.

    Args:
      name: target name
      purl: package URL, kept
      attributes: dropped
      visibility: as usual
    """
    _package_metadata(
        name = name,
        # A repository that makes this its default metadata would otherwise
        # make the target depend on itself.
        applicable_licenses = [],
        purl = purl,
        visibility = visibility,
    )
