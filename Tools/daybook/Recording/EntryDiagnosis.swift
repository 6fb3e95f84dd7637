import Daybook
import DaybookObjectModel
import DaybookSnapshotStore

/// Finds the line that caused the refusal of an entry.
///
/// Runs only after a refusal, so it may read everything again.
struct EntryDiagnosis {
    private let recorder: Recorder

    init(_ recorder: Recorder) {
        self.recorder = recorder
    }

    /// Why the entry was refused.
    ///
    /// - Returns: ``LineProblem`` with the line at fault, or with that of the save if no single
    ///   line is at fault; the error itself if the input is not at fault.
    func problem(_ error: StoreError, savedInLine line: Int) -> any Error {
        do {
            switch error.code {
            case .validation:
                if error.failures.allSatisfy({ $0.reason == .deleteDenied }) {
                    return try missingValue() ?? brokenRule(error) ?? denial(error, line)
                }
                // A sum of an object that no line names may not fit.
                return try missingValue() ?? brokenRule(error)
                    ?? refusal(error, line, .usage)
            case .duplicate: return try duplicate() ?? refusal(error, line)
            case .conflict: return refusal(error, line)
            case .attribution, .information:
                return refusal(error, line, .usage)
            case .law: return brokenLaw(error, line)
            default: return error
            }
        } catch {
            return error
        }
    }

    private func refusal(
        _ error: StoreError, _ line: Int, _ code: ExitCode = .conflict
    ) -> LineProblem {
        LineProblem(
            reasons(error, withMessage: true).joined(separator: " "), code: code, line: line)
    }

    /// The sentences of an error. The message that names the line at fault need not add that
    /// nothing was saved.
    private func reasons(_ error: StoreError, withMessage: Bool) -> [String] {
        let message = error.message.replacing("Nothing was saved: ", with: "", maxReplacements: 1)
        return (withMessage ? [message] : []) + error.details
    }

    // MARK: - Missing values

    private func missingValue() throws -> LineProblem? {
        for (object, touch) in touchedObjects {
            let entity = try recorder.entity(named: object.objectID.entityName)
            for property in entity.slots.prefix(entity.storedSlotCount) {
                guard isMandatory(property), isEmpty(property, of: object) else { continue }
                return LineProblem(
                    "'\(property.name)' is missing: every '\(entity.name)' has one.",
                    line: touch.line)
            }
        }
        return nil
    }

    private func isMandatory(_ property: SchemaProperty) -> Bool {
        property.attribute?.isOptional == false || property.relationship?.isOptional == false
    }

    private func isEmpty(_ property: SchemaProperty, of object: ManagedObject) -> Bool {
        property.attribute != nil
            ? object.storedValue(forKey: property.name).isNull
            : object.relatedObjects(forKey: property.name).isEmpty
    }

    // MARK: - Laws

    /// The line with the first change that a law forbids.
    private func brokenLaw(_ error: StoreError, _ line: Int) -> LineProblem {
        let breach = error.breaches.first
        let touch = breach.flatMap { recorder.trace.touches[$0.object] }
        let property = breach.flatMap { breach in
            breach.property.flatMap {
                recorder.schema.entity(breach.object.entity)?.property(named: $0)
            }
        }
        let place = property.flatMap { touch?.lines[$0.number] } ?? touch?.deletion
        return refusal(error, place ?? touch?.line ?? line)
    }

    // MARK: - Rules

    /// A value or a count that the model does not allow.
    private func brokenRule(_ error: StoreError) -> LineProblem? {
        for failure in error.failures where failure.reason != .deleteDenied {
            guard let object = failure.object, let touch = recorder.trace.touches[object] else {
                continue
            }
            let property = failure.property.flatMap {
                recorder.schema.entity(object.entity)?.property(named: $0)
            }
            let line = property.flatMap { touch.lines[$0.number] } ?? touch.line
            return LineProblem(failure.message, line: line)
        }
        return nil
    }

    /// A delete that the delete rule `deny` refuses.
    private func denial(_ error: StoreError, _ line: Int) -> LineProblem {
        let reasons = reasons(error, withMessage: error.details.isEmpty)
        for (id, touch) in recorder.trace.inOrder {
            guard let deletion = touch.deletion else { continue }
            let name = "'\(recorder.schema.name(of: id))'"
            if let reason = reasons.first(where: { $0.contains(name) }) {
                return LineProblem(reason, code: .conflict, line: deletion)
            }
        }
        return refusal(error, line)
    }

    // MARK: - Unique values

    private func duplicate() throws -> LineProblem? {
        var lines: [PropertyNumber: [Value: Int]] = [:]
        for (object, touch) in touchedObjects {
            let entity = try recorder.entity(named: object.objectID.entityName)
            for property in entity.indexedSlots where property.isUnique {
                let value = object.storedValue(forKey: property.name)
                guard !value.isNull else { continue }
                let line = touch.lines[property.number] ?? touch.line
                if let other = lines[property.number]?[value] {
                    return LineProblem(
                        "'\(property.name)' must be unique, and line \(min(line, other)) has the "
                            + "same value.", code: .conflict, line: max(line, other))
                }
                lines[property.number, default: [:]][value] = line
                if let other = try holder(of: value, property, entity, except: object) {
                    return LineProblem(
                        "'\(property.name)' must be unique, and \(other) has the same value.",
                        code: .conflict, line: line)
                }
            }
        }
        return nil
    }

    /// The stored object that has a value and keeps it.
    private func holder(
        of value: Value, _ property: SchemaProperty, _ entity: SchemaEntity,
        except object: ManagedObject
    ) throws -> String? {
        let filter = Filter.comparison(
            FilterComparison(.path(FilterPath([property])), .equal, .constant(value)))
        let own = object.objectID.object
        let isTouched = { recorder.trace.touches[$0] != nil }
        let found = try recorder.store.read { snapshot in
            // An inherited attribute is unique over all entities that have it.
            let root = recorder.schema.root(of: entity, with: property)
            return try snapshot.fetch(Query(root, filter: filter))
        }
        return found.first { $0 != own && !isTouched($0) }.map { recorder.schema.name(of: $0) }
    }

    /// The remaining objects, in the order of the lines that first touched them.
    private var touchedObjects: [(ManagedObject, EntryTrace.Touch)] {
        recorder.trace.inOrder.compactMap { id, touch in
            recorder.registeredObject(id).flatMap { $0.isDeleted ? nil : ($0, touch) }
        }
    }
}

extension Schema {
    /// The topmost entity from which an entity inherits a property.
    fileprivate func root(of entity: SchemaEntity, with property: SchemaProperty) -> SchemaEntity {
        var root = entity
        while let parent = root.superentity.flatMap({ self.entity($0) }),
            parent.property(property.number) != nil
        {
            root = parent
        }
        return root
    }
}
