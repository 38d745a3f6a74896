//! What the rules allow although they would forbid it, and why.

/// Licences that a dependency may carry: permissive ones that ask for no more than attribution.
pub const LICENCES: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Crates that need a system library, cmake or a foreign tool to build.
pub const BANNED: &[&str] = &[
    "bindgen",
    "blas-src",
    "cblas-sys",
    "cmake",
    "intel-mkl-src",
    "lapack-sys",
    "native-tls",
    "netlib-src",
    "openblas-src",
    "openssl",
    "openssl-sys",
    "pkg-config",
    "vcpkg",
];

/// Banned crates that are tolerated, with the only crates that may ask for them and the reason.
pub const TOLERATED: &[(&str, &[&str], &str)] = &[(
    "pkg-config",
    &["zstd-sys"],
    "looks for a system zstd only when ZSTD_SYS_USE_PKG_CONFIG is set; the default compiles the bundled C",
)];

/// Crates that may link native code (a `links` key in their manifest).
pub const LINKS: &[(&str, &str)] = &[
    (
        "libmimalloc-sys",
        "compiles its bundled C with the compiler that links Rust; gives memory back that the system's allocator keeps",
    ),
    (
        "pyo3",
        "the key only keeps two versions apart; see pyo3-ffi",
    ),
    (
        "pyo3-ffi",
        "declares Python's interface; an extension is linked with no library, the interpreter that loads it has the symbols",
    ),
    (
        "rayon-core",
        "the key only keeps two thread pools apart; there is no native library",
    ),
    (
        "ring",
        "compiles its bundled C and assembly with the compiler that links Rust; encryption of served models",
    ),
    (
        "wasm-bindgen-shared",
        "the key only keeps two versions apart, and no native target uses it",
    ),
    (
        "zstd-sys",
        "compiles its bundled C with the compiler that links Rust; Parquet files are written with zstd",
    ),
];

/// Crates that may be present in several versions.
pub const DUPLICATES: &[(&str, &str)] = &[
    (
        "equator",
        "assertions inside the matrix library, which mixes two versions",
    ),
    ("equator-macro", "comes with equator"),
    (
        "getrandom",
        "three generations: random numbers, temporary files, hashing",
    ),
    ("hashbrown", "arrow is one version behind indexmap"),
    ("r-efi", "only on UEFI targets, through getrandom"),
    (
        "syn",
        "derive macros of three generations; compile time only",
    ),
    (
        "thiserror",
        "pulled in by a dependency that still uses version 1",
    ),
    ("thiserror-impl", "comes with thiserror"),
    (
        "windows-sys",
        "only on Windows; ring is a generation behind",
    ),
];

/// Which of our crates may use which others: the arrows of ARCHITECTURE.md.
pub const LAYERS: &[(&str, &[&str])] = &[
    ("quorate-gp", &[]),
    ("quorate", &["quorate-gp"]),
    ("quorate-table", &["quorate-gp"]),
    ("quorate-paper", &["quorate-gp", "quorate"]),
    (
        "quorate-cli",
        &[
            "quorate-gp",
            "quorate",
            "quorate-table",
            "quorate-paper",
            "quorate-server",
        ],
    ),
    ("quorate-server", &["quorate-gp", "quorate"]),
    ("quorate-python", &["quorate-gp", "quorate", "quorate-cli"]),
    ("quorate-fuzz", &["quorate-gp", "quorate", "quorate-table"]),
    ("xtask", &[]),
];

/// Folders of the libraries: code that does not print, read the environment, start threads or exit.
pub const LIBRARIES: &[&str] = &[
    "crates/quorate-gp/src/",
    "crates/quorate-paper/src/",
    "crates/quorate-table/src/",
    "crates/quorate/src/",
];

/// Modules of `quorate-gp` by level; a module uses its own level and those before it.
pub const MODULES: &[&[&str]] = &[
    &["error", "watch"],
    &["data"],
    &["gaussian", "linalg", "parameters"],
    &["kernel", "likelihood"],
    &["posterior"],
    &["learn"],
];
