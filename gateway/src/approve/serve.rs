//! The server of the page.
//!
//! INVARIANT: one a user; it listens on loopback alone; every request is judged by [`refused`] first and everything but the page
//! itself needs a token. It decides nothing: an answer goes to the store, which checks it again.

use super::board::board;
use super::code::{Scope, Tokens};
use super::guard::{Asked, OPEN, refused};
use super::news::{News, Places, read, tell_news, written};
use super::open::{at_port, lock_file, port_file, windows};
use super::page::{headers, page};
use crate::pay::{Refusal, held};
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, RawQuery, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use policy_approvals::{Channel, Store, Unanswered, Verdict};
use policy_engine::places::Folders;
use policy_ledger::Sqlite;
use policy_payments::ledger::Status;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::watch;

/// How often payments that wait are looked at again while a page is open.
const AGAIN: Duration = Duration::from_secs(2);
/// How often the file is looked at while a page is open, and while none is.
const BEAT: Duration = Duration::from_millis(150);
const SLOW_BEAT: Duration = Duration::from_millis(700);
/// How long a page waits for news before it asks again.
const NEWS_WITHIN: Duration = Duration::from_secs(20);
/// Without pages and questions for this long, the server ends.
const IDLE: Duration = Duration::from_secs(600);
/// A page counts as open for this long after it was heard of.
const PAGE_OPEN_MS: i64 = 25_000;
/// The page is opened by itself at most this often.
const OPENS_EVERY: Duration = Duration::from_secs(60);
/// How long one who looks whether there is a server may hold the lock.
const LOCK_WITHIN: Duration = Duration::from_millis(500);

struct Server {
    store: Store,
    folders: Folders,
    ledger: Arc<Sqlite>,
    address: String,
    tokens: Tokens,
    news: watch::Receiver<News>,
    /// When a page was last heard of, milliseconds since the epoch.
    heard: AtomicI64,
}

impl Server {
    /// A page is open; one of a single question shows no other, so it does not count.
    fn heard(&self, scope: &Scope) {
        if *scope == Scope::All {
            self.heard.store(now(), Ordering::Relaxed);
        }
    }
}

