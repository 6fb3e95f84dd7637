internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

/// Compares a table of a store with what folding the journal gives, record by record.
struct TableComparison {
    private let table: Table
    private let twin: Table
    private let schema: Schema
    /// How many records the journal yields.
    private(set) var count = 0
    private(set) var findings: [VerifyFinding] = []

    init(_ table: Table, _ twin: Table, _ schema: Schema) {
        self.table = table
        self.twin = twin
        self.schema = schema
    }

    mutating func run(
        _ ours: borrowing ReadTransaction, _ theirs: borrowing ReadTransaction
    ) throws {
        // With their checks, so that a record with a wrong one is compared, and not refused.
        var found = TableWalk(table.unchecked)
        var expected = TableWalk(twin.unchecked)
        while true {
            let left = try found.peek(in: ours)
            let right = try expected.peek(in: theirs)
            switch (left, right) {
            case (nil, nil): return
            case (let left?, nil):
                report(left, "exists but does not follow from the journal")
                found.advance()
            case (nil, let right?):
                report(right, "is missing")
                expected.advance()
                count += 1
            case (let left?, let right?):
                if left.key == right.key {
                    if left.value != right.value { report(left, difference(left, right)) }
                    found.advance()
                    expected.advance()
                    count += 1
                } else if left.key.lexicographicallyPrecedes(right.key) {
                    report(left, "exists but does not follow from the journal")
                    found.advance()
                } else {
                    report(right, "is missing")
                    expected.advance()
                    count += 1
                }
            }
        }
    }

    private mutating func report(_ record: StoreRecord, _ what: String) {
        let place = record.place(in: table, schema)
        findings.append(
            VerifyFinding(
                kind: .projection, place: place, message: "The record of \(place) \(what)."))
    }

    private func difference(_ found: StoreRecord, _ expected: StoreRecord) -> String {
        guard found.value.count == expected.value.count else {
            let sizes = [found, expected].map { $0.value.count - table.checkSize }
            return "has \(sizes[0]) bytes instead of \(sizes[1])"
        }
        let offset =
            zip(found.value, expected.value).enumerated()
            .first { $0.element.0 != $0.element.1 }?.offset ?? 0
        return offset < found.value.count - table.checkSize
            ? "differs from the journal at byte \(offset)"
            : "has a check that does not fit it"
    }
}

extension StoreRecord {
    /// The record in words: its table and its decoded key.
    func place(in table: Table, _ schema: Schema) -> String {
        let bytes = key.span.bytes
        var reader = KeyReader()
        do {
            switch table.name {
            case "rows": return "rows, \(schema.name(of: try reader.object(bytes)))"
            case "versions":
                let object = schema.name(of: try reader.object(bytes))
                return "versions, \(object) before entry \(try reader.sequence(bytes))"
            case "members", "membersPast", "referrers", "referrersPast":
                let object = schema.name(of: try reader.object(bytes))
                let number = PropertyNumber(rawValue: try reader.uint32(bytes))
                let other = schema.name(of: try reader.object(bytes))
                let property = schema.property(number)?.name ?? "?\(number.rawValue)"
                return "\(table.name), '\(property)' between \(object) and \(other)"
            case "index":
                let number = PropertyNumber(rawValue: try reader.uint32(bytes))
                if number.rawValue == Schema.entriesNumber {
                    var end = KeyReader(at: max(0, key.count - StoreKey.sequenceSize))
                    return "index, attribution of entry \(try end.sequence(bytes))"
                }
                if let property = StoreKey.property(ofFormer: key, under: number) {
                    let size = StoreKey.objectSize + StoreKey.sequenceSize
                    var end = KeyReader(at: max(0, key.count - size))
                    let object = schema.name(of: try end.object(bytes))
                    return "index, \(schema.indexName(property)) of \(object) until entry "
                        + "\(try end.sequence(bytes))"
                }
                var end = KeyReader(at: max(0, key.count - StoreKey.objectSize))
                let object = schema.name(of: try end.object(bytes))
                return "index, \(schema.indexName(number)) of \(object)"
            case "times":
                return "times, entry \(try reader.sequence(bytes))"
            case "models": return "models, entry \(try reader.sequence(bytes))"
            default: break
            }
        } catch {
            // The key does not have the table's form; its length must do.
            return "\(table.name), key of \(key.count) bytes"
        }
        return "\(table.name), key of \(key.count) bytes"
    }
}

extension Schema {
    /// What the records with a number are an index of: a property, or several together.
    fileprivate func indexName(_ number: PropertyNumber) -> String {
        if let property = StoreKey.property(ofChanges: number) {
            return "changes of '\(self.property(property)?.name ?? "?\(property.rawValue)")'"
        }
        if let property = property(number) { return "'\(property.name)'" }
        for entity in entities {
            if let index = entity.indexes.first(where: { $0.number == number }) {
                return index.text
            }
            if let constraint = entity.constraints.first(where: { $0.number == number }) {
                return constraint.properties.map { "'\($0.name)'" }.joined(separator: ", ")
            }
        }
        return "'?\(number.rawValue)'"
    }
}
