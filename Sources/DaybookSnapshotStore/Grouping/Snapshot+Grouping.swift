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
        let plan = try plan(query)
        if let part = try groupFromRecords(table.beginning, by: grouping, query, plan) {
            return table.append(part)
        }
        let grouper = RowGrouper(grouping, table.beginning, in: schema)
        try gather(query, among: candidates(query, plan)) {
            grouper
        } add: { part, object, row, bytes, snapshot in
            try part.add(object, row, bytes, in: snapshot)
            return .proceed
        } join: { part in
            table.append(part.table)
            return .proceed
        }
    }

    /// The groups of all objects that match a query, from the records of an index alone; nil where rows have to be
    /// read.
    private func groupFromRecords(
        _ table: GroupTable, by grouping: Grouping, _ query: Query, _ plan: FilterPlan
    ) throws -> GroupTable? {
        var table = table
        let measured = grouping.measures.map { $0.path?.ownProperty }
        let keys = grouping.keys.compactMap(\.ownProperty)
        guard table.isOrderFree, keys.count == grouping.keys.count,
            zip(grouping.measures, measured).allSatisfy({ $0.path == nil || $1 != nil }),
            let question = try covered(
                query, plan, of: (keys + measured.compactMap(\.self)).map(\.number))
        else { return nil }
        let aggregates = measured.indices.filter { measured[$0] != nil }
        let isWhole = try forEachRecord(of: question) { _, values in
            var key: [UInt8] = []
            for value in values.prefix(keys.count) { key += value.encoded }
            let group = table.group(key.span.bytes)
            table.addObject(to: group)
            for (aggregate, value) in zip(aggregates, values.dropFirst(keys.count)) {
                table.add(value, to: aggregate, of: group)
            }
            return .proceed
        }
        return isWhole ? table : nil
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
            let plan = try plan(query)
            if let rows = try valuesFromRecords(at: paths, of: query, plan) { return rows }
            try gather(query, among: candidates(query, plan)) {
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

extension Snapshot {
    /// The values of all objects that match a query, in the order of their numbers, from the records of an index
    /// alone; nil where rows have to be read.
    private func valuesFromRecords(
        at paths: [FilterPath], of query: Query, _ plan: FilterPlan
    ) throws -> [[Value]]? {
        let properties = paths.compactMap(\.ownProperty)
        guard properties.count == paths.count,
            let question = try covered(query, plan, of: properties.map(\.number))
        else { return nil }
        var found: [(object: ObjectID, values: [Value])] = []
        let isWhole = try forEachRecord(of: question) { object, values in
            found.append((object, values))
            return .proceed
        }
        guard isWhole else { return nil }
        return found.sorted { $0.object < $1.object }.map(\.values)
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
