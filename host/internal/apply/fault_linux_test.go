package apply_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/internal/apply"
	"github.com/lola-ext/lola/host/plan"
	"github.com/lola-ext/lola/host/root"
)

// mount mounts something for the time of the test, or skips it where nobody may.
func mount(t *testing.T, source, target, kind string, flags uintptr, data string) {
	t.Helper()
	err := syscall.Mount(source, target, kind, flags, data)
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.ENOSYS) {
		t.Skipf("mounting is not allowed here: %v", err)
	}
	must(t, err)
	t.Cleanup(func() { _ = syscall.Unmount(target, syscall.MNT_DETACH) })
}

// runs applies the change and holds it to all or nothing. It reports whether it was all.
func runs(t *testing.T, dir string, r *root.Root, c plan.Checked) bool {
	t.Helper()
	before := snapshot(t, dir)
	want := changed(before)
	recorded := false
	_, err := apply.Run(t.Context(), c, options(t, func(apply.Done) error { recorded = true; return nil }))
	if err == nil {
		if !recorded {
			t.Error("nothing was recorded")
		}
		checkTree(t, dir, want)
		return true
	}
	if recorded {
		t.Error("a record was written of what did not happen")
	}
	var rb *apply.RollbackError
	if errors.As(err, &rb) {
		t.Errorf("taking it back: %v", err)
	}
	checkTree(t, dir, before)
	return false
}

// TestOtherFileSystem: a part of the root that is another file system takes no rename from this one. That shows in the
// middle of the commit, and all that was moved comes back.
func TestOtherFileSystem(t *testing.T) {
	for _, part := range []string{"old", "old/deep", "gone", "new", "new/x"} {
		t.Run(part, func(t *testing.T) {
			dir, elsewhere := memoryDir(t), t.TempDir()
			at := filepath.Join(dir, filepath.FromSlash(part))
			must(t, os.MkdirAll(at, 0o755))
			mount(t, elsewhere, at, "", syscall.MS_BIND, "")
			r := project(t, dir)
			if runs(t, dir, r, check(t, r, change()...)) {
				t.Error("a rename went from one file system to another")
			}
		})
	}
}

// TestSmallDisk runs the change on disks of every size, in bytes and in entries, from far too small up to where it fits:
// whichever write, directory or file is the first without room, the tree is as before.
func TestSmallDisk(t *testing.T) {
	for _, unit := range []string{"size=%dk", "nr_inodes=%d"} {
		t.Run(unit, func(t *testing.T) {
			fit, failed := 0, 0
			for n := 24; fit < 3; n++ {
				if n > 200 {
					t.Fatal("it never fits")
				}
				dir := t.TempDir()
				if err := syscall.Mount("none", dir, "tmpfs", 0, "mode=0755,"+fmt.Sprintf(unit, n)); errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
					t.Skipf("mounting is not allowed here: %v", err)
				} else if err != nil {
					t.Fatal(err)
				}
				func() {
					defer syscall.Unmount(dir, syscall.MNT_DETACH)
					if !tryProject(t, dir) {
						return // not even that fits
					}
					r, err := root.Open(dir)
					must(t, err)
					defer r.Close()
					if runs(t, dir, r, check(t, r, change()...)) {
						fit++
					} else {
						failed++
					}
				}()
			}
			if failed < 3 {
				t.Errorf("%d sizes were too small: nothing was tried", failed)
			}
			t.Logf("%d were too small, %d not", failed, fit)
		})
	}
}

// tryProject makes the project and reports whether there was room for it.
func tryProject(t *testing.T, dir string) bool {
	for path, f := range map[string]struct {
		text string
		mode os.FileMode
	}{
		"old/a": {"old a", 0o644}, "old/deep/b": {"old b", 0o600}, "gone/a": {"gone a", 0o755}, "gone/b": {"gone b", 0o444},
		"file": {"in the way", 0o640}, "kept": {"kept", 0o644}, "other/mine": {"mine", 0o600},
	} {
		at := filepath.Join(dir, filepath.FromSlash(path))
		if os.MkdirAll(filepath.Dir(at), 0o755) != nil || os.WriteFile(at, []byte(f.text), f.mode) != nil || os.Chmod(at, f.mode) != nil {
			return false
		}
		if info, err := os.Stat(at); err != nil || info.Size() != int64(len(f.text)) {
			return false
		}
	}
	return true
}

// TestLargeFileOnFullDisk: a file that fits nowhere leaves nothing.
func TestLargeFileOnFullDisk(t *testing.T) {
	dir := t.TempDir()
	mount(t, "none", dir, "tmpfs", 0, "mode=0755,size=256k")
	r := project(t, dir)
	before := snapshot(t, dir)
	c := check(t, r, append(change(), write("zz", strings.Repeat("x", 1<<20), 0o644))...)
	if _, err := apply.Run(t.Context(), c, options(t, recordNothing(t))); !errors.As(err, new(*abi.LimitError)) {
		t.Errorf("Run: %v, want that it does not fit", err)
	}
	checkTree(t, dir, before)
}

