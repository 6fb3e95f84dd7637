internal import CDaybookCrypto
import DaybookStopping

/// Ed25519 signatures, with libcrypto. All pointers to it are in this file.
enum Ed25519 {
    /// The number of bytes of a seed and of a public key.
    static let keyBytes = 32
    /// The number of bytes of a signature.
    static let signatureBytes = 64

    /// The public key of a seed; nil for a seed that is not one.
    static func publicKey(ofSeed seed: [UInt8]) -> [UInt8]? {
        withKey(seed, isPrivate: true) { key in
            var bytes = [UInt8](repeating: 0, count: keyBytes)
            var count = keyBytes
            let result = EVP_PKEY_get_raw_public_key(key, &bytes, &count)
            return result == 1 && count == keyBytes ? bytes : nil
        }
    }

    /// A signature of a message; nil when libcrypto refuses the seed.
    static func signature(of message: [UInt8], seed: [UInt8]) -> [UInt8]? {
        withKey(seed, isPrivate: true) { key in
            withContext { context in
                guard EVP_DigestSignInit(context, nil, nil, nil, key) == 1 else { return nil }
                var signature = [UInt8](repeating: 0, count: signatureBytes)
                var count = signatureBytes
                let result = EVP_DigestSign(context, &signature, &count, message, message.count)
                return result == 1 && count == signatureBytes ? signature : nil
            }
        }
    }

    /// Whether a signature of a message was made with the seed of a public key.
    static func isValid(
        _ signature: [UInt8], of message: [UInt8], publicKey: [UInt8]
    ) -> Bool {
        guard signature.count == signatureBytes else { return false }
        return withKey(publicKey, isPrivate: false) { key in
            withContext { context in
                guard EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1 else { return nil }
                let result = EVP_DigestVerify(
                    context, signature, signature.count, message, message.count)
                return result == 1
            }
        } ?? false
    }

    private static func withKey<Result>(
        _ bytes: [UInt8], isPrivate: Bool, _ body: (OpaquePointer) -> Result?
    ) -> Result? {
        guard bytes.count == keyBytes else { return nil }
        let made =
            isPrivate
            ? EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, bytes, bytes.count)
            : EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, bytes, bytes.count)
        guard let key = made else { return nil }
        defer { EVP_PKEY_free(key) }
        return body(key)
    }

    private static func withContext<Result>(_ body: (OpaquePointer) -> Result?) -> Result? {
        guard let context = EVP_MD_CTX_new() else {
            stop("No memory is left for a signature.")
        }
        defer { EVP_MD_CTX_free(context) }
        return body(context)
    }
}
