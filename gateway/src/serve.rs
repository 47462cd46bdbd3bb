//! The HTTP API of payments, on loopback: for agents whose own code asks before they pay.
//!
//! INVARIANT: who has no token is told nothing; a request that a browser sends for another page is refused before it is read; one
//! thread decides, so a check is what it is everywhere else. No answer holds the token, and nothing here approves anything.

use crate::pay::{Front, Rate, Refusal, Request, TOOL, answer, hex, scan};
use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, Request as Asked, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use policy_engine::decide::{Engine, Options};
use policy_engine::open::Care;
use policy_engine::paying::now_ms;
use policy_engine::places::Folders;
use policy_hosts::call::Call;
use policy_hosts::event::strict_json;
use policy_hosts::reply::clean;
use policy_payments::ledger::{Content, Decision, Ledger, Status};
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;

/// Most bytes of a request.
const MOST: usize = 8 << 20;
/// Longest wait for one decision.
const PATIENCE: Duration = Duration::from_secs(60);
/// Stack of the thread that decides.
const STACK: usize = 8 << 20;
/// Where it listens when nothing else is said.
pub const PORT: u16 = 8402;
/// Questions a minute when nothing else is said.
pub const RATE: u32 = 600;

/// With what the API starts.
pub struct Serve {
    /// Our folders.
    pub folders: Folders,
    /// How calls are decided.
    pub options: Options,
    /// The project of calls that name no session.
    pub cwd: PathBuf,
    /// The label of the caller.
    pub label: Option<String>,
    /// The port; 0: any.
    pub port: u16,
    /// Questions a minute.
    pub rate: u32,
    /// A token that is taken beside that of the file.
    pub token: Option<String>,
    /// Where payments are kept.
    pub ledger: Box<dyn Ledger + Send>,
    /// Called once it listens, with its address and the file of the token.
    pub listens: fn(&str, &std::path::Path),
}

enum Job {
    Check(Map<String, Value>),
    Get(String),
    File(Map<String, Value>),
}

type Work = (Job, oneshot::Sender<(u16, Value)>);

struct Server {
    address: String,
    tokens: Vec<String>,
    work: Sender<Work>,
    rate: Mutex<Rate>,
}

/// The file of the token.
pub fn token_file(folders: &Folders) -> PathBuf {
    folders.state.join("serve").join("token")
}

/// The token, which is made when there is none.
fn token(folders: &Folders) -> Result<String, String> {
    let file = token_file(folders);
    let folder = file.parent().ok_or("there is no folder for the token")?;
    policy_engine::open::private_folder(folder).map_err(|error| error.to_string())?;
    if let Ok((bytes, _)) = policy_engine::open::read(&file, Care::Private, 4096) {
        let text = String::from_utf8_lossy(&bytes).trim().to_owned();
        if text.len() >= 32 {
            return Ok(text);
        }
        return Err(format!("`{}` holds no token; remove it, and a new one is made", file.display()));
    }
    if file.exists() {
        return Err(format!("`{}` cannot be used: it has to be yours alone (mode 0600)", file.display()));
    }
    let bytes = policy_engine::audit::masked::random(&file).map_err(|error| error.to_string())?;
    let text = hex(&bytes);
    policy_engine::open::write(&file, format!("{text}\n").as_bytes(), 0o600)
        .map_err(|error| error.to_string())?;
    Ok(text)
}

