import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { SystemClock } from 'nestjs-messaging';
import { median } from '../versus.js';

/** The submits a second through one bind, and through a loop that only knows where a PDU begins. */
export interface SmppRates {
  readonly bind: number;
  readonly bareLoop: number;
  /** The median of the ratios of each round. */
  readonly ratio: number;
}

const MESSAGE = {
  serviceType: '',
  source: { ton: 5, npi: 0, address: 'ACME' },
  destination: { ton: 1, npi: 1, address: '22670000001' },
  esmClass: 0,
  protocolId: 0,
  priorityFlag: 0,
  scheduleDeliveryTime: '',
  validityPeriod: '',
  registeredDelivery: 1,
  replaceIfPresentFlag: 0,
  dataCoding: 0,
  smDefaultMsgId: 0,
  shortMessage: Buffer.from('Your code is 123456. It is good for five minutes; give it to nobody.'),
  tlvs: [],
};

/**
 * Measures submits to a sink in a process of its own that accepts everything. One window of submits is always in
 * flight.
 */
export async function benchSmpp(rounds: number, window: number, submits: number): Promise<SmppRates> {
  const sink = await startSink();
  const rates: { bind: number; bareLoop: number }[] = [];
  for (let round = 0; round <= rounds; round++) {
    const bareLoop = await viaBareLoop(sink.port, window, submits);
    const bind = await viaBind(sink.port, window, submits);
    if (round > 0) rates.push({ bind, bareLoop }); // round 0 warms up
  }
  sink.process.disconnect();
  return {
    bind: median(rates.map((rate) => rate.bind)),
    bareLoop: median(rates.map((rate) => rate.bareLoop)),
    ratio: median(rates.map((rate) => rate.bind / rate.bareLoop)),
  };
}

/** An SMSC in a process of its own that accepts everything. */
export interface Sink {
  readonly process: ChildProcess;
  readonly port: number;
  /** How many submits it has answered so far. */
  submits(): Promise<number>;
}

/** @param port Default: any free one */
export async function startSink(port = 0, host = '127.0.0.1'): Promise<Sink> {
  const child = fork(fileURLToPath(new URL('./smpp-sink.js', import.meta.url)), [String(port), host]);
  const [listening] = await once(child, 'message');
  const submits = async () => {
    child.send('submits');
    const [count] = await once(child, 'message');
    return Number(count);
  };
  return { process: child, port: listening, submits };
}

/** The part of a bind that the bench uses. The class is internal, so it is loaded from the build by its path. */
interface Bind {
  submit(message: typeof MESSAGE): Promise<{ readonly kind: string; readonly status?: number }>;
  close(): Promise<unknown>;
}

async function openBind(port: number, window: number): Promise<Bind> {
  const built = (name: string) =>
    import(new URL(`../../../build/src/transports/smpp/bind/${name}.js`, import.meta.url).href);
  const [{ SmppBind }, { SMPP_BIND_DEFAULTS }] = await Promise.all([built('smpp-bind'), built('bind-settings')]);
  const settings = { ...SMPP_BIND_DEFAULTS, host: '127.0.0.1', port, systemId: 'bench', password: 'bench', window };
  return SmppBind.open(settings, { deliver: async () => {} }, new SystemClock());
}

async function viaBind(port: number, window: number, submits: number): Promise<number> {
  const bind = await openBind(port, window);
  let left = submits;
  const begun = performance.now();
  const sender = async () => {
    while (left-- > 0) {
      const { kind, status } = await bind.submit(MESSAGE);
      if (kind !== 'answered' || status !== 0) throw new Error(`A submit came to ${kind}.`);
    }
  };
  await Promise.all(Array.from({ length: window }, sender));
  const rate = (submits * 1000) / (performance.now() - begun);
  await bind.close();
  return rate;
}

/** Writes the same octets from a prepared copy, and only counts the answers. */
async function viaBareLoop(port: number, window: number, submits: number): Promise<number> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true });
  await once(socket, 'connect');
  const pdu = prebuilt();
  const many = Buffer.concat(Array.from({ length: window }, () => pdu));
  const answerLength = 27;
  let written = 0;
  let heard = 0;
  const begun = performance.now();
  await new Promise<void>((done) => {
    const write = (count: number) => {
      for (let index = 0; index < count; index++) many.writeUInt32BE(++written, index * pdu.length + 12);
      socket.write(Buffer.from(many.subarray(0, count * pdu.length)));
    };
    socket.on('data', (chunk) => {
      heard += chunk.length;
      const answered = Math.floor(heard / answerLength);
      if (answered >= submits) done();
      else write(Math.min(window - (written - answered), submits - written));
    });
    write(window);
  });
  const rate = (submits * 1000) / (performance.now() - begun);
  socket.destroy();
  return rate;
}

/** {@link MESSAGE} as octets. */
function prebuilt(): Buffer {
  const { source, destination, shortMessage } = MESSAGE;
  const pdu = Buffer.concat([
    Buffer.from('00000000000000040000000000000000', 'hex'),
    Buffer.from([0, source.ton, source.npi]),
    Buffer.from(`${source.address}\0`),
    Buffer.from([destination.ton, destination.npi]),
    Buffer.from(`${destination.address}\0`),
    Buffer.from([0, 0, 0, 0, 0, 1, 0, 0, 0, shortMessage.length]),
    shortMessage,
  ]);
  pdu.writeUInt32BE(pdu.length);
  return pdu;
}
