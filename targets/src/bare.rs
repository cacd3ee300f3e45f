//! What a module without the standard library brings itself. It halves the size of this one (docs/targets.md).

use core::alloc::{GlobalAlloc, Layout};
use core::arch::wasm32;
use core::cell::Cell;
use core::panic::PanicInfo;

const PAGE: usize = 65536;

/// Hands out memory and takes none back: an instance answers one request and is thrown away. Only the newest piece can
/// grow where it is, which is what a plan being written does.
struct Bump {
    next: Cell<usize>,
    end: Cell<usize>,
}

// SAFETY: wasm32-wasip1 has no threads.
unsafe impl Sync for Bump {}

#[global_allocator]
static BUMP: Bump = Bump { next: Cell::new(0), end: Cell::new(0) };

// Comparing bytes is a call into it.
#[link(name = "c")]
extern "C" {
    /// The linker puts it where static data and the stack end.
    static __heap_base: u8;
}

impl Bump {
    fn reserve(&self, from: usize, size: usize) -> bool {
        let Some(to) = from.checked_add(size) else { return false };
        if to > self.end.get() {
            let pages = (to - self.end.get()).div_ceil(PAGE);
            let old = wasm32::memory_grow(0, pages);
            if old == usize::MAX {
                return false;
            }
            self.end.set((old + pages) * PAGE);
        }
        self.next.set(to);
        true
    }
}

// SAFETY: pieces never overlap, since `next` only grows but for a piece that is the newest and stays it; alignment is
// applied before a piece is taken, and the end of memory is checked.
unsafe impl GlobalAlloc for Bump {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if self.next.get() == 0 {
            self.next.set(&raw const __heap_base as usize);
            self.end.set(wasm32::memory_size(0) * PAGE);
        }
        let from = self.next.get().next_multiple_of(layout.align());
        if self.reserve(from, layout.size()) {
            from as *mut u8
        } else {
            core::ptr::null_mut()
        }
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let from = old as usize;
        if from + layout.size() == self.next.get() {
            return if self.reserve(from, size) { old } else { core::ptr::null_mut() };
        }
        // SAFETY: the caller vouches for the size, and the new piece does not overlap the old one.
        unsafe {
            let new = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !new.is_null() {
                core::ptr::copy_nonoverlapping(old, new, layout.size().min(size));
            }
            new
        }
    }
}

#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    wasm32::unreachable()
}
