import DaybookTestSupport
import Foundation
import Testing

/// The page that is served: who is answered, and what comes after it was loaded.
@Suite struct ServeTests {
    private let library: LibraryStore
    private static let curl = URL(fileURLWithPath: "/usr/bin/curl")

    init() throws {
        library = try LibraryStore()
    }

    /// A command that serves the store, with the address that it has printed.
    private func serve(_ words: [String] = []) throws -> (server: ChildProcess, address: String) {
        let store = library.folder.url.appending(path: "library.daybook").path
        let server = try ChildProcess(
            Tool.url, ["serve", store] + words, input: URL(fileURLWithPath: "/dev/null"))
        let address = server.nextLine()
        let talk = try server.talk()
        return (server, try #require(address, "\(talk)"))
    }

    /// The status of a request, and what was answered.
    private func ask(_ address: String, _ words: [String] = []) throws -> (
        status: Int, body: String
    ) {
        let answer = try ChildProcess.run(
            Self.curl,
            ["--silent", "--show-error", "--write-out", "\n%{http_code}\n"] + words + [address])
        try #require(answer.ending == .exited(0), "\(answer.talk)")
        let status = try #require(answer.lines.last.flatMap { Int($0) })
        return (status, answer.lines.dropLast().joined(separator: "\n"))
    }

    private func record(_ label: String) throws {
        let result = try library.record(
            #"{"op":"insert","entity":"Shelf","values":{"label":"\#(label)"}}"# + "\n"
                + #"{"op":"save","note":"\#(label)"}"# + "\n")
        try #require(result.status == 0, "\(result.talk)")
    }

    @Test func `the printed address has the report`() throws {
        let (server, address) = try serve()
        defer { server.kill() }

        let (status, page) = try ask(address)

        #expect(address.wholeMatch(of: /http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\//) != nil)
        #expect(status == 200)
        #expect(page.contains("<title>Audit report: library.daybook</title>"))
        #expect(page.contains("connect-src &#39;self&#39;") || page.contains("connect-src 'self'"))
        #expect(page.contains(#""isLive":true"#))
        let exported = try library.run(["export", "library.daybook", "--format", "html"])
        #expect(!exported.text.contains("connect-src"))
    }

    @Test func `only the newest entries are there if so asked`() throws {
        let (server, address) = try serve(["--last", "1"])
        defer { server.kill() }

        let page = try ask(address).body

        #expect(page.contains(#"{"sequence":3,"#))
        #expect(!page.contains(#"{"sequence":2,"#))
        #expect(page.contains(#""startsLate":true"#))
        #expect(page.contains(#""head":3"#))
    }

    @Test func `a page without entries goes on with what is new`() throws {
        let (server, address) = try serve(["--last", "0"])
        defer { server.kill() }

        let page = try ask(address).body

        #expect(!page.contains(#"{"sequence":"#))
        #expect(page.contains(#""head":3"#))
    }

    @Test func `who does not know the address, or comes from elsewhere, is refused`() throws {
        let (server, address) = try serve()
        defer { server.kill() }
        let origin = address.split(separator: "/").prefix(2).joined(separator: "//")
        let port = try #require(origin.split(separator: ":").last)
        let wrong = address.replacing(/[0-9a-f]{32}/, with: String(repeating: "0", count: 32))

        for (place, words, status) in [
            (origin + "/", [], 404), (wrong, [], 404), (address + "x", [], 404),
            (address + "after-", [], 404), (address + "after-x", [], 404),
            (String(address.dropLast()), [], 404),
            (address, ["-X", "POST"], 405), (address, ["-X", "PUT"], 405),
            (address, ["-X", "DELETE"], 405), (address, ["-I"], 200),
            (address, ["-H", "Host: example.org"], 421),
            (address, ["-H", "Host: 127.0.0.1"], 421), (address, ["-H", "Host:"], 421),
            (address, ["-H", "Host: localhost:\(port)"], 200),
            (address, ["-H", "Origin: https://example.org"], 403),
            (address, ["-H", "Origin: null"], 403), (address, ["-H", "Origin: \(origin)"], 200),
        ] {
            let answer = try ask(place, words)
            #expect(answer.status == status, "\(place) \(words)")
            if status != 200 { #expect(!answer.body.contains("library")) }
        }
        // A body is not even read.
        for words in [["--data", "x"], ["--data", "x", "-H", "Transfer-Encoding: chunked"]] {
            #expect(try ask(address, words).status == 413)
        }
        #expect(try ask(address).status == 200)
    }

    @Test func `only this machine is served`() throws {
        let (server, address) = try serve()
        defer { server.kill() }
        let port = try #require(address.firstMatch(of: /:(\d+)\//).flatMap { Int($0.1) })

        let listening = try String(contentsOfFile: "/proc/net/tcp", encoding: .utf8)
            .split(separator: "\n").map { $0.split(separator: " ") }
            .filter { $0[3] == "0A" && $0[1].hasSuffix(":" + String(format: "%04X", port)) }

        #expect(listening.map { $0[1].prefix(8) } == ["0100007F"])
        let others = try String(contentsOfFile: "/proc/net/tcp6", encoding: .utf8)
        #expect(!others.contains(":" + String(format: "%04X ", port) + "0000000000000000"))
    }

    @Test func `new entries come as they are saved, and none twice`() throws {
        let (server, address) = try serve()
        defer { server.kill() }
        let listener = try ChildProcess(
            Self.curl, ["--silent", "--no-buffer", address + "after-2"],
            input: URL(fileURLWithPath: "/dev/null"))
        defer { listener.kill() }

        func nextEvent(_ listener: ChildProcess) throws -> (id: String, data: String) {
            var id = ""
            while let line = listener.nextLine() {
                if line.hasPrefix("id: ") { id = String(line.dropFirst(4)) }
                if line.hasPrefix("data: ") { return (id, String(line.dropFirst(6))) }
            }
            throw CancellationError()
        }
        let there = try nextEvent(listener)
        try record("C")
        let first = try nextEvent(listener)
        try record("D")
        let second = try nextEvent(listener)
        let again = try ChildProcess(
            Self.curl,
            ["--silent", "--no-buffer", "-H", "Last-Event-ID: \(first.id)", address + "after-2"],
            input: URL(fileURLWithPath: "/dev/null"))
        defer { again.kill() }

        #expect([there.id, first.id, second.id] == ["3", "4", "5"])
        #expect(try nextEvent(again).id == "5")
        let exported = try library.run(["export", "library.daybook", "--format", "jsonl"])
        #expect(exported.lines.suffix(3) == [there.data, first.data, second.data])
    }

    @Test func `an entry that cannot be read is told, and ends the events`() throws {
        let (server, address) = try serve()
        defer { server.kill() }
        try library.damage("Songs")

        let listened = try ChildProcess.run(
            Self.curl, ["--silent", "--no-buffer", "--max-time", "60", address + "after-2"])
        let page = try ask(address)

        #expect(listened.ending == .exited(0))
        #expect(listened.lines.contains("event: failure"))
        #expect(listened.lines.contains { $0.hasPrefix("data: The store cannot be read: ") })
        #expect(page.status == 500)
    }

    @Test(.ownStores("The servers would bring back what is cut off."))
    func `that entries were cut off is told, and ends the events`() throws {
        let (server, address) = try serve()
        defer { server.kill() }
        let listener = try ChildProcess(
            Self.curl, ["--silent", "--no-buffer", "--max-time", "60", address + "after-2"],
            input: URL(fileURLWithPath: "/dev/null"))
        defer { listener.kill() }
        while let line = listener.nextLine(), !line.hasPrefix("data: ") {}

        try TestStore.cutBack(
            at: library.folder.url.appending(path: "library.daybook").path, to: 2)
        try record("C")

        #expect(listener.remainingLines().contains("event: failure"))
    }

    /// Clients that connect, send something and read as many bytes, and then do nothing until their input ends.
    private func clients(
        _ count: Int, of address: String, sending text: String, reading bytes: Int
    ) throws -> ChildProcess {
        let port = try #require(address.firstMatch(of: /:(\d+)\//)).1
        let script = """
            my ($port, $count, $text, $bytes) = @ARGV;
            my @clients = map {
                my $client = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port") or die $!;
                syswrite($client, $text) == length $text or die $!;
                $client;
            } 1..$count;
            for (@clients) {
                my $rest = $bytes;
                while ($rest > 0) {
                    my $count = sysread($_, my $answer, $rest) or die "$!";
                    $rest -= $count;
                }
            }
            $| = 1;
            print "there\\n";
            <STDIN>;
            """
        let clients = try ChildProcess(
            URL(fileURLWithPath: "/usr/bin/perl"),
            ["-MIO::Socket::INET", "-e", script, String(port), String(count), text, String(bytes)])
        let line = clients.nextLine()
        let talk = try clients.talk()
        try #require(line == "there", "\(talk)")
        return clients
    }

    @Test func `clients that connect and say nothing keep the others out for seconds only`()
        throws
    {
        let (server, address) = try serve()
        defer { server.kill() }
        let silent = try clients(300, of: address, sending: "", reading: 0)
        defer { silent.kill() }

        let retries = ["--retry", "40", "--retry-all-errors", "--retry-delay", "1"]
        #expect(try ask(address, retries + ["--retry-max-time", "40"]).status == 200)
    }

    @Test(arguments: ["", "after-0"])
    func `clients that do not take their answer do not have one each kept for them`(
        part: String
    ) throws {
        try record(String(repeating: "x", count: 8 << 20))
        let (server, address) = try serve()
        defer { server.kill() }
        let path = try #require(address.firstMatch(of: /:\d+(\/.*)/)).1
        let host = try #require(address.firstMatch(of: /127\.0\.0\.1:\d+/)).0

        let slow = try clients(
            24, of: address, sending: "GET \(path)\(part) HTTP/1.1\r\nHost: \(host)\r\n\r\n",
            reading: 2_000)
        defer { slow.kill() }

        let status = try String(contentsOfFile: "/proc/\(server.number)/status", encoding: .utf8)
        let kept = try #require(status.firstMatch(of: /VmRSS:\s+(\d+) kB/).flatMap { Int($0.1) })
        // A page has twice these bytes, and more: the note and the value.
        #expect(kept < 24 * 16 << 10, "\(kept) kB")
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `an interruption ends it, with clients that listen`(signal: Int32) throws {
        let (server, address) = try serve()
        defer { server.kill() }
        let listener = try ChildProcess(
            Self.curl, ["--silent", "--no-buffer", address + "after-2"],
            input: URL(fileURLWithPath: "/dev/null"))
        defer { listener.kill() }
        _ = listener.nextLine()

        server.send(signal)

        #expect(server.wait() == .exited(0))
        #expect(listener.wait() != .killed(SIGKILL))
    }

    @Test func `a store that is taken away ends it with the reason, with clients that listen`()
        throws
    {
        let store = library.folder.url.appending(path: "library.daybook")
        // One that does not end is killed, and the test fails.
        let server = try ChildProcess(
            URL(fileURLWithPath: "/usr/bin/timeout"),
            ["--signal=KILL", "60", Tool.url.path, "serve", store.path],
            input: URL(fileURLWithPath: "/dev/null"))
        defer { server.send(SIGTERM) }
        let address = try #require(server.nextLine())
        let listener = try ChildProcess(
            Self.curl, ["--silent", "--no-buffer", address + "after-3"],
            input: URL(fileURLWithPath: "/dev/null"))
        defer { listener.kill() }
        _ = listener.nextLine()
        // While the page is made, the stream begins to wait for an entry.
        try #require(try ask(address).status == 200)

        let files = try FileManager.default.contentsOfDirectory(atPath: library.folder.url.path)
        for name in files where name.hasPrefix("library.daybook") {
            try FileManager.default.removeItem(at: library.folder.url.appending(path: name))
        }

        #expect(server.wait() == .exited(3))
        #expect(try server.talk().hasPrefix("error: "))
        #expect(listener.wait() != .killed(SIGKILL))
    }

    @Test func `at the port that HTTP has by itself clients need not name it`() throws {
        let store = library.folder.url.appending(path: "library.daybook").path
        let server = try ChildProcess(
            Tool.url, ["serve", store, "--port", "80"], input: URL(fileURLWithPath: "/dev/null"))
        defer { server.kill() }
        guard let address = server.nextLine() else {
            // Not everybody may serve it.
            #expect(try server.talk().contains("Port 80 cannot be served"))
            return
        }

        #expect(address.hasPrefix("http://127.0.0.1:80/"))
        // curl, as a browser, leaves the port out.
        #expect(try ask(address).status == 200)
        #expect(try ask(address, ["-H", "Host: localhost"]).status == 200)
        #expect(try ask(address, ["-H", "Host: localhost:80"]).status == 200)
        #expect(try ask(address, ["-H", "Origin: http://127.0.0.1"]).status == 200)
        #expect(try ask(address, ["-H", "Origin: http://localhost"]).status == 403)
        #expect(try ask(address, ["-H", "Host: example.org"]).status == 421)
    }

    @Test func `a port that is taken is told`() throws {
        let (server, address) = try serve()
        defer { server.kill() }
        let port = try #require(address.firstMatch(of: /:(\d+)\//)).1

        let second = try library.run(["serve", "library.daybook", "--port", String(port)])
        let wrong = try library.run(["serve", "library.daybook", "--port", "70000"])

        #expect(second.status != 0)
        #expect(second.talk.contains("Port \(port) cannot be served"))
        #expect(wrong.status == 2)
    }
}
