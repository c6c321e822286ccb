import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  AccountService,
  LedgerService,
  MessagingEvents,
  MessagingModule,
  SmsService,
  TypeormStorage,
} from 'nestjs-messaging';
import { v7 as timeOrderedId } from 'uuid';
import { waitingTransport } from '../queue/workers.js';
import { type DATABASES, databaseOf } from '../target.js';
import { MINUTE_MS } from '../time.js';
import { median } from '../versus.js';
import { type ByHand, type HandWrite, openByHand } from './by-hand.js';
import { dataSourceOf } from './written-trees.js';

/**
 * The rate of the product without HTTP, compared with the limit of its schema. Each value is the median of the turns.
 */
export interface LimitFigures {
  /** Messages a second. */
  readonly product: number;
  /** Messages a second if hand-written statements on the raw driver write the same rows in the same transactions. */
  readonly byHand: number;
  readonly quotient: number;
}

const MESSAGES = 2000;
/** The number of callers that wait at a time. By hand they share each transaction. */
const CALLERS = 32;
const ACCOUNT = 'by-hand';
const NUMBER = 22_670_000_000;

/**
 * Measures SMS of one account, each to one recipient, by 32 callers. With `delivers`, it measures until a carrier that
 * costs nothing has delivered them. The product and the hand-written statements take turns, each on a database of its
 * own. Undefined without a server.
 *
 * @throws Error if the two have not written the same number of rows
 */
export async function benchLimit(
  database: (typeof DATABASES)[number],
  delivers: boolean,
  turns: number,
): Promise<LimitFigures | undefined> {
  const [place, handPlace] = [await databaseOf(database), await databaseOf(database)];
  if (!place || !handPlace) return undefined;
  const [product, hand] = [await openProduct(place.url, delivers), await openHand(handPlace.url)];
  const rates: LimitFigures[] = [];
  for (let turn = -2; turn < turns; turn++) {
    const byHand = await rateOf(() => sendByHand(hand, delivers));
    const own = await rateOf(() => product.send());
    if (turn >= 0) rates.push({ product: own, byHand, quotient: own / byHand });
  }
  await Promise.all([product.close(), hand.close()]);
  const [rows, handRows] = [await countRows(place.url), await countRows(handPlace.url)];
  if (rows !== handRows) throw new Error(`The product has written the rows ${rows}, by hand were ${handRows}.`);
  await Promise.all([place.drop(), handPlace.drop()]);
  return {
    product: median(rates.map((each) => each.product)),
    byHand: median(rates.map(({ byHand }) => byHand)),
    quotient: median(rates.map(({ quotient }) => quotient)),
  };
}

async function rateOf(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return (1000 * MESSAGES) / (performance.now() - begun);
}

/** Counts deliveries. */
@Injectable()
class Delivered {
  private count = 0;
  private wanted = Number.POSITIVE_INFINITY;
  private done: () => void = () => undefined;

  constructor(events: MessagingEvents) {
    events.on('message.delivered', () => {
      if (++this.count >= this.wanted) this.done();
    });
  }

  /** Resolves when this many more messages were delivered. */
  next(messages: number): Promise<void> {
    this.wanted = this.count + messages;
    // The product's timers do not keep the process alive, so this timer does.
    const alive = setInterval(() => undefined, MINUTE_MS);
    return new Promise((done) => {
      this.done = () => {
        clearInterval(alive);
        done();
      };
    });
  }
}

async function openProduct(url: string, delivers: boolean) {
  @Module({
    imports: [
      MessagingModule.forRoot({
        storage: TypeormStorage.forRoot({ url }),
        signatures: ['INFOS'],
        role: delivers ? 'all' : 'api',
        sms: { tariff: { base: 1, international: 1, home: 'BF' }, transport: waitingTransport(0) },
      }),
    ],
    providers: [Delivered],
  })
  class Host {}
  const app = await NestFactory.createApplicationContext(Host, { logger: ['warn', 'error'] });
  const { id } = await app.get(AccountService, { strict: false }).createAccount({ name: 'bench' });
  await app.get(LedgerService, { strict: false }).topUp(id, 1e9);
  const sms = app.get(SmsService, { strict: false });
  return {
    send: async () => {
      const delivered = delivers ? app.get(Delivered).next(MESSAGES) : undefined;
      let left = MESSAGES;
      const caller = async () => {
        while (left > 0) await sms.send(id, { signature: 'INFOS', content: TEXT, number: [String(NUMBER + left--)] });
      };
      await Promise.all(Array.from({ length: CALLERS }, caller));
      await delivered;
    },
    close: () => app.close(),
  };
}

