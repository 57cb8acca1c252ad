/* Annotations for programs that `anyorder run` records: C and C++, GCC and Clang, Linux.

   A program with these annotations needs no library. Without a runtime that knows them, each costs
   the test of an address, and its arguments are not evaluated. ThreadSanitizer's own runtime knows
   those of the first part. docs/native.md of anyorder explains all of them. */

#ifndef ANYORDER_H
#define ANYORDER_H

#if defined(__GNUC__) && defined(__ELF__)

#ifdef __cplusplus
extern "C" {
#endif

typedef unsigned long long anyorder_word;

/* A method, at one place of the program. The runtime changes the number. */
struct anyorder_method {
    anyorder_word number;
    const char *type;
    const char *name;
};

/* What an invocation returned. */
struct anyorder_result {
    int is_some;
    anyorder_word value;
};

/* Names of our own for the functions, as programs declare them with different types. */
#define ANYORDER_FUNCTION(name, symbol, parameters) \
    extern void name parameters __asm__(symbol) __attribute__((weak))

ANYORDER_FUNCTION(anyorder_before_, "AnnotateHappensBefore",
                  (const char *, int, const volatile void *));
ANYORDER_FUNCTION(anyorder_after_, "AnnotateHappensAfter",
                  (const char *, int, const volatile void *));
ANYORDER_FUNCTION(anyorder_no_reads_, "AnnotateIgnoreReadsBegin", (const char *, int));
ANYORDER_FUNCTION(anyorder_no_writes_, "AnnotateIgnoreWritesBegin", (const char *, int));
ANYORDER_FUNCTION(anyorder_reads_, "AnnotateIgnoreReadsEnd", (const char *, int));
ANYORDER_FUNCTION(anyorder_writes_, "AnnotateIgnoreWritesEnd", (const char *, int));
ANYORDER_FUNCTION(anyorder_benign_, "AnnotateBenignRaceSized",
                  (const char *, int, const volatile void *, unsigned long, const char *));
ANYORDER_FUNCTION(anyorder_object_, "anyorder_object", (const volatile void *));
ANYORDER_FUNCTION(anyorder_invoke_, "anyorder_invoke",
                  (struct anyorder_method *, const volatile void *, unsigned long,
                   const anyorder_word *));
ANYORDER_FUNCTION(anyorder_return_, "anyorder_return",
                  (const volatile void *, int, anyorder_word));

#undef ANYORDER_FUNCTION

#ifdef __cplusplus
}
#endif

/* Returns a word for bytes (FNV-1a): for arguments and results that are texts or structures. */
static inline anyorder_word anyorder_bytes(const void *bytes, unsigned long size)
    __attribute__((unused));
__attribute__((no_sanitize_thread)) static inline anyorder_word
anyorder_bytes(const void *bytes, unsigned long size) {
    const unsigned char *at = (const unsigned char *)bytes;
    anyorder_word hash = 0xcbf29ce484222325ULL;
    for (unsigned long i = 0; i < size; i++)
        hash = (hash ^ at[i]) * 0x100000001b3ULL;
    return hash;
}

/* Returns a word for a text that ends with a zero byte. */
#define ANYORDER_TEXT(text) anyorder_bytes((text), __builtin_strlen(text))

/* ---- Order and accesses ---- */

/* What this thread did before comes before what follows an ANYORDER_HAPPENS_AFTER of the address. */
#define ANYORDER_HAPPENS_BEFORE(address) \
    do { \
        if (anyorder_before_) \
            anyorder_before_(__FILE__, __LINE__, (address)); \
    } while (0)

#define ANYORDER_HAPPENS_AFTER(address) \
    do { \
        if (anyorder_after_) \
            anyorder_after_(__FILE__, __LINE__, (address)); \
    } while (0)

/* Plain accesses of this thread are ignored from here to ANYORDER_IGNORE_END; these nest. */
#define ANYORDER_IGNORE_BEGIN() \
    do { \
        if (anyorder_no_reads_ && anyorder_no_writes_) { \
            anyorder_no_reads_(__FILE__, __LINE__); \
            anyorder_no_writes_(__FILE__, __LINE__); \
        } \
    } while (0)

#define ANYORDER_IGNORE_END() \
    do { \
        if (anyorder_reads_ && anyorder_writes_) { \
            anyorder_writes_(__FILE__, __LINE__); \
            anyorder_reads_(__FILE__, __LINE__); \
        } \
    } while (0)

/* Plain accesses to this memory are no races, by any thread and at any time. */
#define ANYORDER_BENIGN_RACE(address, size, why) \
    do { \
        if (anyorder_benign_) \
            anyorder_benign_(__FILE__, __LINE__, (address), (size), (why)); \
    } while (0)

/* ---- Invocations of objects ---- */

/* The result of an invocation. A truth value is 0 or 1; what returns nothing (null, an empty
   optional, void) is ANYORDER_NONE. */
