import { beforeAll, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { closeAfterEach } from '../../../support/common/opened.js';
import { CALLBACK_SECRET, DOUBLES, GatewayFixture } from '../../../support/transports/gateway/gateway-fixture.js';

const opened = closeAfterEach();

beforeAll(() => Logger.overrideLogger(false));

const secret = { callbackUrl: 'https://sms.example.org/cb', callbackSecret: CALLBACK_SECRET };
const at = `https://sms.example.org/cb/${CALLBACK_SECRET}`;

async function answered(name: string, status: number, body: object) {
  const double = DOUBLES.find((each) => each.name === name);
  if (!double) throw new Error(`no ${name}`);
  const fixture = opened(await GatewayFixture.open(double));
  fixture.server.next({ status, body: JSON.stringify(body) });
  return (await fixture.submit())[0];
}

describe("answers of Africa's Talking", () => {
  const recipient = (fields: object) => ({
    SMSMessageData: { Message: 'Sent to 1/1', Recipients: [{ number: '+226', ...fields }] },
  });
  const sent = { kind: 'sent', carrierIds: ['ATXid_1'] };
  const refused = (error: string) => ({ kind: 'refused', error });
  const retry = (error: string) => ({ kind: 'retry', error });
  const unknown = { kind: 'unknown', error: 'malformed_answer' };

  test.each<[object, object]>([
    // Old answers have words and no code.
    [{ status: 'Success', messageId: 'ATXid_1' }, sent],
    [{ status: 'Sent', messageId: 'ATXid_1' }, sent],
    [{ status: 'Queued', messageId: 'ATXid_1' }, sent],
    [{ status: 'processed', messageId: 'ATXid_1' }, sent],
    [{ status: 'Could Not Send', messageId: 'None' }, refused('CouldNotSend')],
    [{ status: 'Could Not Send' }, refused('CouldNotSend')],
    [{ status: 'CouldNotSend', messageId: 'ATXid_1' }, refused('CouldNotSend')],
    [{ status: 'Failed', messageId: 'None' }, refused('Failed')],
    [{ status: 'Rejected', messageId: 'ATXid_1' }, refused('Rejected')],
    [{ status: 'Invalid Phone Number', messageId: 'None' }, refused('403')],
    [{ status: 'InvalidPhoneNumber', messageId: 'None' }, refused('403')],
    [{ status: 'UserInBlacklist', messageId: 'None' }, refused('406')],
    [{ status: 'User In BlackList', messageId: 'None' }, refused('406')],
    [{ status: 'DoNotDisturbRejection' }, refused('409')],
    [{ status: 'Insufficient Balance', messageId: 'None' }, retry('405')],
    [{ status: 'InternalServerError' }, retry('500')],
    [{ status: 'Gateway Error' }, retry('501')],
    [{ status: 'Not Network Subscriber', messageId: 'None' }, refused('NotNetworkSubscriber')],
    // An unknown word: the id decides.
    [{ status: 'Brand new', messageId: 'ATXid_1' }, sent],
    [{ status: 'Brand new' }, unknown],
    [{ messageId: 'None' }, unknown],
    [{}, unknown],
    // Numbers and texts of today's answers. The code takes precedence over the word.
    [{ statusCode: 101, status: 'Success', messageId: 'ATXid_1' }, sent],
    [{ statusCode: '102', status: 'Queued', messageId: 'ATXid_1' }, sent],
    [{ statusCode: 403, status: 'Success', messageId: 'None' }, refused('403')],
    [{ statusCode: '405', status: 'x', messageId: 'None' }, retry('405')],
    // The answer says "accepted" but has no id, so a receipt could never be matched.
    [{ statusCode: 101, status: 'Success', messageId: 'None' }, unknown],
  ])('%j', async (fields, result) => {
    expect(await answered('africastalking', 201, recipient(fields))).toEqual(result);
  });

  test.each<[string, object]>([
    ['Insufficient Balance', retry('InsufficientBalance')],
    ['InsufficientBalance', retry('InsufficientBalance')],
    ['Invalid Sender Id', refused('InvalidSenderId')],
    ['Sent to 0/1 Total Cost: 0', refused('none_sent')],
    ['Sent to 1/1 Total Cost: XOF 12', unknown],
    ['The request is missing a parameter', unknown],
  ])('without a recipient: %s', async (Message, result) => {
    expect(await answered('africastalking', 201, { SMSMessageData: { Message, Recipients: [] } })).toEqual(result);
  });

  test.each([
    ['Success', 'delivered'],
    ['success', 'delivered'],
    ['Failed', 'undelivered'],
    ['FAILED', 'undelivered'],
    ['Absent Subscriber', 'undelivered'],
    ['Rejected', 'undelivered'],
    ['Sent', undefined],
    ['Submitted', undefined],
    ['Buffered', undefined],
  ])('a receipt with the state %s', async (state, status) => {
    const double = DOUBLES.find(({ name }) => name === 'africastalking');
    if (!double) throw new Error('no double');
    const fixture = opened(await GatewayFixture.open(double, secret));
    const body = new URLSearchParams({ id: 'ATXid_1', phoneNumber: '+22670000001', status: state }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await fixture.call({ headers, body }, at)).status).toBe(200);
    expect(fixture.sink.received.map((receipt) => receipt.status)).toEqual(status === undefined ? [] : [status]);
  });
});

