//! The rules of the repository that the compiler does not check. There is nothing here but tests:
//! they read the manifests and the sources, and build in seconds, as nothing of ours is below them.

#![forbid(unsafe_code)]
