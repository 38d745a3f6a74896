//! `quorate serve`: models over HTTP.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use quorate::plan::{Memory, Span};
use quorate_server::{Identity, Limits, Server, Token};
use serde::Serialize;

use crate::failure::Result;
use crate::interrupt;
use crate::text::{Console, LITERAL};

/// Answer for models over HTTP, by the Open Inference Protocol
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  quorate serve houses.quorate
  quorate serve price=houses.quorate rent.quorate --listen 0.0.0.0:8000 --token-file token.txt
  quorate serve houses.quorate --cert server.pem --key server.key --client-ca clients.pem

  curl -s localhost:8000/v2/models/houses/infer -d '{\"inputs\": \
[{\"name\": \"area\", \"datatype\": \"FP64\", \"shape\": [2], \"data\": [80, 120]}]}'

One input tensor for each column. Outputs: mean, variance, latent_variance, prior_mean, prior_variance, quantiles, \
covariance; label, probabilities, classes. A replaced model file is loaded while the old one answers. Ctrl-C finishes \
what was begun.")]
pub struct Serve {
    /// Model files, each under its name without the ending, or as NAME=FILE
    #[arg(required = true, value_name = "MODEL")]
    models: Vec<PathBuf>,
    /// Address and port; port 0 takes any that is free
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8000")]
    listen: String,
    /// File whose first line is a token that clients must bring (`Authorization: Bearer ..`)
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Certificate (PEM) to prove who the server is: everything is encrypted then
    #[arg(long, value_name = "PEM", requires = "key")]
    cert: Option<PathBuf>,
    /// Private key (PEM) of the certificate
    #[arg(long, value_name = "PEM", requires = "cert")]
    key: Option<PathBuf>,
    /// Root certificate (PEM): only clients that show a certificate from it are answered
    #[arg(long, value_name = "PEM", requires = "cert")]
    client_ca: Option<PathBuf>,
    /// Requests that are answered or wait at one time; the next gets 503
    #[arg(long, value_name = "N", default_value = "64")]
    max_requests: NonZeroUsize,
    /// Rows of one request at most; more get 413
    #[arg(long, value_name = "N", default_value = "65536")]
    max_rows: NonZeroUsize,
    /// Size of one request at most; more gets 413
    #[arg(long, value_name = "SIZE", default_value = "64MiB")]
    max_body: Memory,
    /// How often model files are looked at for a replacement
    #[arg(long, value_name = "SPAN", default_value = "2s")]
    reload: Span,
}

#[derive(Serialize)]
struct Started<'a> {
    url: &'a str,
    models: &'a [String],
}

impl Serve {
    pub fn run(self, console: &Console) -> Result<()> {
        let limits = Limits {
            body: usize::try_from(self.max_body.0).unwrap_or(usize::MAX),
            rows: self.max_rows.get(),
            requests: self.max_requests.get(),
            workers: rayon::current_num_threads(),
            reload: Some(Duration::from_secs_f64(self.reload.0.min(1e6))),
            ..Limits::default()
        };
        let mut server = Server::load(&self.models, limits)?;
        if let Some(path) = &self.token_file {
            server = server.with_token(Token::read(path)?);
        }
        let identity = self.cert.zip(self.key).map(|(certificate, key)| Identity {
            certificate,
            key,
            root: self.client_ca,
        });
        let models: Vec<String> = server.models().map(String::from).collect();
        let listening = server.listen(&self.listen, identity.as_ref())?;
        let scheme = if identity.is_some() { "https" } else { "http" };
        let url = format!("{scheme}://{}", listening.address());
        console.say(format!("Answering at {LITERAL}{url}{LITERAL:#}"))?;
        for model in &models {
            console.say(format!("  {url}/v2/models/{model}"))?;
        }
        console.json(&Started {
            url: &url,
            models: &models,
        })?;
        // What was begun is finished before the process ends.
        interrupt::patience(limits.farewell + Duration::from_secs(1));
        listening.run(&interrupt::requested, &|sentence| console.note(&sentence))?;
        console.say("Stopped")
    }
}
