#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/vfs.h>
#else
#include <sys/mount.h>
#include <sys/param.h>
#endif

// Swift cannot distinguish the function `statfs` from the structure of the same name on every
// platform. Returns the kernel's number for the type of the file system under `path`, or 0 when
// unknown.
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

// How often the calling thread has touched a page of a map that had to be read from the disk. Headers name
// what asks for one thread (`RUSAGE_THREAD`, 1 on Linux) only where GNU's extensions are switched on. Elsewhere
// it is the number of the process.
static inline long daybook_waits_of_thread(void) {
    struct rusage used;
#if defined(__linux__)
    return getrusage(1, &used) == 0 ? used.ru_majflt : 0;
#else
    return getrusage(RUSAGE_SELF, &used) == 0 ? used.ru_majflt : 0;
#endif
}

// `struct stat` and `struct statvfs` reach Swift through the module that included their headers
// first, which differs from build to build. These structures have the few fields needed.
typedef struct {
    unsigned long long device;
    unsigned long long inode;
    long long size;
    // The bytes it occupies on the disk.
    long long allocated;
    int is_folder;
    int is_regular;
} daybook_file;

static inline int daybook_file_from(const struct stat *found, daybook_file *file) {
    file->device = (unsigned long long)found->st_dev;
    file->inode = (unsigned long long)found->st_ino;
    file->size = (long long)found->st_size;
    file->allocated = (long long)found->st_blocks * 512;
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

// `fcntl` is variadic, and `flock` is both a structure and a function in C.
//
// Locks of a process (`F_SETLK`) name their holder, and are released when the process closes any
// descriptor of the file; LMDB's own are of that kind. Locks of an open file (`F_OFD_SETLK`) last
// as long as that one descriptor. Both end with the process.
typedef enum { daybook_unlocked, daybook_shared, daybook_exclusive } daybook_lock_kind;

static inline struct flock daybook_span(daybook_lock_kind kind, long long start, long long count) {
    struct flock lock = {0};
    lock.l_type = kind == daybook_exclusive ? F_WRLCK : kind == daybook_shared ? F_RDLCK : F_UNLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = (off_t)start;
    lock.l_len = (off_t)count;
    return lock;
}

#if defined(__linux__) && !defined(F_OFD_SETLK)
#define F_OFD_GETLK 36
#define F_OFD_SETLK 37
#endif

// Locks bytes for this process, or releases them. Returns 0 or the number of the error.
static inline int daybook_lock(int file, daybook_lock_kind kind, long long start, long long count) {
    struct flock lock = daybook_span(kind, start, count);
    return fcntl(file, F_SETLK, &lock) == 0 ? 0 : errno;
}

// The same for the open file.
static inline int daybook_lock_open_file(
    int file, daybook_lock_kind kind, long long start, long long count) {
    struct flock lock = daybook_span(kind, start, count);
    return fcntl(file, F_OFD_SETLK, &lock) == 0 ? 0 : errno;
}

typedef struct {
    int is_locked;
    // The number of the process; 0 or less when unknown.
    int process;
    // The start of the lock that was found.
    long long start;
} daybook_foreign_lock;

// Checks whether another process prevents this one from locking bytes exclusively. Returns 0 or the
// number of the error.
static inline int daybook_find_lock(
    int file, long long start, long long count, daybook_foreign_lock *found) {
    struct flock lock = daybook_span(daybook_exclusive, start, count);
    if (fcntl(file, F_GETLK, &lock) != 0) return errno;
    found->is_locked = lock.l_type != F_UNLCK;
    found->process = found->is_locked ? (int)lock.l_pid : 0;
    found->start = (long long)lock.l_start;
    return 0;
}

// The same for an open file: finds locks of other open files, including those of this process.
static inline int daybook_find_lock_open_file(
    int file, long long start, long long count, daybook_foreign_lock *found) {
    struct flock lock = daybook_span(daybook_exclusive, start, count);
    if (fcntl(file, F_OFD_GETLK, &lock) != 0) return errno;
    found->is_locked = lock.l_type != F_UNLCK;
    found->process = 0;
    found->start = (long long)lock.l_start;
    return 0;
}

// Opens a file; `open` is variadic. A new one is its owner's alone. Returns the descriptor or -1.
static inline int daybook_open(const char *path, int flags) {
    return open(path, flags | O_CLOEXEC, 0600);
}

// Allocates the disk space for the first bytes of a file. Returns 0 or the number of the error.
static inline int daybook_allocate(int file, long long count) {
#if defined(__APPLE__)
    fstore_t wanted = {F_ALLOCATEALL, F_PEOFPOSMODE, 0, (off_t)count, 0};
    if (fcntl(file, F_PREALLOCATE, &wanted) != 0) return errno;
    return ftruncate(file, (off_t)count) == 0 ? 0 : errno;
#else
    int number;
    do number = posix_fallocate(file, 0, (off_t)count); while (number == EINTR);
    return number;
#endif
}

// Opens standard input, output and error if the program was started without them, so that none of
// our files gets one of their numbers and receives printed text. They stay open: later prints go
// nowhere. Returns 0 or the number of the error.
static inline int daybook_occupy_standard_descriptors(void) {
    for (int number = 0; number <= 2; number++) {
        if (fcntl(number, F_GETFD) != -1 || errno != EBADF) continue;
        int file = open("/dev/null", O_RDWR);
        if (file < 0) return errno;
        // Another thread may have taken the number meanwhile.
        if (file > 2) close(file);
    }
    return 0;
}

// Makes a new environment register its readers under a number other than that of the process, which
// a process in another container may also have: LMDB distinguishes readers by it.
//
// `MDB_env` is private to LMDB. So this checks whether it begins with the eleven words with which
// `mdb_env_create` of LMDB 0.9 (`mdb.c`, `struct MDB_env`) fills it: three descriptors that are not
// open, flags, page size, the system's page size, readers, readers to close, tables, maximal
// tables, process. Returns 0 when it does not; then the number of the process stays.
static inline int daybook_number_readers(MDB_env *environment, int number) {
    int *words = (int *)environment;
    const int expected[] = {
        -1, -1, -1, 0, 0, (int)sysconf(_SC_PAGESIZE), 126, 0, 2, 2, (int)getpid(),
    };
    for (int place = 0; place < 11; place++) {
        if (words[place] != expected[place]) return 0;
    }
    words[10] = number;
    return 1;
}

// The number of the page behind the last one that a write transaction has taken; 0 when unknown.
//
// `MDB_txn` is private to LMDB. So this checks that the words around the number in LMDB 0.9 (`mdb.c`,
// `struct MDB_txn`) are what is known of them: no parent, no child, the number of the transaction and its
// environment.
static inline size_t daybook_next_page(MDB_txn *transaction) {
    const size_t *words = (const size_t *)transaction;
    if (words[0] != 0 || words[1] != 0 || words[3] != mdb_txn_id(transaction)
        || words[4] != (size_t)mdb_txn_env(transaction)) {
        return 0;
    }
    return words[2];
}

// The bytes that a user may still write to the file system of an open file; -1 when unknown.
static inline long long daybook_room(int descriptor) {
    struct statvfs found;
    if (fstatvfs(descriptor, &found) != 0) {
        return -1;
    }
    long long room = (long long)found.f_bavail * (long long)found.f_frsize;
    // A limit on the length of files (setrlimit) has the same effect as a full disk.
    struct rlimit limit;
    struct stat file;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY
        && fstat(descriptor, &file) == 0) {
        long long left = (long long)limit.rlim_cur - (long long)file.st_size;
        if (left < room) room = left < 0 ? 0 : left;
    }
    return room;
}
