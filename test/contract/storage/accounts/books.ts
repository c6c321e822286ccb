import assert from 'node:assert/strict';
import type { LedgerEntry } from '../../../../src/billing/ledger-entry.js';
import { lacking, type PartRunner } from '../../test-runner.js';
import { ACCOUNT, aSend, messageId, recipients, START } from '../fixtures.js';
import type { StorageFixture } from '../storage-fixture.js';
import type { StoragePart, StorageTamper, StoredUnits } from '../storage-harness.js';

/** Makes one inconsistency. */
type Crime = (tamper: StorageTamper, forger: Forger) => Promise<unknown>;

const OTHER = 'acc2';

/** Three recipients of 2 units each: the first failed and was refunded, the others are being sent. */
const MIXED = messageId(1);

/** One recipient of 2 units, being sent. */
const PLAIN = messageId(2);

/** The message or account that the sentence must name. The rest stays consistent, so that only one check finds each. */
const CRIMES: Readonly<Record<string, Readonly<Record<string, Crime>>>> = {
  [ACCOUNT]: {
    'a balance that grew by itself': (tamper) => tamper.balance(ACCOUNT, 16),
    'a balance that shrank by itself': (tamper) => tamper.balance(ACCOUNT, 14),
    'a negative balance': (_, forger) => forger.book({ id: 'debt', kind: 'adjust', units: -16 }),
    'a negative top-up': (_, forger) => forger.book({ id: 'less', kind: 'topup', units: -1 }),
  },
  nobody: {
    'an entry without its account': (_, forger) =>
      forger.book({ id: 'gift', kind: 'topup', units: 5, accountId: 'nobody' }),
  },
  [PLAIN]: {
    'a charge without its message': (tamper) => tamper.dropMessage(PLAIN),
    'a message without its charge': (_, forger) => forger.unbook(PLAIN),
    'a charge that is booked as something else': (_, forger) => forger.rebook(PLAIN, { kind: 'adjust' }),
    'a message charged too much': (_, forger) => forger.rebook(PLAIN, { units: -3 }),
    'a message charged too little': (_, forger) => forger.rebook(PLAIN, { units: -1 }),
    'a message charged to another account': (_, forger) => forger.rebook(PLAIN, { accountId: OTHER }),
    'a message charged twice': (_, forger) => forger.book({ id: 'again', kind: 'charge', units: -2, messageId: PLAIN }),
    'a refund where nothing failed': (_, forger) =>
      forger.book({ id: `${PLAIN}:0`, kind: 'refund', units: 2, messageId: PLAIN, position: 0 }),
    'a refund without a recipient': (_, forger) =>
      forger.book({ id: `${PLAIN}:1`, kind: 'refund', units: 2, messageId: PLAIN, position: 1 }),
  },
  [MIXED]: {
    'a refund of a recipient that did not fail': (_, forger) =>
      forger.book({ id: `${MIXED}:1`, kind: 'refund', units: 2, messageId: MIXED, position: 1 }),
    'a refund that is booked as something else': (_, forger) => forger.rebook(`${MIXED}:0`, { kind: 'adjust' }),
    'a failed recipient without its refund': (_, forger) => forger.unbook(`${MIXED}:0`),
    'a refund of too much': (_, forger) => forger.rebook(`${MIXED}:0`, { units: 3 }),
    'a refund of too little': (_, forger) => forger.rebook(`${MIXED}:0`, { units: 1 }),
    'a refund to another account': (_, forger) => forger.rebook(`${MIXED}:0`, { accountId: OTHER }),
    'a recipient refunded twice': (_, forger) =>
      forger.book({ id: 'again', kind: 'refund', units: 2, messageId: MIXED, position: 0 }),
    'a message of more units than its recipients': async (tamper, forger) => {
      await recountMessage(tamper, { units: 7 });
      return forger.rebook(MIXED, { units: -7 });
    },
    'a message with more refunded than its recipients': (tamper) => recountMessage(tamper, { refundedUnits: 3 }),
    'a recipient of negative units': async (tamper) => {
      await recountRecipient(tamper, 1, { units: -1 });
      return recountRecipient(tamper, 2, { units: 5 });
    },
    'a refund counted at a recipient that did not fail': (tamper) => recount(tamper, 1, 2, 4),
    'a refund not counted at the recipient that failed': (tamper) => recount(tamper, 0, 0, 0),
  },
};

