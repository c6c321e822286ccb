import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  AccountService,
  DELIVERY_EVENTS,
  LedgerService,
  MessagingEvents,
  MessagingModule,
  SmsService,
  TypeormStorage,
} from 'nestjs-messaging';
import { SmppSmsTransport } from 'nestjs-messaging/smpp';
import { sqliteUrl } from '../target.js';
import { type FaultCounts, startFaultySmsc } from './faulty-smsc.js';

/** The result of one run. */
export interface SmppFaults extends Readonly<FaultCounts> {
  /** The messages a second, from the send until every message was sent or unknown. */
  readonly perSecond: number;
  readonly unknown: number;
}

/**
 * Measures one send to a number of recipients through a carrier that misbehaves, over two links and on SQLite. The
 * waits after a throttle and after a lost link are as short as possible, because the work is measured and not the
 * waiting.
 */
export async function benchSmppFaults(messages: number): Promise<SmppFaults> {
  const [smsc, place] = [await startFaultySmsc(), sqliteUrl()];
  const link = { host: '127.0.0.1', port: smsc.port, systemId: 'bench', password: 'bench' };
  const quick = { ...link, throttlePauseMs: 1, reconnectMs: 1, reconnectMaxMs: 20, window: 50 };
  @Module({
    imports: [
      MessagingModule.forRoot({
        storage: TypeormStorage.forRoot({ url: place.url }),
        signatures: ['INFOS', 'ALERTE', 'SERVICE'],
        sms: {
          tariff: { base: 1, international: 3, home: 'BF' },
          transport: SmppSmsTransport.forRoot({ links: [quick, quick] }),
        },
      }),
    ],
  })
  class BenchHost {}
  const app = await NestFactory.createApplicationContext(BenchHost, { logger: ['error', 'fatal'] });
  await app.init();
  const { id } = await app.get(AccountService, { strict: false }).createAccount({ name: 'bench' });
  await app.get(LedgerService, { strict: false }).topUp(id, messages);
  let unknown = 0;
  const allThere = new Promise<void>((done) => {
    const open = new Set(Array.from({ length: messages }, (_, position) => position));
    app.get(MessagingEvents, { strict: false }).on(DELIVERY_EVENTS, ({ data: { position, status } }) => {
      if (!open.delete(position)) return;
      if (status === 'unknown') unknown++;
      if (open.size === 0) done();
    });
  });
  const number = Array.from({ length: messages }, (_, index) => String(22_670_000_000 + index));
  const begun = performance.now();
  await app.get(SmsService, { strict: false }).send(id, { signature: 'INFOS', content: 'Bonjour', number });
  await allThere;
  const perSecond = (messages * 1000) / (performance.now() - begun);
  await app.close();
  smsc.close();
  await place.drop();
  return { perSecond, unknown, ...smsc.counts };
}