// TestReadOnlyMount: a root that cannot be written is left alone, also where only a part of it cannot.
func TestReadOnlyMount(t *testing.T) {
	for _, part := range []string{".", "gone", "old/deep"} {
		t.Run(part, func(t *testing.T) {
			dir := memoryDir(t)
			project(t, dir).Close()
			at := filepath.Join(dir, filepath.FromSlash(part))
			mount(t, at, at, "", syscall.MS_BIND, "")
			must(t, syscall.Mount("", at, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
			r, err := root.Open(dir)
			must(t, err)
			defer r.Close()
			if runs(t, dir, r, check(t, r, change()...)) {
				t.Error("a read-only file system was written")
			}
		})
	}
}

// TestFrozenDirectory: one directory of many takes no change, and that shows in the middle of the commit.
func TestFrozenDirectory(t *testing.T) {
	for _, part := range []string{"old", "old/deep", "gone"} {
		t.Run(part, func(t *testing.T) {
			dir := t.TempDir()
			r := project(t, dir)
			at := filepath.Join(dir, filepath.FromSlash(part))
			c := check(t, r, change()...)
			freeze(t, at)
			if runs(t, dir, r, c) {
				t.Error("a directory that takes no change was changed")
			}
		})
	}
}

// freeze makes a directory one in which nothing can be changed: by its mode, or for root by its attribute.
func freeze(t *testing.T, dir string) {
	t.Helper()
	if os.Geteuid() != 0 {
		must(t, os.Chmod(dir, 0o555))
		t.Cleanup(func() { os.Chmod(dir, 0o755) })
		return
	}
	const immutable = 0x10 // FS_IMMUTABLE_FL, linux/fs.h
	f, err := os.Open(dir)
	must(t, err)
	t.Cleanup(func() { f.Close() })
	flags, err := unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, flags|immutable)
	}
	if err != nil {
		t.Skipf("this file system knows no immutable directories: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, flags); err != nil {
			t.Error(err)
		}
	})
}

// TestNoDescriptorsLeft runs the change with ever more descriptors to be had, from none up to where it succeeds: whichever
// open is the first to fail, the tree is as before. And no run leaves one open.
func TestNoDescriptorsLeft(t *testing.T) {
	var limit syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	restore := func() { must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)) }
	t.Cleanup(restore)
	succeeded, failed := 0, 0
	for room := 0; succeeded < 3; room++ {
		if room > 60 {
			t.Fatal("it never succeeds")
		}
		dir := memoryDir(t)
		r := project(t, dir)
		c := check(t, r, change()...)
		before := snapshot(t, dir)
		want := changed(before)
		o := options(t, nil)
		low := limit
		low.Cur = 128
		must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low))
		taken := takeDescriptors()
		for range min(room, len(taken)) {
			syscall.Close(taken[len(taken)-1])
			taken = taken[:len(taken)-1]
		}
		_, err := apply.Run(t.Context(), c, o)
		rest := takeDescriptors()
		for _, fd := range append(taken, rest...) {
			syscall.Close(fd)
		}
		restore()
		if len(rest) != room {
			t.Errorf("room for %d descriptors before, for %d after", room, len(rest))
		}
		if err == nil {
			succeeded++
			checkTree(t, dir, want)
			continue
		}
		failed++
		if !errors.Is(err, syscall.EMFILE) {
			t.Errorf("room for %d: %v, want that there are no more descriptors", room, err)
		}
		var rb *apply.RollbackError
		if errors.As(err, &rb) {
			t.Errorf("room for %d: taking it back: %v", room, err)
		}
		got := snapshot(t, dir)
		for p := range got {
			if strings.HasPrefix(p, plan.StagingPrefix) { // it could not be opened to be emptied, which the error says
				if !strings.Contains(err.Error(), plan.StagingPrefix) {
					t.Errorf("room for %d: %q is left and not said: %v", room, p, err)
				}
				delete(got, p)
			}
		}
		if d := differs(got, before); d != "" {
			t.Errorf("room for %d: the tree is not as it was:%s", room, d)
		}
	}
	if failed < 5 {
		t.Errorf("it failed %d times: nothing was tried", failed)
	}
	t.Logf("it failed %d times", failed)
}

// takeDescriptors opens descriptors until there are no more.
func takeDescriptors() []int {
	var taken []int
	for {
		fd, err := syscall.Open(os.DevNull, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if err != nil {
			return taken
		}
		taken = append(taken, fd)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return len(list)
}

// TestNoDescriptorLeaks: neither success nor any failure leaves a descriptor open.
func TestNoDescriptorLeaks(t *testing.T) {
	dir := memoryDir(t)
	r := project(t, dir)
	failing, o := uncommitted(t, nil), options(t, nil)
	run := func() {
		c := check(t, r, change()...)
		_, _ = apply.Run(t.Context(), c, failing)
		for _, bad := range []abi.Content{promises("abc", nil, "abd", nil), promises("abc", nil, "a", errTest)} {
			_, _ = apply.Run(t.Context(), check(t, r, append(change(), abi.Write{Path: "zz", Mode: 0o644, Content: bad})...), o)
		}
		c = check(t, r, write("old/a", "old a", 0o600), write("gone/x", "", 0o644))
		atLastMoment(t, r, func() { overwrite(t, filepath.Join(dir, "old", "a"), "again") })
		_, _ = apply.Run(t.Context(), c, o)
		overwrite(t, filepath.Join(dir, "old", "a"), "old a")
	}
	run()
	before := descriptors(t)
	for range 5 {
		run()
	}
	if after := descriptors(t); after != before {
		t.Errorf("%d descriptors were open and %d are", before, after)
	}
}
