import type { Abstract } from '@nestjs/common';
import type { Clock } from '../common/clock.js';
import { MessagingError, StorageUnavailableError } from '../common/errors.js';
import type { HostTransaction } from '../common/host-transaction.js';
import { OutboxStore } from '../outbox/outbox-store.js';
import type { StoreClass } from '../storage/engine/database.js';
import type { MessagingStorage } from '../storage/messaging-storage.js';
import { counting } from './counting.js';
import { delegate } from './delegate.js';
import type { Instruments } from './instruments.js';
import { type OPERATIONS, OTHER } from './metrics.js';

/** The probes of a store by its methods. A probe counts the answers of one method. */
type Probes<S> = {
  readonly [M in keyof S]?: S[M] extends (...args: infer A) => Promise<infer R>
    ? (result: R, args: A, call: ProbedCall) => void
    : never;
};

/** A call whose answer is counted. */
export interface ProbedCall {
  readonly seconds: number;
  /**
   * Runs the task now. If the call was part of a host's transaction, the task runs after its commit, and not after a
   * rollback.
   */
  readonly count: (host: HostTransaction | undefined, task: () => void) => void;
}

/** A store with its probes. */
export interface StoreProbe {
  readonly port: Abstract<object>;
  readonly probes: Readonly<Record<string, unknown>>;
}

/** Names the probes of a store with its port, so that their types are checked. */
export function probe<S extends object>(port: Abstract<S>, probes: Probes<S>): StoreProbe {
  return { port, probes };
}

type StorageOperation = (typeof OPERATIONS)[number];

/** The group of each store's operations; see `OPERATIONS`. */
const GROUPS: Readonly<Record<string, StorageOperation>> = {
  PolicyStore: 'policies',
  LedgerStore: 'ledger',
  AccountStore: 'accounts',
  MediaStore: 'media',
  EventLog: 'events',
  PartStore: 'receipts',
  OptOutStore: 'opt_outs',
  SessionStore: 'sessions',
  EndpointStore: 'webhooks',
  CallStore: 'webhooks',
  LoginHookStore: 'hooks',
  LoginHookCallStore: 'hooks',
  RetentionStore: 'retention',
  AuditLog: 'audit',
};

const OUTBOX: Readonly<Record<string, StorageOperation>> = {
  commit: 'accept',
  claim: 'claim',
  settle: 'settle',
  expire: 'expire',
  nextDue: 'next_due',
  whenFree: 'policies',
  purgeReplies: 'retention',
};

/** The operation that is not timed, because its time depends on the size of the ledger. */
const UNTIMED = 'check';

/** Wraps the storage to measure every operation of its stores. Without telemetry it returns the storage itself, at no cost. */
export function measuredStorage(
  storage: MessagingStorage,
  instruments: Instruments,
  clock: Clock,
  probes: readonly StoreProbe[],
): MessagingStorage {
  if (!instruments.isOn) return storage;
  const measured = new Map<object, object>();
  const count: ProbedCall['count'] = (host, task) => {
    const safely = () => counting(clock, task);
    if (host) storage.store(OutboxStore).whenCommitted(host, safely);
    else safely();
  };
  const own = delegate(storage, (_, method) => method);
  return Object.defineProperties(own, {
    store: {
      value: <S extends object>(Store: StoreClass<S>): S => {
        const store = storage.store(Store);
        const known =
          measured.get(store) ??
          measuredStore(store, Store.name, probesOf(store, probes), { instruments, clock, count });
        measured.set(store, known);
        return known as S;
      },
    },
  });
}

function probesOf(store: object, all: readonly StoreProbe[]): StoreProbe['probes'] {
  return all.find(({ port }) => store instanceof port)?.probes ?? {};
}

interface Measuring extends Pick<ProbedCall, 'count'> {
  readonly instruments: Instruments;
  readonly clock: Clock;
}

function measuredStore<S extends object>(
  store: S,
  port: string,
  probes: StoreProbe['probes'],
  { instruments, clock, count }: Measuring,
): S {
  return delegate(store, (name, method) => {
    const operation = port === 'OutboxStore' ? (OUTBOX[name] ?? 'outbox_read') : (GROUPS[port] ?? OTHER);
    const own = probes[name];
    const after = typeof own === 'function' ? (own as (...args: readonly unknown[]) => void) : undefined;
    return (...args) => {
      const began = clock.elapsed();
      const answer = method(...args);
      if (!(answer instanceof Promise)) return answer;
      return answer.then(
        (result) => {
          const seconds = (clock.elapsed() - began) / 1000;
          if (name !== UNTIMED) instruments.record('storage_operation_duration_seconds', seconds, operation);
          if (after) counting(clock, () => after(result, args, { seconds, count }));
          return result;
        },
        (error: unknown) => {
          const isRefusal = error instanceof MessagingError && !(error instanceof StorageUnavailableError);
          const code = error instanceof StorageUnavailableError ? 'unavailable' : OTHER;
          if (!isRefusal) instruments.record('storage_errors_total', 1, operation, code);
          throw error;
        },
      );
    };
  });
}
