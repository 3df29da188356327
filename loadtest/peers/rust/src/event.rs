//! A Chargebee event with an invoice. Serde checks that the event has the required fields, and that they have the right
//! types. It rejects an event in which a field occurs twice.
#![allow(dead_code, reason = "most fields are only checked")]

use std::{borrow::Cow, collections::HashMap};

use serde::{
    Deserialize, Deserializer,
    de::{Error, IgnoredAny},
};

/// The type of the events that are queued. The others are ignored.
const WANTED: &str = "pending_invoice_created";

type Text<'a> = Cow<'a, str>;

#[derive(Deserialize)]
pub struct Event<'a, C> {
    #[serde(deserialize_with = "event_id")]
    pub id: String,
    pub occurred_at: i64,
    #[serde(borrow)]
    pub source: Text<'a>,
    pub object: Object,
    #[serde(deserialize_with = "api_version")]
    pub api_version: String,
    #[serde(deserialize_with = "event_type")]
    pub event_type: String,
    #[serde(borrow)]
    pub webhook_status: Text<'a>,
    pub content: C,
}

/// Returns the event if it is valid and of the wanted type.
pub fn wanted(body: &str) -> Option<Event<'_, Content<'_>>> {
    serde_json::from_str(body).ok().filter(|event: &Event<_>| event.event_type == WANTED)
}

/// Returns the event if it is of another type. Its content is any object.
pub fn ignored(body: &str) -> Option<Event<'_, HashMap<String, IgnoredAny>>> {
    serde_json::from_str(body).ok().filter(|event: &Event<_>| event.event_type != WANTED)
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Object {
    Event,
}

#[derive(Deserialize)]
pub struct Content<'a> {
    #[serde(borrow)]
    pub invoice: Invoice<'a>,
}

#[derive(Deserialize)]
pub struct Invoice<'a> {
    #[serde(borrow)]
    pub id: Text<'a>,
    #[serde(borrow)]
    pub customer_id: Text<'a>,
    pub recurring: bool,
    #[serde(borrow)]
    pub status: Text<'a>,
    #[serde(borrow)]
    pub price_type: Text<'a>,
    #[serde(borrow)]
    pub currency_code: Text<'a>,
    pub tax: i64,
    pub sub_total: i64,
    pub term_finalized: bool,
    pub is_gifted: bool,
    #[serde(borrow, default)]
    pub line_items: Vec<LineItem<'a>>,
}

#[derive(Deserialize)]
pub struct LineItem<'a> {
    pub date_from: i64,
    pub date_to: i64,
    pub unit_amount: i64,
    pub is_taxed: bool,
    #[serde(borrow)]
    pub description: Text<'a>,
    #[serde(borrow)]
    pub entity_type: Text<'a>,
}

fn event_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    matching(deserializer, 40, b"_-")
}

fn event_type<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    matching(deserializer, 100, b"_.-")
}

fn api_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    matching(deserializer, 20, b"_.-")
}

/// A text has 1 to `longest` letters, digits and `marks`, as in app/events.py.
fn matching<'de, D: Deserializer<'de>>(deserializer: D, longest: usize, marks: &[u8]) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || marks.contains(&byte);
    if (1..=longest).contains(&text.len()) && text.bytes().all(allowed) {
        Ok(text)
    } else {
        Err(D::Error::custom("not allowed"))
    }
}
