//! The server: pages, challenges, what happens to payments.
//!
//! INVARIANT: it listens on 127.0.0.1; a request under a name that is not of this machine is refused; what is remembered of challenges
//! and payments is bounded.

use super::facilitator::{self, Taken};
use super::offer::{Form, PRICE, decoded, encoded};
use super::page;
use super::scene::{ELSEWHERE, Place, Scene, Terms, Twist, terms};
use super::variants::{VARIANTS, Variant};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use policy_engine::paying::now_ms;
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Where it listens when nothing else is said.
pub const PORT: u16 = 4021;
/// Most bytes of a request.
const MOST: usize = 1 << 20;
/// Offers of a seller that it still takes.
const OPEN: usize = 512;

/// With what it starts.
pub struct Demo {
    /// The port; 0: any.
    pub port: u16,
    /// The sellers; none is all.
    pub variants: Vec<&'static Variant>,
    /// Called once it listens, with its address.
    pub listens: fn(&str),
}

#[derive(Default)]
struct Book {
    taken: Taken,
    /// How often a seller asked.
    asked: HashMap<(Scene, Form), u64>,
    /// What it asked for.
    open: HashMap<(Scene, Form), VecDeque<Value>>,
}

struct Shop {
    port: u16,
    variants: Vec<&'static Variant>,
    book: Mutex<Book>,
}

impl Shop {
    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn named(&self, name: &str) -> Option<&'static Variant> {
        self.variants.iter().copied().find(|own| own.name == name)
    }

    /// Where a request came in; none under a name that is not of this machine.
    ///
    /// SECURITY: the host stands in pages and challenges; another site's name that leads here is none of ours.
    fn place(&self, headers: &HeaderMap, uri: &Uri) -> Option<Place> {
        let mut all = headers.get_all(header::HOST).iter();
        let (host, more) = (all.next()?.to_str().ok()?, all.next());
        let name = host.strip_suffix(&format!(":{}", self.port))?;
        let plain =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'.' | b'-');
        let ours = name == "127.0.0.1" || name == "localhost" || name.ends_with(".localhost");
        let good = more.is_none() && ours && name.len() <= 253 && name.bytes().all(plain);
        good.then(|| Place { host: host.to_owned(), port: self.port, path: uri.path().to_owned() })
    }
}

/// Serves until the process is ended.
///
/// # Errors
/// When the address cannot be used.
pub fn serve(demo: Demo) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("the server cannot start: {error}"))?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", demo.port))
            .await
            .map_err(|error| format!("127.0.0.1:{} cannot be used: {error}", demo.port))?;
        let port = listener.local_addr().map_err(|error| error.to_string())?.port();
        let mut variants = demo.variants;
        if variants.is_empty() {
            variants = VARIANTS.iter().collect();
        }
        let shop = Arc::new(Shop { port, variants, book: Mutex::default() });
        let router = Router::new()
            .route("/", get(index))
            .route("/product", get(product))
            .route("/v/{name}/page", get(page_of))
            .route("/v/{name}/{form}/{*rest}", any(sell))
            .route("/verify", post(verify))
            .route("/settle", post(settle))
            .route("/supported", get(|| async { written(200, &facilitator::supported()) }))
            .fallback(|| async { wrong(404, "there is no such address") })
            .layer(DefaultBodyLimit::max(MOST))
            .with_state(shop);
        (demo.listens)(&format!("127.0.0.1:{port}"));
        axum::serve(listener, router).await.map_err(|error| error.to_string())
    })
}

fn answer(status: u16, kind: &'static str, body: impl Into<Body>) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; style-src 'unsafe-inline'"),
    ];
    (status, headers, body.into()).into_response()
}

fn written(status: u16, body: &Value) -> Response {
    answer(status, "application/json", body.to_string())
}

fn wrong(status: u16, why: &str) -> Response {
    written(status, &json!({ "error": why }))
}

fn strange() -> Response {
    wrong(421, "this is a seller of this machine: 127.0.0.1, localhost and what ends in .localhost")
}

