import Daybook
import Foundation

// Two contexts edit one subdivision in the store that is named on the command line.

let arguments = CommandLine.arguments.dropFirst()
guard let path = arguments.first, arguments.count == 1 else {
    FileHandle.standardError.write(Data("usage: daybook-demo STORE\n".utf8))
    exit(2)
}

do {
    let container = try PersistentContainer(
        URL(fileURLWithPath: path), model: [Country.self, Subdivision.self])
    let paris = try Desk("Paris", container)
    let geneva = try Desk("Geneva", container)

    print("Two contexts, one for a desk in Paris, one for a desk in Geneva, read FR-IDF:")
    paris.show()
    geneva.show()

    print("\nParis changes the name, Geneva the type; neither has saved:")
    paris.edit { $0.name = "Région parisienne" }
    geneva.edit { $0.type = "Region" }
    paris.show()
    geneva.show()

    print("\nParis saves as entry \(try paris.save("The name people use")).")
    print("Geneva has merged nothing yet and keeps what it read:")
    geneva.show()

    print("\nGeneva saves as entry \(try geneva.save("Simpler types")): no conflict, because they")
    print("changed different properties. Both merge what the other has saved:")
    try paris.merge()
    try geneva.merge()
    paris.show()
    geneva.show()

    print("\nNow both change the name, and Paris is first, with entry ", terminator: "")
    paris.edit { $0.name = "Paris et sa région" }
    geneva.edit { $0.name = "Ile-de-France" }
    print("\(try paris.save("Second thoughts")).")
    do {
        _ = try geneva.save("Plain letters")
        print("Geneva has saved, which should not have been possible.")
        exit(1)
    } catch let error as StoreError where error.code == .conflict {
        print("Geneva wants to save, too, and is refused: \(error.details.joined(separator: " "))")
        for conflict in error.conflicts {
            print("  base    what both started from  \(text(conflict.base))")
            print("  theirs  what Paris has saved    \(text(conflict.theirs))")
            print("  ours    what Geneva wants       \(text(conflict.ours))")
        }
    }

    print("\nGeneva decides that its own values win, and saves as entry ", terminator: "")
    print("\(try geneva.save("Plain letters", policy: .mergeByPropertyObjectTrump)).")
    try paris.merge()
    paris.show()
    geneva.show()
} catch {
    FileHandle.standardError.write(Data("error: \(error)\n".utf8))
    exit(1)
}

/// A value of a conflict as text.
func text(_ value: Value) -> String {
    if case .string(let text) = value { "\"\(text)\"" } else { "\(value)" }
}

/// A person with a context, who looks at one subdivision.
final class Desk {
    private let name: String
    private let context: ManagedObjectContext
    private let subdivision: Subdivision

    init(_ name: String, _ container: PersistentContainer) throws {
        self.name = name
        let context = container.newBackgroundContext()
        context.name = name
        context.author = name
        self.context = context
        let request = FetchRequest<Subdivision>(where: \Subdivision.code == "FR-IDF")
        let found = try context.performAndWait { try context.fetch(request) }
        guard let subdivision = found.first else { throw NoSuchSubdivision() }
        self.subdivision = subdivision
    }

    /// Says what this context sees.
    func show() {
        context.performAndWait {
            let label = (name + ":").padding(toLength: 9, withPad: " ", startingAt: 0)
            print("  \(label) \"\(subdivision.name)\", a \(subdivision.type)")
        }
    }

    /// Changes the subdivision in this context only.
    func edit(_ body: (Subdivision) -> Void) {
        context.performAndWait { body(subdivision) }
    }

    /// Saves, and says as which entry.
    func save(_ note: String, policy: MergePolicy = .error) throws -> String {
        try context.performAndWait {
            context.mergePolicy = policy
            return try context.save(note: note).map { "\($0)" } ?? "none"
        }
    }

    /// Takes in what others have saved.
    func merge() throws {
        try context.performAndWait { _ = try context.mergeChanges() }
    }
}

/// The store holds no subdivision FR-IDF.
struct NoSuchSubdivision: Error, CustomStringConvertible {
    var description: String { "The store holds no subdivision FR-IDF." }
}
