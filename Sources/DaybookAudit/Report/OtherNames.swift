internal import DaybookJournalLog
internal import DaybookObjectModel
internal import DaybookSnapshotStore

/// What entities and properties were called when entries were saved, for a page that calls them as they are called now:
/// in the model of whoever makes the page, which may be older than the last one.
///
/// Numbers never change, so nothing is guessed. What that model does not have keeps its name.
struct OtherNames: Sendable {
    /// The names of one version of the model.
    private struct Version {
        /// The entry that set the next version; nil for the last.
        let end: SequenceNumber?
        let entities: [Entity]
    }

    /// An entity that had another name, or has properties that had.
    fileprivate struct Entity {
        let name: String
        let now: String
        let properties: [(name: String, now: String)]
    }

    /// Oldest first; empty when nothing was ever called otherwise.
    private let versions: [Version]

    init(_ history: ModelHistory, now: Schema) {
        let ends = history.versions.dropFirst().map { Optional($0.sequence) } + [nil]
        let versions = zip(history.versions, ends).map { version, end in
            Version(
                end: end, entities: version.schema.entities.compactMap { Entity($0, now: now) })
        }
        self.versions = versions.contains { !$0.entities.isEmpty } ? versions : []
    }

    /// Writes a member `names`: a list of versions, oldest first, each with the entry `before` which it was in force if
    /// there is a later one, and by their names then the names of entities and of their properties now.
    func append(to writer: inout JSONWriter) {
        guard !versions.isEmpty else { return }
        writer.name("names")
        writer.array { writer in
            for version in versions {
                writer.object { writer in
                    if let end = version.end {
                        writer.name("before")
                        writer.integer(end.rawValue)
                    }
                    writer.name("entities")
                    writer.object { writer in
                        for entity in version.entities { entity.append(to: &writer) }
                    }
                }
            }
        }
    }
}

extension OtherNames.Entity {
    /// Nil for an entity that there is not now, and for one of which nothing was called otherwise.
    fileprivate init?(_ entity: SchemaEntity, now schema: Schema) {
        guard let now = schema.entity(entity.number) else { return nil }
        name = entity.name
        self.now = now.name
        properties = entity.properties.compactMap { property in
            guard let other = now.property(property.number), other.name != property.name else {
                return nil
            }
            return (property.name, other.name)
        }
        if name == now.name, properties.isEmpty { return nil }
    }

    fileprivate func append(to writer: inout JSONWriter) {
        writer.name(name)
        writer.object { writer in
            writer.name("name")
            writer.string(now)
            writer.name("properties")
            writer.object { writer in
                for property in properties {
                    writer.name(property.name)
                    writer.string(property.now)
                }
            }
        }
    }
}
