package launch

import (
	"fmt"
	"os"
)

// tempFile is Sealed without seals.
func tempFile(dir string, b []byte) (f *os.File, release func(), err error) {
	w, err := os.CreateTemp(dir, "lola-*") // mode 0600
	if err != nil {
		return nil, nil, fmt.Errorf("making a file for a child: %w", err)
	}
	name := w.Name()
	if _, err = w.Write(b); err == nil {
		f, err = os.Open(name)
	}
	if cerr := w.Close(); err == nil {
		err = cerr
	}
	gone := os.Remove(name) == nil // what is open cannot be removed everywhere
	release = func() {
		if f != nil {
			_ = f.Close()
		}
		if !gone {
			_ = os.Remove(name)
		}
	}
	if err != nil {
		release()
		return nil, nil, fmt.Errorf("writing %d bytes for a child: %w", len(b), err)
	}
	return f, release, nil
}
