//go:build unix

package apply_test

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/lola-ext/lola/host/root"
)

// A power cut loses what was not made durable. These tests record every call of a run, then for each prefix of them make a
// disk as a cut at that instant can leave it, and hold what recovery makes of it to before and after. There are two models
// of what can be left:
//
// Ordered: names appear, move and vanish in the order in which they were told to, as far as they came; syncing anything of a
// file system makes all names of it durable so far. Bytes that were written and not synced are there, are lost, break off in
// the middle or are zeros. ext4 (data=ordered and writeback), XFS, ZFS, and APFS and NTFS with their journals, are
// such file systems; btrfs between its log and its commits nearly. The project and the state folder may lie on two of them,
// which know nothing of each other.
//
// Strict: each directory is a log of its own, and may lose its end whatever the others have kept. A rename is in the logs of
// both its directories and is kept or lost as a whole. Syncing a directory makes its log durable, and what that rests on;
// syncing a file makes its bytes durable and not its name. That is what POSIX promises and no more; F2FS, and btrfs replaying
// its log, come near to it.

// node is an inode of a disk in memory.
type node struct {
	mode    fs.FileMode
	data    []byte         // of a file, or what a symlink says
	entries map[string]int // of a directory
}

// disk is what a directory holds, by number of inode; 0 is the directory itself.
type disk struct {
	nodes []*node
	umask fs.FileMode
}