/// Serves until the process is ended.
///
/// # Errors
/// When the address or the token cannot be used.
pub fn serve(start: Serve) -> Result<(), String> {
    let mut tokens = vec![token(&start.folders)?];
    tokens.extend(start.token.clone().filter(|own| own.len() >= 16));
    let (work, jobs) = channel();
    let file = token_file(&start.folders);
    let (port, rate, listens) = (start.port, start.rate, start.listens);
    std::thread::Builder::new()
        .name("policy-payments".to_owned())
        .stack_size(STACK)
        .spawn(move || decide(start, &jobs))
        .map_err(|error| format!("the deciding thread cannot start: {error}"))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("the server cannot start: {error}"))?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", port))
            .await
            .map_err(|error| format!("127.0.0.1:{port} cannot be used: {error}"))?;
        let port = listener.local_addr().map_err(|error| error.to_string())?.port();
        let address = format!("127.0.0.1:{port}");
        let server =
            Arc::new(Server { address: address.clone(), tokens, work, rate: Mutex::new(Rate::new(rate)) });
        let router = Router::new()
            .route("/api/v1/decisions", post(check))
            .route("/api/v1/decisions/{id}", get(decision))
            .route("/api/v1/context", post(context))
            .fallback(|| async { refused(404, "there is no such address", None) })
            .method_not_allowed_fallback(|| async { refused(405, "this address takes no such method", None) })
            .layer(DefaultBodyLimit::max(MOST))
            .layer(from_fn_with_state(Arc::clone(&server), judge))
            .with_state(server);
        listens(&address, &file);
        axum::serve(listener, router).await.map_err(|error| error.to_string())
    })
}

/// An error as clients read it.
fn refused(status: u16, message: &str, field: Option<&str>) -> Response {
    let body = json!({ "error": { "message": message, "field": field } });
    written(status, &body)
}

fn written(status: u16, body: &Value) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
    (status, headers, body.to_string()).into_response()
}

/// Whether two texts are one, in a time that does not tell where they differ.
fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    one.len() == other.len() && one.iter().zip(other).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

/// The header of this name, when there is exactly one.
fn one<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut all = headers.get_all(name).iter();
    let first = all.next()?;
    if all.next().is_some() { None } else { first.to_str().ok() }
}

async fn judge(State(server): State<Arc<Server>>, request: Asked, next: Next) -> Response {
    let headers = request.headers();
    let port = server.address.rsplit(':').next().unwrap_or_default();
    let host = one(headers, "host");
    let ours = host.is_some_and(|host| host == server.address || host == format!("localhost:{port}"));
    // SECURITY: a page in a browser says where it comes from, and none of them is a client.
    if !ours || headers.contains_key("origin") || headers.contains_key("sec-fetch-site") {
        return refused(403, "a page of a browser does not ask here", None);
    }
    let given = one(headers, "authorization").and_then(|own| own.strip_prefix("Bearer "));
    let Some(key) = given.and_then(|given| server.tokens.iter().position(|own| same(own, given))) else {
        return refused(401, "the token is missing or another one", None);
    };
    let free = server.rate.lock().unwrap_or_else(PoisonError::into_inner).take(&key.to_string(), now_ms());
    if !free {
        let mut response =
            refused(429, "too many questions in this minute. Do not pay; try again later.", None);
        response.headers_mut().insert(header::RETRY_AFTER, header::HeaderValue::from_static("60"));
        return response;
    }
    next.run(request).await
}

async fn ask(server: &Server, job: Job) -> Response {
    let (back, answer) = oneshot::channel();
    let gone = || refused(503, "policy could not decide. Do not pay. The deciding thread has failed.", None);
    if server.work.send((job, back)).is_err() {
        return gone();
    }
    match tokio::time::timeout(PATIENCE, answer).await {
        Ok(Ok((status, body))) => written(status, &body),
        Ok(Err(_)) => gone(),
        Err(_) => refused(503, "policy could not decide in time. Do not pay.", None),
    }
}

/// The object in a body.
fn object(body: &Bytes) -> Result<Map<String, Value>, Box<Response>> {
    match strict_json(body) {
        Ok(Value::Object(all)) => Ok(all),
        Ok(_) => Err(Box::new(refused(400, "the body is no object", None))),
        Err(why) => {
            Err(Box::new(refused(400, &format!("the body cannot be read: {}", clean(&why, 200)), None)))
        }
    }
}

async fn check(State(server): State<Arc<Server>>, body: Bytes) -> Response {
    match object(&body) {
        Ok(all) => ask(&server, Job::Check(all)).await,
        Err(response) => *response,
    }
}

async fn decision(State(server): State<Arc<Server>>, Path(id): Path<String>) -> Response {
    ask(&server, Job::Get(id)).await
}

