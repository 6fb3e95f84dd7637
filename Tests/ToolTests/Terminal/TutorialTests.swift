import DaybookTestSupport
import Foundation
import Testing

/// The tutorial of the command.
@Suite struct TutorialTests {
    @Test func `the tutorial runs its ten steps, ends with the change undone, and leaves nothing`()
        throws
    {
        let folder = try ScratchFolder()

        let ran = try Tool.run(
            ["tutorial"], environment: ["TMPDIR": folder.url.path], in: folder.url)

        #expect(ran.status == 0, "\(ran.talk)")
        let steps = ran.lines.filter { $0.contains("/10  ") }
        #expect(steps.count == 10)
        let commands = ran.lines.filter { $0.hasPrefix("$ daybook ") }
        #expect(commands.count == 10)
        #expect(commands[3].contains("name=Türkiye --author me --note 'My own change'"))
        #expect(ran.text.contains("Entry 4 sets Country/1."))
        #expect(ran.text.contains("Country/1  Turkey"))
        #expect(ran.text.contains("Entry 5 takes entry 4 back: 1 change."))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
    }

    @Test func `on a terminal the name that is given is set and taken back`() throws {
        let folder = try ScratchFolder()
        let session = try TerminalSession("tutorial", in: folder.url)
        for _ in 1...3 {
            session.wait(for: "Enter goes on. ")
            try session.type("\r")
        }
        session.wait(for: "[Türkiye] ")
        try session.type("Anatolia\r")
        for _ in 1...6 {
            session.wait(for: "Enter goes on. ")
            try session.type("\r")
        }

        #expect(session.end() == 0)
        #expect(session.transcript.contains("name=Anatolia"))
        #expect(session.transcript.contains("Entry 5 takes entry 4 back"))
    }
}
