import { describe, expect, test } from '@jest/globals';
import { MessagingOptionsError } from '../../../../src/common/errors.js';
import {
  africasTalking,
  generic,
  HttpSmsTransport,
  httpsms,
  infobip,
  jasmin,
  kannel,
  mtn,
  orange,
  smsgate,
  textbee,
  twilio,
  vonage,
} from '../../../../src/transports/http/index.js';
import { lookupPrivate } from '../../../../src/transports/http/plain-hosts.js';
import { acme } from '../../../support/transports/gateway/generic-double.js';

const SID = `AC${'0'.repeat(32)}`;
const TOKEN = 'a-very-secret-token';

/** The error for options as a host may write them, typed or not. */
function sentenceOf(build: (options: never) => unknown, options: unknown): string {
  try {
    Reflect.apply(build, undefined, [options]);
  } catch (error) {
    if (error instanceof MessagingOptionsError) return error.message;
    throw error;
  }
  return 'taken';
}

const base = { vendor: acme('https://sms.example.org') };

describe('options of the transport', () => {
  test.each([
    [{}, 'taken'],
    [{ name: 'acme-two', concurrency: 1, requestMs: 100, waitMs: 0, repeat: 'at-least-once' }, 'taken'],
    [{ callbackUrl: 'https://x.example/cb', callbackSecret: 'a'.repeat(16) }, 'taken'],
    [{ concurency: 3 }, /http\.concurency is not known; the known options are .*concurrency/],
    [{ concurrency: 0 }, 'Option http.concurrency must be an integer from 1 to 256; got 0.'],
    [{ concurrency: '8' }, /http\.concurrency must be an integer/],
    [{ requestMs: 99 }, /http\.requestMs must be an integer from 100 to 60000/],
    [{ waitMs: Number.POSITIVE_INFINITY }, /http\.waitMs must be an integer/],
    [{ repeat: 'idempotent' }, 'Option http.repeat must be "at-most-once" or "at-least-once".'],
    [{ messageIds: 'hex-then-decimal' }, 'taken'],
    [{ messageIds: 'hex' }, 'Option http.messageIds must be "same" or "hex-then-decimal" or "decimal-then-hex".'],
    [{ name: 'Acme' }, /http\.name must be 1 to 40 lower-case/],
    [{ name: '../x' }, /http\.name must be/],
    [{ callbackSecret: 'short' }, /http\.callbackSecret must be 16 to 100/],
    [{ callbackSecret: 'a'.repeat(101) }, /http\.callbackSecret must be 16 to 100/],
    [
      { callbackUrl: 'https://x.example/cb' },
      'Option http.callbackSecret is missing: acme does not sign its callbacks.',
    ],
    [
      { vendor: httpsms({ apiKey: 'k', from: '22670990000', signingKey: 's' }), callbackUrl: 'https://x.example/cb' },
      'Option http.callbackSecret is missing: httpsms does not sign the content of its callbacks.',
    ],
    [{ callbackUrl: 'http://x.example/cb', callbackSecret: 'a'.repeat(16) }, /http\.callbackUrl must be an https:/],
    [{ tls: { ca: 'x', rejectUnauthorized: false } }, /http\.tls\.rejectUnauthorized is not known/],
    [{ vendor: undefined }, /http\.vendor must be a vendor/],
    [{ vendor: 'twilio' }, /http\.vendor must be a vendor/],
  ])('%j', (over, said) => {
    expect(sentenceOf(HttpSmsTransport.forRoot, { ...base, ...over })).toEqual(
      typeof said === 'string' ? said : expect.stringMatching(said),
    );
  });

  test.each([
    ['https://sms.example.org', true],
    ['https://sms.example.org/below', true],
    ['http://127.0.0.1:8080', true],
    ['http://localhost:8080', true],
    ['http://[::1]:8080', true],
    ['http://sms.example.org', false],
    ['http://127.0.0.1.example.org', false],
    ['http://127.evil.org', false],
    ['https://name:password@sms.example.org', false],
    ['https://sms.example.org?key=1', false],
    ['ftp://sms.example.org', false],
    ['sms.example.org', false],
  ])('baseUrl %s gives the error %p', (baseUrl, taken) => {
    const said = sentenceOf(HttpSmsTransport.forRoot, { vendor: acme(baseUrl) });
    expect(said).toEqual(taken ? 'taken' : expect.stringMatching(/^Option acme\.baseUrl must be /));
  });

  const HOSTS = ['kannel', '10.0.0.5', 'SMS.lan', 'sms_box.internal', 'fd00::5', '[fd00::6]', '192.168.1.20'];
  test.each([
    ['http://kannel:13013', true],
    ['http://KANNEL:13013', true],
    ['http://10.0.0.5', true],
    ['http://10.0.0.5:8080/below', true],
    // The same address in other spellings that URLs allow.
    ['http://0x0a.0.0.5', true],
    ['http://sms.lan', true],
    ['http://sms_box.internal', true],
    ['http://[fd00::5]:8080', true],
    ['http://[fd00:0::6]', true],
    ['https://sms.example.org', true],
    ['http://127.0.0.1:13013', true],
    ['http://10.0.0.6', false],
    ['http://kannel.example.org', false],
    ['http://kannel2', false],
    ['http://sms.example.org', false],
    ['http://name:password@kannel:13013', false],
    ['http://kannel:13013/?password=1', false],
    ['ftp://kannel', false],
  ])('with hosts named in allowHttp, baseUrl %s gives the error %p', (baseUrl, taken) => {
    const said = sentenceOf(HttpSmsTransport.forRoot, { vendor: acme(baseUrl), allowHttp: HOSTS });
    expect(said).toEqual(taken ? 'taken' : expect.stringMatching(/^Option acme\.baseUrl must be /));
  });

  test('a private host that is not named is refused by a sentence that names the option', () => {
    expect(sentenceOf(HttpSmsTransport.forRoot, { vendor: acme('http://kannel:13013') })).toBe(
      'Option acme.baseUrl must be an https:// URL (http:// only to this machine, and to private hosts that the option http.allowHttp names).',
    );
  });

  test('a gateway in the host’s own network may call back there', () => {
    const vendor = acme('http://kannel:13013');
    const callback = { callbackUrl: 'http://messaging:3000/sms/callbacks/acme', callbackSecret: 'a'.repeat(16) };
    expect(sentenceOf(HttpSmsTransport.forRoot, { vendor, allowHttp: ['kannel', 'messaging'], ...callback })).toBe(
      'taken',
    );
    expect(sentenceOf(HttpSmsTransport.forRoot, { vendor, allowHttp: ['kannel'], ...callback })).toMatch(
      /^Option http\.callbackUrl must be an https:\/\/ URL/,
    );
  });

  test.each([
    ['kannel', 'Option http.allowHttp must be a list of hosts; got "kannel".'],
    [['http://kannel'], /^Option http\.allowHttp\[0\] must be the name or the address of a host, without scheme/],
    [['kannel', 'kannel:13013'], /^Option http\.allowHttp\[1\] must be the name or the address/],
    [['kannel/sms'], /^Option http\.allowHttp\[0\] must be the name or the address/],
    [['*'], /^Option http\.allowHttp\[0\] must be the name or the address/],
    [[''], /^Option http\.allowHttp\[0\] must be the name or the address/],
    [[5], /^Option http\.allowHttp\[0\] must be the name or the address/],
    [['93.184.216.34'], 'Option http.allowHttp[0] must not be an address of the public Internet.'],
    [['0x5d.184.216.34'], 'Option http.allowHttp[0] must not be an address of the public Internet.'],
    [['2606:2800:220:1::1'], 'Option http.allowHttp[0] must not be an address of the public Internet.'],
    [['[2606:2800:220:1::1]'], 'Option http.allowHttp[0] must not be an address of the public Internet.'],
    [['::ffff:93.184.216.34'], 'Option http.allowHttp[0] must not be an address of the public Internet.'],
  ])('allowHttp %j is refused', (allowHttp, said) => {
    expect(sentenceOf(HttpSmsTransport.forRoot, { ...base, allowHttp })).toEqual(
      typeof said === 'string' ? said : expect.stringMatching(said),
    );
  });
});

