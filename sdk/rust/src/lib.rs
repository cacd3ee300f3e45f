//! Write extensions for lola in Rust.
//!
//! An extension gets one [`Request`] and fills one [`Plan`]. It performs nothing itself: the host judges the plan, shows it
//! and carries it out. The smallest extension that does something:
//!
//! ```
//! use lola_ext::{Error, Plan, Request};
//!
//! fn install(request: &Request, plan: &mut Plan) -> Result<(), Error> {
//!     let module = request.module()?;
//!     for file in &module.files {
//!         if let Some(rest) = file.path.strip_prefix("skills/") {
//!             plan.copy(file, &[".example/skills/", rest].concat());
//!         }
//!     }
//!     Ok(())
//! }
//!
//! lola_ext::export!(install);
//! # fn main() {}
//! ```
//!
//! Built as a `cdylib` for `wasm32-wasip1` this is a tier-1 module. [`main!`] makes a program of the same handler, which
//! reads the request from standard input and writes the plan to standard output: tier 2, or a quick look while developing.
//!
//! # What is not here
//!
//! There is no clock, no randomness, no file and no network in tier 1. Calls to them through the standard library see fixed
//! values or fail, so that a plan is a function of the module and the request. Nothing that must be secret can be made here;
//! `HashMap`'s random state, for one, is the same in every run.
//!
//! # What this crate does not protect against
//!
//! It refuses to encode what no host would decode. It does not judge a plan: whether a path or an op is allowed, the host
//! says, and only the host.

#![no_std]
#![deny(unsafe_op_in_unsafe_fn)]
#![warn(missing_docs)]

extern crate alloc;
#[cfg(not(target_arch = "wasm32"))]
extern crate std;

mod decode;
mod encode;
#[doc(hidden)]
pub mod guest;
mod plan;
mod request;
mod sort;

pub use decode::{decode_request, FormError};
pub use encode::encode_plan;
pub use plan::{Content, Entry, Expect, Finding, Intent, Json, JsonEdit, Level, Message, Outcome, Plan, Verdict, Write};
pub use request::{File, Identity, Input, InputState, Module, Param, Request, Scope};

#[doc(hidden)]
pub use sort::sort;

use alloc::string::String;

/// The protocol version that this crate speaks.
pub const ABI_VERSION: i32 = 1;

/// A SHA-256 digest.
pub type Digest = [u8; 32];

/// Why an extension cannot answer. The host shows the text to the user, escaped, and nothing is applied.
///
/// Say what was being done, to which thing, and why it does not work: `"converting \"commands/a.md\": it is too large"`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(
    /// The text.
    pub String,
);

impl From<&str> for Error {
    fn from(text: &str) -> Self {
        Error(String::from(text))
    }
}

impl From<String> for Error {
    fn from(text: String) -> Self {
        Error(text)
    }
}
