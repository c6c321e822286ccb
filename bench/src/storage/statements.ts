import { TypeormStorage } from 'nestjs-messaging';
import { AccountStore, decide, LedgerStore, OutboxStore, PartStore } from 'nestjs-messaging/storage';
import { v7 as timeOrderedId } from 'uuid';
import type { TargetDatabase } from '../target.js';
import { MINUTE_MS } from '../time.js';
import { type DriverCalls, driverCalls } from './driver-calls.js';
import { WrittenTrees } from './written-trees.js';

/** The costs of one step in the life of an SMS for the database. */
export interface LifeStep extends DriverCalls {
  readonly name: string;
  /** The b-trees that were written, with one entry for each row. */
  readonly trees: readonly string[];
}

const ACCOUNT = 'bench';
const ROUTE = 'bench';

/**
 * Counts the steps of one SMS to one recipient, of an account that records no events: the SMS is accepted, claimed,
 * accepted by a carrier that gives it an id, and reported as delivered. `countDriverCalls` must have been called
 * before.
 * @param isDirect whether the process that accepts it delivers it too, so that it needs no claim
 */
export async function countLife(place: TargetDatabase, isDirect: boolean): Promise<readonly LifeStep[]> {
  const storage = new TypeormStorage({ database: place.url });
  await storage.start();
  const at = Date.now();
  await storage.store(AccountStore).createAccount({ id: ACCOUNT, name: ACCOUNT, createdAt: at });
  await storage.store(LedgerStore).post({ id: 'op:all', accountId: ACCOUNT, kind: 'topup', units: 1000, at });
  const trees = await WrittenTrees.open(place.url);
  // The first SMS is not counted, because it also prepares statements and sets up connections.
  for (const step of stepsOf(storage, isDirect)) await step.work();
  const steps: LifeStep[] = [];
  let before = await trees.snapshot();
  for (const { name, work } of stepsOf(storage, isDirect)) {
    const calls = await driverCalls(work);
    const after = await trees.snapshot();
    steps.push({ name, ...calls, trees: trees.between(before, after) });
    before = after;
  }
  await trees.close();
  await storage.stop();
  await place.drop();
  return steps;
}

interface Step {
  readonly name: string;
  readonly work: () => Promise<unknown>;
}

function stepsOf(storage: TypeormStorage, isDirect: boolean): readonly Step[] {
  const [outbox, parts] = [storage.store(OutboxStore), storage.store(PartStore)];
  const [id, at, number] = [timeOrderedId(), Date.now(), '22670000000'];
  const carrierId = `carrier-${id}`;
  const trail = [{ at, route: ROUTE, outcome: 'sent' }] as const;
  const sms = { messageId: id, position: 0, attempt: 1 };
  const send = {
    id,
    accountId: ACCOUNT,
    channel: 'sms',
    sender: 'INFOS',
    payload: { kind: 'text', text: 'Bonjour' },
    recipients: [{ number, units: 1 }],
    at,
    reply: {},
    ...(isDirect && { leaseUntil: at + MINUTE_MS }),
  };
  const claim = {
    name: 'claim',
    work: () => outbox.claim({ channel: 'sms', limit: 500, now: at, leaseUntil: at + MINUTE_MS, abandoned: false }),
  };
  const taken = { ...sms, route: ROUTE, number, carrierIds: [carrierId], at, expiresAt: at + MINUTE_MS, trail };
  const receipt = { route: ROUTE, ids: [carrierId], number, status: 'delivered', at } as const;
  return [
    { name: 'accept', work: () => outbox.commit([send], decide, undefined, 'none') },
    ...(isDirect ? [] : [claim]),
    { name: 'keep the carrier id', work: () => parts.record([taken], at) },
    {
      name: 'settle as sent',
      work: () => outbox.settle([{ ...sms, status: 'sent', at, dueAt: at + MINUTE_MS, trail }]),
    },
    {
      name: 'receive the report',
      work: () => parts.receive([receipt], { now: at, until: at + MINUTE_MS, most: 1000 }),
    },
  ];
}