const TEXT = 'Bonjour, votre colis est arrive.';

async function openHand(url: string): Promise<ByHand> {
  const storage = new TypeormStorage({ database: url });
  await storage.start();
  await storage.stop();
  const hand = await openByHand(url);
  const account = { table: 'messaging_account', columns: ['id', 'name', 'balance', 'created_at'] };
  const topUp = { table: 'messaging_ledger', columns: ['id', 'account_id', 'kind', 'units', 'posted_at'] };
  await hand.transact(
    [
      { ...account, rows: [[ACCOUNT, ACCOUNT, 1e9, 0]] },
      { ...topUp, rows: [['top-up', ACCOUNT, 'topup', 1e9, 0]] },
    ],
    true,
  );
  return hand;
}

async function sendByHand(hand: ByHand, delivers: boolean): Promise<void> {
  const delivering: Promise<unknown>[] = [];
  for (let sent = 0; sent < MESSAGES; sent += CALLERS) {
    const ids = Array.from({ length: Math.min(CALLERS, MESSAGES - sent) }, () => timeOrderedId());
    const at = Date.now();
    await hand.transact(acceptOf(ids, at, sent, delivers), true);
    if (!delivers) continue;
    const settle = { status: 'delivered', due_at: null, updated_at: at };
    delivering.push(hand.transact([{ set: settle, ids }], true));
  }
  await Promise.all(delivering);
}

/** The writes of an accept of such SMS. With `isDirect`, they are delivered without a claim. */
function acceptOf(ids: readonly string[], at: number, first: number, isDirect: boolean): readonly HandWrite[] {
  const state = isDirect ? (['sending', '', 1, at + MINUTE_MS] as const) : (['queued', ACCOUNT, 0, at] as const);
  const payload = JSON.stringify({ kind: 'text', text: TEXT });
  const numbers = ids.map((_, index) => String(NUMBER + first + index));
  const insert = (table: string, columns: string, row: (id: string, number: string) => (string | number)[]) => ({
    table,
    columns: columns.split(' '),
    rows: ids.map((id, index) => row(id, numbers[index] ?? '')),
  });
  return [
    { debit: ids.length, account: ACCOUNT },
    insert(
      'messaging_message',
      'id account_id channel kind sender payload units refunded_units recipients accepted_at',
      (id) => [id, ACCOUNT, 'sms', 'text', 'INFOS', payload, 1, 0, 1, at],
    ),
    insert(
      'messaging_recipient',
      'message_id position channel number units refunded_units status queue attempt due_at updated_at',
      (id, number) => [id, 0, 'sms', number, 1, 0, ...state, at],
    ),
    insert('messaging_sent_to', 'account_id channel number sent_at message_id position', (id, number) => {
      return [ACCOUNT, 'sms', number, at, id, 0];
    }),
    insert('messaging_ledger', 'id account_id kind units message_id posted_at', (id) => {
      return [id, ACCOUNT, 'charge', -1, id, at];
    }),
  ];
}

/** Counts the rows of each table that a message writes to. */
async function countRows(url: string): Promise<string> {
  const source = await dataSourceOf(url);
  const counts: string[] = [];
  for (const table of ['message', 'recipient', 'sent_to', 'ledger', 'trail', 'event']) {
    const [{ found }] = await source.query(`SELECT count(*) AS found FROM messaging_${table}`);
    counts.push(`${table} ${found}`);
  }
  await source.destroy();
  return counts.join(', ');
}
