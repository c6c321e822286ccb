import type { Clock } from '../common/clock.js';
import { countryOf } from '../common/phone-numbers/phone-number.js';
import type { SafeTelemetry } from '../common/telemetry/safe-telemetry.js';
import { isPublished } from '../events/delivery-status.js';
import { refusedTransitions } from '../outbox/accept/refusals.js';
import { costOf, type Send } from '../outbox/accept/send.js';
import type { DeliveryUpdate } from '../outbox/delivery-state.js';
import type { DeliveryTransition } from '../outbox/outbox-records.js';
import { OutboxStore } from '../outbox/outbox-store.js';
import { startOf } from '../outbox/schedule/schedule.js';
import type { Instruments } from './instruments.js';
import { probe, type StoreProbe } from './measured-storage.js';
import { REFUND_REASONS } from './metrics.js';

/** The final states that a carrier's receipt can report. */
const FINAL = new Set(['delivered', 'undelivered', 'failed']);

/** Counts sends, claims and deliveries after the storage has answered. */
export function outboxProbe(instruments: Instruments, telemetry: SafeTelemetry, clock: Clock): StoreProbe {
  const record = instruments.record.bind(instruments);
  return probe(OutboxStore, {
    commit(outcomes, [sends, , host], { seconds, count }) {
      record('commit_sends', sends.length);
      record('commit_duration_seconds', seconds);
      for (const outcome of outcomes) {
        if (outcome.kind === 'busy') record('accept_held_total', 1, outcome.records ? 'records' : 'account');
      }
      count(host, () => {
        for (const [index, send] of sends.entries()) {
          if (outcomes[index]?.kind !== 'accepted') continue;
          countAccepted(instruments, send);
          if (send.leaseUntil !== undefined) countDirect(instruments, send, clock.now());
        }
      });
    },
    claim(deliveries, [{ channel, limit, now, only }]) {
      const { length } = deliveries;
      // A claim of codes only does not show how much is due, so it is not counted here.
      if (only === undefined) {
        record('claims_total', 1, channel, length === 0 ? 'empty' : length < limit ? 'some' : 'full');
      }
      if (length === 0) return;
      record('claimed_deliveries_total', length, channel);
      for (const delivery of deliveries) {
        const { attempt, priority, abandoned } = delivery;
        if (abandoned) record('expired_leases_total', 1, channel);
        else if (attempt === 1) {
          record('first_handover_seconds', Math.max(0, now - startOf(delivery)) / 1000, channel, priority);
        }
      }
    },
    settle(transitions, [updates]) {
      countTransitions(instruments, transitions);
      const reports = new Set(updates.filter(isReport).map(keyOf));
      if (reports.size > 0) {
        const reported = transitions.filter((transition) => reports.has(keyOf(transition)));
        observeReceipts(instruments, telemetry, clock, reported);
      }
    },
    cancel({ transitions }) {
      countTransitions(instruments, transitions);
    },
    expire(transitions, [{ channel }]) {
      countTransitions(instruments, transitions);
      record('unreported_total', transitions.length, channel);
    },
  });
}

/** Counts changes of deliveries, and the units that they refund. */
export function countTransitions(instruments: Instruments, transitions: readonly DeliveryTransition[]): void {
  for (const { channel, status, refund, error, accountId } of transitions) {
    if (isPublished(status)) instruments.record('deliveries_total', 1, channel, status);
    else if (status === 'queued') instruments.record('retries_total', 1, channel);
    if (refund > 0) {
      instruments.record(
        'refunded_units_total',
        refund,
        channel,
        status === 'canceled' ? status : reasonOf(error),
        instruments.accountOf(accountId),
      );
    }
  }
}

/** Measures how long final receipts took, and traces the deliveries whose send was recorded. */
export function observeReceipts(
  instruments: Instruments,
  telemetry: SafeTelemetry,
  clock: Clock,
  transitions: readonly DeliveryTransition[],
): void {
  const now = clock.now();
  for (const { channel, status, acceptedAt, sendAt, trace } of transitions) {
    if (trace !== undefined) {
      const attributes = { 'messaging.channel': channel, 'messaging.status': status };
      telemetry.span('messaging.receipt', { kind: 'consumer', links: [trace], attributes }).end();
    }
    if (FINAL.has(status)) {
      const start = startOf({ acceptedAt, schedule: { sendAt } });
      instruments.record('receipt_delay_seconds', Math.max(0, now - start) / 1000, channel);
    }
  }
}

function countAccepted(instruments: Instruments, send: Send): void {
  const { channel, accountId, priority, recipients } = send;
  instruments.record('charged_units_total', costOf(send), channel, instruments.accountOf(accountId));
  countTransitions(instruments, refusedTransitions(send));
  if (priority !== 'code') return;
  for (const { number } of recipients) instruments.record('codes_sent_total', 1, countryOf(number));
}

/** Counts a send that was handed to the worker of this process with its accept, as a claim of its deliveries. */
function countDirect(instruments: Instruments, send: Send, now: number): void {
  const { channel, priority = 'normal', recipients, at } = send;
  instruments.record('claimed_deliveries_total', recipients.length, channel);
  const seconds = Math.max(0, now - at) / 1000;
  for (const _ of recipients) instruments.record('first_handover_seconds', seconds, channel, priority);
}

/** The reason of a refund as a label. All codes of carriers share one label, because every carrier has its own codes. */
function reasonOf(error: string | undefined): string {
  const code = (error ?? '').replace(/^[a-z]+: /, '').replaceAll(' ', '_');
  const known: readonly string[] = REFUND_REASONS;
  return known.includes(code) ? code : 'carrier_refused';
}

function isReport({ attempt }: DeliveryUpdate): boolean {
  return attempt === undefined;
}

function keyOf({ messageId, position }: { readonly messageId: string; readonly position: number }): string {
  return `${position} ${messageId}`;
}
