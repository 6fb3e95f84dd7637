import DaybookObjectModel
import DaybookSnapshotStore
import Foundation
import Testing

/// The numbers of errors against the table of the documentation.
@Suite struct ErrorNumberTests {
    private static let page = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .appendingPathComponent("Sources/Daybook/Daybook.docc/Errors.md")

    /// The numbers in the table, by the last part of the symbol.
    private static func documented(_ symbol: String) throws -> [String: Int] {
        let text = try String(contentsOf: page, encoding: .utf8)
        let section = try #require(text.components(separatedBy: "\n## Numbers\n").last)
        var found: [String: Int] = [:]
        for line in section.split(separator: "\n").prefix(while: { !$0.hasPrefix("## ") })
        where line.hasPrefix("|") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            let numbers = cells[0].split(separator: ",").compactMap {
                Int($0.trimmingCharacters(in: .whitespaces))
            }
            let names = cells[1].matches(of: /``(\w+)\/(\w+)\/(\w+)``/)
            for (index, name) in names.enumerated() where name.2 == symbol {
                found[String(name.3)] = numbers.count == names.count ? numbers[index] : numbers[0]
            }
        }
        return found
    }

    @Test func `every code has the number that the documentation gives it, or none`() throws {
        let documented = try Self.documented("Code")

        #expect(documented.count > 15)
        for code in StoreError.Code.all where code != .validation {
            #expect(StoreError(code, "").number == documented[code.description], "\(code)")
        }
        let names = Set(StoreError.Code.all.map(\.description))
        #expect(documented.keys.allSatisfy(names.contains))
    }

    @Test func `every reason of a failed validation has the number of the documentation`() throws {
        let documented = try Self.documented("Reason")

        #expect(documented.count == ValidationFailure.Reason.allCases.count)
        for reason in ValidationFailure.Reason.allCases {
            let error = StoreError(
                .validation, "", failures: [ValidationFailure(reason, "It is not valid.")])
            #expect(error.number == documented["\(reason)"], "\(reason)")
        }
    }
}