// load reads a directory into memory.
func load(t testing.TB, dir string, umask fs.FileMode) *disk {
	t.Helper()
	d := &disk{umask: umask}
	seen := map[uint64]int{}
	byPath := map[string]int{}
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		ino := info.Sys().(*syscall.Stat_t).Ino
		n, ok := seen[ino]
		if !ok {
			n = len(d.nodes)
			seen[ino] = n
			in := &node{mode: info.Mode()}
			switch {
			case info.IsDir():
				in.entries = map[string]int{}
			case info.Mode()&fs.ModeSymlink != 0:
				says, err := os.Readlink(p)
				if err != nil {
					return err
				}
				in.data = []byte(says)
			default:
				if in.data, err = os.ReadFile(p); err != nil {
					return err
				}
			}
			d.nodes = append(d.nodes, in)
		}
		byPath[p] = n
		if p != dir {
			d.nodes[byPath[filepath.Dir(p)]].entries[e.Name()] = n
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *disk) clone() *disk {
	c := &disk{nodes: make([]*node, len(d.nodes)), umask: d.umask}
	for i, n := range d.nodes {
		m := *n
		m.entries = maps.Clone(n.entries)
		c.nodes[i] = &m
	}
	return c
}

// find follows a path to an inode; -1: nothing.
func (d *disk) find(p string) int {
	at := 0
	if p == "" {
		return 0
	}
	for name := range strings.SplitSeq(p, "/") {
		next, ok := d.nodes[at].entries[name]
		if !ok {
			return -1
		}
		at = next
	}
	return at
}

// store makes the directory hold that, and nothing else. The directory itself stays the same one.
func (d *disk) store(dir string) error {
	list, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range list {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	made := map[int]string{}
	var fill func(n int, at string) error
	fill = func(n int, at string) error {
		in := d.nodes[n]
		for _, name := range slices.Sorted(maps.Keys(in.entries)) {
			k, p := in.entries[name], filepath.Join(at, name)
			e := d.nodes[k]
			var err error
			switch first, ok := made[k]; {
			case ok && e.entries == nil:
				err = os.Link(first, p)
			case e.entries != nil:
				if err = os.Mkdir(p, 0o700); err == nil {
					err = fill(k, p)
				}
			case e.mode&fs.ModeSymlink != 0:
				err = os.Symlink(string(e.data), p)
			default:
				if err = os.WriteFile(p, e.data, 0o600); err == nil {
					err = os.Chmod(p, e.mode.Perm())
				}
			}
			if err != nil {
				return err
			}
			made[k] = p
		}
		return os.Chmod(at, in.mode.Perm())
	}
	return fill(0, dir)
}

// effect is what one recorded call does, by inodes.
type effect struct {
	disk int // 0: the project, 1: the state folder
	kind root.OpKind
	text string // for messages
	// dirs are the directories in whose logs it is: those whose entries change, or a directory whose mode does.
	dirs [2]int
	name [2]string
	node int // what comes into being, is written, or is synced
	mode fs.FileMode
	data []byte
}

// names reports whether it is about names or modes, not bytes or syncs.
func (e *effect) names() bool {
	switch e.kind {
	case root.OpWrite, root.OpSync, root.OpSyncDir, root.OpSyncAll:
		return false
	}
	return true
}

// do makes it happen to a disk, which must have come as far as it had when it was recorded, in the directories it is about.
func (e *effect) do(d *disk) {
	switch from, to := d.nodes[e.dirs[0]].entries, d.nodes[e.dirs[1]].entries; e.kind {
	case root.OpCreate, root.OpMkdir, root.OpSymlink:
		from[e.name[0]] = e.node
	case root.OpRemove, root.OpRmdir:
		delete(from, e.name[0])
	case root.OpMove, root.OpRename:
		n := from[e.name[0]]
		delete(from, e.name[0])
		to[e.name[1]] = n
	case root.OpExchange:
		from[e.name[0]], to[e.name[1]] = to[e.name[1]], from[e.name[0]]
	case root.OpChmod:
		d.nodes[e.node].mode = d.nodes[e.node].mode.Type() | e.mode
	case root.OpWrite:
		d.nodes[e.node].data = append(slices.Clip(d.nodes[e.node].data), e.data...)
	}
}

// tape is a run as it was recorded: the disks before it, with every inode that comes into being, and what it did.
type tape struct {
	disks   [2]*disk
	effects []effect
}

// record runs act and takes down what it does to the disks of a world.
func record(t testing.TB, w *world, act func(w *world, l *life) error) (*tape, error) {
	t.Helper()
	umask := umaskOf(t)
	dirs := [2]string{w.dir, w.state}
	tp := &tape{}
	var now [2]*disk
	for i, dir := range dirs {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			t.Fatal(err)
		}
		dirs[i] = real
		tp.disks[i] = load(t, dir, umask)
		now[i] = tp.disks[i].clone()
	}
	l := w.boot(-1)
	l.tap = func(_ int, op root.Op) error {
		i := slices.Index(dirs[:], op.Root)
		if i < 0 {
			t.Fatalf("a change beneath %q, which is neither the project nor the state folder", op.Root)
		}
		if e, ok := tp.disks[i].see(t, now[i], op); ok {
			e.disk = i
			e.do(now[i])
			tp.effects = append(tp.effects, e)
		}
		return nil
	}
	err := act(w, l)
	for i, dir := range dirs { // what was recorded is what happened
		if d := differs(now[i].picture(), load(t, dir, umask).picture()); d != "" {
			t.Fatalf("%s: what was recorded of %q is not what happened:%s", w.shape.name, dir, d)
		}
	}
	return tp, err
}

// see makes an effect of a call, told by the disk as it is; a call that fails has none. first gets the inodes that come into
// being.
func (first *disk) see(t testing.TB, now *disk, op root.Op) (effect, bool) {
	e := effect{kind: op.Kind, text: fmt.Sprintf("%s %s %s", op.Kind, op.Path, op.To), mode: fs.FileMode(op.Mode), data: slices.Clone(op.Data), node: -1, dirs: [2]int{-1, -1}}
	is := now.find(op.Path)
	make := func(n *node) {
		e.node = len(now.nodes)
		m := *n
		m.entries = maps.Clone(n.entries)
		now.nodes, first.nodes = append(now.nodes, n), append(first.nodes, &m)
	}
	entry := func(i int, p string) {
		dir, name := path.Split(p)
		if e.dirs[i], e.name[i] = now.find(strings.TrimSuffix(dir, "/")), name; e.dirs[i] < 0 {
			t.Fatalf("%s: there is no such directory", e.text)
		}
	}
	need := func() {
		if is < 0 {
			t.Fatalf("%s: there is no such path", e.text)
		}
		e.node = is
	}
	switch op.Kind {
	case root.OpSyncAll:
	case root.OpWrite, root.OpSync, root.OpSyncDir:
		need()
		if e.node, e.dirs = is, [2]int{-1, -1}; op.Kind == root.OpWrite {
			e.dirs = [2]int{0, 0} // unused: a write is in no log
		}
	case root.OpChmod:
		need()
		e.dirs = [2]int{is, is}
	case root.OpCreate, root.OpMkdir, root.OpSymlink:
		if is >= 0 {
			return e, false
		}
		entry(0, op.Path)
		e.dirs[1] = e.dirs[0]
		switch op.Kind {
		case root.OpCreate:
			make(&node{mode: e.mode})
		case root.OpMkdir:
			make(&node{mode: fs.ModeDir | e.mode&^now.umask, entries: map[string]int{}})
		default:
			make(&node{mode: fs.ModeSymlink | 0o777, data: e.data})
		}
	case root.OpRemove, root.OpRmdir:
		if is < 0 || (op.Kind == root.OpRmdir) != (now.nodes[is].entries != nil) || len(now.nodes[is].entries) > 0 {
			return e, false
		}
		entry(0, op.Path)
		e.dirs[1] = e.dirs[0]
	case root.OpMove, root.OpRename, root.OpExchange:
		to := now.find(op.To)
		if is < 0 || op.Kind == root.OpMove && to >= 0 || op.Kind == root.OpExchange && to < 0 {
			return e, false
		}
		entry(0, op.Path)
		entry(1, op.To)
	default:
		t.Fatalf("%s: this test does not know that call", e.text)
	}
	if op.Kind == root.OpSync || op.Kind == root.OpSyncDir || op.Kind == root.OpSyncAll {
		e.dirs = [2]int{0, 0} // unused too
	}
	return e, true
}

// picture is [picture] of a disk in memory.
func (d *disk) picture() tree {
	got := tree{}
	var fill func(n int, at string)
	fill = func(n int, at string) {
		got[at] = entry(d.nodes[n].mode.Type()|d.nodes[n].mode.Perm(), string(d.nodes[n].data))
		for name, k := range d.nodes[n].entries {
			fill(k, path.Join(at, name))
		}
	}
	fill(0, ".")
	return got
}

func umaskOf(t testing.TB) fs.FileMode {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "probe")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	return 0o777 &^ info.Mode().Perm()
}

