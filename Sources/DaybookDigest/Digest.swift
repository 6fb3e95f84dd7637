/// A SHA-256 digest.
public struct Digest: Hashable, Sendable {
    // Four words in the order of the bytes: no storage to allocate, quick to compare.
    private let words: SIMD4<UInt64>

    /// The number of bytes of a digest.
    public static let byteCount = 32

    /// The digest of nothing before the first entry: 32 zero bytes.
    public static let zero = Digest(words: SIMD4(repeating: 0))

    private init(words: SIMD4<UInt64>) {
        self.words = words
    }

    /// A digest from its 32 bytes, or `nil` for another number of bytes.
    public init?(_ bytes: RawSpan) {
        guard bytes.byteCount == Self.byteCount else { return nil }
        self.init(words: bytes.withUnsafeBytes { $0.loadUnaligned(as: SIMD4<UInt64>.self) })
    }

    /// A digest from its 32 bytes, or `nil` for another number of bytes.
    public init?(bytes: [UInt8]) {
        self.init(bytes.span.bytes)
    }

    /// A digest from 64 hexadecimal digits, or `nil` for any other text.
    public init?(hexadecimal: some StringProtocol) {
        let digits = hexadecimal.utf8.map(Self.digitValue)
        guard digits.count == 2 * Self.byteCount, !digits.contains(nil) else { return nil }
        let values = digits.compactMap(\.self)
        self.init(bytes: (0..<Self.byteCount).map { values[2 * $0] << 4 | values[2 * $0 + 1] })
    }

    /// The 32 bytes.
    public var bytes: [UInt8] {
        withBytes { bytes in bytes.withUnsafeBytes { Array($0) } }
    }

    /// The digest as 64 lower-case hexadecimal digits.
    public var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(2 * Self.byteCount)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Calls `body` with the 32 bytes without copying them to the heap.
    public func withBytes<R>(_ body: (RawSpan) throws -> R) rethrows -> R {
        try withUnsafeBytes(of: words) { try body($0.bytes) }
    }

    /// The SHA-256 digest of `bytes`.
    public static func of(_ bytes: RawSpan) -> Digest {
        var hasher = DigestHasher()
        hasher.update(bytes)
        return hasher.finish()
    }

    /// The SHA-256 digest of `bytes`.
    public static func of(_ bytes: [UInt8]) -> Digest {
        of(bytes.span.bytes)
    }

    private static func digitValue(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension Digest: CustomStringConvertible {
    /// The digest in hexadecimal.
    public var description: String { hexadecimal }
}