/** The part that an inconsistency needs and that a harness with `tamper` may lack. */
const PARTS: Readonly<Record<string, StoragePart>> = {
  'a message of more units than its recipients': 'messageUnits',
  'a message with more refunded than its recipients': 'messageUnits',
  'a recipient of negative units': 'recipientUnits',
  'a refund counted at a recipient that did not fail': 'recipientUnits',
  'a refund not counted at the recipient that failed': 'recipientUnits',
};

async function recount(tamper: StorageTamper, position: number, own: number, all: number): Promise<void> {
  await recountRecipient(tamper, position, { refundedUnits: own });
  // If a message has no units of its own, nothing else has to agree.
  await tamper.messageUnits?.(MIXED, { refundedUnits: all });
}

async function recountMessage(tamper: StorageTamper, units: StoredUnits): Promise<void> {
  if (!tamper.messageUnits) throw lacking('messageUnits');
  await tamper.messageUnits(MIXED, units);
}

async function recountRecipient(tamper: StorageTamper, position: number, units: StoredUnits): Promise<void> {
  if (!tamper.recipientUnits) throw lacking('recipientUnits');
  await tamper.recipientUnits(MIXED, position, units);
}

export function bookTests({ test, testWith }: PartRunner<StoragePart>, world: StorageFixture): void {
  test('an empty ledger is correct', async () => {
    await world.sound();
  });

  for (const [named, crimes] of Object.entries(CRIMES)) {
    for (const [name, commit] of Object.entries(crimes)) {
      testWith(PARTS[name] ?? 'tamper', `the check finds ${name} (where the harness can tamper)`, async () => {
        const { tamper } = world.harness;
        if (!tamper) throw lacking('tamper');
        await world.fund(21);
        await world.fund(5, OTHER);
        await world.accept(aSend(1, { recipients: recipients(3, 2) }), aSend(2, { recipients: recipients(1, 2) }));
        await world.claim();
        await world.settle(MIXED, 'failed', { attempt: 1 });
        await world.holds(15);
        await commit(tamper, new Forger(world, tamper));
        const found = await world.ledger.check();
        assert.equal(found.length, 1, `one sentence: ${JSON.stringify(found)}`);
        assert.ok(found[0]?.includes(named), `it names ${named}: ${found[0]}`);
      });
    }
  }
}

/** Changes entries and adjusts the balances, so that all sums stay right and only the intended inconsistency remains. */
class Forger {
  constructor(
    private readonly world: StorageFixture,
    private readonly tamper: StorageTamper,
  ) {}

  /** Adds an entry of `ACCOUNT`, changed by `over`. */
  async book(entry: Pick<LedgerEntry, 'id' | 'kind' | 'units'> & Partial<LedgerEntry>): Promise<void> {
    const free = { messageId: undefined, position: undefined, note: undefined };
    const whole = { accountId: ACCOUNT, ...free, at: START, ...entry };
    await this.tamper.addEntry(whole);
    await this.move(whole.accountId, whole.units);
  }

  /** Removes and returns an entry of `ACCOUNT`. */
  async unbook(id: string): Promise<LedgerEntry> {
    const { items } = await this.world.ledger.entries(ACCOUNT, { limit: 100 });
    const entry = items.find((each) => each.id === id);
    assert.ok(entry, `${id} is booked`);
    await this.tamper.dropEntry(id);
    await this.move(ACCOUNT, -entry.units);
    return entry;
  }

  /** Changes an entry of `ACCOUNT`. */
  async rebook(id: string, over: Partial<LedgerEntry>): Promise<void> {
    await this.book({ ...(await this.unbook(id)), ...over });
  }

  private async move(accountId: string, units: number): Promise<void> {
    const balance = await this.world.ledger.balance(accountId);
    if (balance !== undefined) await this.tamper.balance(accountId, balance + units);
  }
}
