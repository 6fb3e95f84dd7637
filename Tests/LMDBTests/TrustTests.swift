import DaybookLMDB
import DaybookTestSupport
import Foundation
import Synchronization
import Testing

/// Before the first write somebody must have made sure of the pages. Exit tests are the other process.
@Suite(.serialized)
struct TrustTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path("file")
        let environment = try Self.open(path)
        for number in 0..<400 { try Self.put(environment, "key \(number)") }
    }

    private static func open(_ path: String, isUntrusted: Bool = false) throws -> Environment {
        var options = EnvironmentOptions(tables: ["a"], durability: .relaxed)
        options.isUntrusted = isUntrusted
        return try Environment.open(at: path, options: options)
    }

    private static func put(_ environment: Environment, _ key: String) throws {
        let table = try environment.table("a")
        try environment.write { transaction in
            try transaction.put(table, key.bytes.span.bytes, key.bytes.span.bytes, .upsert)
        }
    }

    /// Makes the leaf of one key say it is another page, and older ones of it that are free by now.
    ///
    /// - Returns: The pages.
    private func damageLeaf() throws -> [UInt64] {
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        var leaves: [UInt64] = []
        for page in 2..<bytes.count / 4_096 where bytes[page * 4_096 + 10] == 2 {
            let start = page * 4_096
            guard bytes[start..<start + 4_096].contains("key 399".bytes) else { continue }
            bytes[start + 1] = 0x77
            leaves.append(UInt64(page))
        }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        return leaves
    }

    /// Commits in another process that ends without closing the file.
    private func writeAndEndSuddenly() async {
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let environment = try Self.open(path)
            try Self.put(environment, "sudden")
            _ = kill(getpid(), SIGKILL)
        }
    }

    @Test func `a file that was closed in order is written without a check`() throws {
        let leaves = try damageLeaf()
        let findings = try PageCheck.run(path: path)
        #expect(findings.contains { $0.page.map(leaves.contains) == true })

        // The damage is not on the way to this key.
        try Self.put(try Self.open(path), "a")
    }

    @Test func `a damaged file from elsewhere is not written to, and its page is named`() throws {
        let leaves = try damageLeaf()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let environment = try Self.open(path, isUntrusted: true)

        for _ in 0..<2 {
            let error = #expect(throws: LMDBError.self) { try Self.put(environment, "a") }

            #expect(error?.code == .corrupt)
            let message = error?.message ?? ""
            #expect(leaves.contains { message.contains("is written to it. Page \($0) of 'a': ") })
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
    }

    @Test func `a sound file from elsewhere is written to`() throws {
        let environment = try Self.open(path, isUntrusted: true)

        try Self.put(environment, "a")

        let table = try environment.table("a")
        #expect(try environment.read { try $0.contains(table, "a".bytes.span.bytes) })
    }

    @Test func `who asks is told how far the check has come`() throws {
        let environment = try Self.open(path)
        let table = try environment.table("a")
        try environment.write { transaction in
            let value = Array(repeating: UInt8(1), count: 10_000)
            for number in 0..<1_000 {
                let key = "long \(number)".bytes
                try transaction.put(table, key.span.bytes, value.span.bytes, .upsert)
            }
        }
        let heard = Mutex<[[Int]]>([])
        var options = EnvironmentOptions(tables: ["a"], durability: .relaxed)
        options.checking = { done, total in heard.withLock { $0.append([done, total]) } }
        let again = try Environment.open(at: path, options: options)

        // This process has written to the file and so made sure of it.
        try Self.put(again, "b")
        #expect(heard.withLock { $0 } == [])

        options.isUntrusted = true
        let untrusted = try Environment.open(at: path, options: options)
        try Self.put(untrusted, "c")

        let reports = heard.withLock { $0 }
        let pages = try #require(reports.last?.last)
        // Each of the long values takes three pages.
        #expect(pages > 3_000)
        #expect(reports.count >= 3)
        #expect(reports.last == [pages, pages])
        #expect(reports.allSatisfy { $0[1] == pages })
        #expect(reports.map { $0[0] } == reports.map { $0[0] }.sorted())
        withExtendedLifetime((environment, again)) {}
    }

    @Test func `a file that was not closed in order is checked before it is written to`()
        async throws
    {
        await writeAndEndSuddenly()
        _ = try damageLeaf()
        let environment = try Self.open(path)

        let error = #expect(throws: LMDBError.self) { try Self.put(environment, "a") }

        #expect(error?.code == .corrupt)
    }

    @Test func `a sound file that was not closed in order is written to and closed in order`()
        async throws
    {
        await writeAndEndSuddenly()
        try Self.put(try Self.open(path), "a")
        _ = try damageLeaf()

        // Checked no more.
        try Self.put(try Self.open(path), "b")
    }

    @Test func `whoever comes while another writes does not check again`() async throws {
        await writeAndEndSuddenly()
        let environment = try Self.open(path)
        try Self.put(environment, "a")

        await #expect(processExitsWith: .success) { [path = path as String] in
            let environment = try Self.open(path)
            try Self.put(environment, "b")
        }
        withExtendedLifetime(environment) {}
    }

    @Test func `a damaged file is not compacted`() throws {
        _ = try damageLeaf()
        let environment = try Self.open(path)
        let copy = directory.path("copy")

        let error = #expect(throws: LMDBError.self) {
            try environment.copy(to: copy, compacting: true)
        }

        #expect(error?.code == .corrupt)
        #expect(!FileManager.default.fileExists(atPath: copy))
    }
}
