#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "CDaybookCallCounts.h"

#include <stdatomic.h>
#include <stdlib.h>

static atomic_uint_fast64_t allocations, allocated_bytes, writes, written_bytes, syncs, digests, digested_bytes;
static atomic_int_fast64_t live_bytes;

struct call_counts call_counts_now(void) {
    return (struct call_counts){
        .allocations = atomic_load(&allocations),
        .allocated_bytes = atomic_load(&allocated_bytes),
        .live_bytes = atomic_load(&live_bytes),
        .writes = atomic_load(&writes),
        .written_bytes = atomic_load(&written_bytes),
        .syncs = atomic_load(&syncs),
        .digests = atomic_load(&digests),
        .digested_bytes = atomic_load(&digested_bytes),
    };
}

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define UNDER_SANITIZER 1
#endif
#endif

#if !defined(__GLIBC__) || defined(UNDER_SANITIZER)

int call_counts_are_kept(void) { return 0; }

#else

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <sys/uio.h>
#include <unistd.h>

int call_counts_are_kept(void) { return 1; }

// Memory. The C library has its own functions under these names as well.

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

// The word before each block holds its size.
static int64_t size_of(void *block) {
    return block ? (int64_t)(malloc_usable_size(block) + sizeof(size_t)) : 0;
}

static void add(atomic_uint_fast64_t *count, uint64_t more) {
    atomic_fetch_add_explicit(count, more, memory_order_relaxed);
}

static void *counted(void *block) {
    int64_t size = size_of(block);
    add(&allocations, 1);
    add(&allocated_bytes, (uint64_t)size);
    atomic_fetch_add_explicit(&live_bytes, size, memory_order_relaxed);
    return block;
}

void *malloc(size_t size) { return counted(__libc_malloc(size)); }

void *calloc(size_t count, size_t size) { return counted(__libc_calloc(count, size)); }

void free(void *block) {
    atomic_fetch_sub_explicit(&live_bytes, size_of(block), memory_order_relaxed);
    __libc_free(block);
}

void *realloc(void *block, size_t size) {
    int64_t before = size_of(block);
    void *moved = __libc_realloc(block, size);
    if (!moved && size > 0) return NULL;
    atomic_fetch_sub_explicit(&live_bytes, before, memory_order_relaxed);
    return counted(moved);
}

void *reallocarray(void *block, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(block, bytes);
}

void *memalign(size_t alignment, size_t size) {
    return counted(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **block, size_t alignment, size_t size) {
    void *made = memalign(alignment, size);
    if (!made) return ENOMEM;
    *block = made;
    return 0;
}

// Files and digests: the functions that would have been called come next in the search order.

#define NEXT(type, name)                                      \
    static type next;                                         \
    if (!next) next = (type)dlsym(RTLD_NEXT, name)

static ssize_t wrote(ssize_t bytes) {
    add(&writes, 1);
    if (bytes > 0) add(&written_bytes, (uint64_t)bytes);
    return bytes;
}

typedef ssize_t (*pwrite_call)(int, const void *, size_t, off_t);
typedef ssize_t (*pwritev_call)(int, const struct iovec *, int, off_t);
typedef ssize_t (*write_call)(int, const void *, size_t);
typedef ssize_t (*writev_call)(int, const struct iovec *, int);
typedef int (*sync_call)(int);

ssize_t pwrite(int file, const void *bytes, size_t count, off_t place) {
    NEXT(pwrite_call, "pwrite");
    return wrote(next(file, bytes, count, place));
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off_t place) {
    NEXT(pwrite_call, "pwrite64");
    return wrote(next(file, bytes, count, place));
}

ssize_t pwritev(int file, const struct iovec *parts, int count, off_t place) {
    NEXT(pwritev_call, "pwritev");
    return wrote(next(file, parts, count, place));
}

ssize_t pwritev64(int file, const struct iovec *parts, int count, off_t place) {
    NEXT(pwritev_call, "pwritev64");
    return wrote(next(file, parts, count, place));
}

ssize_t write(int file, const void *bytes, size_t count) {
    NEXT(write_call, "write");
    return wrote(next(file, bytes, count));
}

ssize_t writev(int file, const struct iovec *parts, int count) {
    NEXT(writev_call, "writev");
    return wrote(next(file, parts, count));
}

int fdatasync(int file) {
    NEXT(sync_call, "fdatasync");
    add(&syncs, 1);
    return next(file);
}

int fsync(int file) {
    NEXT(sync_call, "fsync");
    add(&syncs, 1);
    return next(file);
}

typedef int (*update_call)(void *, const void *, size_t);
typedef int (*final_call)(void *, unsigned char *, unsigned int *);

int EVP_DigestUpdate(void *context, const void *bytes, size_t count) {
    NEXT(update_call, "EVP_DigestUpdate");
    add(&digested_bytes, count);
    return next(context, bytes, count);
}

int EVP_DigestFinal_ex(void *context, unsigned char *digest, unsigned int *length) {
    NEXT(final_call, "EVP_DigestFinal_ex");
    add(&digests, 1);
    return next(context, digest, length);
}

#endif
