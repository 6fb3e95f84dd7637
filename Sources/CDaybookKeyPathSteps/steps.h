// The steps of a Swift key path, read where the runtime keeps them (stdlib/public/core/KeyPath.swift
// and docs/ABI/KeyPaths.md in the repository of the language). Two key paths are equal in the language
// only if they start at the same class, so `\Employee.name` does not equal `\Person.name` where Person
// declares the name; and the language has no API for the steps of `\Employee.department?.name`.
// Foundation looks into key paths in the same way (KeyPath+Inspection.swift) for its predicates.

#ifndef KEY_PATH_STEPS_H
#define KEY_PATH_STEPS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum key_path_step_kind {
    // A field of a struct. Its offset identifies it.
    key_path_step_field = 1,
    // A property with a getter. The getter itself identifies it.
    key_path_step_computed = 2,
    // `?` or `!`, or the optional made from the value after a `?`.
    key_path_step_optional = 4,
    // Anything else: a stored property of a class.
    key_path_step_other = 0,
    // The bytes are not as expected.
    key_path_step_unreadable = -1
};

struct key_path_step {
    int32_t kind;
    // The kind of identity of a computed property, and the identity; or the offset of a field.
    uint32_t identity_kind;
    uintptr_t identity;
};

static inline uint32_t key_path_u32(const uint8_t *bytes) {
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static inline uintptr_t key_path_word(const uint8_t *bytes) {
    uintptr_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static inline uintptr_t key_path_aligned(uintptr_t offset) {
    const uintptr_t word = sizeof(uintptr_t);
    return (offset + word - 1) / word * word;
}

// Reads the step at `*offset`, 0 for the first, and moves `*offset` to the next one.
//
// Returns false after the last step. An unreadable step is the last one.
static inline bool key_path_next_step(
    const void *key_path, uintptr_t *offset, struct key_path_step *step
) {
    const uintptr_t word = sizeof(uintptr_t);
    // In front: its class, its reference counts, a name for key-value coding.
    const uint8_t *header = (const uint8_t *)key_path + 3 * word;
    const uintptr_t size = key_path_u32(header) & 0x00FFFFFF;
    const uint8_t *steps = header + word;
    uintptr_t at = *offset;

    step->kind = key_path_step_unreadable;
    step->identity_kind = 0;
    step->identity = 0;
    if (at >= size) return false;
    *offset = size;
    if (size - at < 4) return true;
    const uint32_t bits = key_path_u32(steps + at);
    at += 4;
    switch (bits >> 24 & 0x7F) {
    case 1:
    case 3:
        step->kind = (bits >> 24 & 0x7F) == 1 ? key_path_step_field : key_path_step_other;
        step->identity = bits & 0x7FFFFF;
        // A large offset has its own field.
        if (step->identity == 0x7FFFFF) {
            if (size - at < 4) {
                step->kind = key_path_step_unreadable;
                return true;
            }
            step->identity = key_path_u32(steps + at);
            at += 4;
        }
        break;
    case 2:
        at = key_path_aligned(at);
        if (size < at || size - at < 2 * word) return true;
        step->identity_kind = bits & 0x300000;
        step->identity = key_path_word(steps + at);
        // The identity and the getter, and a setter if there is one.
        at += (bits & 0x400000) != 0 ? 3 * word : 2 * word;
        if ((bits & 0x080000) != 0) {
            // The arguments: their size, their functions, and their bytes.
            if (size < at || size - at < 2 * word) return true;
            const uintptr_t arguments = key_path_word(steps + at);
            if (arguments > size) return true;
            at += ((bits & 0x10) != 0 ? 3 * word : 2 * word) + arguments;
        }
        step->kind = key_path_step_computed;
        break;
    case 4:
        step->kind = key_path_step_optional;
        break;
    default:
        return true;
    }
    if (at > size) {
        step->kind = key_path_step_unreadable;
        return true;
    }
    // The type of the value between two steps is between them.
    if (at < size) at = key_path_aligned(at) + word;
    *offset = at < size ? at : size;
    return true;
}

#endif
