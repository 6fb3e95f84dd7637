internal import CDaybookCrypto
import DaybookStopping

extension Digest {
    /// The keyed digest (HMAC-SHA-256, RFC 2104) of some bytes, with libcrypto. Without the key the
    /// bytes cannot be found by trying, however few they are.
    package static func keyed(by key: [UInt8], of bytes: [UInt8]) -> Digest {
        var words = SIMD4<UInt64>(repeating: 0)
        withUnsafeMutableBytes(of: &words) { buffer in
            let result = HMAC(
                EVP_sha256(), key, Int32(clamping: key.count), bytes, bytes.count,
                buffer.baseAddress?.assumingMemoryBound(to: UInt8.self), nil)
            require(result != nil, "libcrypto could not compute a keyed digest.")
        }
        guard let digest = withUnsafeBytes(of: words, { Digest($0.bytes) }) else {
            stop("A SHA-256 digest has 32 bytes.")
        }
        return digest
    }
}
