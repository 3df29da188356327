//! A Chargebee event with an invoice. Serde checks that the required fields are there and have the right type. Of a
//! field that occurs twice, it accepts neither.
#![allow(dead_code, reason = "most fields are only checked")]

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, de::Error};

type Text<'a> = Cow<'a, str>;

#[derive(Deserialize)]
pub struct Event<'a> {
    #[serde(deserialize_with = "event_id")]
    pub id: String,
    pub occurred_at: i64,
    #[serde(borrow)]
    pub source: Text<'a>,
    pub object: Object,
    pub api_version: String,
    pub event_type: String,
    #[serde(borrow)]
    pub webhook_status: Text<'a>,
    #[serde(borrow)]
    pub content: Content<'a>,
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
    let id = String::deserialize(deserializer)?;
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if (1..=40).contains(&id.len()) && id.bytes().all(allowed) {
        Ok(id)
    } else {
        Err(D::Error::custom("not an event id"))
    }
}
