// Every reader of text and bytes that come from outside, for libFuzzer. Only 'Tools/fuzz' builds this.
//
// A reader takes any bytes and returns: with what they say, or with an error. Where what it read can be written again,
// reading that must give the same.

import DaybookDigest
import DaybookStopping
import Foundation
import Synchronization

@testable import DaybookAudit
@testable import DaybookJournalLog
@testable import DaybookModelFiles
@testable import DaybookObjectModel
@testable import DaybookPQ
@testable import DaybookSnapshotStore

/// One input of libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func readInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    Reader.chosen.read(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}

/// What is fuzzed.
enum Reader: String, CaseIterable {
    case predicate, law, json, model, modelBytes, entry, row, copy, servers, note, xcode, time,
        number
    case exportLine, importLine, debeziumLine, csv

    /// The one that DAYBOOK_FUZZ_READER names.
    static let chosen: Reader = {
        let name = ProcessInfo.processInfo.environment["DAYBOOK_FUZZ_READER"] ?? ""
        if name == "list" {
            let names = allCases.map { $0.rawValue + "\n" }.joined()
            FileHandle.standardOutput.write(Data(names.utf8))
            // libFuzzer takes an end in the usual way for a find.
            _exit(0)
        }
        guard let reader = Reader(rawValue: name) else {
            stop(
                "DAYBOOK_FUZZ_READER is one of: \(allCases.map(\.rawValue).joined(separator: ", "))"
            )
        }
        return reader
    }()

    func read(_ bytes: [UInt8]) {
        do {
            try attempt(bytes)
        } catch {
            // What an error says is made of the input, too.
            _ = "\(error)"
        }
    }

    private func attempt(_ bytes: [UInt8]) throws {
        let text = String(decoding: bytes, as: UTF8.self)
        switch self {
        case .predicate:
            _ = try Filter(parsing: text, for: Sample.person, in: Sample.schema)
        case .law:
            _ = try SchemaLaw(LawDescription("fuzzed", text), of: Sample.person, in: Sample.schema)
        case .json: _ = try JSONValue(parsing: bytes)
        case .model:
            let version = try ModelVersion(first: ManagedObjectModel(json: text))
            let again = try ModelVersion(canonicalBytes: version.canonicalBytes)
            require(again.canonicalBytes == version.canonicalBytes, "A model comes back as it was.")
            _ = Schema(version)
        case .modelBytes:
            let version = try ModelVersion(canonicalBytes: bytes)
            _ = Schema(version)
        case .entry:
            let payload = try EntryPayload(bytes)
            _ = "\(payload.changes)"
            guard payload.version == nil else { return }
            let written = EntryPayload.bytes(payload.header, payload.changes)
            let again = try EntryPayload(written)
            require(
                again.header == payload.header && again.changes == payload.changes,
                "An entry comes back as it was.")
        case .row:
            let row = try EncodedRow(bytes)
            let values = row.values
            for slot in values.indices {
                require(row.value(inSlot: slot) == values[slot], "A value is the same read alone.")
                _ = (row.integer(inSlot: slot), row.double(inSlot: slot), row.text(inSlot: slot))
                _ = (row.seconds(inSlot: slot), row.isNull(inSlot: slot))
            }
        case .copy:
            // The bytes come in pieces, each as long as its first byte says.
            var parser = CopyParser()
            var rows: [PostgresRow] = []
            var rest = bytes[...]
            while let length = rest.popFirst() {
                let piece = Array(rest.prefix(Int(length)))
                rest = rest.dropFirst(Int(length))
                try piece.withUnsafeBytes { try parser.take($0, into: &rows) }
            }
            for row in rows {
                for index in 0..<4 { try Self.read(row, index) }
            }
        case .servers: _ = try ServerDescription(text)
        case .note: try Self.readProofs(text)
        case .xcode:
            let data = Data(bytes)
            let source =
                data.starts(with: CompiledModelReader.mark)
                ? try CompiledModelReader.model(in: data)
                : try XMLModelReader.model(in: XMLTree.root(of: data))
            _ = try ModelTranslation.reading(of: source)
        case .time:
            let time = try DateText.microseconds(text)
            require(
                try DateText.microseconds(DateText.text(microseconds: time)) == time,
                "A time comes back as it was.")
        case .number: _ = Decimal(exactly: text)
        case .exportLine:
            var reader = ExportReader()
            for line in Self.lines(bytes) { _ = try reader.entry(from: line) }
        case .importLine:
            var reader = EntryReader(ignoringUnknown: false)
            for line in Self.lines(bytes) { _ = try reader.read(line) }
        case .debeziumLine:
            let reader = DebeziumReader(ignoringUnknown: true)
            for line in Self.lines(bytes) { _ = try reader.event(from: line) }
        case .csv:
            var given = false
            var reader = CSVReader { buffer in
                guard !given else { return 0 }
                given = true
                buffer = bytes
                return bytes.count
            }
            while try reader.next() {}
        }
    }

    private static func lines(_ bytes: [UInt8]) -> [[UInt8]] {
        bytes.split(separator: UInt8(ascii: "\n")).map(Array.init)
    }

    private static func read(_ row: PostgresRow, _ index: Int) throws {
        guard !row.isNull(index) else { return }
        for read in [
            { _ = try row.integer(index) }, { _ = try row.text(index) },
            { _ = try row.boolean(index) },
        ] {
            do { try read() } catch { _ = "\(error)" }
        }
    }

    private static func readProofs(_ text: String) throws {
        for read: () throws -> Void in [
            { require(try "\(SignedNote(text))" == text, "A note is written as it was read.") },
            { _ = try Checkpoint(text) }, { _ = try EntryProof(text) },
            { _ = try SigningKey(text) },
            { _ = try VerifierKey(text) },
        ] {
            do { try read() } catch { _ = "\(error)" }
        }
    }
}

/// The model that predicates and laws are about.
enum Sample {
    static let schema: Schema = {
        do {
            return Schema(
                try ModelVersion(
                    first: ManagedObjectModel(
                        json: """
                            {"entities":[
                             {"name":"Person","attributes":[{"name":"name","type":"string","indexed":true},
                              {"name":"age","type":"int32"},{"name":"score","type":"double"},
                              {"name":"salary","type":"decimal"},{"name":"born","type":"date"},
                              {"name":"isActive","type":"bool"},{"name":"photo","type":"data"},
                              {"name":"code","type":"uuid"}],
                              "relationships":[{"name":"employer","destination":"Company","inverse":"staff"},
                               {"name":"friends","destination":"Person","toMany":true,"inverse":"friends"}]},
                             {"name":"Company","attributes":[{"name":"title","type":"string"}],
                              "relationships":[{"name":"staff","destination":"Person","toMany":true,
                               "inverse":"employer"}]}]}
                            """)))
        } catch {
            stop("The model of the fuzzing cannot be made: \(error)")
        }
    }()

    static let person: SchemaEntity = {
        guard let entity = schema.entity(named: "Person") else {
            stop("There is no entity 'Person'.")
        }
        return entity
    }()
}
