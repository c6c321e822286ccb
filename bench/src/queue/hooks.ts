import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type DynamicModule, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { MessagingModule, TypeormStorage } from 'nestjs-messaging';
import { LoginHookService } from 'nestjs-messaging/hooks';
import { RoutedSmsTransport } from 'nestjs-messaging/routed';
import type { TargetDatabase } from '../target.js';
import { PacedCarrier } from './paced-carrier.js';
import { funded, numbers, PARTS_PER_SECOND, QUIET } from './queue.js';

/** The times from the request of a log-in system to the hand-over of its code to the carrier, in milliseconds, sorted. */
export interface HookWaits {
  readonly idle: readonly number[];
  readonly busy: readonly number[];
  /** How many SMS a second the carrier got beside the campaign. */
  readonly perSecond: number;
}

/** What keeps the pace: the carrier's own transport, or a route of the routed transport. */
export type Pacing = 'carrier' | 'route';

const CALLS = 40;

/** The longest pause between two calls, in milliseconds. The pauses differ, so that no call meets a timer at the same point. */
const MAX_PAUSE_MS = 400;

/** Measures calls of a log-in hook by HTTP: first on an idle service, then beside a campaign on a carrier of 50 parts a second. */
export async function benchHooks(place: TargetDatabase, campaign: number, pacing: Pacing): Promise<HookWaits> {
  const carrier = new PacedCarrier(pacing === 'carrier' ? PARTS_PER_SECOND : undefined);
  const app = await NestFactory.create(hostOf(place.url, carrier, pacing), QUIET);
  await app.listen(0, '127.0.0.1');
  const { port }: AddressInfo = app.getHttpServer().address();
  const { accountId, sms } = await funded(app, 10 * campaign);
  const { reply } = await app
    .get(LoginHookService, { strict: false })
    .create(accountId, { kind: 'logto', signature: 'INFOS', name: 'Bench' });

  const callAll = async (first: number): Promise<readonly number[]> => {
    const waits: number[] = [];
    for (const number of numbers(first, CALLS)) {
      const handed = carrier.of(number);
      const begun = performance.now();
      const answer = await fetch(`http://127.0.0.1:${port}/api/v1/hooks/${reply.id}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${reply.secret}` },
        body: JSON.stringify({ to: `+${number}`, type: 'SignIn', payload: { code: '123456' } }),
      });
      if (answer.status !== 200) throw new Error(`The hook answered ${answer.status}.`);
      waits.push((await handed) - begun);
      await pause(MAX_PAUSE_MS * Math.random());
    }
    return waits.toSorted((a, b) => a - b);
  };

  await callAll(22_650_000_000); // Warms up.
  const idle = await callAll(22_651_000_000);
  await sms.send(accountId, { signature: 'INFOS', content: 'Bonjour', number: numbers(22_670_000_000, campaign) });
  await pause(2000); // The pace is steady by then.
  const [countBefore, begun] = [carrier.count, performance.now()];
  const busy = await callAll(22_652_000_000);
  const perSecond = (1000 * (carrier.count - countBefore)) / (performance.now() - begun);
  await app.close();
  await place.drop();
  return { idle, busy, perSecond };
}

function hostOf(url: string, carrier: PacedCarrier, pacing: Pacing): DynamicModule {
  const transport = { useValue: carrier };
  const route = { name: 'slow', transport, segmentsPerSecond: PARTS_PER_SECOND };
  @Module({})
  class HooksHost {}
  return {
    module: HooksHost,
    imports: [
      MessagingModule.forRoot({
        storage: TypeormStorage.forRoot({ url }),
        signatures: ['INFOS', 'ALERTE', 'SERVICE'],
        sms: {
          tariff: { base: 1, international: 3, home: 'BF' },
          transport: pacing === 'route' ? RoutedSmsTransport.forRoot({ routes: [route] }) : transport,
        },
        hooks: { pepper: 'bench-bench-bench-bench-bench-bench-0123456789', limits: 'none' },
      }),
    ],
  };
}
