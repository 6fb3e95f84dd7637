import DaybookAudit
import DaybookObjectModel
import DaybookSnapshotStore

/// `daybook document STORE`: a state of the store as one JSON document.
struct DocumentCommand: Command {
    private let store = Positional("STORE", .path, "The store to read.")
    private let moment = Option(
        "--at", "SEQ|TIME", .moment, "As the store was at this entry or time.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "document", in: .read,
            summary: "Print a state of the store as one JSON document.",
            discussion: """
                The document that 'daybook diff --format json-patch' makes patches for: objects by
                entity and number, with every property stored on their side.

                  {"Country":{"17":{"name":"France","neighbours":{"Country/3":true}}}}

                To-many relationships have a member for each object, with its position if they
                are ordered, else true.
                """,
            arguments: [store, moment], formats: [],
            examples: [
                .init("daybook document iso.daybook --at 6", "Everything as of entry 6")
            ],
            endings: [.init(.success), .init(.usage), .init(.unreadable)])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let store = try StoreReading.open(arguments[store])
        let sequence = try arguments[moment].map { try StoreReading.sequence(of: $0, in: store) }
        let entities = store.schema.entities.filter { !$0.isAbstract }
        let (found, reading) = try PagedReading.begin(store, at: sequence) { snapshot in
            try entities.map { try objects(of: $0, snapshot) }
        }
        try console.write("{".utf8)
        for (index, entity) in entities.enumerated() {
            if index > 0 { try console.write(",".utf8) }
            try print(found[index], of: entity, reading, on: console)
        }
        try console.write("}\n".utf8)
        return .success
    }

    private func objects(
        of entity: SchemaEntity, _ snapshot: borrowing Snapshot
    ) throws -> [ObjectID] {
        var objects: [ObjectID] = []
        try snapshot.objects(of: [entity.number]) { object in
            objects.append(object)
            return .proceed
        }
        return objects
    }

    /// Prints the objects of an entity page by page, so that a store of any size needs little memory.
    private func print(
        _ objects: [ObjectID], of entity: SchemaEntity, _ reading: PagedReading,
        on console: Console
    ) throws {
        var writer = JSONWriter()
        writer.name(entity.name)
        try console.write(writer.bytes + Array("{".utf8))
        var isFirst = true
        try reading.forEach(objects) { object, snapshot in
            try member(object, of: entity, snapshot).map { ($0, $0.count) }
        } print: { bytes in
            if !isFirst { try console.write(",".utf8) }
            isFirst = false
            try console.write(bytes)
        }
        try console.write("}".utf8)
    }

    /// `"17":{…}`
    private func member(
        _ object: ObjectID, of entity: SchemaEntity, _ snapshot: borrowing Snapshot
    ) throws -> [UInt8]? {
        var writer = JSONWriter()
        try JSONPatch.append(object, of: entity, in: snapshot, to: &writer)
        return writer.bytes.isEmpty ? nil : writer.bytes
    }
}
