//! Lie speaks the guest ABI by itself and answers with something that is not so. The text parameter "lie" says what; see
//! package testwasm for the list.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static REQUEST: AtomicUsize = AtomicUsize::new(0);
static PTR: AtomicUsize = AtomicUsize::new(0);
static SIZE: AtomicUsize = AtomicUsize::new(0);

#[no_mangle]
extern "C" fn lola_abi_version() -> i32 {
    1
}

#[no_mangle]
extern "C" fn lola_alloc(size: usize) -> *mut u8 {
    let buffer = vec![0u8; size + 1].leak();
    REQUEST.store(buffer.as_ptr() as usize, Relaxed);
    buffer.as_mut_ptr()
}

#[no_mangle]
extern "C" fn lola_run(_: *const u8, size: usize) -> i32 {
    // SAFETY: lola_alloc made this buffer, and larger than the host asked for.
    let request = unsafe { std::slice::from_raw_parts(REQUEST.load(Relaxed) as *const u8, size) };
    match which(request) {
        // From a good place to far beyond.
        "length" => {
            answer(b"\xa2\x63abi\x01\x65count\x00");
            SIZE.store(0x7fff_ffff, Relaxed);
        }
        // All that 32 bits can say.
        "huge" => claim(0, 0xffff_ffff),
        // Short, but nowhere.
        "pointer" => claim(0xffff_0000, 16),
        // Whose sum is small again.
        "wrap" => claim(0xffff_fff0, 0x20),
        // There, but more than a plan may be.
        "limit" => answer(vec![0; 65 << 20].leak()),
        // Success without an answer.
        "nothing" => claim(0, 0),
        // No CBOR.
        "garbage" => answer(b"\xff\xff\xff\xff"),
        // More intents than follow.
        "count" => answer(b"\xa2\x63abi\x01\x65count\x02\xa2\x62op\x66delete\x64path\x61x"),
        // Fewer than follow.
        "trailing" => answer(b"\xa2\x63abi\x01\x65count\x00\xa2\x62op\x66delete\x64path\x61x"),
        // Error text that is not there.
        "error-length" => {
            claim(0x100, 0xffff_ffff);
            return 1;
        }
        // Error text that is no text.
        "error-utf8" => {
            answer(b"no \xff\xfe text");
            return 1;
        }
        // Error text that would play with a terminal.
        "error-control" => {
            answer("\x1b[2Jno\r\n::error::yes\u{202e}".as_bytes());
            return 1;
        }
        _ => {
            answer(b"lie: the parameter \"lie\" names none");
            return 1;
        }
    }
    0
}

#[no_mangle]
extern "C" fn lola_plan_ptr() -> usize {
    PTR.load(Relaxed)
}

#[no_mangle]
extern "C" fn lola_plan_len() -> usize {
    SIZE.load(Relaxed)
}

fn claim(ptr: usize, size: usize) {
    PTR.store(ptr, Relaxed);
    SIZE.store(size, Relaxed);
}

fn answer(bytes: &'static [u8]) {
    claim(bytes.as_ptr() as usize, bytes.len());
}

/// Finds the parameter without decoding: the key "lie" and a short text after it.
fn which(request: &[u8]) -> &str {
    let key = b"\x63lie";
    let Some(at) = request.windows(key.len()).position(|w| w == key) else { return "" };
    let rest = &request[at + key.len()..];
    let Some((head, rest)) = rest.split_first() else { return "" };
    let size = (*head as usize).wrapping_sub(0x60);
    if size > 23 {
        return "";
    }
    rest.get(..size).and_then(|b| std::str::from_utf8(b).ok()).unwrap_or("")
}
