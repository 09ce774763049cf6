//! scratch
#![allow(clippy::unwrap_used)]
use ackproof::cli;
#[test]
fn show() {
    println!("{}", cli::validate::validate(&["suites"]).text());
    let r = ackproof::plan::Request{profile:Some("quick".into()),sets:vec!["current".into(),"previous".into()],overrides:vec![],filter:None,subjects:ackproof::plan::Subjects::Scenarios,seed:7,manifests:vec![]};
    match cli::plan::plan(&["suites","/work/main/fixtures/workers/rust/worker.yaml"], r) { Ok(p)=>println!("{}", cli::plan::table(&p)), Err(e)=>for p in e {println!("{p}\n")}}
}
