import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { type DynamicModule, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  AccountService,
  LedgerService,
  MessagingEvents,
  MessagingModule,
  OtpService,
  SandboxSmsTransport,
  SmsService,
  TypeormStorage,
} from 'nestjs-messaging';
import { generic, HttpSmsTransport } from 'nestjs-messaging/http';
import { RoutedSmsTransport } from 'nestjs-messaging/routed';
import { SmppSmsTransport } from 'nestjs-messaging/smpp';
import { OutboxStore } from 'nestjs-messaging/storage';
import { startSink } from '../smpp/smpp.js';
import { sqliteUrl } from '../target.js';

/** The kind of carrier that is limited to about 50 parts a second. */
export type Limit = 'smpp' | 'http' | 'routed';

/** The times of codes that are sent during a campaign. */
export interface BehindCampaign {
  /** The times from the answer of `otp.send` to the stored hand-over, in milliseconds, sorted. */
  readonly waits: readonly number[];
  /** The claims per message during the campaign, including codes. */
  readonly claimsPerMessage: number;
  /** The messages that were handed over a second. */
  readonly perSecond: number;
}

/** How many parts a second the slow carriers take. */
export const PARTS_PER_SECOND = 50;
const CODES = 20;

/** Measures codes that are accepted while a campaign waits for a carrier of 50 parts a second. */
export async function benchBehindCampaign(limit: Limit, campaign: number): Promise<BehindCampaign> {
  const place = sqliteUrl();
  const carrier = await slowCarrier(limit);
  const app = await NestFactory.createApplicationContext(hostOf(place.url, carrier.transport), QUIET);
  const { accountId, sms } = await funded(app, 10 * campaign);
  const otp = app.get(OtpService, { strict: false });
  // The timers of workers and of routes do not keep the process alive, so this timer does.
  const alive = setInterval(() => undefined, 1000);
  const claims = countClaims(app.get(OutboxStore, { strict: false }));
  const handedOver = handOvers(app.get(MessagingEvents, { strict: false }));

  await sms.send(accountId, { signature: 'INFOS', content: 'Bonjour', number: numbers(22_670_000_000, campaign) });
  await pause(2000); // the pace is steady by then
  const [claimsBefore, countBefore, begun] = [claims.count, handedOver.count, performance.now()];
  const waits: number[] = [];
  for (const number of numbers(22_660_000_000, CODES)) {
    const handed = handedOver.of(number);
    await otp.send(accountId, { service: 'Bench', number });
    const accepted = performance.now();
    waits.push(Math.max(0, (await handed) - accepted));
    await pause(250);
  }
  const handed = handedOver.count - countBefore;
  const seconds = (performance.now() - begun) / 1000;
  const claimsPerMessage = (claims.count - claimsBefore) / handed;
  clearInterval(alive);
  await app.close();
  carrier.stop();
  await place.drop();
  return { waits: waits.toSorted((a, b) => a - b), claimsPerMessage, perSecond: handed / seconds };
}

/**
 * Measures when the last message of one account was handed over, compared with that of a second account. Both have the
 * same number of messages.
 */
export async function benchTwoAccounts(each: number): Promise<number> {
  const place = sqliteUrl();
  const transport = SandboxSmsTransport;
  const silent = await NestFactory.createApplicationContext(hostOf(place.url, transport, false), QUIET);
  const ids: string[] = [];
  for (let account = 0; account < 2; account++) {
    const { accountId, sms } = await funded(silent, each);
    ids.push(accountId);
    const to = numbers(22_670_000_000 + account * each, each);
    await sms.send(accountId, { signature: 'INFOS', content: 'Bonjour', number: to });
  }
  await silent.close();
  const app = await NestFactory.createApplicationContext(hostOf(place.url, transport), QUIET);
  const begun = performance.now();
  const done = new Map<string, { count: number; at: number }>();
  await new Promise<void>((resolve) => {
    app.get(MessagingEvents, { strict: false }).on('message.delivered', ({ account }) => {
      const seen = done.get(account) ?? { count: 0, at: 0 };
      done.set(account, { count: seen.count + 1, at: performance.now() - begun });
      if ([...done.values()].reduce((sum, { count }) => sum + count, 0) >= 2 * each) resolve();
    });
  });
  const [first, second] = ids.map((id) => done.get(id)?.at ?? Number.NaN);
  await app.close();
  await place.drop();
  return (first ?? Number.NaN) / (second ?? Number.NaN);
}

