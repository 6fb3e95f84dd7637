#include <lmdb.h>
#include <pthread.h>

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
