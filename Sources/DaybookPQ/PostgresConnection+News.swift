internal import CDaybookPQ

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

extension PostgresConnection {
    /// Waits for notifications of the channels that were listened to.
    ///
    /// - Parameters:
    ///   - wake: Ends the wait as well, if there is one.
    ///   - deadline: When the wait ends without any.
    /// - Returns: The payloads of those that have come; none after a call or at the deadline.
    /// - Throws: ``PostgresError`` with ``PostgresError/Code/unreachable`` when the connection is lost.
    package func waitForNotifications(
        orFor wake: Wake?, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) -> [String] {
        try LibraryUse.begin()
        defer { LibraryUse.finish() }
        // Some may have come with the answer to a statement.
        let earlier = try takeNotifications()
        if !earlier.isEmpty { return earlier }
        var files = [PQsocket(try open()), wake?.readEnd ?? -1].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        guard waitForFiles(&files, until: deadline) else { return [] }
        if files[1].revents != 0 { wake?.clear() }
        guard files[0].revents != 0 else { return [] }
        guard PQconsumeInput(try open()) == 1 else { throw fail(PostgresError(of: try open())) }
        return try takeNotifications()
    }

    private func takeNotifications() throws(PostgresError) -> [String] {
        var payloads: [String] = []
        while let notification = PQnotifies(try open()) {
            defer { PQfreemem(notification) }
            payloads.append(notification.pointee.extra.map { String(cString: $0) } ?? "")
        }
        return payloads
    }
}
