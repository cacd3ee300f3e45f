package policy

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestLevels(t *testing.T) {
	for i, l := range Levels() {
		if got, err := ParseLevel(string(l)); got != l || err != nil {
			t.Errorf("%s: got %q, %v", l, got, err)
		}
		if l.Rank() != i {
			t.Errorf("%s has rank %d, want %d", l, l.Rank(), i)
		}
		for k, o := range Levels() {
			if l.AtLeast(o) != (i >= k) {
				t.Errorf("%s.AtLeast(%s) = %t", l, o, l.AtLeast(o))
			}
		}
		if len(Open(l, 0)) == 0 {
			t.Errorf("%s: nothing is open, which is too good", l)
		}
	}
	for _, s := range []string{"", "None", "ful", "full "} {
		_, err := ParseLevel(s)
		if err == nil {
			t.Errorf("%q is a level", s)
			continue
		}
		for _, l := range Levels() {
			if !strings.Contains(err.Error(), string(l)) {
				t.Errorf("%q: the error does not name %s: %v", s, l, err)
			}
		}
	}
}

// TestNoLevel: what is no level has nothing, and asks for what nobody has.
func TestNoLevel(t *testing.T) {
	for _, l := range Levels() {
		if l.AtLeast("") || l.AtLeast("fuller") {
			t.Errorf("%s reaches what is no level", l)
		}
	}
	if Level("fuller").AtLeast(None) || Level("").AtLeast(None) {
		t.Error("what is no level reaches one")
	}
}

func TestReached(t *testing.T) {
	for _, c := range []struct {
		process, landlock, seccomp bool
		want                       Level
	}{
		{false, false, false, None},
		{false, true, true, None}, // what is under it is missing
		{true, false, false, Process},
		{true, true, false, Landlock},
		{true, false, true, Seccomp},
		{true, true, true, Full},
	} {
		if got := Reached(c.process, c.landlock, c.seccomp); got != c.want {
			t.Errorf("%+v: got %s", c, got)
		}
	}
}

// TestOpenByVersion: what a version of Landlock closes is not open any more, and is before.
func TestOpenByVersion(t *testing.T) {
	for abi, want := range map[int][]string{
		3: {"TCP (Landlock 4", "UDP", "abstract"}, 4: {"UDP", "abstract"}, 6: {"UDP", "Unix sockets in the file system"}, 10: nil,
	} {
		open := strings.Join(Open(Landlock, abi), "\n")
		for _, w := range want {
			if !strings.Contains(open, w) {
				t.Errorf("Landlock %d: %q is not said to be open:\n%s", abi, w, open)
			}
		}
		if (abi >= 4) == strings.Contains(open, "TCP (") || (abi >= 10) == strings.Contains(open, "UDP (") {
			t.Errorf("Landlock %d:\n%s", abi, open)
		}
	}
}

func names(calls []Call) []string {
	var n []string
	for _, c := range calls {
		if c.Errno == 0 {
			n = append(n, c.Name)
		}
	}
	return n
}

// TestNeverAllowed: what no stage may have, whatever else is added. Prefixes.
func TestNeverAllowed(t *testing.T) {
	never := []string{
		"exec", "fork", "vfork", "socket", "connect", "bind", "accept", "send", "recv", "ptrace", "process_", "io_uring", "bpf",
		"perf_", "userfaultfd", "clone3", "kill", "pidfd_", "unshare", "setns", "mount", "umount", "pivot", "chroot", "memfd_",
		"ioctl", "keyctl", "add_key", "request_key", "open_by", "name_to", "openat2", "creat", "link", "symlink", "chmod", "chown",
		"setuid", "setgid", "setres", "capset", "personality", "init_module", "finit_", "kexec", "reboot", "swap", "shm", "msg", "sem",
		"dup", "pipe", "landlock", "arch_prctl", "modify_ldt", "ioperm", "iopl", "tkill", "rt_sigqueue", "rt_tgsig", "waitid", "wait4",
	}
	for _, s := range []Stage{Compile, Store, Load, Guest} {
		for _, withC := range []bool{false, true} {
			for _, n := range names(Calls(s, withC)) {
				for _, bad := range never {
					if strings.HasPrefix(n, bad) {
						t.Errorf("%s allows %s", s, n)
					}
				}
				if strings.HasPrefix(n, "open") && !s.Folder() {
					t.Errorf("%s allows %s", s, n)
				}
			}
		}
	}
}

