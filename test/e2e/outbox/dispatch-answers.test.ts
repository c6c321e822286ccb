import { afterEach, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { SubmitResult } from '../../../src/sms/sms-transport.js';
import { eventually } from '../../support/common/eventually.js';
import { describeOnOneAdapter } from '../../support/http/http-apps.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { startService } from '../../support/mounting/services.js';
import { RecordingTransport } from '../../support/outbox/recording-transport.js';

afterEach(() => Logger.overrideLogger(false));

describeOnOneAdapter('a carrier of the host', (adapter) => {
  test.each<[string, () => unknown, RegExp]>([
    ['no list', () => undefined, /^The transport recording answered no list/],
    ['an empty list', () => [], /^The transport recording answered 0 results for 2: it must answer one for each/],
    ['an unknown kind', () => [{ kind: 'sent' }, { kind: 'delivered' }], /^The transport .* kind "delivered"/],
    [
      'nothing and throws',
      () => JSON.parse('{'),
      /^Channel sms: the transport threw SyntaxError\.\n +at .*dispatch-answers/s,
    ],
  ])('that answers %s is reported once', async (_, answer, sentence) => {
    class Careless extends RecordingTransport {
      override async submit(): Promise<readonly SubmitResult[]> {
        return Reflect.apply(answer, undefined, []) as readonly SubmitResult[];
      }
    }
    const logged: string[] = [];
    const error = (message: unknown) => void logged.push(String(message));
    const service = await startService(
      adapter,
      { sms: { ...OPTIONS.sms, transport: { useValue: new Careless() } } },
      { options: { logger: { log() {}, warn() {}, error } } },
    );
    const client = await service.client();
    const { smsID } = await client.sent({ signature: 'INFOS', content: 'x', number: ['22670000000', '22670000001'] });
    const { recipients } = await eventually(
      () => client.details(smsID),
      ({ recipients }) => recipients[1]?.status === 'unknown',
    );
    expect(recipients[1]?.error).toMatch(/^(no_answer|bad_answer|transport_error)$/);
    expect(logged).toEqual([expect.stringMatching(sentence)]);
    expect(logged[0]).not.toContain('2267000');
    await service.close();
  });
});
