import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { DELIVERY_EVENTS } from '../../../src/events/event-types.js';
import { MessagingEvents } from '../../../src/events/messaging-events.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { SmppSmsTransport } from '../../../src/transports/smpp/smpp-sms-transport.js';
import { eventually } from '../../support/common/eventually.js';
import { type Service, startService } from '../../support/mounting/services.js';
import { FaultyCarrier } from '../../support/transports/smsc/faulty-carrier.js';

beforeAll(() => Logger.overrideLogger(false));

describe.each([
  { messages: 3000, links: 4, on: 'express' },
  { messages: 500, links: 1, on: 'fastify' },
] as const)('$messages messages on $links links ($on)', ({ messages, links, on }) => {
  let carrier: FaultyCarrier;
  let clock: FakeClock;
  let service: Service;
  beforeEach(async () => {
    carrier = await FaultyCarrier.listen({ seed: 7, throttled: 1 / 3, dropEvery: 500, twice: 1 / 20 });
    clock = new FakeClock();
    const link = { host: '127.0.0.1', port: carrier.port, systemId: 'client', password: 'secret' };
    const quick = { ...link, reconnectMs: 20, reconnectMaxMs: 100, throttlePauseMs: 1 };
    service = await startService(on, {
      clock: { useValue: clock },
      sms: {
        tariff: { base: 1, international: 3, home: 'BF' },
        transport: SmppSmsTransport.forRoot({ links: Array.from({ length: links }, () => quick) }),
      },
    });
  });
  afterEach(async () => {
    await carrier.close();
    await service.close();
  });

  test('a carrier throttles a third, drops every 500 and answers one in twenty twice: each ends delivered or unknown, none was submitted twice', async () => {
    const client = await service.client(messages);
    const number = Array.from({ length: messages }, (_, index) => String(22_670_000_000 + index));
    const open = new Set(number.keys());
    service.app.get(MessagingEvents, { strict: false }).on(DELIVERY_EVENTS, ({ data: { position, status } }) => {
      if (status !== 'sent') open.delete(position);
    });
    const { smsID } = await client.sent({ signature: 'INFOS', content: 'Bonjour', number });
    // For as long as it takes: the duration is not tested here.
    while (open.size > 0) {
      const before = open.size;
      await eventually(() => open.size < before, Boolean, { clock, stepMs: 2 });
    }

    const recipients = await client.recipients(smsID);
    const of = (wanted: string) => recipients.filter(({ status }) => status === wanted).length;
    expect(of('delivered') + of('unknown')).toBe(messages);
    // At most what was on all links at each drop.
    expect(of('unknown')).toBeLessThanOrEqual(carrier.drops * 10);
    expect(Math.max(...carrier.taken.values())).toBe(1);
    expect(carrier.taken.size).toBeGreaterThanOrEqual(of('delivered'));
    expect(carrier.drops).toBeGreaterThanOrEqual(Math.floor(messages / 500));
    expect(carrier.throttled).toBeGreaterThan(messages / 3);
    expect(carrier.twice).toBeGreaterThan(messages / 40);
    expect(await client.balance()).toBe(0);
    expect(await service.app.get(LedgerService, { strict: false }).checkLedger()).toEqual([]);
  }, 300_000);
});
