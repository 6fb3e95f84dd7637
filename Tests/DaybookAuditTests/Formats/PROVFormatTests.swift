import DaybookAudit
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// Provenance as PROV-JSON.
@Suite struct PROVFormatTests {
    @Test(.ownStores("The server's clock is read more often."))
    func `an export is the same as ever`() throws {
        let story = try AtlasStory.write()

        let bytes = try Exporting.bytes(of: story.store, as: "prov")

        try Fixture.expect(Data(bytes), equals: "exports/atlas.prov")
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `every version has the values of every type that it had`(seed: UInt64) throws {
        let temporary = try RandomValues.write(seed: seed, entries: 40)
        let store = temporary.store

        let document = try Self.document(of: store)

        var versionCount = 0
        for member in try Self.members(document, "entity") {
            let name = member.name
            let parts = name.split(separator: "@")
            let object = try #require(
                store.schema.object(named: String(parts[0].dropFirst("store:".count))))
            let sequence = SequenceNumber(try #require(UInt64(parts[1])))
            let expected = try StateJSON.members(of: object, at: sequence, in: store)
                .filter { $0.value != .null && $0.value != .array([]) }
            guard case .object(let members) = member.value else {
                Issue.record("\(name) is no object")
                continue
            }
            for (property, value) in expected {
                let found = try #require(members.first { $0.name == "property:\(property)" })
                if property == "a_codable" {
                    #expect(found.value == .string(value.text), "\(name), seed \(seed)")
                } else {
                    #expect(found.value == value, "\(name) \(property), seed \(seed)")
                }
            }
            #expect(
                members.count { $0.name.hasPrefix("property:") } == expected.count,
                "\(name), seed \(seed)")
            versionCount += 1
        }
        #expect(versionCount > 30, "seed \(seed)")
    }

    @Test func `relations connect versions, entries and authors`() throws {
        let story = try AtlasStory.write()

        let document = try Self.document(of: story.store)

        func lines(_ part: String) throws -> [String] {
            try Self.members(document, part).map { "\($0.name) \($0.value.text)" }
        }
        #expect(try lines("activity").count == 10)
        #expect(
            try lines("agent") == [
                #"store:author/%3Dcmd {"prov:label":"=cmd"}"#,
                #"store:author/Ada {"prov:label":"Ada"}"#,
                #"store:author/registry {"prov:label":"registry"}"#,
            ])
        #expect(try lines("entity").count == 12)
        #expect(try lines("wasGeneratedBy").count == 12)
        #expect(try lines("used").count == 7)
        #expect(
            try lines("wasDerivedFrom").first
                == #"_:d4.0 {"prov:generatedEntity":"store:Subdivision/5@4","#
                + #""prov:usedEntity":"store:Subdivision/5@3","prov:activity":"store:entry/4","#
                + #""prov:type":{"$":"prov:Revision","type":"prov:QUALIFIED_NAME"}}"#)
        #expect(
            try lines("wasInvalidatedBy") == [
                #"_:i5.0 {"prov:entity":"store:Country/3@2","prov:activity":"store:entry/5","#
                    + #""prov:time":"2011-12-15T00:00:00Z"}"#,
                #"_:i5.1 {"prov:entity":"store:Subdivision/6@3","#
                    + #""prov:activity":"store:entry/5","prov:time":"2011-12-15T00:00:00Z"}"#,
            ])
        #expect(try lines("wasAssociatedWith").count == 7)
    }

    @Test func `a document of nothing is a document`() throws {
        let temporary = try TemporaryStore()
        var filter = AuditFilter()
        filter.authors = ["nobody"]

        let bytes = try Exporting.bytes(of: temporary.store, as: "prov", matching: filter)

        guard case .object(let members) = try JSONValue(parsing: bytes) else {
            Issue.record("The document is no object.")
            return
        }
        #expect(members.count == 9)
        #expect(members.dropFirst().allSatisfy { $0.value == .object([]) })
    }

    // MARK: - Reading

    private static func document(of store: Store) throws -> JSONValue {
        try JSONValue(parsing: try Exporting.bytes(of: store, as: "prov"))
    }

    private static func members(_ document: JSONValue, _ part: String) throws -> [JSONMember] {
        guard case .object(let parts) = document,
            case .object(let members) = parts.first(where: { $0.name == part })?.value
        else {
            Issue.record("There is no \(part).")
            return []
        }
        return members
    }
}

/// The state of an object after an entry, read from the store without the formats.
enum StateJSON {
    /// All stored properties of the object, null included; empty if there was none.
    static func members(
        of object: ObjectID, at sequence: SequenceNumber, in store: Store
    ) throws -> [String: JSONValue] {
        guard let entity = store.schema.entity(object.entity),
            let state = try store.read(at: sequence, { try $0.state(of: object) })
        else { return [:] }
        var members: [String: JSONValue] = [:]
        for property in entity.properties {
            if let slot = property.slot, property.isPersistent {
                var writer = JSONWriter()
                writer.value(state.values[slot], of: property, in: store.schema)
                members[property.name] = try JSONValue(parsing: writer.bytes)
            } else if property.isStoredToMany {
                let sorted = (state.members[property.number] ?? [:])
                    .sorted { ($0.value, $0.key) < ($1.value, $1.key) }
                members[property.name] = .array(
                    sorted.map { .string(store.schema.name(of: $0.key)) })
            }
        }
        return members
    }
}
