import DaybookJournalLog
import DaybookSnapshotStore

/// States of projections as the folds of programs keep them, for tests that read them without one.
package enum KeptStates {
    /// Keeps a state of which a fold has made texts and JSON.
    ///
    /// - Parameters:
    ///   - path: The store.
    ///   - name: The projection.
    ///   - version: The version of the fold.
    ///   - last: The entry behind which the state stands.
    ///   - values: The keys, and JSON.
    /// - Throws: ``StoreError`` as a fold does.
    package static func write(
        at path: String, _ name: String, version: Int, at last: UInt64, _ values: [String: String]
    ) throws {
        let records = values.map { key, value in
            StateRecord(key: Array(key.utf8), value: Array(value.utf8))
        }
        try keep(records, path, name, .string, version, last)
    }

    /// Keeps a state with keys of any form, each of which has the value 1.
    ///
    /// - Parameters:
    ///   - path: The store.
    ///   - name: The projection.
    ///   - form: The name of what the keys are.
    ///   - version: The version of the fold.
    ///   - last: The entry behind which the state stands.
    ///   - keys: Their bytes.
    /// - Throws: ``StoreError`` as a fold does.
    package static func write(
        at path: String, _ name: String, form: String, version: Int, at last: UInt64,
        keys: [[UInt8]]
    ) throws {
        let forms = ProjectionKeyForm.allCases
        guard let form = forms.first(where: { $0.description == form }) else {
            preconditionFailure("There is no such form of keys.")
        }
        let records = keys.map { StateRecord(key: $0, value: Array("1".utf8)) }
        try keep(records, path, name, form, version, last)
    }

    private static func keep(
        _ records: [StateRecord], _ path: String, _ name: String, _ form: ProjectionKeyForm,
        _ version: Int, _ last: UInt64
    ) throws {
        let store = try TestStore.open(at: path)
        let task = try store.foldTask(of: name, version: version, form, rebuilds: true)
        let place = try store.place(after: SequenceNumber(last))
        let sorted = records.sorted { $0.key.lexicographicallyPrecedes($1.key) }
        _ = try store.keep(StatePage(task, to: place, sorted))
        try store.close()
    }
}