describe('the look-up of a host that is reached without TLS', () => {
  const found = (host: string, all: boolean) =>
    new Promise((resolve) => lookupPrivate(host, { all }, (error, address) => resolve(error?.code ?? address)));

  // An IP address stands for what a name server answers, because whoever writes the options does not control the name
  // server.
  test.each([
    ['10.0.0.5', '10.0.0.5'],
    ['192.168.1.20', '192.168.1.20'],
    ['fd00::5', 'fd00::5'],
    ['100.64.0.1', '100.64.0.1'],
    ['93.184.216.34', 'public_address'],
    ['2606:2800:220:1::1', 'public_address'],
  ])('%s: %s', async (host, said) => {
    expect(await found(host, false)).toBe(said);
    expect(await found(host, true)).toEqual(
      said === 'public_address' ? said : [{ address: said, family: said.includes(':') ? 6 : 4 }],
    );
  });

  test('fails if the name does not exist', async () => {
    expect(await found('nobody.invalid', true)).toMatch(/^(ENOTFOUND|EAI_AGAIN)$/);
  });
});

describe('options of the vendors', () => {
  test.each([
    [twilio, { accountSid: SID, authToken: TOKEN }, 'taken'],
    [twilio, { accountSid: SID, authToken: TOKEN, apiKey: { sid: 'SK1', secret: 'x' } }, 'taken'],
    [twilio, { accountSid: 'AC1', authToken: TOKEN }, 'Option twilio.accountSid must be "AC" and 32 hex digits.'],
    [twilio, { accountSid: SID }, 'Option twilio.authToken must be a text.'],
    [twilio, { accountSid: SID, authToken: `${TOKEN}\n` }, 'Option twilio.authToken must be a text.'],
    [
      twilio,
      { accountSid: SID, authToken: TOKEN, apiKey: { sid: 'SK1' } },
      'Option twilio.apiKey.secret must be a text.',
    ],
    [twilio, { accountSid: SID, token: TOKEN }, /Option twilio\.token is not known/],
    [twilio, undefined, 'Option twilio must be an object.'],
    [vonage, { apiKey: 'k', apiSecret: 's' }, 'taken'],
    [vonage, { apiKey: 'k' }, 'Option vonage.apiSecret must be a text.'],
    [
      vonage,
      { apiKey: 'k', apiSecret: 's', signatureMethod: 'sha3' },
      /Option vonage\.signatureMethod must be "md5hash" or/,
    ],
    [vonage, { apiKey: 'k', apiSecret: 's', signatureSecret: '' }, 'Option vonage.signatureSecret must be a text.'],
    [infobip, { baseUrl: 'https://x.api.infobip.com', apiKey: 'k' }, 'taken'],
    [infobip, { baseUrl: 'https://x.api.infobip.com' }, 'Option infobip.apiKey must be a text.'],
    [africasTalking, { username: 'u', apiKey: 'k' }, 'taken'],
    [africasTalking, { apiKey: 'k' }, 'Option africastalking.username must be a text.'],
    [orange, { clientId: 'c', clientSecret: 's', senderNumber: '2260000' }, 'taken'],
    [
      orange,
      { clientId: 'c', clientSecret: 's', senderNumber: '+2260000' },
      /Option orange\.senderNumber must be 4 to 15 digits/,
    ],
    [smsgate, { username: 'u', password: 'p' }, 'taken'],
    [
      smsgate,
      { username: 'u', password: 'p', simNumber: 4 },
      /Option smsgate\.simNumber must be an integer from 1 to 3/,
    ],
    [smsgate, { username: 'u', password: 'p', local: true }, /Option smsgate\.baseUrl is missing/],
    [httpsms, { apiKey: 'k', from: '22670990000' }, 'taken'],
    [httpsms, { apiKey: 'k', from: '+22670990000' }, /Option httpsms\.from must be 3 to 15 digits/],
    [textbee, { apiKey: 'k', deviceId: 'd', from: '22670990000' }, 'taken'],
    [
      textbee,
      { apiKey: 'k', deviceId: '../x', from: '22670990000' },
      /Option textbee\.deviceId must be the id of a phone/,
    ],
    [kannel, { username: 'u', password: 'p', baseUrl: 'http://127.0.0.1' }, 'taken'],
    [
      kannel,
      { username: 'u', password: 'p', maxSegments: 0 },
      /Option kannel\.maxSegments must be an integer from 1 to 255/,
    ],
    [jasmin, { username: 'u', password: 'p', baseUrl: 'http://127.0.0.1' }, 'taken'],
    [jasmin, { username: 'u', password: 'p'.repeat(17) }, /Option jasmin\.password must be 1 to 16 characters/],
    [mtn, { clientId: 'c', clientSecret: 's' }, 'taken'],
    [mtn, { clientId: 'c' }, 'Option mtn.clientSecret must be a text.'],
    [generic, { ...acme('https://x.example'), reed: 1 }, /Option generic\.reed is not known/],
    [generic, { ...acme('https://x.example'), read: 'id' }, 'Option generic.read must be a function.'],
    [generic, { ...acme('https://x.example'), errors: { fatal: [1] } }, /Option generic\.errors\.fatal is not known/],
    [generic, { ...acme('https://x.example'), callback: {} }, 'Option generic.callback.read must be a function.'],
    [generic, { ...acme('https://x.example'), name: 'A b' }, /Option generic\.name must be/],
  ] as const)('%p %j', (build, options, said) => {
    const sentence = sentenceOf(build, options);
    expect(sentence).toEqual(typeof said === 'string' ? said : expect.stringMatching(said));
    expect(sentence).not.toContain(TOKEN);
  });

  test('a host sees a wrong option when it writes its module, not when the first SMS goes out', () => {
    expect(() => HttpSmsTransport.forRoot({ ...base, concurrency: 1000 })).toThrow(MessagingOptionsError);
  });
});
