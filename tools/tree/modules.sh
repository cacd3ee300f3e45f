# modules.sh DIR GO-VERSION: rules_go and gazelle as Bazel modules, and the Go
# toolchain's zip, all from the Go module proxy.
# The first two are copied, because a module zip carries no executable bits and
# leaves nested modules out, and because the module cache is read-only.
set -eu
dir=$1 go_version=$2
RULES_GO=v0.64.0 GAZELLE=v0.54.0 GAZELLE_V2=v2.0.0-3

cd / # no go.mod here: these are not the checkout's own dependencies
fetched() { go mod download -json "$1" | sed -n "s/^\t\"$2\": \"\(.*\)\",\$/\1/p"; }

mkdir "$dir" "$dir/distdir"
cp -r "$(fetched "github.com/bazelbuild/rules_go@$RULES_GO" Dir)" "$dir/rules_go"
cp -r "$(fetched "github.com/bazelbuild/bazel-gazelle@$GAZELLE" Dir)" "$dir/gazelle"
chmod -R u+w "$dir"
cp -r "$(fetched "github.com/bazel-contrib/bazel-gazelle/v2@$GAZELLE_V2" Dir)" "$dir/gazelle/v2"
chmod -R u+w "$dir"
touch "$dir/gazelle/v2/go.sum"
find "$dir" -name '*.sh' -exec chmod +x {} +

cp "$(fetched "golang.org/toolchain@v0.0.1-go$go_version.$(go env GOHOSTOS)-$(go env GOHOSTARCH)" Zip)" "$dir/distdir/"
echo "rules_go $RULES_GO, gazelle $GAZELLE, go $go_version"
