#ifndef CDAYBOOK_CHECKS_H
#define CDAYBOOK_CHECKS_H

#include <stddef.h>
#include <stdint.h>

/// Extends a CRC-32C (Castagnoli; RFC 3720, 12.1) by some bytes. That of no bytes is 0.
///
/// It uses the processor's instruction where there is one.
uint32_t daybook_crc32c(uint32_t crc, const void *bytes, size_t count);

/// The same without the processor's instruction, for tests.
uint32_t daybook_crc32c_plain(uint32_t crc, const void *bytes, size_t count);

/// Has the processor fetch the bytes at an address, which will be read soon. The address may be any.
static inline void daybook_prefetch(const void *bytes) {
    __builtin_prefetch(bytes);
}

#endif
