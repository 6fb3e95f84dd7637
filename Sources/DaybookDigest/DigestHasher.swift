internal import CDaybookCrypto
import DaybookStopping

/// Computes a SHA-256 digest piece by piece, with libcrypto. All pointers to it are in this file.
package struct DigestHasher: ~Copyable {
    private let context: OpaquePointer

    /// A hasher that has seen nothing.
    package init() {
        context = Self.makeContext()
        Self.check(EVP_DigestInit_ex(context, Self.algorithm.pointer, nil))
    }

    deinit {
        EVP_MD_CTX_free(context)
    }

    /// Adds the next piece.
    package mutating func update(_ bytes: RawSpan) {
        bytes.withUnsafeBytes { buffer in
            guard let start = buffer.baseAddress else { return }
            Self.check(EVP_DigestUpdate(context, start, buffer.count))
        }
    }

    /// Adds one byte.
    package mutating func update(_ byte: UInt8) {
        withUnsafeBytes(of: byte) { update($0.bytes) }
    }

    /// The digest of all pieces so far; then the hasher is empty again.
    package mutating func finish() -> Digest {
        var words = SIMD4<UInt64>(repeating: 0)
        withUnsafeMutableBytes(of: &words) { buffer in
            let start = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
            Self.check(EVP_DigestFinal_ex(context, start, nil))
        }
        Self.check(EVP_DigestInit_ex(context, Self.algorithm.pointer, nil))
        guard let digest = withUnsafeBytes(of: words, { Digest($0.bytes) }) else {
            stop("A SHA-256 digest has 32 bytes.")
        }
        return digest
    }

    private static func makeContext() -> OpaquePointer {
        guard let made = EVP_MD_CTX_new() else {
            stop("No memory is left for a digest.")
        }
        return made
    }

    private static func check(_ result: Int32) {
        require(result == 1, "libcrypto could not compute a SHA-256 digest.")
    }

    // @unchecked Sendable because libcrypto's algorithm objects are never changed once fetched.
    private struct Algorithm: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    /// Fetched once: a fetch for each use costs more than a short digest.
    private static let algorithm: Algorithm = {
        guard let fetched = EVP_MD_fetch(nil, "SHA256", nil) else {
            stop("libcrypto has no SHA-256.")
        }
        return Algorithm(pointer: fetched)
    }()
}