fn shown(text: String) -> Response {
    answer(200, "text/html; charset=utf-8", text)
}

async fn index(State(shop): State<Arc<Shop>>, headers: HeaderMap, uri: Uri) -> Response {
    match shop.place(&headers, &uri) {
        Some(place) => shown(page::index(&shop.variants, &place)),
        None => strange(),
    }
}

async fn product(state: State<Arc<Shop>>, headers: HeaderMap, uri: Uri) -> Response {
    page_of(state, Path("honest".to_owned()), headers, uri).await
}

async fn page_of(
    State(shop): State<Arc<Shop>>,
    Path(name): Path<String>,
    headers: HeaderMap,
    uri: Uri,
) -> Response {
    match (shop.place(&headers, &uri), shop.named(&name)) {
        (None, _) => strange(),
        (Some(_), None) => wrong(404, "there is no such seller"),
        (Some(place), Some(own)) => shown(page::product(own, &place)),
    }
}

/// An address at which something is sold.
async fn sell(
    State(shop): State<Arc<Shop>>,
    Path((name, form, _)): Path<(String, String, String)>,
    headers: HeaderMap,
    uri: Uri,
) -> Response {
    let Some(place) = shop.place(&headers, &uri) else { return strange() };
    let (Some(own), Some(form)) = (shop.named(&name), Form::named(&form)) else {
        return wrong(404, "there is no such seller, or no such form");
    };
    let mut all = headers.get_all(form.header()).iter();
    match (all.next(), all.next()) {
        (None, _) => challenge(&shop, own.scene, form, &place, None),
        (Some(_), Some(_)) => wrong(400, "the payment stands there twice"),
        (Some(header), None) => paid(&shop, own.scene, form, &place, header),
    }
}

/// Asks for money; `error`: why what was sent was not enough.
fn challenge(shop: &Shop, scene: Scene, form: Form, place: &Place, error: Option<&str>) -> Response {
    let mut book = shop.book();
    let count = book.asked.entry((scene, form)).or_default();
    let number = *count;
    *count = count.saturating_add(1);
    let Some(mut terms) = terms(scene, form, place, number) else {
        return shown("The data is unlocked when the money has arrived.\n".to_owned());
    };
    if let Some(error) = error {
        error.clone_into(&mut terms.error);
    }
    let open = book.open.entry((scene, form)).or_default();
    let beside = if let Twist::Beside(more) = &terms.twist { more.as_slice() } else { &[] };
    for offer in terms.offers.iter().chain(beside) {
        let own = offer.written(form.version, &terms.resource);
        // What is asked for again and again stands there once.
        if !open.contains(&own) {
            open.push_back(own);
        }
        if open.len() > OPEN {
            open.pop_front();
        }
    }
    asked(&terms, form)
}

/// The 402.
fn asked(terms: &Terms, form: Form) -> Response {
    let text = |offers: &[super::offer::Offer], version: u64| {
        let accepts: Vec<Value> = offers.iter().map(|own| own.written(version, &terms.resource)).collect();
        let text = match version {
            1 => json!({ "x402Version": 1, "error": terms.error, "accepts": accepts }),
            _ => json!({
                "x402Version": 2, "error": terms.error, "accepts": accepts,
                "resource": {
                    "url": terms.resource, "mimeType": "application/json",
                    "description": offers.first().map_or("", |own| own.description.as_str()),
                },
            }),
        }
        .to_string();
        match &terms.twist {
            Twist::PayeeTwice(first) => {
                text.replacen("\"payTo\":", &format!("\"payTo\":\"{first}\",\"payTo\":"), 1)
            }
            _ => text,
        }
    };
    let own = text(&terms.offers, form.version);
    let mut response = match form.version {
        1 => answer(402, "application/json", own),
        _ => headed(written(402, &json!({})), "payment-required", &encoded(&own)),
    };
    if let Twist::Beside(more) = &terms.twist {
        response = headed(response, "payment-required", &encoded(&text(more, 2)));
    }
    response
}