#ifdef __cplusplus
#define ANYORDER_RESULT(value) (anyorder_result{1, ANYORDER_WORD(value)})
#define ANYORDER_NONE (anyorder_result{0, 0})
#else
#define ANYORDER_RESULT(value) ((struct anyorder_result){1, ANYORDER_WORD(value)})
#define ANYORDER_NONE ((struct anyorder_result){0, 0})
#endif

/* A new object begins at the address. Blocks of the heap and static variables need no such call:
   it is for objects on a stack, and for those of a pool. */
#define ANYORDER_OBJECT(object) \
    do { \
        if (anyorder_object_) \
            anyorder_object_(object); \
    } while (0)

/* ANYORDER_INVOKE_BEGIN(object, "type", "method", arguments...): the method takes effect between
   here and ANYORDER_INVOKE_END(object, result), in this thread. Up to six arguments: integers,
   enumerators, truth values, pointers. Both stand outside of the object's own locks. */
#define ANYORDER_INVOKE_BEGIN(object, type, ...) \
    do { \
        if (anyorder_invoke_) { \
            static struct anyorder_method anyorder_method_ = { \
                0, (type), ANYORDER_FIRST(__VA_ARGS__, 0)}; \
            const anyorder_word anyorder_words_[] = { \
                ANYORDER_JOIN(ANYORDER_WORDS_, ANYORDER_COUNT(__VA_ARGS__))(__VA_ARGS__)}; \
            anyorder_invoke_(&anyorder_method_, (object), ANYORDER_COUNT(__VA_ARGS__), \
                             anyorder_words_); \
        } \
    } while (0)

#define ANYORDER_INVOKE_END(object, result) \
    do { \
        if (anyorder_return_) { \
            const struct anyorder_result anyorder_result_ = result; \
            anyorder_return_((object), anyorder_result_.is_some, anyorder_result_.value); \
        } \
    } while (0)

/* ANYORDER_INVOKE(object, "type", "method", result, arguments...): the method has taken effect
   here. For calls that wait, and where the body is not to belong to the invocation. */
#define ANYORDER_INVOKE(object, type, method, ...) \
    do { \
        if (anyorder_invoke_ && anyorder_return_) { \
            static struct anyorder_method anyorder_method_ = {0, (type), (method)}; \
            const struct anyorder_result anyorder_result_ = ANYORDER_FIRST(__VA_ARGS__, 0); \
            const anyorder_word anyorder_words_[] = { \
                ANYORDER_JOIN(ANYORDER_WORDS_, ANYORDER_COUNT(__VA_ARGS__))(__VA_ARGS__)}; \
            anyorder_invoke_(&anyorder_method_, (object), ANYORDER_COUNT(__VA_ARGS__), \
                             anyorder_words_); \
            anyorder_return_((object), anyorder_result_.is_some, anyorder_result_.value); \
        } \
    } while (0)

#define ANYORDER_WORD(value) ((anyorder_word)(value))
#define ANYORDER_JOIN(a, b) ANYORDER_JOIN_(a, b)
#define ANYORDER_JOIN_(a, b) a##b
#define ANYORDER_FIRST(first, ...) first
/* The number of arguments after the first. */
#define ANYORDER_COUNT(...) ANYORDER_EIGHTH(__VA_ARGS__, 6, 5, 4, 3, 2, 1, 0, 0)
#define ANYORDER_EIGHTH(a, b, c, d, e, f, g, h, ...) h
#define ANYORDER_WORDS_0(m) 0
#define ANYORDER_WORDS_1(m, a) ANYORDER_WORD(a)
#define ANYORDER_WORDS_2(m, a, b) ANYORDER_WORD(a), ANYORDER_WORD(b)
#define ANYORDER_WORDS_3(m, a, ...) ANYORDER_WORD(a), ANYORDER_WORDS_2(m, __VA_ARGS__)
#define ANYORDER_WORDS_4(m, a, ...) ANYORDER_WORD(a), ANYORDER_WORDS_3(m, __VA_ARGS__)
#define ANYORDER_WORDS_5(m, a, ...) ANYORDER_WORD(a), ANYORDER_WORDS_4(m, __VA_ARGS__)
#define ANYORDER_WORDS_6(m, a, ...) ANYORDER_WORD(a), ANYORDER_WORDS_5(m, __VA_ARGS__)

#else /* No such compiler or system: the annotations do nothing. */

#define ANYORDER_HAPPENS_BEFORE(address) ((void)0)
#define ANYORDER_HAPPENS_AFTER(address) ((void)0)
#define ANYORDER_IGNORE_BEGIN() ((void)0)
#define ANYORDER_IGNORE_END() ((void)0)
#define ANYORDER_BENIGN_RACE(address, size, why) ((void)0)
#define ANYORDER_OBJECT(object) ((void)0)
#define ANYORDER_INVOKE_BEGIN(object, type, ...) ((void)0)
#define ANYORDER_INVOKE_END(object, result) ((void)0)
#define ANYORDER_INVOKE(object, type, method, ...) ((void)0)

#endif
#endif