// bytesLeft says what becomes of bytes that were not synced.
type bytesLeft int

const (
	bytesLost bytesLeft = iota
	bytesTorn
	bytesZero
	bytesThere
)

// cut makes the disks as a power cut can leave them: kept says which of the effects on names came to be, left what becomes
// of bytes that are not durable at the instant before effect k.
func (tp *tape) cut(k int, kept func(i int) bool, left func(disk, node int) bytesLeft) [2]*disk {
	disks := [2]*disk{tp.disks[0].clone(), tp.disks[1].clone()}
	last := map[[2]int][]int{} // writes that are not durable, by disk and inode
	synced := make([]bool, k)
	for i := range tp.effects[:k] {
		e := &tp.effects[i]
		switch e.kind {
		case root.OpWrite:
			at := [2]int{e.disk, e.node}
			last[at] = append(last[at], i)
		case root.OpSync:
			for _, w := range last[[2]int{e.disk, e.node}] {
				synced[w] = true
			}
			delete(last, [2]int{e.disk, e.node})
		case root.OpSyncAll:
			for at, writes := range last {
				if at[0] == e.disk {
					for _, w := range writes {
						synced[w] = true
					}
					delete(last, at)
				}
			}
		}
	}
	for i := range tp.effects[:k] {
		e := &tp.effects[i]
		d := disks[e.disk]
		switch {
		case e.names():
			if kept(i) {
				e.do(d)
			}
		case e.kind == root.OpWrite && synced[i]:
			e.do(d)
		case e.kind == root.OpWrite:
			part := *e
			switch left(e.disk, e.node) {
			case bytesLost:
				continue
			case bytesTorn:
				if writes := last[[2]int{e.disk, e.node}]; i == writes[len(writes)-1] {
					part.data = part.data[:len(part.data)/2]
				}
			case bytesZero:
				part.data = make([]byte, len(part.data))
			}
			part.do(d)
		}
	}
	return disks
}

