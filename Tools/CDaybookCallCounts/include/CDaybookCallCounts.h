// Counts what a program asks of the C library, the disk and libcrypto, by standing in front of the
// functions. Only a program that counts links it: everybody else's calls go straight through.

#ifndef CALL_COUNTS_H
#define CALL_COUNTS_H

#include <stdint.h>

struct call_counts {
    // Calls that allocate memory; one that makes a block larger is one, too.
    uint64_t allocations;
    // Bytes that are allocated now, with what the allocator adds to each block.
    int64_t live_bytes;
    // Calls that write to a file, and the bytes they wrote.
    uint64_t writes;
    uint64_t written_bytes;
    // Calls that wait until a file is on the disk.
    uint64_t syncs;
    // Digests that were finished, and the bytes that went into digests.
    uint64_t digests;
    uint64_t digested_bytes;
};

// Whether anything is counted: not where the C library is another, nor under a sanitizer, which
// stands in front of the same functions.
int call_counts_are_kept(void);

// The counts since the program began, of all its threads.
struct call_counts call_counts_now(void);

#endif