// TestGuestIsSmallest: a guest has less than any stage before it, so that a filter on top of another loses nothing.
func TestGuestIsSmallest(t *testing.T) {
	guest := Calls(Guest, true)
	for _, s := range []Stage{Compile, Store, Load} {
		before := Calls(s, true)
		for _, c := range guest {
			if !slices.ContainsFunc(before, func(b Call) bool { return b.Name == c.Name && slices.Equal(b.When, c.When) && b.Errno == c.Errno }) {
				t.Errorf("%s lacks %+v, which a guest has", s, c)
			}
		}
		if len(before) <= len(guest) {
			t.Errorf("%s has no more than a guest", s)
		}
	}
}

// TestConditions: each call that is broad has its conditions, in every stage.
func TestConditions(t *testing.T) {
	for _, s := range []Stage{Compile, Store, Load, Guest} {
		for _, c := range Calls(s, true) {
			switch c.Name {
			case "mmap", "mprotect", "clone", "tgkill", "prctl", "seccomp", "madvise", "fcntl":
				if len(c.When) == 0 {
					t.Errorf("%s: %s has no condition", s, c.Name)
				}
			case "openat":
				if c.Errno == 0 && (len(c.When) == 0) != (s == Store) {
					t.Errorf("%s: openat has the conditions %v", s, c.When)
				}
			}
			for _, w := range c.When {
				if w.Arg < 0 || w.Arg > 5 || w.Want&^w.Mask != 0 {
					t.Errorf("%s: %s has a condition that never holds: %+v", s, c.Name, w)
				}
			}
		}
	}
}

func TestHandledGrows(t *testing.T) {
	count := func(r Rights) int { return len(r.Files) + len(r.Net) + len(r.Scopes) }
	if count(Handled(0)) != 0 {
		t.Error("version 0 handles something")
	}
	last := 0
	for v := 1; v <= 12; v++ {
		h := Handled(v)
		if n := count(h); n < last {
			t.Errorf("version %d handles %d rights, the one before %d", v, n, last)
		} else {
			last = n
		}
		for _, s := range []Stage{Store, Load} {
			for _, r := range FolderRights(s) {
				if v >= 3 && !slices.Contains(h.Files, r) {
					t.Errorf("version %d: %s in a folder is not handled", v, r)
				}
			}
		}
	}
	if FolderRights(Compile) != nil || FolderRights(Guest) != nil {
		t.Error("a stage without a folder has rights to one")
	}
	if slices.Contains(FolderRights(Load), "WRITE_FILE") || slices.Contains(FolderRights(Store), "EXECUTE") {
		t.Error("a stage has more rights than it says")
	}
}

func TestLimits(t *testing.T) {
	get := func(stage Stage, memory int64, cpu time.Duration) map[string]Limit {
		m := map[string]Limit{}
		for _, l := range Limits(stage, memory, cpu) {
			if l.Soft > l.Hard {
				t.Errorf("%+v", l)
			}
			m[l.Name] = l
		}
		return m
	}
	m := get(Guest, 256<<20, 30*time.Second)
	if m["CORE"].Hard != 0 || m["FSIZE"].Hard != 0 || m["DATA"].Hard < 2*256<<20 || m["CPU"].Soft < 30 || m["CPU"].Hard != m["CPU"].Soft+1 {
		t.Errorf("got %+v", m)
	}
	if m := get(Store, 0, 0); m["FSIZE"].Hard != stored || m["CPU"].Name != "" {
		t.Errorf("got %+v", m)
	}
	for _, cpu := range []time.Duration{1, time.Millisecond, 1<<63 - 1} { // never 0, which would end the child at once
		if m := get(Guest, 1<<62, cpu); m["CPU"].Soft < 1 || m["DATA"].Hard < dataSlack {
			t.Errorf("%s: got %+v", cpu, m)
		}
	}
}
