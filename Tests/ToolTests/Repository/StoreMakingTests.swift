import DaybookTestSupport
import Foundation
import Testing

/// Where tests get their stores from.
@Suite struct StoreMakingTests {
    /// The targets whose tests can be run with stores of another kind.
    private static let targets = [
        "DaybookAuditTests", "ObjectGraphTests", "SimulationTests", "SnapshotStoreTests",
    ]

    /// Files that make stores themselves, and why.
    private static let exceptions = [
        "ObjectGraphTests/Stores/InMemoryTests.swift":
            "It asks for a store in memory in folders that cannot hold one."
    ]

    private static let made = [
        ("PersistentContainer(", "TestContainer.make"),
        ("PersistentContainer.init", "TestContainer.make"),
        ("Store.create(", "TestStore"), ("Store.createInMemory(", "TestStore"),
        ("Store.open(", "TestStore"),
    ]

    /// What makes a store in a line of a test, if anything does, and what makes it instead.
    private static func remedy(in line: some StringProtocol) -> String? {
        let code = String(line.drop { $0 == " " })
        guard !code.hasPrefix("//") else { return nil }
        return made.first { text, _ in
            // The names of what makes them instead end like these.
            code.ranges(of: text).contains { range in
                !code[..<range.lowerBound].hasSuffix("Test")
            }
        }?.1
    }

    @Test func `tests get their stores from test support`() throws {
        let tests = Fixture.folder.deletingLastPathComponent().appendingPathComponent("Tests")
        var used: Set<String> = []
        var seen = 0
        for target in Self.targets {
            let folder = tests.appendingPathComponent(target)
            let files = try #require(FileManager.default.enumerator(atPath: folder.path))
            for case let file as String in files where file.hasSuffix(".swift") {
                let path = "\(target)/\(file)"
                let text = try String(
                    contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
                seen += 1
                guard Self.made.contains(where: { text.contains($0.0) }) else { continue }
                for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false)
                    .enumerated()
                {
                    guard let remedy = Self.remedy(in: line) else { continue }
                    used.insert(path)
                    guard Self.exceptions[path] == nil else { continue }
                    Issue.record(
                        "Tests/\(path):\(number + 1) makes a store itself. Take it from '\(remedy)'."
                    )
                }
            }
        }

        #expect(seen > 100)
        #expect(used.isSuperset(of: Self.exceptions.keys), "An exception is not needed any more.")
    }

    @Test(
        arguments: [
            ("        let store = try Store.open(at: path)", "TestStore"),
            ("let copy = try Store.create(", "TestStore"),
            ("return PersistentContainer(url, model: staff)", "TestContainer.make"),
            ("let made = try [url].map(PersistentContainer.init)", "TestContainer.make"),
            ("let store = try TestStore.open(at: path)", nil),
            ("    // As Store.open(at:) does.", nil),
            ("#expect(try Store.verify(at: path).isEmpty)", nil),
            ("let container: PersistentContainer", nil),
        ] as [(String, String?)])
    func `what makes a store is found in a line`(_ line: String, _ remedy: String?) {
        #expect(Self.remedy(in: line) == remedy)
    }
}
