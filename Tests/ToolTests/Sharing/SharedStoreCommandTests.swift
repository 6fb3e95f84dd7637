import DaybookTestSupport
import Foundation
import Testing

/// The commands for stores that are shared, with three servers on this machine.
@Suite struct SharedStoreCommandTests {
    @Test
    func `two copies of a shared store record, undo and export alike, also after a fail-over`()
        throws
    {
        let result = try SharedServers.run(
            """
            daybook clone "$PLACE" early.daybook; echo "$?"
            daybook init a.daybook --model model.json --shared "$PLACE"
            daybook init c.daybook --model model.json --shared "$PLACE"; echo "$? $(ls c.daybook*)"
            daybook clone "$PLACE" b.daybook
            insert FR France | record a.daybook ada
            echo '{"op":"update","entity":"Country","match":{"alpha2":"FR"},"values":{"name":"Frankreich"}}' |
                record b.daybook ben
            names a.daybook Country
            insert FR Twice | record a.daybook ada; echo "$?"
            daybook undo a.daybook 3
            daybook pull b.daybook
            daybook pull b.daybook --output json
            cluster failover >/dev/null
            insert IT Italia | record b.daybook ben; echo "$?"
            daybook log a.daybook --output jsonl | grep -o '"author":"[a-z]*"'
            for copy in a b; do daybook export $copy.daybook -f jsonl >$copy.jsonl; done
            cmp a.jsonl b.jsonl && wc -l <a.jsonl
            daybook verify a.daybook >/dev/null; echo "$?"
            daybook status a.daybook | grep -v '^node'
            """)

        #expect(
            result.lines == [
                "3", "Created 'a.daybook': entry 1 holds the model of 1 entity.", "5 ",
                "Copied entries 1 to 1 into 'b.daybook'.", "Frankreich", "5",
                "Entry 4 takes entry 3 back: 1 change.", "Brought in entry 4.",
                "{", "  \"sequence\": 4,", "  \"came\": 0,", "  \"takenOff\": 0", "}",
                "0", #""author":"ben""#, #""author":"ben""#, #""author":"ada""#, "5", "0",
                "store     a.daybook",
                "shared    postgresql:service=ledger?store=iso", "entries   5", "servers   reached",
            ], "\(result.text)\n\(result.talk)")
    }

    @Test func `completion asks no servers, and offers what the file has`() throws {
        let result = try SharedServers.run(
            """
            daybook init a.daybook --model model.json --shared "$PLACE" >/dev/null
            daybook clone "$PLACE" b.daybook >/dev/null
            insert FR France | record a.daybook ada
            daybook --complete history b.daybook Cou
            daybook --complete history b.daybook Country/
            daybook log b.daybook --offline --output jsonl | wc -l
            names b.daybook Country
            daybook --complete history b.daybook Country/ | grep -c '^Country/[0-9]*$'
            """)

        #expect(
            result.lines == ["Country/", "1", "France", "1"],
            "\(result.text)\n\(result.talk)")
    }

    @Test
    func
        `large data go to the servers and into every copy, and doctor finds what is missing there`()
        throws
    {
        let result = try SharedServers.run(
            """
            cat >photos.json <<'END'
            {"entities":[{"name":"Photo","attributes":[
             {"name":"title","type":"string"},{"name":"image","type":"data"}]}]}
            END
            add_photo() {
                printf '{"op":"insert","entity":"Photo","values":{"title":"%s","image":{"file":"%s"}}}\\n' "$3" "$4" |
                    daybook record "$1.daybook" -a "$2" --files . >/dev/null
            }
            has() {
                local photo
                photo=$(daybook fetch "$1.daybook" Photo --where "title == '$2'" --output jsonl | grep -o 'Photo/[0-9]*')
                daybook data "$1.daybook" "$photo.image" --offline | cmp - "$3" && echo -n "$1 "
            }
            owner() { psql -XAtq service=ledger-owner -c "$1"; }
            for name in dawn dusk; do head -c 1000000 /dev/urandom >$name.bin; done
            daybook init own.daybook --model photos.json >/dev/null
            add_photo own ada Dawn dawn.bin
            add_store own own.daybook
            PLACE='postgresql:service=ledger?store=own'
            daybook push own.daybook "$PLACE"
            daybook clone "$PLACE" two.daybook
            add_photo two ben Dusk dusk.bin; echo "$?"
            add_photo own ada Again dusk.bin; echo "$?"
            owner "SELECT count(*) = count(DISTINCT digest), count(*) FROM daybook.data"
            daybook doctor own.daybook | grep -c '^fault   entries'

            owner "CREATE TABLE kept AS SELECT * FROM daybook.data ORDER BY level, digest LIMIT 1"
            owner "ALTER TABLE daybook.data DISABLE TRIGGER never"
            owner "DELETE FROM daybook.data d USING kept WHERE kept.digest = d.digest"
            daybook doctor own.daybook | grep '^fault   entries' | sed 's/[23]/N/'
            daybook clone "$PLACE" broken.daybook 2>broken; echo "$? $(grep -c 'chunk on the servers is missing' broken)"
            owner "INSERT INTO daybook.data SELECT * FROM kept"
            owner "ALTER TABLE daybook.data ENABLE TRIGGER never"

            cluster failover >/dev/null
            daybook pull two.daybook
            daybook clone "$PLACE" three.daybook
            for copy in own two three; do
                has $copy Dawn dawn.bin; has $copy Dusk dusk.bin; has $copy Again dusk.bin
                daybook verify $copy.daybook >/dev/null; echo "$?"
            done
            """)

        #expect(
            result.lines == [
                "Pushed entries 1 to 2; 'own.daybook' is linked to 'postgresql:service=ledger?store=own'.",
                "Copied entries 1 to 2 into 'two.daybook'.", "0", "0",
                // Sixteen chunks and the node above them, of either picture.
                "t|34", "0",
                "fault   entries     Large data of entry N, appended by 'ledger', are missing or changed on the "
                    + "servers: no new copy can be made. Have the owner put them back from a copy.",
                "5 1", "Brought in entry 4.", "Copied entries 1 to 4 into 'three.daybook'.",
                "own own own 0", "two two two 0", "three three three 0",
            ], "\(result.text)\n\(result.talk)")
    }

    @Test func `a store goes up, parts and is taken back, and a copy is read without servers`()
        throws
    {
        let result = try SharedServers.run(
            """
            daybook init own.daybook --model model.json >/dev/null
            insert FR France | record own.daybook ada
            daybook push own.daybook "$PLACE"; echo "$?"
            add_store own own.daybook
            OWN='postgresql:service=ledger?store=own'
            daybook push own.daybook "$OWN"
            daybook push own.daybook "$OWN"; echo "$?"
            daybook clone "$OWN" two.daybook
            cp own.daybook apart.daybook
            daybook unlink apart.daybook
            insert XX Apart | record apart.daybook eve; echo "$?"
            insert YY Cut | record own.daybook ada
            daybook push apart.daybook "$OWN"; echo "$?"

            psql -XAtq service=ledger-owner -c "SELECT daybook.cut(store, 3, 'test') FROM daybook.store WHERE name = 'own'"
            insert ZZ Other | record two.daybook ben
            daybook status own.daybook | grep -c stopped; daybook status own.daybook >/dev/null; echo "$?"
            names own.daybook Country
            insert WW No | record own.daybook ada; echo "$?"
            daybook pull own.daybook; echo "$?"
            daybook pull own.daybook --rewind lost.jsonl
            grep -c '"name":"Cut"' lost.jsonl
            names own.daybook Country
            daybook verify own.daybook >/dev/null; echo "$?"

            cluster down >/dev/null
            exec 2>talk
            names own.daybook Country
            grep -c 'warning: The copy may be behind' talk
            names own.daybook Country --offline; grep -c warning talk
            insert WW No | daybook record own.daybook --offline >/dev/null; echo "$?"
            daybook status own.daybook >/dev/null; echo "$?"
            """)

        #expect(
            result.lines == [
                "5",
                "Pushed entries 1 to 2; 'own.daybook' is linked to 'postgresql:service=ledger?store=own'.",
                "2", "Copied entries 1 to 2 into 'two.daybook'.",
                "'apart.daybook' is not linked to 'postgresql:service=ledger?store=own' any more.",
                "0",
                "5", "1", "1", "5", "France Cut", "5", "5", "Took off entry 3.",
                "Brought in entry 3.",
                "1", "France Other", "0", "France Other", "1", "France Other", "1", "6", "6",
            ], "\(result.text)\n\(result.talk)")
    }

    @Test func `a dry run of an import into a shared store appends nothing, and needs no server`()
        throws
    {
        let result = try SharedServers.run(
            """
            daybook init a.daybook --model model.json --shared "$PLACE" >/dev/null
            daybook init own.daybook --model model.json >/dev/null
            insert FR France | record own.daybook ada
            daybook export own.daybook -f jsonl >own.jsonl
            printf 'alpha2,name\nIT,Italia\n' >new.csv
            entries() { psql -XAtq service=ledger-owner -c 'SELECT count(*) FROM daybook.entry'; }

            daybook import a.daybook own.jsonl -f jsonl --dry-run; echo "$? $(entries)"
            daybook import a.daybook new.csv -f csv -e Country --dry-run; echo "$? $(entries)"
            daybook import a.daybook new.csv -f csv -e Country --dry-run --offline; echo "$? $(entries)"
            daybook import a.daybook new.csv -f csv -e Country; echo "$? $(entries)"
            """)

        #expect(
            result.lines == [
                "Would import entry 2: 1 inserted.", "0 1", "Would import entry 2: 1 inserted.",
                "0 1",
                "Would import entry 2: 1 inserted.", "0 1", "Imported entry 2: 1 inserted.", "0 2",
            ], "\(result.text)\n\(result.talk)")
    }

    @Test func `a shell and a server for assistants ask no servers either when they are offline`()
        throws
    {
        let result = try SharedServers.run(
            """
            daybook init a.daybook --model model.json --shared "$PLACE" >/dev/null
            insert FR France | record a.daybook ada
            daybook clone "$PLACE" b.daybook >/dev/null
            insert IT Italia | record a.daybook ada
            shell() { echo 'fetch Country --count' | daybook shell b.daybook "$@"; }
            mcp() {
                echo '{"jsonrpc":"2.0","id":1,"method":"tools/call",
                    "params":{"name":"fetch","arguments":{"entity":"Country"}}}' | paste -sd ' ' |
                    daybook mcp b.daybook "$@" | grep -c Italia
            }
            shell --offline; mcp --offline; mcp; shell
            """)

        #expect(
            result.lines == ["1", "0", "1", "2"], "\(result.text)\n\(result.talk)")
    }

    @Test(arguments: [
        ["clone", "service=ledger", "new.daybook"],
        ["clone", "postgresql:service=ledger", "new.daybook"],
        ["clone", "postgresql:host=localhost password=hunter2?store=iso", "new.daybook"],
        ["schema", "--add-store", "service=x", "--name", "iso"], ["schema", "--name", "iso"],
    ])
    func `what names no shared store is refused, and no file is made`(words: [String]) throws {
        let folder = try ScratchFolder()

        let result = try Tool.run(words, in: folder.url)

        #expect(result.status == 2)
        #expect(result.talk.hasPrefix("error: "))
        #expect(!result.talk.contains("hunter2"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
    }
}
