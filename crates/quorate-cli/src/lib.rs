//! The quorate command as a library.
