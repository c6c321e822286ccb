import 'reflect-metadata';
import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Body, Controller, Get, HttpCode, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  LedgerService,
  MessagingModule,
  OtpService,
  PostgresNotifier,
  SandboxModule,
  SandboxSmsTransport,
  SystemClock,
  TypeormStorage,
} from 'nestjs-messaging';
import {
  generic,
  HttpSmsTransport,
  type HttpVendor,
  httpsms,
  jasmin,
  kannel,
  mtn,
  smsgate,
  textbee,
  twilio,
} from 'nestjs-messaging/http';
import { RedisNotifier } from 'nestjs-messaging/redis';
import { SmppSmsTransport } from 'nestjs-messaging/smpp';
import { OutboxStore, type StoreClass } from 'nestjs-messaging/storage';
import { type OutgoingSms, SmsTransport, type SubmitResult } from 'nestjs-messaging/transports';
import { DataSource } from 'typeorm';
import type { CrashOrder } from './crash-process.js';

/**
 * A host in a process of its own that tests kill. It runs on the built package, and everything it imports is a package:
 * see `crash-process.ts`. It prints its port as soon as it answers, and ends with the process that started it.
 */

const order: CrashOrder = JSON.parse(process.env.ORDER ?? '{}');
const { database, carrier = 'sandbox', adapter = 'express', gateway, notifier, ownRoutes, run, port } = order;
const repeat = carrier === 'at-least-once' ? 'at-least-once' : 'at-most-once';

/** A carrier that records in a file what it received, takes its time, and delivers everything. */
class LoggingTransport extends SmsTransport {
  override readonly name = 'logging';
  override readonly repeat = repeat;

  override async start(): Promise<void> {}

  override async submit(batch: readonly OutgoingSms[]): Promise<readonly SubmitResult[]> {
    const { carrierLog = '' } = order;
    const lines = batch.map((sms) => `${run} ${sms.smsId}:${sms.position}\n`).join('');
    appendFileSync(carrierLog, lines);
    await pause(30);
    appendFileSync(`${carrierLog}.answered`, lines);
    return batch.map(() => ({ kind: 'sent', final: 'delivered' }));
  }

  override async stop(): Promise<void> {}
}

/** Numbers go out and ids come back. Receipts come as a form. */
function gatewayTransport(baseUrl: string, callbackSecret: string) {
  const field = (json: unknown, name: string) => {
    const value = typeof json === 'object' && json !== null ? Reflect.get(json, name) : undefined;
    return typeof value === 'string' ? value : undefined;
  };
  const vendor = generic({
    name: 'counting',
    baseUrl,
    idempotent: carrier === 'idempotent',
    request: ({ number, text }, { reference }) => ({ path: '/', json: { number, text, reference } }),
    read: ({ json }) => {
      const id = field(json, 'id');
      return { ids: id === undefined ? [] : [id], code: field(json, 'error') };
    },
    errors: { temporary: ['later'], permanent: ['bad_number'] },
    callback: {
      read: (content) => {
        const [id, number] = [content.field('id'), content.field('number')];
        return id === undefined ? undefined : { receipts: [{ id, number, status: 'delivered' }] };
      },
    },
  });
  return HttpSmsTransport.forRoot({ vendor, callbackSecret, repeat, requestMs: 1000 });
}

/** One of the shipped vendors. Its options come from a test, so they are checked when the host starts. */
function vendorTransport({ name, options, ...callback }: NonNullable<CrashOrder['vendor']>) {
  const vendors = { smsgate, httpsms, textbee, kannel, jasmin, mtn };
  const vendor: HttpVendor = Reflect.apply(vendors[name], undefined, [options]);
  return HttpSmsTransport.forRoot({ vendor, ...callback });
}

function transport() {
  if (order.vendor !== undefined) return vendorTransport(order.vendor);
  if (gateway !== undefined) return gatewayTransport(gateway.url, gateway.secret);
  if (carrier === 'sandbox') return SandboxSmsTransport;
  if (carrier === 'twilio') {
    // Nothing that is sent here arrives: this carrier exists for its callbacks, which are signed.
    const account = { accountSid: `AC${'0'.repeat(32)}`, authToken: 'a token that strangers do not have' };
    return HttpSmsTransport.forRoot({ vendor: twilio({ ...account, baseUrl: 'http://127.0.0.1:9' }) });
  }
  if (order.smscPort === undefined) return LoggingTransport;
  const account = { host: '127.0.0.1', port: order.smscPort, systemId: 'client', password: 'secret' };
  const link = { ...account, reconnectMs: 10, reconnectMaxMs: 50, throttlePauseMs: 5 };
  return SmppSmsTransport.forRoot({ links: [link, { ...link }], resendUnknown: carrier === 'at-least-once' });
}

/**
 * Answers first and writes seconds later, so that a caller can act on the answer before the commit. This is the fault
 * of treating the answer as the commit.
 */
