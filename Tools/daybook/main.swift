SystemCall.end(Tool.run(Array(CommandLine.arguments.dropFirst())))
