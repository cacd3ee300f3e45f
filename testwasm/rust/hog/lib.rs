//! Hog allocates and touches memory without bound.

use lola_ext::{Error, Plan, Request};

lola_ext::export!(hog);

fn hog(_: &Request, _: &mut Plan) -> Result<(), Error> {
    let mut kept = Vec::new();
    loop {
        kept.push(std::hint::black_box(vec![1u8; 1 << 20]));
    }
}
