import { beforeAll } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { UuidGenerator } from '../../../../src/common/ids.js';
import { encodeUcs2 } from '../../../../src/sms/segmentation.js';
import { FakeClock } from '../../../../src/testing/fake-clock.js';
import { type DoubleOutcome, describeSmsTransport, type SmsTransportHarness } from '../../../../src/testing/index.js';
import { PLAIN_SHORT_MESSAGE } from '../../../../src/transports/smpp/pdu/pdu.js';
import type { SmppLinkOptions } from '../../../../src/transports/smpp/smpp-options.js';
import { SmppSmsTransport } from '../../../../src/transports/smpp/smpp-sms-transport.js';
import { until } from '../../../support/common/until.js';
import { receivedTexts } from '../../../support/transports/smsc/received-texts.js';
import type { SmscSubmit } from '../../../support/transports/smsc/smsc-submit.js';
import { TestSmsc } from '../../../support/transports/smsc/test-smsc.js';

beforeAll(() => Logger.overrideLogger(false));

/** The fifth digit of a number is its outcome. */
const OUTCOMES: readonly DoubleOutcome[] = ['taken', 'refused', 'busy', 'lost'];

async function open(link: Partial<SmppLinkOptions>, resendUnknown: boolean): Promise<SmsTransportHarness> {
  const smsc = await TestSmsc.listen();
  const taken: SmscSubmit[] = [];
  smsc.onSubmit = (submit) => {
    const outcome = OUTCOMES[Number(submit.pdu.destination.address[4])];
    if (outcome === 'refused') submit.answer({ status: 0x0b });
    if (outcome === 'busy') submit.answer({ status: 0x08 });
    if (outcome === 'taken' || outcome === 'lost') taken.push(submit);
    if (outcome === 'taken') submit.answer();
    if (outcome === 'lost') submit.connection.drop();
  };
  const clock = new FakeClock();
  const account = { host: '127.0.0.1', port: smsc.port, systemId: 'client', password: 'secret' };
  const options = { resendUnknown, links: [{ ...account, ...link }] };
  const to = (number: string) => taken.filter(({ pdu }) => pdu.destination.address === number);
  return {
    transport: new SmppSmsTransport(options, clock, new UuidGenerator()),
    number: (outcome, index) => {
      // A transport that submits an SMS in doubt again cannot also leave it in doubt.
      if (outcome === 'lost' && resendUnknown) return undefined;
      return `2267${OUTCOMES.indexOf(outcome)}${String(index).padStart(6, '0')}`;
    },
    received: (number) => {
      const submits = to(number);
      const signature = submits[0]?.pdu.source.address ?? '';
      const texts = receivedTexts(submits, link.defaultAlphabet === undefined ? 'gsm' : 'latin1');
      return texts.map((text) => ({ signature, text }));
    },
    report: async (number, status) => {
      const state = status === 'delivered' ? 'DELIVRD' : 'UNDELIV';
      const answers = await Promise.all(to(number).map((submit) => submit.receipt({ state })));
      return answers.every((answer) => answer === 0);
    },
    say: async (from, number, text) => {
      const source = { ton: 1, npi: 1, address: from };
      const destination = { ton: 3, npi: 0, address: number };
      const shortMessage = encodeUcs2(text);
      await until(() => smsc.connections.some(({ bind }) => bind !== undefined));
      const answer = await smsc.connection.deliver({
        ...PLAIN_SHORT_MESSAGE,
        source,
        destination,
        dataCoding: 8,
        shortMessage,
      });
      return answer.status === 0;
    },
    pass: () => clock.advance(5),
    close: () => smsc.close(),
  };
}

const LINKS: Readonly<Record<string, Partial<SmppLinkOptions>>> = {
  'as it is': {},
  'with 16-bit references': { longMessages: 'udh16' },
  'with sar parameters': { longMessages: 'sar' },
  'with message_payload': { longMessages: 'payload' },
  'to a carrier of Latin-1': { defaultAlphabet: 'latin1', dataCoding: 3 },
  'to a carrier of ASCII': { defaultAlphabet: 'ascii' },
  'one at a time': { window: 1 },
};

for (const [name, link] of Object.entries(LINKS)) {
  describeSmsTransport(`the SMPP transport ${name}`, () => open(link, false));
}
describeSmsTransport('the SMPP transport that resends', () => open({}, true), undefined, ['lost']);
