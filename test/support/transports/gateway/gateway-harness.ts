import type { SmsSink } from '../../../../src/sms/sms-transport.js';
import type { FakeClock } from '../../../../src/testing/fake-clock.js';
import type { DoubleOutcome, SmsTransportHarness } from '../../../../src/testing/index.js';
import { CALLBACK_SECRET, GatewayFixture } from './gateway-fixture.js';
import type { DoubleCall, VendorDouble } from './vendor-double.js';

/** The fifth digit of a number is its outcome. */
const OUTCOMES: readonly DoubleOutcome[] = ['taken', 'refused', 'busy', 'lost'];

/** The HTTP transport and a vendor's double for the contract suite, on a fake clock. */
export async function openGateway(double: VendorDouble): Promise<SmsTransportHarness & { readonly clock: FakeClock }> {
  const base = `https://sms.example.org/callbacks/${double.name}`;
  const url = double.signs ? base : `${base}/${CALLBACK_SECRET}`;
  const secret = double.signs ? {} : { callbackSecret: CALLBACK_SECRET };
  const fixture = await GatewayFixture.open(double, { callbackUrl: base, ...secret });
  fixture.station.fateOf = (number) => {
    const outcome = OUTCOMES[Number(number[4])];
    if (outcome === 'refused') return double.refusals.permanent.answer;
    if (outcome === 'busy') return double.refusals.temporary.answer;
    return outcome === 'lost' ? 'reset_after_reading' : undefined;
  };
  let sink: SmsSink | undefined;
  const { transport, clock } = fixture;
  const report = async (call: DoubleCall) => {
    try {
      return (await fixture.call(call, url, {}, sink)).status < 300;
    } catch {
      // Our route answers with a 503.
      return false;
    }
  };
  // A phone sends under its own number, so the signature by number is remembered here.
  const signatures = new Map<string, string>();
  const submit = transport.submit.bind(transport);
  return {
    clock,
    failure: double.failure ?? 'undelivered',
    transport: Object.assign(transport, {
      // The fixture has started the transport. This only sets who receives its reports.
      start: async (given: SmsSink) => {
        sink = given;
      },
      submit: (...[batch, ...rest]: Parameters<typeof submit>) => {
        if (double.ownNumber) for (const { number, signature } of batch) signatures.set(number, signature);
        return submit(batch, ...rest);
      },
    }),
    number: (outcome, index) => `2267${OUTCOMES.indexOf(outcome)}${String(index).padStart(6, '0')}`,
    received: (number) =>
      fixture.taken
        .filter(({ to }) => to === number)
        .map(({ from, text }) => ({ signature: signatures.get(number) ?? from.replace(/^\+/, ''), text })),
    report: async (number, status) => {
      const { ids = [], reference } = fixture.taken.findLast(({ to }) => to === number) ?? {};
      const known = reference === undefined ? {} : { reference };
      const calls = ids.map((id) => report(double.receipt({ id, to: number, status, ...known }, url, clock.now())));
      return (await Promise.all(calls)).every(Boolean);
    },
    say: (from, to, text) => report(double.inbound({ from, to, text }, url, clock.now())),
    pass: () => clock.advance(100),
    close: () => fixture.close(),
  };
}