/// Serves the page until nobody needs it.
///
/// # Errors
/// When another one serves it, or the files cannot be used.
pub fn serve(folders: &Folders) -> Result<(), String> {
    let lock = lock_file(folders)?;
    let until = Instant::now() + LOCK_WITHIN;
    while lock.try_lock().is_err() {
        if Instant::now() >= until {
            return Err("the page is served already".to_owned());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(8)
        .build()
        .map_err(|error| error.to_string())?;
    let served = runtime.block_on(run(folders));
    let _ = std::fs::remove_file(port_file(folders));
    // A look at the file that has not ended holds nothing up.
    runtime.shutdown_background();
    drop(lock);
    served
}

async fn run(folders: &Folders) -> Result<(), String> {
    let store = Store::open(folders)?;
    let listener =
        tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.map_err(|error| error.to_string())?;
    let port = listener.local_addr().map_err(|error| error.to_string())?.port();
    let file = port_file(folders);
    policy_engine::open::write(&file, format!("{port}\n").as_bytes(), 0o600)
        .map_err(|error| error.to_string())?;
    let (tell, news) = watch::channel(News { seen: 1, ..News::default() });
    let server = Arc::new(Server {
        store,
        folders: folders.clone(),
        ledger: Arc::new(Sqlite::at(policy_ledger::file(&folders.state))),
        address: format!("127.0.0.1:{port}"),
        tokens: Tokens::default(),
        news,
        heard: AtomicI64::new(0),
    });
    let router = Router::new()
        .route("/", get(show))
        .route(&format!("{OPEN}{{place}}"), get(open))
        .route("/code", post(code))
        .route("/questions", get(questions))
        .route("/answer", post(answer))
        .route("/payments", get(payments))
        .fallback(|| async { StatusCode::NOT_FOUND })
        .method_not_allowed_fallback(|| async { StatusCode::METHOD_NOT_ALLOWED })
        .layer(DefaultBodyLimit::max(4096))
        .layer(from_fn_with_state(Arc::clone(&server), judge))
        .with_state(Arc::clone(&server));
    let look = look(Arc::clone(&server), tell, folders.clone(), port);
    let serve = axum::serve(listener, router);
    tokio::select! {
        () = look => Ok(()),
        served = serve => served.map_err(|error| error.to_string()),
    }
}

/// Looks at the questions, tells the pages, opens a page when there is none; ends when nobody needs the server.
async fn look(server: Arc<Server>, tell: watch::Sender<News>, folders: Folders, port: u16) {
    let mut held = None;
    let mut version = None;
    let mut looked = Instant::now() - Duration::from_secs(60);
    let mut needed = Instant::now();
    let mut looked_again = Instant::now();
    let mut opened: Option<Instant> = None;
    // The newest question that a page was opened for.
    let mut newest = 0;
    loop {
        let store = server.store.clone();
        let before = version;
        // What closes by its time changes no file.
        let due = looked.elapsed() > Duration::from_secs(1);
        let cards = tell.borrow().cards.clone();
        let seen = tell.borrow().seen;
        let own = Arc::clone(&server);
        let again =
            looked_again.elapsed() > AGAIN && now() - server.heard.load(Ordering::Relaxed) < PAGE_OPEN_MS;
        if again {
            looked_again = Instant::now();
        }
        let (back, found) = blocking(move || {
            let mut held = held;
            let now = store.changes(&mut held);
            let read = now.and_then(|now| {
                let places =
                    Places { store: &store, folders: &own.folders, ledger: own.ledger.as_ref(), again };
                let same = before == Some(now) && !due && !again;
                Ok((now, if same { None } else { Some(read(&places, &cards, seen + 1)?) }))
            });
            (held, read)
        })
        .await
        .unwrap_or((None, Err("the questions could not be read".to_owned())));
        held = back;
        let open = now() - server.heard.load(Ordering::Relaxed) < PAGE_OPEN_MS;
        match found {
            Ok((now_version, found)) => {
                version = Some(now_version);
                if let Some((cards, notices)) = found {
                    looked = Instant::now();
                    if !cards.is_empty() {
                        needed = Instant::now();
                    }
                    let waits = cards.iter().filter(|card| card.waits > now() && !card.quiet);
                    let last = waits.map(|card| card.asked).max().unwrap_or_default();
                    let lately = opened.is_some_and(|at| at.elapsed() < OPENS_EVERY);
                    if !open && last > newest && !lately && windows() {
                        opened = Some(Instant::now());
                        newest = last;
                        let folders = folders.clone();
                        std::thread::spawn(move || {
                            at_port(&folders, port).map(|opening| opening.finish(Duration::from_secs(60)))
                        });
                    } else if open {
                        newest = newest.max(last);
                    }
                    tell_news(&tell, cards, notices, None);
                }
            }
            Err(error) => {
                version = None;
                tell_news(&tell, Vec::new(), Vec::new(), Some(error));
            }
        }
        if open {
            needed = Instant::now();
        }
        // Without the file nobody finds this server any more.
        if needed.elapsed() > IDLE || !port_file(&folders).exists() {
            return;
        }
        tokio::time::sleep(if open { BEAT } else { SLOW_BEAT }).await;
    }
}

/// Every request goes through this, and every answer gets the headers here.
async fn judge(State(server): State<Arc<Server>>, mut request: Request, next: Next) -> Response {
    let headers = request.headers();
    let path = request.uri().path().to_owned();
    let asked = Asked {
        post: request.method() != Method::GET,
        path: &path,
        host: one(headers, "host"),
        origin: headers.contains_key("origin").then(|| one(headers, "origin").unwrap_or("null")),
        site: headers.contains_key("sec-fetch-site").then(|| one(headers, "sec-fetch-site").unwrap_or("")),
        mode: one(headers, "sec-fetch-mode"),
        dest: one(headers, "sec-fetch-dest"),
    };
    let fine = request.uri().authority().is_none() && refused(&asked, &server.address).is_none();
    let public = path == "/" || path == "/code" || path.starts_with(OPEN);
    let scope = one(headers, "x-policy-token").and_then(|token| server.tokens.scope(token));
    let mut response = if !fine {
        StatusCode::FORBIDDEN.into_response()
    } else if !public && scope.is_none() {
        StatusCode::UNAUTHORIZED.into_response()
    } else {
        if let Some(scope) = scope {
            request.extensions_mut().insert(scope);
        }
        next.run(request).await
    };
    static HEADERS: OnceLock<Vec<(&'static str, String)>> = OnceLock::new();
    for (name, value) in HEADERS.get_or_init(self::headers) {
        if let Ok(value) = HeaderValue::from_str(value) {
            response.headers_mut().insert(HeaderName::from_static(name), value);
        }
    }
    response
}

/// The header of this name, when there is exactly one.
fn one<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut all = headers.get_all(name).iter();
    let first = all.next()?;
    if all.next().is_some() {
        return None;
    }
    first.to_str().ok()
}

async fn show() -> Html<String> {
    Html(page())
}

async fn open(State(server): State<Arc<Server>>, Path(place): Path<String>) -> Response {
    let store = server.store.clone();
    match blocking(move || store.expected(&place)).await {
        Some(Ok(true)) => Html(page()).into_response(),
        _ => StatusCode::FORBIDDEN.into_response(),
    }
}

async fn code(State(server): State<Arc<Server>>, body: Bytes) -> Response {
    let Ok(code) = String::from_utf8(body.to_vec()) else { return StatusCode::BAD_REQUEST.into_response() };
    let held = Arc::clone(&server);
    match blocking(move || held.tokens.trade(&held.store, &code)).await {
        Some(Ok(Some((token, scope)))) => {
            server.heard(&scope);
            told(&json!({ "token": token, "all": scope == Scope::All }))
        }
        Some(Err(error)) => told(&json!({ "error": error })),
        _ => StatusCode::FORBIDDEN.into_response(),
    }
}

async fn questions(
    State(server): State<Arc<Server>>,
    Extension(scope): Extension<Scope>,
    RawQuery(query): RawQuery,
) -> Response {
    server.heard(&scope);
    let seen = query.and_then(|query| query.strip_prefix("seen=")?.parse::<u64>().ok()).unwrap_or_default();
    let mut news = server.news.clone();
    // ORDER: the first look at the file is waited for, so that a page does not begin empty.
    let other = news.wait_for(|news| news.seen != seen && news.seen > 1);
    let _ = tokio::time::timeout(NEWS_WITHIN, other).await;
    server.heard(&scope);
    let news = news.borrow().clone();
    match &news.error {
        Some(error) => told(&json!({ "error": super::shown::plain(error) })),
        None => ([(header::CONTENT_TYPE, "application/json")], written(&news, seen, &scope)).into_response(),
    }
}

async fn answer(
    State(server): State<Arc<Server>>,
    Extension(scope): Extension<Scope>,
    body: Bytes,
) -> Response {
    let said: Option<(String, Verdict)> = serde_json::from_slice(&body).ok().and_then(|value: Value| {
        let verdict = match value.get("verdict")?.as_str()? {
            "once" => Verdict::Once,
            "session" => Verdict::Session,
            "deny" => Verdict::Deny,
            _ => return None,
        };
        Some((value.get("id")?.as_str()?.to_owned(), verdict))
    });
    let Some((id, verdict)) = said else { return StatusCode::BAD_REQUEST.into_response() };
    let channel = match &scope {
        Scope::All => Channel::Page,
        // SECURITY: its address went through the client, so it counts as a form there does, and for nothing else.
        Scope::One(own) if *own == id => Channel::Elicit,
        Scope::One(_) => return StatusCode::FORBIDDEN.into_response(),
    };
    if let Some(payment) = id.strip_prefix(held::MARK).map(str::to_owned) {
        let approve = match verdict {
            Verdict::Once => true,
            Verdict::Deny => false,
            Verdict::Session => return StatusCode::BAD_REQUEST.into_response(),
        };
        let held = Arc::clone(&server);
        let done =
            blocking(move || held::answer(&held.folders, held.ledger.as_ref(), &payment, approve)).await;
        return told(&match done {
            Some(Ok(own)) if approve && own.status == Status::Denied => {
                let why = "something speaks against it now, and the payment is denied";
                json!({ "error": why, "closed": true })
            }
            Some(Ok(_)) => json!({ "ok": true }),
            Some(Err(refusal)) => {
                let closed = !matches!(refusal, Refusal::Fault(_) | Refusal::Policy(_));
                json!({ "error": super::shown::plain(&refusal.sentence()), "closed": closed })
            }
            None => json!({ "error": "the answer could not be written" }),
        });
    }
    let store = server.store.clone();
    let done = blocking(move || store.answer(&id, verdict, channel)).await;
    told(&match done {
        Some(Ok(())) => json!({ "ok": true }),
        Some(Err(error)) => {
            let closed = !matches!(error, Unanswered::Store(_));
            json!({ "error": super::shown::plain(&error.to_string()), "closed": closed })
        }
        None => json!({ "error": "the answer could not be written" }),
    })
}

/// The view of payments, for a page that sees everything.
async fn payments(State(server): State<Arc<Server>>, Extension(scope): Extension<Scope>) -> Response {
    if scope != Scope::All {
        return StatusCode::FORBIDDEN.into_response();
    }
    server.heard(&scope);
    match blocking(move || board(&server.folders, server.ledger.as_ref())).await {
        Some(all) => told(&all),
        None => told(&json!({ "error": "the ledger could not be read" })),
    }
}

fn told(value: &Value) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}

/// What reads or writes the file, away from the thread that carries messages.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    tokio::task::spawn_blocking(work).await.ok()
}

pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
#[path = "serve_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "serve_pay_tests.rs"]
mod pay_tests;
