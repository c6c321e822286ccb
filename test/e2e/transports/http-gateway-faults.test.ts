import { expect, test } from '@jest/globals';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { HttpSmsTransport } from '../../../src/transports/http/index.js';
import { eventually } from '../../support/common/eventually.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { phoneOf } from '../../support/http/sms-client.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { describeService } from '../../support/mounting/services.js';
import { GatewayStation } from '../../support/transports/gateway/gateway-station.js';
import { twilioDouble } from '../../support/transports/gateway/twilio-double.js';
import { json } from '../../support/transports/gateway/vendor-double.js';

const MANY = 300;
const CALLBACK = 'https://sms.example.org/api/v1/sms/callbacks/twilio';
const THROTTLED = json(429, { code: 20429, message: 'Too many requests', status: 429 }, { 'retry-after': '0' });

describeService('a gateway that throttles, cuts connections and answers nonsense', (start) => {
  const opened = closeAfterEach();

  test('gets no SMS twice and loses none, and the ledger is correct', async () => {
    const station = opened(await GatewayStation.open(twilioDouble));
    let asked = 0;
    station.fateOf = () => {
      asked++;
      if (asked % 3 === 0) return THROTTLED;
      if (asked % 29 === 0) return twilioDouble.refusals.temporary.answer;
      if (asked % 31 === 0) return 'reset_after_reading';
      if (asked % 37 === 0) return 'malformed';
      return asked % 41 === 0 ? 'lying_length' : undefined;
    };
    const vendor = twilioDouble.vendor(station.server.url);
    const transport = HttpSmsTransport.forRoot({ vendor, callbackUrl: CALLBACK });
    const delivery = { retryBaseMs: 1, retryMaxMs: 5, maxAttempts: 100 };
    // The route rests for a second now and then, whatever the vendor asks for, so the clock is advanced.
    const clock = new FakeClock();
    const turning = { clock, stepMs: 500 };
    const service = await start({
      sms: { ...OPTIONS.sms, transport, delivery },
      dispatch: { pollMs: 20 },
      clock: { useValue: clock },
    });
    const client = await service.client(1000);
    const number = Array.from({ length: MANY }, (_, index) => phoneOf(index));
    const { smsID } = await client.sent({ signature: 'INFOS', content: 'Bonjour', number });

    const tally = async () => {
      const counts = new Map<string, number>();
      for (const { status } of await client.recipients(smsID)) counts.set(status, (counts.get(status) ?? 0) + 1);
      return Object.fromEntries(counts);
    };
    const moved = await eventually(tally, ({ sent = 0, unknown = 0 }) => sent + unknown === MANY, turning);
    expect(moved.unknown).toBeGreaterThan(10);
    expect(station.taken.map(({ to }) => to).sort()).toEqual([...number].sort());
    expect(asked).toBeGreaterThan(MANY * 1.4);

    // The vendor received all of them. Its receipts also reach the SMS whose request nobody answered.
    for (const { to, ids, reference = '' } of station.taken) {
      const receipt = { id: ids[0] ?? '', to, status: 'delivered', reference } as const;
      const { query, headers, body } = twilioDouble.receipt(receipt, CALLBACK, 0);
      const answer = await fetch(`${service.url}/api/v1/sms/callbacks/twilio?${query}`, {
        method: 'POST',
        headers,
        body,
      });
      expect(answer.status).toBe(200);
    }
    expect(await eventually(tally, ({ delivered }) => delivered === MANY, turning)).toEqual({ delivered: MANY });
    expect(await client.balance()).toBe(1000 - MANY);
    expect(await service.app.get(LedgerService, { strict: false }).checkLedger()).toEqual([]);
  });
});
