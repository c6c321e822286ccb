import { MINUTE_MS } from './time.js';
import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type DynamicModule, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AccountService, LedgerService, MessagingModule, SystemClock, TypeormStorage } from 'nestjs-messaging';
import { CompatModule } from 'nestjs-messaging/compat';
import { McpModule } from 'nestjs-messaging/mcp';
import { BareModule } from './accept/bare.js';
import { SketchModule } from './accept/sketch.js';
import { managementHost, signInLinks } from './accounts/management-host.js';
import { type TelemetryKind, telemetryOf } from './accounts/telemetry-host.js';
import { linkNumber, msgappHost } from './channels/msgapp-host.js';
import { otpHost, sendCodes } from './channels/otp-host.js';

/** The order of the parent process: `node server.js '<json>'`. */
interface Order {
  readonly kind: 'bare' | 'ours' | 'sketch' | 'otp' | 'msgapp' | 'management';
  readonly adapter: 'express' | 'fastify';
  readonly url?: string;
  readonly dispatch?: boolean;
  readonly perMinute?: number;
  /** Purges everything that is older than a day, from the start on. */
  readonly purge?: boolean;
  /** Mounts webhooks and the feed. */
  readonly events?: boolean;
  readonly telemetry?: TelemetryKind;
  /** Mounts campaigns. */
  readonly campaigns?: boolean;
  /** Mounts log-in hooks, the doors of Twilio and Kannel, and the one for agents. */
  readonly doors?: boolean;
  /** An existing account. Default: a new one. */
  readonly account?: string;
}

/**
 * Starts the rounds of the purges one after the other without a pause. Otherwise the first would start after ten
 * minutes.
 */
class HurriedClock extends SystemClock {
  override after(ms: number, task: () => void): () => void {
    return super.after(ms >= 10 * MINUTE_MS ? 100 : ms, task);
  }
}

function isCodesOrder(message: unknown): message is { readonly codes: readonly string[] } {
  return typeof message === 'object' && message !== null && 'codes' in message && Array.isArray(message.codes);
}

/** The bytes that are in use, after a garbage collection. */
function heapInUse(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

const order: Order = JSON.parse(process.argv[2] ?? '{}');

function hostOf({
  kind,
  url = 'sqlite::memory:',
  dispatch = false,
  perMinute,
  purge,
  telemetry,
  events,
  campaigns,
  doors,
}: Order): DynamicModule {
  @Module({})
  class Host {}
  if (kind === 'bare') return { module: Host, imports: [BareModule] };
  if (kind === 'sketch') return { module: Host, imports: [SketchModule.on(url)] };
  if (kind === 'otp') return otpHost(url, dispatch);
  if (kind === 'msgapp') return msgappHost(url, perMinute);
  if (kind === 'management') return managementHost(url, dispatch);
  const messaging = MessagingModule.forRoot({
    storage: TypeormStorage.forRoot({ url }),
    signatures: ['INFOS', 'ALERTE', 'SERVICE'],
    role: dispatch ? 'all' : 'api',
    ...telemetryOf(telemetry),
    ...(campaigns && { campaigns: {} }),
    ...(doors && { hooks: { pepper: 'the bench derives nothing from it: 0123456789' } }),
    ...(purge && { clock: HurriedClock, retention: { texts: '1 day', messages: '1 day', trail: '1 day' } }),
    sms: { tariff: { base: 1, international: 3, home: 'BF' } },
    ...(events && { webhooks: { pepper: 'the bench derives nothing from it: 0123456789' } }),
  });
  const added = doors ? [CompatModule.forRoot({ twilio: true, kannel: true }), McpModule.forRoot()] : [];
  return { module: Host, imports: [messaging, ...added] };
}

const app = await NestFactory.create(
  hostOf(order),
  order.adapter === 'fastify' ? new FastifyAdapter({ bodyLimit: 52_428_800 }) : new ExpressAdapter(),
  { logger: ['error', 'fatal'], abortOnError: false },
);
let key = 'none';
let accountId = order.account ?? '';
if (['ours', 'otp', 'msgapp', 'management'].includes(order.kind)) {
  const accounts = app.get(AccountService, { strict: false });
  const id = order.account ?? (await accounts.createAccount({ name: 'bench' })).id;
  accountId = id;
  key = (await accounts.issueKey(id)).key;
  await app.get(LedgerService, { strict: false }).topUp(id, 1e12);
}
await app.listen(0, '127.0.0.1');
const { port }: AddressInfo = app.getHttpServer().address();
if (order.kind === 'msgapp') await linkNumber(app, accountId, `http://127.0.0.1:${port}`);
const links = order.kind === 'management' ? await signInLinks(app, accountId) : undefined;
process.send?.({ port, key, links });
process.on('message', (message) => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  if (message === 'memory') process.send?.({ rss: maxRSS * 1024, cpu: userCPUTime + systemCPUTime });
  if (message === 'heap') process.send?.({ heap: heapInUse() });
  if (isCodesOrder(message)) {
    void sendCodes(app, accountId, message.codes).then((codes) => process.send?.({ codes }));
  }
  if (message === 'stop') void app.close().then(() => process.exit(0));
});
