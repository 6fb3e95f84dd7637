import Daybook
import DaybookObjectModel
import DaybookSnapshotStore
import Foundation

/// Setting the properties in `values`.
extension Recorder {
    /// Sets properties of an object.
    func set(_ values: [JSONMember], of object: ManagedObject, _ line: Int) throws {
        guard !values.isEmpty else { return }
        let entity = try entity(named: object.objectID.entityName)
        for member in try elementMembers(values, of: entity) {
            let property = try property(named: member.name, of: entity)
            trace.record(property, of: object, line: line, isUnderLaws: hasLaws)
            if let attribute = property.attribute {
                guard property.isPersistent else {
                    throw LineProblem("'\(property.name)' is transient: no store keeps it.")
                }
                if let derivation = attribute.derivation {
                    throw LineProblem(
                        "'\(property.name)' is derived from '\(derivation)' and cannot be set.")
                }
                let value = try value(member.value, of: attribute)
                if value.isNull, !attribute.isOptional {
                    throw LineProblem(
                        "'\(property.name)' cannot be null: "
                            + "every '\(entity.name)' has one.")
                }
                object.setStoredValue(value, forKey: property.name)
            } else {
                let destinations = try destinations(member.value, of: property)
                object.setRelatedObjects(destinations, forKey: property.name)
            }
        }
    }

    /// Members with the elements of composite attributes named by their paths.
    func elementMembers(
        _ members: [JSONMember], of entity: SchemaEntity
    ) throws -> [JSONMember] {
        do {
            return try entity.elementMembers(of: members)
        } catch {
            throw LineProblem(error.message)
        }
    }

    /// The property of that name.
    func property(named name: String, of entity: SchemaEntity) throws -> SchemaProperty {
        if let property = entity.property(named: name) { return property }
        let names = entity.properties.map(\.name)
        let near = Suggestion.nearest(to: name, among: names)
        throw LineProblem(
            "'\(entity.name)' has no property '\(name)'; "
                + (near.map { "did you mean '\($0)'?" } ?? "it has \(Operation.list(names))."))
    }

    /// The value of an attribute.
    func value(_ json: JSONValue, of attribute: AttributeDescription) throws -> Value {
        if attribute.type == .data, let name = json.fileName {
            return try bytes(ofFile: name, attribute)
        }
        do {
            return try Value(
                json, for: attribute.type, isConfidential: attribute.isConfidential)
        } catch {
            throw LineProblem("'\(attribute.name)' is wrong: \(error.message)")
        }
    }

    /// The bytes of a file; if they are many, they are in the store then.
    private func bytes(ofFile name: String, _ attribute: AttributeDescription) throws -> Value {
        guard let files else {
            throw LineProblem(
                "'\(attribute.name)' is wrong: a file was named, and no folder of files was given. "
                    + "'daybook record' takes it with '--files FOLDER'.")
        }
        // Links may lead out of the folder, too.
        let folder = URL(fileURLWithPath: files).resolvingSymlinksInPath().path
        let file = URL(fileURLWithPath: files + "/" + name).resolvingSymlinksInPath().path
        guard !name.hasPrefix("/"), !name.split(separator: "/").contains(".."),
            file.hasPrefix(folder == "/" ? "/" : folder + "/")
        else {
            throw LineProblem(
                "'\(attribute.name)' is wrong: '\(name)' is not in the folder of '--files'. Name the "
                    + "file as seen from that folder.")
        }
        if let found = try? FileManager.default.attributesOfItem(atPath: file),
            found[.type] as? FileAttributeType != .typeRegular
        {
            throw LineProblem("'\(attribute.name)' is wrong: '\(name)' is not a regular file.")
        }
        var staging = DataStaging(in: store)
        // What is staged is written; a dry run has all of it in memory.
        var whole = Data()
        do {
            let input = try InputFile(file)
            var buffer = [UInt8](repeating: 0, count: 1 << 20)
            while case let count = try input.read(into: &buffer), count > 0 {
                if isDry {
                    whole += buffer[..<count]
                } else {
                    try staging.append(Data(buffer[..<count]))
                }
            }
        } catch let error as ToolError {
            throw LineProblem("'\(attribute.name)' is wrong: \(error.message)")
        }
        if isDry { return Value.data(whole) }
        return Value.large(try staging.finish()).normalized(for: .data)
    }

    /// The new destinations of a relationship.
    private func destinations(
        _ json: JSONValue, of property: SchemaProperty
    ) throws -> [ManagedObject] {
        guard property.relationship?.isToMany == true else {
            let object = try destination(json, of: property)
            if object == nil, property.relationship?.isOptional == false {
                throw LineProblem("'\(property.name)' cannot be null: it must lead to an object.")
            }
            return object.map { [$0] } ?? []
        }
        guard case .array(let elements) = json else {
            throw LineProblem(
                "'\(property.name)' leads to many objects: a list such as [{\"ref\":\"…\"}] was "
                    + "expected, not \(json.noun).")
        }
        var objects: [ManagedObject] = []
        var seen: Set<ManagedObject> = []
        for element in elements {
            guard let object = try destination(element, of: property) else {
                throw LineProblem("The list of '\(property.name)' cannot hold null.")
            }
            guard seen.insert(object).inserted else {
                throw LineProblem(
                    "The list of '\(property.name)' holds the same object twice.")
            }
            objects.append(object)
        }
        return objects
    }

    /// The object that a reference names; nil for null.
    func destination(_ json: JSONValue, of property: SchemaProperty) throws -> ManagedObject? {
        if json == .null { return nil }
        guard let end = property.end, let entity = schema.entity(end.destination) else {
            preconditionFailure("A relationship leads to an entity of the model.")
        }
        let object = try referredObject(json, of: property, entity)
        guard entity.family.contains(object.objectID.object.entity) else {
            throw LineProblem(
                "'\(property.name)' leads to objects of '\(entity.name)', not of "
                    + "'\(object.objectID.entityName)'.")
        }
        return object
    }

    private func referredObject(
        _ json: JSONValue, of property: SchemaProperty, _ destination: SchemaEntity
    ) throws -> ManagedObject {
        guard case .object(let members) = json, members.count == 1, let member = members.first
        else { throw badReference(json, property) }
        switch (member.name, member.value) {
        case ("ref", .string(let ref)): return try object(ref: ref)
        case ("object", .string(let name)): return try object(named: name)
        case ("match", .object(let conditions)):
            do {
                return try matchedObject(of: destination, conditions)
            } catch let problem as LineProblem {
                throw LineProblem("'\(property.name)' is wrong: \(problem.message)")
            }
        default: throw badReference(json, property)
        }
    }

    private func badReference(_ json: JSONValue, _ property: SchemaProperty) -> LineProblem {
        LineProblem(
            "'\(property.name)' is wrong: {\"ref\":\"…\"}, {\"match\":{…}}, "
                + "{\"object\":\"\(destinationName(of: property))/17\"} or null was expected, not "
                + "\(json.noun).")
    }

    private func destinationName(of property: SchemaProperty) -> String {
        property.relationship?.destinationName ?? ""
    }
}

extension JSONValue {
    /// The file that a value such as `{"file":"dawn.jpg"}` names.
    fileprivate var fileName: String? {
        guard case .object(let members) = self, members.count == 1, members[0].name == "file",
            case .string(let name) = members[0].value
        else { return nil }
        return name
    }
}
