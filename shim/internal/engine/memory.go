package engine

import (
	"context"

	"github.com/tetratelabs/wazero/experimental"
)

// memory is the linear memory of one instance: address space for the most that it may have, of which it is given more as it
// grows. So it never moves and is never copied, and what it does not touch costs nothing.
//
// It implements wazero's allocator and the one memory that this makes. Free does nothing: a guest that exits would have its
// memory taken away while it may still be looked at. release does it.
type memory struct {
	space []byte // reserved whole
	size  uint64 // bytes from its beginning that can be used
}

// reserveMemory reserves address space for size bytes, more than none.
func reserveMemory(size uint64) (*memory, error) {
	space, err := reserve(size)
	if err != nil {
		return nil, err
	}
	return &memory{space: space}, nil
}

// release gives the memory back. No slice of it may be used any more.
func (m *memory) release() {
	if m != nil && m.space != nil {
		free(m.space)
		m.space, m.size = nil, 0
	}
}

// Allocate implements experimental.MemoryAllocator.
func (m *memory) Allocate(uint64, uint64) experimental.LinearMemory { return m }

// Reallocate implements experimental.LinearMemory: nil is a growth that fails, which the guest sees.
func (m *memory) Reallocate(size uint64) []byte {
	if size > uint64(len(m.space)) {
		return nil
	}
	if size > m.size {
		if err := commit(m.space, m.size, size); err != nil {
			return nil
		}
		m.size = size
	}
	return m.space[:size:size]
}

// Free implements experimental.LinearMemory.
func (m *memory) Free() {}

// withMemory returns the context in which wazero makes an instance with this memory.
func withMemory(ctx context.Context, m *memory) context.Context {
	return experimental.WithMemoryAllocator(ctx, m)
}
