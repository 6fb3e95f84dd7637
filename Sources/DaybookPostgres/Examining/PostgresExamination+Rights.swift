internal import DaybookPQ

extension PostgresExamination {
    /// Looks at what this login may do, and at whoever may change rows by other ways than the functions.
    mutating func lookAtRights(_ connection: PostgresConnection) throws(PostgresError) {
        let before = findings.count
        if let login = try connection.run(Self.login, until: deadline).first {
            let name = try login.text(0)
            if try login.boolean(1) {
                add(
                    .rights, .fault,
                    "'\(name)' is a superuser and can change entries. Let programs use a login that is none."
                )
            } else if try login.boolean(2) {
                add(
                    .rights, .fault,
                    "'\(name)' owns the schema and can change it. Let programs use another login.")
            }
            try lookAtRoles(of: name, connection)
        }
        for row in try connection.run(Self.grants, until: deadline) {
            add(
                .rights, .fault,
                "'\(try row.text(0))' has the right \(try row.text(1)) on 'daybook.\(try row.text(2))', "
                    + "which nobody needs. Revoke it.")
        }
        for row in try connection.run(Self.callers, until: deadline) {
            add(
                .rights, .fault,
                "Everybody may call 'daybook.\(try row.text(0))'. Revoke that from PUBLIC.")
        }
        guard findings.dropFirst(before).allSatisfy({ $0.weight != .fault }) else { return }
        add(.rights, .sound, "Nobody but the owner may change a row of 'daybook' by other ways.")
    }

    private mutating func lookAtRoles(
        of login: String, _ connection: PostgresConnection
    ) throws(PostgresError) {
        let rows = try connection.run(Self.roles, [.text(terms.store)], until: deadline)
        guard let row = rows.first else {
            return add(
                .rights, .fault,
                "'\(login)' sees no store '\(terms.store)'. Make it, or let the login read it.")
        }
        let mayWrite = try row.boolean(0)
        add(
            .rights, mayWrite ? .sound : .remark,
            "'\(login)' may read\(mayWrite ? " and write" : ", and not write,") '\(terms.store)'.")
    }

    private static let login = PostgresStatement(
        "daybook_look_at_login",
        """
        SELECT session_user, r.rolsuper, pg_has_role(session_user, n.nspowner, 'MEMBER')
        FROM pg_roles r, pg_namespace n WHERE r.rolname = session_user AND n.nspname = 'daybook'
        """)
    private static let roles = PostgresStatement(
        "daybook_look_at_roles",
        "SELECT daybook.has_role(writer) FROM daybook.store WHERE name = $1")
    private static let grants = PostgresStatement(
        "daybook_look_at_grants",
        """
        SELECT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE pg_get_userbyid(a.grantee) END, a.privilege_type, c.relname
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace, aclexplode(c.relacl) a
        WHERE n.nspname = 'daybook' AND c.relkind = 'r' AND a.grantee <> c.relowner
            AND a.privilege_type <> 'SELECT'
        ORDER BY 1, 2, 3
        """)
    private static let callers = PostgresStatement(
        "daybook_look_at_callers",
        """
        SELECT DISTINCT p.proname FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace,
            aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
        WHERE n.nspname = 'daybook' AND a.grantee = 0 ORDER BY 1
        """)
}
