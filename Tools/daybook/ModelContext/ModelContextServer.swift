import DaybookObjectModel

/// The messages of the Model Context Protocol: JSON-RPC 2.0, of which a server of tools needs a few.
struct ModelContextServer {
    /// The versions of the protocol that this server speaks, the newest first. In what it uses they agree.
    private static let versions = ["2025-06-18", "2025-03-26", "2024-11-05"]

    /// The longest message, in bytes.
    private static let bytesMaximum = 4 << 20
    /// How much of a message is worth keeping: enough to see that it is too long, also without its line end.
    static let bytesKept = bytesMaximum + 2

    private let tools: () throws -> ModelContextTools

    /// - Parameter tools: Makes the tools for a message, or throws the reason why nothing may be told now.
    init(_ tools: @escaping () throws -> ModelContextTools) {
        self.tools = tools
    }

    /// What goes wrong with a message, as JSON-RPC numbers it.
    private struct Refusal: Error {
        let code: Int
        let message: String
    }

    /// Answers a message; nil for one that wants no answer.
    func answer(to line: [UInt8]) -> JSONValue? {
        guard line.count <= Self.bytesMaximum else {
            return failure(.null, Refusal(code: -32600, message: "The message is too long."))
        }
        let message: JSONValue
        do {
            message = try JSONValue(parsing: line)
        } catch {
            return failure(.null, Refusal(code: -32700, message: error.description))
        }
        guard case .string(let method)? = message["method"] else {
            // The answer to a question that was never asked.
            guard message["result"] == nil, message["error"] == nil else { return nil }
            return failure(
                message["id"] ?? .null,
                Refusal(code: -32600, message: "'method' is missing."))
        }
        guard let id = message["id"] else { return nil }
        do {
            let result = try result(of: method, message["params"] ?? .object([]))
            return .members(("jsonrpc", "2.0"), ("id", id), ("result", result))
        } catch let refusal as Refusal {
            return failure(id, refusal)
        } catch let problem as ModelContextTools.Problem {
            return failure(id, Refusal(code: -32602, message: problem.sentence))
        } catch {
            return failure(id, Refusal(code: -32603, message: ToolError(error).message))
        }
    }

    private func result(of method: String, _ params: JSONValue) throws -> JSONValue {
        switch method {
        case "initialize": return try introduction(params)
        case "ping": return .object([])
        case "tools/list": return .members(("tools", .array(try tools().declarations)))
        case "tools/call":
            guard case .string(let name)? = params["name"] else {
                throw Refusal(code: -32602, message: "'name' of the tool is missing.")
            }
            let (text, isError) = try call(name, params["arguments"] ?? .object([]))
            let content = JSONValue.members(("type", "text"), ("text", .string(text)))
            return .members(("content", .array([content])), ("isError", .bool(isError)))
        default: throw Refusal(code: -32601, message: "There is no method '\(method)'.")
        }
    }

    /// Uses a tool. Why nothing may be told is an answer of the tool: whoever asked for it reads that.
    private func call(
        _ name: String, _ arguments: JSONValue
    ) throws -> (text: String, isError: Bool) {
        let now: ModelContextTools
        do {
            now = try tools()
        } catch {
            return (ToolError(error).message, true)
        }
        return try now.call(name, arguments)
    }

    private func introduction(_ params: JSONValue) throws -> JSONValue {
        var version = Self.versions[0]
        if case .string(let asked)? = params["protocolVersion"], Self.versions.contains(asked) {
            version = asked
        }
        return .members(
            ("protocolVersion", .string(version)),
            ("capabilities", .members(("tools", .object([])))),
            ("serverInfo", .members(("name", "daybook"), ("version", .string(Tool.version)))),
            ("instructions", .string(try tools().instructions)))
    }

    private func failure(_ id: JSONValue, _ refusal: Refusal) -> JSONValue {
        .members(
            ("jsonrpc", "2.0"), ("id", id),
            (
                "error",
                .members(
                    ("code", .number("\(refusal.code)")), ("message", .string(refusal.message)))
            ))
    }
}

extension JSONValue: ExpressibleByStringLiteral {
    /// Text.
    public init(stringLiteral value: String) { self = .string(value) }
}

extension JSONValue {
    /// An object of these members.
    static func members(_ members: (String, JSONValue)...) -> JSONValue {
        .object(members.map { JSONMember($0.0, $0.1) })
    }
}
