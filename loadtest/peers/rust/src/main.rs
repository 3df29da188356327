//! Does the work of a release in Rust: Basic auth, a validated Chargebee event, one `SendMessage` per webhook, then
//! 200. With `--group-commit`, the webhooks that wait at the same time share a `SendMessageBatch`.
//! Configured by variables of the service: `APP_PORT`, `APP_SQS_QUEUE_URL`, `APP_BASIC_AUTH_…`.

mod event;
mod queue;

use std::{
    env, fs,
    sync::Arc,
    time::{Duration, SystemTime},
};

use aws_config::BehaviorVersion;
use aws_sdk_sqs::config::timeout::TimeoutConfig;
use aws_smithy_http_client::{
    Builder,
    tls::{Provider, TlsContext, TrustStore, rustls_provider::CryptoMode},
};
use axum::{
    Json, Router,
    body::Bytes,
    extract::{DefaultBodyLimit, FromRequest, FromRequestParts, Request, State},
    http::{StatusCode, request::Parts},
    routing::{get, post},
};
use axum_extra::{
    TypedHeader,
    headers::{Authorization, authorization::Basic},
};
use event::{Event, ignored, wanted};
use queue::{Message, Queue};
use serde::Serialize;
use subtle::ConstantTimeEq;
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    time::timeout,
};

type Failure = Box<dyn std::error::Error>;

const MAX_BODY_BYTES: usize = 245_760;
const BODY_TIMEOUT: Duration = Duration::from_secs(10);
const SQS_TIMEOUT: Duration = Duration::from_secs(10);
const ATTEMPTS: u32 = 3; // the SDK's default

struct Service {
    username: String,
    password: String,
    queue: Queue,
}

/// An extractor that runs before the body is read, so that a request with wrong credentials is refused early.
struct Authorized;

impl FromRequestParts<Arc<Service>> for Authorized {
    type Rejection = StatusCode;

    async fn from_request_parts(parts: &mut Parts, service: &Arc<Service>) -> Result<Self, StatusCode> {
        let found = TypedHeader::<Authorization<Basic>>::from_request_parts(parts, service).await;
        let TypedHeader(given) = found.map_err(|_| StatusCode::UNAUTHORIZED)?;
        let same = given.username().as_bytes().ct_eq(service.username.as_bytes())
            & given.password().as_bytes().ct_eq(service.password.as_bytes());
        if same.into() { Ok(Self) } else { Err(StatusCode::UNAUTHORIZED) }
    }
}

#[derive(Serialize)]
struct Answer {
    status: &'static str,
    event_id: String,
}

async fn read(request: Request) -> Result<String, StatusCode> {
    let body = timeout(BODY_TIMEOUT, Bytes::from_request(request, &())).await;
    let body = body.map_err(|_| StatusCode::REQUEST_TIMEOUT)?.map_err(|refused| refused.status())?;
    String::from_utf8(body.into()).map_err(|_| StatusCode::UNPROCESSABLE_ENTITY)
}

async fn receive(
    _: Authorized,
    State(service): State<Arc<Service>>,
    request: Request,
) -> Result<Json<Answer>, StatusCode> {
    let body = read(request).await?;
    let Some(Event { id, event_type, api_version, .. }) = wanted(&body) else {
        let event = ignored(&body).ok_or(StatusCode::UNPROCESSABLE_ENTITY)?;
        return Ok(Json(Answer { status: "ignored", event_id: event.id }));
    };
    let now = SystemTime::UNIX_EPOCH.elapsed().expect("the clock is after 1970").as_millis();
    let attributes = [
        ("event_id", id.clone()),
        ("event_type", event_type),
        ("api_version", api_version),
        ("received_at", now.to_string()),
    ];
    let message = Message { body, attributes };
    // A separate task, because a client that disconnects must not cancel the call.
    let sent = tokio::spawn(async move { timeout(SQS_TIMEOUT, service.queue.send(message)).await }).await;
    if matches!(sent, Ok(Ok(true))) {
        Ok(Json(Answer { status: "queued", event_id: id }))
    } else {
        Err(StatusCode::SERVICE_UNAVAILABLE)
    }
}

/// Returns the client. The SDK for Rust does not read `AWS_CA_BUNDLE` by itself.
async fn sqs() -> Result<aws_sdk_sqs::Client, Failure> {
    let mut trusted = TrustStore::default();
    if let Ok(file) = env::var("AWS_CA_BUNDLE") {
        trusted = TrustStore::empty().with_pem_certificate(fs::read(file)?);
    }
    let tls = TlsContext::builder().with_trust_store(trusted).build()?;
    let http = Builder::new().tls_provider(Provider::Rustls(CryptoMode::AwsLc)).tls_context(tls).build_https();
    let timeouts = TimeoutConfig::builder()
        .operation_timeout(SQS_TIMEOUT)
        .operation_attempt_timeout(SQS_TIMEOUT / ATTEMPTS)
        .build();
    let loader = aws_config::defaults(BehaviorVersion::latest()).http_client(http).timeout_config(timeouts);
    Ok(aws_sdk_sqs::Client::new(&loader.load().await))
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let url = env::var("APP_SQS_QUEUE_URL")?;
    let group_commit = env::args().any(|argument| argument == "--group-commit");
    let queue = if group_commit { Queue::group_commit } else { Queue::one_by_one }(sqs().await?, url);
    let service = Service {
        username: env::var("APP_BASIC_AUTH_USERNAME")?,
        password: env::var("APP_BASIC_AUTH_PASSWORD")?,
        queue,
    };
    let routes = Router::new()
        .route("/readyz", get(|| async {}))
        .route("/webhooks/chargebee", post(receive))
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .with_state(Arc::new(service));
    let listener = TcpListener::bind(format!("127.0.0.1:{}", env::var("APP_PORT")?)).await?;
    let mut terminated = signal(SignalKind::terminate())?;
    let stop = async move {
        terminated.recv().await;
    };
    axum::serve(listener, routes).with_graceful_shutdown(stop).await?;
    Ok(())
}
