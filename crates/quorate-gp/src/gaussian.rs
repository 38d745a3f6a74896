//! Beliefs: moments for people, information for combining.
