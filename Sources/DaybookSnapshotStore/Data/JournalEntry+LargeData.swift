internal import DaybookJournalLog
internal import DaybookObjectModel

extension JournalEntry {
    /// Calls `body` with each large data among the new values, its object and its slot; an update
    /// gives the property instead.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when the entry cannot be decoded; what
    ///   `body` throws.
    func forEachLargeData(
        _ body: (LargeData, ObjectID, DataPlace) throws -> Void
    ) throws {
        let entry = try EntryPayload.Encoded(self)
        let bytes = entry.bytes.span.bytes
        var offset = entry.changesOffset
        var change = EncodedChange()
        for _ in 0..<entry.changesCount {
            try decoding { () throws(DecodingFailure) in try change.read(bytes, at: &offset) }
            guard change.kind != .delete else { continue }
            for (slot, field) in change.fields.enumerated() where !field.isEmpty {
                guard let data = try largeData(at: field.start, in: bytes) else { continue }
                try body(data, change.object, .slot(slot))
            }
            for edit in change.edits where !edit.new.isEmpty {
                guard let data = try largeData(at: edit.new.start, in: bytes) else { continue }
                try body(data, change.object, .property(edit.property))
            }
        }
    }

    private func largeData(at offset: Int, in bytes: RawSpan) throws -> LargeData? {
        try decoding { () throws(DecodingFailure) in try bytes.largeData(at: offset) }
    }

    private func decoding<R>(_ body: () throws(DecodingFailure) -> R) throws -> R {
        do {
            return try body()
        } catch {
            throw StoreError.entryUnreadable(sequence, cause: error)
        }
    }
}

/// The value of an object that the data are.
enum DataPlace: Sendable, Hashable {
    case slot(Int)
    case property(PropertyNumber)

    /// The name of the property.
    func name(_ object: ObjectID, in schema: Schema) -> String? {
        guard let entity = schema.entity(object.entity) else { return nil }
        return switch self {
        case .slot(let slot): slot < entity.slots.count ? entity.slots[slot].name : nil
        case .property(let number): entity.property(number)?.name
        }
    }
}
