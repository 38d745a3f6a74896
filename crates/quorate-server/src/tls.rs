//! Certificates: who the server is, and whom it listens to.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, RootCertStore, ServerConfig};

use crate::error::{Error, Result};

/// A certificate with its key, in PEM files.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The certificate, and those between it and its root.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
    /// Root of the certificates that clients must show (mutual TLS); for a client, of the servers it believes.
    pub root: Option<PathBuf>,
}

impl Identity {
    /// How a server shakes hands.
    pub(crate) fn server(&self) -> Result<Arc<ServerConfig>> {
        let builder = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(|error| Error::Other(error.to_string()))?;
        let builder = match &self.root {
            None => builder.with_no_client_auth(),
            Some(root) => {
                let roots = Arc::new(roots(root)?);
                let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider())
                    .build()
                    .map_err(|error| secret(root, error))?;
                builder.with_client_cert_verifier(verifier)
            }
        };
        let (certificates, key) = (certificates(&self.certificate)?, key(&self.key)?);
        let config = builder
            .with_single_cert(certificates, key)
            .map_err(|error| secret(&self.certificate, error))?;
        Ok(Arc::new(config))
    }
}

/// How a client shakes hands: whom it believes, and who it says it is.
pub(crate) fn client(root: &Path, own: Option<(&Path, &Path)>) -> Result<Arc<ClientConfig>> {
    let builder = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::Other(error.to_string()))?
        .with_root_certificates(roots(root)?);
    Ok(Arc::new(match own {
        None => builder.with_no_client_auth(),
        Some((certificate, private)) => builder
            .with_client_auth_cert(certificates(certificate)?, key(private)?)
            .map_err(|error| secret(certificate, error))?,
    }))
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn roots(path: &Path) -> Result<RootCertStore> {
    let mut store = RootCertStore::empty();
    for certificate in certificates(path)? {
        store
            .add(certificate)
            .map_err(|error| secret(path, error))?;
    }
    Ok(store)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let found = CertificateDer::pem_file_iter(path).map_err(|error| secret(path, error))?;
    let found: Vec<_> = found
        .collect::<std::result::Result<_, _>>()
        .map_err(|error| secret(path, error))?;
    match found.is_empty() {
        true => Err(secret(path, "there is no certificate in it")),
        false => Ok(found),
    }
}

fn key(path: &Path) -> Result<PrivateKeyDer<'static>> {
    PrivateKeyDer::from_pem_file(path).map_err(|error| secret(path, error))
}

fn secret(path: &Path, problem: impl std::fmt::Display) -> Error {
    Error::Secret {
        path: path.display().to_string(),
        problem: problem.to_string(),
    }
}
