import DaybookAudit
import ObjectModel
import SnapshotStore

/// `daybook document STORE`: a whole state of the store as one JSON document.
struct DocumentCommand: Command {
    private let store = Positional("STORE", .path, "The store to read.")
    private let moment = Option(
        "--at", "SEQ|TIME", .moment, "As the store was at this entry or time.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "document", in: .read,
            summary: "Print a whole state of the store as one JSON document.",
            discussion: """
                The document that 'daybook diff --format json-patch' makes patches for: objects by
                entity and number, with every property that is kept on their own side.

                  {"Country":{"17":{"name":"France","neighbours":{"Country/3":true}}}}

                To-many relationships have a member for each object, with its place among the
                others where they have an order, and true where they have none.
                """,
            arguments: [store, moment], formats: [],
            examples: [
                .init("daybook document iso.daybook --at 6", "Everything as of entry 6")
            ],
            endings: [.init(.success), .init(.usage), .init(.unreadable)])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let store = try StoreReading.open(arguments[store])
        let sequence = try arguments[moment].map { try StoreReading.place(of: $0, in: store) }
        try store.read(at: sequence) { snapshot in
            try console.write("{".utf8)
            var isFirst = true
            for entity in snapshot.schema.entities where !entity.isAbstract {
                try console.write((isFirst ? "" : ",").utf8)
                isFirst = false
                try print(entity, of: snapshot, on: console)
            }
            try console.write("}\n".utf8)
        }
        return .success
    }

    /// Prints the objects of an entity one by one, so that a store of any size needs little memory.
    private func print(
        _ entity: SchemaEntity, of snapshot: borrowing Snapshot, on console: Console
    ) throws {
        var writer = JSONWriter()
        writer.name(entity.name)
        try console.write(writer.bytes + Array("{".utf8))
        var isFirst = true
        try snapshot.objects(of: [entity.number]) { object in
            guard let state = try snapshot.state(of: object) else { return .proceed }
            let members = state.members.sorted { $0.key < $1.key }.map { property, members in
                MembershipEdit(
                    property: property,
                    added: members.map { Member(object: $0.key, order: $0.value) })
            }
            let change = AuditChange(
                Change(object: object, kind: .insert(values: state.values, members: members)),
                in: snapshot.schema)
            writer.removeAll()
            writer.name(String(object.number))
            writer.object(of: change, entity)
            try console.write(Array((isFirst ? "" : ",").utf8) + writer.bytes)
            isFirst = false
            return .proceed
        }
        try console.write("}".utf8)
    }
}