// barriers returns, for each disk, up to which effect all names are durable before effect k in the ordered model.
func (tp *tape) barriers(k int) [2]int {
	var at [2]int
	for i := range tp.effects[:k] {
		switch tp.effects[i].kind {
		case root.OpSync, root.OpSyncDir, root.OpSyncAll:
			at[tp.effects[i].disk] = i
		}
	}
	return at
}

// durable marks, for the strict model, the effects on names that are durable before effect k.
func (tp *tape) durable(k int) []bool {
	is := make([]bool, k)
	for i := range tp.effects[:k] {
		s := &tp.effects[i]
		if s.kind != root.OpSyncDir && s.kind != root.OpSyncAll {
			continue
		}
		// Backwards: what is durable, or in the log that is, takes what came before it in its directories with it.
		deep := map[int]bool{}
		if s.kind == root.OpSyncDir {
			deep[s.node] = true
		}
		for j := i - 1; j >= 0; j-- {
			e := &tp.effects[j]
			if e.disk != s.disk || !e.names() {
				continue
			}
			if s.kind == root.OpSyncAll || deep[e.dirs[0]] || deep[e.dirs[1]] {
				is[j], deep[e.dirs[0]], deep[e.dirs[1]] = true, true, true
			}
		}
	}
	return is
}

// lose marks what is lost with an effect: all that came after it in its directories, and so on.
func (tp *tape) lose(k int, from []int) []bool {
	lost := make([]bool, k)
	type log struct{ disk, dir int }
	ends := map[log]bool{}
	for i := range tp.effects[:k] {
		e := &tp.effects[i]
		if !e.names() {
			continue
		}
		a, b := log{e.disk, e.dirs[0]}, log{e.disk, e.dirs[1]}
		if slices.Contains(from, i) || ends[a] || ends[b] {
			lost[i], ends[a], ends[b] = true, true, true
		}
	}
	return lost
}

// powerCut tries one disk that a cut can leave.
type powerCut struct {
	t       *testing.T
	w       *world
	phase   phase
	tape    *tape
	replays *atomic.Int64
	lives   int
}

func (c *powerCut) try(model string, k int, disks [2]*disk) {
	c.t.Helper()
	c.replays.Add(1)
	for i, dir := range []string{c.w.dir, c.w.state} {
		if err := disks[i].store(dir); err != nil {
			c.t.Fatal(err)
		}
	}
	next := "the end"
	if k < len(c.tape.effects) {
		next = c.tape.effects[k].text
	}
	err := c.w.recover(c.w.boot(-1))
	_, problem := c.w.settled(c.phase.name, c.lives, c.phase.from(c.w), c.phase.to(c.w))
	if err != nil || problem != "" {
		c.t.Errorf("%s: cut before effect %d of %d, %s: recovery says %v; %s", model, k, len(c.tape.effects), next, err, problem)
	}
}

// ordered tries what the ordered model can leave of a prefix.
func (c *powerCut) ordered(k int, random *rand.Rand) {
	same := func(l bytesLeft) func(int, int) bytesLeft { return func(int, int) bytesLeft { return l } }
	bars := c.tape.barriers(k)
	ends := [][2]int{{k, k}, {bars[0], k}, {k, bars[1]}, bars}
	lefts := []bytesLeft{bytesLost, bytesTorn, bytesZero, bytesThere}
	try := func(end [2]int, l bytesLeft) {
		kept := func(i int) bool { return i < end[c.tape.effects[i].disk] }
		c.try(fmt.Sprintf("ordered, names up to %d and %d, bytes %d", end[0], end[1], l), k, c.tape.cut(k, kept, same(l)))
	}
	if !*exhaustive {
		end := ends[0]
		if random.IntN(3) == 0 {
			end = ends[random.IntN(len(ends))]
		}
		try(end, lefts[random.IntN(len(lefts))])
		return
	}
	for _, end := range ends {
		for _, l := range lefts {
			try(end, l)
		}
	}
	for range 4 { // each file for itself
		any := map[[2]int]bytesLeft{}
		c.try("ordered, bytes of each file another", k, c.tape.cut(k, func(int) bool { return true }, func(disk, node int) bytesLeft {
			at := [2]int{disk, node}
			if _, ok := any[at]; !ok {
				any[at] = lefts[random.IntN(len(lefts))]
			}
			return any[at]
		}))
	}
}

