import DaybookTestSupport
import Foundation

/// Three servers of PostgreSQL on this machine, for one script.
enum SharedServers {
    /// Runs a script with servers; `PLACE` is a shared store without entries, and `own` prints the place of another.
    static func run(_ script: String) throws -> ToolResult {
        let root = Fixture.folder.deletingLastPathComponent()
        return try Tool.shell(
            """
            folder=$(mktemp -d /tmp/daybook-cluster.XXXXXX)
            chmod 755 "$folder"
            cluster() { "$CLUSTER" --folder "$folder" "$@"; }
            work=$(mktemp -d)
            trap 'cluster down; rm -rf "$folder" "$work"' EXIT
            # The ports may be somebody else's; connections are given others.
            for attempt in 1 2 3 4; do
                settings=$(cluster up --unsynced --port $((10000 + RANDOM % 22000))) && break
            done
            eval "$settings"
            cd "$work"
            exec 3>&2 2>talk
            daybook() { "$DAYBOOK" "$@"; }
            add_store() {
                daybook schema --add-store service=ledger-owner --name "$1" --reader ledger_readers \\
                    --writer ledger_writers ${2:+--of "$2"}
            }
            record() { daybook record "$1" -a "$2" >/dev/null; }
            insert() { printf '{"op":"insert","entity":"Country","values":{"alpha2":"%s","name":"%s"}}\\n' "$@"; }
            names() { daybook fetch "$@" --output jsonl | sed 's/.*"name":"\\([^"]*\\)".*/\\1/' | paste -sd ' '; }
            cat >model.json <<'END'
            {"entities":[{"name":"Country","attributes":[
             {"name":"alpha2","type":"string","optional":false,"unique":true},{"name":"name","type":"string"}]}]}
            END
            PLACE='postgresql:service=ledger?store=iso'
            daybook schema --install service=ledger-owner
            add_store iso
            \(script)
            """,
            environment: ["CLUSTER": root.appending(path: "Tools/cluster").path])
    }
}
