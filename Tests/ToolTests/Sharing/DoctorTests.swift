import DaybookTestSupport
import Foundation
import Testing

/// `daybook doctor`, on servers that are as they should be, and on others.
@Suite struct DoctorTests {
    @Test func `what is wrong with servers, their schema, rights and entries is found and named`()
        throws
    {
        let result = try SharedServers.run(
            """
            owner() { psql -XAtq service=ledger-owner -c "$1"; }
            # The servers of tests do not sync, and there is a remark or fault for each.
            doctor() {
                daybook doctor "$@" >found; status=$?
                grep -v "does not bring\\|^ok " found | sed 's/127.0.0.1:[0-9]*/HOST/g'
                echo "= $(grep -c '^ok ' found) $status"
            }
            daybook init a.daybook --model model.json --shared "$PLACE" >/dev/null
            daybook clone "$PLACE" b.daybook >/dev/null
            for name in France Italia Polska; do insert ${name:0:2} $name | record a.daybook ada; done
            doctor "$PLACE"
            doctor a.daybook
            daybook doctor a.daybook --output jsonl | grep -c '"weight"'

            owner "GRANT UPDATE ON daybook.entry TO ledger"
            owner "GRANT EXECUTE ON FUNCTION daybook.clock() TO PUBLIC"
            doctor "$PLACE"
            owner "REVOKE UPDATE ON daybook.entry FROM ledger"
            owner "REVOKE EXECUTE ON FUNCTION daybook.clock() FROM PUBLIC"

            owner "ALTER TABLE daybook.entry DISABLE TRIGGER never"
            owner "UPDATE daybook.entry SET payload = payload || '\\x00' WHERE sequence = 3"
            doctor a.daybook
            owner "UPDATE daybook.entry SET payload = substr(payload, 1, length(payload) - 1) WHERE sequence = 3"
            owner "ALTER TABLE daybook.entry ENABLE TRIGGER never"

            owner "CREATE OR REPLACE FUNCTION daybook.confirm() RETURNS void LANGUAGE sql AS 'SELECT'"
            owner "ALTER TABLE daybook.mark DISABLE ROW LEVEL SECURITY"
            owner "CREATE FUNCTION daybook.door() RETURNS int LANGUAGE sql AS 'SELECT 1'"
            doctor "$PLACE"
            owner "DROP SCHEMA daybook CASCADE"
            doctor "$PLACE" | head -1

            cluster kill 1 >/dev/null
            doctor "$PLACE" | grep reached | cut -c1-40
            cluster down >/dev/null
            daybook doctor a.daybook >/dev/null; echo "$?"
            """)

        #expect(
            result.lines == [
                "= 14 1", "= 15 1", "18",
                "fault   rights      'ledger' has the right UPDATE on 'daybook.entry', which nobody needs. "
                    + "Revoke it.",
                "fault   rights      Everybody may call 'daybook.clock'. Revoke that from PUBLIC.",
                "= 13 1",
                "fault   schema      On HOST the trigger 'never on entry' is missing or turned off, so that rows "
                    + "can be changed.",
                "fault   entries     Entry 3, appended by 'ledger', was changed on the servers: its digest is "
                    + "another one. Have the owner put it back from a copy.",
                "= 13 1",
                "fault   schema      On HOST every login reads all rows of 'mark'.",
                "fault   schema      On HOST the function 'confirm' is another one.",
                "fault   schema      On HOST the function 'door' does not belong there.",
                "fault   rights      Everybody may call 'daybook.door'. Revoke that from PUBLIC.",
                "= 12 1",
                "fault   schema      HOST has no schema 'daybook'. Install it with 'daybook schema --install'.",
                "note    servers     HOST was not reached", "6",
            ], "\(result.text)\n\(result.talk)")
    }
}
