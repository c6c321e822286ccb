import { Injectable } from '@nestjs/common';
import { type LedgerPosting } from '../billing/ledger-entry.js';
import { LedgerStore } from '../billing/ledger-store.js';
import type { Clock } from '../common/clock.js';
import type { SafeTelemetry } from '../common/telemetry/safe-telemetry.js';
import { PolicyStore } from '../outbox/policy/policy-store.js';
import { PartStore } from '../sms/receipts/part-store.js';
import { type CallRecord } from '../webhooks/calls/call-records.js';
import { CallStore } from '../webhooks/calls/call-store.js';
import type { Instruments } from './instruments.js';
import { probe, type StoreProbe } from './measured-storage.js';
import { METRICS } from './metrics.js';
import { countTransitions, observeReceipts, outboxProbe } from './outbox-probe.js';

/** The probes of all stores. */
export function storeProbes(
  instruments: Instruments,
  telemetry: SafeTelemetry,
  clock: Clock,
  books: LedgerFindings,
): readonly StoreProbe[] {
  return [
    outboxProbe(instruments, telemetry, clock),
    partProbe(instruments, telemetry, clock),
    ledgerProbe(instruments, clock, books),
    policyProbe(instruments),
    callProbe(instruments),
  ];
}

/** The findings of the last check of the ledger in this process; empty before the first check. */
@Injectable()
export class LedgerFindings {
  last: { readonly findings: number; readonly at: number } | undefined;
}

function partProbe(instruments: Instruments, telemetry: SafeTelemetry, clock: Clock): StoreProbe {
  return probe(PartStore, {
    record: (transitions) => countTransitions(instruments, transitions),
    receive(transitions, [receipts]) {
      for (const { route, status } of receipts) instruments.record('receipts_total', 1, route, status);
      countTransitions(instruments, transitions);
      observeReceipts(instruments, telemetry, clock, transitions);
    },
  });
}

function ledgerProbe(instruments: Instruments, clock: Clock, books: LedgerFindings): StoreProbe {
  const record = ({ kind, units }: LedgerPosting) => {
    const as = kind === 'topup' ? 'topup' : units > 0 ? 'adjust_up' : 'adjust_down';
    instruments.record('posted_units_total', Math.abs(units), as);
  };
  return probe(LedgerStore, {
    post(answer, [posting, host], { count }) {
      if (answer === 'posted') count(host, () => record(posting));
    },
    postOnce({ answer }, [posting]) {
      if (answer === 'posted') record(posting);
    },
    check(faults) {
      books.last = { findings: faults.length, at: clock.now() };
    },
  });
}

const CHECKS: readonly string[] = METRICS.code_checks_total.labels.result;

/** Counts the steps on records that verify a code. The results of these steps have the kind of the outcome. */
function policyProbe(instruments: Instruments): StoreProbe {
  return probe(PolicyStore, {
    change(result: unknown) {
      const kind = typeof result === 'object' && result !== null && 'kind' in result ? String(result.kind) : '';
      if (CHECKS.includes(kind)) instruments.record('code_checks_total', 1, kind);
    },
  });
}

function callProbe(instruments: Instruments): StoreProbe {
  return probe(CallStore, {
    commit(ours, [, progress]) {
      for (const { lease, records } of progress) {
        if (!ours.has(lease.endpointId)) continue;
        for (const record of records) {
          instruments.record('webhook_calls_total', record.calls.length, resultOf(record));
          for (const { ms } of record.calls) instruments.record('webhook_call_duration_seconds', ms / 1000);
        }
      }
    },
  });
}

function resultOf({ status, error }: CallRecord): string {
  if (status !== undefined) return `${Math.floor(status / 100)}xx`;
  return error === 'timeout' || error === 'unreachable' ? error : 'other';
}