// strict tries what the strict model can leave of a prefix.
func (c *powerCut) strict(k int, random *rand.Rand) {
	durable := c.tape.durable(k)
	var loose []int
	for i := range c.tape.effects[:k] {
		if c.tape.effects[i].names() && !durable[i] {
			loose = append(loose, i)
		}
	}
	lefts := []bytesLeft{bytesLost, bytesThere}
	try := func(from []int, l bytesLeft) {
		lost := c.tape.lose(k, from)
		words := ""
		for _, i := range from {
			words += fmt.Sprintf("; lost from %d, %s", i, c.tape.effects[i].text)
		}
		c.try("strict"+words, k, c.tape.cut(k, func(i int) bool { return !lost[i] }, func(int, int) bytesLeft { return l }))
	}
	if len(loose) == 0 {
		return
	}
	if !*exhaustive {
		from := []int{loose[random.IntN(len(loose))]}
		if random.IntN(3) == 0 {
			from = append(from, loose[random.IntN(len(loose))])
		}
		try(from, lefts[random.IntN(2)])
		return
	}
	for _, i := range loose {
		for _, l := range lefts {
			try([]int{i}, l)
		}
	}
	try(loose, bytesLost)
	for range 8 {
		var from []int
		for _, i := range loose {
			if random.IntN(3) == 0 {
				from = append(from, i)
			}
		}
		try(from, lefts[random.IntN(2)])
	}
}

// TestPowerCut cuts the power at every step of applying, of undoing, and of recovering from a crash.
func TestPowerCut(t *testing.T) {
	for _, p := range []phase{installing, undoing} {
		var ordered, strict, recovering atomic.Int64
		t.Run(p.name, func(t *testing.T) {
			for _, s := range usable(t) {
				if p.name == undoing.name && s.nothing() {
					continue
				}
				t.Run(s.name, func(t *testing.T) {
					t.Parallel()
					random := chance("power " + p.name + s.name)
					w := newWorld(t, s)
					p.prepare(t, w)
					tp, err := record(t, w, func(w *world, l *life) error { _, err := p.act(w, l); return err })
					if err != nil {
						t.Fatal(err)
					}
					c := &powerCut{t: t, w: w, phase: p, tape: tp, lives: 2}
					for k := 0; k <= len(tp.effects) && !t.Failed(); k++ {
						c.replays = &ordered
						in := 1
						if len(tp.effects) > long {
							in = 4
						}
						if sampled(random, in) {
							c.ordered(k, random)
						}
						c.replays = &strict
						if sampled(random, 4) {
							c.strict(k, random)
						}
					}
					c.replays = &recovering
					c.recoveries(random, s)
				})
			}
		})
		t.Logf("%s: %d disks of the ordered model, %d of the strict one, %d of either in recovery", p.name, ordered.Load(), strict.Load(), recovering.Load())
		if ordered.Load() < 1000/int64(*oneIn) || strict.Load() < 500/int64(*oneIn) {
			t.Error("that is too few to say anything")
		}
	}
}

// recoveries cuts the power in recoveries from crashes at some steps.
func (c *powerCut) recoveries(random *rand.Rand, s shape) {
	whole := c.tape
	n := 1
	if *exhaustive {
		n = 4
	}
	for range n {
		if c.t.Failed() {
			return
		}
		k := random.IntN(len(whole.effects))
		all := func(int) bool { return true }
		for i, d := range whole.cut(k, all, func(int, int) bytesLeft { return bytesThere }) {
			if err := d.store([]string{c.w.dir, c.w.state}[i]); err != nil {
				c.t.Fatal(err)
			}
		}
		tp, err := record(c.t, c.w, func(w *world, l *life) error { return w.recover(l) })
		if err != nil {
			c.t.Fatal(err)
		}
		c := &powerCut{t: c.t, w: c.w, phase: c.phase, tape: tp, replays: c.replays, lives: 3}
		for j := 0; j <= len(tp.effects); j++ {
			if sampled(random, 6) {
				c.ordered(j, random)
				c.strict(j, random)
			}
		}
	}
}
