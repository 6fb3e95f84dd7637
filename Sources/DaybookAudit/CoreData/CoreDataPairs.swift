/// The table of a relationship that leads to many objects at both ends.
///
/// It is called `Z_4TAGS` after the number of an entity and one of its two relationships. Each of its
/// two columns is called after the number of the entity whose rows it holds, and the relationship
/// that leads there: `Z_4PEOPLE` and `Z_7TAGS`. A third one, `Z_FOK_7TAGS`, has the order.
struct CoreDataPairs {
    /// One end of the relationship.
    struct End {
        /// The numbers that may stand for its entity.
        let numbers: [Int64]
        /// The name of the relationship that begins here.
        let relationship: String
    }

    let table: String
    /// The column with the order of the members; nil if there is none.
    let order: String?
    private let owner: String
    private let member: String
    private let isSymmetric: Bool

    /// - Returns: Nil when this is not the table of the relationship.
    init?(
        _ table: String, _ columns: [String], owner: End, member: End, isSymmetric: Bool
    ) {
        let ends = columns.filter { !$0.hasPrefix("Z_FOK_") }
        guard table.hasPrefix("Z_"), ends.count == 2,
            Self.names(owner.numbers, owner.relationship).contains(table)
                || Self.names(member.numbers, member.relationship).contains(table),
            let memberColumn = Self.column(member.numbers, owner.relationship, in: ends),
            let ownerColumn = ends.first(where: { $0 != memberColumn }),
            isSymmetric
                || Self.column(owner.numbers, member.relationship, in: [ownerColumn]) != nil
        else { return nil }
        self.table = table
        self.isSymmetric = isSymmetric
        self.owner = ownerColumn
        self.member = memberColumn
        let order = "Z_FOK_" + memberColumn.dropFirst(2)
        self.order = columns.contains(order) ? order : nil
    }

    /// The query for owner, member and place.
    var question: String {
        let place = order.map { "\"\($0)\"" } ?? "0"
        let pairs = "SELECT \"\(owner)\", \"\(member)\", \(place) FROM \"\(table)\""
        guard isSymmetric else { return pairs }
        // Each of the two knows the other, whether the table has the pair once or twice.
        return pairs + " UNION SELECT \"\(member)\", \"\(owner)\", \(place) FROM \"\(table)\""
    }

    private static func names(_ numbers: [Int64], _ relationship: String) -> [String] {
        numbers.map { "Z_\($0)\(relationship.uppercased())" }
    }

    /// The column of that name, or else the only one with digits behind it.
    private static func column(
        _ numbers: [Int64], _ relationship: String, in columns: [String]
    ) -> String? {
        let names = names(numbers, relationship)
        if let exact = columns.first(where: { names.contains($0) }) { return exact }
        let near = columns.filter { column in
            names.contains {
                column.hasPrefix($0) && column.dropFirst($0.count).allSatisfy(\.isNumber)
            }
        }
        return near.count == 1 ? near[0] : nil
    }
}
