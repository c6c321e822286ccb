import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  AccountService,
  EventService,
  LedgerService,
  MessagingModule,
  SandboxSmsTransport,
  TypeormStorage,
  WebhookService,
} from 'nestjs-messaging';
import { DataSource } from 'typeorm';
import { Pool } from 'undici';
import { sqliteUrl } from '../target.js';
import { median } from '../versus.js';

/** The measured rates and times of calls to endpoints. */
export interface WebhookFigures {
  /**
   * The posts a second of a bare undici loop with 8 connections and the same requests. This and the next two values are
   * medians of the turns.
   */
  readonly bare: number;
  /** The posts of one event a second. */
  readonly single: number;
  /** The events a second in posts of 100. */
  readonly batched: number;
  /**
   * The ratios of each turn: posts of one event compared with the bare loop, and events in posts of 100 compared with
   * posts of one.
   */
  readonly ratios: readonly (readonly [single: number, batched: number])[];
  /** The times from the commit to the post at 500 events a second, in milliseconds, sorted. */
  readonly waits: readonly number[];
  /**
   * The events a second to 99 endpoints beside one that never answers, compared with 99 alone, as the median of the
   * turns.
   */
  readonly besideDead: number;
}

interface Figures {
  readonly events: number;
  readonly first: number;
  readonly last: number;
  readonly waits: readonly number[];
}

const ENDPOINTS_AN_ACCOUNT = 20;

/** @param turns how often the rates are measured in turns, after one turn that warms up both processes */
export async function benchWebhooks(events: number, turns: number): Promise<WebhookFigures> {
  const sink = await Sink.start();
  const rates: [bare: number, single: number, batched: number][] = [];
  for (let turn = -1; turn < turns; turn++) {
    const bare = await bareLoop(sink, events);
    const single = await called(sink, 1, events);
    const batched = await called(sink, 100, 10 * events);
    if (turn >= 0) rates.push([bare, single, batched]);
  }
  const waits = await committed(sink, 500, 5);
  const beside: number[] = [];
  for (let turn = 0; turn < turns; turn++) {
    const alone = await fanned(sink, 99, false, events / 20);
    beside.push((await fanned(sink, 99, true, events / 20)) / alone);
  }
  sink.stop();
  return {
    bare: median(rates.map(([bare]) => bare)),
    single: median(rates.map(([, single]) => single)),
    batched: median(rates.map(([, , batched]) => batched)),
    ratios: rates.map(([bare, single, batched]) => [single / bare, batched / single]),
    waits,
    besideDead: median(beside),
  };
}

/** The receiver, in a process of its own. */
export class Sink {
  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
  ) {}

  static async start(): Promise<Sink> {
    const child = fork(fileURLToPath(new URL('./webhook-sink.js', import.meta.url)));
    const [{ port }] = await once(child, 'message');
    return new Sink(child, `http://127.0.0.1:${port}`);
  }

  async ask(what: 'figures' | 'waits' | 'reset'): Promise<Figures> {
    this.child.send(what);
    const [figures] = await once(this.child, 'message');
    return figures;
  }

  /** Resolves when a number of events have arrived. */
  async got(events: number): Promise<Figures> {
    for (;;) {
      const figures = await this.ask('figures');
      if (figures.events >= events) return figures;
      await pause(50);
    }
  }

  stop(): void {
    this.child.send('stop');
  }
}

/** How many events of one type share a row of the log. */
const RUN = 16;

/** The data of the events of the bench. */
const DATA = JSON.stringify({
  id: 'x'.repeat(36),
  channel: 'sms',
  position: 0,
  number: '22670000000',
  status: 'sent',
});

/** A body like that of an event. The headers are like those of a call. */
const BODY = JSON.stringify({
  id: `evt_${'x'.repeat(22)}`,
  type: 'message.sent',
  timestamp: new Date().toISOString(),
  sequence: 12_345,
  previous: 12_344,
  account: 'x'.repeat(36),
  data: JSON.parse(DATA),
});
const HEADERS = {
  'content-type': 'application/json',
  'user-agent': 'nestjs-messaging/0.0.0',
  'webhook-id': `evt_${'x'.repeat(22)}`,
  'webhook-timestamp': '1700000000',
  'webhook-signature': `v1,${'x'.repeat(44)}`,
};

async function bareLoop(sink: Sink, posts: number): Promise<number> {
  await sink.ask('reset');
  const pool = new Pool(sink.url, { connections: 8, pipelining: 1 });
  let left = posts;
  const loop = async () => {
    while (left-- > 0) {
      const { body } = await pool.request({
        method: 'POST',
        path: '/',
        headers: HEADERS,
        body: BODY,
      });
      await body.dump();
    }
  };
  await Promise.all(Array.from({ length: 8 }, loop));
  await pool.close();
  return rateOf(await sink.got(posts), posts);
}

async function called(sink: Sink, max: number, events: number): Promise<number> {
  await sink.ask('reset');
  const host = await Host.start();
  const account = await host.account();
  await host.endpoint(account, `${sink.url}/`, max);
  await host.fill(account, events);
  const figures = await sink.got(events);
  await host.stop();
  return rateOf(figures, events);
}

