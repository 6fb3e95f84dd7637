import DaybookAudit

/// The options with which several commands select entries and changes.
struct FilterArguments: Sendable {
    private let entity = RepeatedOption(
        "--entity", short: "-e", "ENTITY", .name, "Only entries that change objects of this entity."
    )
    private let object = RepeatedOption(
        "--object", "OBJECT", .object, "Only entries that change this object.")
    private let property = RepeatedOption(
        "--property", "NAME", .name, "Only entries that change a property of this name.")
    private let author = RepeatedOption(
        "--author", short: "-a", "A", .text, "Only entries of this author.")
    private let operation = RepeatedOption<AuditChange.Operation>(
        "--op", "OPERATION", .oneOf, "Only entries that insert, update or delete.")
    private let text = RepeatedOption(
        "--text", short: "-S", "TEXT", .text,
        "Only entries that add or remove a value containing this text.")
    private let note = RepeatedOption(
        "--grep", "TEXT", .text, "Only entries whose note contains this text.")

    private let info = RepeatedOption(
        "--info", "KEY[=VALUE]", ValueParser<InfoCondition>.infoCondition,
        "Only entries with information by this key.")

    /// The declarations, for the list of a command.
    var all: [any Argument] { [entity, object, property, author, operation, text, note, info] }

    /// The requested filter, over the whole journal.
    func filter(_ arguments: ParsedArguments) -> AuditFilter {
        var filter = AuditFilter()
        filter.authors = Set(arguments[author])
        filter.entities = Set(arguments[entity])
        filter.objects = Set(arguments[object].map(\.objectText))
        filter.properties = Set(arguments[property])
        filter.operations = Set(arguments[operation])
        filter.texts = Set(arguments[text])
        filter.notes = Set(arguments[note])
        let conditions = Dictionary(grouping: arguments[info], by: \.key)
        // A key alone is met by any value.
        filter.info = conditions.mapValues { conditions in
            let values = conditions.compactMap(\.value)
            return values.count == conditions.count ? Set(values) : []
        }
        return filter
    }
}
