/// The shells with a completion script.
enum Shell: String, CaseIterable, Sendable {
    case bash
    case zsh
    case fish
}

/// Scripts that complete commands, options and values, made from the declarations. For names in a store they ask the
/// tool.
struct ShellCompletion {
    /// The first word of a line by which a script asks for the names that can be the last of the others.
    static let question = "--complete"

    private let commands: [CommandDeclaration]

    init(_ commands: [any Command]) {
        self.commands = commands.map(\.declaration)
    }

    /// The script for a shell.
    func script(for shell: Shell) -> [String] {
        switch shell {
        case .bash: bash()
        case .zsh: zsh()
        case .fish: fish()
        }
    }

    private var commandNames: String {
        commands.map(\.name).joined(separator: " ")
    }

    // MARK: - bash

    private func bash() -> [String] {
        var lines = [
            "# Completion of daybook for bash: eval \"$(daybook completion bash)\""
        ]
        lines += bashPlain
        lines += [
            "_daybook() {",
            "    local current=${COMP_WORDS[COMP_CWORD]} previous= name= word index words= files=",
            "    local plain= typed=()",
            "    COMPREPLY=()",
            "    (( COMP_CWORD > 0 )) && previous=${COMP_WORDS[COMP_CWORD-1]}",
            "    # bash takes '--option=value' apart at the sign.",
            "    if [[ $current == = ]]; then current=",
            "    elif [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD-2]}; fi",
            "    for (( index = 1; index < COMP_CWORD; index++ )); do",
            "        word=${COMP_WORDS[index]}",
            "        case $word in",
            "            \(commands.map(\.name).joined(separator: "|"))) name=$word; break ;;",
            "        esac",
            "    done",
            "    case $name/$previous in",
        ]
        for command in commands {
            for option in command.allOptions where option.takesValue {
                let pattern = option.names.map { "\(command.name)/\($0)" }.joined(separator: "|")
                lines.append("        \(pattern)) \(bashOffer(option)) ;;")
            }
        }
        lines += ["        */*) case $name in"]
        for command in commands {
            let options = command.allOptions.flatMap(\.names).joined(separator: " ")
            let values = command.positionals.flatMap(\.choices).joined(separator: " ")
            let files = command.positionals.contains { $0.completion == .files } ? "yes" : ""
            lines += [
                "            \(command.name))",
                "                if [[ $current == -* ]]; then words='\(options)'",
                "                else words='\(values)' files=\(files); fi ;;",
            ]
        }
        let shared = SharedOptions.all.flatMap(\.names).joined(separator: " ")
        lines += [
            "            *)",
            "                if [[ $current == -* ]]; then words='\(shared) --version'",
            "                else words='\(commandNames)'; fi ;;",
            "        esac ;;",
            "    esac",
            "    [[ -n $words ]] && mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")",
            "    if [[ -n $name && $current != -* && -z $words ]]; then",
        ]
        lines += bashNames
        lines += [
            "        [[ ${COMPREPLY[0]} == *[/.] ]] && compopt -o nospace 2>/dev/null",
            "    fi",
            "    # readline quotes the names of files itself, and would do so with all others, too.",
            "    if [[ -n $files && ${#COMPREPLY[@]} == 0 ]]; then",
            "        compopt -o filenames 2>/dev/null",
            "        while IFS= read -r word; do COMPREPLY+=(\"$word\"); done \\",
            "            < <(compgen -f -- \"$current\")",
            "    fi",
            "}",
            "complete -F _daybook daybook",
        ]
        return lines
    }

    /// What takes the quotes off a word: bash hands the words over as they are written.
    private var bashPlain: [String] {
        [
            "# Sets 'plain' to a word without its quotes, of which the last may still be open.",
            "_daybook_plain() {",
            "    local rest=$1 quote= next",
            "    plain=",
            "    while [[ -n $rest ]]; do",
            "        next=${rest:0:1} rest=${rest:1}",
            "        case $quote$next in",
            #"            \'\'|\"\") quote= ;;"#,
            #"            \'|\") quote=$next ;;"#,
            #"            \'*) plain+=$next ;;"#,
            #"            \\|\"\\) plain+=${rest:0:1} rest=${rest:1} ;;"#,
            "            *) plain+=$next ;;",
            "        esac",
            "    done",
            "}",
        ]
    }

    /// What offers the names in a store, quoted: bash puts them on the line as they are.
    private var bashNames: [String] {
        [
            #"        for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do"#,
            #"            _daybook_plain "$word""#,
            #"            typed+=("$plain")"#,
            "        done",
            "        while IFS= read -r word; do",
            "            # In an open quote, a name that would not stay as it is there is left out.",
            "            case $current in",
            #"                \'*) [[ $word == *\'* ]] && continue ;;"#,
            #"                \"*) [[ $word == *[\"\$\`\\!]* ]] && continue ;;"#,
            #"                *) printf -v word %q "$word" ;;"#,
            "            esac",
            #"            COMPREPLY+=("$word")"#,
            #"        done < <("${COMP_WORDS[0]}" \#(Self.question) "${typed[@]}" 2>/dev/null)"#,
        ]
    }

    private func bashOffer(_ option: ArgumentDeclaration) -> String {
        switch option.completion {
        case .nothing: "words="
        case .files: "files=yes"
        case .choices: "words='\(option.choices.joined(separator: " "))'"
        }
    }

    // MARK: - zsh

    private func zsh() -> [String] {
        var lines = [
            "#compdef daybook",
            "# Completion of daybook for zsh: put this into a file '_daybook' in a folder of $fpath.",
            "_daybook_names() {",
            "    local -a names typed",
            "    # As they are without quotes, of which the last may still be open.",
            #"    typed=("${(@Q)words[1,CURRENT]}")"#,
            #"    [[ $typed[-1] == [\'\"]* ]] && typed[-1]=${typed[-1][2,-1]}"#,
            "    # Of '--option=value' zsh completes only the value; it is asked for as that of the option.",
            #"    [[ -n $IPREFIX ]] && typed[-1]=("${IPREFIX%=}" "${(Q)PREFIX}")"#,
            #"    names=("${(@f)$(daybook \#(Self.question) "${(@)typed}" 2>/dev/null)}")"#,
            "    # zsh quotes what it puts on the line.",
            "    compadd -S '' -- $names",
            "}",
            "_daybook() {",
            "    local context state line",
            "    local -a commands",
            "    commands=(",
        ]
        lines += commands.map { "        \(quoted("\($0.name):\($0.summary)"))" }
        lines += [
            "    )",
            "    _arguments -C '1:command:->command' '*::argument:->argument' && return",
            "    case $state in",
            "        command) _describe command commands ;;",
            "        argument)",
            "            case $line[1] in",
        ]
        for command in commands {
            lines.append("                \(command.name)) _arguments -s \\")
            let specs = command.allOptions.flatMap(zshSpecs) + zshPositionals(command)
            for (index, spec) in specs.enumerated() {
                let end = index == specs.count - 1 ? " ;;" : " \\"
                lines.append("                    \(quoted(spec))\(end)")
            }
        }
        lines += ["            esac ;;", "    esac", "}", "_daybook \"$@\""]
        return lines
    }

    private func zshSpecs(_ option: ArgumentDeclaration) -> [String] {
        let help = zshText(option.help)
        let value = option.takesValue ? ":\(zshText(option.placeholder)):\(zshAction(option))" : ""
        return option.names.map { name in
            let attach = option.takesValue ? (name.hasPrefix("--") ? "=" : "+") : ""
            return "\(name)\(attach)[\(help)]\(value)"
        }
    }

    private func zshPositionals(_ command: CommandDeclaration) -> [String] {
        command.positionals.enumerated().map { index, positional in
            let number = positional.occurrence == .several ? "*" : "\(index + 1)"
            return "\(number):\(zshText(positional.placeholder)):\(zshAction(positional))"
        }
    }

    private func zshAction(_ argument: ArgumentDeclaration) -> String {
        switch argument.completion {
        case .nothing: "_daybook_names"
        case .files: "_files"
        case .choices: "(\(argument.choices.joined(separator: " ")))"
        }
    }

    private func zshText(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            if "[]:\\".contains(character) { result += "\\" }
            result.append(character)
        }
    }

    // MARK: - fish

    private func fish() -> [String] {
        var lines = [
            "# Completion of daybook for fish: daybook completion fish | source",
            "complete -c daybook -f",
        ]
        for command in commands {
            lines.append(
                "complete -c daybook -n __fish_use_subcommand -a \(command.name) "
                    + "-d \(quoted(command.summary))")
        }
        lines += [
            "function __daybook_names",
            "    set -l words (commandline -opc)",
            "    command -q $words[1]; or return",
            "    $words[1] \(Self.question) $words[2..-1] (commandline -ct) 2>/dev/null",
            "end",
            "complete -c daybook -n 'not __fish_use_subcommand' -a '(__daybook_names)'",
        ]
        for command in commands {
            let start =
                "complete -c daybook -n \(quoted("__fish_seen_subcommand_from \(command.name)"))"
            for option in command.allOptions {
                lines.append("\(start) \(fishNames(option)) -d \(quoted(option.help))")
            }
            if command.positionals.contains(where: { $0.completion == .files }) {
                lines.append("\(start) -F")
            }
            for positional in command.positionals where !positional.choices.isEmpty {
                lines.append("\(start) -a \(quoted(positional.choices.joined(separator: " ")))")
            }
        }
        return lines
    }

    private func fishNames(_ option: ArgumentDeclaration) -> String {
        var words = ["-l \(option.name.dropFirst(2))"]
        if let other = option.otherName { words.append("-l \(other.dropFirst(2))") }
        if let short = option.shortName { words.append("-s \(short.dropFirst())") }
        switch option.completion {
        case _ where !option.takesValue: break
        case .nothing: words.append("-x -a '(__daybook_names)'")
        case .files: words.append("-r -F")
        case .choices: words.append("-x -a \(quoted(option.choices.joined(separator: " ")))")
        }
        return words.joined(separator: " ")
    }

    /// A word in single quotes, which bash, zsh and fish all read as it is.
    private func quoted(_ text: String) -> String {
        "'"
            + text.split(separator: "'", omittingEmptySubsequences: false).joined(
                separator: "'\\''") + "'"
    }
}
