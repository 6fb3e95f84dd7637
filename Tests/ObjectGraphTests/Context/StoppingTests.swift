import DaybookStopping
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// How the library stops a program. Debug results hold for release builds, too, because the functions do
/// not depend on the build.
@Suite struct StoppingTests {
    private func talk(_ result: ExitTest.Result?) -> String {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }

    @Test func `a stop writes its sentence and its file and line to standard error`() async {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            stop("A sentence that nobody can miss.")
        }
        #expect(talk(result).contains("A sentence that nobody can miss."))
        #expect(talk(result).contains("StoppingTests.swift"))
    }

    @Test func `a demand that is met costs no sentence, and one that is not stops`() async {
        require(true, "\(Issue.record("The sentence is not made."))")
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            require(1 > 2, "One is not above two.")
        }
        #expect(talk(result).contains("One is not above two."))
    }

    @Test func `a warning is written once for each topic`() async {
        let result = await #expect(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) {
            for topic in ["a", "b", "a"] { Warning.once(topic, "About \(topic).") }
        }
        let lines = talk(result).split(separator: "\n").filter { $0.hasPrefix("warning: ") }
        #expect(lines == ["warning: About a.", "warning: About b."])
    }

    @Test(arguments: ["save", "fetch", "insert", "delete"])
    func `F107 a context used off its queue stops the program where much is at stake`(
        use: String
    ) async {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) { [use] in
            let store = try StaffStore()
            let context = store.context("ledger")
            let ada = context.performAndWait { Employee(context: context) }
            switch use {
            case "save": try context.save()
            case "fetch": _ = try context.fetch(FetchRequest<Employee>())
            case "insert": _ = Employee(context: context)
            default: context.delete(ada)
            }
        }
        #expect(talk(result).contains("The context 'ledger' of a private queue was used on "))
    }

    @Test func `every stop in the sources says a sentence in every build`() throws {
        let sources = Fixture.folder.deletingLastPathComponent().appending(path: "Sources")
        let files = try #require(
            FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        let silent = /\b(?:precondition|preconditionFailure|fatalError)\(/
        var count = 0
        for case let file as URL in files
        where file.pathExtension == "swift" && file.lastPathComponent != "Stop.swift" {
            count += 1
            let text = try String(contentsOf: file, encoding: .utf8)
            for line in text.split(separator: "\n") where line.contains(silent) {
                Issue.record(
                    "\(file.lastPathComponent): use 'stop' or 'require' of the module DaybookStopping: \(line)"
                )
            }
        }
        #expect(count > 100)
    }
}
