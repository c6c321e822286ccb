import type { ServerOptions } from 'node:https';
import { UuidGenerator } from '../../../src/common/ids.js';
import type { CarrierCallback, OutgoingSms, SubmitResult } from '../../../src/sms/sms-transport.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import type { HttpSmsOptions } from '../../../src/transports/http/http-sms-options.js';
import { HttpSmsTransport } from '../../../src/transports/http/http-sms-transport.js';
import { africasTalkingDouble } from './africas-talking-double.js';
import { type GatewayAnswer, type GatewayRequest, GatewayServer } from './gateway-server.js';
import { genericDouble } from './generic-double.js';
import { infobipDouble } from './infobip-double.js';
import { orangeDouble } from './orange-double.js';
import { RecordingSink } from './recording-sink.js';
import { twilioDouble } from './twilio-double.js';
import type { DoubleCall, ReadSms, VendorDouble } from './vendor-double.js';
import { vonageDouble } from './vonage-double.js';

export const DOUBLES: readonly VendorDouble[] = [
  twilioDouble,
  vonageDouble,
  infobipDouble,
  africasTalkingDouble,
  orangeDouble,
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

export type WorldOptions = Partial<Omit<HttpSmsOptions, 'vendor'>> & {
  readonly tlsServer?: ServerOptions;
  readonly stranger?: boolean;
};

/** A vendor's double on loopback and our transport that speaks to it, on a clock that tests turn. */
export class GatewayWorld {
  readonly sink = new RecordingSink();
  readonly stopping = new AbortController();
  /** What the double took, and the ids it gave. */
  readonly taken: (ReadSms & { ids: readonly string[]; segments?: number })[] = [];
  /** What the double found wrong with a request. */
  readonly complaints: string[] = [];

  private constructor(
    readonly double: VendorDouble,
    readonly server: GatewayServer,
    readonly transport: HttpSmsTransport,
    readonly clock: FakeClock,
  ) {}

  static async open(
    double: VendorDouble,
    { tlsServer, stranger, ...options }: WorldOptions = {},
  ): Promise<GatewayWorld> {
    let world: GatewayWorld | undefined;
    const answer = (request: GatewayRequest): GatewayAnswer => {
      if (request.path === double.token?.path) return double.token.answer(request);
      const sms = double.read(request);
      if (typeof sms === 'string') {
        world?.complaints.push(sms);
        return double.unauthorized;
      }
      const { answer, ...rest } = double.take(sms);
      world?.taken.push({ ...sms, ...rest });
      return answer;
    };
    const server = await GatewayServer.open(answer, {
      ...(tlsServer ? { tls: tlsServer } : {}),
      ...(double.token ? { unscripted: double.token.path } : {}),
    });
    const clock = new FakeClock();
    const vendor = stranger ? double.strangersVendor(server.url) : double.vendor(server.url);
    const transport = new HttpSmsTransport({ vendor, ...options }, clock, new EvenIds());
    world = new GatewayWorld(double, server, transport, clock);
    await transport.start();
    return world;
  }

  submit(...batch: readonly OutgoingSms[]): Promise<readonly SubmitResult[]> {
    return this.transport.submit(batch.length > 0 ? batch : [anSms()], this.stopping.signal);
  }

  /** The requests that carried an SMS. */
  get asked(): number {
    return this.server.requests.filter(({ path }) => path !== this.double.token?.path).length;
  }

  /** The vendor calls us at `url`; `secret` is the last segment of the path. */
  call(call: DoubleCall, url: string, over: Partial<CarrierCallback> = {}) {
    const handler = this.transport.callbacks.get(this.transport.name);
    if (!handler) throw new Error('Nobody answers callbacks.');
    const query = call.query ? `?${call.query}` : '';
    const secret = url.endsWith(`/${CALLBACK_SECRET}`) ? CALLBACK_SECRET : undefined;
    const body = Buffer.from(call.body, 'utf8');
    return handler({ method: 'POST', url: `${url}${query}`, headers: call.headers, body, secret, ...over }, this.sink);
  }

  async close(): Promise<void> {
    const stopped = this.transport.stop();
    await this.server.close();
    await stopped;
  }
}
