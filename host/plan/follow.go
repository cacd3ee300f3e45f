package plan

import (
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/root"
)

// admitted returns the admitted links that lie in the root and stand for a path in it, each with that path. A link that
// leads elsewhere is left out, so that an intent that passes it meets [RuleLink] like any other.
func admitted(r *root.Root, o Options) map[string]string {
	links := map[string]string{}
	for _, link := range o.Follow {
		if to, ok := standsFor(r, link); ok && CheckPath(link, o.Limits) == nil && CheckPath(to, o.Limits) == nil {
			links[link] = to
		}
	}
	return links
}

// Followed returns intents as [Check] would judge them: paths that pass an admitted link are those that it stands for.
func Followed(r *root.Root, o Options, intents []abi.Intent) []abi.Intent {
	j := &judge{links: admitted(r, o)}
	if len(j.links) == 0 {
		return intents
	}
	out := make([]abi.Intent, len(intents))
	for i, in := range intents {
		out[i] = repathed(in, j.follow)
	}
	return out
}

// standsFor reads the link and walks what it says, component by component from where it lies, never through another link.
// The last components need not be there.
func standsFor(r *root.Root, link string) (string, bool) {
	at, name := root.Split(link)
	d, _, err := r.Walk(at, false)
	if err != nil {
		return "", false
	}
	text, err := d.Readlink(name)
	d.Close()
	text = filepath.ToSlash(text)
	if err != nil || text == "" || path.IsAbs(text) || filepath.IsAbs(text) {
		return "", false
	}
	for comp := range strings.SplitSeq(text, "/") {
		switch comp {
		case "", ".":
		case "..":
			// Up from a directory that is really there: up from a link would be up from what that stands for.
			d, _, err := r.Walk(at, false)
			if err != nil || at == "" {
				if err == nil {
					d.Close()
				}
				return "", false
			}
			d.Close()
			at, _ = root.Split(at)
		default:
			at = path.Join(at, comp)
		}
	}
	return at, at != ""
}

// linkFix says what can be done about what a path passes: the argument that admits it, if it is a link that can be followed.
func (j *judge) linkFix(s *sight) string {
	link := s.path
	if s.link != nil {
		link = s.link.Path
	}
	if !j.followable(link) {
		return "put a real file or directory there"
	}
	return "put a real file or directory there, or have it looked through with --follow " + shellWord(link)
}

// followable reports whether admitting a link by name would lead past it: to a path of the root that passes no other link.
func (j *judge) followable(link string) bool {
	to, ok := standsFor(j.root, link)
	if !ok || CheckPath(link, j.Limits) != nil || CheckPath(to, j.Limits) != nil || len(j.aliases(link)) > 0 {
		return false // an admitted link that leads here is looked through once, and no further
	}
	info, err := j.root.Stat(to)
	return err == nil && (!info.Exists || info.Regular() || info.Type.IsDir())
}

// shellWord quotes a path so that the shell of this system takes it for one word. No path that is acceptable holds a control
// character.
func shellWord(path string) string {
	plain := func(r rune) bool {
		return r >= 0x80 || r == '-' || r == '_' || r == '.' || r == '/' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	switch {
	case strings.IndexFunc(path, func(r rune) bool { return !plain(r) }) < 0:
		return path
	case runtime.GOOS == "windows":
		return `"` + path + `"` // no name there holds one
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// aliases are the names that a path has through admitted links.
func (j *judge) aliases(p string) []string {
	var all []string
	for link, to := range j.links {
		if p == to || strings.HasPrefix(p, to+"/") {
			all = append(all, link+p[len(to):])
		}
	}
	slices.Sort(all)
	return all
}

// names returns the paths and behind them their aliases: what is guarded by one name is guarded.
func (j *judge) names(paths []string) []string {
	if len(j.links) == 0 {
		return paths
	}
	all := slices.Clone(paths)
	for _, p := range paths {
		all = append(all, j.aliases(p)...)
	}
	return all
}

// follow returns the path that p stands for: itself, unless it is or lies beneath an admitted link.
func (j *judge) follow(p string) string {
	if len(j.links) == 0 {
		return p
	}
	for at := p; at != ""; {
		if to, ok := j.links[at]; ok {
			return to + p[len(at):]
		}
		i := strings.LastIndexByte(at, '/')
		if i < 0 {
			break
		}
		at = at[:i]
	}
	return p
}
