//! The program itself on real servers: what users see, and what must never be left behind.
//! Command lines go in; exit codes, reports and the engine's state come out.
//! A test here must never look inside the program: it is one of its users.

mod runs {
    pub mod engine;
    pub mod program;

    mod broken;
    mod clients;
    mod full_disk;
    mod hostile;
    mod interrupted;
    mod locked;
    mod stories;
}