export const QUIET = { logger: ['error' as const, 'fatal' as const] };

type Transport = NonNullable<NonNullable<Parameters<typeof MessagingModule.forRoot>[0]['sms']>['transport']>;

type App = Awaited<ReturnType<typeof NestFactory.createApplicationContext>>;

function hostOf(url: string, transport: Transport, dispatch = true): DynamicModule {
  @Module({})
  class QueueHost {}
  return {
    module: QueueHost,
    imports: [
      MessagingModule.forRoot({
        storage: TypeormStorage.forRoot({ url }),
        signatures: ['INFOS', 'ALERTE', 'SERVICE'],
        role: dispatch ? 'all' : 'api',
        sms: { tariff: { base: 1, international: 3, home: 'BF' }, transport },
        otp: { pepper: 'bench-bench-bench-bench-bench-bench-0123456789', limits: 'none', maxGuessChance: 1 },
      }),
    ],
  };
}

export async function funded(app: App, units: number): Promise<{ accountId: string; sms: SmsService }> {
  const { id } = await app.get(AccountService, { strict: false }).createAccount({ name: 'bench' });
  await app.get(LedgerService, { strict: false }).topUp(id, units);
  return { accountId: id, sms: app.get(SmsService, { strict: false }) };
}

export function numbers(from: number, count: number): string[] {
  return Array.from({ length: count }, (_, index) => String(from + index));
}

function countClaims(store: OutboxStore): { readonly count: number } {
  const claims = { count: 0 };
  const claim = store.claim.bind(store);
  store.claim = async (order) => {
    const claimed = await claim(order);
    claims.count += claimed.length;
    return claimed;
  };
  return claims;
}

export function handOvers(events: MessagingEvents): { readonly count: number; of(number: string): Promise<number> } {
  const waiting = new Map<string, (at: number) => void>();
  const handed = {
    count: 0,
    of: (number: string) => new Promise<number>((resolve) => waiting.set(number, resolve)),
  };
  events.on(['message.sent', 'message.delivered'], ({ data: { number } }) => {
    handed.count++;
    waiting.get(number)?.(performance.now());
  });
  return handed;
}

async function slowCarrier(limit: Limit): Promise<{ readonly transport: Transport; stop(): void }> {
  if (limit === 'smpp') {
    const sink = await startSink();
    const link = {
      host: '127.0.0.1',
      port: sink.port,
      systemId: 'bench',
      password: 'bench',
      partsPerSecond: PARTS_PER_SECOND,
    };
    return { transport: SmppSmsTransport.forRoot({ links: [link] }), stop: () => sink.process.disconnect() };
  }
  if (limit === 'routed') {
    const route = { name: 'slow', transport: SandboxSmsTransport, segmentsPerSecond: PARTS_PER_SECOND };
    return { transport: RoutedSmsTransport.forRoot({ routes: [route] }), stop: () => undefined };
  }
  return slowGateway();
}

/** A gateway for four requests at a time, each answered after 80 ms: 50 a second. */
async function slowGateway(): Promise<{ readonly transport: Transport; stop(): void }> {
  let id = 0;
  const server = createServer((request, response) => {
    request.resume();
    setTimeout(() => response.end(JSON.stringify({ id: `m${++id}` })), 80);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const vendor = generic({
    name: 'slow',
    baseUrl: `http://127.0.0.1:${port}`,
    request: ({ number, text }) => ({ path: '/messages', json: { to: number, text } }),
    read: ({ json }) => ({ ids: [String(Object(json).id)] }),
  });
  return { transport: HttpSmsTransport.forRoot({ vendor, concurrency: 4 }), stop: () => server.close() };
}