class HastyStorage extends TypeormStorage {
  override store<S extends object>(Store: StoreClass<S>): S {
    const store = super.store(OutboxStore);
    const commit: OutboxStore['commit'] = async (sends, ...rest) => {
      setTimeout(() => void store.commit(sends, ...rest).catch(() => undefined), 5000);
      return sends.map(({ reply }) => ({ kind: 'accepted', reply }));
    };
    const hasty: object = Object.create(store, { commit: { value: commit } });
    return hasty instanceof Store ? hasty : super.store(Store);
  }
}

const dataSource =
  ownRoutes && new DataSource({ type: database.startsWith('postgres') ? 'postgres' : 'mysql', url: database });

/** The host's own routes beside ours. */
@Controller('host')
class HostController {
  constructor(
    private readonly otp: OtpService,
    private readonly ledger: LedgerService,
  ) {}

  private held: AbortController | undefined;

  /**
   * A code within a transaction of the host's, which then stays open until it is released, or for this many
   * milliseconds.
   */
  @Post('hold')
  @HttpCode(200)
  async hold(@Body() { number, ms }: { number: string; ms: number }): Promise<void> {
    const code = { service: 'Hold', number };
    await dataSource?.transaction(async (manager) => {
      await this.otp.send(ownRoutes?.accountId ?? '', code, { host: { manager } });
      this.held = new AbortController();
      await pause(ms, undefined, { signal: this.held.signal }).catch(() => undefined);
      this.held = undefined;
    });
  }

  /** Whether such a transaction is open. */
  @Get('hold')
  isHeld(): boolean {
    return this.held !== undefined;
  }

  @Post('release')
  @HttpCode(200)
  release(): void {
    this.held?.abort();
  }

  /** One unit for the account. */
  @Post('top-up')
  @HttpCode(200)
  async topUp(): Promise<void> {
    await this.ledger.topUp(ownRoutes?.accountId ?? '', 1);
  }
}

/** Keeps the contents of each request, which a soak test must detect. */
const leaked: Buffer[] = [];

const secrets = { otp: 'a pepper for tests, 0123456789 abcdef', msgapp: 'a key for credentials in tests, 0123456789' };

@Module({
  imports: [
    MessagingModule.forRoot({
      storage: dataSource
        ? TypeormStorage.forRoot({ dataSource })
        : { useFactory: () => new (order.naive ? HastyStorage : TypeormStorage)({ database }) },
      ...(notifier && {
        notifier: (notifier.kind === 'redis' ? RedisNotifier : PostgresNotifier).forRoot({ url: notifier.url }),
      }),
      signatures: ['INFOS', 'ALERTE', 'SERVICE'],
      ...(order.role && { role: order.role }),
      ...(order.ownClock && { clock: SystemClock }),
      dispatch: { batchSize: 5, concurrency: 4, pollMs: 100, ...order.dispatch },
      sms: {
        tariff: { base: 1, international: 3, home: 'BF' },
        transport: transport(),
        // With so many kills, a delivery may be claimed more often than a carrier would be asked. If each hand-over
        // counts, the lease of a live host must not run out, even on a machine with ten times its work.
        delivery: {
          leaseMs: order.carrierLog || order.smscPort ? 4000 : gateway || order.vendor ? 2500 : 1000,
          maxAttempts: 50,
        },
      },
      ...(order.channels && {
        otp: { pepper: secrets.otp, limits: order.channels.codes },
        msgapp: {
          tariff: { text: 1, media: 2 },
          credentialsKey: secrets.msgapp,
          delivery: { leaseMs: 1000, maxAttempts: 50 },
          sessions: { leaseMs: 1000 },
        },
        media: { allow: 'loopback' },
      }),
    }),
    ...(order.channels ? [SandboxModule.forRoot()] : []),
  ],
  controllers: ownRoutes ? [HostController] : [],
})
class Host {}

// Imports only the requested part, because this program starts again and again.
const Adapter =
  adapter === 'fastify'
    ? (await import('@nestjs/platform-fastify')).FastifyAdapter
    : (await import('@nestjs/platform-express')).ExpressAdapter;
const app = await NestFactory.create(Host, new Adapter(), { logger: ['error'], abortOnError: false });
app.enableShutdownHooks();
if (order.leaks) {
  const keep = () => void leaked.push(Buffer.alloc(256 * 1024, 1));
  app.getHttpServer().on('request', keep);
}
await app.listen(port, '127.0.0.1');
process.on('message', () => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  process.send?.({ heapBytes: heapUsed + external, handles: process.getActiveResourcesInfo().length });
});
// Neither the channel nor its owner keeps a host alive that was told to end.
process.channel?.unref();
process.on('disconnect', () => process.exit());
console.log(`PORT ${app.getHttpServer().address().port}`);
