import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// Kills the migrating command at each of its writes while it brings the objects of relationships over.
@Suite(.serialized)
struct RelationshipKillTests {
    /// A to-one relationship becomes to-many, an unordered one ordered and the other way round, and one
    /// is kept at its other end from then on.
    private static let models = [
        """
        {"entities":[
          {"name":"Shelf","attributes":[{"name":"name","type":"string"}],"relationships":[
            {"name":"owner","destination":"Book"},
            {"name":"loose","destination":"Book","toMany":true},
            {"name":"sorted","destination":"Book","toMany":true,"ordered":true},
            {"name":"books","destination":"Book","toMany":true}]},
          {"name":"Book","attributes":[{"name":"title","type":"string"}]}]}
        """,
        """
        {"entities":[
          {"name":"Shelf","attributes":[{"name":"name","type":"string"}],"relationships":[
            {"name":"owner","destination":"Book","toMany":true},
            {"name":"loose","destination":"Book","toMany":true,"ordered":true},
            {"name":"sorted","destination":"Book","toMany":true},
            {"name":"books","destination":"Book","toMany":true,"inverse":"shelf"}]},
          {"name":"Book","attributes":[{"name":"title","type":"string"}],"relationships":[
            {"name":"shelf","destination":"Shelf","inverse":"books"}]}]}
        """,
    ]
    private static let shelves = 12
    /// No run makes more calls of a kind.
    private static let callsMaximum = 100

    @Test(arguments: ["pwrite64", "fdatasync"])
    func `killed at any write or sync, all objects are in one kind of relationship or the other`(
        call: String
    ) throws {
        let directory = try TemporaryDirectory()
        let (base, path) = (directory.path("base"), directory.path("shelves"))
        let files = try Self.models.enumerated().map { index, text in
            let file = directory.path("\(index).json")
            try Data(text.utf8).write(to: URL(fileURLWithPath: file))
            return file
        }
        try makeStore(base, files[0], in: directory)
        let words = [BuiltTool.daybook.path, "migrate", path, "--model", files[1]]
        let strace = try #require(BuiltTool.system("strace"), "strace must be installed.")
        var left: Set<Bool> = []
        var killed = 0

        for number in 1...Self.callsMaximum {
            for file in [path, path + "-lock"] where FileManager.default.fileExists(atPath: file) {
                try FileManager.default.removeItem(atPath: file)
            }
            try FileManager.default.copyItem(atPath: base, toPath: path)
            let trace = directory.path("trace")
            let ran = try ChildProcess.run(
                strace,
                [
                    "-f", "-qqq", "-o", trace, "-e", "trace=\(call)", "-e",
                    "inject=\(call):signal=SIGKILL:when=\(number)",
                ] + words)
            let calls = try String(contentsOfFile: trace, encoding: .utf8)
            let about: Comment = "\(call) \(number)"
            if !calls.contains("killed by SIGKILL") {
                #expect(ran.ending == .exited(0), "\(about): \(ran.talk)")
                try expectShelves(path, areNew: true, about)
                break
            }
            killed += 1

            let report = try Store.verify(path: path)
            #expect(report.isSound, "\(about): \(report.findings)")
            let isDone = try isMigrated(path)
            left.insert(isDone)
            try expectShelves(path, areNew: isDone, about)
            let ended = try ChildProcess.run(BuiltTool.daybook, Array(words.dropFirst()))
            #expect(ended.ending == .exited(0), "\(about): \(ended.talk)")
            try expectShelves(path, areNew: true, about)
            #expect(try Store.verify(path: path).isSound, about)
        }

        #expect(killed > 0 && killed < Self.callsMaximum)
        // No write comes after the one that makes the entry count; a sync may.
        #expect(left.contains(false), "\(call): \(left)")
    }

    private func makeStore(
        _ path: String, _ model: String, in directory: TemporaryDirectory
    ) throws {
        var lines: [String] = []
        for number in 0..<Self.shelves {
            for book in 0..<6 {
                lines.append(
                    #"{"op":"insert","entity":"Book","ref":"\#(number)-\#(book)","#
                        + #""values":{"title":"\#(number)-\#(book)"}}"#)
            }
            func books(_ range: ClosedRange<Int>) -> String {
                "[" + range.map { #"{"ref":"\#(number)-\#($0)"}"# }.joined(separator: ",") + "]"
            }
            lines.append(
                #"{"op":"insert","entity":"Shelf","values":{"name":"\#(number)","#
                    + #""owner":{"ref":"\#(number)-0"},"loose":\#(books(1...3)),"#
                    + #""sorted":\#(books(2...4)),"books":\#(books(3...5))}}"#)
        }
        let input = directory.url.appending(path: "input")
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: input)
        for (words, file) in [(["init", path, "--model", model], nil), (["record", path], input)] {
            let ran = try ChildProcess.run(BuiltTool.daybook, words, input: file)
            try #require(ran.ending == .exited(0), "\(ran.talk)")
        }
    }

    private func isMigrated(_ path: String) throws -> Bool {
        let store = try Store.open(at: path, options: StoreOptions(isReadOnly: true))
        defer { #expect(throws: Never.self) { try store.close() } }
        return store.schema.entity(named: "Book")?.property(named: "shelf") != nil
    }

    /// Checks which books each shelf has, from both ends where there are two.
    private func expectShelves(_ path: String, areNew: Bool, _ about: Comment) throws {
        let store = try Store.open(at: path, options: StoreOptions(isReadOnly: true))
        defer { #expect(throws: Never.self) { try store.close() } }
        let shelf = try #require(store.schema.entity(named: "Shelf"))
        let book = try #require(store.schema.entity(named: "Book"))
        #expect(shelf.property(named: "owner")?.relationship?.isToMany == areNew, about)
        try store.read { snapshot in
            let shelves = try snapshot.fetch(Query(shelf))
            #expect(shelves.count == Self.shelves, about)
            for object in shelves {
                let number = try Self.text("name", shelf, object, snapshot)
                for (name, range) in [
                    ("owner", 0...0), ("loose", 1...3), ("sorted", 2...4), ("books", 3...5),
                ] {
                    let property = try #require(shelf.property(named: name))
                    let members: [ObjectID] = try snapshot.members(of: property, in: object)
                    var titles: [String] = []
                    for member in members {
                        titles.append(try Self.text("title", book, member, snapshot))
                    }
                    let wanted = range.map { "\(number)-\($0)" }
                    let isOrdered = property.relationship?.isOrdered == true
                    // What had no order gets that of the books' numbers, which is that of the titles.
                    #expect((isOrdered ? titles : titles.sorted()) == wanted, about)
                    guard let inverse = property.end?.inverse, let back = book.property(inverse)
                    else { continue }
                    for member in members {
                        let owners: [ObjectID] = try snapshot.members(of: back, in: member)
                        #expect(owners == [object], about)
                    }
                }
            }
        }
    }

    private static func text(
        _ name: String, _ entity: SchemaEntity, _ object: ObjectID, _ snapshot: borrowing Snapshot
    ) throws -> String {
        let property = try #require(entity.property(named: name))
        guard case .string(let text) = try snapshot.value(of: property, in: object) else {
            return "?"
        }
        return text
    }
}