describe('answers of other vendors in which a word replaces a number', () => {
  test.each<[string, number, object, object]>([
    [
      'vonage',
      200,
      { messages: [{ status: 0, 'message-id': 'A1' }] },
      { kind: 'sent', carrierIds: ['A1'], segments: 1 },
    ],
    ['vonage', 200, { messages: [{ status: 7 }] }, { kind: 'refused', error: '7' }],
    ['vonage', 200, { messages: [{ status: '9' }] }, { kind: 'retry', error: '9' }],
    [
      'infobip',
      200,
      { messages: [{ messageId: 'i1', status: { groupName: 'PENDING' } }] },
      { kind: 'sent', carrierIds: ['i1'] },
    ],
    [
      'infobip',
      200,
      { messages: [{ messageId: 'i1', status: { groupId: '1' } }] },
      { kind: 'sent', carrierIds: ['i1'] },
    ],
    [
      'infobip',
      200,
      { messages: [{ messageId: 'i1', status: { groupName: 'Rejected', name: 'REJECTED_NETWORK' } }] },
      { kind: 'refused', error: 'REJECTED_NETWORK' },
    ],
    ['twilio', 201, { sid: 'SM1', status: 'queued', error_code: null }, { kind: 'sent', carrierIds: ['SM1'] }],
    ['twilio', 201, { sid: 'SM1', status: 'failed', error_code: 30008 }, { kind: 'refused', error: '30008' }],
    ['twilio', 201, { sid: 'SM1', status: 'canceled', error_code: null }, { kind: 'refused', error: 'canceled' }],
    ['twilio', 400, { code: 21211, status: 400, message: 'x' }, { kind: 'refused', error: '21211' }],
    ['twilio', 429, { code: '20429', status: 429 }, { kind: 'retry', error: '20429' }],
  ])('%s %i %j', async (name, status, body, result) => {
    expect(await answered(name, status, body)).toEqual(result);
  });

  test('a receipt of Infobip that names its group in words', async () => {
    const double = DOUBLES.find(({ name }) => name === 'infobip');
    if (!double) throw new Error('no double');
    const fixture = opened(await GatewayFixture.open(double, secret));
    const results = [
      { messageId: 'a', status: { groupName: 'DELIVERED' } },
      { messageId: 'b', status: { groupName: 'REJECTED', name: 'REJECTED_NETWORK' } },
      { messageId: 'c', status: { groupName: 'PENDING' } },
    ];
    await fixture.call({ headers: { 'content-type': 'application/json' }, body: JSON.stringify({ results }) }, at);
    expect(fixture.sink.received.map(({ status }) => status)).toEqual(['delivered', 'failed']);
  });
});
