internal import DaybookObjectModel

/// The objects that do not fit a new model, for each step to it.
struct MigrationFindings {
    private var failures: [ValidationFailure] = []
    /// How many objects do not fit, for each step.
    private var counts: [Int: Int] = [:]

    /// How many objects are named for each step.
    private static let namedMaximum = 10

    /// Notes an object that does not fit, by the index of the step.
    mutating func add(_ step: Int, _ object: ObjectID, _ message: String) {
        counts[step, default: 0] += 1
        guard counts[step, default: 0] <= Self.namedMaximum else { return }
        failures.append(ValidationFailure(.invalid, object: object, message))
    }

    /// The error that names the objects; nil when all fit.
    func refusal(of steps: [ModelStep]) -> StoreError? {
        guard !counts.isEmpty else { return nil }
        let details = counts.keys.sorted().map { index in
            let count = counts[index, default: 0]
            let objects = count == 1 ? "1 object does" : "\(count) objects do"
            return "To \(steps[index].description): \(objects) not fit."
        }
        return StoreError(
            .validation,
            "The store was not migrated: there are objects that the new model does not allow. Change "
                + "them first, give the attribute a default, or leave the step out.",
            failures: failures, details: details + failures.map(\.message))
    }
}
