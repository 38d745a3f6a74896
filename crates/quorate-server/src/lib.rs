//! Models over HTTP: a server that speaks the Open Inference Protocol (version 2, REST), and the client that asks many.
//!
//! [`Server`] answers for the models it was given, replaces a model whose file was replaced, and says no (503) rather
//! than fall behind. [`Panel`] asks several such servers the same questions and hands their opinions over: predictions
//! are shared, data are not. What the protocol's tensors mean here is in `docs/serving.md`.
//!
//! ```no_run
//! use quorate_server::{Limits, Server};
//! let server = Server::load(&["houses.quorate".into()], Limits::default())?;
//! let listening = server.listen("127.0.0.1:8000", None)?;
//! println!("{}", listening.address());
//! listening.run(&|| false, &|sentence| eprintln!("{sentence}"))?;
//! # Ok::<(), quorate_server::Error>(())
//! ```

mod access;
mod app;
mod ask;
mod client;
mod columns;
mod connections;
mod error;
mod fuse;
mod infer;
mod limits;
mod metadata;
mod metrics;
mod outputs;
mod server;
mod shelf;
mod tensor;
mod tls;

pub use access::Token;
pub use ask::{Agent, Described, Opinion, Panel};
pub use client::{Address, Trust};
pub use error::{Error, Result};
pub use fuse::{Fused, check_rule, fuse, record};
pub use limits::Limits;
pub use server::{Listening, Server};
pub use tls::Identity;
