//! How functions are exported, and how they learn where they are called from.

/// The register of the argument after the first so many.
macro_rules! register_after {
    (0) => {
        "rdi"
    };
    (1) => {
        "rsi"
    };
    (2) => {
        "rdx"
    };
    (3) => {
        "rcx"
    };
    (4) => {
        "r8"
    };
    (5) => {
        "r9"
    };
}

/// Exports functions that take one argument more than they are called with: the return address. So
/// they know the place of the call, and the stack is as if nothing stood between.
macro_rules! export {
    ($($count:tt fn $name:ident($($arg:ident: $ty:ty),*) $(-> $ret:ty)?, |$place:ident| $body:block)*) => {$(
        #[cfg_attr(anyorder_image, unsafe(no_mangle))]
        #[unsafe(naked)]
        unsafe extern "C" fn $name($(_: $ty),*) $(-> $ret)? {
            #[allow(clippy::too_many_arguments, reason = "what C passes")]
            unsafe extern "C" fn with_place($($arg: $ty,)* $place: usize) $(-> $ret)? $body
            core::arch::naked_asm!(
                concat!("mov ", register_after!($count), ", qword ptr [rsp]"),
                "jmp {}",
                sym with_place,
            )
        }
    )*};
}

/// As [`export`], for functions that stand in front of others: `$real` is the other.
macro_rules! interpose {
    ($($count:tt fn $name:ident($($arg:ident: $ty:ty),*) $(-> $ret:ty)?, |$place:ident, $real:ident| $body:block)*) => {
        export! {$(
            $count fn $name($($arg: $ty),*) $(-> $ret)?, |$place| {
                let $real = real!($name($($ty),*) $(-> $ret)?);
                $body
            }
        )*}
    };
}

/// The function of a name that follows ours.
macro_rules! real {
    ($name:ident($($ty:ty),*) $(-> $ret:ty)?) => {{
        static SYMBOL: $crate::symbol::Symbol = $crate::symbol::Symbol::new(
            match core::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => c"",
            },
        );
        type Function = unsafe extern "C" fn($($ty),*) $(-> $ret)?;
        // SAFETY: a function of this name has this type, in the C library and in whatever stands
        // in front of it.
        #[allow(unused_unsafe, reason = "the macro may stand in a block that is unsafe itself")]
        unsafe {
            core::mem::transmute::<usize, Function>(SYMBOL.address())
        }
    }};
}
