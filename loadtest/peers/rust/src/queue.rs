//! Sends messages to SQS: each message in a separate call, or all that wait at the same time in one (group commit).

use std::{collections::HashMap, sync::Arc};

use aws_sdk_sqs::{
    Client,
    types::{MessageAttributeValue, SendMessageBatchRequestEntry},
};
use tokio::sync::{Semaphore, mpsc, oneshot};

/// The same limits as in v09: calls in flight, entries of a call, and the bytes of these entries.
const SLOTS: usize = 4;
const MAX_ENTRIES: usize = 10;
const MAX_BYTES: usize = 256 * 1024;
/// The capacity of the channel, which is enough for all webhooks that wait.
const WAITING: usize = 10_000;

pub struct Message {
    pub body: String,
    pub attributes: [(&'static str, String); 4],
}

impl Message {
    /// Returns the bytes that count towards the limit of a call.
    fn size(&self) -> usize {
        let attributes = self.attributes.iter();
        self.body.len() + attributes.map(|(name, value)| name.len() + "String".len() + value.len()).sum::<usize>()
    }

    fn attributes(attributes: [(&'static str, String); 4]) -> HashMap<String, MessageAttributeValue> {
        let value = |text| {
            MessageAttributeValue::builder().data_type("String").string_value(text).build().expect("has a data type")
        };
        attributes.into_iter().map(|(name, text)| (name.to_owned(), value(text))).collect()
    }
}

pub struct Waiting {
    message: Message,
    acknowledged: oneshot::Sender<bool>,
}

#[derive(Clone)]
pub enum Queue {
    OneByOne { client: Client, url: String },
    GroupCommit(mpsc::Sender<Waiting>),
}

impl Queue {
    pub fn one_by_one(client: Client, url: String) -> Self {
        Self::OneByOne { client, url }
    }

    pub fn group_commit(client: Client, url: String) -> Self {
        let (sender, receiver) = mpsc::channel(WAITING);
        tokio::spawn(commit(client, url, receiver));
        Self::GroupCommit(sender)
    }

    /// Sends the message. Returns true if SQS has acknowledged it.
    pub async fn send(&self, message: Message) -> bool {
        match self {
            Self::OneByOne { client, url } => {
                let call = client.send_message().queue_url(url).message_body(message.body);
                let attributes = Message::attributes(message.attributes);
                call.set_message_attributes(Some(attributes)).send().await.is_ok_and(|sent| sent.message_id.is_some())
            }
            Self::GroupCommit(queue) => {
                let (acknowledged, settled) = oneshot::channel();
                queue.send(Waiting { message, acknowledged }).await.is_ok() && settled.await.unwrap_or(false)
            }
        }
    }
}

/// A free slot takes the waiting messages at once, without a timer. A message that exceeds `MAX_BYTES` becomes `next`,
/// the first message of the next call. Messages whose callers have stopped waiting are dropped.
async fn commit(client: Client, url: String, mut queue: mpsc::Receiver<Waiting>) {
    let slots = Arc::new(Semaphore::new(SLOTS));
    let mut next = None;
    for call in 0_u64.. {
        let slot = slots.clone().acquire_owned().await.expect("the semaphore is never closed");
        let mut size = 0;
        let mut batch: Vec<Waiting> = Vec::with_capacity(MAX_ENTRIES);
        while batch.len() < MAX_ENTRIES {
            let waiting = match next.take() {
                Some(waiting) => waiting,
                None if batch.is_empty() => match queue.recv().await {
                    Some(waiting) => waiting,
                    None => return,
                },
                None => match queue.try_recv() {
                    Ok(waiting) => waiting,
                    Err(_) => break,
                },
            };
            if waiting.acknowledged.is_closed() {
                continue;
            }
            size += waiting.message.size();
            if size > MAX_BYTES {
                next = Some(waiting);
                break;
            }
            batch.push(waiting);
        }
        let (client, url) = (client.clone(), url.clone());
        tokio::spawn(async move {
            send_batch(client, url, call, batch).await;
            drop(slot);
        });
    }
}

/// The ids of the entries begin with the number of the call, so they are unique across all calls.
async fn send_batch(client: Client, url: String, number: u64, batch: Vec<Waiting>) {
    let prefix = format!("{number}-");
    let (messages, mut callers): (Vec<_>, Vec<_>) =
        batch.into_iter().map(|waiting| (waiting.message, Some(waiting.acknowledged))).unzip();
    let entries = messages.into_iter().enumerate().map(|(id, message)| {
        let entry = SendMessageBatchRequestEntry::builder().id(format!("{prefix}{id}")).message_body(message.body);
        let attributes = Message::attributes(message.attributes);
        entry.set_message_attributes(Some(attributes)).build().expect("has an id and a body")
    });
    let call = client.send_message_batch().queue_url(url).set_entries(Some(entries.collect()));
    for sent in call.send().await.map(|answer| answer.successful).unwrap_or_default() {
        let id = sent.id.strip_prefix(&prefix).and_then(|id| id.parse::<usize>().ok());
        let caller = id.and_then(|id| callers.get_mut(id)?.take());
        if let Some(caller) = caller.filter(|_| !sent.message_id.is_empty()) {
            _ = caller.send(true);
        }
    }
    // The other senders are dropped, so their callers get an error: SQS has not acknowledged the message.
}
