//! What virtual machines say of objects and locks of their own.

use crate::emit::{sync, sync_sized};
use crate::kind::{
    ACQUIRE, ACQUIRE_ALL, ALLOC, ANNOTATION, FREE, LOCK, RELEASE, SHARED, UNLOCK, arg,
};

export! {
    2 fn __tsan_java_alloc(object: usize, size: usize), |place| {
        sync_sized(ALLOC, object, place, size as u64);
    }

    2 fn __tsan_java_free(object: usize, size: usize), |place| {
        sync_sized(FREE, object, place, size as u64);
    }

    // What all threads have done comes before the finalizers.
    0 fn __tsan_java_finalize(), |place| {
        sync(ACQUIRE_ALL, 0, place);
    }

    1 fn __tsan_java_mutex_lock(mutex: usize), |place| {
        sync(LOCK, mutex, place);
    }

    1 fn __tsan_java_mutex_unlock(mutex: usize), |place| {
        sync(UNLOCK, mutex, place);
    }

    1 fn __tsan_java_mutex_read_lock(mutex: usize), |place| {
        sync(LOCK | arg(SHARED), mutex, place);
    }

    1 fn __tsan_java_mutex_read_unlock(mutex: usize), |place| {
        sync(UNLOCK | arg(SHARED), mutex, place);
    }

    1 fn __tsan_java_acquire(object: usize), |place| {
        sync(ACQUIRE | arg(ANNOTATION), object, place);
    }

    1 fn __tsan_java_release(object: usize), |place| {
        sync(RELEASE | arg(ANNOTATION), object, place);
    }

    1 fn __tsan_java_release_store(object: usize), |place| {
        sync(RELEASE | arg(ANNOTATION), object, place);
    }
}
