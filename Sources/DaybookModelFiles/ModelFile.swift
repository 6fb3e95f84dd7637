import Foundation

/// A model that Xcode has made: an `.xcdatamodeld` or `.xcdatamodel` from a project, a `.momd` or `.mom`
/// from a program.
package struct ModelFile {
    /// One version of the model.
    package struct Version: Sendable, Hashable {
        /// The name, without its extension.
        package let name: String
        /// Whether it is the one that new stores are made with.
        package let isCurrent: Bool
        fileprivate let url: URL
    }

    /// More than any model drawn by people has.
    private static let bytesMaximum = 8 << 20
    private static let listBytesMaximum = 64 << 10

    private let path: String
    /// The versions, by their names; a single model is its only version.
    package let versions: [Version]

    /// Finds the versions of a model.
    ///
    /// - Parameter path: The file or folder.
    /// - Throws: ``ModelFileError`` when there is no model.
    package init(at path: String) throws(ModelFileError) {
        self.path = path
        let url = URL(fileURLWithPath: path)
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw ModelFileError("There is no model '\(path)'.")
        }
        let name = url.deletingPathExtension().lastPathComponent
        guard isFolder.boolValue else {
            versions = [Version(name: name, isCurrent: true, url: url)]
            return
        }
        if let file = Self.contents(of: url) {
            versions = [Version(name: name, isCurrent: true, url: file)]
            return
        }
        let found = try Self.versions(in: url)
        guard !found.isEmpty else {
            throw ModelFileError(
                "'\(path)' holds no model: a '.xcdatamodeld' holds '.xcdatamodel' folders with a file "
                    + "'contents', and a '.momd' holds '.mom' files. Open and save models of Xcode 3 with "
                    + "a newer Xcode first.")
        }
        let current = try Self.nameOfCurrentVersion(in: url)
        versions = found.map { name, file in
            Version(name: name, isCurrent: found.count == 1 || name == current, url: file)
        }
    }

    /// Reads one version.
    ///
    /// - Parameter name: Its name; nil for the current version.
    /// - Returns: The model, with remarks on what it does not have of the file.
    /// - Throws: ``ModelFileError`` with all mistakes.
    package func read(version name: String? = nil) throws(ModelFileError) -> ModelReading {
        let version = try version(named: name)
        let data = try Self.data(of: version.url, upTo: Self.bytesMaximum)
        let source =
            data.starts(with: CompiledModelReader.mark)
            ? try CompiledModelReader.model(in: data)
            : try XMLModelReader.model(in: XMLTree.root(of: data))
        return try ModelTranslation.reading(of: source)
    }

    private func version(named name: String?) throws(ModelFileError) -> Version {
        let names = versions.map { "'\($0.name)'" }.joined(separator: ", ")
        guard let name else {
            if let current = versions.first(where: \.isCurrent) { return current }
            throw ModelFileError(
                "'\(path)' does not say which of its versions is the current one. Name one of \(names) "
                    + "with '--version'.")
        }
        let plain = Self.extensions.reduce(name) {
            $0.hasSuffix($1) ? String($0.dropLast($1.count)) : $0
        }
        if let version = versions.first(where: { $0.name == name || $0.name == plain }) {
            return version
        }
        throw ModelFileError("'\(path)' has no version '\(name)'. It has \(names).")
    }

    private static let extensions = [".xcdatamodel", ".mom"]

    /// The file of a model that is a folder.
    private static func contents(of folder: URL) -> URL? {
        let file = folder.appendingPathComponent("contents")
        return FileManager.default.fileExists(atPath: file.path) ? file : nil
    }

    private static func versions(in folder: URL) throws(ModelFileError) -> [(String, URL)] {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        } catch {
            throw ModelFileError("The folder '\(folder.path)' cannot be read: \(error).")
        }
        let versions: [(String, URL)] = names.compactMap { name in
            let url = folder.appendingPathComponent(name)
            let file =
                name.hasSuffix(".xcdatamodel")
                ? contents(of: url) : name.hasSuffix(".mom") ? url : nil
            return file.map { (url.deletingPathExtension().lastPathComponent, $0) }
        }
        // Version 10 comes after version 9.
        return versions.sorted { $0.0.compare($1.0, options: .numeric) == .orderedAscending }
    }

    /// What the folder says of its current version; nil when it says nothing.
    private static func nameOfCurrentVersion(in folder: URL) throws(ModelFileError) -> String? {
        for (list, key) in [
            (".xccurrentversion", "_XCCurrentVersionName"),
            ("VersionInfo.plist", "NSManagedObjectModel_CurrentVersionName"),
        ] {
            let file = folder.appendingPathComponent(list)
            guard FileManager.default.fileExists(atPath: file.path) else { continue }
            let data = try data(of: file, upTo: listBytesMaximum)
            let members: Any
            do {
                members = try PropertyListSerialization.propertyList(from: data, format: nil)
            } catch {
                throw ModelFileError("'\(file.path)' is not a property list: \(error).")
            }
            guard let name = (members as? [String: Any])?[key] as? String else {
                throw ModelFileError("'\(file.path)' has no text under '\(key)'.")
            }
            return extensions.reduce(name) { $0.hasSuffix($1) ? String($0.dropLast($1.count)) : $0 }
        }
        return nil
    }

    private static func data(of file: URL, upTo limit: Int) throws(ModelFileError) -> Data {
        let data: Data
        do {
            let handle = try FileHandle(forReadingFrom: file)
            data = try handle.read(upToCount: limit + 1) ?? Data()
        } catch {
            throw ModelFileError("'\(file.path)' cannot be read: \(error.localizedDescription)")
        }
        guard data.count <= limit else {
            throw ModelFileError(
                "'\(file.path)' has more than \(limit) bytes, more than any model has.")
        }
        return data
    }
}
