import DaybookObjectModel

/// Faults that were fetched together and are read together as soon as one of them fires.
struct FaultBatches {
    private var batchNumbers: [GraphID: Int] = [:]
    private var batches: [Int: [GraphID]] = [:]
    private var next = 0
    private var sweepCount = 64

    /// Whether no fault is in a batch.
    var isEmpty: Bool { batches.isEmpty }

    /// Puts faults into batches of a size, in their order.
    mutating func add(_ faults: [GraphID], size: Int) {
        for start in stride(from: 0, to: faults.count, by: max(1, size)) {
            let batch = Array(faults[start..<min(start + max(1, size), faults.count)])
            next += 1
            batches[next] = batch
            for id in batch { batchNumbers[id] = next }
        }
    }

    /// Removes the batch that a fault is in, and returns it.
    mutating func take(_ id: GraphID) -> [GraphID]? {
        guard let number = batchNumbers[id], let batch = batches.removeValue(forKey: number) else {
            return nil
        }
        for id in batch where batchNumbers[id] == number { batchNumbers[id] = nil }
        return batch
    }

    /// Drops batches without needed faults, once there are many.
    mutating func sweep(keeping isNeeded: (GraphID) -> Bool) {
        guard batches.count > sweepCount else { return }
        for (number, batch) in batches where !batch.contains(where: isNeeded) {
            batches[number] = nil
            for id in batch where batchNumbers[id] == number { batchNumbers[id] = nil }
        }
        sweepCount = max(64, batches.count * 2)
    }

    /// Forgets all batches.
    mutating func removeAll() {
        batchNumbers.removeAll()
        batches.removeAll()
    }
}
