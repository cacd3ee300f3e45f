//! Trap panics, which with panic=abort is an `unreachable` instruction.

use lola_ext::{Error, Plan, Request};

lola_ext::export!(trap);

fn trap(_: &Request, _: &mut Plan) -> Result<(), Error> {
    panic!("the guest panics, as it was asked to");
}
