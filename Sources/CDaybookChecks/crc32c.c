#include "CDaybookChecks.h"

#include <string.h>

// The remainders of the sixteen values of four bits, by the reversed polynomial 0x82F63B78.
static const uint32_t remainders[16] = {
    0x00000000, 0x105EC76F, 0x20BD8EDE, 0x30E349B1, 0x417B1DBC, 0x5125DAD3,
    0x61C69362, 0x7198540D, 0x82F63B78, 0x92A8FC17, 0xA24BB5A6, 0xB21572C9,
    0xC38D26C4, 0xD3D3E1AB, 0xE330A81A, 0xF36E6F75,
};

uint32_t daybook_crc32c_plain(uint32_t crc, const void *bytes, size_t count) {
    const unsigned char *next = bytes;
    crc = ~crc;
    for (; count > 0; count--) {
        crc ^= *next++;
        crc = crc >> 4 ^ remainders[crc & 15];
        crc = crc >> 4 ^ remainders[crc & 15];
    }
    return ~crc;
}

#if defined(__x86_64__)

__attribute__((target("sse4.2"))) static uint32_t
crc32c_by_instruction(uint32_t crc, const unsigned char *next, size_t count) {
    uint64_t wide = (uint32_t)~crc;
    for (; count >= 8; count -= 8, next += 8) {
        uint64_t word;
        memcpy(&word, next, 8);
        wide = __builtin_ia32_crc32di(wide, word);
    }
    uint32_t narrow = (uint32_t)wide;
    if (count & 4) {
        uint32_t word;
        memcpy(&word, next, 4);
        narrow = __builtin_ia32_crc32si(narrow, word);
        next += 4;
    }
    if (count & 2) {
        uint16_t word;
        memcpy(&word, next, 2);
        narrow = __builtin_ia32_crc32hi(narrow, word);
        next += 2;
    }
    if (count & 1) narrow = __builtin_ia32_crc32qi(narrow, *next);
    return ~narrow;
}

static int has_instruction(void) { return __builtin_cpu_supports("sse4.2"); }

#elif defined(__ARM_FEATURE_CRC32)

#include <arm_acle.h>

static uint32_t
crc32c_by_instruction(uint32_t crc, const unsigned char *next, size_t count) {
    crc = ~crc;
    for (; count >= 8; count -= 8, next += 8) {
        uint64_t word;
        memcpy(&word, next, 8);
        crc = __crc32cd(crc, word);
    }
    for (; count > 0; count--) crc = __crc32cb(crc, *next++);
    return ~crc;
}

static int has_instruction(void) { return 1; }

#else

static uint32_t
crc32c_by_instruction(uint32_t crc, const unsigned char *next, size_t count) {
    return daybook_crc32c_plain(crc, next, count);
}

static int has_instruction(void) { return 0; }

#endif

uint32_t daybook_crc32c(uint32_t crc, const void *bytes, size_t count) {
    if (has_instruction()) return crc32c_by_instruction(crc, bytes, count);
    return daybook_crc32c_plain(crc, bytes, count);
}
