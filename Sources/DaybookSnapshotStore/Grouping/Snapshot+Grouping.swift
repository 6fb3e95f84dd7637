// The room of grouping: rows put into groups, and columns read from them, where they lie. It reads what a snapshot
// reads, and makes no object.

internal import DaybookLMDB
package import DaybookObjectModel

extension Snapshot {
    /// Puts all objects that match a query into groups. Its order, offset and limit do not count.
    ///
    /// Only the fields of the key and those of the aggregates are read, and the key is looked up by its bytes.
    /// What a to-one relationship leads to is looked up once for each object that it leads to.
    ///
    /// - Parameters:
    ///   - table: The groups, to which the objects are added.
    ///   - grouping: The keys and aggregates; the table is one of its own.
    ///   - query: The query.
    /// - Throws: As ``fetch(_:)``.
    /// - Complexity: As ``fetch(_:)`` without a limit; memory for the groups, the numbers of a median and
    ///   the different values that are counted.
    package func group(
        _ table: inout GroupTable, by grouping: Grouping, _ query: Query
    ) throws {
        let grouper = RowGrouper(grouping, table.beginning, in: schema)
        try gather(query, among: candidates(query)) {
            grouper
        } add: { part, object, row, bytes, snapshot in
            try part.add(object, row, bytes, in: snapshot)
            return .proceed
        } join: { part in
            table.append(part.table)
            return .proceed
        }
    }

    /// The values at the ends of some paths, of all objects that match a query, in its order.
    ///
    /// - Parameters:
    ///   - paths: Paths of to-one steps.
    ///   - query: The query.
    /// - Returns: The values of each object.
    /// - Throws: As ``fetch(_:)``.
    /// - Complexity: As ``forEachRows(of:_:)``, and O(log *n*) page reads for each value of a related object.
    package func values(at paths: [FilterPath], of query: Query) throws -> [[Value]] {
        if let limit = query.limit, limit <= 0 { return [] }
        let reader = RowColumns(paths)
        var all: [[Value]] = []
        if query.sortings.isEmpty, query.entities.count == 1, query.limit == nil,
            query.offset <= 0
        {
            try gather(query, among: candidates(query)) {
                (rows: [[Value]](), reader: reader)
            } add: { part, object, row, bytes, snapshot in
                part.rows.append(try part.reader.values(object, row, bytes, in: snapshot))
                return .proceed
            } join: { part in
                all += part.rows
                return .proceed
            }
            return all
        }
        var own = reader
        _ = try projection.walkRows(of: fetch(query)[...], at: sequence, in: transaction) {
            object, row, bytes in
            all.append(try own.values(object, row, bytes, in: self))
            return .proceed
        }
        return all
    }
}

/// Reads columns from rows, one after the other.
private struct RowColumns: Sendable {
    private let paths: [FilterPath]
    /// Where the values are in rows; nil for what is not in the object's own row.
    private var places: [RowPlace?]

    init(_ paths: [FilterPath]) {
        self.paths = paths
        places = paths.map { path in path.ownProperty.map { RowPlace($0.number) } }
    }

    mutating func values(
        _ object: ObjectID, _ row: RowLayout, _ bytes: RawSpan, in snapshot: borrowing Snapshot
    ) throws -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(paths.count)
        for index in paths.indices {
            if let slot = places[index]?.slot(in: object.entity, snapshot.schema) {
                values.append(try snapshot.projection.value(slot, of: object, row, bytes))
            } else {
                values.append(try Sorting(paths[index]).key(of: object, in: snapshot))
            }
        }
        return values
    }
}

extension FilterPath {
    /// The property, if the path ends in the row of the object itself.
    var ownProperty: SchemaProperty? {
        steps.count == 1 && steps[0].slot != nil ? steps[0] : nil
    }
}
