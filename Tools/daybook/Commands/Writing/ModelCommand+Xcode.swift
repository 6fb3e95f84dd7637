import DaybookModelFiles
import DaybookObjectModel

extension ModelCommand {
    /// Prints a model of Xcode, or the names of its versions.
    func convert(
        _ path: String, _ arguments: ParsedArguments, _ console: Console
    ) throws -> ExitCode {
        do {
            let file = try ModelFile(at: path)
            guard !arguments[listsVersions] else { return try list(file.versions, console) }
            let reading = try file.read(version: arguments[version])
            var remarks = reading.remarks
            if arguments[isSwift] {
                let classes = try SwiftClasses(reading)
                try console.write(classes.text.utf8)
                remarks += classes.remarks
            } else {
                try console.print(reading.model.json(Self.layout(console)))
            }
            for remark in remarks { try console.warn(remark) }
            return arguments[isStrict] && !remarks.isEmpty ? .finding : .success
        } catch let error as ModelFileError {
            throw Self.failure(error, path)
        }
    }

    private func list(_ versions: [ModelFile.Version], _ console: Console) throws -> ExitCode {
        switch console.format {
        case .text:
            for version in versions {
                try console.print(
                    DisplayText.escaped(version.name) + (version.isCurrent ? " (current)" : ""))
            }
        case .json, .jsonl:
            let list = versions.map {
                ["name": .string($0.name), "current": .bool($0.isCurrent)] as JSONText
            }
            try console.print(["versions": .array(list)] as JSONText)
        }
        return .success
    }

    private static func failure(_ error: ModelFileError, _ path: String) -> ToolError {
        guard error.problems.count > 1 else {
            return .usage("The model '\(path)' cannot be read. \(error)")
        }
        return ToolError(
            .usage, "The model '\(path)' cannot be read, for \(error.problems.count) reasons:",
            details: error.problems)
    }
}
