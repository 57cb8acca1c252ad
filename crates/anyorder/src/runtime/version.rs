//! Numbers that stand for the contents of data.

use std::any::TypeId;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::mem;

/// Mixes a number into a hash. Different sequences of numbers have different hashes, but for an
/// accident of 64 bits.
#[inline]
pub(crate) fn mix(hash: u64, number: u64) -> u64 {
    let mut x =
        (hash ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_add(0x2545_f491_4f6c_dd1d);
    x = (x ^ (x >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    x = (x ^ (x >> 29)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    x ^ (x >> 32)
}

/// Returns a hash of a value. The same in all executions if the value is: it must not hash an
/// address.
pub(crate) fn hash_of<T: Hash + ?Sized>(value: &T) -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    value.hash(&mut hasher);
    mix(0, hasher.finish())
}

/// Returns the id of a type, whatever lifetimes it has.
fn type_id<T: ?Sized>() -> TypeId {
    trait Identified {
        fn id(&self) -> TypeId
        where
            Self: 'static;
    }
    impl<T: ?Sized> Identified for PhantomData<T> {
        fn id(&self) -> TypeId
        where
            Self: 'static,
        {
            TypeId::of::<T>()
        }
    }
    let phantom = PhantomData::<T>;
    let object: &dyn Identified = &phantom;
    // SAFETY: only the lifetime of the trait object changes, and the method looks at no data. The
    // id is compared with those of types without lifetimes alone.
    let object: &(dyn Identified + 'static) = unsafe { mem::transmute(object) };
    object.id()
}

/// Returns the number of a value of a primitive type: the value itself. `None` for other types.
#[inline]
pub(crate) fn of_primitive<T: ?Sized>(value: &T) -> Option<u64> {
    if mem::size_of_val(value) > 8 {
        return None;
    }
    let id = type_id::<T>();
    if id == TypeId::of::<()>() {
        return Some(0);
    }
    let from = ptr_of(value);
    macro_rules! read {
        ($($type:ty => $as:expr),* $(,)?) => {$(
            if id == TypeId::of::<$type>() {
                // SAFETY: the value is of this type.
                let value = unsafe { *from.cast::<$type>() };
                return Some($as(value));
            }
        )*};
    }
    read!(
        u32 => u64::from, u64 => |v: u64| v, usize => |v: usize| v as u64, bool => u64::from,
        i32 => |v: i32| v as u32 as u64, i64 => |v: i64| v as u64, isize => |v: isize| v as u64,
        u8 => u64::from, i8 => |v: i8| u64::from(v as u8), u16 => u64::from,
        i16 => |v: i16| u64::from(v as u16), char => |v: char| u64::from(v as u32),
        f32 => |v: f32| u64::from(v.to_bits()), f64 => f64::to_bits,
    );
    None
}

fn ptr_of<T: ?Sized>(value: &T) -> *const () {
    ptr_cast(value)
}

fn ptr_cast<T: ?Sized>(value: *const T) -> *const () {
    value.cast()
}
