import { createHash } from 'node:crypto';
import type { LinkListener, LinkOrder } from '../../../../src/msgapp/msgapp-transport.js';
import { FakeClock } from '../../../../src/testing/fake-clock.js';
import { WhatsappCloudMsgappTransport } from '../../../../src/transports/whatsapp-cloud/cloud-msgapp-transport.js';
import type { MsgappTransportHarness, WrittenMsgapp } from '../../../contract/msgapp/msgapp-contract.js';
import { CLOUD_APP, CLOUD_GIVEN, CLOUD_NUMBER, type GraphCall, GraphDouble, NOT_ON_APP } from './graph-double.js';
import { metaBody, metaSignature } from './meta-webhook.js';

const FRIEND = '22670000002';

const NUMBERS = new Map([
  ['taken', FRIEND],
  ['refused', NOT_ON_APP],
]);

/** The id of a person who has no number. */
const HIDDEN = 'BR.1502576394655843';

/** Gives the messages of Meta's calls to the latest connection, as the service gives them to the session. */
class ListenedTransport extends WhatsappCloudMsgappTransport {
  listener: LinkListener = async () => undefined;

  override open(order: LinkOrder, listener: LinkListener) {
    this.listener = listener;
    return super.open(order, listener);
  }

  async call(value: object): Promise<void> {
    const text = JSON.stringify(metaBody(value));
    const call = {
      method: 'POST',
      query: '',
      headers: { 'x-hub-signature-256': metaSignature(text) },
      body: Buffer.from(text),
    };
    await this.callbacks.get('cloud')?.(call, async ({ messages }) => {
      for (const { address, message } of messages) {
        if (address === CLOUD_NUMBER.phoneNumberId) await this.listener({ kind: 'message', message });
      }
    });
  }
}

/** Opens a transport of the Cloud API and the double of Meta. */
export async function openCloud(): Promise<MsgappTransportHarness> {
  const graph = await GraphDouble.open();
  const transport = new ListenedTransport({ ...CLOUD_APP, baseUrl: graph.baseUrl }, new FakeClock());
  const arrived = (number: string) => graph.messages.filter(({ json }) => recipientIn(json) === number);
  let ids = 0;
  return {
    transport,
    phone: '22670000001',
    credentials: CLOUD_GIVEN,
    scan: async () => undefined,
    number: (outcome) => NUMBERS.get(outcome),
    received: (number) => Promise.all((number === NOT_ON_APP ? [] : arrived(number)).map((call) => shown(graph, call))),
    write: async (from: string, { text, answers, file, again, hidden }: WrittenMsgapp) => {
      const last = arrived(from).at(-1);
      const id = `wamid.in.${again ? ids : ++ids}`;
      const sender = hidden ? { from_user_id: HIDDEN } : { from };
      const context = answers && last ? { context: { id: graph.idOf(last) } } : {};
      if (file) graph.received.set(String(ids), new Uint8Array(file));
      const content = file
        ? { type: 'document', document: { id: String(ids), mime_type: 'text/plain', filename: 'facture.txt' } }
        : { type: 'text', text: { body: text } };
      await transport.call({ messages: [{ id, timestamp: '1795000000', ...sender, ...context, ...content }] });
    },
    hidesNumbers: true,
    showsQuotes: true,
    close: () => graph.close(),
  };
}

/** The hidden person and the friend are one. */
function recipientIn(json: GraphCall['json']): unknown {
  return json?.recipient === HIDDEN ? FRIEND : json?.to;
}

async function shown(graph: GraphDouble, { json }: GraphCall) {
  const { text, document, audio, context } = Object(json);
  const quotes: string | undefined = context?.message_id;
  if (text) return { text: String(text.body), quotes };
  const { id, caption = '' } = document ?? audio;
  const bytes = new Uint8Array(await graph.fileOf(id).arrayBuffer());
  return { text: String(caption), sha256: createHash('sha256').update(bytes).digest('hex'), quotes };
}
