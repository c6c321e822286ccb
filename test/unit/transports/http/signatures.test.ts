import { createHmac } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { CallbackContent } from '../../../../src/transports/http/callback-content.js';
import { isSignedByTwilio } from '../../../../src/transports/http/vendors/twilio.js';
import { isSignedByVonage, type VonageSignatureMethod } from '../../../../src/transports/http/vendors/vonage.js';

function callOf(url: string, body: string, headers: Record<string, string>, now = 0) {
  const content = new CallbackContent({ method: 'POST', url, headers, body: Buffer.from(body) });
  if (!content) throw new Error('Unreadable.');
  return { url, headers, body: Buffer.from(body), content, now };
}

/** The examples of Twilio's documentation and helper libraries; the token is `12345`. */
describe('signatures that Twilio published', () => {
  const URL = 'https://mycompany.com/myapp.php?foo=1&bar=2';
  const FORM = {
    To: '+18005551212',
    CallSid: 'CA1234567890ABCDE',
    From: '+14158675309',
    Digits: '1234',
    Caller: '+14158675309',
  };
  const BODY = '{"property": "value", "boolean": true}';
  const HASH = '0a1ff7634d9ab3b95db5c9a2dfe9416e41502b283a80c7cf19632632f96e6620';
  const form = 'application/x-www-form-urlencoded';

  const signed = (url: string, signature: string, body: string, type = form, token = '12345') =>
    isSignedByTwilio(callOf(url, body, { 'content-type': type, 'x-twilio-signature': signature }), token);
  const formBody = (fields: Record<string, string> | [string, string][]) => new URLSearchParams(fields).toString();

  test.each([
    ['as it stands', URL, 'RSOYDt4T1cUTdK1PDd93/VVr8B8='],
    ['signed with the port', URL, 'kvajT1Ptam85bY51eRf/AJRuM3w='],
    ['signed without the port', URL.replace('.com', '.com:1234'), 'RSOYDt4T1cUTdK1PDd93/VVr8B8='],
  ])('fits a form with the URL %s', (_, url, signature) => {
    expect(signed(url, signature, formBody(FORM))).toBe(true);
    expect(signed(url, signature, formBody({ ...FORM, Digits: '1235' }))).toBe(false);
    expect(signed(url, signature, formBody(FORM), form, '12346')).toBe(false);
    expect(signed(`${url}&baz=3`, signature, formBody(FORM))).toBe(false);
  });

  test('fits a form with several values of one name', () => {
    const fields: [string, string][] = [
      ['Sid', 'CA123'],
      ['SidAccount', 'AC123'],
      ['Digits', '5678'],
      ['Digits', '1234'],
      ['Digits', '1234'],
    ];
    expect(signed(URL, 'IK+Dwps556ElfBT0I3Rgjkr1wJU=', formBody(fields))).toBe(true);
  });

  test.each([
    [`${URL}&bodySHA256=${HASH}`, 'a9nBmqA0ju/hNViExpshrM61xv4='],
    [`https://mycompany.com/myapp.php?bodySHA256=${HASH}`, 'y77kIzt2vzLz71DgmJGsen2scGs='],
  ])('fits a JSON body by its hash in %s', (url, signature) => {
    expect(signed(url, signature, BODY, 'application/json')).toBe(true);
    expect(signed(url, signature, BODY.replace('true', 'false'), 'application/json')).toBe(false);
  });

  test('does not make a JSON body trusted if nothing binds that body, whatever signs the URL', () => {
    // The signature of the URL alone is right: Twilio could have made it for an empty form.
    const url = 'https://mycompany.com/myapp.php';
    const signature = createHmac('sha1', '12345').update(url).digest('base64');
    expect(signed(url, signature, '')).toBe(true);
    expect(signed(url, signature, BODY, 'application/json')).toBe(false);
  });
});

/** The examples of Vonage's helper libraries. */
describe('signatures that Vonage published', () => {
  const SECRET = 'my_secret_key_for_testing';
  const INBOUND = {
    'message-timestamp': '2013-11-21 15:27:30',
    messageId: '020000001B0FE827',
    msisdn: '14843472194',
    text: 'Test again',
    timestamp: '1385047698',
    to: '13239877404',
    type: 'text',
  };
  const AT = 1385047698_000;

  const signed = (fields: Record<string, unknown>, method: VonageSignatureMethod, now = AT) => {
    const body = JSON.stringify(fields);
    return isSignedByVonage(
      callOf('https://x.example', body, { 'content-type': 'application/json' }, now),
      SECRET,
      method,
    );
  };

  test.each<[VonageSignatureMethod, string]>([
    ['md5hash', 'd2e7b1dc968737c5998ad624e02f90b7'],
    ['md5', 'DDEBD46008C2D4E93CCE578A332A52D5'],
    ['sha1', '27D0D05C2876C7CB1720DBCDBA4D492E1E55C09A'],
    ['sha256', 'DDB8397C2B90AAC7F3882D306475C9A5058C92322EEF43C92B298B6E0FC0D330'],
    [
      'sha512',
      'E0D3C650F8C9D1A5C174D10DDDBFB003E561F59B265616208B0487C5D819481CD3C311D59CF6165ECD1139622D5BA3A256C0D763AC4A9AD9144B5A426B94FE82',
    ],
  ])('%s', (method, sig) => {
    expect(signed({ ...INBOUND, sig }, method)).toBe(true);
    expect(signed({ ...INBOUND, sig, text: 'Test again!' }, method)).toBe(false);
    expect(signed({ ...INBOUND, sig, further: 'x' }, method)).toBe(false);
    expect(signed({ ...INBOUND, sig }, method === 'sha1' ? 'sha256' : 'sha1')).toBe(false);
  });

  test('fits a text with the characters that Vonage replaces', () => {
    const fields = {
      keyword: 'TEST',
      'message-timestamp': '2017-04-04 22:57:47',
      messageId: '0B00000042AC53BD',
      msisdn: '14843472194',
      nonce: '929d6744-bd28-42c8-b6cf-31d5b4f43732',
      sig: 'e06d9763e3fd0b9c31beb5fc2fcb011c',
      text: 'Test with & and =',
      timestamp: '1491346667',
      to: '12192259404',
      type: 'text',
    };
    expect(signed(fields, 'md5hash', 1491346667_000)).toBe(true);
  });

  test('fits the same fields in a form', () => {
    const sig = 'DDB8397C2B90AAC7F3882D306475C9A5058C92322EEF43C92B298B6E0FC0D330';
    const body = new URLSearchParams({ ...INBOUND, sig }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect(isSignedByVonage(callOf('https://x.example', body, headers, AT), SECRET, 'sha256')).toBe(true);
  });

  test('does not fit if fields are hidden in the name of another field', () => {
    const sig = 'DDB8397C2B90AAC7F3882D306475C9A5058C92322EEF43C92B298B6E0FC0D330';
    const { msisdn, text, ...rest } = INBOUND;
    expect(signed({ ...INBOUND, sig }, 'sha256')).toBe(true);
    // The hashed text is the same: `…&msisdn=…&text=…`.
    expect(signed({ ...rest, sig, [`msisdn=${msisdn}&text`]: text }, 'sha256')).toBe(false);
  });

  test('does not fit without its time', () => {
    const { timestamp: _, ...timeless } = INBOUND;
    expect(signed({ ...timeless, sig: 'x' }, 'sha256')).toBe(false);
    expect(signed({ ...INBOUND, timestamp: 'soon', sig: 'x' }, 'sha256')).toBe(false);
  });
});
