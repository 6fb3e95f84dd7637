internal import DaybookObjectModel

/// Puts rows into groups, one after the other.
///
/// The bytes of the fields that decide are put together to a string, and the group is looked up by that.
/// Where a path goes on to other objects, such a string stands for a key, which is read from these objects
/// when the string comes for the first time.
struct RowGrouper: Sendable {
    /// How the group of a row is found.
    private enum Finding: Sendable {
        /// By the fields, which are the key.
        case fields
        /// By the fields, which decide about the key.
        case decidingFields
        /// By the key, which is read for each object.
        case values
    }

    private(set) var table: GroupTable
    private let keys: [FilterPath]
    private let finding: Finding
    /// The fields that decide.
    private var fields: [RowPlace] = []
    /// The aggregates of values in the row itself, and where these are.
    private var inRow: [(aggregate: Int, place: RowPlace)] = []
    /// The aggregates of other values, and the paths to these.
    private var elsewhere: [(aggregate: Int, path: FilterPath)] = []
    /// The groups of the strings of fields that have come; used where these are not the key.
    private var known: [[UInt8]: Int] = [:]
    private var scratch: [UInt8] = []

    /// A grouper of no rows yet.
    ///
    /// - Parameters:
    ///   - grouping: The keys and aggregates.
    ///   - table: A table of its own, for a part of the objects.
    ///   - schema: The model.
    init(_ grouping: Grouping, _ table: GroupTable, in schema: Schema) {
        self.table = table
        keys = grouping.keys
        var properties: [SchemaProperty] = []
        var isComplete = true
        for path in grouping.keys {
            guard let first = path.steps.first, first.slot != nil else {
                isComplete = false
                continue
            }
            if !properties.contains(where: { $0.number == first.number }) {
                properties.append(first)
            }
        }
        let isKey =
            isComplete && properties.count == keys.count && keys.allSatisfy { $0.steps.count == 1 }
        finding = isKey ? .fields : isComplete ? .decidingFields : .values
        fields = properties.map { RowPlace($0.number) }
        for (index, measure) in grouping.measures.enumerated() {
            guard let path = measure.path else { continue }
            if let property = path.ownProperty {
                inRow.append((index, RowPlace(property.number)))
            } else {
                elsewhere.append((index, path))
            }
        }
    }

    /// Adds a row.
    ///
    /// - Parameters:
    ///   - object: The object.
    ///   - row: The layout of its row.
    ///   - bytes: Its row.
    ///   - snapshot: Where related objects are looked up.
    /// - Throws: ``StoreError`` when a value cannot be read.
    mutating func add(
        _ object: ObjectID, _ row: RowLayout, _ bytes: RawSpan, in snapshot: borrowing Snapshot
    ) throws {
        let group = try group(of: object, row, bytes, in: snapshot)
        table.addObject(to: group)
        for index in inRow.indices {
            let slot = inRow[index].place.slot(in: object.entity, snapshot.schema)
            guard let slot else { continue }
            let aggregate = inRow[index].aggregate
            guard slot < row.count else {
                let value = try snapshot.projection.value(slot, of: object, row, bytes)
                table.add(value, to: aggregate, of: group)
                continue
            }
            do throws(DecodingFailure) {
                let field = try row.field(slot, in: bytes)
                if !field.isEmpty { try table.add(bytes, field, to: aggregate, of: group) }
            } catch {
                throw snapshot.projection.unreadable(object, error)
            }
        }
        for (aggregate, path) in elsewhere {
            table.add(try Sorting(path).key(of: object, in: snapshot), to: aggregate, of: group)
        }
    }

    private mutating func group(
        of object: ObjectID, _ row: RowLayout, _ bytes: RawSpan, in snapshot: borrowing Snapshot
    ) throws -> Int {
        scratch.removeAll(keepingCapacity: true)
        if finding != .values {
            for index in fields.indices {
                let slot = fields[index].slot(in: object.entity, snapshot.schema)
                try append(slot, of: object, row, bytes, in: snapshot)
            }
            let fields = scratch
            if finding == .fields { return table.group(fields.span.bytes) }
            if let group = known[fields] { return group }
        }
        var key: [UInt8] = []
        for path in keys { key += try Sorting(path).key(of: object, in: snapshot).encoded }
        let group = table.group(key.span.bytes)
        if finding == .decidingFields { known[scratch] = group }
        return group
    }

    /// Appends the canonical form of a field.
    private mutating func append(
        _ slot: Int?, of object: ObjectID, _ row: RowLayout, _ bytes: RawSpan,
        in snapshot: borrowing Snapshot
    ) throws {
        guard let slot else {
            scratch += Value.null.encoded
            return
        }
        guard slot < row.count else {
            scratch += try snapshot.projection.value(slot, of: object, row, bytes).encoded
            return
        }
        do throws(DecodingFailure) {
            let field = try row.field(slot, in: bytes)
            if field.isEmpty { scratch.append(0) } else { scratch.append(bytes, field) }
        } catch {
            throw snapshot.projection.unreadable(object, error)
        }
    }
}
