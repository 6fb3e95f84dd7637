import DaybookModelFiles
import DaybookTestSupport
import Foundation
import Testing

/// Files that are no models, or that are meant to do harm.
@Suite struct HostileXMLTests {
    @Test func `names that a model cannot have are all reported at once`() throws {
        let problems = ReadModel.problems {
            try ReadModel.entities(
                """
                <entity name="Big Thing"><attribute name="_id" attributeType="String"/></entity>
                <entity name="Fine"><attribute name="fine" attributeType="String"/>
                <relationship name="first-name" destinationEntity="Fine"/></entity>
                """)
        }

        #expect(problems.count == 3)
        let names = [
            "The entity 'Big Thing' cannot", "'Big Thing._id' cannot", "'Fine.first-name' cannot",
        ]
        for name in names {
            #expect(
                problems.contains { $0.hasPrefix(name) && $0.contains("Rename it") }, "\(problems)")
        }
    }

    @Test(arguments: [
        ("<a/>", "Its outermost element is 'a' and not 'model': it is not an Xcode model."),
        ("", "It is not well-formed XML: the mistake is in line"),
        (
            "<model>\n<entity name=\"A\">\n</model>",
            "It is not well-formed XML: the mistake is in line"
        ),
        ("<model>\u{0}</model>", "It is not UTF-8 text, as Xcode writes it."),
        (
            "<?xml version=\"1.0\" encoding=\"UTF-7\"?><model/>",
            "It says that it is in another encoding than UTF-8, which Xcode writes."
        ),
        (
            "<?xml version=\"1.0\"?>\n<model>\n<entity/></model>",
            "Line 3: this 'entity' has no 'name'."
        ),
        (
            "<model><entity name=\"A\">\n<relationship name=\"b\"/></entity></model>",
            "Line 2: the relationship 'A.b' has no 'destinationEntity'."
        ),
        (
            "<model><entity name=\"A\"><relationship name=\"b\" destinationEntity=\"A\" "
                + "deletionRule=\"Explode\"/></entity></model>",
            "Line 1: 'Explode' of 'A.b' is not a delete rule"
        ),
        (
            "<model><entity name=\"A\"><relationship name=\"b\" destinationEntity=\"A\" "
                + "maxCount=\"-1\"/></entity></model>",
            "Line 1: '-1' as 'maxCount' is not a number of objects."
        ),
        (
            "<model><entity name=\"A\"><attribute name=\"b\" attributeType=\"Colour\"/></entity></model>",
            "'A.b' is of type 'Colour', which is not known here."
        ),
        (
            "<model><entity name=\"A\"><attribute name=\"b\" attributeType=\"Integer 16\" "
                + "defaultValueString=\"many\"/></entity></model>",
            "The default value of 'A.b' is not an integer: 'many'."
        ),
        (
            "<model><entity name=\"A\"><attribute name=\"b\" attributeType=\"Integer 16\" "
                + "defaultValueString=\"40000\"/></entity></model>",
            "The default value of 'A.b' does not fit: it holds 16-bit integers, from -32768 to 32767."
        ),
        (
            "<model><entity name=\"A\" parentEntity=\"B\"/><entity name=\"B\" parentEntity=\"A\"/></model>",
            "'A' inherits from itself."
        ),
        (
            "<model><entity name=\"A\" parentEntity=\"A\"><attribute name=\"b\" attributeType=\"Integer 16\" "
                + "derived=\"YES\" derivationExpression=\"others.@count\"/></entity></model>",
            "'A' inherits from itself."
        ),
        (
            "<model><entity name=\"A\"><relationship name=\"b\" destinationEntity=\"C\"/></entity></model>",
            "'A.b' leads to 'C', which is not in the model."
        ),
    ])
    func `a mistake is named with its place`(content: String, problem: String) {
        let problems = ReadModel.problems { try ReadModel.file(content) }

        #expect(problems.first?.hasPrefix(problem) == true, "\(problems)")
    }

    @Test func `a document type is refused before anything is expanded or loaded`() throws {
        let folder = try TemporaryDirectory()
        defer { withExtendedLifetime(folder) {} }
        let secret = folder.url.appending(path: "secret")
        try Data("Secret".utf8).write(to: secret)
        var laughs = "<!ENTITY l0 \"ha\">"
        for level in 1...30 {
            laughs += "<!ENTITY l\(level) \"&l\(level - 1);&l\(level - 1);\">"
        }
        let declarations = [laughs, "<!ENTITY l30 SYSTEM \"\(secret.absoluteString)\">"]

        for declaration in declarations {
            let problems = ReadModel.problems {
                try ReadModel.file(
                    "<!DOCTYPE model [\(declaration)]><model><entity name=\"A\" "
                        + "representedClassName=\"&l30;\"/></model>")
            }

            #expect(
                problems
                    == ["It has a document type, which no model file has. Remove it."])
        }
    }

    @Test func `depth, number and length are limited`() throws {
        let deep =
            String(repeating: "<model>", count: 100) + String(repeating: "</model>", count: 100)
        let many = "<model>" + String(repeating: "<a/>", count: 200_001) + "</model>"
        let long = "<model>" + String(repeating: " ", count: 8 << 20) + "</model>"

        #expect(
            ReadModel.problems { try ReadModel.file(deep) }
                == ["Line 1: elements are nested more than 32 deep."])
        #expect(
            ReadModel.problems { try ReadModel.file(many) } == ["It has more than 200000 elements."]
        )
        #expect(
            ReadModel.problems { try ReadModel.file(long) }.first?
                .hasSuffix("has more than 8388608 bytes, more than any model has.") == true)
    }

    @Test func `a folder without a model, and a list of versions that is none, are named`() throws {
        let folder = try TemporaryDirectory()
        defer { withExtendedLifetime(folder) {} }
        let empty = ReadModel.problems { try ModelFile(at: folder.url.path).read() }
        for name in ["A", "B"] {
            let version = folder.url.appending(path: "\(name).xcdatamodel")
            try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
            try Data("<model/>".utf8).write(to: version.appending(path: "contents"))
        }
        let undecided = ReadModel.problems { try ModelFile(at: folder.url.path).read() }
        let list = folder.url.appending(path: ".xccurrentversion")
        let nested = String(repeating: "<array>", count: 9000)
        try Data("<plist>\(nested)".utf8).write(to: list)
        let broken = ReadModel.problems { try ModelFile(at: folder.url.path).read() }

        #expect(empty.first?.hasPrefix("'\(folder.url.path)' holds no model:") == true, "\(empty)")
        #expect(
            undecided == [
                "'\(folder.url.path)' does not say which of its versions is the current one. Name one of "
                    + "'A', 'B' with '--version'."
            ])
        #expect(
            broken.first?.hasPrefix("'\(list.path)' is not a property list:") == true, "\(broken)")
    }
}
