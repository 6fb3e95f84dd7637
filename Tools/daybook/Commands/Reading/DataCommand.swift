import DaybookNewFiles
import DaybookObjectModel
import DaybookSnapshotStore

/// `daybook data STORE OBJECT.PROPERTY`: the bytes of a value.
struct DataCommand: Command {
    private let store = Positional("STORE", .path, "The store to read.")
    private let property = Positional(
        "OBJECT.PROPERTY", .objectOrProperty, "The property whose bytes are wanted.")
    private let moment = Option(
        "--at", "SEQ|TIME", .moment, "As the value was at this entry or time instead of now.")
    private let file = Option(
        "--into", short: "-o", "FILE", .newPath, "Write into this new file, not to standard output."
    )

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "data", in: .read, summary: "Write the bytes of a value.",
            discussion: """
                More than 64 KiB of data are not kept in the record of their object: the store
                keeps the bytes once, in chunks, and other commands show their number and
                digest, as in 'large:5242880:3f...'. This command writes the bytes themselves, of
                any data, large or small, and checks each chunk. It holds few of them in memory.

                The file of '--into' gets its name when it is complete, and is on the disk when
                the command ends with 0.
                """,
            arguments: [store, property, moment, file], formats: [],
            examples: [
                .init("daybook data album.daybook Photo/3.image > dawn.jpg", "Get a picture"),
                .init(
                    "daybook data album.daybook Photo/3.image --at 2011-12-15 --into then.jpg",
                    "The picture as it was then"),
            ],
            endings: [
                .init(.success),
                .init(.usage, "Wrong usage, or there is no such value at that point."),
                .init(.unreadable),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let name = arguments[property]
        let store = try StoreReading.open(arguments[store])
        guard let wanted = name.property else {
            throw ToolError.usage(
                "'\(name.objectText)' is an object: name one of its properties, as in "
                    + "'\(name.objectText).image'.")
        }
        let entity = try StoreReading.entity(name.entity, in: store.schema)
        let property = try StoreReading.property(wanted, of: entity)
        guard property.attribute?.type == .data || property.attribute?.type == .codable else {
            throw ToolError.usage("'\(entity.name).\(wanted)' holds no data.")
        }
        let object = try StoreReading.object(name, in: store.schema)
        let sequence = try arguments[moment].map { try StoreReading.sequence(of: $0, in: store) }
        let value = try store.read(at: sequence) { snapshot -> Value? in
            guard try snapshot.exists(object) else { return nil }
            return try snapshot.value(of: property, in: object)
        }
        guard let value else { throw ToolError.usage("There was no '\(name.objectText)' then.") }
        guard let data = value.bytes(in: store) else {
            throw ToolError.usage("'\(name.objectText).\(wanted)' had no value then.")
        }
        try write(data, to: arguments[file], console)
        return .success
    }

    private func write(_ data: LargeData, to path: String?, _ console: Console) throws {
        guard let path else {
            return try data.forEachPiece(of: 0..<data.count) { try console.write($0) }
        }
        let output = try NewFile(path)
        try data.forEachPiece(of: 0..<data.count) { try output.write($0) }
        try output.finish()
    }
}

extension Value {
    /// The bytes of data, wherever they are; nil for another kind of value.
    fileprivate func bytes(in store: Store) -> LargeData? {
        switch self {
        case .data(let data): LargeData(data)
        case .large(let data): data.attached(to: store)
        default: nil
        }
    }
}
