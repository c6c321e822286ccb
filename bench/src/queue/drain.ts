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
import type { TargetDatabase } from '../target.js';

/** Measures how many messages a second the dispatcher delivers to sandbox phones, from a queue of single SMS. */
export async function benchDrain(place: TargetDatabase, messages: number): Promise<number> {
  await withHost(place.url, false, async (app) => {
    const accounts = app.get(AccountService, { strict: false });
    const { id } = await accounts.createAccount({ name: 'bench' });
    await app.get(LedgerService, { strict: false }).topUp(id, messages);
    const sms = app.get(SmsService, { strict: false });
    const one = (index: number) =>
      sms.send(id, { signature: 'INFOS', content: 'Bonjour', number: [String(22_670_000_000 + index)] });
    for (let done = 0; done < messages; done += 500) {
      await Promise.all(Array.from({ length: Math.min(500, messages - done) }, (_, index) => one(done + index)));
    }
  });
  const begun = performance.now();
  await withHost(place.url, true, (app) => app.get(Arrivals).of(messages));
  const seconds = (performance.now() - begun) / 1000;
  await place.drop();
  return messages / seconds;
}

/** Counts deliveries. It is made before the dispatcher starts, so it also counts the first one. */
@Injectable()
export class Arrivals {
  private arrived = 0;
  private look: () => void = () => undefined;

  constructor(events: MessagingEvents) {
    events.on('message.delivered', () => {
      this.arrived++;
      this.look();
    });
  }

  of(messages: number): Promise<void> {
    return new Promise((done) => {
      this.look = () => {
        if (this.arrived >= messages) done();
      };
      this.look();
    });
  }
}

type Host = Awaited<ReturnType<typeof NestFactory.createApplicationContext>>;

/** Lets a process with SMS and campaigns on a database do something. */
export async function withHost(url: string, dispatch: boolean, use: (app: Host) => Promise<void>): Promise<void> {
  @Module({
    imports: [
      MessagingModule.forRoot({
        storage: TypeormStorage.forRoot({ url }),
        signatures: ['INFOS', 'ALERTE', 'SERVICE'],
        role: dispatch ? 'all' : 'api',
        campaigns: {},
        sms: { tariff: { base: 1, international: 3, home: 'BF' } },
      }),
    ],
    providers: [Arrivals],
  })
  class BenchHost {}
  const app = await NestFactory.createApplicationContext(BenchHost, { logger: ['error', 'fatal'] });
  // The timers of workers and of campaigns do not keep the process alive, so this timer does.
  const alive = setInterval(() => undefined, 1000);
  await use(app);
  clearInterval(alive);
  await app.close();
}
