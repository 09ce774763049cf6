//! What the words mean that no Rust type lists: clauses, capabilities, patterns.
//! It takes nothing and gives one sentence a word, for the schema and for `ackproof explain`.
//! It must never know a word that `vocabulary` does not list, nor leave one of them out.

/// Clauses of the delivery contract, as sentences.
pub const CLAUSES: &[(&str, &str)] = &[
    ("PRD-1", "A send that returned has put the message into the client's own queue, no further."),
    ("PRD-2", "A timed out send or a lost confirmation means unknown, not failed."),
    ("PRD-3", "The broker's deduplication of publications is no inbox."),
    ("PRD-4", "A confirmation says nothing about the effect; the producer has to ask for that."),
    ("SUB-1", "Two subscription names get every event each; one name shares them."),
    ("SUB-2", "Exclusive, Failover, Shared and Key_Shared hand out events as documented."),
    ("SUB-3", "Key_Shared alone does not order the effects of a key in the database."),
    ("SUB-4", "A subscription resumes at its earliest open message; a new one begins at the end."),
    ("ACK-1", "An individual ACK confirms its own message and no other."),
    ("ACK-2", "A cumulative ACK confirms all before it, and does nothing on shared subscriptions."),
    ("ACK-3", "Effect, then ACK: a death between them repeats the delivery; the inbox absorbs it."),
    ("ACK-4", "ACK, then effect: a death between them loses the event for good."),
    ("ACK-5", "The same id with other contents is a conflict, not a duplicate."),
    ("ACK-6", "A failed ACK is not a failed effect."),
    ("LIFE-1", "Reconnect, close and backoff say nothing about work that is going on."),
    ("LIFE-2", "An ack timeout or a negative ACK does not stop the handler that has the event."),
    ("LIFE-3", "SIGTERM: receive no more, finish the transaction, leave the rest unacknowledged."),
    ("RTY-1", "The count of plain negative ACKs is not durable."),
    (
        "RTY-2",
        "The retry topic keeps its count through restarts and ends in the dead letter topic.",
    ),
    ("RTY-3", "Attempts and effects are two numbers."),
    ("RTY-4", "Too short a retry delay crowds a broken dependency; too long a one delays users."),
    ("DLQ-1", "Without a subscription on the dead letter topic its letters may not be kept."),
    ("DLQ-2", "A client's dead letter policy works on shared and key-shared subscriptions only."),
    (
        "DLQ-3",
        "A dead letter keeps the original's id, contents and origin, and why and when it died.",
    ),
    ("DLQ-4", "Transient causes are retried, permanent ones become dead letters."),
    ("RDR-1", "A redrive without a fix multiplies failures."),
    (
        "RDR-2",
        "A redrive after the fix: a checked pilot, then growth at a rate, with the ids kept.",
    ),
    ("RDR-3", "An interrupted redrive can be resumed, and it is known how far it came."),
    ("INB-1", "Inbox row, domain change and stored result are one transaction."),
    ("INB-2", "The unique constraint decides between two that handle one event at once."),
    ("INB-3", "A stuck row is reclaimed under a new owner generation, which fences the old owner."),
    ("EXT-1", "A call outside needs an idempotency key, a way to ask, or a compensation."),
    (
        "OBS-1",
        "Attempts, effects, ages, dead letters, latency and user impact are separate numbers.",
    ),
    ("VER-1", "Nothing is claimed for a server or client that did not state its pinned version."),
    ("OUT-1", "Saving and publishing are not atomic without an outbox."),
    ("OUT-2", "Domain change and outbox row are one transaction."),
    ("OUT-3", "A relay killed between publishing and marking publishes again, under the same ids."),
    ("OUT-4", "A row that fails is retried three times, then dead until an operator takes it up."),
    ("OUT-5", "Each application has an outbox table of its own."),
    ("OUT-6", "The envelope has id, type, aggregate, payload and time; its value is JSON once."),
    ("OUT-7", "The relay misses no row when transactions commit in another order than they began."),
    ("PRO-1", "`acks=all` with in-sync replicas survives the loss of a broker."),
    ("PRO-2", "Producer idempotence removes network duplicates, not what the application resends."),
    ("CON-1", "Whether an event was handled is decided by event id and consumer group together."),
    ("CON-2", "Handling and id record are one transaction."),
    ("CON-3", "The table of handled ids is apart from the log table, with one unique index."),
    ("CON-4", "The offset is committed after the database; a commit that fails does no harm."),
    ("CON-5", "The partition key keeps the order of an aggregate."),
    ("CON-6", "A batch: one look-up, sums by target, one write, one id record, then the commit."),
    ("CON-7", "Consumer groups are isolated, and each scales alone."),
    ("CON-8", "A limited issue never issues too much, under concurrency, duplicates and kills."),
    (
        "DLT-1",
        "After bounded retries a record goes to the dead letter topic and the rest moves on.",
    ),
    ("DLT-2", "A missing dead letter topic stops the first letter, and loses nothing."),
    (
        "DLT-3",
        "A dead letter topic of one partition is written to partition 0, whatever the source's.",
    ),
    ("SNP-1", "A snapshot has a version, and only a greater one is applied."),
    ("SNP-2", "Each fact has one writer."),
    ("SNP-3", "A daily comparison finds drift and corrects it."),
];

