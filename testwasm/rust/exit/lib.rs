//! Exit ends the program in the middle of its answer, with the status that the integer parameter "code" gives; 0 if there is
//! none. It goes through proc_exit of WASI.

use lola_ext::{Error, Param, Plan, Request};

lola_ext::export!(exit);

fn exit(request: &Request, _: &mut Plan) -> Result<(), Error> {
    match request.param("code") {
        Some(Param::Int(code)) => std::process::exit(code as i32),
        _ => std::process::exit(0),
    }
}
