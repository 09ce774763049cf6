//! The ledger: the Postgres database behind the workers, as the runner reads it from outside.
//! A unit's schema comes in; effects, inbox rows, audit trail and blocked backends come out.
//! It must never write a domain row, and never use a connection that a worker could have touched.

use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{AssertSqlSafe, PgPool, Row};

use super::container::{Addresses, ServerSpec};
use super::{BlockedPair, EnvError};
use crate::evidence::event::{AuditRow, Process, ReadWhy};
use crate::names::ServerKind;

const OWNER: &str = "ackproof";
const OWNER_PASSWORD: &str = "ackproof-owner";
const WORKER: &str = "ackproof_worker";
const WORKER_PASSWORD: &str = "ackproof-worker";
const DATABASE: &str = "ackproof";
const PORT: u16 = 5432;
const ROLES: &str = include_str!("../../fixtures/schema/roles.sql");
const TABLES: &str = include_str!("../../fixtures/schema/consumer.sql");
const AUDIT: &str = include_str!("../../fixtures/schema/audit.sql");
/// No query of the observer takes longer than this, or the database is in trouble.
const PATIENCE: Duration = Duration::from_secs(10);

/// The container of a Postgres pin; images built here and the official one take the same.
pub fn server_spec(pin: &str, addresses: Addresses) -> ServerSpec {
    let data = String::from("/var/lib/postgresql/tooldata");
    let setting = |text: &str| [String::from("-c"), text.to_owned()];
    let mut command = vec![String::from("postgres")];
    // A killed process loses nothing without fsync; only a lost machine would. A worker's death
    // must be noticed by its backend, or the final reads would wait for a statement nobody reads.
    for text in [
        "fsync=off",
        "max_connections=200",
        "client_connection_check_interval=500",
        "shared_buffers=16MB",
    ] {
        command.extend(setting(text));
    }
    ServerSpec {
        kind: ServerKind::Postgres,
        pin: pin.to_owned(),
        local_image: format!("ackproof/postgres:{pin}"),
        upstream_image: format!("postgres:{pin}"),
        command,
        env: [
            ("POSTGRES_USER", OWNER),
            ("POSTGRES_PASSWORD", OWNER_PASSWORD),
            ("POSTGRES_DB", DATABASE),
            ("PGDATA", "/var/lib/postgresql/tooldata/pgdata"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into(),
        ports: vec![(addresses.behind_link, PORT)],
        data_path: data,
        full_disk: &["No space left on device"],
        contents: "$(readlink -f \"$(command -v postgres)\")",
        attest_command: None,
    }
}

/// The observer's own connections to one database server, never through a link.
#[derive(Debug, Clone)]
pub struct Ledger {
    pool: PgPool,
}

/// One unit's schema in the ledger.
#[derive(Debug, Clone)]
pub struct UnitLedger {
    pool: PgPool,
    schema: String,
    /// What every `application_name` of the unit's workers starts with.
    prefix: String,
}

impl Ledger {
    /// Makes a pool for the server at this port; connects lazily.
    pub fn at(port: u16) -> Self {
        let options = PgConnectOptions::new_without_pgpass()
            .host("127.0.0.1")
            .port(port)
            .username(OWNER)
            .password(OWNER_PASSWORD)
            .database(DATABASE)
            .application_name("ackproof-observer");
        let pool = PgPoolOptions::new()
            .max_connections(16)
            .acquire_timeout(PATIENCE)
            .connect_lazy_with(options);
        Self { pool }
    }

    /// One try to be answered by the real server (not the one of a first start's set-up).
    ///
    /// # Errors
    /// When no query is answered.
    pub async fn probe_ready(&self) -> Result<(), EnvError> {
        sqlx::query("SELECT 1")
            .execute(&self.pool)
            .await
            .map(drop)
            .map_err(|e| EnvError::new("the database does not answer", e))
    }

    /// The version that the server answers.
    ///
    /// # Errors
    /// When it does not answer.
    pub async fn version(&self) -> Result<String, EnvError> {
        let row = sqlx::query("SHOW server_version")
            .fetch_one(&self.pool)
            .await
            .map_err(|e| EnvError::new("the database does not say its version", e))?;
        let text: String = row.get(0);
        // Debian appends its package version: `15.13 (Debian 15.13-0+deb12u1)`.
        Ok(text.split_whitespace().next().unwrap_or(&text).to_owned())
    }

    /// Creates the role of all workers; done once a server.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn prepare(&self) -> Result<(), EnvError> {
        let error = |e| EnvError::new("cannot create the role of the workers", e);
        sqlx::raw_sql(ROLES).execute(&self.pool).await.map_err(error)?;
        let password = format!("ALTER ROLE {WORKER} PASSWORD '{WORKER_PASSWORD}'");
        sqlx::raw_sql(AssertSqlSafe(password)).execute(&self.pool).await.map_err(error)?;
        Ok(())
    }

    /// Creates a unit's schema with domain tables and the runner-owned audit trail.
    ///
    /// # Errors
    /// When the database refuses (for example because it is full).
    pub async fn unit(&self, schema: &str, prefix: &str) -> Result<UnitLedger, EnvError> {
        let what = format!("cannot create schema {schema}");
        let error = |e: sqlx::Error| EnvError::new(&what, e);
        let mut transaction = self.pool.begin().await.map_err(error)?;
        let script = format!("CREATE SCHEMA {schema}; SET LOCAL search_path = {schema};");
        for sql in
            [AssertSqlSafe(script), AssertSqlSafe(TABLES.into()), AssertSqlSafe(AUDIT.into())]
        {
            sqlx::raw_sql(sql).execute(&mut *transaction).await.map_err(error)?;
        }
        transaction.commit().await.map_err(error)?;
        Ok(UnitLedger {
            pool: self.pool.clone(),
            schema: schema.to_owned(),
            prefix: prefix.to_owned(),
        })
    }

    /// Closes all connections.
    pub async fn close(&self) {
        self.pool.close().await;
    }
}

/// Where workers reach the database: the link, with the role that has no right on the audit trail.
pub fn worker_url(link: u16) -> String {
    format!("postgres://{WORKER}:{WORKER_PASSWORD}@127.0.0.1:{link}/{DATABASE}")
}

impl UnitLedger {
    /// Name of the schema that the unit's workers use.
    pub fn schema(&self) -> &str {
        &self.schema
    }

    /// Committed effect rows of an event for a destination, as anybody else sees them.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn effects(&self, event: &str, destination: &str) -> Result<u64, EnvError> {
        let sql = format!(
            "SELECT count(*) FROM {}.effects WHERE event_id = $1 AND destination = $2",
            self.schema
        );
        let row = sqlx::query(AssertSqlSafe(sql))
            .bind(event)
            .bind(destination)
            .fetch_one(&self.pool)
            .await
            .map_err(|e| self.error("count effects", &e))?;
        Ok(unsigned(row.get::<i64, _>(0)))
    }

    /// The audit trail in its own order.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn audit(&self, why: ReadWhy) -> Result<Vec<AuditRow>, EnvError> {
        let sql = format!(
            "SELECT seq, op, txid, pid, application_name, event_id, destination, \"row\"::text \
             FROM {}.audit ORDER BY seq",
            self.schema
        );
        let rows = self.rows(sql, "read the audit trail").await?;
        Ok(rows
            .iter()
            .map(|row| AuditRow {
                audit_seq: row.get(0),
                operation: row.get(1),
                transaction: row.get(2),
                backend_pid: row.get(3),
                application: self.own_name(row.get(4)),
                event: row.get(5),
                destination: row.get(6),
                values: row.get(7),
                why,
            })
            .collect())
    }

    /// Rows of a two- or three-column table as text, in the order of their columns.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn texts(&self, table: Table) -> Result<Vec<Vec<String>>, EnvError> {
        let columns = table.columns();
        let list = columns.join(", ");
        let sql = format!("SELECT {list} FROM {}.{} ORDER BY {list}", self.schema, table.name());
        let rows = self.rows(sql, table.name()).await?;
        Ok(rows.iter().map(|row| (0..columns.len()).map(|i| row.get(i)).collect()).collect())
    }

    /// How many distinct events a redriver has recorded as republished.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn redriven(&self) -> Result<u64, EnvError> {
        let sql = format!("SELECT count(DISTINCT event_id) FROM {}.redrive_progress", self.schema);
        let rows = self.rows(sql, "count redriven letters").await?;
        Ok(rows.first().map_or(0, |row| unsigned(row.get::<i64, _>(0))))
    }

    /// Backends of this unit's workers that wait for each other, by the database's own word.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn blocked(&self) -> Result<Vec<BlockedPair>, EnvError> {
        let sql = "SELECT w.application_name, b.application_name \
                   FROM pg_stat_activity w, unnest(pg_blocking_pids(w.pid)) AS p(pid) \
                   JOIN pg_stat_activity b ON b.pid = p.pid \
                   WHERE starts_with(w.application_name, $1) AND w.wait_event_type = 'Lock'";
        let rows = sqlx::query(sql)
            .bind(&self.prefix)
            .fetch_all(&self.pool)
            .await
            .map_err(|e| self.error("see who blocks whom", &e))?;
        Ok(rows
            .iter()
            .filter_map(|row| {
                let waiter = self.process(&row.get::<String, _>(0))?;
                let blocker = self.process(&row.get::<String, _>(1))?;
                Some(BlockedPair { waiter, blocker })
            })
            .collect())
    }

    /// Backends that still serve this unit's workers.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn backends(&self) -> Result<u32, EnvError> {
        let sql = "SELECT count(*) FROM pg_stat_activity WHERE starts_with(application_name, $1)";
        let row = sqlx::query(sql)
            .bind(&self.prefix)
            .fetch_one(&self.pool)
            .await
            .map_err(|e| self.error("count backends", &e))?;
        Ok(u32::try_from(row.get::<i64, _>(0)).unwrap_or(u32::MAX))
    }

    /// Drops the schema with everything in it.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn remove(&self) -> Result<(), EnvError> {
        let sql = format!("DROP SCHEMA IF EXISTS {} CASCADE", self.schema);
        sqlx::raw_sql(AssertSqlSafe(sql))
            .execute(&self.pool)
            .await
            .map(drop)
            .map_err(|e| self.error("drop the schema", &e))
    }

    async fn rows(&self, sql: String, what: &str) -> Result<Vec<sqlx::postgres::PgRow>, EnvError> {
        sqlx::query(AssertSqlSafe(sql))
            .fetch_all(&self.pool)
            .await
            .map_err(|e| self.error(what, &e))
    }

    fn error(&self, what: &str, error: &sqlx::Error) -> EnvError {
        EnvError::new(format!("ledger, schema {}: cannot {what}", self.schema), error)
    }

    /// `u03.consumer-1/2` without the unit's prefix.
    fn own_name(&self, application: String) -> String {
        application.strip_prefix(&self.prefix).map(str::to_owned).unwrap_or(application)
    }

    fn process(&self, application: &str) -> Option<Process> {
        let (worker, incarnation) = application.strip_prefix(&self.prefix)?.rsplit_once('/')?;
        Some(Process { worker: worker.to_owned(), incarnation: incarnation.parse().ok()? })
    }
}

/// Tables of the domain that the final reads take whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    Inbox,
    Quarantine,
    RedriveProgress,
}

impl Table {
    fn name(self) -> &'static str {
        match self {
            Self::Inbox => "inbox",
            Self::Quarantine => "quarantine",
            Self::RedriveProgress => "redrive_progress",
        }
    }

    fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Inbox | Self::Quarantine => &["event_id", "destination", "fingerprint"],
            Self::RedriveProgress => &["redrive_id", "event_id"],
        }
    }
}

fn unsigned(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}
