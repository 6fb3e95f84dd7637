import Foundation

#if canImport(FoundationXML)
import FoundationXML
#endif

/// One element of a small XML file.
final class XMLNode {
    let name: String
    let attributes: [String: String]
    let line: Int
    private(set) var children: [XMLNode] = []

    init(_ name: String, _ attributes: [String: String], line: Int) {
        self.name = name
        self.attributes = attributes
        self.line = line
    }

    func append(_ child: XMLNode) {
        children.append(child)
    }

    /// The elements of that name in this one.
    func children(named name: String) -> [XMLNode] {
        children.filter { $0.name == name }
    }

    /// Whether an attribute says yes.
    func says(_ name: String) -> Bool {
        attributes[name] == "YES" || attributes[name] == "true"
    }

    /// An attribute that is not empty.
    func text(_ name: String) -> String? {
        attributes[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}

/// Reads an XML file as a tree of elements.
///
/// The file is treated as hostile: its length, its depth and the number of its elements are
/// limited, and a file with a document type is refused, so that no entity is expanded and nothing
/// is loaded.
final class XMLTree: NSObject, XMLParserDelegate {
    private static let depthMaximum = 32
    private static let elementsMaximum = 200_000

    private var open: [XMLNode] = []
    private var root: XMLNode?
    private var count = 0
    private var refusal: String?
    private var lineOfMistake: Int?

    /// The outermost element.
    ///
    /// - Parameter data: The file, in UTF-8.
    /// - Returns: The element with all that is in it.
    /// - Throws: ``ModelFileError`` with the line of the mistake.
    static func root(of data: Data) throws(ModelFileError) -> XMLNode {
        if let objection = objection(to: data) { throw ModelFileError(objection) }
        let tree = XMLTree()
        let parser = XMLParser(data: data)
        parser.shouldResolveExternalEntities = false
        parser.delegate = tree
        let isRead = parser.parse()
        if let refusal = tree.refusal { throw ModelFileError(refusal) }
        // A parser may accept a file that ends before its elements do.
        guard isRead, parser.parserError == nil, tree.lineOfMistake == nil,
            tree.open.isEmpty, let root = tree.root
        else {
            throw ModelFileError(
                "It is not well-formed XML: the mistake is in line \(tree.lineOfMistake ?? parser.lineNumber)."
            )
        }
        return root
    }

    /// Why the file is refused before it is parsed.
    private static func objection(to data: Data) -> String? {
        guard let text = String(validating: data, as: UTF8.self), !data.contains(0) else {
            return "It is not UTF-8 text, as Xcode writes it."
        }
        // In UTF-8 the words can be looked for before anything is parsed; in another encoding not.
        if text.hasPrefix("<?xml"), let end = text.range(of: "?>"),
            let encoding = text[..<end.lowerBound].range(of: "encoding")
        {
            let name = text[encoding.upperBound..<end.lowerBound].lowercased()
            guard name.contains("\"utf-8\"") || name.contains("'utf-8'") else {
                return "It says that it is in another encoding than UTF-8, which Xcode writes."
            }
        }
        if text.contains("<!DOCTYPE") || text.contains("<!ENTITY") {
            return "It has a document type, which no model file has. Remove it."
        }
        return nil
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
        qualifiedName: String?, attributes: [String: String]
    ) {
        count += 1
        if count > Self.elementsMaximum {
            return refuse("It has more than \(Self.elementsMaximum) elements.", parser)
        }
        if open.count == Self.depthMaximum {
            return refuse(
                "Line \(parser.lineNumber): elements are nested more than \(Self.depthMaximum) deep.",
                parser)
        }
        let node = XMLNode(name, attributes, line: parser.lineNumber)
        open.last?.append(node)
        if open.isEmpty { root = node }
        open.append(node)
    }

    func parser(
        _ parser: XMLParser, didEndElement name: String, namespaceURI: String?,
        qualifiedName: String?
    ) {
        guard open.last?.name == name else {
            lineOfMistake = lineOfMistake ?? parser.lineNumber
            return parser.abortParsing()
        }
        open.removeLast()
    }

    func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
        lineOfMistake = lineOfMistake ?? parser.lineNumber
    }

    private func refuse(_ reason: String, _ parser: XMLParser) {
        refusal = reason
        parser.abortParsing()
    }
}
