import CDaybookLMDB

/// Bytes that are written as C would write them.
struct ByteBuffer {
    private(set) var start: UnsafeMutableRawPointer
    private(set) var count = 0
    private var capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
        start = .allocate(byteCount: capacity, alignment: 16)
    }

    var value: MDB_val { MDB_val(mv_size: count, mv_data: start) }

    mutating func removeAll() {
        count = 0
    }

    mutating func append<Number: FixedWidthInteger>(_ number: Number) {
        reserve(MemoryLayout<Number>.size)
        start.storeBytes(of: number.bigEndian, toByteOffset: count, as: Number.self)
        count += MemoryLayout<Number>.size
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress else { return }
        reserve(bytes.count)
        (start + count).copyMemory(from: source, byteCount: bytes.count)
        count += bytes.count
    }

    mutating func append(_ other: ByteBuffer, from lower: Int, to upper: Int? = nil) {
        let end = upper ?? other.count
        append(UnsafeRawBufferPointer(start: other.start + lower, count: end - lower))
    }

    mutating func set(_ value: MDB_val) {
        removeAll()
        append(UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size))
    }

    mutating func overwrite(_ number: UInt64) {
        start.storeBytes(of: number.bigEndian, as: UInt64.self)
    }

    func release() {
        start.deallocate()
    }

    private mutating func reserve(_ more: Int) {
        guard count + more > capacity else { return }
        let larger = max(capacity * 2, count + more)
        let moved = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
        moved.copyMemory(from: start, byteCount: count)
        start.deallocate()
        start = moved
        capacity = larger
    }
}
