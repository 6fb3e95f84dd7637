#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#if defined(__linux__)
#include <sys/vfs.h>
#else
#include <sys/mount.h>
#include <sys/param.h>
#endif

// Swift cannot tell the function `statfs` from the structure of the same name on every platform.
// Returns the kernel's number for the type of the file system under `path`, or 0 when unknown.
static inline unsigned long daybook_file_system_type(const char *path) {
    struct statfs found;
    if (statfs(path, &found) != 0) {
        return 0;
    }
    return (unsigned long)found.f_type & 0xFFFFFFFFUL;
}

// `pthread_t` is a number on Linux and a pointer elsewhere; both fit into one word.
static inline unsigned long daybook_thread_identity(void) {
    return (unsigned long)pthread_self();
}

// `struct stat` and `struct statvfs` come to Swift through whichever module included their headers
// first, which differs from build to build. These carry the few fields needed.
typedef struct {
    unsigned long long device;
    unsigned long long inode;
    long long size;
    int is_folder;
    int is_regular;
} daybook_file;

static inline int daybook_file_from(const struct stat *found, daybook_file *file) {
    file->device = (unsigned long long)found->st_dev;
    file->inode = (unsigned long long)found->st_ino;
    file->size = (long long)found->st_size;
    file->is_folder = S_ISDIR(found->st_mode) ? 1 : 0;
    file->is_regular = S_ISREG(found->st_mode) ? 1 : 0;
    return 0;
}

// Returns 0 or the number of the error.
static inline int daybook_look_up(const char *path, daybook_file *file) {
    struct stat found;
    return stat(path, &found) == 0 ? daybook_file_from(&found, file) : errno;
}

// The same for an open file.
static inline int daybook_look_at(int descriptor, daybook_file *file) {
    struct stat found;
    return fstat(descriptor, &found) == 0 ? daybook_file_from(&found, file) : errno;
}

// Locks the first byte of LMDB's lock file, which every process that has the file open holds shared.
// Returns 0 or the number of the error; `fcntl` is variadic and `flock` two things at once in C.
static inline int daybook_lock_alone(int descriptor) {
    struct flock lock = {0};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = 0;
    lock.l_len = 1;
    return fcntl(descriptor, F_SETLK, &lock) == 0 ? 0 : errno;
}

// How many bytes a user may still write to the file system under `path`; -1 when unknown.
static inline long long daybook_room(const char *path) {
    struct statvfs found;
    if (statvfs(path, &found) != 0) {
        return -1;
    }
    long long room = (long long)found.f_bavail * (long long)found.f_frsize;
    // A limit on the length of files (setrlimit) ends the room just as a full disk does.
    struct rlimit limit;
    struct stat file;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY
        && stat(path, &file) == 0) {
        long long left = (long long)limit.rlim_cur - (long long)file.st_size;
        if (left < room) room = left < 0 ? 0 : left;
    }
    return room;
}
