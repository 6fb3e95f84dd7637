// Counts a program's calls to the C library, the disk and libcrypto by interposing the functions.
// Only a counting program links it: the calls of others are not affected.

#ifndef CALL_COUNTS_H
#define CALL_COUNTS_H

#include <stdint.h>

struct call_counts {
    // Calls that allocate memory; one that makes a block larger is one, too.
    uint64_t allocations;
    // Bytes that these calls have allocated, freed since or not.
    uint64_t allocated_bytes;
    // Bytes allocated now, with the allocator's overhead for each block.
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

// Whether counting works: not with another C library, nor under a sanitizer, which interposes the
// same functions.
int call_counts_are_kept(void);

// The counts since the program began, of all its threads.
struct call_counts call_counts_now(void);

#endif
