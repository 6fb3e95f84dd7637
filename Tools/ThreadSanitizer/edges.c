// Tells Thread Sanitizer of the order that locks, semaphores and queues of uninstrumented libraries
// make. Without it, every value behind a contended lock looks like a race.
//
// Loaded before the libraries it stands in front of, and only by Tools/thread-sanitizer. Nothing is
// hidden: each function does what the one behind it does and adds the edge that one guarantees.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

void __tsan_acquire(void *address);
void __tsan_release(void *address);

typedef void (^Block)(void);

void *_Block_copy(const void *block);
void _Block_release(const void *block);

static void *behind(const char *name) {
    void *symbol = dlsym(RTLD_NEXT, name);
    if (!symbol) abort();
    return symbol;
}

#define BEHIND(name)                                                                               \
    static __typeof__(&name) real;                                                                 \
    if (!real) real = (__typeof__(&name))behind(#name)

// Synchronization.Mutex: the fast paths are inlined and seen; these are the contended ones.

#define LOCK $s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF
#define UNLOCK $s15Synchronization12_MutexHandleV11_unlockSlowyyF
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self

#define BEHIND_SWIFT(name, text)                                                                   \
    static __typeof__(&name) real;                                                                 \
    if (!real) real = (__typeof__(&name))behind(text)

SWIFT void LOCK(uint32_t thread, SELF) {
    BEHIND_SWIFT(LOCK, "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
    real(thread, self);
    __tsan_acquire(self);
}

SWIFT void UNLOCK(SELF) {
    BEHIND_SWIFT(UNLOCK, "$s15Synchronization12_MutexHandleV11_unlockSlowyyF");
    __tsan_release(self);
    real(self);
}

// Dispatch: a semaphore's signal comes before the wait it ends.

long dispatch_semaphore_signal(void *semaphore) {
    BEHIND(dispatch_semaphore_signal);
    __tsan_release(semaphore);
    return real(semaphore);
}

long dispatch_semaphore_wait(void *semaphore, uint64_t timeout) {
    BEHIND(dispatch_semaphore_wait);
    long result = real(semaphore, timeout);
    if (result == 0) __tsan_acquire(semaphore);
    return result;
}

// Dispatch: what was done before a block was handed over comes before the block, and the blocks of a
// serial queue come one after the other. Blocks of concurrent queues share no order that is kept here.

extern const char *dispatch_queue_get_label(void *queue);

static int is_serial(void *queue) {
    const char *label = dispatch_queue_get_label(queue);
    return label && __builtin_strncmp(label, "Daybook.", 8) == 0;
}

static Block ordered(void *queue, Block block) {
    char *order = malloc(1);
    int serial = is_serial(queue);
    __tsan_release(order);
    return (Block)_Block_copy(^{
      __tsan_acquire(order);
      free(order);
      if (serial) __tsan_acquire(queue);
      block();
      if (serial) __tsan_release(queue);
    });
}

void dispatch_async(void *queue, Block block) {
    BEHIND(dispatch_async);
    Block inner = ordered(queue, block);
    real(queue, inner);
    _Block_release(inner);
}

void dispatch_sync(void *queue, Block block) {
    BEHIND(dispatch_sync);
    char done_byte;
    char *done = &done_byte;
    Block inner = ordered(queue, block);
    real(queue, ^{
      inner();
      __tsan_release(done);
    });
    _Block_release(inner);
    __tsan_acquire(done);
}

// Dispatch: what is in a group comes before the wait for it.

void dispatch_group_leave(void *group) {
    BEHIND(dispatch_group_leave);
    __tsan_release(group);
    real(group);
}

void dispatch_group_async(void *group, void *queue, Block block) {
    BEHIND(dispatch_group_async);
    Block inner = ordered(queue, block);
    real(group, queue, ^{
      inner();
      __tsan_release(group);
    });
    _Block_release(inner);
}

long dispatch_group_wait(void *group, uint64_t timeout) {
    BEHIND(dispatch_group_wait);
    long result = real(group, timeout);
    if (result == 0) __tsan_acquire(group);
    return result;
}

// Dispatch: the rounds of concurrentPerform come after the call begins and before it ends.

void dispatch_apply(size_t count, void *queue, void (^block)(size_t)) {
    BEHIND(dispatch_apply);
    char begin, end;
    char *begin_address = &begin, *end_address = &end;
    __tsan_release(begin_address);
    real(count, queue, ^(size_t round) {
      __tsan_acquire(begin_address);
      block(round);
      __tsan_release(end_address);
    });
    __tsan_acquire(end_address);
}
