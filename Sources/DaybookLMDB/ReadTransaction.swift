/// The state of the file when the transaction began.
///
/// It lives for one call of ``Environment/read(_:)`` and never longer: a long-lived reader prevents
/// LMDB from reusing free pages, and the file grows.
package struct ReadTransaction: ~Copyable, Reading {
    let access: TransactionAccess

    init(_ access: TransactionAccess) {
        self.access = access
    }

    package func get<R>(
        _ table: Table, _ key: RawSpan, _ body: (_ value: RawSpan) throws -> R
    ) throws -> R? {
        try access.get(table, key, body)
    }

    package func contains(_ table: Table, _ key: RawSpan) throws -> Bool {
        try access.get(table, key) { _ in true } ?? false
    }

    package func count(_ table: Table) throws -> Int {
        try access.count(table)
    }

    package func seek<R>(
        _ table: Table, atOrAfter key: RawSpan,
        _ body: (_ key: RawSpan, _ value: RawSpan) throws -> R
    ) throws -> R? {
        try access.seek(table, atOrAfter: key, body)
    }

    package func seek<R>(
        _ table: Table, before key: RawSpan?,
        _ body: (_ key: RawSpan, _ value: RawSpan) throws -> R
    ) throws -> R? {
        try access.seek(table, before: key, body)
    }

    package func scan(
        _ table: Table, from lower: RawSpan, to upper: RawSpan?, order: ScanOrder,
        _ body: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
    ) throws {
        try access.scan(table, from: lower, to: upper, order: order, body)
    }
}
