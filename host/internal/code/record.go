package code

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/internal/home"
	"github.com/lola-ext/lola/host/root"
	"github.com/lola-ext/lola/shim/job"
)

const (
	recordFormat = 1
	maxRecord    = 8 << 10 // bytes; one has some 600
)

// record is what is known of an entry.
type record struct {
	Format int       `json:"format"`
	Key    Key       `json:"key"`
	Name   string    `json:"name"` // of the extension that it was compiled for first
	Entry  string    `json:"entry"`
	Size   int64     `json:"size"`
	SHA256 string    `json:"sha256"`
	Made   time.Time `json:"made"`
}

// record reads the record of an entry. errMissing: there is none.
func (s *Store) record(id string) (record, error) {
	var rec record
	f, info, err := s.o.Home.OpenPrivate(codesDir, id+".json")
	if errors.Is(err, fs.ErrNotExist) {
		return rec, errMissing
	}
	if err == nil {
		defer f.Close()
		if info.Size() > maxRecord {
			err = &abi.LimitError{Limit: "record of compiled code", Bound: maxRecord, Got: info.Size()}
		}
		if err == nil {
			err = home.DecodeJSON(f, maxRecord, &rec)
		}
		if err == nil {
			err = rec.check(id)
		}
	}
	if err != nil {
		return record{}, fmt.Errorf("reading its record: %w", err)
	}
	return rec, nil
}

// check refuses what is never written, and a record under another name than its own.
func (r record) check(id string) error {
	if r.Format != recordFormat {
		return fmt.Errorf("format %d is not known, want %d", r.Format, recordFormat)
	}
	if r.Key.id() != id {
		return errors.New("it is another's")
	}
	if _, err := abi.ParseDigest(r.SHA256); err != nil {
		return err
	}
	return checkEntry(r.Entry, r.Size)
}

// checkEntry holds what a child, or a record, says of an entry to the form that job.ReadCode takes.
func checkEntry(entry string, size int64) error {
	line := job.Code{Entry: entry, Size: size}.Append(nil)
	if _, err := job.ReadCode(strings.NewReader(string(line))); err != nil {
		return fmt.Errorf("%q with %d bytes is no entry: %w", entry, size, err)
	}
	return nil
}

// take looks at what a child left in a folder and says what it is. What is there is one folder with one file, both ours alone,
// as large as the child said.
func take(scratch *root.Dir, entry string, size int64) (record, error) {
	if err := checkEntry(entry, size); err != nil {
		return record{}, err
	}
	rec := record{Format: recordFormat, Entry: entry, Size: size}
	digest, err := read(scratch, entry, size, nil)
	rec.SHA256 = digest.String()
	return rec, err
}

// verify reads an entry whole and holds it to its record. What it reads it writes to w as well, unless that is nil.
func (s *Store) verify(id string, rec record, w io.Writer) error {
	d, err := s.o.Home.PrivateDir(codeDir + "/" + id)
	if err != nil {
		return err
	}
	defer d.Close()
	digest, err := read(d, rec.Entry, rec.Size, w)
	if err == nil && digest.String() != rec.SHA256 {
		err = errors.New("its bytes are not those that were written down")
	}
	return err
}

// read reads the one file that lies in a folder of the one folder in dir.
func read(dir *root.Dir, entry string, size int64, w io.Writer) (abi.Digest, error) {
	var none abi.Digest
	set, file, _ := strings.Cut(entry, "/")
	if err := private(dir); err != nil {
		return none, err
	}
	if err := only(dir, set); err != nil {
		return none, err
	}
	sub, err := dir.OpenDir(set)
	if err != nil {
		return none, err
	}
	defer sub.Close()
	if err := private(sub); err != nil {
		return none, err
	}
	if err := only(sub, file); err != nil {
		return none, err
	}
	f, err := sub.Open(file)
	if err != nil {
		return none, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		err = root.CheckPrivate(info)
	}
	if err == nil && info.Size() != size {
		err = fmt.Errorf("it has %d bytes, want %d", info.Size(), size)
	}
	if err != nil {
		return none, err
	}
	var from io.Reader = f
	if w != nil {
		from = io.TeeReader(f, w)
	}
	digest, n, err := root.DigestFile(from, size)
	if err == nil && n != size {
		err = fmt.Errorf("it has %d bytes, want %d", n, size)
	}
	return digest, err
}

func private(d *root.Dir) error {
	info, err := d.Info()
	if err != nil {
		return err
	}
	return root.CheckPrivate(info)
}

// only refuses a folder with anything but one name in it.
func only(d *root.Dir, name string) error {
	names, err := d.Names(1)
	if err != nil {
		return err
	}
	if len(names) != 1 || names[0] != name {
		return fmt.Errorf("it holds %q, want %q alone", names, name)
	}
	return nil
}
