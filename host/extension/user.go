package extension

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/grant"
	"github.com/lola-ext/lola/host/internal/fold"
)

// User says where a target works in user scope (lola install --scope user): in one folder of the assistant, never in the home
// itself.
type User struct {
	// Folder lies beneath the home: one to three components with slashes, as in ".config/opencode".
	Folder string
	Writes []grant.Glob // relative to Folder

	grant grant.Set
}

// Grant returns what the manifest asks for in the folder. Paths are relative to it.
func (u User) Grant() grant.Set { return u.grant }

var userFields = []string{"folder", "writes"}

func readUser(d mapping) grant.Rights {
	m := d.mapping("user", userFields)
	return grant.Rights{Folder: m.text("folder"), Writes: m.texts("writes")}
}

func (m Manifest) user(r grant.Rights) (*User, error) {
	if m.Kind != abi.KindTarget {
		return nil, fmt.Errorf("field user: only a target works in user scope, and this is a %q", m.Kind)
	}
	if err := checkFolder(r.Folder); err != nil {
		return nil, fmt.Errorf("field user.folder: %w", err)
	}
	if len(r.Writes) == 0 {
		return nil, errors.New("field user.writes: want at least one glob, relative to the folder")
	}
	u := &User{Folder: r.Folder}
	var err error
	if u.grant, err = m.asks(r); err != nil {
		return nil, fmt.Errorf("in user scope: %w", err)
	}
	if u.Writes, err = parseGlobs(r.Writes); err != nil {
		return nil, fmt.Errorf("field user.writes: %w", err)
	}
	return u, nil
}

// maxFolder bounds the components of a user folder: the deepest that we know is "Library/Application Support/NAME".
const maxFolder = 3

// shared are folders that belong to no single program, folded. A user folder is none of them.
var shared = []string{
	".cache", ".config", ".local", ".local/bin", ".local/share", ".local/state", ".lola", "appdata", "appdata/local", "appdata/locallow", "appdata/roaming",
	"applications", "bin", "desktop", "documents", "downloads", "library", "library/application support", "library/preferences", "movies", "music",
	"onedrive", "pictures", "public", "snap", "src", "templates", "videos",
}

// checkFolder reports whether a folder can be the root of user scope. It must be one program's own on every system: its
// components are letters, digits, spaces and ". _ -", and it is no folder that programs share, that is guarded whole, or
// that a plan could not name either.
func checkFolder(folder string) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%q: %s", folder, fmt.Sprintf(format, args...))
	}
	switch {
	case folder == "":
		return errors.New("is missing; want the assistant's folder beneath the home, as in \".claude\"")
	case len(folder) > abi.DefaultLimits().Component:
		return bad("%d bytes, want at most %d", len(folder), abi.DefaultLimits().Component)
	case strings.HasPrefix(folder, "~"):
		return bad("it is relative to the home; leave out the \"~\"")
	case strings.HasPrefix(folder, "/"):
		return bad("it is absolute; want it relative to the home")
	}
	parts := strings.Split(folder, "/")
	if len(parts) > maxFolder {
		return bad("it has %d components, want at most %d", len(parts), maxFolder)
	}
	for _, part := range parts {
		if part == "" || part == "." || part == ".." {
			return bad("it has a component %q", part)
		}
		if i := strings.IndexFunc(part, func(r rune) bool { return !folderRune(r) }); i >= 0 {
			return bad("the component %q holds a character that is not allowed; want letters, digits, spaces, \".\", \"_\" and \"-\"", part)
		}
		if part[0] == ' ' || part[0] == '-' || strings.HasSuffix(part, " ") || strings.HasSuffix(part, ".") {
			return bad("the component %q begins or ends with what some system drops", part)
		}
		if base, _, _ := strings.Cut(part, "."); base != "" { // the part that can be a device
			if err := abi.CheckName(strings.ReplaceAll(base, " ", "-")); err != nil {
				return bad("the component %q: %v", part, err)
			}
		}
		switch fold.Path(part) {
		case ".git", ".hg", ".svn", ".jj":
			return bad("the component %q is a folder of a version control system", part)
		}
	}
	if slices.Contains(shared, fold.Path(folder)) {
		return bad("it is no single program's; name the assistant's own folder")
	}
	for _, path := range []string{folder, folder + "/x"} {
		if g, ok := grant.Guarded(path); ok {
			return bad("it is guarded (%s: %s)", g.Pattern, g.Why)
		}
	}
	return nil
}

func folderRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(" ._-", r)
}