async function committed(sink: Sink, perSecond: number, seconds: number): Promise<readonly number[]> {
  await sink.ask('reset');
  const host = await Host.start();
  const account = await host.account();
  await host.endpoint(account, `${sink.url}/`, 1);
  await pause(1500);
  const begun = performance.now();
  const posted: Promise<unknown>[] = [];
  while (posted.length < perSecond * seconds) {
    if (posted.length <= ((performance.now() - begun) / 1000) * perSecond) posted.push(host.topUp(account));
    else await pause(1);
  }
  await Promise.all(posted);
  await sink.got(posted.length);
  const { waits } = await sink.ask('waits');
  await host.stop();
  return waits.toSorted((a, b) => a - b);
}

/** Measures the events a second to a number of endpoints. With `dead`, there is another endpoint that never answers. */
async function fanned(sink: Sink, endpoints: number, dead: boolean, events: number): Promise<number> {
  await sink.ask('reset');
  const host = await Host.start();
  const accounts: string[] = [];
  for (let made = 0; made < endpoints; made++) {
    if (made % (ENDPOINTS_AN_ACCOUNT - 1) === 0) {
      accounts.push(await host.account());
      if (dead && made === 0) await host.endpoint(accounts[0] ?? '', `${sink.url}/dead`, 10);
    }
    await host.endpoint(accounts.at(-1) ?? '', `${sink.url}/`, 10);
  }
  for (const account of accounts) await host.fill(account, events);
  const figures = await sink.got(endpoints * events);
  await host.stop();
  return rateOf(figures, endpoints * events);
}

function rateOf({ first, last }: Figures, events: number): number {
  return (1000 * events) / (last - first);
}

/** A process that calls endpoints, on SQLite. */
export class Host {
  private constructor(
    private readonly app: Awaited<ReturnType<typeof NestFactory.createApplicationContext>>,
    private readonly source: DataSource,
    private readonly drop: () => Promise<void>,
  ) {}

  static async start(): Promise<Host> {
    const { url, drop } = sqliteUrl();
    @Module({
      imports: [
        MessagingModule.forRoot({
          storage: TypeormStorage.forRoot({ url }),
          signatures: ['INFOS'],
          sms: { tariff: { base: 1, international: 1, home: 'BF' }, transport: SandboxSmsTransport },
          webhooks: { pepper: 'a pepper of the bench: 4kq0ZtT9mW2xYb7LrVnE5cHd', allow: 'loopback' },
        }),
      ],
    })
    class BenchHost {}
    const app = await NestFactory.createApplicationContext(BenchHost, { logger: ['error'], abortOnError: false });
    const database = url.slice('sqlite:'.length);
    const source = await new DataSource({ type: 'better-sqlite3', database, enableWAL: true }).initialize();
    return new Host(app, source, drop);
  }

  async account(): Promise<string> {
    return (await this.app.get(AccountService, { strict: false }).createAccount({ name: 'Bench' })).id;
  }

  /** @returns the id of the endpoint */
  async endpoint(accountId: string, url: string, max: number): Promise<string> {
    const created = await this.app.get(WebhookService, { strict: false }).create(accountId, { url, batch: { max } });
    return created.reply.id;
  }

  /** Switches on the event log of the account before it has an endpoint. */
  record(accountId: string): Promise<void> {
    return this.app.get(EventService, { strict: false }).switchOn(accountId);
  }

  /** Replays all events of the log. Returns their number. */
  async replay(accountId: string, id: string): Promise<number> {
    const { reply } = await this.app.get(WebhookService, { strict: false }).replay(accountId, id, { after: 0 });
    return reply.events;
  }

  topUp(accountId: string): Promise<unknown> {
    return this.app.get(LedgerService, { strict: false }).topUp(accountId, 1);
  }

  /** Fills the log with a number of events, in the same rows as those of a campaign. The database makes them itself. */
  async fill(accountId: string, events: number): Promise<void> {
    const runs = Math.floor(events / RUN);
    const positions = `json_array(${Array.from({ length: RUN }, (_, index) => `${RUN} * i - ${RUN - index}`).join(', ')})`;
    const insert = 'INSERT INTO messaging_event (account_id, sequence, earlier, type, at, data) SELECT';
    const of = (count: number) => `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`;
    await this.source.query(
      `${of(runs)} ${insert} '${accountId}', ${RUN} * i, ${RUN - 1}, 'message.sent', ${Date.now()},
        json_array(${Date.now()}, json_set('${DATA}', '$.position', ${positions})) FROM n`,
    );
    if (events > runs * RUN) {
      await this.source.query(
        `${of(events - runs * RUN)} ${insert} '${accountId}', ${runs * RUN} + i, 0, 'message.sent', ${Date.now()}, '${DATA}' FROM n`,
      );
    }
    await this.source.query(`UPDATE messaging_event_counter SET sequence = ${events} WHERE id = '${accountId}'`);
  }

  async stop(): Promise<void> {
    await this.app.close();
    await this.source.destroy();
    await this.drop();
  }
}
