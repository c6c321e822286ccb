import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { MsgappService } from '../../../src/msgapp/msgapp-service.js';
import { OtpService } from '../../../src/otp/otp-service.js';
import { SmsService } from '../../../src/sms/sms-service.js';
import { describeOnOneAdapter } from '../../support/http/http-apps.js';
import { balanceOf } from '../../support/http/sms-client.js';
import { type MessagingApp, startMessaging } from '../../support/mounting/messaging-app.js';
import { MSGAPP } from '../../support/msgapp/msgapp-app.js';
import { PEPPER } from '../../support/otp/otp-app.js';

const NUMBER = '22670000000';
const SMS = { signature: 'INFOS', content: 'x', number: [NUMBER] };
const OTP = { service: 's', number: NUMBER };
const TEXT = { to: NUMBER, body: 'x' };
const FILE = { to: NUMBER, mediaUrl: 'https://files.example/photo' };

/** Every way to send from a host's own code: service, method, and the content. */
const DOORS = [
  [SmsService, 'send', SMS],
  [SmsService, 'accept', SMS],
  [OtpService, 'send', OTP],
  [OtpService, 'accept', OTP],
  [MsgappService, 'sendText', TEXT],
  [MsgappService, 'acceptText', TEXT],
  [MsgappService, 'sendMedia', FILE],
  [MsgappService, 'acceptMedia', FILE],
] as const;

/** Unchecked, as in JavaScript. */
function sendFrom(
  app: MessagingApp,
  [service, method, what]: (typeof DOORS)[number],
  options: object,
): Promise<unknown> {
  const target: object = app.app.get<object>(service, { strict: false });
  return Reflect.apply(Reflect.get(target, method), target, [app.accountId, what, options]);
}

describeOnOneAdapter('unknown options of a send', (adapter) => {
  let app: MessagingApp;
  const send = (door: (typeof DOORS)[number], options: object) => sendFrom(app, door, options);

  beforeEach(async () => {
    app = await startMessaging(adapter, { otp: { pepper: PEPPER }, msgapp: MSGAPP }, { units: 10 });
  });
  afterEach(() => app.close());

  test('are refused by every method, because a misspelled transaction manager would put the send outside the transaction', async () => {
    for (const door of DOORS) {
      const sent = send(door, { manager: {} });
      await expect(sent).rejects.toThrow(TypeError);
      await expect(sent).rejects.toThrow(/manager of a send is not known.* once, host.*\{ host: \{ manager \} \}/);
    }
    expect(await balanceOf(app)).toBe(10);
  });

  test('are refused by name', async () => {
    await expect(send(DOORS[0], { idempotencyKey: 'a' })).rejects.toThrow(
      /^Option idempotencyKey of a send is not known; the known options are once, host, signal, key\.$/,
    );
  });

  test('count as left out if they are undefined', async () => {
    expect(await send(DOORS[0], { manager: undefined, once: undefined })).toMatchObject({ sms_units: 1 });
    expect(await balanceOf(app)).toBe(9);
  });
});
