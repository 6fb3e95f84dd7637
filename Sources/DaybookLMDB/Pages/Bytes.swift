internal import CDaybookLMDB
internal import Foundation

// The door between `RawSpan` and LMDB's pointer-and-length pairs. Nothing else converts them.

extension RawSpan {
    /// Calls `body` with an `MDB_val` over these bytes, valid until `body` returns.
    @inline(__always)
    func withValue<R, E: Error>(_ body: (inout MDB_val) throws(E) -> R) throws(E) -> R {
        try withUnsafeBytes { buffer throws(E) in
            var value = MDB_val(
                mv_size: buffer.count,
                mv_data: UnsafeMutableRawPointer(mutating: buffer.baseAddress))
            return try body(&value)
        }
    }
}

extension MDB_val {
    /// The bytes LMDB points to. The caller must not let the pointer outlive its transaction.
    @inline(__always)
    var buffer: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: mv_data, count: mv_size)
    }

    static var empty: MDB_val { MDB_val(mv_size: 0, mv_data: nil) }
}

/// Compares as LMDB does: byte by byte, a prefix before longer keys.
@inline(__always)
func compareBytes(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
    let shared = Swift.min(left.count, right.count)
    if shared > 0, let leftStart = left.baseAddress, let rightStart = right.baseAddress {
        let order = memcmp(leftStart, rightStart, shared)
        if order != 0 { return Int(order) }
    }
    return left.count - right.count
}
