//! Spin never answers. Its loop calls nothing, so that nothing can interrupt it from within.

use lola_ext::{Error, Plan, Request};

lola_ext::export!(spin);

fn spin(_: &Request, _: &mut Plan) -> Result<(), Error> {
    loop {
        std::hint::black_box(());
    }
}
