// Records what a program writes to its files and when it waits for the disk, and what it says, in one order.
//
// Loaded before the libraries it stands in front of, by the tests of power cuts only. Each function does what the one
// behind it does, and then appends a record to the file that DAYBOOK_POWER_LOG names:
//
//   kind u8 ('w' a write, 'd' one that returned when it was on the disk, 't' a new length, 's' a wait for the disk,
//            'o' bytes for standard output), file u64 (its inode), offset u64, length u64, and the bytes of a write;
//   numbers as the machine has them.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static void *behind(const char *name) {
    void *symbol = dlsym(RTLD_NEXT, name);
    if (!symbol) abort();
    return symbol;
}

#define BEHIND(name)                                                                               \
    static __typeof__(&name) real;                                                                 \
    if (!real) real = (__typeof__(&name))behind(#name)

static int log_file = -1;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("DAYBOOK_POWER_LOG");
    if (!path) return;
    int opened = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    // Out of the way of the descriptors that programs look at.
    log_file = opened < 0 ? -1 : fcntl(opened, F_DUPFD_CLOEXEC, 500);
    if (opened >= 0) close(opened);
}

struct __attribute__((packed)) record {
    uint8_t kind;
    uint64_t file, offset, length;
};

// One call, so that records of several threads and processes do not run into each other.
static void append(struct record record, const struct iovec *parts, int count) {
    struct iovec all[65];
    if (log_file < 0 || count > 64) return;
    all[0] = (struct iovec){&record, sizeof record};
    for (int i = 0; i < count; i++) all[i + 1] = parts[i];
    if (syscall(SYS_writev, log_file, all, count + 1) < 0) abort();
}

// The inode of a regular file; 0 for anything else.
static uint64_t regular(int descriptor) {
    struct stat found;
    if (log_file < 0 || fstat(descriptor, &found) != 0 || !S_ISREG(found.st_mode)) return 0;
    return found.st_ino;
}

static void note(int descriptor, uint64_t offset, ssize_t done, const struct iovec *parts, int count) {
    int saved = errno;
    uint64_t file = regular(descriptor);
    if (done > 0 && (file || descriptor == STDOUT_FILENO)) {
        struct iovec written[64];
        size_t left = (size_t)done;
        int used = 0;
        for (; used < count && used < 64 && left > 0; used++) {
            written[used] = parts[used];
            if (written[used].iov_len > left) written[used].iov_len = left;
            left -= written[used].iov_len;
        }
        if (left > 0) abort();
        int flags = fcntl(descriptor, F_GETFL);
        uint8_t kind = descriptor == STDOUT_FILENO ? 'o' : (flags & O_DSYNC) ? 'd' : 'w';
        append((struct record){kind, file, offset, (uint64_t)done}, written, used);
    }
    errno = saved;
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
    BEHIND(pwrite64);
    ssize_t done = real(descriptor, bytes, count, offset);
    note(descriptor, (uint64_t)offset, done, &(struct iovec){(void *)bytes, count}, 1);
    return done;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    return pwrite64(descriptor, bytes, count, offset);
}

ssize_t pwritev64(int descriptor, const struct iovec *parts, int count, off64_t offset) {
    BEHIND(pwritev64);
    ssize_t done = real(descriptor, parts, count, offset);
    note(descriptor, (uint64_t)offset, done, parts, count);
    return done;
}

ssize_t pwritev(int descriptor, const struct iovec *parts, int count, off_t offset) {
    return pwritev64(descriptor, parts, count, offset);
}

static uint64_t position(int descriptor, ssize_t done) {
    off64_t end = lseek64(descriptor, 0, SEEK_CUR);
    return end < 0 || done < 0 ? 0 : (uint64_t)(end - done);
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
    BEHIND(write);
    ssize_t done = real(descriptor, bytes, count);
    int saved = errno;
    uint64_t offset = position(descriptor, done);
    errno = saved;
    note(descriptor, offset, done, &(struct iovec){(void *)bytes, count}, 1);
    return done;
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
    BEHIND(writev);
    ssize_t done = real(descriptor, parts, count);
    int saved = errno;
    uint64_t offset = position(descriptor, done);
    errno = saved;
    note(descriptor, offset, done, parts, count);
    return done;
}

static int noted(uint8_t kind, int descriptor, uint64_t length, int result) {
    int saved = errno;
    uint64_t file = result == 0 ? regular(descriptor) : 0;
    if (file) append((struct record){kind, file, 0, length}, NULL, 0);
    errno = saved;
    return result;
}

int fsync(int descriptor) {
    BEHIND(fsync);
    return noted('s', descriptor, 0, real(descriptor));
}

int fdatasync(int descriptor) {
    BEHIND(fdatasync);
    return noted('s', descriptor, 0, real(descriptor));
}

int ftruncate64(int descriptor, off64_t length) {
    BEHIND(ftruncate64);
    return noted('t', descriptor, (uint64_t)length, real(descriptor, length));
}

int ftruncate(int descriptor, off_t length) { return ftruncate64(descriptor, length); }

// More room makes a file longer, and changes no byte that is there.
static uint64_t longer(int descriptor, int mode, off64_t offset, off64_t length) {
    struct stat found;
    if ((mode & FALLOC_FL_KEEP_SIZE) || fstat(descriptor, &found) != 0) return 0;
    return offset + length > found.st_size ? (uint64_t)(offset + length) : 0;
}

int fallocate64(int descriptor, int mode, off64_t offset, off64_t length) {
    BEHIND(fallocate64);
    uint64_t size = longer(descriptor, mode, offset, length);
    int result = real(descriptor, mode, offset, length);
    return size ? noted('t', descriptor, size, result) : result;
}

int fallocate(int descriptor, int mode, off_t offset, off_t length) {
    return fallocate64(descriptor, mode, offset, length);
}
