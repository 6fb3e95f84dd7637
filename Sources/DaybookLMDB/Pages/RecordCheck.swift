internal import CDaybookChecks
internal import CDaybookLMDB

/// The check that a record carries: four bytes at the end of its value, little-endian, which follow from
/// the table's name, the key and the value.
///
/// It is their CRC-32C: every change of up to 32 bits in a row is found, and of other changes all
/// but one in 2³². It finds damage, not a record that was changed on purpose.
struct RecordCheck: Sendable, Hashable {
    /// The fault of a record whose check does not fit.
    static let fault = "the check of a record does not fit its key and value"

    /// The number of its bytes.
    static let size = 4

    /// The check of the table's name, so that a record of another table does not pass.
    private let start: UInt32

    /// The check of the records of a table.
    init(table name: String) {
        start = Array(name.utf8).withUnsafeBytes { Self.extend(0, by: $0) }
    }

    /// The four bytes of a record, as a number.
    @inline(__always)
    func number(
        of key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) -> UInt32 {
        Self.extend(Self.extend(start, by: key), by: value)
    }

    /// The value of a record without its check; nil when the check does not fit.
    @inline(__always)
    func value(
        of key: UnsafeRawBufferPointer, stored: UnsafeRawBufferPointer
    ) -> UnsafeRawBufferPointer? {
        guard let value = value(in: stored), let begin = value.baseAddress else { return nil }
        return begin.number(at: value.count, as: UInt32.self) == number(of: key, value)
            ? value : nil
    }

    /// The value of a record without its check, which is not looked at; nil when there is none.
    @inline(__always)
    func value(in stored: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        let count = stored.count - Self.size
        guard count >= 0, let begin = stored.baseAddress else { return nil }
        return UnsafeRawBufferPointer(start: begin, count: count)
    }

    @inline(__always)
    private static func extend(_ crc: UInt32, by bytes: UnsafeRawBufferPointer) -> UInt32 {
        daybook_crc32c(crc, bytes.baseAddress, bytes.count)
    }
}

extension Table {
    /// How many bytes the check of a record has; 0 where the records carry none.
    package var checkSize: Int { check == nil ? 0 : RecordCheck.size }

    /// Whether the check of a record fits, which was read without looking at it.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - stored: The value with the check, as ``unchecked`` reads it.
    /// - Returns: Whether a read of this table would hand the record out.
    package func accepts(_ key: RawSpan, stored: RawSpan) -> Bool {
        guard let check else { return true }
        return key.withUnsafeBytes { key in
            stored.withUnsafeBytes { check.value(of: key, stored: $0) != nil }
        }
    }

    /// The value of a record that LMDB has found, without its check.
    ///
    /// - Throws: ``LMDBError`` with ``LMDBError/Code/corrupt`` when the check does not fit.
    @inline(__always)
    func value(
        of key: UnsafeRawBufferPointer, stored: UnsafeRawBufferPointer
    ) throws(LMDBError) -> UnsafeRawBufferPointer {
        guard let check else { return stored }
        guard let value = check.value(of: key, stored: stored) else {
            throw .damaged(PageFault(page: nil, what: RecordCheck.fault), in: name)
        }
        return value
    }

    /// Calls LMDB to write a record, with its check.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - value: The value without its check.
    ///   - flags: How to write it.
    ///   - put: Calls LMDB with a key, a value and flags.
    /// - Returns: LMDB's status.
    @inline(__always)
    func write(
        _ key: RawSpan, _ value: RawSpan, _ flags: UInt32,
        _ put: (inout MDB_val, inout MDB_val, UInt32) -> Int32
    ) -> Int32 {
        key.withValue { keyValue in
            value.withValue { valueValue in
                guard let check else { return put(&keyValue, &valueValue, flags) }
                let bytes = valueValue.buffer
                // LMDB makes the room, so that the record is put together in its page.
                var room = MDB_val(mv_size: bytes.count + RecordCheck.size, mv_data: nil)
                let status = put(&keyValue, &room, flags | UInt32(MDB_RESERVE))
                guard status == MDB_SUCCESS, let start = room.mv_data else { return status }
                if let from = bytes.baseAddress {
                    start.copyMemory(from: from, byteCount: bytes.count)
                }
                start.storeBytes(
                    of: check.number(of: keyValue.buffer, bytes).littleEndian,
                    toByteOffset: bytes.count, as: UInt32.self)
                return status
            }
        }
    }
}
