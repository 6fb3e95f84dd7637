import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookSnapshotStore

/// What is recovered of files that end too early, and of what is no file.
struct CutFileTests {
    private let directory: TemporaryDirectory
    private let new: String

    init() throws {
        directory = try TemporaryDirectory()
        new = directory.path("new.daybook")
    }

    @Test func `what has no end, and what is no file, is refused`() throws {
        for path in ["/dev/zero", "/dev/null", directory.url.path] {
            let error = #expect(throws: StoreError.self) {
                try Store.recover(from: path, into: new)
            }
            #expect(error?.code == .notAStore)
            #expect(error?.message.hasPrefix("'\(path)' is not a Daybook store") == true)
            #expect(!FileManager.default.fileExists(atPath: new))
        }
    }
}
