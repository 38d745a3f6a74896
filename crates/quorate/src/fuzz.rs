//! Plain functions of bytes for fuzzers.

/// Reads any bytes as a model file; must end in a model or an error.
pub fn read_model(bytes: &[u8]) {
    let _ = crate::file::from_bytes(bytes, "fuzz");
}
