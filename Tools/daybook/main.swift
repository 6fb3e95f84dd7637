SystemCall.end(Tool.run())