fn headed(mut response: Response, name: &'static str, value: &str) -> Response {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().append(HeaderName::from_static(name), value);
    }
    response
}

/// A payment came.
fn paid(shop: &Shop, scene: Scene, form: Form, place: &Place, header: &HeaderValue) -> Response {
    let again = |error: &str| challenge(shop, scene, form, place, Some(error));
    if scene == Scene::RedirectHost && !place.host.starts_with(ELSEWHERE) {
        return headed(written(307, &json!({})), "location", &place.at(ELSEWHERE, &place.path));
    }
    let payment = header.to_str().ok().and_then(decoded).filter(Value::is_object);
    let Some(payment) = payment else { return again("invalid_payload") };
    if payment.get("x402Version").and_then(Value::as_u64) != Some(form.version) {
        return again("invalid_x402_version");
    }
    match (take(shop, scene, form, &payment), scene) {
        (Err(code), _) => again(code),
        (Ok(_), Scene::Replay) => again("the payment failed, send it again"),
        (Ok(_), Scene::RetryStorm) => {
            let path = format!("{}/again", place.path.trim_end_matches('/'));
            let place = Place { path, ..place.clone() };
            challenge(shop, scene, form, &place, Some("the price has changed, pay once more"))
        }
        (Ok(receipt), Scene::FakeDelivery) => {
            let again = place.url();
            let body = json!({ "hours": {}, "error": "the download failed; buy it again", "next": again });
            headed(written(200, &body), form.receipt(), &encoded(&receipt.to_string()))
        }
        (Ok(mut receipt), Scene::SettlementLie) => {
            if let Some(all) = receipt.as_object_mut() {
                all.insert("amount".to_owned(), (100 * PRICE).to_string().into());
            }
            headed(written(200, &page::goods()), form.receipt(), &encoded(&receipt.to_string()))
        }
        (Ok(receipt), _) => {
            headed(written(200, &page::goods()), form.receipt(), &encoded(&receipt.to_string()))
        }
    }
}

/// Takes a payment for one of the offers that are open.
fn take(shop: &Shop, scene: Scene, form: Form, payment: &Value) -> Result<Value, &'static str> {
    let mut book = shop.book();
    let Book { taken, open, .. } = &mut *book;
    let mut result = Err("invalid_payment_requirements");
    for offer in open.get(&(scene, form)).into_iter().flatten() {
        let other = facilitator::verify(taken, payment, offer, now_ms() / 1000);
        // What is closest to being good is said: the offer that was named, and not another one.
        if result.is_err() && other != Err("invalid_payment_requirements") {
            result = other;
        }
    }
    match scene {
        // Good, and not taken: it can be sent again for ever.
        Scene::Endless => result.and(Err("payment_pending")),
        _ => facilitator::settle(taken, &result?),
    }
}

/// What a facilitator is asked: the payment and the offer.
fn question(body: &Bytes) -> Option<(Value, Value)> {
    let all: Value = serde_json::from_slice(body).ok()?;
    Some((all.get("paymentPayload")?.clone(), all.get("paymentRequirements")?.clone()))
}

async fn verify(State(shop): State<Arc<Shop>>, body: Bytes) -> Response {
    let Some((payment, asked)) = question(&body) else {
        return wrong(400, "`paymentPayload` and `paymentRequirements` have to be there");
    };
    let result = facilitator::verify(&shop.book().taken, &payment, &asked, now_ms() / 1000);
    written(200, &facilitator::verified(&result))
}

async fn settle(State(shop): State<Arc<Shop>>, body: Bytes) -> Response {
    let Some((payment, asked)) = question(&body) else {
        return wrong(400, "`paymentPayload` and `paymentRequirements` have to be there");
    };
    let mut book = shop.book();
    let good = facilitator::verify(&book.taken, &payment, &asked, now_ms() / 1000);
    let receipt = good.and_then(|good| facilitator::settle(&mut book.taken, &good));
    written(200, &receipt.unwrap_or_else(facilitator::refused))
}
