internal import DaybookJournalLog
internal import DaybookObjectModel
internal import DaybookSnapshotStore

extension Store {
    /// Makes bytes of all objects of an entity as of an entry, by number, a few at a time.
    ///
    /// Each few are read in a read transaction of their own, and `output` runs outside of it: a slow
    /// reader keeps no pages of the file, and memory is needed for a few objects.
    ///
    /// - Parameters:
    ///   - entity: The entity; objects of its subentities are not among them.
    ///   - sequence: The entry.
    ///   - make: Makes the bytes of a few objects.
    ///   - output: Takes them.
    /// - Throws: `StoreError` when the store cannot be read; what `make` and `output` throw.
    /// - Complexity: O(*n*) page reads, *n* the number of objects that the entity ever had.
    func writeObjects(
        of entity: EntityNumber, at sequence: SequenceNumber,
        _ make: ([ObjectID], borrowing Snapshot) throws -> [UInt8],
        to output: ([UInt8]) throws -> Void
    ) throws {
        var first: UInt64 = 1
        while true {
            let (objects, bytes) = try read(at: sequence) { snapshot in
                var objects: [ObjectID] = []
                try snapshot.objects(of: entity, numbers: first...UInt64.max) { object in
                    objects.append(object)
                    return objects.count < Self.objectsOfPiece ? .proceed : .stop
                }
                return (objects, try make(objects, snapshot))
            }
            if !bytes.isEmpty { try output(bytes) }
            guard objects.count == Self.objectsOfPiece, let last = objects.last?.number,
                last < UInt64.max
            else { return }
            first = last + 1
        }
    }

    /// Few enough that their bytes need little memory, and enough that looking for the first of them
    /// costs little beside them.
    private static var objectsOfPiece: Int { 256 }
}
