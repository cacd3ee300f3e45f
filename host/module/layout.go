package module

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/lola-ext/lola/host/root"
)

const skillFile = "SKILL.md"

// folders and singles are the named parts of a module.
var (
	folders = []string{"skills", "commands", "agents"}
	singles = []string{"mcps.json", "AGENTS.md", "INSTRUCTIONS.md"}
)

// layout is the form that a module has on disk.
type layout struct {
	prefix string // "module/" or ""
	lone   bool   // the folder is one Agent Skill
	have   []string
	links  []string // what is a link where a folder should be, on disk
}

// findLayout tells which form of a module lies in r: the named parts in module/, the same at the top, or one skill. A
// SKILL.md at the top makes the folder a skill unless one of the folders of a module is there as well.
func findLayout(r *root.Root) (layout, error) {
	var links []string
	link := func(path string) {
		if info, err := r.Stat(path); err == nil && info.Type&fs.ModeSymlink != 0 {
			links = append(links, path)
		}
	}
	link("module")
	for _, prefix := range []string{"module/", ""} {
		l := layout{prefix: prefix}
		dirs := 0
		for _, f := range folders {
			if info, err := r.Stat(prefix + f); err == nil && info.Type.IsDir() {
				l.have = append(l.have, f)
				dirs++
			}
			link(prefix + f)
		}
		l.links = links
		for _, f := range singles {
			// Links count here: what they lead to is decided when they are read, and said if it is nothing.
			if info, err := r.Stat(prefix + f); err == nil && info.Exists && !info.Type.IsDir() {
				l.have = append(l.have, f)
			}
		}
		skill, err := r.Stat(prefix + skillFile)
		if err == nil && skill.Exists && !skill.Type.IsDir() && dirs == 0 {
			return layout{prefix: prefix, lone: true}, nil // what lies in it is all of it, links are said in their places
		}
		if len(l.have) > 0 {
			return l, nil
		}
	}
	why := ""
	if len(links) > 0 {
		why = fmt.Sprintf("; links are not followed to a folder, and %q is one", links[0])
	}
	return layout{}, errors.New("no module is there: want skills/, commands/, agents/, mcps.json, AGENTS.md or INSTRUCTIONS.md " +
		"at the top or in module/, or a SKILL.md" + why)
}

// part says what lies where: on disk beneath the module's folder, and in the layout that extensions see.
type part struct{ disk, path string }

func (l layout) parts(name string) []part {
	if l.lone {
		dir := l.prefix
		if dir != "" {
			dir = dir[:len(dir)-1]
		}
		return []part{{dir, "skills/" + name}}
	}
	parts := make([]part, len(l.have))
	for i, h := range l.have {
		parts[i] = part{l.prefix + h, h}
	}
	return parts
}
