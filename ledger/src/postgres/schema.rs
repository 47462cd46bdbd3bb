//! The tables of the ledger in PostgreSQL, and how older ones become these.
//!
//! INVARIANT: a ledger of another version is not written to; each step is one transaction, and one program makes it at a time. What
//! is looked for by a text of any length is looked for by its mark (16 bytes of its SHA-256), since an index takes no long texts.

/// From each version to the next; there is none before the first.
pub(crate) const STEPS: [&str; 1] = [FIRST];

/// The version that this program knows.
pub(crate) fn version() -> i64 {
    i64::try_from(STEPS.len()).unwrap_or(i64::MAX)
}

/// One program at a time changes the tables.
pub(crate) const ALONE: &str = "SELECT pg_advisory_xact_lock(7092451889401)";

const FIRST: &str = "
    CREATE SCHEMA policy_ledger;
    SET LOCAL search_path = policy_ledger;
    CREATE TABLE clock (
        one int PRIMARY KEY CHECK (one = 1),
        version bigint NOT NULL,
        last bigint NOT NULL,
        changes bigint NOT NULL,
        seq bigint NOT NULL
    ) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
    INSERT INTO clock VALUES (1, 0, 0, 0, 0);
    CREATE TABLE decision (
        seq bigint PRIMARY KEY,
        id text NOT NULL UNIQUE,
        session text NOT NULL,
        beside text NOT NULL,
        account text NOT NULL,
        key text,
        attempt bytea UNIQUE,
        same bytea NOT NULL,
        fingerprint bytea NOT NULL,
        status smallint NOT NULL,
        would smallint NOT NULL,
        reasons text NOT NULL,
        shown text NOT NULL,
        tool text NOT NULL,
        payee text,
        seller text,
        page text,
        url text,
        texts bytea NOT NULL,
        flows text NOT NULL,
        at bigint NOT NULL,
        expires bigint NOT NULL,
        answered bigint NOT NULL,
        used smallint NOT NULL,
        tx text,
        evidence boolean NOT NULL DEFAULT false
    );
    CREATE INDEX decision_waits ON decision (expires) WHERE status = 2;
    CREATE INDEX decision_same ON decision (same, status DESC, seq) WHERE status IN (0, 2, 3);
    CREATE TABLE hold (
        decision bigint NOT NULL,
        asset text NOT NULL,
        units numeric(78, 0) NOT NULL CHECK (units >= 0),
        state smallint NOT NULL,
        at bigint NOT NULL,
        everyone bytea NOT NULL,
        payee bytea NOT NULL,
        seller bytea NOT NULL,
        session bytea NOT NULL,
        tool bytea NOT NULL,
        same bytea NOT NULL,
        PRIMARY KEY (decision, everyone)
    );
    CREATE INDEX hold_everyone ON hold (everyone, at);
    CREATE INDEX hold_payee ON hold (payee, at);
    CREATE INDEX hold_seller ON hold (seller, at);
    CREATE INDEX hold_session ON hold (session, at);
    CREATE INDEX hold_tool ON hold (tool, at);
    CREATE INDEX hold_same ON hold (same, at);
    CREATE TABLE run (
        mark bytea NOT NULL,
        seconds bigint NOT NULL,
        tail bigint NOT NULL,
        next bigint NOT NULL,
        total numeric(78, 0) NOT NULL CHECK (total >= 0),
        PRIMARY KEY (mark, seconds)
    ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
    CREATE TABLE known (mark bytea PRIMARY KEY, payee text NOT NULL, ends text NOT NULL, how text NOT NULL, at bigint NOT NULL);
    CREATE INDEX known_ends ON known (ends, at);
    CREATE TABLE price (mark bytea PRIMARY KEY, page text NOT NULL, asset text NOT NULL, units numeric(78, 0) NOT NULL);
    CREATE TABLE content (
        hash bytea NOT NULL,
        mark bytea NOT NULL,
        session text NOT NULL,
        origin text NOT NULL,
        found smallint NOT NULL,
        classes text NOT NULL,
        text text NOT NULL,
        at bigint NOT NULL,
        PRIMARY KEY (hash, mark)
    );
    CREATE TABLE seen (mark bytea PRIMARY KEY, session text NOT NULL, address text NOT NULL, at bigint NOT NULL);
    CREATE TABLE flag (mark bytea PRIMARY KEY, session text NOT NULL, until bigint NOT NULL, hash bytea NOT NULL);
";
