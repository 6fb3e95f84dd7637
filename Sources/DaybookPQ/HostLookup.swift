internal import Dispatch
internal import Foundation
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Looks up the addresses of hosts, on threads of its own.
///
/// libpq looks a name up in the middle of a call, and waits for name servers as long as the system does. Here nobody
/// waits beyond a deadline. A lookup that goes on is joined by whoever asks next, so there is one thread for a name.
package final class HostLookup: Sendable {
    /// The lookups of this process.
    static let shared = HostLookup(by: systemAddresses)

    /// Answers addresses, or why there are none.
    package typealias Resolver = @Sendable (_ host: String) -> Result<[String], PostgresError>

    private final class Answer: Sendable {
        let addresses = Mutex<Result<[String], PostgresError>?>(nil)
        let isUnderWay = DispatchGroup()
    }

    private let resolver: Resolver
    private let underWay = Mutex<[String: Answer]>([:])

    /// Looks hosts up in a way of its own.
    ///
    /// - Parameter resolver: Looks one up, however long that takes.
    package init(by resolver: @escaping Resolver) {
        self.resolver = resolver
    }

    /// The addresses of a host.
    ///
    /// - Parameters:
    ///   - host: Its name.
    ///   - deadline: When to give up.
    /// - Returns: At least one.
    /// - Throws: ``PostgresError`` with ``PostgresError/Code/unreachable`` when it has none, and with
    ///   ``PostgresError/Code/late``.
    package func addresses(
        of host: String, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) -> [String] {
        let answer = begin(host)
        let left = max(ContinuousClock.now.duration(to: deadline), .zero)
        let milliseconds = min(left / .milliseconds(1), 1e9)
        guard
            answer.isUnderWay.wait(timeout: .now() + .milliseconds(Int(milliseconds))) == .success,
            let result = answer.addresses.withLock(\.self)
        else {
            throw PostgresError(
                .late,
                "The address of the server '\(host)' was not found in time: do name servers answer?"
            )
        }
        return try result.get()
    }

    private func begin(_ host: String) -> Answer {
        underWay.withLock { lookups in
            if let answer = lookups[host] { return answer }
            let answer = Answer()
            lookups[host] = answer
            answer.isUnderWay.enter()
            Thread.detachNewThread { [self] in
                let result = resolver(host)
                answer.addresses.withLock { $0 = result }
                underWay.withLock { $0[host] = nil }
                answer.isUnderWay.leave()
            }
            return answer
        }
    }

    private static let systemAddresses: Resolver = { host in
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        #if canImport(Glibc)
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
        hints.ai_socktype = SOCK_STREAM
        #endif
        var first: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, nil, &hints, &first)
        defer { if let first { freeaddrinfo(first) } }
        var addresses: [String] = []
        var next = first
        while let one = next?.pointee {
            if let text = numeric(one), !addresses.contains(text) { addresses.append(text) }
            next = one.ai_next
        }
        guard addresses.isEmpty else { return .success(addresses) }
        let reason = status == 0 ? "it has none" : String(cString: gai_strerror(status))
        return .failure(
            PostgresError(
                .unreachable, "The address of the server '\(host)' was not found: \(reason)"))
    }

    private static func numeric(_ address: addrinfo) -> String? {
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let status = getnameinfo(
            address.ai_addr, address.ai_addrlen, &text, socklen_t(text.count), nil, 0,
            NI_NUMERICHOST)
        guard status == 0 else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

extension ServerPlace {
    /// Whether libpq would have to look its host up.
    var hasName: Bool {
        guard address.isEmpty, !host.isEmpty, !host.hasPrefix("/"), !host.hasPrefix("@") else {
            return false
        }
        var bytes = in6_addr()
        return inet_pton(AF_INET, host, &bytes) != 1 && inet_pton(AF_INET6, host, &bytes) != 1
    }
}
