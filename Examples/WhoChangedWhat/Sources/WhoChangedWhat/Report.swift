import DaybookAudit

/// Prints who changed what in a store, entry by entry, and then how much each author did.
///
/// It knows nothing of the program that wrote the store: a store describes itself.
func report(on file: String, by authors: some Sequence<String>) throws {
    let reader = try AuditReader(path: file)
    var filter = AuditFilter()
    filter.authors = Set(authors)

    var counts: [String: [AuditChange.Operation: Int]] = [:]
    try reader.records(matching: filter) { record in
        guard record.kind != .model else { return .proceed }
        let author = record.author ?? "nobody named"
        print("\(record.sequence). \(author): \(record.note ?? "no note")")
        for change in record.changes {
            counts[author, default: [:]][change.operation, default: 0] += 1
            print("   \(change.operation) \(change.object)")
            for field in change.fields {
                print("      \(field.name): \(text(field.old)) → \(text(field.new))")
            }
            for members in change.memberships {
                for member in members.removed { print("      \(members.name) − \(member.object)") }
                for member in members.added { print("      \(members.name) + \(member.object)") }
            }
        }
        return .proceed
    }

    print()
    for (author, count) in counts.sorted(by: { $0.key < $1.key }) {
        let parts = AuditChange.Operation.allCases.compactMap { operation in
            count[operation].map { "\($0) \(operation)\($0 == 1 ? "" : "s")" }
        }
        print("\(author): \(parts.joined(separator: ", "))")
    }
}

/// A value as people read it.
private func text(_ value: AuditValue) -> String { value.isNull ? "nothing" : value.text }
