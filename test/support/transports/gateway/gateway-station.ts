import type { ServerOptions } from 'node:https';
import { type GatewayAnswer, type GatewayRequest, GatewayServer, type Trouble } from './gateway-server.js';
import type { ReadSms, VendorDouble } from './vendor-double.js';

/** An SMS that a double took, and the ids it gave. */
export interface TakenSms extends ReadSms {
  readonly ids: readonly string[];
  readonly segments?: number;
}

/** A vendor's double that listens on loopback. */
export class GatewayStation {
  readonly taken: TakenSms[] = [];
  /** The faults that it found in requests. */
  readonly complaints: string[] = [];
  /**
   * What the double does with an SMS to a number instead of answering. If it breaks the connection, it has taken the
   * SMS.
   */
  fateOf: (number: string) => GatewayAnswer | Trouble | undefined = () => undefined;

  private constructor(
    readonly double: VendorDouble,
    readonly server: GatewayServer,
  ) {}

  static async open(double: VendorDouble, tls?: ServerOptions): Promise<GatewayStation> {
    let station: GatewayStation | undefined;
    const server = await GatewayServer.open((request) => station?.answer(request) ?? double.unauthorized, {
      ...(tls ? { tls } : {}),
      ...(double.token ? { unscripted: double.token.path } : {}),
    });
    station = new GatewayStation(double, server);
    return station;
  }

  /** The requests that carried an SMS. */
  get asked(): number {
    return this.server.requests.filter(({ path }) => path !== this.double.token?.path).length;
  }

  close(): Promise<void> {
    return this.server.close();
  }

  private answer(request: GatewayRequest): GatewayAnswer | Trouble {
    const { double } = this;
    if (request.path === double.token?.path) return double.token.answer(request);
    const sms = double.read(request);
    if (typeof sms === 'string') {
      this.complaints.push(sms);
      return double.unauthorized;
    }
    const fate = this.fateOf(sms.to);
    if (typeof fate === 'object') return fate;
    const { answer, ...rest } = double.take(sms);
    this.taken.push({ ...sms, ...rest });
    return fate ?? answer;
  }
}
