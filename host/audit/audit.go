// Package audit is the record of what was done and what was refused: JSON lines, each chained to the one before it by its
// hash, each on the disk before the effect that it tells of.
//
//	log, err := audit.Open(home, "audit", audit.Options{})
//	head, err := log.Append(ctx, audit.Record{Event: audit.EventPlan, Action: "install", Root: &audit.Root{Path: path}})
//	report, err := log.Verify(ctx, audit.VerifyOptions{})
//
// [Log.Append] returns when the record is durable; a caller whose Append fails does not go on to the effect. Any number of
// processes may append to one log: they take turns, and the chain stays one. A record is one line of printable ASCII
// whatever is in it, so that no foreign text can forge a second one or speak to a terminal. There is no field for a body, and
// a URL is kept without user, query and fragment. FORMAT.md beside this file is the normative text.
//
// The chain shows that something in the middle was changed, taken out or put in. It cannot show by itself that records
// were cut off at the end, nor that somebody who may write the folder wrote all of it anew: for that, keep the [Head]
// elsewhere from time to time and give it to [Log.Verify]. A process that runs as the user can always stop writing.
//
// What may change: new fields and events come with a new format number, and a log that holds one is an error to an older
// reader, never half read. The lock is taken last: no other lock is taken while it is held.
package audit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/lola-ext/lola/host/root"
)

// Limits and defaults. They are part of the format where FORMAT.md says so.
const (
	DefaultMaxFile = 8 << 20          // bytes: verifying one takes a fraction of a second
	DefaultQuota   = 64 << 20         // bytes: years of one user's installs
	DefaultWait    = 30 * time.Second // hundreds of appends of others, each a few milliseconds

	MaxRecord = 1 << 20 // bytes of one line, its end included: what a reader holds in memory
	MaxText   = 4096    // bytes of one text; the longest path that is ever accepted has a quarter of it
	MaxList   = 1000    // intents or findings that a record lists; of more it keeps count and digest

	minMaxFile = 1 << 10
	maxFiles   = 512 // of one log: a reader opens them all, so that what it sees is of one moment
	maxEntries = 4 * maxFiles
)

// Options bounds a log. The zero value of a field means its default.
type Options struct {
	MaxFile int64            // bytes after which a new file is begun: 1 KiB or more; default [DefaultMaxFile]
	Quota   int64            // bytes of all files: 2 to 256 times MaxFile; default [DefaultQuota], or what of it that allows
	Wait    time.Duration    // how long to wait for other processes that append; default [DefaultWait]
	Now     func() time.Time // the clock; default [time.Now]
}

// Log is the log in one folder. It holds no file open between calls and may be used concurrently.
type Log struct {
	root    *root.Root
	dir     string // beneath root; "." is root itself
	maxFile int64
	quota   int64
	wait    time.Duration
	now     func() time.Time
}

// Open returns the log in the folder dir beneath r, "." being r itself. It touches nothing: the folder is made by the first
// Append. r must stay open as long as the log is used.
func Open(r *root.Root, dir string, o Options) (*Log, error) {
	l := &Log{root: r, dir: dir, maxFile: o.MaxFile, quota: o.Quota, wait: o.Wait, now: o.Now}
	if l.dir == "" {
		l.dir = "."
	}
	if l.maxFile == 0 {
		l.maxFile = DefaultMaxFile
	}
	if l.quota == 0 {
		l.quota = min(max(DefaultQuota, 2*l.maxFile), maxFiles/2*l.maxFile)
	}
	if l.wait == 0 {
		l.wait = DefaultWait
	}
	if l.now == nil {
		l.now = time.Now
	}
	switch {
	case l.maxFile < minMaxFile || l.maxFile > 1<<40:
		return nil, fmt.Errorf("opening the audit log %q: max file is %d bytes: want %d or more", l.Path(), o.MaxFile, minMaxFile)
	case l.quota < 2*l.maxFile || l.quota > maxFiles/2*l.maxFile:
		return nil, fmt.Errorf("opening the audit log %q: quota is %d bytes: want 2 to %d files of %d bytes", l.Path(), o.Quota, maxFiles/2, l.maxFile)
	case l.wait < 0:
		return nil, fmt.Errorf("opening the audit log %q: wait is %v: want no less than 0", l.Path(), o.Wait)
	}
	return l, nil
}

// Path is the folder's path, for messages.
func (l *Log) Path() string { return filepath.Join(l.root.Path(), filepath.FromSlash(l.dir)) }

// Head is a place in the chain: the last record of a log at some moment. The zero value is the head of an empty log.
type Head struct {
	Seq  uint64 `json:"seq"`
	Hash Digest `json:"hash"`
}

// String returns the form that [ParseHead] reads, as in "17:9f86…": to be kept elsewhere.
func (h Head) String() string { return strconv.FormatUint(h.Seq, 10) + ":" + h.Hash.String() }

// ParseHead reads what [Head.String] wrote.
func ParseHead(s string) (Head, error) {
	seq, hash, _ := strings.Cut(s, ":")
	n, err := strconv.ParseUint(seq, 10, 64)
	if err != nil || n == 0 || n > maxSeq || strconv.FormatUint(n, 10) != seq {
		return Head{}, fmt.Errorf("head %q: want NUMBER:HASH as lola log verify prints it", s)
	}
	h := Head{Seq: n}
	if err := h.Hash.UnmarshalText([]byte(hash)); err != nil {
		return Head{}, fmt.Errorf("head %q: %w", s, err)
	}
	return h, nil
}

// fileName is the name of the n-th file of a log.
func fileName(n int) string { return fmt.Sprintf("audit-%08d.jsonl", n) }

// fileNumber is the inverse of fileName.
func fileNumber(name string) (n int, ok bool) {
	digits, ok := strings.CutPrefix(name, "audit-")
	if !ok {
		return 0, false
	}
	digits, ok = strings.CutSuffix(digits, ".jsonl")
	if !ok || len(digits) != 8 {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil && n > 0 && fileName(n) == name
}

// list returns the numbers of the files in d, ascending: names of one length sort as their numbers do.
func list(d *root.Dir) ([]int, error) {
	names, err := d.Names(maxEntries)
	if err != nil {
		return nil, err
	}
	var numbers []int
	for _, name := range names {
		if n, ok := fileNumber(name); ok {
			numbers = append(numbers, n)
		}
	}
	if len(numbers) > maxFiles {
		return nil, fmt.Errorf("it holds %d files, want %d at most", len(numbers), maxFiles)
	}
	return numbers, nil
}

// owned refuses a folder in which others can replace files. Reading does not ask: a copy may be anybody's.
func (l *Log) owned() error {
	info := l.root.Info()
	if l.dir != "." {
		at, err := l.root.Stat(l.dir)
		if err != nil {
			return err
		}
		if info, err = os.Lstat(l.Path()); err != nil {
			return err
		}
		if !at.Same(info) {
			return errors.New("it changed while it was opened")
		}
	}
	return checkOwner(info, true)
}