/// What a client can do or lacks, as sentences.
pub const CAPABILITIES: &[(&str, &str)] = &[
    ("ack_receipt", "The broker answers an ACK, so that the client knows it was taken."),
    ("ack_timeout", "The client gives a message back that was not acknowledged in time."),
    ("auto_commit", "The client commits positions by itself at an interval."),
    ("batch_index_ack", "Single messages of a batch can be acknowledged."),
    ("chunking", "The client splits a message that is too large and puts it together again."),
    ("consumer_protocol", "The client speaks the group protocol in which the broker assigns."),
    ("cooperative_rebalance", "A rebalance takes away only the partitions that move."),
    ("cumulative_ack", "One ACK can confirm all messages up to its own."),
    ("dead_letter_policy", "The client itself publishes dead letters after so many deliveries."),
    ("dead_letter_properties", "That policy keeps the producer's properties and key."),
    ("dead_letter_subscription", "That policy can create the subscription for its letters."),
    ("exclusive", "The client has subscriptions with one consumer only."),
    ("failover", "The client has subscriptions in which a second consumer stands by."),
    ("idempotent_producer", "The broker drops what the producer's own retries send twice."),
    ("key_shared", "The client has subscriptions that keep the messages of a key together."),
    ("manual_commit", "The worker decides when a position is committed."),
    ("max_poll_interval", "A member that does not poll for so long leaves its group."),
    ("nack_delay", "A negative ACK waits before it gives the message back."),
    ("negative_ack", "A single message can be given back."),
    ("redelivery_count", "The application is told how often a message was delivered before."),
    ("retry_topic", "The client parks a message on a retry topic, with a count and a delay."),
    ("share_groups", "Several consumers take records of one partition, each with its own ACK."),
    ("shared", "The client has subscriptions that spread messages over all consumers."),
    ("static_membership", "A member that restarts under its own id keeps its partitions."),
    ("transactions", "Publications and ACKs take effect together or not at all."),
];

/// Patterns of the reference workers, as sentences (`fixtures/workers/PROTOCOL.md` has the steps).
pub const PATTERNS: &[(&str, &str)] = &[
    ("inbox", "Effect and inbox row in one transaction, then the ACK."),
    ("inbox-before", "Wrong: the inbox row is committed before the effect."),
    ("inbox-after", "Wrong: the inbox row is committed after the effect."),
    ("find-then-insert", "Wrong: looks for the event and then inserts, without a constraint."),
    ("ignore-fingerprint", "Wrong: takes another content under a known id for a duplicate."),
    ("no-inbox", "Wrong: keeps no record of what it has handled."),
    ("unguarded", "Wrong: a bare insert that commits at once, and nothing guards it."),
    ("ack-then-effect", "Wrong: acknowledges first and has its effect afterwards."),
    ("announce-without-effect", "Wrong: says that it had an effect, and had none."),
    ("keep-id", "Republishes a letter under its own id, records it, then acknowledges it."),
    ("ack-before-republish", "Wrong: acknowledges a letter before it is republished."),
    ("outbox", "Domain change and outbox row in one transaction. Not built yet."),
    ("outbox-apart", "Wrong: the outbox row in a transaction of its own. Not built yet."),
    ("status-column", "Takes the rows that are not marked as published. Not built yet."),
    ("last-seen-id", "Wrong: takes the rows above the last id that it has seen. Not built yet."),
    ("unlocked-scan", "Wrong: takes rows without locking them. Not built yet."),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::vocabulary;

    fn words<T>(table: &[(&'static str, T)]) -> Vec<&'static str> {
        table.iter().map(|(word, _)| *word).collect()
    }

    /// A new word needs its line here, and a word that is gone must not be explained.
    #[test]
    fn every_word_has_its_sentence_and_no_other_has_one() {
        assert_eq!(words(CLAUSES), vocabulary::CLAUSES);
        assert_eq!(words(CAPABILITIES), words(vocabulary::CAPABILITIES));
        assert_eq!(words(PATTERNS), words(vocabulary::PATTERNS));
    }
}
