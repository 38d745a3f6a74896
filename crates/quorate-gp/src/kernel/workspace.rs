//! Scratch memory of one thread's work on a block, reused from patch to patch.

/// Buffers that were needed before and are free now.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    free: Vec<Vec<f64>>,
}

impl Workspace {
    /// A buffer of the given length; its contents are whatever was left there.
    pub fn take(&mut self, length: usize) -> Vec<f64> {
        let mut buffer = self.free.pop().unwrap_or_default();
        buffer.resize(length, 0.0);
        buffer
    }

    /// Gives a buffer back.
    pub fn give(&mut self, buffer: Vec<f64>) {
        self.free.push(buffer);
    }
}
