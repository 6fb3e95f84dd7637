import Foundation

/// (f) The size of the store's files, none of which has holes.
struct DiskUse: Workload {
    let letter: String
    let moment: String

    let measure = Measure.bytes
    let target: Target? = .toSQLite(1.5, aim: 1.1)
    var title: String { "bytes on disk \(moment)" }

    func measure(_ stage: Stage) throws -> Double {
        try stage.contender.settle()
        let files = FileManager.default
        var bytes = 0
        for name in try files.contentsOfDirectory(atPath: stage.mainFolder.path) {
            let path = stage.mainFolder.appendingPathComponent(name).path
            bytes += (try files.attributesOfItem(atPath: path)[.size] as? NSNumber)?.intValue ?? 0
        }
        return Double(bytes)
    }
}
