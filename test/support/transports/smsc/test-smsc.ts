import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import type { BindPdu, SubmitSmPdu } from '../../../../src/transports/smpp/pdu/pdu.js';
import { until } from '../../common/until.js';
import { SmscConnection, type SmscHost } from './smsc-connection.js';
import { SmscSubmit } from './smsc-submit.js';

export interface TestSmscOptions {
  /** Passwords by system_id. Default: `client` with `secret`. */
  readonly accounts?: Readonly<Record<string, string>>;
  /** Default: any free one. */
  readonly port?: number;
  readonly tls?: TlsOptions;
  /** Default: every submit is answered with its id in decimal, at once. */
  readonly onSubmit?: (submit: SmscSubmit) => void;
  /** The status of a bind's answer; undefined: none. Default: by the accounts. */
  readonly onBind?: (bind: BindPdu) => number | undefined;
}

/** A scripted SMPP 3.4 SMSC on the loopback. Without a script it behaves like a correct SMSC. */
export class TestSmsc implements SmscHost {
  readonly systemId = 'test-smsc';
  /** Every client that came, oldest first, including those that left. */
  readonly connections: SmscConnection[] = [];
  /** Every submit that came, oldest first, over all connections. */
  readonly submits: SmscSubmit[] = [];
  /** What happens to a submit. May be changed at any time. */
  onSubmit: (submit: SmscSubmit) => void;
  onBind: (bind: BindPdu) => number | undefined;
  private nextId = 0x33e95179n;

  static async listen(options: TestSmscOptions = {}): Promise<TestSmsc> {
    const smsc = new TestSmsc(options);
    smsc.server.listen(options.port ?? 0, '127.0.0.1');
    await once(smsc.server, 'listening');
    return smsc;
  }

  private readonly server: Server;

  private constructor({ accounts = { client: 'secret' }, tls, onSubmit, onBind }: TestSmscOptions) {
    const welcome = (socket: Socket) => this.connections.push(new SmscConnection(socket, this));
    this.server = tls ? createTlsServer(tls, welcome) : createServer(welcome);
    this.onSubmit = onSubmit ?? ((submit) => submit.answer());
    this.onBind = onBind ?? ((bind) => statusOf(bind, accounts));
  }

  get port(): number {
    const address = this.server.address();
    if (address === null || typeof address === 'string') throw new Error('The SMSC does not listen.');
    return address.port;
  }

  /** The newest open connection. */
  get connection(): SmscConnection {
    const newest = this.connections.findLast((each) => !each.closed);
    if (newest === undefined) throw new Error('Nobody is connected.');
    return newest;
  }

  /** Resolves when `count` submits have arrived in total. */
  async submitted(count: number): Promise<readonly SmscSubmit[]> {
    await until(() => this.submits.length >= count);
    return this.submits;
  }

  bind(bind: BindPdu): number | undefined {
    return this.onBind(bind);
  }

  submit(pdu: SubmitSmPdu, connection: SmscConnection): void {
    const submit = new SmscSubmit(connection, pdu, this.submits.length, this.nextId++);
    this.submits.push(submit);
    this.onSubmit(submit);
  }

  /** Cuts every connection and stops listening. */
  async close(): Promise<void> {
    for (const connection of this.connections) connection.drop();
    if (!this.server.listening) return;
    this.server.close();
    await once(this.server, 'close');
  }
}

function statusOf({ systemId, password }: BindPdu, accounts: Readonly<Record<string, string>>): number {
  const expected = accounts[systemId];
  if (expected === undefined) return 0x0f;
  return expected === password ? 0 : 0x0e;
}
