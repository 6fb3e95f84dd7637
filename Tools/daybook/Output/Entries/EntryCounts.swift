import DaybookAudit
import DaybookObjectModel

/// The numbers of objects of each entity that an entry inserts, updates and deletes.
struct EntryCounts {
    /// The counts of one entity.
    struct Row {
        let entity: String
        fileprivate(set) var inserted = 0
        fileprivate(set) var updated = 0
        fileprivate(set) var deleted = 0

        var total: Int { inserted + updated + deleted }

        /// `inserted 3`, `deleted 1`: the counts that are not zero.
        fileprivate var words: [String] {
            [(inserted, "inserted"), (updated, "updated"), (deleted, "deleted")]
                .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        }
    }

    /// A row for each entity that changes, in the order of the model.
    let rows: [Row]

    /// Counts the shown changes of an entry.
    init(_ record: AuditRecord) {
        var counts: [EntityNumber: Row] = [:]
        for change in record.shown {
            let number = change.object.entity
            let name = record.schema.entity(number)?.name ?? "?\(number.rawValue)"
            switch change.kind {
            case .insert: counts[number, default: Row(entity: name)].inserted += 1
            case .update: counts[number, default: Row(entity: name)].updated += 1
            case .delete: counts[number, default: Row(entity: name)].deleted += 1
            }
        }
        rows = counts.sorted { $0.key < $1.key }.map(\.value)
    }

    /// `Country: 1 inserted, 2 updated; Subdivision: 1 deleted`.
    var sentence: String {
        rows.map { "\($0.entity): " + $0.words.joined(separator: ", ") }.joined(separator: "; ")
    }

    /// A line for each entity with a bar of `+`, `~` and `-`, and a line with the sums.
    ///
    /// - Parameters:
    ///   - columns: The maximal width; bars are scaled down to it.
    ///   - palette: The colours of the bars.
    /// - Returns: The lines; none when nothing changes.
    func lines(fitting columns: Int, _ palette: Palette) -> [String] {
        guard rows.count > 0 else { return [] }
        let nameWidth = rows.map { DisplayText.width(of: $0.entity) }.max() ?? 0
        let largest = rows.map(\.total).max() ?? 0
        let countWidth = String(largest).count
        let room = max(10, columns - nameWidth - countWidth - 4)
        var lines = rows.map { row in
            let name = row.entity + Self.spaces(nameWidth - DisplayText.width(of: row.entity))
            let count = Self.spaces(countWidth - String(row.total).count) + String(row.total)
            let bar =
                [(row.inserted, "+", Style.added), (row.updated, "~", .changed)]
                + [(row.deleted, "-", .removed)]
            let marks = bar.map { count, mark, style in
                palette(
                    String(
                        repeating: mark, count: Self.length(of: count, largest, in: room)), style)
            }
            return "\(name) | \(count) \(marks.joined())"
        }
        var sum = Row(entity: "")
        for row in rows {
            sum.inserted += row.inserted
            sum.updated += row.updated
            sum.deleted += row.deleted
        }
        let changes = sum.total == 1 ? "1 change" : "\(sum.total) changes"
        lines.append("\(changes): " + sum.words.joined(separator: ", "))
        return lines
    }

    /// A count that is not zero has at least one mark.
    private static func length(of count: Int, _ largest: Int, in room: Int) -> Int {
        guard largest > room, count > 0 else { return count }
        return max(1, count * (room - 2) / largest)
    }

    private static func spaces(_ count: Int) -> String {
        String(repeating: " ", count: max(0, count))
    }
}

extension JSONWriter {
    /// Writes the member `counts`.
    mutating func append(_ counts: EntryCounts) {
        name("counts")
        array { writer in
            for row in counts.rows {
                writer.object { writer in
                    writer.name("entity")
                    writer.string(row.entity)
                    let numbers = [
                        ("inserted", row.inserted), ("updated", row.updated),
                        ("deleted", row.deleted),
                    ]
                    for (name, number) in numbers {
                        writer.name(name)
                        writer.integer(number)
                    }
                }
            }
        }
    }
}
