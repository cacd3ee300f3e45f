//! The guest's side of the ABI. [`export!`](crate::export) and [`main!`](crate::main) call what is here; authors do not.

use crate::{decode_request, encode_plan, Error, Plan, Request};
use alloc::string::String;
use alloc::vec::Vec;

/// What an author writes.
pub type Handler = fn(&Request, &mut Plan) -> Result<(), Error>;

/// Decodes, asks the handler, encodes.
pub fn answer(handler: Handler, request: &[u8]) -> Result<Vec<u8>, Error> {
    let request = match decode_request(request) {
        Ok(r) => r,
        Err(e) => return Err(Error(["reading the request: ", e.class, " at byte ", &decimal(e.offset)].concat())),
    };
    let mut plan = Plan::default();
    handler(&request, &mut plan)?;
    encode_plan(&plan)
}

/// A number in decimal, without the formatting machinery, which is a third of a small module.
fn decimal(mut n: usize) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(b'0' + (n % 10) as u8);
        n /= 10;
        if n == 0 {
            break;
        }
    }
    digits.iter().rev().map(|&d| d as char).collect()
}

/// What `lola_plan_ptr` and `lola_plan_len` hand out. One instance answers one request and has one thread.
pub struct Slot(core::cell::UnsafeCell<Vec<u8>>);

// SAFETY: wasm32-wasip1 has no threads, and the exports are the only users.
unsafe impl Sync for Slot {}

impl Slot {
    /// An empty slot.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Slot(core::cell::UnsafeCell::new(Vec::new()))
    }

    /// Where the plan begins.
    pub fn ptr(&self) -> *const u8 {
        // SAFETY: no reference into the cell outlives a call of this type's methods.
        unsafe { (*self.0.get()).as_ptr() }
    }

    /// How long it is.
    pub fn len(&self) -> usize {
        // SAFETY: as in ptr.
        unsafe { (*self.0.get()).len() }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reserves a buffer for a request. Null if there is no memory for it.
    pub fn alloc(size: usize) -> *mut u8 {
        let mut buffer: Vec<u8> = Vec::new();
        // One byte at the least, so that an empty request has an address too.
        if buffer.try_reserve_exact(size.max(1)).is_err() {
            return core::ptr::null_mut();
        }
        let ptr = buffer.as_mut_ptr();
        core::mem::forget(buffer);
        ptr
    }

    /// Answers the request that lies at `ptr`.
    ///
    /// # Safety
    ///
    /// `ptr` came from [`Slot::alloc`] with a size of at least `len`, and `len` bytes were written there. The host is the
    /// only caller, and a host that lies about it harms only this instance.
    pub unsafe fn run(&self, handler: Handler, ptr: *const u8, len: usize) -> i32 {
        // SAFETY: by the contract above. The buffer is never freed: the instance ends after this request.
        let request = unsafe { core::slice::from_raw_parts(ptr, len) };
        let (status, bytes) = match answer(handler, request) {
            Ok(plan) => (0, plan),
            Err(e) => (1, e.0.into_bytes()),
        };
        // SAFETY: as in ptr.
        unsafe { *self.0.get() = bytes };
        status
    }
}

/// Exports the guest ABI for a handler, `fn(&Request, &mut Plan) -> Result<(), Error>`. Use it once, in the root of a
/// `cdylib`. Outside WASM it exports nothing, so that the same crate can be tested.
#[macro_export]
macro_rules! export {
    ($handler:expr) => {
        #[cfg(target_arch = "wasm32")]
        mod lola_exports {
            #[allow(unused_imports)]
            use super::*;

            static SLOT: $crate::guest::Slot = $crate::guest::Slot::new();

            #[no_mangle]
            extern "C" fn lola_abi_version() -> i32 {
                $crate::ABI_VERSION
            }

            #[no_mangle]
            extern "C" fn lola_alloc(size: usize) -> *mut u8 {
                $crate::guest::Slot::alloc(size)
            }

            #[no_mangle]
            unsafe extern "C" fn lola_run(ptr: *const u8, len: usize) -> i32 {
                // SAFETY: the host keeps the contract of the guest ABI.
                unsafe { SLOT.run($handler, ptr, len) }
            }

            #[no_mangle]
            extern "C" fn lola_plan_ptr() -> *const u8 {
                SLOT.ptr()
            }

            #[no_mangle]
            extern "C" fn lola_plan_len() -> usize {
                SLOT.len()
            }
        }
    };
}

/// Makes `fn main` of a handler: the request on standard input, the plan on standard output, error text on standard error
/// and exit status 1. This is tier 2, and in a WASM program with `_start` the command form of tier 1.
#[macro_export]
macro_rules! main {
    ($handler:expr) => {
        fn main() -> std::process::ExitCode {
            use std::io::{Read, Write};
            let mut request = std::vec::Vec::new();
            let text = match std::io::stdin().read_to_end(&mut request) {
                Err(_) => std::string::String::from("reading the request from standard input: it cannot be read"),
                Ok(_) => match $crate::guest::answer($handler, &request) {
                    Ok(plan) => match std::io::stdout().write_all(&plan) {
                        Ok(()) => return std::process::ExitCode::SUCCESS,
                        Err(_) => std::string::String::from("writing the plan to standard output: it cannot be written"),
                    },
                    Err(e) => e.0,
                },
            };
            let _ = std::io::stderr().write_all(text.as_bytes());
            std::process::ExitCode::FAILURE
        }
    };
}