async fn context(State(server): State<Arc<Server>>, body: Bytes) -> Response {
    match object(&body) {
        Ok(all) => ask(&server, Job::File(all)).await,
        Err(response) => *response,
    }
}

/// The thread that decides.
fn decide(start: Serve, jobs: &Receiver<Work>) {
    let mut engine = Engine::new(start.folders.clone(), start.options.clone());
    while let Ok((job, back)) = jobs.recv() {
        // Who asked is gone.
        if back.is_closed() {
            continue;
        }
        engine.refresh();
        let done = work(&start, &mut engine, job).unwrap_or_else(|refusal| {
            let field = match &refusal {
                Refusal::Input { field, .. } => Some(field.clone()),
                Refusal::Conflict => Some("idempotencyKey".to_owned()),
                _ => None,
            };
            (refusal.status(), json!({ "error": { "message": refusal.sentence(), "field": field } }))
        });
        let _ = back.send(done);
    }
}

fn work(start: &Serve, engine: &mut Engine, job: Job) -> Result<(u16, Value), Refusal> {
    let session = |all: &Map<String, Value>| match all.get("sessionId") {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) if text.len() <= 200 => Ok(text.clone()),
        Some(_) => Err(Refusal::Input {
            field: "sessionId".to_owned(),
            why: "it has to be a string of at most 200 bytes".to_owned(),
        }),
    };
    let frame = Call {
        host: "api".to_owned(),
        event: "pre_tool_use".to_owned(),
        host_event: "pre_tool_use".to_owned(),
        tool: TOOL.to_owned(),
        cwd: start.cwd.clone(),
        label: start.label.clone(),
        ..Call::default()
    };
    let mut front = Front {
        engine,
        ledger: start.ledger.as_ref(),
        frame,
        session: String::new(),
        account: "api".to_owned(),
        now: now_ms(),
        scan: &scan,
    };
    match job {
        Job::Check(all) => {
            front.session = session(&all)?;
            let request = Request::of_body(&all)?;
            let decision = front.check(&request)?;
            if decision.status == Status::ReviewPending {
                crate::approve::summon(&start.folders);
            }
            Ok((200, told(&decision)))
        }
        Job::Get(id) => Ok((200, told(&front.waited(&id)?))),
        Job::File(all) => {
            front.session = session(&all)?;
            let input =
                |field: &str, why: &str| Refusal::Input { field: field.to_owned(), why: why.to_owned() };
            let text = all.get("text").and_then(Value::as_str).filter(|text| !text.is_empty());
            let text = text.ok_or_else(|| input("text", "it has to be a string that is not empty"))?;
            if text.contains('\0') {
                return Err(input("text", "it holds a NUL character"));
            }
            let origin = match all.get("origin") {
                None | Some(Value::Null) => "unknown",
                Some(Value::String(origin)) => origin,
                Some(_) => return Err(input("origin", "it has to be a string")),
            };
            let (found, hash) = front.file(origin, text)?;
            let status = match found {
                Content::Flagged => "flagged",
                Content::Clear => "clear",
                Content::Unfinished => "unavailable",
            };
            Ok((200, json!({ "status": status, "sha256": hex(&hash) })))
        }
    }
}

/// A decision as clients read it.
fn told(decision: &Decision) -> Value {
    let mut rules: Vec<Value> = decision
        .reasons
        .iter()
        .map(|reason| {
            let sentence = crate::pay::sentence(&reason.sentence);
            json!({ "result": if reason.denies { "deny" } else { "review" }, "rule": reason.rule, "sentence": sentence })
        })
        .collect();
    if rules.is_empty() {
        rules.push(json!({ "result": if decision.status == Status::Denied { "deny" } else { "allow" } }));
    }
    json!({
        "id": decision.id, "status": decision.status.word(), "would": decision.would.word(), "rules": rules,
        "text": answer(decision, 0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_compared_whole() {
        assert!(same("abc", "abc") && !same("abc", "abd") && !same("abc", "ab") && !same("", "a"));
    }
}
