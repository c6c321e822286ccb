import { jest } from '@jest/globals';
import type { OutgoingSms, SubmitResult } from '../../../src/sms/sms-transport.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { Gateway } from '../../../src/transports/http/gateway.js';
import { HttpSmsTransport } from '../../../src/transports/http/http-sms-transport.js';
import { generic } from '../../../src/transports/http/vendors/generic.js';
import { SmppBind } from '../../../src/transports/smpp/bind/smpp-bind.js';
import type { SubmitOutcome } from '../../../src/transports/smpp/bind/submit-outcome.js';
import { SmppSmsTransport } from '../../../src/transports/smpp/smpp-sms-transport.js';
import { RecordingSink } from '../transports/recording-sink.js';
import { RouteDouble, RoutedFixture } from '../transports/routed-fixture.js';
import type { Carry } from './campaign-fixture.js';
import { ChosenIds } from './chosen-ids.js';

/** A carrier that takes 50 parts a second, and what it received. */
export interface CarrierAt50 {
  readonly clock: FakeClock;
  readonly carry: Carry;
  /** The messages in the order in which they went on the wire. For SMPP, their texts, part by part. */
  readonly given: string[];
}

/** Resolves after `ms` milliseconds of the clock. */
const after = (clock: FakeClock, ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve));

/**
 * An SMPP link whose bind is replaced by one that answers after `answerMs`.
 * @param isUp false: no bind is established
 */
export async function smpp(
  link: { window?: number; partsPerSecond?: number },
  answerMs: number,
  isUp = true,
): Promise<CarrierAt50 & { readonly transport: SmppSmsTransport }> {
  const clock = new FakeClock();
  const given: string[] = [];
  const bind = {
    open: true,
    ended: new Promise<never>(() => undefined),
    close: async () => undefined,
    submit: async ({ shortMessage, esmClass }: { shortMessage: Uint8Array; esmClass: number }) => {
      given.push(Buffer.from(shortMessage.subarray(esmClass & 0x40 ? 6 : 0)).toString('latin1'));
      await after(clock, answerMs);
      return { kind: 'answered', status: 0, messageId: String(given.length), tlvs: [] } satisfies SubmitOutcome;
    },
  };
  // A link uses no other members of a bind than these.
  jest.spyOn(SmppBind, 'open').mockImplementation(async () => {
    if (!isUp) throw new Error('There is nobody.');
    return bind as unknown as SmppBind;
  });
  const account = { host: '127.0.0.1', systemId: 'client', password: 'secret', tls: true };
  const transport = new SmppSmsTransport({ links: [{ ...account, ...link }] }, clock, new ChosenIds());
  await transport.start(new RecordingSink());
  return { clock, given, transport, carry: transport };
}

/** An HTTP gateway that answers after `answerMs`. */
export async function http(
  concurrency = 16,
  answerMs = 300,
): Promise<CarrierAt50 & { readonly transport: HttpSmsTransport }> {
  const clock = new FakeClock();
  const given: string[] = [];
  jest.spyOn(Gateway.prototype, 'submit').mockImplementation(async ({ smsId }) => {
    given.push(smsId);
    await after(clock, answerMs);
    return { result: { kind: 'taken', ids: [smsId], segments: undefined } };
  });
  const vendor = generic({
    name: 'acme',
    baseUrl: 'https://acme.example',
    request: () => ({ path: '/' }),
    read: () => ({}),
  });
  const transport = new HttpSmsTransport({ vendor, concurrency, waitMs: 600_000 }, clock, new ChosenIds());
  await transport.start();
  return { clock, given, transport, carry: transport };
}

/** A route with a limit, to a carrier that answers at once. */
export async function routed(): Promise<CarrierAt50 & { readonly fixture: RoutedFixture }> {
  const clock = new FakeClock();
  const given: string[] = [];
  const transport = new RouteDouble('fast', ({ smsId }: OutgoingSms): SubmitResult => {
    given.push(smsId);
    return { kind: 'sent' };
  });
  const fixture = await RoutedFixture.started([{ name: 'limited', transport, segmentsPerSecond: 50 }], { clock });
  return { clock, given, fixture, carry: fixture.router };
}

export const CARRIERS = {
  'SMPP with a pace': () => smpp({ partsPerSecond: 50, window: 50 }, 20),
  'SMPP with a window': () => smpp({ window: 10 }, 200),
  'HTTP with slow answers': () => http(),
  'a route with a limit': routed,
} satisfies Record<string, () => Promise<CarrierAt50>>;
