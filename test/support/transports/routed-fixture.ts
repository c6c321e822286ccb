import type { RepeatPolicy } from '../../../src/outbox/delivery/delivery-result.js';
import { PolicyStore } from '../../../src/outbox/policy/policy-store.js';
import { RouteRecipientStore } from '../../../src/sms/route-recipients/route-recipient-store.js';
import {
  type CallbackHandler,
  type DeliveryTiming,
  type OutgoingSms,
  type ReportResult,
  type SmsSink,
  SmsTransport,
  type SubmitResult,
} from '../../../src/sms/sms-transport.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { type RouteRules, resolveRoutes } from '../../../src/transports/routed/routes.js';
import { SmsRouter } from '../../../src/transports/routed/sms-router.js';
import { SqliteMemory } from '../databases/sqlite-memory.js';
import { ChosenIds } from '../outbox/chosen-ids.js';
import { RecordingSink } from './recording-sink.js';

/** One carrier among several. It does what a test says. */
export class RouteDouble extends SmsTransport {
  override readonly repeat: RepeatPolicy = 'at-most-once';
  override timing: Partial<DeliveryTiming> = {};
  override readonly callbacks = new Map<string, CallbackHandler>();
  readonly batches: (readonly OutgoingSms[])[] = [];
  starts = 0;
  stops = 0;
  sink: SmsSink | undefined;

  /** @param answer the result of an SMS */
  constructor(
    override readonly name: string,
    public answer: (sms: OutgoingSms) => SubmitResult | Promise<SubmitResult> = () => ({ kind: 'sent' }),
    public starting: () => Promise<void> = async () => undefined,
  ) {
    super();
  }

  get numbers(): readonly string[] {
    return this.batches.flat().map(({ number }) => number);
  }

  override async start(sink: SmsSink): Promise<void> {
    this.starts++;
    await this.starting();
    this.sink = sink;
  }

  override async submit(
    batch: readonly OutgoingSms[],
    _signal: AbortSignal,
    report: ReportResult = () => undefined,
  ): Promise<readonly SubmitResult[]> {
    this.batches.push(batch);
    const answered = async (sms: OutgoingSms) => {
      const result = await this.answer(sms);
      report(sms, result);
      return result;
    };
    return Promise.all(batch.map(answered));
  }

  override async stop(): Promise<void> {
    this.stops++;
  }
}

let made = 0;

/** A fresh SMS. */
export function anSms(number: string, over: Partial<OutgoingSms> = {}): OutgoingSms {
  made++;
  return { smsId: `sms-${made}`, position: 0, signature: 'INFOS', number, text: 'Bonjour', attempt: 1, ...over };
}

/** A router over doubles, on a clock and with random numbers that the test chooses. */
export class RoutedFixture {
  readonly clock: FakeClock;
  readonly ids = new ChosenIds();
  readonly sink = new RecordingSink();
  /** The routes that operators rest. */
  readonly rested = new Set<string>();
  readonly router: SmsRouter;

  private constructor(
    routes: readonly (RouteRules & { readonly transport: SmsTransport })[],
    { clock, guards, recipients }: { clock: FakeClock; guards: PolicyStore; recipients: RouteRecipientStore },
  ) {
    this.clock = clock;
    const transports = routes.map(({ transport }) => transport);
    this.router = new SmsRouter(resolveRoutes({ routes }), transports, {
      clock,
      ids: this.ids,
      guards,
      recipients,
      switches: { peek: () => ({ pauses: [], rested: this.rested }) },
    });
  }

  static async open(
    routes: readonly (RouteRules & { readonly transport: SmsTransport })[],
    {
      clock = new FakeClock(),
      guards,
      storage,
    }: { clock?: FakeClock; guards?: PolicyStore; storage?: SqliteMemory } = {},
  ): Promise<RoutedFixture> {
    const database = storage ?? (await SqliteMemory.open());
    const recipients = database.store(RouteRecipientStore);
    return new RoutedFixture(routes, { clock, guards: guards ?? database.store(PolicyStore), recipients });
  }

  static async started(...given: Parameters<typeof RoutedFixture.open>): Promise<RoutedFixture> {
    const fixture = await RoutedFixture.open(...given);
    await fixture.router.start(fixture.sink);
    return fixture;
  }

  submit(
    batch: readonly OutgoingSms[],
    signal = new AbortController().signal,
    report?: ReportResult,
  ): Promise<readonly SubmitResult[]> {
    return this.router.submit(batch, signal, report);
  }

  /** The result of one SMS. */
  async send(number: string, over: Partial<OutgoingSms> = {}): Promise<SubmitResult | undefined> {
    return (await this.submit([anSms(number, over)]))[0];
  }
}
