import type { ServerOptions } from 'node:https';
import { UuidGenerator } from '../../../../src/common/ids.js';
import type {
  CarrierCallback,
  OutgoingSms,
  ReportResult,
  SmsSink,
  SubmitResult,
} from '../../../../src/sms/sms-transport.js';
import { FakeClock } from '../../../../src/testing/fake-clock.js';
import type { HttpSmsOptions } from '../../../../src/transports/http/http-sms-options.js';
import { HttpSmsTransport } from '../../../../src/transports/http/http-sms-transport.js';
import { africasTalkingDouble } from './africas-talking-double.js';
import type { GatewayServer } from './gateway-server.js';
import { GatewayStation } from './gateway-station.js';
import { genericDouble } from './generic-double.js';
import { httpsmsDouble } from './httpsms-double.js';
import { infobipDouble } from './infobip-double.js';
import { jasminDouble } from './jasmin-double.js';
import { kannelDouble } from './kannel-double.js';
import { mtnDouble } from './mtn-double.js';
import { orangeDouble } from './orange-double.js';
import { RecordingSink } from './recording-sink.js';
import { smsgateDouble } from './smsgate-double.js';
import { textbeeDouble } from './textbee-double.js';
import { twilioDouble } from './twilio-double.js';
import type { DoubleCall, VendorDouble } from './vendor-double.js';
import { vonageDouble } from './vonage-double.js';

export const DOUBLES: readonly VendorDouble[] = [
  twilioDouble,
  vonageDouble,
  infobipDouble,
  africasTalkingDouble,
  orangeDouble,
  smsgateDouble,
  httpsmsDouble,
  textbeeDouble,
  kannelDouble,
  jasminDouble,
  mtnDouble,
  genericDouble,
];

export const CALLBACK_SECRET = 'a-secret-path-segment';

/** No jitter. */
class EvenIds extends UuidGenerator {
  override random(): number {
    return 0;
  }
}

export function anSms(over: Partial<OutgoingSms> = {}): OutgoingSms {
  return {
    smsId: 'sms-1',
    position: 0,
    signature: 'ALERTE',
    number: '22670000001',
    text: 'Bonjour',
    attempt: 1,
    ...over,
  };
}

export type FixtureOptions = Partial<Omit<HttpSmsOptions, 'vendor'>> & {
  readonly tlsServer?: ServerOptions;
  readonly stranger?: boolean;
  readonly clock?: FakeClock;
};

/** A vendor's double on loopback, and our transport that talks to it, on a fake clock. */
export class GatewayFixture {
  /** The early reports of SMS: position and kind. */
  readonly reported: string[] = [];
  readonly sink = new RecordingSink();
  readonly stopping = new AbortController();

  private constructor(
    readonly station: GatewayStation,
    readonly transport: HttpSmsTransport,
    readonly clock: FakeClock,
  ) {}

  static async open(
    double: VendorDouble,
    { tlsServer, stranger, clock = new FakeClock(), ...options }: FixtureOptions = {},
  ): Promise<GatewayFixture> {
    const station = await GatewayStation.open(double, tlsServer);
    const vendor = stranger ? double.strangersVendor(station.server.url) : double.vendor(station.server.url);
    const transport = new HttpSmsTransport({ vendor, ...options }, clock, new EvenIds());
    await transport.start();
    return new GatewayFixture(station, transport, clock);
  }

  submit(...batch: readonly OutgoingSms[]): Promise<readonly SubmitResult[]> {
    const report: ReportResult = (sms, { kind }) => this.reported.push(`${sms.position} ${kind}`);
    return this.transport.submit(batch.length > 0 ? batch : [anSms()], this.stopping.signal, report);
  }

  get double(): VendorDouble {
    return this.station.double;
  }

  get server(): GatewayServer {
    return this.station.server;
  }

  get taken(): GatewayStation['taken'] {
    return this.station.taken;
  }

  get complaints(): readonly string[] {
    return this.station.complaints;
  }

  /** The requests that carried an SMS. */
  get asked(): number {
    return this.station.asked;
  }

  /** The vendor calls us at `url`; `secret` is the last segment of the path. */
  call(call: DoubleCall, url: string, over: Partial<CarrierCallback> = {}, sink: SmsSink = this.sink) {
    const handler = this.transport.callbacks.get(this.transport.name);
    if (!handler) throw new Error('Nobody answers callbacks.');
    const query = call.query ? `?${call.query}` : '';
    const secret = url.endsWith(`/${CALLBACK_SECRET}`) ? CALLBACK_SECRET : undefined;
    const body = Buffer.from(call.body, 'utf8');
    return handler(
      { method: call.method ?? 'POST', url: `${url}${query}`, headers: call.headers, body, secret, ...over },
      sink,
    );
  }

  async close(): Promise<void> {
    const stopped = this.transport.stop();
    await this.station.close();
    await stopped;
  }
}
