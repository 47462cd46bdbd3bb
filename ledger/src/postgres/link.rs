//! One connection to the server, and what is said when there is none.
//!
//! INVARIANT: nothing waits for the server without end: what is not answered in time ends the connection, and is a fault. What was
//! sent is never sent twice here. Without TLS: a server on another machine is spoken to only where its address says so.

use policy_payments::ledger::Fault;
use std::collections::HashMap;
use std::future::Future;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, Error, NoTls, Row, SimpleQueryMessage, Statement};

/// Longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(2);
/// Longest wait for one answer, other checks before it included.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// What is set for each connection. What is confirmed stays, whatever else is set on the server. Everything is found by an index, and a
/// plan that was made while the tables were empty must not say otherwise.
const SETTINGS: &str = "SET search_path = policy_ledger;
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') IN ('off', 'local');
    SET statement_timeout = '9s'; SET idle_in_transaction_session_timeout = '30s'; SET standard_conforming_strings = on;
    SET enable_seqscan = off; SET jit = off";

pub(crate) type Values<'v> = &'v [&'v (dyn ToSql + Sync)];

/// A connection; dead when something was not answered.
pub(crate) struct Link {
    runtime: Runtime,
    client: Client,
    prepared: HashMap<&'static str, Statement>,
    dead: bool,
    /// A statement failed, and with it the transaction that it was in.
    pub(crate) failed: bool,
    /// There are tables.
    pub(crate) made: bool,
}

pub(crate) fn fault(why: &str) -> Fault {
    Fault(format!("the ledger cannot be used: {why}"))
}

/// What is in the server and cannot be.
pub(crate) fn damaged() -> Fault {
    fault("the database holds what cannot be; nothing is paid until a person has looked at it")
}

fn clause(error: &Error) -> String {
    match error.as_db_error() {
        Some(own) => format!("the database says `{}` ({})", own.message(), own.code().code()),
        None => {
            let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
            format!("the database cannot be reached: {error}{}", cause.unwrap_or_default())
        }
    }
}

/// An address as `postgres://…` or `host=… dbname=…`.
pub(crate) fn config(address: &str) -> Result<Config, String> {
    let mut config: Config =
        address.parse().map_err(|error| format!("its address is none of PostgreSQL: {}", clause(&error)))?;
    let near = |host: &Host| match host {
        Host::Tcp(name) => {
            name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        }
        Host::Unix(_) => true,
    };
    let all_near = config.get_hosts().iter().all(near)
        && config.get_hostaddrs().iter().all(std::net::IpAddr::is_loopback);
    if config.get_ssl_mode() == SslMode::Require || (!all_near && config.get_ssl_mode() != SslMode::Disable) {
        return Err(
            "this program does not speak TLS to a database: use a socket, a tunnel that ends on this \
                    machine, or say `sslmode=disable` where the network itself is safe"
                .to_owned(),
        );
    }
    config.connect_timeout(CONNECT).tcp_user_timeout(PATIENCE).application_name("policy");
    Ok(config)
}

impl Link {
    /// Connects.
    pub(crate) fn open(config: &Config) -> Result<Link, Fault> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| fault(&error.to_string()))?;
        let connect = async {
            match tokio::time::timeout(CONNECT * 2, config.connect(NoTls)).await {
                Ok(Ok((client, connection))) => {
                    tokio::spawn(connection);
                    Ok(client)
                }
                Ok(Err(error)) => Err(fault(&clause(&error))),
                Err(_) => Err(fault("the database does not answer")),
            }
        };
        let client = runtime.block_on(connect)?;
        let mut link =
            Link { runtime, client, prepared: HashMap::new(), dead: false, failed: false, made: false };
        link.text(SETTINGS)?;
        let forgets = link.text("SELECT current_setting('fsync')")?;
        if forgets.first().is_some_and(|row| row.first().is_some_and(|own| own == "off")) {
            return Err(fault("the server forgets what it confirmed when it stops (`fsync = off`)"));
        }
        Ok(link)
    }

    /// Whether it is of no use any more.
    pub(crate) fn is_dead(&self) -> bool {
        self.dead || self.client.is_closed()
    }

    fn wait<T>(&mut self, what: impl AsyncFnOnce(&Client) -> Result<T, Error>) -> Result<T, Fault> {
        if self.is_dead() {
            return Err(fault("the connection to the database is gone"));
        }
        let client = &self.client;
        let done = self.runtime.block_on(async { limited(what(client)).await });
        self.failed |= !matches!(done, Some(Ok(_)));
        self.dead |= match &done {
            Some(Ok(_)) => false,
            // The server ends, or ended it.
            Some(Err(error)) => {
                error.is_closed() || error.code().is_some_and(|code| code.code().starts_with("57P"))
            }
            None => true,
        };
        match done {
            Some(done) => done.map_err(|error| fault(&clause(&error))),
            None => Err(fault("the database does not answer")),
        }
    }

    fn statement(&mut self, sql: &'static str) -> Result<Statement, Fault> {
        if let Some(known) = self.prepared.get(sql) {
            return Ok(known.clone());
        }
        let made = self.wait(async |client| client.prepare(sql).await)?;
        self.prepared.insert(sql, made.clone());
        Ok(made)
    }

    /// Rows.
    pub(crate) fn rows(&mut self, sql: &'static str, values: Values<'_>) -> Result<Vec<Row>, Fault> {
        let statement = self.statement(sql)?;
        self.wait(async |client| client.query(&statement, values).await)
    }

    /// How many rows were changed.
    pub(crate) fn change(&mut self, sql: &'static str, values: Values<'_>) -> Result<u64, Fault> {
        let statement = self.statement(sql)?;
        self.wait(async |client| client.execute(&statement, values).await)
    }

    /// Statements without values, one after the other; the columns of all rows as texts.
    pub(crate) fn text(&mut self, sql: &str) -> Result<Vec<Vec<String>>, Fault> {
        let messages = self.wait(async |client| client.simple_query(sql).await)?;
        let row = |message: SimpleQueryMessage| match message {
            SimpleQueryMessage::Row(row) => {
                Some((0..row.len()).map(|at| row.get(at).unwrap_or_default().to_owned()).collect())
            }
            _ => None,
        };
        Ok(messages.into_iter().filter_map(row).collect())
    }
}

async fn limited<T>(what: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(PATIENCE, what).await.ok()
}

#[cfg(test)]
mod tests {
    use super::config;

    #[test]
    fn other_machines_are_spoken_to_only_where_the_address_says_so() {
        for good in [
            "postgres://p@localhost/ledger",
            "postgres://p:secret@127.0.0.1:5433/ledger",
            "host=/run/postgresql dbname=ledger user=p",
            "postgres://p@db.example/ledger?sslmode=disable",
        ] {
            assert!(config(good).is_ok(), "{good}");
        }
        for bad in [
            "postgres://p@db.example/ledger",
            "postgres://p@localhost,db.example/ledger",
            "postgres://p@localhost/ledger?sslmode=require",
            "host=localhost hostaddr=10.0.0.1 dbname=ledger",
        ] {
            assert!(config(bad).is_err_and(|why| why.contains("TLS")), "{bad}");
        }
        assert!(config("mysql://x").is_err());
    }
}
