import DaybookObjectModel

@testable import DaybookObjectGraph

/// An entity that records its hooks' calls, and runs a test's closure in them.
final class Diary: ManagedObject {
    @Attribute var title: String = "untitled"
    @Attribute var revision: Int = 0
    @Attribute var tags: Tags = Tags(names: [])
    @Attribute var owner: String?
    @Transient var caption: String?
    @Relationship(.cascade, inverse: \Page.diary) var pages: Set<Page>
    @Relationship var sequel: Diary?
    @Relationship(.noAction) var origin: Page?

    /// Not part of the model.
    var log: [String] = []
    /// Not part of the model.
    var onHook: ((String, Diary) throws -> Void)?

    private func note(_ hook: String) {
        log.append(hook)
        do {
            try onHook?(hook, self)
        } catch {
            log.append("\(error)")
        }
    }

    override func awakeFromInsert() {
        owner = "nobody"
        note("awakeFromInsert \(title)")
    }

    override func awakeFromFetch() {
        caption = "\(title) \(revision)"
        note("awakeFromFetch")
    }

    override func awake(fromSnapshotEvents events: SnapshotEventType) {
        caption = "\(title) \(revision)"
        note("awake \(events.rawValue)")
    }

    override func willSave() { note("willSave") }
    override func didSave() { note("didSave") }
    override func prepareForDeletion() { note("prepareForDeletion") }
    override func willTurnIntoFault() { note("willTurnIntoFault \(isFault)") }
    override func didTurnIntoFault() { note("didTurnIntoFault \(isFault)") }

    override func validate(_ value: inout Value, forKey key: String) throws {
        log.append("validate \(key)")
        if key == "title", case .string(let title) = value {
            value = .string(title.trimmingPrefix(while: \.isWhitespace).description)
        }
        if key == "title", value == .string("forbidden") {
            throw ValidationFailure(.patternMismatch, "This title is taken.")
        }
    }

    override func validateForInsert() throws {
        log.append("validateForInsert")
        try onHook?("validateForInsert", self)
    }

    override func validateForUpdate() throws {
        log.append("validateForUpdate")
        try onHook?("validateForUpdate", self)
    }

    override func validateForDelete() throws {
        log.append("validateForDelete")
        try onHook?("validateForDelete", self)
    }
}

struct Tags: CodableAttributeValue, Equatable {
    var names: [String]
}

final class Page: ManagedObject {
    @Attribute var text: String = ""
    @Relationship var diary: Diary?
    @Relationship var bookmark: Page?

    /// Not part of the model.
    var isPrepared = false

    override func prepareForDeletion() { isPrepared = true }
}

let diaries: [ManagedObject.Type] = [Diary.self, Page.self]

/// The error of a hook that does not use validation failures.
struct Objection: Error {}
